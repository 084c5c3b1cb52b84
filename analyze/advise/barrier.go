package advise

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"slackline/model/schedule"
)

var barrierKind = kind{
	Info: Info{
		Name:  "fewer_barriers",
		Short: "leave out a barrier that is not needed",
		Meaning: "The collectives of a call path are left out (none), or all but every n-th of them (every:10). Whether the program needs them " +
			"is not known: a barrier before or after messages is mostly there for measuring or from debugging, one around files or one-sided " +
			"communication may be needed.",
		Advice: "Remove the barrier if the messages of the program order everything that must be ordered; check convergence or print " +
			"every n-th step only.",
		Form: "fewer_barriers:none@CALLPATH or fewer_barriers:every:10@CALLPATH",
	},
	assumes: always("nothing but the messages of the program needs the order that the barrier makes"),
	propose: func(s *study) []candidate {
		var list []candidate
		for _, c := range s.calls {
			if c.kind == schedule.Collective && c.op == schedule.Barrier && !c.inner {
				list = append(list, candidate{Change{"fewer_barriers", "none", c.name}, s.slack + s.criticalTime(c.name)})
			}
		}
		return list
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		every := 0
		if text, ok := strings.CutPrefix(c.Value, "every:"); ok {
			n, err := strconv.Atoi(text)
			if err != nil || n < 2 {
				return c.badValue()
			}
			every = n
		} else if c.Value != "none" {
			return c.badValue()
		}
		p, ok := withoutCollectives(x.Program, targetsOf(x.Program, c.Target), every)
		if !ok {
			return c.nowhere()
		}
		x.Program = p
		return nil
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Remove the barrier in %s: the run", s.place(c.Target))
	},
}

// instance numbers the collectives of a group.
type instance struct {
	group int32
	tag   uint32
	n     int
}

// withoutCollectives leaves out the collectives whose first member calls them in the call paths, but every n-th; 0: all of them.
func withoutCollectives(p schedule.Program, t targets, every int) (schedule.Program, bool) {
	groups := p.Groups()
	gone := map[instance]bool{}
	each := func(rank int, step int, b *schedule.Block, count map[instance]int, visit func(i int, at instance)) {
		p.Block(rank, step, b)
		for i := range b.Ops {
			if op := &b.Ops[i]; op.Kind == schedule.Collective {
				call := &b.Calls[op.Size]
				key := instance{call.Group, call.Tag, 0}
				at := instance{call.Group, call.Tag, count[key]}
				count[key]++
				visit(i, at)
			}
		}
	}
	first := func(group int32) int {
		if int(group) < len(groups) {
			return groups[group].Rank(0)
		}
		return 0
	}
	var b schedule.Block
	for rank := range p.Ranks() {
		count, kept := map[instance]int{}, map[uint32]int{}
		for step := range p.Steps(rank) {
			each(rank, step, &b, count, func(i int, at instance) {
				op := &b.Ops[i]
				if first(at.group) != rank || !t.has(op) || op.IsInner() {
					return
				}
				kept[op.Origin]++
				if every == 0 || kept[op.Origin]%every != 0 {
					gone[at] = true
				}
			})
		}
	}
	if len(gone) == 0 {
		return nil, false
	}
	g := rebuild(p, func(rank int, out *writer) {
		var b schedule.Block
		count := map[instance]int{}
		for step := range p.Steps(rank) {
			var drop []int
			each(rank, step, &b, count, func(i int, at instance) {
				if gone[at] {
					drop = append(drop, i)
				}
			})
			if len(drop) > 0 {
				b.Own()
				for _, i := range drop {
					b.Ops[i] = schedule.Op{Kind: schedule.Calc, Origin: b.Ops[i].Origin}
				}
			}
			out.put(&b)
		}
	})
	return edited{g, p}, true
}
