package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"slackline/analyze/simulate"
	"slackline/internal/parallel"
	"slackline/internal/phrase"
	"slackline/model/unit"
)

// Question asks what pays.
type Question struct {
	Scenario
	Measured unit.Duration                // run time of the recorded run; 0: it is not a recorded one
	Source   func(callPath string) string // where the code of a call path is, e.g. step.c:120; nil: not known
	Repeats  []Repeat                     // further runs of the same program
	Replicas int                          // of the noise; 0 and 1: one
	Budget   time.Duration                // for the search; what was not tried then is left out; 0: no limit
	// Effort is how many operations may be simulated to try changes, for those who show the list beside others: the most promising changes
	// are tried, and as a limit of work it gives the same list on any machine; 0: no limit.
	Effort int64
	// Words are the command that simulates the run again, to which changes are added; empty: commands are left out.
	Words []string

	// Progress is called after each simulation of a change; nil: not at all.
	Progress func(done, all int)
}

// Repeat is another run of the same program.
type Repeat struct {
	Scenario
	Measured unit.Duration
}

// search is the work on a question.
type search struct {
	*study
	q      *Question
	r      *Result
	ctx    context.Context // of the caller
	limit  context.Context // with the budget
	tries  int             // simulations that Effort leaves
	mu     sync.Mutex
	done   int
	all    int
	failed error // that no change can explain
}

// Search looks for changes that pay. If it is interrupted once the run as it is was simulated, it returns what it found so far, with the
// error of the context.
func Search(ctx context.Context, q Question) (*Result, error) {
	limit := ctx
	if q.Budget > 0 {
		limited, cancel := context.WithTimeout(ctx, q.Budget)
		defer cancel()
		limit = limited
	}
	st, err := newStudy(ctx, q.Scenario, q.Source) // whatever the budget is, or there would be no answer
	if err != nil {
		return nil, err
	}
	s := &search{study: st, q: &q, ctx: ctx, limit: limit, r: &Result{
		RunTime: unit.Nanoseconds(st.runTime), Advice: []Advice{}, Upgrades: []Advice{}, Ceilings: []Ceiling{},
	}}
	s.tries = math.MaxInt
	if q.Effort > 0 {
		s.tries = int(max(q.Effort/max(st.ops, 1), minTries))
	}
	if q.Measured > 0 {
		measured, difference := unit.Nanoseconds(q.Measured), float64(st.runTime-q.Measured)/float64(q.Measured)
		s.r.Measured, s.r.Difference = &measured, &difference
	}
	if err := s.findFloor(); err != nil {
		return nil, err
	}
	s.findCeilings()
	s.tryAll()
	s.refine()
	s.rank()
	s.raiseCeiling()
	s.findIntervals()
	s.findTogether()
	s.addCommands()
	if s.failed != nil {
		return nil, s.failed
	}
	return s.r, ctx.Err()
}

// minTries is how many changes are tried whatever the effort is.
const minTries = 6

// grant takes simulations from what the effort leaves: as many as are wanted, or fewer.
func (s *search) grant(wanted int) int {
	n := min(wanted, s.tries)
	s.tries -= n
	return n
}

// timeOf simulates the run with changes. It is not ok if they cannot be made, or if there is no time left.
func (s *search) timeOf(base Scenario, threads int, changes ...Change) (t unit.Duration, ok bool) {
	t, ok, _ = s.timeWithin(math.MaxInt64, base, threads, changes...)
	return t, ok
}

// timeWithin is timeOf for those who do not need to know how much longer than a time the run takes: it is lost then.
func (s *search) timeWithin(most unit.Duration, base Scenario, threads int, changes ...Change) (t unit.Duration, ok, lost bool) {
	if s.limit.Err() != nil {
		return 0, false, false
	}
	base.Threads = threads
	x, err := base.Apply(s.limit, changes...)
	if err == nil {
		ctx, stop := context.WithCancel(s.limit)
		defer stop()
		var late atomic.Bool
		var result *simulate.Result
		result, err = x.Run(ctx, simulate.Options{Threads: threads, Progress: func(now unit.Duration, _ int64) {
			if now > most {
				late.Store(true)
				stop()
			}
		}})
		if err == nil {
			return result.Makespan, true, false
		}
		if late.Load() {
			return 0, false, true
		}
	}
	var stuck *simulate.UnfinishedError
	if s.limit.Err() == nil && !errors.As(err, &stuck) && !errors.Is(err, errNowhere) && len(changes) == 0 {
		s.mu.Lock()
		s.failed = cmp.Or(s.failed, err)
		s.mu.Unlock()
	}
	return 0, false, false
}

// gain is the share of the run time that a run with another time saves.
func (s *study) gain(t unit.Duration) float64 { return gainOf(s.runTime, t) }

func gainOf(before, after unit.Duration) float64 {
	if before == 0 {
		return 0
	}
	return float64(before-after) / float64(before)
}

// outcome is a change that was simulated.
type outcome struct {
	candidate
	time unit.Duration
	ok   bool
}

// tryEach simulates changes, several at a time, as far as the effort goes. Those that take longer than most need not be finished.
func (s *search) tryEach(list []candidate, most unit.Duration) []outcome {
	n := s.grant(len(list))
	s.r.Left += len(list) - n
	list = list[:n]
	out := make([]outcome, len(list))
	s.all += len(list)
	parallel.Each(len(list), s.base.Threads, func(i int) {
		out[i].candidate = list[i]
		var lost bool
		out[i].time, out[i].ok, lost = s.timeWithin(most, s.base, 1, list[i].change)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done++
		if s.limit.Err() != nil && !out[i].ok && !lost {
			s.r.Left++
		} else {
			s.r.Tried++
		}
		if s.q.Progress != nil {
			s.q.Progress(s.done, s.all)
		}
	})
	return out
}

// hopeless is the part of the run time by which a change must prolong the run to be given up.
const hopeless = 50

// tryAll simulates what the kinds propose, the largest bound first, as far as it can gain more than the noise.
func (s *search) tryAll() {
	var list []candidate
	for i := range table {
		list = append(list, table[i].propose(s.study)...)
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.bound, a.bound) })
	worth := slices.DeleteFunc(slices.Clone(list), func(c candidate) bool { return gainOf(s.runTime, s.runTime-c.bound) < s.r.Noise.Share })
	s.r.RuledOut = len(list) - len(worth)
	// Strategies other than the first are variants, which refine tries.
	worth = slices.DeleteFunc(worth, func(c candidate) bool { return c.change.Kind == "balance" && c.change.Value != "even" })
	for _, o := range s.tryEach(worth, s.runTime+s.runTime/hopeless) {
		if o.ok {
			s.add(o)
		}
	}
}

// add takes a change into its list.
func (s *search) add(o outcome) {
	k := kindOf(o.change.Kind)
	a := Advice{
		Change: o.change, Text: o.change.String(), RunTime: unit.Nanoseconds(o.time), Before: unit.Nanoseconds(s.runTime),
		Gain: s.gain(o.time), Bound: min(1, gainOf(s.runTime, s.runTime-o.bound)), Basis: []string{},
	}
	if k.assumes != nil {
		a.Assumes = k.assumes(s.study, o.change)
	}
	if k.upgrade {
		s.r.Upgrades = append(s.r.Upgrades, a)
	} else {
		s.r.Largest = max(s.r.Largest, a.Gain)
		s.r.Advice = append(s.r.Advice, a)
	}
}

// rank keeps what gains more than the noise, one change for each place, and puts the largest gain first.
func (s *search) rank() {
	keep := func(list []Advice) []Advice {
		list = slices.DeleteFunc(list, func(a Advice) bool { return a.Gain < s.r.Noise.Share })
		slices.SortStableFunc(list, func(a, b Advice) int { return cmp.Compare(b.weight(), a.weight()) })
		kept := []Advice{}
		for i := range list {
			if !slices.ContainsFunc(list, func(b Advice) bool { return b.Text != list[i].Text && supersedes(&b, &list[i]) }) {
				kept = append(kept, list[i])
			}
		}
		for i := range kept {
			kept[i].Sentence = kindOf(kept[i].Kind).sentence(s.study, kept[i].Change)
		}
		return kept
	}
	s.r.Advice, s.r.Upgrades = keep(s.r.Advice), keep(s.r.Upgrades)
}

// weight is what a change is ranked by.
func (a *Advice) weight() float64 {
	if a.Assumes != "" {
		return a.Gain / 2
	}
	return a.Gain
}

// nearly is the part of a gain from which on a change of less is as good.
const nearly = 0.8

// supersedes reports whether change a makes b superfluous: the same change with a better value, or at a part of b's call path with nearly
// the gain.
func supersedes(a, b *Advice) bool {
	switch {
	case a.Kind == "algorithm" && b.Kind == "mapping":
		return a.Gain >= nearly*b.Gain
	case a.Kind != b.Kind || a.Kind == "noise" && a.Value != b.Value:
		return false
	case a.Target == b.Target:
		return a.Gain > b.Gain || a.Gain == b.Gain && cmp.Or(cmp.Compare(len(a.Text), len(b.Text)), cmp.Compare(a.Text, b.Text)) < 0
	case a.Kind == "balance" && (b.Target == "" || strings.HasPrefix(a.Target, b.Target+"/")):
		return a.Gain >= nearly*b.Gain
	}
	return a.Kind == "balance" && (a.Target == "" || strings.HasPrefix(b.Target, a.Target+"/")) && b.Gain < nearly*a.Gain
}

// perfectly is the name of the ceiling of all balancing.
const perfectly = "perfect balance"

// raiseCeiling lets a change that was simulated not exceed its ceiling: where ranks wait for each other in turn, to balance one call path
// can be better than to balance all of them.
func (s *search) raiseCeiling() {
	i := slices.IndexFunc(s.r.Ceilings, func(c Ceiling) bool { return c.Name == perfectly })
	for _, a := range s.r.Advice {
		if i >= 0 && a.Kind == balanceKind.Name && a.RunTime < s.r.Ceilings[i].RunTime {
			s.r.Ceilings[i].RunTime, s.r.Ceilings[i].Gain = a.RunTime, a.Gain
		}
	}
}

// findCeilings simulates what nothing can exceed.
func (s *search) findCeilings() {
	add := func(name string, t unit.Duration) {
		s.r.Ceilings = append(s.r.Ceilings, Ceiling{name, unit.Nanoseconds(t), s.gain(t)})
	}
	balanced := s.base
	balanced.Program = perfectBalance(s.graph)
	if t, ok := s.timeOf(balanced, s.base.Threads); ok {
		// Call paths that different ranks have at the same time are balanced better together.
		if all, ok := s.timeOf(s.base, s.base.Threads, Change{Kind: "balance", Value: "even"}); ok {
			t = min(t, all)
		}
		add(perfectly, min(t, s.runTime))
	}
	add("ideal network", s.idealTime)
	change := Change{Kind: "noise", Value: "median"}
	if s.base.Noise != nil {
		change.Value = "removed"
	}
	if s.base.Noise == nil && s.disturbance() == 0 {
		add("no noise", s.runTime)
	} else if t, ok := s.timeOf(s.base, s.base.Threads, change); ok {
		add("no noise", t)
	}
}

// findTogether simulates the largest gains together.
func (s *search) findTogether() {
	const most = 4
	top := s.r.Advice[:min(len(s.r.Advice), most)]
	if len(top) < 2 {
		return
	}
	var sets [][]int
	if len(top) == 2 {
		sets = [][]int{{0, 1}}
	}
	for i := range top {
		for j := i + 1; j < len(top); j++ {
			for k := j + 1; k < len(top); k++ {
				sets = append(sets, []int{i, j, k})
			}
		}
	}
	sets = sets[:s.grant(len(sets))]
	times := make([]unit.Duration, len(sets))
	ok := make([]bool, len(sets))
	parallel.Each(len(sets), s.base.Threads, func(i int) {
		times[i], ok[i] = s.timeOf(s.base, 1, changesOf(top, sets[i])...)
	})
	for i, set := range sets {
		if !ok[i] || s.r.Together != nil && unit.Nanoseconds(times[i]) >= s.r.Together.RunTime {
			continue
		}
		t := &Together{RunTime: unit.Nanoseconds(times[i]), Gain: s.gain(times[i])}
		for _, k := range set {
			t.Changes = append(t.Changes, top[k].Text)
			t.Sum += top[k].Gain
		}
		s.r.Together = t
	}
}

// command is the command that shows changes.
func (q *Question) command(changes ...string) string {
	words := slices.Clone(q.Words)
	for _, change := range changes {
		words = append(words, "--change", change)
	}
	return phrase.Command(words...)
}

// addCommands adds to each change the command that shows it.
func (s *search) addCommands() {
	if len(s.q.Words) == 0 {
		return
	}
	s.r.Each(func(a *Advice) { a.Command = s.q.command(a.Text) })
	if t := s.r.Together; t != nil {
		t.Command = s.q.command(t.Changes...)
	}
}

func changesOf(list []Advice, set []int) []Change {
	var changes []Change
	for _, i := range set {
		changes = append(changes, list[i].Change)
	}
	return changes
}

// Nothing says that nothing pays; empty: something does.
func (r *Result) Nothing() string {
	if len(r.Advice) > 0 {
		return ""
	}
	return fmt.Sprintf("Nothing here pays more than %s.", percent(max(r.Noise.Share, 0)))
}

// percent prints a share for people.
func percent(share float64) string { return phrase.Percent(share, 1) }
