package advise

import (
	"context"
	"fmt"

	"slackline/model/machine"
	"slackline/model/schedule"
)

var combineKind = kind{
	Info: Info{
		Name:  "combine",
		Short: "combine small messages to larger ones",
		Meaning: "Messages that a rank sends to another one, with no receive and no collective in between, become one message of all their " +
			"bytes: sent in place of the last, received in place of the first. What takes less than a message between them, such as the loop, is " +
			"left out with them.",
		Advice: "Collect what goes to the same rank in one buffer (or a derived datatype) and send it once.",
		Form:   "combine@CALLPATH of the sends",
	},
	propose: func(s *study) []candidate {
		return s.proposeCalls("combine", schedule.Send, func(c *callInfo) bool { return c.inRow > 0 })
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		g := graphOf(x.Program)
		matching, err := schedule.Match(g)
		if err != nil {
			return err
		}
		t := targetsOf(g, c.Target)
		sets := messageSets(g, &t)
		if len(sets) == 0 {
			return c.nowhere()
		}
		p := &x.Machine.Classes[machine.Far]
		x.Program = edited{combined(g, matching, sets, int64(p.Latency+2*p.Overhead[0].Value)), x.Program}
		return nil
	},
	sentence: func(s *study, c Change) string {
		n := s.callNamed(c.Target)
		return fmt.Sprintf("Combine the messages of %s that go to the same rank one after the other (%d of %d, up to %d bytes each): the run",
			s.place(c.Target), n.inRow, n.count, n.largest)
	},
}

// messageSets are the sends, as positions in Ops, that become one: two or more each.
func messageSets(g *schedule.Graph, t *targets) [][]int {
	var sets [][]int
	ops := g.Ops()
	for rank := range g.Ranks() {
		open := map[int32][]int{} // by receiver
		var order []int32
		flush := func() {
			for _, peer := range order {
				if len(open[peer]) > 1 {
					sets = append(sets, open[peer])
				}
			}
			clear(open)
			order = order[:0]
		}
		for i := g.FirstOp(rank); i < g.FirstOp(rank+1); i++ {
			op := &ops[i]
			switch {
			case op.Kind == schedule.Send && op.World() == schedule.UserContext && t.has(op):
				if open[op.Peer] == nil {
					order = append(order, op.Peer)
				}
				open[op.Peer] = append(open[op.Peer], i)
			case op.Kind == schedule.Recv || op.Kind == schedule.Collective:
				flush()
			}
		}
		flush()
	}
	return sets
}

// combined joins the messages of each set. Computation between them that takes less than a message is left out.
func combined(g *schedule.Graph, matching *schedule.Matching, sets [][]int, message int64) *schedule.Graph {
	ops := g.Ops()
	tag := uint32(0) // above all others
	for i := range ops {
		if k := ops[i].Kind; (k == schedule.Send || k == schedule.Recv) && ops[i].Tag != schedule.AnyTag {
			tag = max(tag, ops[i].Tag+1)
		}
	}
	changed := map[int]schedule.Op{}
	after := map[int]int{} // a receive that is left out, and the one that has its data
	for n, set := range sets {
		size, last := int64(0), set[len(set)-1]
		first, final := int(matching.Partner[set[0]]), 0 // receives
		for _, i := range set {
			size += ops[i].Size
			first, final = min(first, int(matching.Partner[i])), max(final, int(matching.Partner[i]))
		}
		for _, i := range set {
			changed[i] = schedule.Op{Kind: schedule.Calc, Origin: ops[i].Origin}
			r := int(matching.Partner[i])
			changed[r] = schedule.Op{Kind: schedule.Calc, Origin: ops[r].Origin}
			after[r] = first
		}
		for _, span := range [][2]int{{set[0], last}, {first, final}} {
			for i := span[0]; i < span[1]; i++ {
				if op := ops[i]; op.Kind == schedule.Calc && op.Size < message {
					op.Size = 0
					changed[i] = op
				}
			}
		}
		send, recv := ops[last], ops[first]
		send.Size, send.Tag, recv.Size, recv.Tag = size, tag+uint32(n), size, tag+uint32(n)
		changed[last], changed[first] = send, recv
		delete(after, first)
	}
	return rebuild(g, func(rank int, out *writer) {
		for number := g.FirstBlock(rank); number < g.FirstBlock(rank+1); number++ {
			from, to := g.BlockOps(number)
			var b, edges schedule.Block
			g.Block(rank, number-g.FirstBlock(rank), &edges)
			for i := from; i < to; i++ {
				op, ok := changed[i]
				if !ok {
					op = edges.Ops[i-from]
				}
				if op.Kind == schedule.Collective {
					b.Call(edges.Calls[op.Size])
					op.Size = b.Ops[len(b.Ops)-1].Size // the number of the call in this block
					b.Ops[len(b.Ops)-1] = op
				} else {
					b.Add(op)
				}
			}
			for i := from; i < to; i++ {
				if !edges.IsPhase() {
					for _, d := range edges.Dependents[edges.First[i-from]:edges.First[i-from+1]] {
						if d.OnStart() {
							b.RequireStart(d.Index(), i-from)
						} else {
							b.Require(d.Index(), i-from)
						}
					}
				}
				if on, ok := after[i]; ok && on >= from {
					b.Require(i-from, on-from)
				}
			}
			b.Link()
			out.put(&b)
		}
	})
}
