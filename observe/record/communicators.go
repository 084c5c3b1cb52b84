package record

import (
	"fmt"
	"slices"

	"slackline/model/timeline"
	"slackline/model/trace"
)

// commTable numbers the communicators of a trace.
type commTable struct {
	known  *identities
	byName map[uint32]uint32 // by identity
	comms  []timeline.Comm
	grids  map[uint32]*trace.Cart
}

func newCommTable(known *identities) *commTable {
	return &commTable{known: known, byName: map[uint32]uint32{}, grids: map[uint32]*trace.Cart{}}
}

// addRank takes the communicators of a rank and returns their numbers in the trace.
func (t *commTable) addRank(rank int, carts []rawCart, edges []rawNeighbors) map[uint32]uint32 {
	comms := t.known.comms[rank]
	numbers := map[uint32]uint32{}
	for _, id := range t.known.ids[rank] {
		c := comms[id]
		identity := t.known.identity(rank, id)
		number, ok := t.byName[identity]
		if !ok {
			number = uint32(len(t.comms))
			t.byName[identity] = number
			comm := timeline.Comm{Name: commName(id, number, c.members), Members: c.members, Remote: c.remote}
			if c.swapped() {
				comm.Members, comm.Remote = c.remote, c.members
			}
			t.comms = append(t.comms, comm)
		}
		numbers[id] = number
	}
	for _, cart := range carts {
		if number, ok := numbers[cart.comm]; ok {
			t.addCart(number, comms[cart.comm], cart)
		}
	}
	for _, e := range edges {
		if number, ok := numbers[e.comm]; ok {
			t.addNeighbors(&t.comms[number], comms[e.comm].rank, e)
		}
	}
	return numbers
}

// addNeighbors gives a rank of a communicator its neighbors, if there are such ranks.
func (t *commTable) addNeighbors(c *timeline.Comm, rank int, e rawNeighbors) {
	size := len(c.Members)
	odd := func(n int32) bool { return n < timeline.NoNeighbor || int(n) >= size }
	if rank < 0 || rank >= size || slices.ContainsFunc(e.in, odd) || slices.ContainsFunc(e.out, odd) {
		return
	}
	if c.In == nil {
		c.In, c.Out = make([][]int32, size), make([][]int32, size)
	}
	c.In[rank], c.Out[rank] = e.in, e.out
}

func commName(id, number uint32, members []int32) string {
	switch {
	case id == 0 && members[0] > 0: // of processes that were started later
		return fmt.Sprintf("MPI_COMM_WORLD from rank %d on", members[0])
	case id == 0:
		return "MPI_COMM_WORLD"
	case id == 1:
		return "MPI_COMM_SELF"
	}
	return fmt.Sprintf("communicator %d", number)
}

func (t *commTable) addCart(number uint32, c rawComm, cart rawCart) {
	g, ok := t.grids[number]
	if !ok {
		g = &trace.Cart{Comm: number, Dims: cart.dims, Coords: make([][]int, len(c.members))}
		for _, p := range cart.periods {
			g.Periodic = append(g.Periodic, p != 0)
		}
		t.grids[number] = g
	}
	if len(cart.dims) == len(g.Dims) && c.rank >= 0 && c.rank < len(g.Coords) {
		g.Coords[c.rank] = cart.coords
	}
}

// carts are the grids in the order of their communicators; those that miss a rank are left out.
func (t *commTable) carts() []trace.Cart {
	var list []trace.Cart
	for number := range t.comms {
		g := t.grids[uint32(number)]
		if g != nil && !slices.ContainsFunc(g.Coords, func(c []int) bool { return c == nil }) {
			list = append(list, *g)
		}
	}
	return list
}
