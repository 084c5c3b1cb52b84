package advise

import (
	"context"
	"fmt"

	"slackline/model/schedule"
)

var nonblockingKind = kind{
	Info: Info{
		Name:  "nonblocking_send",
		Short: "go on while a message is sent",
		Meaning: "The blocking sends of a call path become non-blocking ones: the rank goes on with its computation and its other messages, " +
			"and waits for the send before the next one to the same rank, at the next collective, or where other requests are open.",
		Advice: "Replace MPI_Send by MPI_Isend and an MPI_Wait before the buffer is used again.",
		Form:   "nonblocking_send@CALLPATH",
	},
	propose: func(s *study) []candidate {
		if s.rendezvous == 0 {
			return nil // an eager send does not wait
		}
		return s.proposeCalls("nonblocking_send", schedule.Send, func(c *callInfo) bool { return c.largest > s.eagerLimit })
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		return moveCalls(x, c, func(g *schedule.Graph, views []blockView, t *targets, out *writer) bool {
			changed := false
			var block chain
			ops := g.Ops()
			open := map[int32]bool{} // ranks to which a send is under way
			end := func() {
				block.end(out)
				clear(open)
			}
			for i := range views {
				v := &views[i]
				op := ops[v.from]
				switch target := v.kind == sendBlock && t.has(&op); {
				case v.kind == otherBlock:
					end()
					out.copyBlock(g, v.number)
				case target:
					if open[op.Peer] {
						end()
					}
					block.beside(op)
					open[op.Peer], changed = true, true
				case len(open) == 0:
					out.copyBlock(g, v.number)
				default:
					for _, op := range ops[v.from:v.to] {
						block.next(op)
					}
				}
			}
			end()
			return changed
		})
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Make the sends of %s non-blocking (MPI_Isend), and wait for them when the buffer is needed again: the run",
			s.place(c.Target))
	},
}
