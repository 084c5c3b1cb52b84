package tolerance

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slackline/model/noise"
	"slackline/model/schedule"
)

// WithNoise returns the schedule with noise on its CPUs. Each rank does its calculations one after
// the other, in the order of the schedule and without waiting in between, and each of them then
// takes as long as it does on a CPU with this noise; a rank has one CPU. All else stays as it is: the
// static model has no CPU that sends and receives would have to wait for.
func (s *Schedule) WithNoise(in *noise.Injection) (*Schedule, error) {
	if err := in.CheckRanks(s.ranks); err != nil {
		return nil, err
	}
	graph, err := s.operations()
	if err != nil {
		return nil, err
	}
	ops := slices.Clone(graph.Ops())
	for rank := range s.ranks {
		clock, hint := int64(0), int32(0)
		for i := graph.FirstOp(rank); i < graph.FirstOp(rank+1); i++ {
			op := &ops[i]
			if op.Kind != schedule.Calc {
				continue
			}
			end := in.Finish(rank, clock, op.Size, &hint)
			if end < 0 {
				return nil, fmt.Errorf("rank %d %s: its time with noise: %w", rank, graph.Name(rank, i-graph.FirstOp(rank)), ErrOverflow)
			}
			op.Size, clock = end-clock, end
		}
	}
	noisy := *s
	noisy.graph, noisy.stream, noisy.failure = graph, noisyBlocks{graph, ops}, func() error { return nil }
	noisy.remember()
	return &noisy, nil
}

// noisyBlocks is a graph with other operations in its blocks.
type noisyBlocks struct {
	*schedule.Graph
	ops []schedule.Op
}

// Next implements schedule.Stream.
func (n noisyBlocks) Next(rank int, at schedule.Cursor, b *schedule.Block) (schedule.Cursor, bool) {
	for ; int(at.Step) < n.Steps(rank); at.Step++ {
		block := n.FirstBlock(rank) + int(at.Step)
		if from, to := n.BlockOps(block); from < to {
			first, dependents := n.Links(block)
			b.Borrow(n.ops[from:to], nil, first, dependents)
			at.Step++
			return at, true
		}
	}
	return at, false
}

// Spread is how a number is distributed over several runs of a program: quantiles of type 7, as in
// internal/stat. A value that is unbounded is larger than all others, one that is infeasible smaller.
type Spread struct {
	N                                    int
	Min, Q05, Q25, Median, Q75, Q95, Max Largest
}

// NewSpread returns the quantiles of at least one value.
func NewSpread(values []Largest) Spread {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, compareLargest)
	at := func(percent int) Largest { return quantile(sorted, percent) }
	return Spread{len(sorted), at(0), at(5), at(25), at(50), at(75), at(95), at(100)}
}

// Holds reports whether a value lies between the quantiles 5 % and 95 %.
func (s *Spread) Holds(v Largest) bool {
	return compareLargest(s.Q05, v) <= 0 && compareLargest(v, s.Q95) <= 0
}

// key orders values: infeasible, ascending, unbounded.
func (l Largest) key() int64 {
	switch {
	case l.Infeasible:
		return math.MinInt64
	case l.Unbounded:
		return math.MaxInt64
	}
	return l.X
}

func compareLargest(a, b Largest) int { return cmp.Compare(a.key(), b.key()) }

// quantile returns a quantile of sorted values. Between a number and one that is none, it is the
// latter.
func quantile(sorted []Largest, percent int) Largest {
	place := (len(sorted) - 1) * percent
	i, rest := place/100, int64(place%100)
	low := sorted[i]
	if rest == 0 {
		return low
	}
	high := sorted[i+1]
	switch {
	case low.Infeasible:
		return low
	case high.Unbounded:
		return high
	}
	// The difference is split, so that nothing overflows.
	difference := high.X - low.X
	return Largest{X: low.X + difference/100*rest + (2*(difference%100)*rest+100)/200}
}
