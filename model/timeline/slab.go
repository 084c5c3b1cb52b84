package timeline

import (
	"math/bits"

	"slackline/internal/spill"
)

// slab is a growing list whose elements never move: every further chunk is twice as large as the one
// before it. Its zero value is empty.
type slab[T any] struct {
	chunks [][]T
	n      int32
}

// slabBits is the logarithm of the size of the first chunk.
const slabBits = 4

// add appends an element, with the memory of a space, and returns it.
func (s *slab[T]) add(space *spill.Space) *T {
	k := len(s.chunks) - 1
	if k < 0 || len(s.chunks[k]) == cap(s.chunks[k]) {
		k++
		s.chunks = append(s.chunks, spill.Make[T](space, 0, 1<<(slabBits+k)))
	}
	c := s.chunks[k]
	c = c[:len(c)+1]
	s.chunks[k] = c
	s.n++
	return &c[len(c)-1]
}

// free gives the memory back.
func (s *slab[T]) free(space *spill.Space) {
	for _, c := range s.chunks {
		spill.Free(space, c)
	}
	*s = slab[T]{}
}

// at returns element i.
func (s *slab[T]) at(i int32) *T {
	j := uint32(i) + 1<<slabBits
	k := bits.Len32(j) - 1
	return &s.chunks[k-slabBits][j-1<<k]
}

// each calls visit for all elements in order.
func (s *slab[T]) each(visit func(*T)) {
	for _, c := range s.chunks {
		for i := range c {
			visit(&c[i])
		}
	}
}
