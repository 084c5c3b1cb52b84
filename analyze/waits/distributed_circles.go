package waits

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// leftState is what the owner of a wait state that is left because of circles knows of it.
type leftState struct {
	ID                  int // number among the states of all processes
	Came                int64
	Amount, Propagating int64
	Long                unit.Sum
}

// leftCause is what the owner of its cause knows.
type leftCause struct {
	Of     int // number of the state
	Rank   int // of the cause
	Metric Metric
	First  unit.Duration // as of a wait state
	Causes sentCauses
}

// leftOver is what a process knows of what is left.
type leftOver struct {
	States []leftState
	Causes []leftCause
}

// circular is a wait state that is left, as process 0 sees it.
type circular struct {
	leftState
	leftCause
	indirect int64
	order    int
}

// breakCirclesTogether is breakCircles for parts: process 0 accounts for what is left of all of them.
func (b *backward) breakCirclesTogether() (int, error) {
	a := b.a
	g := a.part.Group
	own := b.leftOver()
	counts, err := cluster.AllGatherValues(b.ctx, g, new(len(own.States)))
	if err != nil {
		return 0, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0, nil
	}
	parts, err := cluster.GatherValues(b.ctx, g, own)
	if err != nil {
		return 0, err
	}
	out := make([][]byte, g.Size())
	if g.Rank() == 0 {
		left, ok := joinCircles(parts)
		if !ok {
			return 0, cluster.ErrGarbled
		}
		b.workers[0].accountForCircles(left, int(b.order.Load()))
		for _, s := range left {
			p, _ := slices.BinarySearch(a.bases, s.ID+1)
			p--
			out[p] = binary.AppendUvarint(out[p], uint64(s.ID-a.bases[p]))
			out[p] = binary.AppendUvarint(out[p], uint64(s.indirect))
			out[p] = binary.AppendUvarint(out[p], uint64(s.Propagating))
			out[p] = binary.AppendUvarint(out[p], uint64(s.order))
		}
	}
	in, err := g.Exchange(b.ctx, out)
	if err != nil {
		return 0, err
	}
	for c := (chunk.Column{B: in[0]}); c.Left() > 0; {
		i := c.Uint()
		if i >= uint64(len(a.states)) {
			return 0, cluster.ErrGarbled
		}
		s := &a.states[i]
		s.circular = true
		s.indirect = int64(c.Uint())
		raise(&s.propagating, int64(c.Uint()))
		if s.order = int32(c.Uint()); c.Bad {
			return 0, cluster.ErrGarbled
		}
	}
	return total, nil
}

// leftOver finds what this process knows of the wait states that are not accounted for.
func (b *backward) leftOver() *leftOver {
	a := b.a
	base := a.bases[a.part.Group.Rank()]
	var left leftOver
	c := b.workers[0].causes
	cause := func(id int, rank int, m metricParts) {
		left.Causes = append(left.Causes, leftCause{id, rank, m.metric, m.first, c.sent(a)})
	}
	for i := range a.states {
		s := &a.states[i]
		if s.order != 0 {
			continue
		}
		came := int64(a.calls(s.cause).Enter[s.causeCall])
		left.States = append(left.States, leftState{base + i, came, int64(s.amount), s.propagating, s.long})
		if a.isHere(s.cause) {
			c.find(a, i)
			cause(base+i, a.rankOf(s.cause), s.parts())
		}
	}
	for p := range len(b.foreignOf) - 1 {
		for i := b.foreignOf[p]; i < b.foreignOf[p+1]; i++ {
			if f := &b.foreign[i]; !f.done {
				c.findForeign(a, f)
				cause(a.bases[p]+f.number, a.rankOf(f.cause), f.parts())
			}
		}
	}
	return &left
}

// sentCauses are causes for another process: wait states have their numbers among those of all processes.
type sentCauses struct {
	Paths   []int32
	States  []int
	Weights []int64 // of the paths, then of the states
	Total   int64
}

func (c *causes) sent(a *analysis) sentCauses {
	base := a.bases[a.part.Group.Rank()]
	s := sentCauses{slices.Clone(c.paths), nil, slices.Clone(c.weights), c.total}
	for _, state := range c.states {
		s.States = append(s.States, base+state.state)
	}
	return s
}

// joinCircles puts together what all processes know of what is left.
func joinCircles(parts []leftOver) ([]*circular, bool) {
	byID := map[int]*circular{}
	for _, part := range parts {
		for _, s := range part.States {
			byID[s.ID] = &circular{leftState: s}
		}
	}
	for _, part := range parts {
		for _, c := range part.Causes {
			if byID[c.Of] == nil || c.Metric >= None || c.First > 0 && kinds[c.Metric].before == nil {
				return nil, false
			}
			byID[c.Of].leftCause = c
		}
	}
	left := slices.SortedFunc(maps.Values(byID), func(x, y *circular) int {
		return cmp.Or(cmp.Compare(y.Came, x.Came), cmp.Compare(x.ID, y.ID))
	})
	for _, s := range left {
		for _, id := range s.Causes.States {
			if byID[id] == nil {
				return nil, false
			}
		}
	}
	return left, true
}

// accountForCircles does what breakCircles does, with what was gathered.
func (w *accountant) accountForCircles(left []*circular, order int) {
	byID := make(map[int]*circular, len(left))
	for _, s := range left {
		byID[s.ID] = s
	}
	for _, s := range left {
		order++
		s.order = order
		w.causes.weights, w.causes.total = s.Causes.Weights, s.Causes.Total
		amount := unit.SumOf(unit.Duration(s.Amount))
		w.split(amount, s.Long)
		if s.Causes.Total == 0 {
			w.unattributed.AddSum(amount.Plus(s.Long))
			continue
		}
		for i, path := range s.Causes.Paths {
			w.addCost(s.Rank, path, metricParts{s.Metric, s.First, unit.Duration(s.Amount)}, w.short[i], w.long[i])
		}
		for i, id := range s.Causes.States {
			short, long := w.short[len(s.Causes.Paths)+i], w.long[len(s.Causes.Paths)+i]
			target := byID[id]
			if target.order != 0 {
				w.unattributed.AddSum(short.Plus(long))
				continue
			}
			own := int64(short.Duration())
			s.indirect += own
			target.Long.AddSum(short.Plus(long))
			target.Propagating = max(target.Propagating, min(own, target.Amount))
		}
	}
	w.causes.weights = nil
}
