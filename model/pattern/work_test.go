package pattern

import (
	"math"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// times returns the calculations of a rank in ns.
func times(p schedule.Program, rank int) (list []int64) {
	for _, ops := range collect(p, rank) {
		for _, op := range ops {
			if op.Kind == schedule.Calc {
				list = append(list, op.Size/nanosecond)
			}
		}
	}
	return list
}

func TestComputeWithoutJitter(t *testing.T) {
	p := mustNew(t, "skeleton", Params{Ranks: 4, Iterations: 3, Jitter: None, Compute: 1501 * unit.Nanosecond})
	for rank := range 4 {
		for _, ns := range times(p, rank) {
			if ns != 1501 {
				t.Errorf("rank %d computes %d ns, want 1501", rank, ns)
			}
		}
	}
}

func TestJitter(t *testing.T) {
	const ranks, iterations, mean = 200, 50, 100_000
	params := Params{Ranks: ranks, Iterations: iterations, Compute: mean * unit.Nanosecond, Jitter: 0.2, Seed: 3}
	p, again := mustNew(t, "skeleton", params), mustNew(t, "skeleton", params)
	params.Seed = 4
	other := mustNew(t, "skeleton", params)
	sum, squares, different := 0.0, 0.0, 0
	for rank := range ranks {
		a, b, c := times(p, rank), times(again, rank), times(other, rank)
		for i := range a {
			if a[i] < 80_000 || a[i] > 120_000 {
				t.Fatalf("%d ns is not within 20 %% of %d", a[i], mean)
			}
			if a[i] != b[i] {
				t.Fatal("equal seeds give different times")
			}
			if a[i] != c[i] {
				different++
			}
			d := float64(a[i] - mean)
			sum += d
			squares += d * d
		}
	}
	const n = ranks * iterations
	// The deviation of a uniform spread of 20,000 is 20,000/sqrt(3) = 11,547; that of the mean of
	// n draws 115. Five times that is allowed.
	if got := sum / n; math.Abs(got) > 600 {
		t.Errorf("the mean is off by %.0f ns", got)
	}
	if got := math.Sqrt(squares / n); math.Abs(got-11547) > 300 {
		t.Errorf("the deviation is %.0f ns, want about 11547", got)
	}
	if different < n*99/100 {
		t.Errorf("only %d of %d times depend on the seed", different, n)
	}
}

// The skew of a rank stays, the spread does not.
func TestSkew(t *testing.T) {
	w := &work{mean: 1000, skew: 300, seed: 1}
	distinct := map[int64]bool{}
	for rank := range 50 {
		first := w.at(rank, 0)
		distinct[first] = true
		for step := range 10 {
			if w.at(rank, step) != first {
				t.Fatalf("rank %d: the skew changes at step %d", rank, step)
			}
		}
	}
	if len(distinct) < 40 {
		t.Errorf("50 ranks have only %d different loads", len(distinct))
	}
	if w := (&work{mean: 1000, spread: 500, skew: 500, seed: 1}); w.at(3, 4) < 0 {
		t.Error("negative work")
	}
}

func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		n      int64
		random uint64
		want   int64
	}{{5, 0, -5}, {5, math.MaxUint64, 5}, {5, 1 << 63, 0}, {0, math.MaxUint64, 0}} {
		if got := within(tc.n, tc.random); got != tc.want {
			t.Errorf("within(%d, %#x) = %d, want %d", tc.n, tc.random, got, tc.want)
		}
	}
}

// Overlapped work is cut into pieces that add up, one after the other, beside the communication.
func TestOverlapBlocks(t *testing.T) {
	p := mustNew(t, "iallreduce", Params{Ranks: 8, Compute: 100 * unit.Microsecond, Pieces: 5})
	var b schedule.Block
	p.Block(3, 0, &b)
	if len(b.Ops) != 6 || b.Ops[0].Kind != schedule.Collective || len(b.Dependents) != 4 {
		t.Fatalf("ops %+v, dependents %v", b.Ops, b.Dependents)
	}
	for i := 1; i < 5; i++ {
		deps := b.Dependents[b.First[i]:b.First[i+1]]
		if len(deps) != 1 || deps[0].Index() != i+1 || deps[0].OnStart() {
			t.Errorf("operation %d is awaited by %v, want %d", i, deps, i+1)
		}
		if b.Ops[i].Size != 20_000*nanosecond {
			t.Errorf("piece %d takes %d ps", i, b.Ops[i].Size)
		}
	}
}

// The work beside an exchange begins when all sends have started, but does not wait for receives.
func TestOverlapStartsAfterSends(t *testing.T) {
	p := mustNew(t, "skeleton-overlap", Params{Ranks: 16, Pieces: 3})
	var b schedule.Block
	p.Block(5, 0, &b)
	waits := 0
	for i, op := range b.Ops[:8] {
		for _, d := range b.Dependents[b.First[i]:b.First[i+1]] {
			if op.Kind != schedule.Send || !d.OnStart() || d.Index() != 8 {
				t.Errorf("%s %d is awaited by %d", op.Kind, i, d.Index())
			}
			waits++
		}
	}
	if waits != 4 {
		t.Errorf("the work waits for %d sends, want 4", waits)
	}
}
