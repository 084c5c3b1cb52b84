package advise

import (
	"context"
	"fmt"

	"slackline/analyze/tolerance"
	"slackline/analyze/whatif"
)

var fasterKind = kind{
	Info: Info{
		Name:  "faster",
		Short: "make the computation of a call path faster",
		Meaning: "The computation of a call path takes this much less time on all ranks. Beside the gain at 10 % the list has the smallest " +
			"change that gains more than the noise of the measurement: " +
			"with less, the effort does not show in the run time.",
		Advice: "Tune the code of the call path: compiler flags, vectorization, memory accesses, a better algorithm, an accelerator.",
		Form:   "faster:PERCENT@CALLPATH such as faster:10%@main/solve",
	},
	upgrade: true,
	propose: func(s *study) []candidate {
		var list []candidate
		for _, path := range s.criticalPaths(maxPaths) {
			list = append(list, candidate{Change{"faster", "10%", path}, s.criticalTime(path) / 10})
		}
		return list
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		percent, err := tolerance.ParsePercent(c.Value)
		if err != nil {
			return c.badValue()
		}
		p, _, err := whatif.Apply(x.Program, []whatif.Change{{Path: c.Target, Percent: percent, Rank: -1}})
		if err == nil {
			x.Program = p
		}
		return err
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Make the computation of %s faster: %s less time there", s.place(c.Target), c.Value)
	},
}
