package pattern

import "slackline/model/schedule"

// halo is an exchange with the neighbors in all dimensions of a grid: one phase in which a rank
// posts all its receives and sends, as MPI_Irecv, MPI_Isend and MPI_Waitall do.
type halo struct {
	*grid
	sizes      []int64 // of a message, by dimension
	send, recv uint32  // origins
}

func (h *halo) fill(rank, _ int, b *schedule.Block) {
	for d := range h.dims {
		size := h.sizes[d]
		// The tag is the direction of travel. It tells the two messages apart that a pair
		// exchanges each way if it is a whole periodic line.
		backward, forward := uint32(2*d), uint32(2*d+1)
		before, after := h.neighbors(rank, d)
		if before >= 0 {
			b.Add(schedule.Op{Kind: schedule.Send, Peer: int32(before), Size: size, Tag: backward, Origin: h.send})
			b.Add(schedule.Op{Kind: schedule.Recv, Peer: int32(before), Size: size, Tag: forward, Origin: h.recv})
		}
		if after >= 0 {
			b.Add(schedule.Op{Kind: schedule.Send, Peer: int32(after), Size: size, Tag: forward, Origin: h.send})
			b.Add(schedule.Op{Kind: schedule.Recv, Peer: int32(after), Size: size, Tag: backward, Origin: h.recv})
		}
	}
}

// halo returns an exchange of messages of the given sizes by dimension; the last size holds for
// the dimensions after it too.
func (s *script) halo(g *grid, path string, sizes ...int64) *halo {
	h := &halo{grid: g, send: s.origin("MPI_Isend", path), recv: s.origin("MPI_Irecv", path)}
	for d := range g.dims {
		h.sizes = append(h.sizes, sizes[min(d, len(sizes)-1)])
	}
	return h
}

func haloPattern(name string, dimensions int, example string) definition {
	return definition{
		Info: Info{
			Name: name, Kind: Exchange,
			Info: "exchange with the neighbors of a grid, non-blocking",
			Details: "Each iteration is compute, then one phase with a message to and from every neighbor that shares a face. Ranks at the border " +
				"of a grid that is not periodic have fewer neighbors.",
			Params:  []string{"ranks", "size", "grid", "periodic", "iterations", "compute", "jitter", "seed"},
			Example: example,
		},
		defaults: Params{Size: 1024},
		build: func(s *script) error {
			g, err := s.grid(dimensions)
			if err != nil {
				return err
			}
			s.compute()
			s.p2p(s.halo(g, "halo", s.Size))
			return nil
		},
	}
}
