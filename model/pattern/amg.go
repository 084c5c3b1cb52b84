package pattern

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// AMG2006 solves a Laplace problem on a cube of ranks by conjugate gradients with an algebraic
// multigrid cycle as the preconditioner. The noise paper counts 24 allgathers, 356 allreduces,
// 1 barrier, 23 broadcasts and 8 scans, non-blocking messages between neighbors, and 222 million
// messages at 16,000 ranks.
//
// The counts are met by 8 levels. Each is set up with 30 sweeps of the coarsening that end in an
// allreduce, with 3 allgathers, a scan and 2 broadcasts. Then come 29 iterations, each with one
// cycle down and up the levels and 4 allreduces. The four fine levels exchange with the 6
// neighbors across faces, 6 times in a cycle; the coarse ones, whose stencils have grown, with
// all 26 around, 10 times together.
const (
	amgIterations = 29
	amgLevels     = 8
	amgFineLevels = 4

	amgInputBcasts     = 7
	amgSetupSweeps     = 30
	amgSetupAllgathers = 3
	amgSetupBcasts     = 2
	amgSetupExchanges  = 9 // on a fine level; 1 on a coarse one
	amgAllreduces      = 4 // two products of the conjugate gradients, the norm, the test of the end

	amgFace = 24 * 24 * 8 // bytes of a face on the finest level; a quarter on each further one
)

// The calibration: on machine xt4 with 125 ranks 9.72 % of the time is spent in collectives, which
// is 55 % of the communication. The work of an iteration varies little from cycle to cycle; the
// coarsening, which depends on the shape of the local mesh, takes all of the jitter.
const (
	amgCompute = 3 * unit.Second
	amgJitter  = 0.52
	amgSteady  = 28 // percent of the jitter in the cycles
)

var amgPattern = definition{
	Info: Info{
		Name: "amg", Kind: Application,
		Info: "algebraic multigrid: 3-D neighbors, non-blocking, collectives at irregular intervals",
		Details: "The setup makes 8 levels with 30 allreduces, 3 allgathers, a scan and 2 broadcasts each; 29 iterations follow, each a cycle " +
			"over the levels (exchanges with 6 neighbors on the fine levels, with 26 on the coarse ones) and 4 allreduces. Weak scaling: the work " +
			"of a rank does not depend on the number of ranks. Calibrated to 9.7 % of the time in collectives on xt4 with 125 ranks; --compute " +
			"13600us --jitter 0.21 has the fine grain of earlier versions.",
		Params:  []string{"ranks", "grid", "iterations", "compute", "jitter", "seed", "tile", "without"},
		Example: "slackline simulate amg --ranks 125 --machine xt4",
	},
	defaults: Params{Iterations: amgIterations, Compute: amgCompute, Jitter: amgJitter},
	build: func(s *script) error {
		g, err := s.gridWith(3, 0)
		if err != nil {
			return err
		}
		exchanges := make([]part, amgLevels)
		for l := range exchanges {
			size := max(int64(amgFace)>>(2*l), 8)
			if l < amgFineLevels {
				exchanges[l] = s.halo(g, "exchange", size)
			} else {
				exchanges[l] = s.box(g, "exchange", size)
			}
		}
		s.begin()
		s.calls(amgInputBcasts, schedule.Call{Op: schedule.Bcast, Size: 64}, "input")
		for l := range amgLevels {
			s.amgSetup(l, exchanges[l])
		}
		s.call(schedule.Call{Op: schedule.Barrier}, "setup")

		s.loop()
		for l := range amgLevels {
			s.amgVisit(l, 1, exchanges[l]) // relax, residual, restrict
		}
		for l := amgLevels - 2; l >= 0; l-- {
			s.amgVisit(l, 2, exchanges[l]) // interpolate, relax, residual
		}
		for range amgAllreduces {
			s.uneven(load{amgVector, amgUnits, 100, 0}, "solve", "vector")
			s.call(schedule.Call{Op: schedule.Allreduce, Size: 8}, "solve")
		}
		return nil
	},
}

// The work of an iteration in units. A level has a quarter of the work of the one above it, half
// of it on the way down, in three steps, and half on the way up.
const (
	amgSteps  = 3
	amgFinest = 2 * amgSteps << (2 * (amgLevels - 1))
	amgVector = amgFinest / 16 // before each allreduce of the conjugate gradients
	amgUnits  = (amgFinest*4-2*amgSteps)/3 - amgSteps + amgAllreduces*amgVector
)

// amgSetup appends the making of a level.
func (s *script) amgSetup(level int, exchange part) {
	units := int64(amgFinest >> (2 * level))
	exchanges := 1
	if level < amgFineLevels {
		exchanges = amgSetupExchanges
	}
	for range exchanges {
		s.uneven(load{units, amgUnits * 2, amgSteady, 0}, "setup", "interpolation")
		s.p2p(exchange)
	}
	for range amgSetupSweeps {
		s.uneven(load{units, amgUnits * 8, 100, 0}, "setup", "coarsening")
		s.call(schedule.Call{Op: schedule.Allreduce, Size: 8}, "setup", "coarsening")
	}
	s.call(schedule.Call{Op: schedule.Scan, Size: 8}, "setup", "numbering")
	s.calls(amgSetupAllgathers, schedule.Call{Op: schedule.Allgather, Size: 8}, "setup", "numbering")
	s.calls(amgSetupBcasts, schedule.Call{Op: schedule.Bcast, Size: 64}, "setup", "numbering")
}

// amgVisit appends the work on a level on the way down or up, with as many exchanges on a coarse
// level as given, and one after each step on a fine one.
func (s *script) amgVisit(level, exchanges int, exchange part) {
	if level < amgFineLevels {
		exchanges = amgSteps
	}
	units := int64(amgFinest >> (2 * level))
	for range exchanges {
		s.uneven(load{units, amgUnits * 2 * int64(exchanges), amgSteady, 0}, "cycle", "compute")
		s.p2p(exchange)
	}
}
