package advise

import (
	"context"
	"fmt"

	"slackline/model/schedule"
)

var earlyReceiveKind = kind{
	Info: Info{
		Name:  "early_receive",
		Short: "start receives earlier",
		Meaning: "The blocking receives of a call path are posted earlier: before the computation, the sends and the other such receives that " +
			"precede them, up to the last receive from the same rank, collective, or wait. They are completed where they were before.",
		Advice: "Replace MPI_Recv by MPI_Irecv before the work, and MPI_Wait where the data is needed. Large messages are then sent while the " +
			"receiver works, and their senders need not wait.",
		Form: "early_receive@CALLPATH",
	},
	propose: func(s *study) []candidate {
		if s.rendezvous == 0 {
			return nil // eager messages come without a posted receive
		}
		return s.proposeCalls("early_receive", schedule.Recv, func(c *callInfo) bool { return c.largest > s.eagerLimit })
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		return moveCalls(x, c, func(g *schedule.Graph, views []blockView, t *targets, out *writer) bool {
			changed := false
			ops := g.Ops()
			for i := 0; i < len(views); {
				end := regionEnd(ops, views[i:], t) + i
				if end == i {
					out.copyBlock(g, views[i].number)
					i++
					continue
				}
				changed = true
				postFirst(ops, views[i:end], t, out)
				i = end
			}
			return changed
		})
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Post the receives of %s earlier (MPI_Irecv before the work, MPI_Wait where the data is needed): the run",
			s.place(c.Target))
	},
}

// channel is where a message comes from.
type channel struct {
	peer int32
	tag  uint32
}

// regionEnd is the number of blocks from here on that can be joined, so that their receives come first: up to and with the last receive
// before one of a channel that occurs again. 0: there is no receive to post earlier.
func regionEnd(ops []schedule.Op, views []blockView, t *targets) int {
	seen := map[channel]bool{}
	end := 0
	for i := range views {
		v := &views[i]
		op := &ops[v.from]
		switch {
		case v.kind == recvBlock && t.has(op):
			at := channel{op.Peer, op.Tag}
			if seen[at] {
				return end
			}
			seen[at] = true
			end = i + 1
		case v.kind == calcBlock || v.kind == sendBlock:
		default:
			return end
		}
	}
	return end
}

// postFirst writes blocks as one in which the receives are posted at its start.
func postFirst(ops []schedule.Op, views []blockView, t *targets, out *writer) {
	var block chain
	var posted []int
	isRecv := func(v *blockView) bool { return v.kind == recvBlock && t.has(&ops[v.from]) }
	for i := range views {
		if isRecv(&views[i]) {
			posted = append(posted, block.beside(ops[views[i].from]))
		}
	}
	for i := range views {
		if isRecv(&views[i]) {
			block.await(posted[0])
			posted = posted[1:]
			continue
		}
		for _, op := range ops[views[i].from:views[i].to] {
			block.next(op)
		}
	}
	block.end(out)
}
