package trace

import (
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
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

// regionKind describes what making functions out of samples has to do with a region: a set of these.
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

// pool is all gaps of a kind, end to end.
type pool struct {
	key     gapKey
	after   *pool // the pool of the gap that came after one of this pool the last time
	samples []poolSample
	blocks  []poolBlock

	next   int           // sample whose stack is that of the next instant
	filled unit.Duration // so much of it has got its stacks
}

// poolSample is a sample of a pool, in order of time.
type poolSample struct {
	inner unit.Duration // its half of the time to its neighbors in the same gap
	end   unit.Duration // its stack is open until this time of the pool
	stack uint32
	outer uint8 // how many of its sides are towards an end of the gap
}

// poolBlock is some gaps of a pool, within which the time at the ends of gaps is divided.
type poolBlock struct {
	first int           // its first sample
	outer unit.Duration // the time at the ends of gaps, and of gaps without samples
	sides int64         // of samples that it is divided among
	total unit.Duration
	gaps  int
	front unit.Duration // the time before the first sample of its last gap
}

// blockSides is how many sides of samples a block has at least: so many that what each gets is nearly the same
// whatever the samples are like, so few that samples stay near to where they were taken.
const blockSides = 16

// poolTable finds pools by the kind of their gaps.
type poolTable struct {
	pools map[gapKey]*pool
	last  *pool
}

// find returns the pool of a kind of gaps, a new one if there is none yet. In loops the same kinds follow each other,
// so it mostly looks at one pool only.
func (t *poolTable) find(key *gapKey) *pool {
	p := t.last.after
	if p == nil || p.key != *key {
		if p = t.pools[*key]; p == nil {
			p = &pool{key: *key}
			t.pools[*key] = p
		}
		t.last.after = p
	}
	t.last = p
	return p
}

func newPoolTable() poolTable { return poolTable{map[gapKey]*pool{}, &pool{}} }

// add adds a gap.
func (p *pool) add(g *gap) {
	n := len(p.blocks)
	if n == 0 || p.blocks[n-1].sides >= blockSides {
		p.blocks = append(p.blocks, poolBlock{first: len(p.samples)})
		n++
	}
	b := &p.blocks[n-1]
	b.gaps++
	b.total += g.end - g.begin
	last := len(g.samples) - 1
	if last < 0 {
		b.outer += g.end - g.begin
		return
	}
	b.front = g.samples[0].time - g.begin
	b.outer += b.front + g.end - g.samples[last].time
	b.sides += 2
	for i, s := range g.samples {
		x := poolSample{stack: s.stack}
		if i == 0 {
			x.outer++
		} else {
			d := s.time - g.samples[i-1].time
			x.inner += d - d/2
		}
		if i == last {
			x.outer++
		} else {
			x.inner += (g.samples[i+1].time - s.time) / 2
		}
		p.samples = append(p.samples, x)
	}
}

// settle gives all time of the pool to its samples. The last block joins the one before it if it is small.
func (p *pool) settle() {
	if n := len(p.blocks); n > 1 && p.blocks[n-1].sides < blockSides {
		a, b := &p.blocks[n-2], p.blocks[n-1]
		a.outer, a.sides, a.total, a.gaps = a.outer+b.outer, a.sides+b.sides, a.total+b.total, a.gaps+b.gaps
		p.blocks = p.blocks[:n-1]
	}
	start := unit.Duration(0)
	for i, b := range p.blocks {
		to := len(p.samples)
		if i+1 < len(p.blocks) {
			to = p.blocks[i+1].first
		}
		inner, sides := unit.Duration(0), int64(0)
		for j := b.first; j < to; j++ {
			s := &p.samples[j]
			inner += s.inner
			sides += int64(s.outer)
			s.end = start + inner + unit.Duration(float64(b.outer)*float64(sides)/float64(b.sides))
			if b.gaps == 1 && j < to-1 { // a gap alone: there is nothing to be made equal
				s.end = start + inner + b.front
			}
		}
		start += b.total
	}
	p.blocks = nil
}
