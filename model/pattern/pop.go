package pattern

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// POP is an ocean model on a 2-D grid of ranks that is periodic in longitude. Each time step has a
// baroclinic part, three-dimensional and with long messages, a barotropic solver for the surface,
// and diagnostics. The noise paper counts 608 allreduces, 575 barriers and 703 broadcasts, and 625
// million messages at 32,000 ranks.
//
// The counts are met by 25 time steps with 24 allreduces, 23 barriers, 20 broadcasts and 11 halo
// exchanges each, after an input phase with the rest. Rank 0 works alone before each broadcast: it
// reads, decides and prints for all.
const (
	popSteps = 25

	popInputBcasts     = 203 // one for each variable of the namelists
	popInputAllreduces = 8

	popBaroclinicHalos = 7 // in three groups, each after a barrier

	popSolverIterations = 4
	popSolverReductions = 4 // of an iteration; each followed by the barrier of a timer

	popDiagnosticBcasts     = 20
	popDiagnosticAllreduces = 8
	popDiagnosticBarriers   = 4

	// A rank has 20 * 48 columns of 40 levels. A halo is 2 cells wide; the baroclinic one
	// carries two fields at once.
	popSideX   = 48 * 2 * 8
	popSideY   = 20 * 2 * 8
	popLevels  = 40
	popTracers = 2
)

// The calibration: on machine xt4 with 128 ranks 77.2 % of the time is communication: 77 % in
// collectives, the waiting there included, and 0.2 % in point-to-point messages. The latter sets
// the grain: the messages take a given time, and the run is 500 times as long. They hardly wait, so
// a barrier evens out the work before them. Who waits for whom in the collectives is free: here all
// wait for rank 0. Half of the unevenness of the baroclinic part stays with a rank, as land and sea
// do, and half changes from step to step.
const (
	popCompute = 128 * unit.Millisecond
	popJitter  = 0.3
	popSerial  = 113 // thousandths of the compute time of an iteration: work of rank 0 before a broadcast
)

var popPattern = definition{
	Info: Info{
		Name: "pop", Kind: Application,
		Info: "ocean model: 2-D halo, many small collectives at irregular intervals",
		Details: "An input phase with 203 broadcasts and 8 allreduces, then 25 time steps: baroclinic (3 times compute, a barrier, and 2 or 3 " +
			"halo exchanges of up to 60 KiB), barotropic (4 solver iterations with a small halo exchange and 4 pairs of allreduce and barrier), " +
			"diagnostics (20 broadcasts, 8 allreduces, 4 barriers). Rank 0 works alone before each broadcast. Weak scaling: the work of a rank " +
			"does not depend on the number of ranks. Calibrated to 77 % of the time in collectives and 0.2 % in messages on xt4 with 128 ranks; " +
			"--compute 2120us --jitter 0.7 has the fine grain of earlier versions.",
		Params:  []string{"ranks", "grid", "iterations", "compute", "jitter", "seed", "tile", "without"},
		Example: "slackline simulate pop --ranks 128 --machine xt4",
	},
	defaults: Params{Iterations: popSteps, Compute: popCompute, Jitter: popJitter},
	build: func(s *script) error {
		g, err := s.gridWith(2, periodicX)
		if err != nil {
			return err
		}
		fields := s.halo(g, "baroclinic", popSideX*popLevels*popTracers, popSideY*popLevels*popTracers)
		surface := s.halo(g, "barotropic", popSideX, popSideY)
		bcast := schedule.Call{Op: schedule.Bcast, Size: 8}
		barrier := schedule.Call{Op: schedule.Barrier}
		allreduce := schedule.Call{Op: schedule.Allreduce, Size: 8}

		s.begin()
		s.broadcasts(popInputBcasts, bcast, "input")
		s.calls(popInputAllreduces, allreduce, "input")

		s.loop()
		// The baroclinic part has 84 % of the work, the solver the rest: 2 % before each halo
		// exchange and half a percent before each reduction.
		for i := range 3 {
			s.uneven(load{28, 100, 50, 50}, "baroclinic", "compute")
			s.call(barrier, "baroclinic")
			for range (popBaroclinicHalos + 2 - i) / 3 {
				s.p2p(fields)
			}
		}
		for range popSolverIterations {
			s.uneven(load{2, 100, 0, 0}, "barotropic", "compute")
			s.p2p(surface)
			for range popSolverReductions {
				s.uneven(load{1, 200, 100, 0}, "barotropic", "compute")
				s.call(allreduce, "barotropic")
				s.call(barrier, "barotropic")
			}
		}
		s.broadcasts(popDiagnosticBcasts, bcast, "diagnostics")
		s.calls(popDiagnosticAllreduces, allreduce, "diagnostics")
		s.calls(popDiagnosticBarriers, barrier, "diagnostics")
		return nil
	},
}

// broadcasts appends broadcasts, each after work of rank 0 alone.
func (s *script) broadcasts(times int, c schedule.Call, path string) {
	w := s.work(load{popSerial, 1000, 0, 0}, path, "serial")
	for range times {
		if w != nil {
			s.add(&serial{w})
		}
		s.call(c, path)
	}
}

// serial is work of rank 0 alone.
type serial struct{ *work }

func (w *serial) fill(rank, step int, b *schedule.Block) {
	if rank == 0 {
		w.work.fill(rank, step, b)
	}
}
