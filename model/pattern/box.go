package pattern

import "slackline/model/schedule"

// box is an exchange with all ranks around one in a 3-D grid that is not periodic: across faces,
// edges and corners, 26 in the interior. It is one phase, as halo is.
type box struct {
	*grid
	size       int64
	send, recv uint32 // origins
}

// offset is a step to a neighbor in each dimension: -1, 0 or +1.
type offset [3]int

// offsets are the 26 neighbors; the one opposite of i is 25 - i.
var offsets = func() (list []offset) {
	for i := range 27 {
		if o := (offset{i%3 - 1, i/3%3 - 1, i/9 - 1}); o != (offset{}) {
			list = append(list, o)
		}
	}
	return list
}()

func (x *box) fill(rank, _ int, b *schedule.Block) {
	at := [3]int{rank % x.dims[0], rank / x.strides[1] % x.dims[1], rank / x.strides[2]}
	for i, o := range offsets {
		if peer := x.peer(rank, at, o); peer >= 0 {
			// The tag is the direction of travel.
			b.Ops[b.Send(peer, x.size, uint32(i))].Origin = x.send
			b.Ops[b.Recv(peer, x.size, uint32(25-i))].Origin = x.recv
		}
	}
}

// peer returns the rank at an offset from a rank with known coordinates, or -1.
func (x *box) peer(rank int, at [3]int, o offset) int {
	for d := range o {
		if next := at[d] + o[d]; next < 0 || next >= x.dims[d] {
			return -1
		}
		rank += o[d] * x.strides[d]
	}
	if rank >= x.ranks {
		return -1
	}
	return rank
}

// box returns an exchange with all 26 neighbors.
func (s *script) box(g *grid, path string, size int64) *box {
	return &box{g, size, s.origin("MPI_Isend", path), s.origin("MPI_Irecv", path)}
}
