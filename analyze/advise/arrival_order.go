package advise

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"slackline/analyze/simulate"
	"slackline/model/schedule"
	"slackline/model/unit"
)

var arrivalKind = kind{
	Info: Info{
		Name:  "arrival_order",
		Short: "take messages in the order in which they arrive",
		Meaning: "Where a rank receives from several ranks one after the other, each time with some work after it, it takes the messages in " +
			"the order in which they are sent in the simulated run, each with its work.",
		Advice: "Receive with MPI_ANY_SOURCE, or post all receives (MPI_Irecv) and work on them as MPI_Waitany completes them.",
		Form:   "arrival_order@CALLPATH",
	},
	propose: func(s *study) []candidate {
		return s.proposeCalls("arrival_order", schedule.Recv, func(c *callInfo) bool { return c.beforeWork > 0 && c.waiting.Sign() > 0 })
	},
	apply: func(ctx context.Context, x *Scenario, c Change) error {
		best, least := schedule.Program(nil), unit.Duration(0)
		now := *x
		for round := 0; ; round++ {
			result, err := now.Run(ctx, simulate.Options{Calls: true})
			if err != nil {
				return err
			}
			if round > 0 && (best == nil || result.Makespan < least) {
				best, least = now.Program, result.Makespan
			}
			sent := sentTimes(graphOf(now.Program), result)
			if sent == nil || round == arrivalRounds || reorder(&now, c, sent) != nil {
				break // nothing is out of order any more, or enough was tried
			}
		}
		if best == nil {
			return c.nowhere()
		}
		x.Program = best
		return nil
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Take the messages of %s in the order in which they arrive (MPI_ANY_SOURCE, or MPI_Irecv and MPI_Waitany): the run",
			s.place(c.Target))
	},
}

// arrivalRounds is how often the order is found anew: a new order moves the messages that are sent later.
const arrivalRounds = 3

// sentTimes is, by receive in the order of the graph, when its message was sent, or -1; nil: the run does not tell.
func sentTimes(g *schedule.Graph, r *simulate.Result) []unit.Duration {
	tl := r.Calls
	if tl == nil {
		return nil
	}
	matching, err := schedule.Match(g)
	if err != nil {
		return nil
	}
	// The sends of a rank in their order, in the graph and in the timeline.
	times := make([]unit.Duration, g.NumOps())
	for i := range times {
		times[i] = -1
	}
	bySender := make([][]int32, g.Ranks())
	for i := range tl.Messages {
		from := tl.Locations[tl.Messages[i].From].Rank
		bySender[from] = append(bySender[from], int32(i))
	}
	ops := g.Ops()
	for rank, list := range bySender {
		slices.SortStableFunc(list, func(a, b int32) int {
			x, y := &tl.Messages[a], &tl.Messages[b]
			return cmp.Or(cmp.Compare(x.Sent, y.Sent), cmp.Compare(x.Send, y.Send))
		})
		at := 0
		for i := g.FirstOp(rank); i < g.FirstOp(rank+1); i++ {
			if ops[i].Kind != schedule.Send || ops[i].World() != schedule.UserContext {
				continue
			}
			if at == len(list) {
				return nil
			}
			times[matching.Partner[i]] = tl.Messages[list[at]].Sent
			at++
		}
		if at != len(list) {
			return nil
		}
	}
	return times
}

// reorder sorts what follows each other: a receive and the work after it, by when the message was sent.
func reorder(x *Scenario, c Change, sent []unit.Duration) error {
	return moveCalls(x, c, func(g *schedule.Graph, views []blockView, t *targets, out *writer) bool {
		changed := false
		ops := g.Ops()
		for i := 0; i < len(views); {
			units := receiveUnits(ops, views[i:], t)
			if len(units) < 2 {
				out.copyBlock(g, views[i].number)
				i++
				continue
			}
			size := units[0][1] - units[0][0]
			order := slices.Clone(units)
			slices.SortStableFunc(order, func(a, b [2]int) int {
				return cmp.Compare(sent[views[i+a[0]].from], sent[views[i+b[0]].from])
			})
			changed = changed || !slices.Equal(order, units)
			for _, u := range order {
				for _, v := range views[i+u[0] : i+u[1]] {
					out.copyBlock(g, v.number)
				}
			}
			i += size * len(units)
		}
		return changed
	})
}

// receiveUnits are the receives of different ranks that follow each other from here on, each with the work after it: of the same call
// paths each time.
func receiveUnits(ops []schedule.Op, views []blockView, t *targets) (units [][2]int) {
	is := func(i int) bool { return i < len(views) && views[i].kind == recvBlock && t.has(&ops[views[i].from]) }
	if !is(0) {
		return nil
	}
	work := 1
	for work < len(views) && views[work].kind == calcBlock {
		work++
	}
	if !is(work) {
		return nil
	}
	seen := map[int32]bool{}
	for at := 0; is(at) && at+work <= len(views) && !seen[ops[views[at].from].Peer]; at += work {
		for k := 1; k < work; k++ {
			v, w := &views[at+k], &views[k]
			if v.kind != calcBlock || v.to-v.from != w.to-w.from || ops[v.from].Origin != ops[w.from].Origin {
				return units
			}
		}
		seen[ops[views[at].from].Peer] = true
		units = append(units, [2]int{at, at + work})
	}
	return units
}
