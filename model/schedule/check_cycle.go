package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// cycleFinder looks for operations of a block that wait for each other. It keeps its memory for
// the next block.
type cycleFinder struct {
	waits []uint32 // by operation: dependencies that are not satisfied yet
	ready []uint32
}

// find returns the operations around one cycle, each followed by one that waits for it, beginning
// with the one of the lowest index; nil if there is no cycle.
func (c *cycleFinder) find(ops int, first []uint32, dependents []Dependent) []int {
	if len(dependents) == 0 || ascending(ops, first, dependents) {
		return nil
	}
	c.waits = append(c.waits[:0], make([]uint32, ops)...)
	for _, d := range dependents {
		c.waits[d.Index()]++
	}
	// Carry out what can be carried out. What is left waits for a cycle or is part of one.
	c.ready = c.ready[:0]
	for i, n := range c.waits {
		if n == 0 {
			c.ready = append(c.ready, uint32(i))
		}
	}
	for done := 0; done < len(c.ready); done++ {
		i := c.ready[done]
		for _, d := range dependents[first[i]:first[i+1]] {
			if c.waits[d.Index()]--; c.waits[d.Index()] == 0 {
				c.ready = append(c.ready, uint32(d.Index()))
			}
		}
	}
	if len(c.ready) == ops {
		return nil
	}
	return c.around(ops, first, dependents)
}

// ascending reports whether all operations wait for earlier ones only, as they do in nearly all
// files: then there is no cycle.
func ascending(ops int, first []uint32, dependents []Dependent) bool {
	for i := range ops {
		for _, d := range dependents[first[i]:first[i+1]] {
			if d.Index() <= i {
				return false
			}
		}
	}
	return true
}

// around walks from an operation that is left back to one that it waits for, and on, until it
// comes by an operation for the second time.
func (c *cycleFinder) around(ops int, first []uint32, dependents []Dependent) []int {
	before := make([]int, ops)
	at := -1
	for i := range ops {
		if c.waits[i] == 0 {
			continue
		}
		for _, d := range dependents[first[i]:first[i+1]] {
			if c.waits[d.Index()] > 0 {
				before[d.Index()] = i
				at = d.Index()
			}
		}
	}
	seen := make([]bool, ops)
	for !seen[at] {
		seen[at] = true
		at = before[at]
	}
	cycle := []int{at}
	for i := before[at]; i != at; i = before[i] {
		cycle = append(cycle, i)
	}
	slices.Reverse(cycle)
	lowest := slices.Index(cycle, slices.Min(cycle))
	return append(cycle[lowest:len(cycle):len(cycle)], cycle[:lowest]...)
}

// cycleText names which operations of a rank wait for each other.
func cycleText(rank int, cycle []int, name func(index int) string) string {
	const most = 10
	var names []string
	for _, i := range cycle[:min(len(cycle), most)] {
		names = append(names, name(i))
	}
	switch n := len(cycle); {
	case n == 1:
		return fmt.Sprintf("rank %d: operation %s waits for itself", rank, names[0])
	case n > most:
		return fmt.Sprintf("rank %d: %s and %d more wait for each other; remove one of these dependencies",
			rank, strings.Join(names, ", "), n-most)
	default:
		return fmt.Sprintf("rank %d: %s and %s wait for each other; remove one of these dependencies",
			rank, strings.Join(names[:n-1], ", "), names[n-1])
	}
}

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
