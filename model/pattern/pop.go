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
// exchanges each, after an input phase with the rest.
const (
	popSteps = 25

	popInputBcasts     = 203 // one for each variable of the namelists
	popInputAllreduces = 8

	popBaroclinicHalos    = 7
	popBaroclinicBarriers = 3

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

// The calibration: on machine xt4 with 128 ranks 77.2 % of the time is communication, and 77 % of
// that is spent in collectives, the waiting there included. (The paper's words can also be read as
// 77 % of the whole time in collectives; this is the literal reading.) It does not say who waits
// for whom. Here half of the unevenness of the baroclinic part stays with a rank, as land and sea do,
// and half changes from step to step; it is large because most of the ranks' time is waiting.
const (
	popCompute = 2120 * unit.Microsecond
	popJitter  = 0.7
)

var popPattern = definition{
	Info: Info{
		Name: "pop", Kind: Application,
		Info:    "ocean model: 2-D halo, many small collectives at irregular intervals",
		Details: "An input phase with 203 broadcasts and 8 allreduces, then 25 time steps: baroclinic (7 times compute and a halo exchange of up to 60 KiB, 3 barriers), barotropic (4 solver iterations with a small halo exchange and 4 pairs of allreduce and barrier), diagnostics (20 broadcasts, 8 allreduces, 4 barriers). Weak scaling: the work of a rank does not depend on the number of ranks. Calibrated to 77 % communication, 77 % of it in collectives, on xt4 with 128 ranks.",
		Params:  []string{"ranks", "grid", "iterations", "compute", "jitter", "seed", "without"},
		Example: "slackline simulate pop --ranks 128 --machine xt4",
	},
	defaults: Params{Iterations: popSteps, Compute: popCompute, Jitter: popJitter},
	build: func(s *script) error {
		g, err := newGrid(s.Ranks, 2, s.Grid, periodicX)
		if err != nil {
			return err
		}
		fields := s.halo(g, "baroclinic", popSideX*popLevels*popTracers, popSideY*popLevels*popTracers)
		surface := s.halo(g, "barotropic", popSideX, popSideY)
		bcast := schedule.Call{Op: schedule.Bcast, Size: 8}
		barrier := schedule.Call{Op: schedule.Barrier}
		allreduce := schedule.Call{Op: schedule.Allreduce, Size: 8}

		s.begin()
		s.calls(popInputBcasts, bcast, "input")
		s.calls(popInputAllreduces, allreduce, "input")

		s.loop()
		// The baroclinic part has 84 % of the work, the solver the rest: 2 % before each halo
		// exchange and half a percent before each reduction.
		for range popBaroclinicHalos {
			s.uneven(load{12, 100, 50, 50}, "baroclinic", "compute")
			s.p2p(fields)
		}
		s.calls(popBaroclinicBarriers, barrier, "baroclinic")
		for range popSolverIterations {
			s.uneven(load{2, 100, 100, 0}, "barotropic", "compute")
			s.p2p(surface)
			for range popSolverReductions {
				s.uneven(load{1, 200, 100, 0}, "barotropic", "compute")
				s.call(allreduce, "barotropic")
				s.call(barrier, "barotropic")
			}
		}
		s.calls(popDiagnosticBcasts, bcast, "diagnostics")
		s.calls(popDiagnosticAllreduces, allreduce, "diagnostics")
		s.calls(popDiagnosticBarriers, barrier, "diagnostics")
		return nil
	},
}
