package trace

import (
	"fmt"

	"slackline/model/timeline"
)

// setNeighbors gives a rank of a communicator its neighbors: those it receives from and those it sends to.
func setNeighbors(c *timeline.Comm, rank int, in, out []int32) error {
	size := len(c.Members)
	if rank >= size {
		return fmt.Errorf("neighbors of rank %d of communicator %q, which has %d ranks", rank, c.Name, size)
	}
	for _, list := range [][]int32{in, out} {
		for _, n := range list {
			if n < timeline.NoNeighbor || int(n) >= size {
				return fmt.Errorf("neighbor %d of rank %d of communicator %q, which has %d ranks", n, rank, c.Name, size)
			}
		}
	}
	if c.In == nil {
		c.In, c.Out = make([][]int32, size), make([][]int32, size)
	}
	c.In[rank], c.Out[rank] = in, out
	return nil
}

// withNeighbors returns a communicator with the neighbors of its process grid, if it has one and no neighbors of its own.
func (d *Definitions) withNeighbors(comm int) timeline.Comm {
	c := d.Comms[comm]
	if c.In != nil {
		return c
	}
	for i := range d.Carts {
		if g := &d.Carts[i]; int(g.Comm) == comm && g.cells() == len(c.Members) {
			c.In = make([][]int32, len(c.Members))
			for rank := range c.In {
				c.In[rank] = g.neighbors(rank)
			}
			c.Out = c.In
			break
		}
	}
	return c
}

// cells is the number of ranks that a grid has room for, -1 if they cannot be counted.
func (g *Cart) cells() int {
	n := 1
	for _, size := range g.Dims {
		if size <= 0 || n > maxTextRank/size {
			return -1
		}
		n *= size
	}
	return n
}

// neighbors are those of a rank in MPI's order: for each dimension the one in negative, then the one in positive direction. The last
// dimension varies fastest.
func (g *Cart) neighbors(rank int) []int32 {
	list := make([]int32, 0, 2*len(g.Dims))
	stride := g.cells()
	for i, size := range g.Dims {
		stride /= size
		at := rank / stride % size
		for _, step := range []int{-1, 1} {
			to, periodic := at+step, i < len(g.Periodic) && g.Periodic[i]
			if periodic {
				to = (to + size) % size
			}
			if to < 0 || to >= size {
				list = append(list, timeline.NoNeighbor)
			} else {
				list = append(list, int32(rank+(to-at)*stride))
			}
		}
	}
	return list
}
