package whatif

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"slackline/analyze/simulate"
	"slackline/analyze/tolerance"
	"slackline/internal/suggest"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Change describes what is different in the computation of a call path and of everything that it calls.
type Change struct {
	Path    string            // names joined by "/": a whole path or a part of one, e.g. solve/fixup; empty: all computation
	Balance bool              // its time is spread over the ranks ...
	How     Strategy          // ... in this way
	Grid    []int             // the process grid, for strategies that need it; rank numbers follow its last dimension first
	Percent tolerance.Percent // else it takes this much less time, at most 100 %
	Rank    int               // and only on this rank; -1: on all
}

// ParseChange reads PATH[@RANK]=-PERCENT, e.g. solve=-20%, fixup@3=-100% or solve=-0.5%.
func ParseChange(text string) (Change, error) {
	i := strings.LastIndex(text, "=-")
	if i <= 0 {
		return Change{}, fmt.Errorf("expected PATH[@RANK]=-PERCENT such as solve=-20%% or fixup@3=-100%%, got %q", text)
	}
	percent, err := tolerance.ParsePercent(text[i+2:])
	if err != nil {
		return Change{}, err
	}
	change := Change{Path: text[:i], Percent: percent, Rank: -1}
	if _, _, ok := percent.Rest(); !ok {
		return Change{}, fmt.Errorf("%q: a call path takes up to 100 %% less time; give e.g. %s=-20%%", text, change.Path)
	}
	if path, rank, ok := strings.Cut(change.Path, "@"); ok {
		if change.Rank, err = strconv.Atoi(rank); err != nil || change.Rank < 0 || path == "" {
			return Change{}, fmt.Errorf("expected PATH@RANK before =-, got %q", change.Path)
		}
		change.Path = path
	}
	return change, nil
}

// String returns the change as ParseChange reads it.
func (c *Change) String() string {
	path := c.Path
	if c.Rank >= 0 {
		path = fmt.Sprintf("%s@%d", path, c.Rank)
	}
	return path + "=-" + c.Percent.String()
}

// Changed is what a change comes to.
type Changed struct {
	Change
	Before, After unit.Sum      // computation in the call path, summed over ranks
	Min, Max      unit.Duration // of a rank, before
	MaxAfter      unit.Duration // of a rank, if it was balanced
	Ranks         int           // that have computation in it
}

// Apply returns the program with its computation changed, one change after the other. Balance gives each rank the
// time that its strategy says: a rank that has computation in the call path has it stretched or shrunk there; one that has
// none does its share along with its other computation.
func Apply(p schedule.Program, changes []Change) (schedule.Program, []Changed, error) {
	var list []Changed
	for _, change := range changes {
		c, report, err := newChangedProgram(p, change)
		if err != nil {
			return nil, nil, err
		}
		p, list = c, append(list, report)
	}
	return p, list, nil
}

// changedProgram is a program in which some calculations take another time.
type changedProgram struct {
	schedule.Program
	all    bool   // computation is in the call path
	inside []bool // by origin: is it in the call path
	ranks  []rankChange
}

// rankChange are the fractions by which calculations of a rank inside and outside the call path are multiplied.
type rankChange struct{ inside, outside fraction }

type fraction struct{ num, den uint64 }

var whole = fraction{1, 1}

// of multiplies, rounding half up.
func (f fraction) of(ps int64) int64 {
	if f.num == f.den {
		return ps
	}
	high, low := bits.Mul64(uint64(ps), f.num)
	low, carry := bits.Add64(low, f.den/2, 0)
	high += carry
	if high >= f.den {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(high, low, f.den)
	return int64(min(q, 1<<63-1))
}

func newChangedProgram(p schedule.Program, change Change) (*changedProgram, Changed, error) {
	report := Changed{Change: change}
	rest, all, ok := change.Percent.Rest()
	if !change.Balance && !ok {
		return nil, report, fmt.Errorf("%s: a call path takes up to 100 %% less time, not %s %%", change.Path, change.Percent.Number())
	}
	if change.Rank >= p.Ranks() {
		return nil, report, fmt.Errorf("%s: there is no rank %d among %d", change.Path, change.Rank, p.Ranks())
	}
	c := &changedProgram{Program: p, all: change.Path == "", inside: insidePath(p.Origins(), change.Path), ranks: make([]rankChange,
		p.Ranks())}
	if !c.all && !slices.Contains(c.inside, true) {
		return nil, report, noSuchPath(p.Origins(), change.Path)
	}
	inside, outside := c.sums()
	for rank, t := range inside {
		report.Before.Add(unit.Duration(t))
		if t > 0 {
			report.Ranks++
		}
		if rank == 0 || unit.Duration(t) < report.Min {
			report.Min = unit.Duration(t)
		}
		report.Max = max(report.Max, unit.Duration(t))
	}
	if report.Before.Sign() == 0 {
		return nil, report, fmt.Errorf("nothing is computed in %s", change.Path)
	}
	if change.Balance {
		if err := change.checkGrid(p.Ranks()); err != nil {
			return nil, report, err
		}
		targets := change.How.entry().spread(&change.How, inside, change.Grid)
		c.balance(inside, outside, targets)
		report.After = report.Before // but for less than a picosecond on each rank
		report.MaxAfter = unit.Duration(slices.Max(targets))
		return c, report, nil
	}
	for rank := range c.ranks {
		c.ranks[rank] = rankChange{whole, whole}
		if change.Rank < 0 || change.Rank == rank {
			c.ranks[rank].inside = fraction{rest, all}
		}
		report.After.Add(unit.Duration(c.ranks[rank].inside.of(inside[rank])))
	}
	return c, report, nil
}

// checkGrid checks that the grid is that of the ranks, if the strategy needs it.
func (c *Change) checkGrid(ranks int) error {
	if !c.How.NeedsGrid() {
		return nil
	}
	size := 1
	for _, n := range c.Grid {
		size *= n
	}
	if len(c.Grid) == 0 || size != ranks {
		return fmt.Errorf("the strategy %s needs the process grid of all %d ranks, e.g. 16x16", &c.How, ranks)
	}
	return nil
}

// balance chooses the fractions that give each rank its time.
func (c *changedProgram) balance(inside, outside, targets []int64) {
	for rank := range c.ranks {
		r := rankChange{whole, whole}
		switch target := uint64(targets[rank]); {
		case inside[rank] > 0:
			r.inside = fraction{target, uint64(inside[rank])}
		case outside[rank] > 0:
			r.outside = fraction{uint64(outside[rank]) + target, uint64(outside[rank])}
		}
		c.ranks[rank] = r
	}
}

// sums are the computation of each rank inside and outside the call path, in ps.
func (c *changedProgram) sums() (inside, outside []int64) {
	inside, outside = make([]int64, c.Ranks()), make([]int64, c.Ranks())
	var b schedule.Block
	for rank := range inside {
		for step := range c.Steps(rank) {
			c.Program.Block(rank, step, &b)
			for i := range b.Ops {
				if op := &b.Ops[i]; op.Kind == schedule.Calc {
					if c.in(op) {
						inside[rank] += op.Size
					} else {
						outside[rank] += op.Size
					}
				}
			}
		}
	}
	return inside, outside
}

func (c *changedProgram) in(op *schedule.Op) bool {
	return c.all || int(op.Origin) < len(c.inside) && c.inside[op.Origin]
}

// Block implements schedule.Program.
func (c *changedProgram) Block(rank, step int, b *schedule.Block) {
	c.Program.Block(rank, step, b)
	b.Own()
	r := &c.ranks[rank]
	for i := range b.Ops {
		op := &b.Ops[i]
		switch {
		case op.Kind != schedule.Calc:
		case c.in(op):
			op.Size = r.inside.of(op.Size)
		default:
			op.Size = r.outside.of(op.Size)
		}
	}
}

// Tales implements simulate.Teller.
func (c *changedProgram) Tales(b *timeline.Builder) func(l *timeline.LocationBuilder, rank int, note uint32, t unit.Duration, end bool) {
	if t, ok := c.Program.(simulate.Teller); ok {
		return t.Tales(b)
	}
	return nil
}

// Retimes implements simulate.Retimer.
func (c *changedProgram) Retimes() bool {
	t, ok := c.Program.(simulate.Retimer)
	return ok && t.Retimes()
}

// Retimed implements simulate.Retimer.
func (c *changedProgram) Retimed(start, finish [][]int64) *timeline.Timeline {
	return c.Program.(simulate.Retimer).Retimed(start, finish)
}

// insidePath returns for each origin whether it is on a path.
func insidePath(origins []schedule.Origin, path string) []bool {
	inside := make([]bool, len(origins))
	for i := range origins {
		inside[i] = origins[i].On(path)
	}
	return inside
}

func noSuchPath(origins []schedule.Origin, path string) error {
	var names []string
	for _, o := range origins {
		if full := strings.Join(o.Path, "/"); full != "" && !slices.Contains(names, full) {
			names = append(names, full)
		}
		for _, n := range o.Path {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no call path %s: the program has none", path)
	}
	hint := suggest.Phrase(path, names)
	if hint == "" {
		const most = 8
		hint = "; there are " + strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			hint += ", ..."
		}
	}
	return fmt.Errorf("there is no call path %s%s", path, hint)
}
