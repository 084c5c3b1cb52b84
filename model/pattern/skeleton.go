package pattern

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// defaultOverlap is the compute time of patterns that are pointless without any.
const defaultOverlap = 100 * unit.Microsecond

// convergence is the allreduce at the end of an iteration of a skeleton: one double.
func (s *script) convergence() (schedule.Call, error) {
	c := schedule.Call{Op: schedule.Allreduce, Size: 8, Algorithm: s.Algorithm}
	return c, checkAlgorithm(c.Op, c.Algorithm)
}

var skeletonPattern = definition{
	Info: Info{
		Name: "skeleton", Kind: Application,
		Info: "compute with jitter, periodic 2-D halo exchange, allreduce",
		Details: "Each iteration is compute, an exchange with the four neighbors of a periodic grid (non-blocking), and an allreduce of 8 " +
			"bytes, by dissemination if no algorithm is given.",
		Params:  []string{"ranks", "size", "grid", "algorithm", "iterations", "compute", "jitter", "seed", "tile", "without"},
		Example: "slackline simulate skeleton --ranks 16384 --iterations 340 --machine cnl",
	},
	defaults: Params{
		Size: 1024, Algorithm: "dissemination", Iterations: 10,
		Compute: 100 * unit.Microsecond, Jitter: 0.1, Periodic: true,
	},
	build: func(s *script) error {
		g, err := s.grid(2)
		if err != nil {
			return err
		}
		c, err := s.convergence()
		if err != nil {
			return err
		}
		s.compute()
		s.p2p(s.halo(g, "halo", s.Size))
		s.call(c, "convergence")
		return nil
	},
}

var overlapPattern = definition{
	Info: Info{
		Name: "skeleton-overlap", Kind: Application,
		Info: "the skeleton with halo exchange and allreduce beside compute",
		Details: "As skeleton, but half of the compute time runs beside the halo exchange and half beside a non-blocking allreduce, in pieces " +
			"between which the communication gets the CPU.",
		Params:  []string{"ranks", "size", "grid", "algorithm", "iterations", "compute", "jitter", "seed", "pieces", "tile", "without"},
		Example: "slackline simulate skeleton-overlap --ranks 4096 --compute 400us --pieces 20 --machine chic",
	},
	defaults: Params{
		Size: 1024, Algorithm: "dissemination", Iterations: 10,
		Compute: 100 * unit.Microsecond, Jitter: 0.1, Periodic: true, Pieces: 10,
	},
	build: func(s *script) error {
		g, err := s.grid(2)
		if err != nil {
			return err
		}
		c, err := s.convergence()
		if err != nil {
			return err
		}
		s.overlapped(s.halo(g, "halo", s.Size), 1, 2, "compute", "interior")
		s.overlapped(newCall(c, s.origin("MPI_Iallreduce", "convergence")), 1, 2, "compute", "update")
		return nil
	},
}
