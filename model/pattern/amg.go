package pattern

import (
	"slackline/model/schedule"
	"slackline/model/unit"
)

// AMG2006 solves a Laplace problem on a cube of ranks by conjugate gradients with an algebraic
// multigrid cycle as the preconditioner. The noise paper counts 24 allgathers, 356 allreduces,
// 1 barrier, 23 broadcasts and 8 scans, non-blocking messages between neighbours, and 222 million
// messages at 16,000 ranks.
//
// The counts are met by 8 levels, each set up with 3 allgathers, a scan, 2 broadcasts, 30 sweeps
// of the coarsening that end in an allreduce, and 9 exchanges; and by 29 iterations with
// 6 exchanges on each level and 4 allreduces.
const (
	amgIterations = 29
	amgLevels     = 8

	amgInputBcasts     = 7
	amgSetupAllgathers = 3
	amgSetupBcasts     = 2
	amgSetupSweeps     = 30
	amgSetupExchanges  = 9

	amgExchanges  = 6 // relax, residual and restrict on the way down; interpolate, relax, relax up
	amgAllreduces = 4 // two products of the conjugate gradients, the norm, the test of the end

	amgFace = 36 * 36 * 8 // bytes of a face on the finest level; a quarter on each further one
)

const amgCompute = 10 * unit.Millisecond

var amgPattern = definition{
	Info: Info{
		Name: "amg", Kind: Application,
		Info:    "algebraic multigrid: 3-D neighbours, non-blocking, collectives at irregular intervals",
		Details: "",
		Params:  []string{"ranks", "grid", "iterations", "compute", "jitter", "seed", "without"},
		Example: "slackline simulate amg --ranks 125 --machine xt4",
	},
	defaults: Params{Iterations: amgIterations, Compute: amgCompute, Jitter: 0.1},
	build: func(s *script) error {
		g, err := newGrid(s.Ranks, 3, s.Grid, 0)
		if err != nil {
			return err
		}
		exchanges := make([]*halo, amgLevels)
		for l := range exchanges {
			exchanges[l] = s.halo(g, "exchange", max(int64(amgFace)>>(2*l), 8))
		}
		s.begin()
		for range amgInputBcasts {
			s.call(schedule.Call{Op: schedule.Bcast, Size: 64}, "input")
		}
		for l := range amgLevels {
			s.amgSetup(l, exchanges[l])
		}
		s.call(schedule.Call{Op: schedule.Barrier}, "setup")

		s.loop()
		for l := range amgLevels {
			s.amgVisit(l, amgExchanges/2, exchanges[l])
		}
		for l := amgLevels - 1; l >= 0; l-- {
			s.amgVisit(l, amgExchanges/2, exchanges[l])
		}
		for range amgAllreduces {
			s.uneven(load{amgVector, amgUnits, 100, 0}, "solve", "vector")
			s.call(schedule.Call{Op: schedule.Allreduce, Size: 8}, "solve")
		}
		return nil
	},
}

// The work of an iteration in units: that of a level is a quarter of the one above.
const (
	amgFinest = 6 << (2 * (amgLevels - 1)) // of the finest level, both ways together
	amgVector = amgFinest / 16             // before each allreduce of the conjugate gradients
	amgUnits  = (amgFinest*4-6)/3 + amgAllreduces*amgVector
)

// amgSetup appends the making of a level.
func (s *script) amgSetup(level int, exchange *halo) {
	units := int64(amgFinest >> (2 * level))
	for range amgSetupExchanges {
		s.uneven(load{units, amgUnits * 3, 20, 0}, "setup", "interpolation")
		s.p2p(exchange)
	}
	for range amgSetupSweeps {
		s.uneven(load{units, amgUnits * 8, 100, 0}, "setup", "coarsening")
		s.call(schedule.Call{Op: schedule.Allreduce, Size: 8}, "setup", "coarsening")
	}
	s.call(schedule.Call{Op: schedule.Scan, Size: 8}, "setup", "numbering")
	for range amgSetupAllgathers {
		s.call(schedule.Call{Op: schedule.Allgather, Size: 8}, "setup", "numbering")
	}
	for range amgSetupBcasts {
		s.call(schedule.Call{Op: schedule.Bcast, Size: 64}, "setup", "numbering")
	}
}

// amgVisit appends work and exchanges on a level.
func (s *script) amgVisit(level, exchanges int, exchange *halo) {
	units := int64(amgFinest >> (2 * level))
	for range exchanges {
		s.uneven(load{units, amgUnits * amgExchanges, 20, 0}, "cycle", "compute")
		s.p2p(exchange)
	}
}
