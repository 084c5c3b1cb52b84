package pattern

import (
	"math"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Sweep3D solves a neutron transport problem: iterations of wavefronts over a 2-D grid of ranks,
// from all eight octants, each cut into blocks of planes and of angles so that the ranks form a
// pipeline; allreduces at the end of each iteration check for convergence. The noise paper counts 4
// broadcasts, 3 barriers and 32 allreduces, all point-to-point calls are blocking, and 289 million
// messages at 16,000 ranks.
//
// There are two nested loops. The outer one is met by 16 iterations with two allreduces, for the
// error and the balance; the inner one sweeps twice. Without the second sweep the ranks would spend
// twice as much time in collectives as the paper says, waiting for the end of the last octant. With
// 38 blocks in an octant, 19 of 10 planes each times 2 of 3 angles, the messages of 160 copies of
// 10 x 10 ranks are those of the paper.
const (
	sweep3dIterations = 16
	sweep3dSweeps     = 2
	sweep3dBlocks     = 19 * 2

	// The faces of all blocks of an octant: 10 cells along the side * 190 planes * 6 angles * 8 bytes.
	sweep3dFaces = 10 * 190 * 6 * 8
)

// The calibration: on machine xt4 with 100 ranks 17.2 % of the time is communication, 7.6 % of it in
// collectives. Filling and turning the pipeline makes less than half of it; the jitter of the blocks
// the rest. The compute time is free.
const (
	sweep3dCompute = 20 * unit.Second
	sweep3dJitter  = 0.19
)

var sweep3dPattern = definition{
	Info: Info{
		Name: "sweep3d", Kind: Application,
		Info: "neutron transport: blocking 2-D wavefronts from eight octants, regular allreduces",
		Details: "Each of 16 iterations is 2 sweeps of 8 octants, with 38 pipelined blocks each (19 of planes * 2 of angles), and 2 " +
			"allreduces; 4 broadcasts and 2 barriers come before, a barrier after them. With --fixup blocks take longer in 5 of 12 iterations, on " +
			"the outer ranks of the grid more than on the inner ones. Weak scaling: the work of a rank does not depend on the number of ranks. " +
			"Calibrated to 17 % communication on xt4 with 100 ranks; --blocks 35 --compute 168ms --jitter 0.02 has the fine grain " +
			"of earlier versions.",
		Params:  []string{"ranks", "grid", "iterations", "blocks", "compute", "jitter", "fixup", "seed", "tile", "without"},
		Example: "slackline simulate sweep3d --ranks 100 --machine xt4",
	},
	defaults: Params{Iterations: sweep3dIterations, Blocks: sweep3dBlocks, Compute: sweep3dCompute, Jitter: sweep3dJitter},
	build: func(s *script) error {
		g, err := s.gridWith(2, 0)
		if err != nil {
			return err
		}
		s.begin()
		s.calls(4, schedule.Call{Op: schedule.Bcast, Size: 64}, "input")
		s.call(schedule.Call{Op: schedule.Barrier}, "input")
		s.uneven(load{1, 16, 0, 0}, "setup")
		s.call(schedule.Call{Op: schedule.Barrier}, "setup")

		s.loop()
		var computes []part
		if w := s.work(load{1, sweep3dSweeps * 8 * int64(s.Blocks), 100, 0}, "octant", "compute"); w != nil {
			computes = append(computes, w)
			if s.Fixup > 0 {
				most := int64(math.Round(float64(w.mean) * s.Fixup))
				computes = append(computes, &fixup{g, s.prog, most, s.origin("", "octant", "fixup")})
			}
		}
		face := max(int64(sweep3dFaces/s.Blocks), 8)
		for range sweep3dSweeps {
			for _, direction := range corners(8) {
				s.sweep(g, direction, [2]int64{face, face}, s.Blocks, "octant", computes...)
			}
		}
		s.calls(2, schedule.Call{Op: schedule.Allreduce, Size: 8}, "convergence")

		s.end()
		s.call(schedule.Call{Op: schedule.Barrier}, "end")
		return nil
	},
}

// fixup corrects negative fluxes in 5 of 12 iterations. It takes longest on the outer ranks of the
// grid, a third of that on the inner ones, and less by a sixth with each rank in between.
type fixup struct {
	*grid
	prog   *program
	most   int64 // ns
	origin uint32
}

func (f *fixup) fill(rank, step int, b *schedule.Block) {
	if f.prog.iteration(step)*5%12 >= 5 {
		return
	}
	depth := math.MaxInt // within the outer ranks, a fifth of each side
	for d, n := range f.dims {
		at := rank / f.strides[d] % n
		depth = min(depth, min(at, n-1-at)-max(n/5-1, 0))
	}
	if t := f.most * int64(6-min(max(depth, 0), 4)) / 6; t > 0 {
		b.Ops[b.Calc(t*nanosecond)].Origin = f.origin
	}
}
