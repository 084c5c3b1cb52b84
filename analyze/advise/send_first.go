package advise

import (
	"context"
	"fmt"

	"slackline/model/schedule"
)

var sendFirstKind = kind{
	Info: Info{
		Name:  "send_first",
		Short: "send before the work that does not depend on it",
		Meaning: "The sends of a call path are started before the computation that comes right before them, and completed after it. This " +
			"assumes that the computation does not make the data that is sent.",
		Advice: "Start the send (MPI_Isend) as soon as its data is there, do the rest of the work, and wait for the send afterwards. Pass on " +
			"what was received before working on it.",
		Form: "send_first@CALLPATH",
	},
	assumes: always("the computation before the send does not make its data"),
	propose: func(s *study) []candidate {
		return s.proposeCalls("send_first", schedule.Send, func(c *callInfo) bool { return c.afterWork > 0 })
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		return moveCalls(x, c, func(g *schedule.Graph, views []blockView, t *targets, out *writer) bool {
			changed := false
			var block chain
			ops := g.Ops()
			for i := 0; i < len(views); {
				work := i
				for work < len(views) && views[work].kind == calcBlock {
					work++
				}
				sends := work
				for sends < len(views) && views[sends].kind == sendBlock && t.has(&ops[views[sends].from]) {
					sends++
				}
				if work == i || sends == work {
					for ; i < max(work, sends); i++ {
						out.copyBlock(g, views[i].number)
					}
					if i < len(views) && sends == work {
						out.copyBlock(g, views[i].number)
						i++
					}
					continue
				}
				for _, v := range views[work:sends] {
					block.beside(ops[v.from])
				}
				for _, v := range views[i:work] {
					for _, op := range ops[v.from:v.to] {
						block.next(op)
					}
				}
				block.end(out)
				i, changed = sends, true
			}
			return changed
		})
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Start the sends of %s before the computation that precedes them: the run", s.place(c.Target))
	},
}

// moveCalls makes a new program in which calls of a rank were moved. move writes the blocks of a rank, and reports whether anything is
// different.
func moveCalls(x *Scenario, c Change, move func(g *schedule.Graph, views []blockView, t *targets, out *writer) bool) error {
	g := graphOf(x.Program)
	t := targetsOf(g, c.Target)
	changed := false
	var views []blockView
	moved := rebuild(g, func(rank int, out *writer) {
		views = blocksOf(g, rank, views)
		changed = move(g, views, &t, out) || changed
	})
	if !changed {
		return c.nowhere()
	}
	x.Program = edited{moved, x.Program}
	return nil
}
