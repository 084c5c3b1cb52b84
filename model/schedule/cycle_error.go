package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// CycleError states that operations wait for each other, by dependencies and by messages, so that none
// of them can ever end.
type CycleError struct {
	File string   // of the schedule, if it has one
	Ops  []string // each waits for the one before it, the first one for the last
}

// NewCycleError names the operations of a cycle, given by their positions in Ops, each of which waits
// for the one before it. It begins with the one that comes first.
func NewCycleError(g *Graph, ops []uint32) *CycleError {
	e := &CycleError{}
	if g.Names != nil {
		e.File = g.Names.File
	}
	first := slices.Index(ops, slices.Min(ops))
	for _, op := range slices.Concat(ops[first:], ops[:first]) {
		rank, index := g.Find(int(op))
		e.Ops = append(e.Ops, fmt.Sprintf("rank %d %s", rank, g.Name(rank, index)))
	}
	return e
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
