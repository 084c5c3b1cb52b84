package pattern

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Sweep3D solves a neutron transport problem: iterations of wavefronts over a 2-D grid of ranks,
// from all eight octants, each cut into blocks of planes and of angles so that the ranks form a
// pipeline; an allreduce at the end of each iteration checks for convergence. The noise paper
// counts 4 broadcasts, 3 barriers and 32 allreduces, all point-to-point calls are blocking, and
// 289 million messages at 16,000 ranks.
const (
	sweep3dIterations  = 32 // one allreduce each
	sweep3dPlaneBlocks = 7  // 70 planes in blocks of 10
	sweep3dAngleBlocks = 5  // the 10 angles of an octant (S8) in blocks of 2
	sweep3dStages      = sweep3dPlaneBlocks * sweep3dAngleBlocks

	// A message is one face of a block: 10 cells along the side * 10 planes * 2 angles * 8 bytes.
	sweep3dFace = 10 * 10 * 2 * 8
)

// The calibration: on machine xt4 with 100 ranks 17.2 % of the time is communication, most of it
// waiting while the pipeline fills, turns and drains. Since the grid is one, and not many copies of
// that of 100 ranks, this part grows with the number of ranks.
const (
	sweep3dCompute = 8 * sweep3dStages * 300 * unit.Microsecond
	sweep3dJitter  = 0.02
)

var sweep3dPattern = definition{
	Info: Info{
		Name: "sweep3d", Kind: Application,
		Info:    "neutron transport: blocking 2-D wavefronts from eight octants, regular allreduces",
		Details: "Each iteration is 8 octants of 35 pipelined stages (7 blocks of planes * 5 of angles) and an allreduce; 4 broadcasts and 2 barriers come before, a barrier after the 32 iterations. Weak scaling: the work of a rank does not depend on the number of ranks. Calibrated to 17 % communication on xt4 with 100 ranks.",
		Params:  []string{"ranks", "grid", "iterations", "compute", "jitter", "seed", "without"},
		Example: "slackline simulate sweep3d --ranks 100 --machine xt4",
	},
	defaults: Params{Iterations: sweep3dIterations, Compute: sweep3dCompute, Jitter: sweep3dJitter},
	build: func(s *script) error {
		g, err := newGrid(s.Ranks, 2, s.Grid, 0)
		if err != nil {
			return err
		}
		s.begin()
		s.calls(4, schedule.Call{Op: schedule.Bcast, Size: 64}, "input")
		s.call(schedule.Call{Op: schedule.Barrier}, "input")
		s.compute(1, 16, "setup")
		s.call(schedule.Call{Op: schedule.Barrier}, "setup")

		s.loop()
		compute := s.work(load{1, 8 * sweep3dStages, 100, 0}, "octant", "compute")
		for _, direction := range corners(8) {
			s.sweep(g, direction, [2]int64{sweep3dFace, sweep3dFace}, sweep3dStages, compute, "octant")
		}
		s.call(schedule.Call{Op: schedule.Allreduce, Size: 8}, "convergence")

		s.end()
		s.call(schedule.Call{Op: schedule.Barrier}, "end")
		return nil
	},
}
