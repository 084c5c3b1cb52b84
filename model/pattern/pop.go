package pattern

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// POP is an ocean model on a 2-D grid that is periodic in longitude. The noise paper counts
// 608 allreduces, 575 barriers and 703 broadcasts, and 625 million messages at 32,000 ranks.
const (
	popSteps = 25

	popInputBcasts     = 203
	popInputAllreduces = 8

	popHalos3D = 3
	popSolver  = 8
)

const popCompute = 2700 * unit.Microsecond

var popPattern = definition{
	Info: Info{
		Name: "pop", Kind: Application,
		Info:    "ocean model: 2-D halo, many small collectives at irregular intervals",
		Details: "",
		Params:  []string{"ranks", "grid", "iterations", "compute", "jitter", "seed", "without"},
		Example: "slackline simulate pop --ranks 128 --machine xt4",
	},
	defaults: Params{Iterations: popSteps, Compute: popCompute, Jitter: 0.5},
	build: func(s *script) error {
		g, err := newGrid(s.Ranks, 2, s.Grid, 1)
		if err != nil {
			return err
		}
		bcast := schedule.Call{Op: schedule.Bcast, Size: 8}
		barrier := schedule.Call{Op: schedule.Barrier}
		allreduce := schedule.Call{Op: schedule.Allreduce, Size: 8}
		fields := s.halo(g, "baroclinic", 2*48*2*40*8, 2*20*2*40*8)
		surface := s.halo(g, "barotropic", 48*2*8, 20*2*8)

		s.begin()
		for range popInputBcasts {
			s.call(bcast, "input")
		}
		for range popInputAllreduces {
			s.call(allreduce, "input")
		}
		s.loop()
		for range popHalos3D {
			s.uneven(load{25, 100, 50, 50}, "baroclinic", "compute")
			s.p2p(fields)
			s.call(barrier, "baroclinic")
		}
		for range popSolver {
			s.uneven(load{2, 100, 100, 0}, "barotropic", "compute")
			s.p2p(surface)
			s.call(allreduce, "barotropic")
			s.call(barrier, "barotropic")
			s.uneven(load{1, 100, 100, 0}, "barotropic", "compute")
			s.call(allreduce, "barotropic")
			s.call(barrier, "barotropic")
		}
		for range 20 {
			s.call(bcast, "diagnostics")
		}
		for range 8 {
			s.call(allreduce, "diagnostics")
		}
		for range 4 {
			s.call(barrier, "diagnostics")
		}
		return nil
	},
}
