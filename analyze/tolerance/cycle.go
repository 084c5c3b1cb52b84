package tolerance

import (
	"fmt"
	"slices"
	"strings"
)

// CycleError says that operations wait for each other, so that none of them can ever end.
type CycleError struct {
	File string   // of the schedule, if it has one
	Ops  []string // each waits for the one before it, the first one for the last
}

// maxCycle is how many operations of a cycle a message names.
const maxCycle = 20

// Error names the operations in order, the first one again at the end.
func (e *CycleError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	b.WriteString("cycle: ")
	b.WriteString(strings.Join(e.Ops[:min(len(e.Ops), maxCycle)], " -> "))
	if more := len(e.Ops) - maxCycle; more > 0 {
		fmt.Fprintf(&b, " -> (%d more)", more)
	}
	b.WriteString(" -> " + e.Ops[0])
	return b.String()
}

// cycleError names the operations on the stack from a point on, for which the last one waits. It
// begins with the one that comes first in the schedule.
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
	slices.Reverse(ops) // the stack has what is waited for behind the one that waits
	e := &CycleError{}
	if names := o.s.graph.Names; names != nil {
		e.File = names.File
	}
	first := slices.Index(ops, slices.Min(ops))
	for _, op := range slices.Concat(ops[first:], ops[:first]) {
		rank, index := o.s.graph.Find(int(op))
		e.Ops = append(e.Ops, fmt.Sprintf("rank %d %s", rank, o.s.graph.Name(rank, index)))
	}
	return e
}
