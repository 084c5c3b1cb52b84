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
	ops    []cutOp
	pieces []piece
}

// cutOp is what the cutter knows of an operation of the block.
type cutOp struct {
	last   int32 // the last operation before it that it waits for, -1: none
	roots  int32 // how many have this one as their last
	first  int32 // the first operation that requires it
	suffix int32 // the smallest last of this operation and all after it
	seen   int32 // the operation for which covered has counted it
	// The largest operation that it waits for although that comes after it, -1: none.
	backward int32
}

// piece is the operations of a block from where the piece before it ends.
type piece struct {
	end    int
	linked bool // some wait for others of the piece
}

// cut returns the pieces of a block of n operations with dependencies. The list is valid until the next call.
func (s *cutter) cut(n int, first []uint32, dependents []Dependent) []piece {
	s.measure(n, first, dependents)
	ops := s.ops
	smallest := int32(n)
	for c := n - 1; c >= 0; c-- {
		smallest = min(smallest, ops[c].last)
		ops[c].suffix = smallest
	}
	pieces := s.pieces[:0]
	begin, tryFrom, reach, linked := 0, 1, ops[0].backward, ops[0].backward >= 0
	for c := 1; c < n; c++ {
		if c >= tryFrom && ops[c].suffix == int32(c-1) && reach < int32(c) {
			if s.covered(begin, c, first, dependents) {
				pieces = append(pieces, piece{c, linked})
				begin, tryFrom, linked = c, c+1, false
			} else {
				// Each try looks at the whole piece: try less and less often.
				tryFrom = c + 1 + (c-begin)/4
			}
		}
		reach = max(reach, ops[c].backward)
		linked = linked || ops[c].last >= int32(begin) || ops[c].backward >= 0
	}
	s.pieces = append(pieces, piece{n, linked})
	return s.pieces
}

// measure fills what is kept by operation, but for suffix.
func (s *cutter) measure(n int, first []uint32, dependents []Dependent) {
	s.ops = slices.Grow(s.ops[:0], n)[:n]
	ops := s.ops
	for i := range ops {
		ops[i] = cutOp{last: -1, first: int32(n), seen: -1, backward: -1}
	}
	for i := range ops {
		for _, d := range dependents[first[i]:first[i+1]] {
			v := d.Index()
			if v <= i {
				ops[v].backward = max(ops[v].backward, int32(i))
				continue
			}
			ops[v].last = int32(i) // i ascends
			if !d.OnStart() {
				ops[i].first = min(ops[i].first, int32(v))
			}
		}
	}
	for v := range ops {
		if p := ops[v].last; p >= 0 {
			ops[p].roots++
		}
	}
}

// covered reports whether the operations whose last is c-1 each require all operations from begin
// to c-1 that no other one of these requires.
func (s *cutter) covered(begin, c int, first []uint32, dependents []Dependent) bool {
	ops := s.ops
	roots := ops[c-1].roots
	for u := c - 1; u >= begin; u-- {
		if ops[u].first < int32(c) {
			continue
		}
		count := int32(0)
		for _, d := range dependents[first[u]:first[u+1]] {
			// A dependency may be given more than once.
			if v := &ops[d.Index()]; !d.OnStart() && v.last == int32(c-1) && v.seen != int32(u) {
				v.seen = int32(u)
				count++
			}
		}
		if count != roots {
			return false
		}
	}
	return true
}
