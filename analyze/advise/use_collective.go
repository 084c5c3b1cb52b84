package advise

import (
	"context"
	"fmt"
	"slices"

	"slackline/model/schedule"
)

var collectiveKind = kind{
	Info: Info{
		Name:  "use_collective",
		Short: "a collective instead of a loop of messages",
		Meaning: "Where a rank sends messages of one size to all others, one after the other, all of them call a broadcast (bcast) or scatter " +
			"instead; where it receives from all others, a gather or reduce. The mapping chooses the algorithm. Work between the messages comes " +
			"before the sends, or after the receives.",
		Advice: "Replace the loop by MPI_Bcast (the same data for all), MPI_Scatter (different data), MPI_Gather (all data) or " +
			"MPI_Reduce (combined data).",
		Form: "use_collective:OPERATION@CALLPATH with bcast, scatter, gather or reduce",
	},
	propose: func(s *study) []candidate {
		if s.ranks() < minLoopRanks {
			return nil
		}
		sends := s.proposeCalls("use_collective", schedule.Send, func(c *callInfo) bool { return c.toAll })
		for i := range sends {
			sends[i].change.Value = "bcast"
		}
		receives := s.proposeCalls("use_collective", schedule.Recv, func(c *callInfo) bool { return c.toAll })
		for i := range receives {
			receives[i].change.Value = "gather"
		}
		return append(sends, receives...)
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		i := slices.IndexFunc(schedule.Operations(), func(o schedule.Operation) bool { return o.String() == c.Value })
		loops := schedule.Send
		switch c.Value {
		case "bcast", "scatter":
		case "gather", "reduce":
			loops = schedule.Recv
		default:
			return c.badValue()
		}
		g := graphOf(x.Program)
		matching, err := schedule.Match(g)
		if err != nil {
			return err
		}
		t := targetsOf(g, c.Target)
		p, ok := withCollectives(g, matching, &t, loops, schedule.Operations()[i])
		if !ok {
			return c.nowhere()
		}
		x.Program = edited{p, x.Program}
		return nil
	},
	sentence: func(s *study, c Change) string {
		verb, other := "sends to all other ranks one after the other", "MPI_Bcast, or MPI_Scatter if each rank gets other data"
		if c.Value == "gather" || c.Value == "reduce" {
			verb, other = "receives from all other ranks one after the other", "MPI_Gather, or MPI_Reduce if the data is combined"
		}
		return fmt.Sprintf("In %s, a rank %s; call %s, instead: the run", s.place(c.Target), verb, other)
	},
}

// minLoopRanks is the number of ranks from which on a tree is better than a loop.
const minLoopRanks = 4

// loop is a number of messages of one rank with all others.
type loop struct {
	rank     int
	from, to int // blocks among the views of the rank
	ops      []int
}

// loopsOf finds the loops of a rank over all other ranks.
func loopsOf(g *schedule.Graph, rank int, views []blockView, t *targets, of schedule.Kind) []loop {
	var list []loop
	ops := g.Ops()
	for i := 0; i < len(views); i++ {
		l := loop{rank: rank, from: i}
		seen := map[int32]bool{}
		size := int64(-1)
		at := i
	blocks:
		for ; at < len(views) && len(l.ops) < g.Ranks()-1; at++ {
			for k := views[at].from; k < views[at].to; k++ {
				op := &ops[k]
				if op.Kind == schedule.Calc && !op.IsInner() && op.CPU == 0 {
					if k == views[i].from {
						break blocks // it begins with a message
					}
					continue
				}
				if op.Kind != of || op.World() != schedule.UserContext || !t.has(op) || seen[op.Peer] || int(op.Peer) == rank || op.Peer < 0 ||
					size >= 0 && op.Size != size {
					break blocks
				}
				seen[op.Peer], size = true, op.Size
				l.ops = append(l.ops, k)
			}
		}
		if l.to = at; len(l.ops) == g.Ranks()-1 {
			list = append(list, l)
			i = at - 1
		}
	}
	return list
}

// withCollectives replaces all loops whose other ends are blocking calls.
func withCollectives(g *schedule.Graph, matching *schedule.Matching, t *targets, of schedule.Kind,
	operation schedule.Operation) (*schedule.Graph, bool) {
	ops := g.Ops()
	roots := map[int]*loop{}        // by the first block of the loop
	calls := map[int]*loop{}        // by the operation of another rank
	tags := map[*loop]uint32{}      // each its own
	alone := make([]bool, len(ops)) // operations that are a block
	var views []blockView
	for rank := range g.Ranks() {
		views = blocksOf(g, rank, views)
		for _, v := range views {
			if v.kind == sendBlock || v.kind == recvBlock {
				alone[v.from] = true
			}
		}
	}
	for rank := range g.Ranks() {
		views = blocksOf(g, rank, views)
		for _, l := range loopsOf(g, rank, views, t, of) {
			if slices.ContainsFunc(l.ops, func(i int) bool { return !alone[matching.Partner[i]] }) {
				continue
			}
			roots[views[l.from].number] = &l
			tags[&l] = 1<<20 + uint32(len(tags))
			for _, i := range l.ops {
				calls[int(matching.Partner[i])] = &l
			}
		}
	}
	if len(roots) == 0 {
		return nil, false
	}
	call := func(out *writer, l *loop, origin uint32) {
		var b schedule.Block
		b.Call(schedule.Call{Op: operation, Root: int32(l.rank), Size: ops[l.ops[0]].Size, Tag: tags[l]})
		b.Ops[0].Origin = origin
		out.put(&b)
	}
	return rebuild(g, func(rank int, out *writer) {
		views = blocksOf(g, rank, views)
		for i := 0; i < len(views); i++ {
			l := roots[views[i].number]
			if l == nil {
				if other := calls[views[i].from]; other != nil {
					call(out, other, ops[views[i].from].Origin)
				} else {
					out.copyBlock(g, views[i].number)
				}
				continue
			}
			if of == schedule.Recv {
				call(out, l, ops[l.ops[0]].Origin)
			}
			for _, v := range views[l.from:l.to] {
				for k := v.from; k < v.to; k++ {
					if ops[k].Kind == schedule.Calc {
						var b schedule.Block
						b.Add(ops[k])
						out.put(&b)
					}
				}
			}
			if of == schedule.Send {
				call(out, l, ops[l.ops[0]].Origin)
			}
			i = l.to - 1
		}
	}), true
}
