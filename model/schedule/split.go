package schedule

import "slices"

// Split cuts the blocks of a graph where that changes nothing, and returns the graph of the pieces;
// it is the inverse of Flatten. Operations keep their order. Programs that come from files have one
// block per rank, but most are made of pieces in which everything waits for the piece before:
// compute, exchange, compute, ... The pieces say so without a dependency for each pair, and an
// engine can forget a piece when it is done.
//
// A block may be cut in front of operation c if every operation from c on that waits for none from
// c on requires all operations before c that no other one before c requires. All others before c
// have finished by then, and all others from c on begin later.
func Split(g *Graph) *Graph {
	if !g.shape.Graphs {
		return g
	}
	s := splitter{in: g}
	s.out = Graph{
		steps: make([]int, 1, len(g.steps)), blocks: make([]blockInfo, 1, len(g.blocks)),
		ops: g.ops, calls: g.calls, groups: g.groups, origins: g.origins, shape: g.shape, Names: g.Names, part: g.part,
	}
	s.out.shape.Graphs = false
	for rank := range g.Ranks() {
		for block := g.steps[rank]; block < g.steps[rank+1]; block++ {
			s.split(block)
		}
		s.out.steps = append(s.out.steps, len(s.out.blocks)-1)
	}
	if len(s.out.blocks) == len(g.blocks) {
		return g
	}
	return &s.out
}

// splitter is the state of Split.
type splitter struct {
	in  *Graph
	out Graph

	// By operation of the block.
	last  []int32 // the last operation that it waits for, -1: none
	roots []int32 // how many have this one as their last
	first []int32 // the first operation that requires it
	// The smallest last of this operation and all after it.
	suffix []int32
	seen   []int32 // the operation for which covered has counted it
	// The largest operation that it waits for although that comes after it, -1: none.
	backward []int32
	cuts     []int
}

// split appends the pieces of a block.
func (s *splitter) split(block int) {
	from, to := s.in.BlockOps(block)
	first, dependents := s.in.Links(block)
	n := to - from
	if len(dependents) == 0 {
		s.add(from, to, 0, nil, nil)
		s.callsBeside(from, to)
		return
	}
	s.measure(n, first, dependents)

	smallest := int32(n)
	for c := n - 1; c >= 0; c-- {
		smallest = min(smallest, s.last[c])
		s.suffix[c] = smallest
	}
	cuts := s.cuts[:0]
	begin, tryFrom, reach := 0, 1, int32(-1)
	for c := 1; c < n; c++ {
		reach = max(reach, s.backward[c-1])
		if c < tryFrom || s.suffix[c] != int32(c-1) || reach >= int32(c) {
			continue
		}
		if s.covered(begin, c, first, dependents) {
			cuts = append(cuts, c)
			begin, tryFrom = c, c+1
		} else {
			// Each try looks at the whole piece: try less and less often.
			tryFrom = c + 1 + (c-begin)/4
		}
	}
	begin = 0
	s.cuts = append(cuts, n)
	for _, c := range s.cuts {
		s.add(from+begin, from+c, begin, first, dependents)
		s.callsBeside(from+begin, from+c)
		begin = c
	}
}

// measure fills what is kept by operation, but for suffix.
func (s *splitter) measure(n int, first []uint32, dependents []Dependent) {
	reset := func(list []int32, v int32) []int32 {
		list = slices.Grow(list[:0], n)[:n]
		for i := range list {
			list[i] = v
		}
		return list
	}
	s.last, s.roots, s.first = reset(s.last, -1), reset(s.roots, 0), reset(s.first, int32(n))
	s.suffix, s.seen, s.backward = reset(s.suffix, 0), reset(s.seen, -1), reset(s.backward, -1)
	for i := range n {
		for _, d := range dependents[first[i]:first[i+1]] {
			v := d.Index()
			if v <= i {
				s.backward[v] = max(s.backward[v], int32(i))
				continue
			}
			s.last[v] = max(s.last[v], int32(i))
			if !d.OnStart() {
				s.first[i] = min(s.first[i], int32(v))
			}
		}
	}
	for v := range n {
		if p := s.last[v]; p >= 0 {
			s.roots[p]++
		}
	}
}

// covered reports whether the operations whose last is c-1 each require all operations from begin
// to c-1 that no other one of these requires.
func (s *splitter) covered(begin, c int, first []uint32, dependents []Dependent) bool {
	roots := s.roots[c-1]
	for u := c - 1; u >= begin; u-- {
		if s.first[u] < int32(c) {
			continue
		}
		count := int32(0)
		for _, d := range dependents[first[u]:first[u+1]] {
			// A dependency may be given more than once.
			if v := d.Index(); !d.OnStart() && s.last[v] == int32(c-1) && s.seen[v] != int32(u) {
				s.seen[v] = int32(u)
				count++
			}
		}
		if count != roots {
			return false
		}
	}
	return true
}

// add appends the piece of the operations from .. to-1 of the graph. base is the place of the piece
// in its block, to which first and dependents belong.
func (s *splitter) add(from, to, base int, first []uint32, dependents []Dependent) {
	g := &s.out
	n := to - from
	if len(dependents) > 0 {
		if g.first == nil { // there will be no more than in the graph that is cut
			g.first = make([]uint32, 0, len(s.in.first)+len(s.in.ops))
			g.dependents = make([]Dependent, 0, len(s.in.dependents))
		}
		start, edges := len(g.first), len(g.dependents)
		for i := base; i < base+n; i++ {
			g.first = append(g.first, uint32(len(g.dependents)-edges))
			for _, d := range dependents[first[i]:first[i+1]] {
				if v := d.Index(); v < base+n {
					g.dependents = append(g.dependents, NewDependent(v-base, d.OnStart()))
				}
			}
		}
		if len(g.dependents) == edges {
			g.first = g.first[:start]
		} else {
			g.first = append(g.first, uint32(len(g.dependents)-edges))
			g.shape.Graphs = true
		}
	}
	g.blocks = append(g.blocks, blockInfo{to, len(g.first), len(g.dependents)})
}

// callsBeside notes in the shape that a piece has a collective beside other operations.
func (s *splitter) callsBeside(from, to int) {
	if !s.in.shape.Collectives || s.out.shape.Graphs || to-from == 1 {
		return
	}
	for i := from; i < to; i++ {
		if s.in.ops[i].Kind == Collective {
			s.out.shape.Graphs = true
		}
	}
}
