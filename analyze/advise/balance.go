package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slackline/analyze/whatif"
	"slackline/model/schedule"
	"slackline/model/unit"
)

var balanceKind = kind{
	Info: Info{
		Name:  "balance",
		Short: "spread the computation of a call path over the ranks",
		Meaning: "The computation of a call path, and of what it calls, takes another time on each rank: the mean of all ranks (even), the " +
			"mean of neighbors on the process grid (neighbors), " +
			"of the columns of the grid (columns), or at most a quantile, with the rest on the ranks below (cap). The sum over ranks stays the " +
			"same. A rank without any gets its share along with its other computation.",
		Advice: "Give the ranks that have most of it less: another decomposition, blocks of equal work instead of equal size, or work that is " +
			"handed out at run time.",
		Form: "balance:STRATEGY@CALLPATH with even, neighbors, columns or cap:0.9",
	},
	assumes: func(s *study, c Change) string {
		if s.shared(c.Target) {
			return ""
		}
		return "the ranks can take over the functions of each other"
	},
	propose: func(s *study) []candidate {
		var list []candidate
		paths := append(s.criticalPaths(maxPaths), "")
		for _, path := range paths {
			sums := s.computation(path)
			worst, mean := sums.max, sums.mean
			if worst == 0 || worst <= mean {
				continue
			}
			bound := share(s.criticalTime(path), worst-mean, worst)
			for _, strategy := range whatif.Strategies() {
				how, err := whatif.ParseStrategy(strategy)
				if err != nil || how.NeedsGrid() && len(s.base.Grid) == 0 {
					continue
				}
				list = append(list, candidate{Change{"balance", strategy, path}, bound})
			}
		}
		return list
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		how, err := whatif.ParseStrategy(strings.TrimSpace(c.Value))
		if c.Value == "" {
			how, err = whatif.Strategy{}, nil
		}
		if err != nil {
			return err
		}
		p, _, err := whatif.Apply(x.Program, []whatif.Change{{Path: c.Target, Balance: true, How: how, Grid: x.Grid, Rank: -1}})
		if err == nil {
			x.Program = p
		}
		return err
	},
	sentence: func(s *study, c Change) string {
		sums := s.computation(c.Target)
		how, _ := whatif.ParseStrategy(c.Value)
		what := "the computation of " + s.place(c.Target)
		if c.Target == "" {
			what = "all computation together"
		}
		return fmt.Sprintf("Balance %s, which takes %s to %s on a rank (the mean is %s), most on %s: %s, it", what,
			sums.min.Short(), sums.max.Short(), sums.mean.Short(), sums.heavy(), how.Outcome())
	},
}

// maxPaths is how many call paths of the critical path are tried.
const maxPaths = 6

// share is the part of d that num is of den.
func share(d, num, den unit.Duration) unit.Duration {
	return unit.Duration(float64(d) * float64(num) / float64(den))
}

// shared reports whether a call path is one function, or all ranks compute in the functions below it: its work is of one kind.
func (s *study) shared(path string) bool {
	t := targetsOf(s.graph, path)
	ops := s.graph.Ops()
	functions := make([]map[uint32]bool, s.ranks()) // by rank: origins with computation
	all := map[uint32]bool{}
	for rank := range functions {
		functions[rank] = map[uint32]bool{}
		for i := s.graph.FirstOp(rank); i < s.graph.FirstOp(rank+1); i++ {
			if op := &ops[i]; op.Kind == schedule.Calc && unit.Duration(op.Size) > s.runTime/1000 && t.has(op) {
				functions[rank][op.Origin], all[op.Origin] = true, true
			}
		}
	}
	return len(all) < 2 || !slices.ContainsFunc(functions, func(f map[uint32]bool) bool { return len(f) < len(all) })
}
