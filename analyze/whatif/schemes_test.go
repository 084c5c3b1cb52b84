package whatif

import (
	"context"
	"math"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/unit"
)

const (
	schemeLatency = 10 * unit.Microsecond
	schemeGap     = unit.Microsecond
)

// paperMachine has a latency and a gap, and nothing else: the model of the paper on timing collectives.
func paperMachine(t *testing.T) *machine.Machine {
	t.Helper()
	latency, gap, zero := schemeLatency, schemeGap, unit.Duration(0)
	perByte := unit.PerByte(0)
	m, err := machine.Override{Latency: &latency, Gap: &gap, Overhead: &zero, PerByte: &perByte}.Machine("plain")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func linearBroadcast(ranks, loop int) pattern.Params {
	return pattern.Params{Ranks: ranks, Operation: "bcast", Algorithm: "linear", Size: 1, Iterations: loop}
}

func answer(t *testing.T, q SchemeQuestion) map[string]SchemeTime {
	t.Helper()
	a, err := q.Answer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]SchemeTime{"true": {Max: float64(a.True), Reported: float64(a.True)}}
	for _, s := range a.Schemes {
		list[s.Scheme] = s
	}
	return list
}

// TestSchemesOfLinearBroadcast is the example of Hoefler, Schneider and Lumsdaine in closed form: a linear broadcast on four
// processes takes L + 2g, but (8g + L)/3 if three of them are timed in a row, and what rank 0 sees has no L.
func TestSchemesOfLinearBroadcast(t *testing.T) {
	latency, gap := float64(schemeLatency), float64(schemeGap)
	for _, ranks := range []int{2, 4, 16, 100} {
		for _, loop := range []int{1, 3, 100} {
			n, p := float64(loop), float64(ranks)
			got := answer(t, SchemeQuestion{Machine: paperMachine(t), Params: linearBroadcast(ranks, loop)})
			for what, pair := range map[string][2]float64{
				"one execution":            {got["true"].Max, (p-2)*gap + latency},
				"a loop, slowest process":  {got[MPBenchScheme].Max, ((n*(p-1)-1)*gap + latency) / n},
				"a loop, rank 0":           {got[MPBenchScheme].Reported, (n*(p-1) - 1) * gap / n},
				"a common start":           {got[RoundTimeScheme].Reported, (p-2)*gap + latency},
				"bias of the loop":         {got[MPBenchScheme].Max - got["true"].Max, (1 - 1/n) * (gap - latency)},
				"a common start of SKaMPI": {got[WindowScheme].Reported, (p-2)*gap + latency},
			} {
				exact := 1e-6 * pair[1]
				if what == "a common start" || what == "a common start of SKaMPI" { // within the errors of the clocks
					exact = float64(got[RoundTimeScheme].ClockError+got[WindowScheme].ClockError) * 2
				}
				if math.Abs(pair[0]-pair[1]) > math.Abs(exact)+1e-6 {
					t.Errorf("%d ranks, %d in a row: %s: %g, want %g", ranks, loop, what, pair[0], pair[1])
				}
			}
		}
	}
	four := answer(t, SchemeQuestion{Machine: paperMachine(t), Params: linearBroadcast(4, 3)})
	if four["true"].Max != 12e6 || four[MPBenchScheme].Max != 6e6 {
		t.Errorf("the example of the paper: %g and %g, want 12 us and 6 us", four["true"].Max, four[MPBenchScheme].Max)
	}
}

// TestBiasBounds holds every scheme and operation to what it can be wrong by (METHODS, bounds of bias): a common start by twice the
// error of the clocks, loops after a barrier by no more than they pipeline and the barrier is skewed.
func TestBiasBounds(t *testing.T) {
	m, err := machine.Find("cscs-testbed")
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range pattern.SchemeOperations() {
		for _, ranks := range []int{2, 7, 32} {
			for seed := range uint64(3) {
				q := SchemeQuestion{Machine: m, Excess: 0.1, Drift: 300e-6, Residual: 1e-6,
					Params: pattern.Params{Ranks: ranks, Operation: operation, Size: 8, Iterations: 10, Seed: seed}}
				got := answer(t, q)
				for _, name := range []string{RoundTimeScheme, WindowScheme} {
					s := got[name]
					if s.ClockError <= 0 || math.Abs(s.Reported-got["true"].Max) > 2*float64(s.ClockError) {
						t.Errorf("%s, %d ranks, %s: %g, true %g, clocks wrong by up to %s", operation, ranks, name, s.Reported, got["true"].Max, s.ClockError)
					}
				}
				if got[MPBenchScheme].Root > got[MPBenchScheme].Max || got[IMBScheme].Min > got[IMBScheme].Mean*1.000001 ||
					got[IMBScheme].Mean > got[IMBScheme].Max*1.000001 {
					t.Errorf("%s, %d ranks: %+v", operation, ranks, got)
				}
			}
		}
	}
}

// measuredLate is what ranks measure of a linear broadcast that they enter late.
func measuredLate(t *testing.T, delays []unit.Duration) []unit.Duration {
	t.Helper()
	q := &SchemeQuestion{Machine: paperMachine(t)}
	times, err := q.measured(context.Background(), "scheme-window", linearBroadcast(len(delays), 1), delays)
	if err != nil {
		t.Fatal(err)
	}
	return times
}

// TestSkewOfProcesses is figure 2 of the paper at any number of ranks: a late root makes every other rank seem slow by as
// much; another rank that is late seems faster, by no more than it would have waited.
func TestSkewOfProcesses(t *testing.T) {
	for _, ranks := range []int{4, 33} {
		single := measuredLate(t, make([]unit.Duration, ranks))
		for _, skew := range []unit.Duration{500 * unit.Nanosecond, 4 * unit.Microsecond, 100 * unit.Microsecond} {
			root := make([]unit.Duration, ranks)
			root[0] = skew
			times := measuredLate(t, root)
			for r := 1; r < ranks; r++ {
				if times[r] != single[r]+skew {
					t.Errorf("%d ranks, the root is %s late: rank %d measures %s, want %s", ranks, skew, r, times[r], single[r]+skew)
				}
				own := make([]unit.Duration, ranks)
				own[r] = skew
				if got, want := measuredLate(t, own)[r], max(single[r]-skew, 0); got != want {
					t.Errorf("%d ranks, rank %d is %s late: it measures %s, want %s", ranks, r, skew, got, want)
				}
			}
		}
	}
}

// TestSkewOfBarriers is figure 3: processes leave a linear barrier one after the other, and what they measure from there on is
// wrong by up to the difference of their exits (and the gap after the barrier's last message).
func TestSkewOfBarriers(t *testing.T) {
	mapping, err := collective.ReadMapping("linear", []byte("barrier: [{use: linear}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{4, 16, 64} {
		for _, jitter := range []float64{pattern.None, 1} {
			params := linearBroadcast(ranks, 1)
			params.Compute, params.Jitter = 20*unit.Microsecond, jitter
			p, err := pattern.New("scheme-imb", params)
			if err != nil {
				t.Fatal(err)
			}
			options := simulate.Options{Mapping: mapping, Calls: true}
			run, err := simulate.Run(context.Background(), p, paperMachine(t), options)
			if err != nil {
				t.Fatal(err)
			}
			least, most := run.Makespan, unit.Duration(0)
			for i := range run.Calls.Locations {
				exit := run.Calls.Locations[i].Calls.Leave[0] // the barrier comes first
				least, most = min(least, exit), max(most, exit)
			}
			skew := float64(most - least)
			got := answer(t, SchemeQuestion{Machine: paperMachine(t), Options: options, Params: params})
			bias := got[IMBScheme].Max - got["true"].Max
			if skew < float64(schemeLatency) || math.Abs(bias) > skew+float64(schemeGap) || bias == 0 {
				t.Errorf("%d ranks: exits differ by %g, bias %g", ranks, skew, bias)
			}
		}
	}
}

// TestTreeAgainstLinear is figure 8 of the paper, simulated: the tree is 16 times as fast with 128 processes, and gains
// with every doubling.
func TestTreeAgainstLinear(t *testing.T) {
	m, err := machine.Find("cscs-testbed")
	if err != nil {
		t.Fatal(err)
	}
	before := 0.0
	most := 4096
	if testing.Short() {
		most = 512
	}
	for ranks := 2; ranks <= most; ranks *= 2 {
		var took [2]unit.Duration
		for i, name := range []string{"clocks-tree", "clocks-linear"} {
			p, err := pattern.New(name, pattern.Params{Ranks: ranks})
			if err != nil {
				t.Fatal(err)
			}
			result, err := simulate.Run(context.Background(), p, m, simulate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			took[i] = result.Finish[0] // as the paper measures it
		}
		gain := float64(took[1]) / float64(took[0])
		if gain <= before || ranks == 128 && gain < 16 {
			t.Errorf("%d ranks: the tree takes %s, the linear scheme %s: %.1f times as long", ranks, took[0], took[1], gain)
		}
		before = gain
		t.Logf("%d ranks: tree %s, linear %s, %.1f times", ranks, took[0].Short(), took[1].Short(), gain)
	}
}
