package pattern

import "slackline/model/schedule"

// A wavefront stage is five blocks, since all calls are blocking: receive from the neighbor
// upstream in x, then in y; compute; send downstream in x, then in y.

// upstream receives from the neighbor against the direction of the wave in one dimension.
type upstream struct{ wave }

// downstream sends to the neighbor in the direction of the wave in one dimension.
type downstream struct{ wave }

// wave is one dimension of a wavefront.
type wave struct {
	*grid
	dimension int
	direction int // +1: from the lower ranks to the upper ones
	size      int64
	origin    uint32
}

func (w *upstream) fill(rank, _ int, b *schedule.Block) {
	if from := w.neighbor(rank, w.dimension, -w.direction); from >= 0 {
		b.Ops[b.Recv(from, w.size, uint32(w.dimension))].Origin = w.origin
	}
}

func (w *downstream) fill(rank, _ int, b *schedule.Block) {
	if to := w.neighbor(rank, w.dimension, w.direction); to >= 0 {
		b.Ops[b.Send(to, w.size, uint32(w.dimension))].Origin = w.origin
	}
}

// corners are the directions (x, y) of the sweeps, one dimension turned at a time, so that a wave
// follows close after the one before it. With eight sweeps, as a three-dimensional problem on a
// two-dimensional grid has octants, each corner is the origin of two waves.
func corners(count int) [][2]int {
	four := [][2]int{{+1, +1}, {-1, +1}, {-1, -1}, {+1, -1}}
	switch count {
	case 2:
		return [][2]int{four[0], four[2]}
	case 8:
		eight := make([][2]int, 0, 8)
		for _, c := range four {
			eight = append(eight, c, c)
		}
		return eight
	}
	return four[:count]
}

// sweep appends stages of a wavefront in the given direction; computes are repeated as they are.
func (s *script) sweep(g *grid, direction [2]int, sizes [2]int64, stages int, path string, computes ...part) {
	recv, send := s.origin("MPI_Recv", path), s.origin("MPI_Send", path)
	var receives, sends []part
	for d := range 2 {
		w := wave{grid: g, dimension: d, direction: direction[d], size: sizes[d]}
		w.origin = recv
		receives = append(receives, &upstream{w})
		w.origin = send
		sends = append(sends, &downstream{w})
	}
	for range stages {
		s.p2p(receives...)
		for _, c := range computes {
			s.add(c)
		}
		s.p2p(sends...)
	}
}

var sweepPattern = definition{
	Info: Info{
		Name: "sweep", Kind: Exchange,
		Info: "wavefront over a 2-D grid from one or more corners, blocking",
		Details: "Each iteration is one wave from each corner: receive from the two neighbors upstream, compute, send to the two downstream. " +
			"The compute time of an iteration is shared by its waves. Waves of successive iterations follow each other as a pipeline.",
		Params:  []string{"ranks", "size", "grid", "corners", "iterations", "compute", "jitter", "seed"},
		Example: "slackline simulate sweep --ranks 256 --corners 4 --compute 50us --iterations 10 --machine chic",
	},
	defaults: Params{Size: 1024, Corners: 1},
	build: func(s *script) error {
		g, err := s.gridWith(2, 0)
		if err != nil {
			return err
		}
		var computes []part
		if w := s.work(load{1, int64(s.Corners), 100, 0}); w != nil {
			computes = append(computes, w)
		}
		for _, c := range corners(s.Corners) {
			s.sweep(g, c, [2]int64{s.Size, s.Size}, 1, "sweep", computes...)
		}
		return nil
	},
}
