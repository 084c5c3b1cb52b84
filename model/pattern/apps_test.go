package pattern

import (
	"math/bits"
	"slices"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Section V of the noise paper: calls, and messages at the largest scale.
var paper = []struct {
	name     string
	calls    map[schedule.Operation]int64
	ranks    int
	messages float64
}{
	{"sweep3d", map[schedule.Operation]int64{schedule.Bcast: 4, schedule.Barrier: 3, schedule.Allreduce: 32}, 16000, 289e6},
	{"amg", map[schedule.Operation]int64{schedule.Allgather: 24, schedule.Allreduce: 356, schedule.Barrier: 1, schedule.Bcast: 23, schedule.Scan: 8}, 16000, 222e6},
	{"pop", map[schedule.Operation]int64{schedule.Allreduce: 608, schedule.Barrier: 575, schedule.Bcast: 703}, 32000, 625e6},
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
				totals, _ := Count(mustNew(t, app.name, Params{Ranks: ranks}))
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

// Only sweep3d calls its collectives at regular intervals.
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
						if begun {
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
