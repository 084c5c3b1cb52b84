package kineto

// columns is a growing list whose elements never move, so that it needs no more memory than they do.
type columns[T any] struct {
	chunks [][]T
}

const chunkBits = 12

// add appends an element and returns it.
func (c *columns[T]) add() *T {
	k := len(c.chunks) - 1
	if k < 0 || len(c.chunks[k]) == 1<<chunkBits {
		c.chunks = append(c.chunks, make([]T, 0, 1<<chunkBits))
		k++
	}
	chunk := &c.chunks[k]
	*chunk = (*chunk)[:len(*chunk)+1]
	return &(*chunk)[len(*chunk)-1]
}

// at returns element i.
func (c *columns[T]) at(i int32) *T { return &c.chunks[i>>chunkBits][i&(1<<chunkBits-1)] }

func (c *columns[T]) len() int {
	k := len(c.chunks) - 1
	if k < 0 {
		return 0
	}
	return k<<chunkBits + len(c.chunks[k])
}

// all calls visit for all elements in order.
func (c *columns[T]) all(visit func(i int32, x *T) bool) {
	for k, chunk := range c.chunks {
		for i := range chunk {
			if !visit(int32(k<<chunkBits+i), &chunk[i]) {
				return
			}
		}
	}
}
