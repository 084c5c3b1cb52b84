package advise

import (
	"maps"
	"math"
	"slices"

	"slackline/model/schedule"
)

// perfectBalance is the program in which each call path takes the same on all ranks: the mean. What a rank does not do at all is added to
// what it does.
func perfectBalance(g *schedule.Graph) schedule.Program {
	ranks, ops := g.Ranks(), g.Ops()
	sums := map[uint32][]float64{} // by origin and rank
	for rank := range ranks {
		for i := g.FirstOp(rank); i < g.FirstOp(rank+1); i++ {
			if op := &ops[i]; op.Kind == schedule.Calc && op.Size > 0 {
				if sums[op.Origin] == nil {
					sums[op.Origin] = make([]float64, ranks)
				}
				sums[op.Origin][rank] += float64(op.Size)
			}
		}
	}
	all := 0.0                        // of a rank, afterwards
	missing := make([]float64, ranks) // means of call paths that a rank does not have
	factors := map[uint32][]float64{}
	for _, origin := range slices.Sorted(maps.Keys(sums)) { // in order, for sums of floating point numbers depend on it
		list := sums[origin]
		mean := 0.0
		for _, t := range list {
			mean += t / float64(ranks)
		}
		all += mean
		factors[origin] = make([]float64, ranks)
		for rank, t := range list {
			if t == 0 {
				missing[rank] += mean
			} else {
				factors[origin][rank] = mean / t
			}
		}
	}
	for _, list := range factors {
		for rank := range list {
			if rest := all - missing[rank]; rest > 0 {
				list[rank] *= all / rest
			}
		}
	}
	return edited{rebuild(g, func(rank int, out *writer) {
		var b schedule.Block
		for step := range g.Steps(rank) {
			g.Block(rank, step, &b)
			b.Own()
			for i := range b.Ops {
				if op := &b.Ops[i]; op.Kind == schedule.Calc && op.Size > 0 {
					op.Size = int64(math.Round(float64(op.Size) * factors[op.Origin][rank]))
				}
			}
			out.put(&b)
		}
	}), g}
}
