package schedule

import "slices"

// cutter finds where a block can be cut without changing anything; it is the inverse of Flatten.
// Programs that come from files have one block per rank, but most are made of pieces in which everything
// waits for the piece before: compute, exchange, compute, ... The pieces say so without a dependency for
// each pair, and an engine can forget a piece when it is done.
//
// A block may be cut in front of operation c if every operation from c on that waits for none from
// c on requires all operations before c that no other one before c requires. All others before c
// have finished by then, and all others from c on begin later.
//
// It keeps its memory for the next block.
type cutter struct {
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

// cut returns the ends of the pieces of a block of n operations with dependencies. The list is valid until
// the next call.
func (s *cutter) cut(n int, first []uint32, dependents []Dependent) []int {
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
	s.cuts = append(cuts, n)
	return s.cuts
}

// measure fills what is kept by operation, but for suffix.
func (s *cutter) measure(n int, first []uint32, dependents []Dependent) {
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
func (s *cutter) covered(begin, c int, first []uint32, dependents []Dependent) bool {
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
