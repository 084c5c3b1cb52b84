package pattern

import (
	"math/bits"
	"slices"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Section V of the noise paper: calls, and messages at the largest scale, which is made of copies of
// the recorded run.
var paper = []struct {
	name     string
	calls    map[schedule.Operation]int64
	ranks    int
	tile     int
	messages float64
}{
	{"sweep3d", map[schedule.Operation]int64{schedule.Bcast: 4, schedule.Barrier: 3, schedule.Allreduce: 32}, 16000, 100, 289e6},
	{"amg", map[schedule.Operation]int64{schedule.Allgather: 24, schedule.Allreduce: 356, schedule.Barrier: 1, schedule.Bcast: 23,
		schedule.Scan: 8}, 16000, 125, 222e6},
	{"pop", map[schedule.Operation]int64{schedule.Allreduce: 608, schedule.Barrier: 575, schedule.Bcast: 703}, 32000, 128, 625e6},
}

// messagesOf returns what one call sends under the default mapping; for the scan an upper bound.
func messagesOf(op schedule.Operation, ranks int) int64 {
	if op == schedule.Bcast {
		return int64(ranks - 1)
	}
	return int64(ranks) * int64(bits.Len(uint(ranks-1)))
}

func TestApplicationsMeetThePaper(t *testing.T) {
	for _, app := range paper {
		t.Run(app.name, func(t *testing.T) {
			for _, ranks := range []int{1, 2, 7, 125, app.ranks} {
				p := Params{Ranks: ranks}
				if ranks == app.ranks {
					p.Tile = app.tile
				}
				totals, _ := Count(mustNew(t, app.name, p))
				if len(totals.Calls) != len(app.calls) {
					t.Errorf("%d ranks: calls %v, want %v", ranks, totals.Calls, app.calls)
				}
				sum := totals.Messages
				for op, want := range app.calls {
					if got := totals.Calls[op]; got != want {
						t.Errorf("%d ranks: %d calls of %s, want %d", ranks, got, op, want)
					}
					sum += app.calls[op] * messagesOf(op, ranks)
				}
				if ranks == app.ranks {
					t.Logf("%d messages, of which %d are point-to-point", sum, totals.Messages)
					if off := float64(sum)/app.messages - 1; off < -0.02 || off > 0.02 {
						t.Errorf("%d messages, %.1f %% off the paper's %.0f", sum, 100*off, app.messages)
					}
				}
			}
		})
	}
}

// Only sweep3d calls its collectives at regular intervals, two at a time.
func TestIntervals(t *testing.T) {
	for _, app := range paper {
		p := mustNew(t, app.name, Params{Ranks: 64, Jitter: None})
		intervals := map[int64]bool{}
		since, begun := int64(0), false
		for _, ops := range collect(p, 0) {
			for _, op := range ops {
				switch op.Kind {
				case schedule.Calc:
					since += op.Size
				case schedule.Collective:
					if op.Origin > 0 && p.Origins()[op.Origin].Call == "MPI_Allreduce" {
						if begun && since > 0 {
							intervals[since] = true
						}
						since, begun = 0, true
					}
				}
			}
		}
		if regular := len(intervals) == 1; regular != (app.name == "sweep3d") {
			t.Errorf("%s: the work between allreduces takes %d different values", app.name, len(intervals))
		}
	}
}

// The compute time of an iteration is what the parameter says, up to the rounding of its parts.
func TestApplicationCompute(t *testing.T) {
	for _, app := range paper {
		const compute = 5 * unit.Millisecond
		p := mustNew(t, app.name, Params{Ranks: 8, Compute: compute, Jitter: None}).(*program)
		sum := int64(0)
		for _, q := range p.body {
			if w, ok := q.(*work); ok {
				sum += w.mean * nanosecond
			}
		}
		if off := sum - int64(compute); off < -int64(compute)/1000 || off > int64(compute)/1000 {
			t.Errorf("%s: an iteration computes for %s, want %s", app.name, unit.Duration(sum), compute)
		}
	}
}

func TestWithout(t *testing.T) {
	for _, name := range []string{"sweep3d", "amg", "pop", "skeleton", "skeleton-overlap"} {
		all, _ := Count(mustNew(t, name, Params{Ranks: 27}))
		noP2P := mustNew(t, name, Params{Ranks: 27, Without: []string{PointToPoint}})
		noColls := mustNew(t, name, Params{Ranks: 27, Without: []string{Collectives}})
		a, _ := Count(noP2P)
		b, _ := Count(noColls)
		if a.Messages != 0 || len(a.Calls) != len(all.Calls) || !noP2P.Shape().Collectives {
			t.Errorf("%s without point-to-point: %+v", name, a)
		}
		if b.Messages != all.Messages || len(b.Calls) != 0 || noColls.Shape().Collectives {
			t.Errorf("%s without collectives: %+v", name, b)
		}
		for rank := range 27 {
			if !slices.Equal(times(noP2P, rank), times(noColls, rank)) {
				t.Errorf("%s: leaving communication out changes the work of rank %d", name, rank)
			}
		}
	}
}

// A tile is the program of its ranks, copied: messages stay inside.
func TestTile(t *testing.T) {
	for _, name := range []string{"sweep3d", "amg", "pop", "skeleton", "skeleton-overlap"} {
		one := mustNew(t, name, Params{Ranks: 12, Iterations: 1, Fixup: 0.5})
		four := mustNew(t, name, Params{Ranks: 48, Tile: 12, Iterations: 1, Fixup: 0.5})
		var a, b schedule.Block
		for rank := range four.Ranks() {
			if got, want := four.Steps(rank), one.Steps(rank%12); got != want {
				t.Fatalf("%s: rank %d has %d steps, want %d", name, rank, got, want)
			}
			for step := range four.Steps(rank) {
				one.Block(rank%12, step, &a)
				four.Block(rank, step, &b)
				want := slices.Clone(a.Ops)
				for i := range want {
					if k := want[i].Kind; k == schedule.Send || k == schedule.Recv {
						want[i].Peer += int32(rank - rank%12)
					}
				}
				if !slices.Equal(b.Ops, want) {
					t.Fatalf("%s: rank %d, step %d: %v, want %v", name, rank, step, b.Ops, want)
				}
			}
		}
	}
}

// Fix-ups take time in 5 of 12 iterations, on the outer ranks three times as much as inside.
func TestFixup(t *testing.T) {
	p := mustNew(t, "sweep3d", Params{Ranks: 400, Iterations: 12, Blocks: 1, Compute: 1600 * unit.Microsecond, Jitter: None,
		Fixup: 0.6}).(*program)
	iterations := map[int]bool{}
	longest := map[int]int64{}
	var b schedule.Block
	for _, rank := range []int{0, 21, 210, 399} {
		for step := range p.Steps(rank) {
			p.Block(rank, step, &b)
			for _, op := range b.Ops {
				if o := p.Origins()[op.Origin]; len(o.Path) > 0 && o.Path[len(o.Path)-1] == "fixup" {
					iterations[p.iteration(step)] = true
					longest[rank] = max(longest[rank], op.Size)
				}
			}
		}
	}
	outer := int64(60 * unit.Microsecond)
	if len(iterations) != 5 || longest[0] != outer || longest[21] != outer || longest[399] != outer || longest[210] != outer/3 {
		t.Errorf("fix-ups in iterations %v, by rank %v; want 5 iterations, 60us outside and 20us at rank 210", iterations, longest)
	}
}
