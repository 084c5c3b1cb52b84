package trace

import (
	"slices"
	"strings"

	"slackline/model/timeline"
)

// stackTree is the call tree of a trace, in which every function called from the same stack is one node, however
// often the trace defines it. Nodes are those of the trace; node 0 is the empty stack.
type stackTree struct {
	nodes    []stackNode
	children map[Stack]uint32
	kinds    []regionKind
}

type stackNode struct {
	parent, region uint32
	depth          int32
	same           uint32 // the node that stands for all that are equal to this one
}

// regionKind says what making functions out of samples has to do with a region: a set of these.
type regionKind uint8

const (
	quiet   regionKind = 1 << iota // nothing of the program goes on inside: MPI, barriers
	starter                        // a function that only starts threads or the program
	teams                          // of teams of threads
)

// starters begin the names of functions that do nothing but start a program, a thread or a parallel region.
var starters = []string{
	"_start", "__libc_start", "(below main)", "clone", "__clone", "start_thread", "thread_start", "gomp_thread_start",
	"GOMP_", "GOMP_parallel", "gomp_team", "__kmp", "__kmpc", "kmp_", "_INTERNAL_",
}

func kindOf(r *timeline.Region) regionKind {
	var k regionKind
	switch {
	case r.Paradigm == timeline.MPI, r.Paradigm == timeline.Tool, r.Role == timeline.Barrier, r.Role == timeline.ImplicitBarrier:
		k = quiet
	case r.Paradigm == timeline.User && slices.ContainsFunc(starters, func(s string) bool { return strings.HasPrefix(r.Name, s) }):
		k = starter
	}
	if r.Paradigm == timeline.OpenMP {
		k |= teams
	}
	return k
}

func newStackTree(stacks []Stack, kinds []regionKind) *stackTree {
	t := &stackTree{nodes: make([]stackNode, len(stacks)), children: make(map[Stack]uint32, len(stacks)), kinds: kinds}
	for i := 1; i < len(stacks); i++ {
		s := stacks[i]
		if int(s.Parent) >= i || int(s.Region) >= len(kinds) {
			continue // damaged: the empty stack
		}
		s.Parent = t.nodes[s.Parent].same
		same, ok := t.children[s]
		if !ok {
			same = uint32(i)
			t.children[s] = same
		}
		t.nodes[i] = stackNode{s.Parent, s.Region, t.nodes[s.Parent].depth + 1, same}
	}
	return t
}

// find returns the node of a stack of the trace; 0 if it is not known.
func (t *stackTree) find(stack uint32) uint32 {
	if int(stack) >= len(t.nodes) {
		return 0
	}
	return t.nodes[stack].same
}

// child returns the node of a function called from a node, or the node itself if there is none.
func (t *stackTree) child(node, region uint32) uint32 {
	if c, ok := t.children[Stack{node, region}]; ok {
		return c
	}
	return node
}

// common returns what two stacks have in common.
func (t *stackTree) common(a, b uint32) uint32 {
	for a != b {
		if t.nodes[a].depth < t.nodes[b].depth {
			a, b = b, a
		}
		a = t.nodes[a].parent
	}
	return a
}

// outer returns the part of a stack up to a depth.
func (t *stackTree) outer(node uint32, depth int32) uint32 {
	for t.nodes[node].depth > depth {
		node = t.nodes[node].parent
	}
	return node
}

// last returns the innermost call of a region in a stack; false if there is none.
func (t *stackTree) last(node, region uint32) (uint32, bool) {
	for ; node != 0; node = t.nodes[node].parent {
		if t.nodes[node].region == region {
			return node, true
		}
	}
	return 0, false
}

// first returns the depth of the outermost call of a region in a stack below a depth; false if there is none.
func (t *stackTree) first(node, region uint32, below int32) (int32, bool) {
	depth, ok := int32(0), false
	for ; t.nodes[node].depth > below; node = t.nodes[node].parent {
		if t.nodes[node].region == region {
			depth, ok = t.nodes[node].depth, true
		}
	}
	return depth, ok
}

// regions appends the regions of a stack below a depth.
func (t *stackTree) regions(to []uint32, node uint32, depth int32) []uint32 {
	from := len(to)
	for ; t.nodes[node].depth > depth; node = t.nodes[node].parent {
		to = append(to, t.nodes[node].region)
	}
	slices.Reverse(to[from:])
	return to
}
