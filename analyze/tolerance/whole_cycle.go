package tolerance

import (
	"slices"

	"slackline/model/schedule"
)

// cycleError names the operations on the stack from a point on, for which the last one waits.
func (o *sorter) cycleError(from point) error {
	at := slices.IndexFunc(o.stack, func(f frame) bool { return f.p == from })
	var ops []uint32
	for _, f := range o.stack[at:] {
		if op := f.p.op(); len(ops) == 0 || ops[len(ops)-1] != op { // else start and end of one operation
			ops = append(ops, op)
		}
	}
	if n := len(ops); n > 1 && ops[0] == ops[n-1] {
		ops = ops[:n-1]
	}
	slices.Reverse(ops) // the stack has what is waited for after the one that waits
	return schedule.NewCycleError(o.s.graph, ops)
}
