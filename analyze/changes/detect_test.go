package changes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eDivisive is the test oracle: the first step of E-divisive means (Matteson and James, 2014) with the exponent 1. It
// returns the place of the most probable change and the probability of one like it in a random order of the values, or any
// value above stop if it is above that.
func eDivisive(values []float64, permutations int, stop float64, random *rand.Rand) (at int, p float64) {
	n := len(values)
	const least = 2
	sums := make([][]float64, n+1) // of |x_i - x_j| for i below the first and j below the second index
	for i := range sums {
		sums[i] = make([]float64, n+1)
	}
	best := func(x []float64) (float64, int) {
		for i := 1; i <= n; i++ {
			for j := 1; j <= n; j++ {
				sums[i][j] = sums[i-1][j] + sums[i][j-1] - sums[i-1][j-1] + math.Abs(x[i-1]-x[j-1])
			}
		}
		most, where := math.Inf(-1), 0
		for end := 2 * least; end <= n; end++ {
			for at := least; at <= end-least; at++ {
				a, b := float64(at), float64(end-at)
				between := sums[at][end] - sums[at][at]
				left, right := sums[at][at], sums[end][end]-2*sums[at][end]+sums[at][at]
				e := 2*between/(a*b) - left/(a*(a-1)) - right/(b*(b-1))
				if q := a * b / (a + b) * e; q > most {
					most, where = q, at
				}
			}
		}
		return most, where
	}
	q, at := best(values)
	other := slices.Clone(values)
	larger := 1
	for range permutations {
		random.Shuffle(n, func(a, b int) { other[a], other[b] = other[b], other[a] })
		if v, _ := best(other); v >= q {
			if larger++; float64(larger)/float64(permutations+1) > stop {
				break // it is no change, however the others are
			}
		}
	}
	return at, float64(larger) / float64(permutations+1)
}

const length = 30

// planted are series with and without a change.
var planted = []struct {
	name    string
	changed bool
	at      int // place of a step; 0: there is none
	make    func(r *rand.Rand, i int) float64
}{
	{"unchanged", false, 0, func(r *rand.Rand, _ int) float64 { return 100 + r.NormFloat64() }},
	{"unchanged, one-sided noise", false, 0, func(r *rand.Rand, _ int) float64 { return 100 + r.ExpFloat64() }},
	{"unchanged, outliers", false, 0, outliers(func(r *rand.Rand, _ int) float64 { return 100 + r.NormFloat64() })},
	{"step", true, 15, step(15, 1.8)},
	{"late step", true, 25, step(25, 2.8)},
	{"step, one-sided noise", true, 15, func(r *rand.Rand, i int) float64 { return shift(i, 15, 1.1) + r.ExpFloat64() }},
	{"step, outliers", true, 15, outliers(step(15, 1.9))},
	{"drift", true, 0, func(r *rand.Rand, i int) float64 { return 100 + 3.2*float64(i)/length + r.NormFloat64() }},
	{"changed noise", true, 15, func(r *rand.Rand, i int) float64 {
		if i >= 15 {
			return 100 + 4*r.NormFloat64()
		}
		return 100 + r.NormFloat64()
	}},
	{"fixed again", true, 0, func(r *rand.Rand, i int) float64 { return 100 + shift(i, 11, 3) - shift(i, 18, 3) + r.NormFloat64() }},
}

func shift(i, at int, by float64) float64 {
	if i >= at {
		return by
	}
	return 0
}

func step(at int, by float64) func(*rand.Rand, int) float64 {
	return func(r *rand.Rand, i int) float64 { return 100 + shift(i, at, by) + r.NormFloat64() }
}

// outliers makes one of ten values far too large.
func outliers(f func(*rand.Rand, int) float64) func(*rand.Rand, int) float64 {
	return func(r *rand.Rand, i int) float64 {
		v := f(r, i)
		if r.Float64() < 0.1 {
			v += 50 * r.ExpFloat64()
		}
		return v
	}
}

// draw makes a series.
func draw(r *rand.Rand, n int, f func(*rand.Rand, int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(r, i)
	}
	return x
}

// On unchanged series of any noise and length, at most 1 % of the tests are false alarms.
func TestFalseAlarms(t *testing.T) {
	const cases = 3000
	for _, n := range []int{12, 40, 100} {
		for _, tc := range planted {
			if tc.changed {
				continue
			}
			r := rand.New(rand.NewPCG(7, uint64(n)))
			alarms := 0
			for range cases {
				if strongest(normalScores(draw(r, n, tc.make))).p <= margin*0.01 { // as segments does
					alarms++
				}
			}
			t.Logf("%s, %d values: %d false alarms in %d series", tc.name, n, alarms, cases)
			if alarms > cases/100 {
				t.Errorf("%s, %d values: %d false alarms in %d series, more than 1 %%", tc.name, n, alarms, cases)
			}
		}
	}
}

// At the same rate of false alarms, changes are found at least as often as by E-divisive means, and steps are located at
// least as often within two values.
func TestAgainstEDivisive(t *testing.T) {
	cases := 100
	if testing.Short() {
		cases = 10
	}
	const permutations, level = 99, 0.01
	var ours, theirs, ourPlaces, theirPlaces int
	for _, tc := range planted {
		if !tc.changed {
			continue
		}
		r := rand.New(rand.NewPCG(11, 12))
		var found, place, oracle, oraclePlace int
		near := func(at int) bool { return tc.at > 0 && max(at-tc.at, tc.at-at) <= 2 }
		for range cases {
			x := draw(r, length, tc.make)
			if s := strongest(normalScores(x)); s.p <= level {
				found++
				if !s.scale {
					s.at = locate(x, s.at)
				}
				if near(s.at) {
					place++
				}
			}
			if at, p := eDivisive(x, permutations, level, r); p <= level {
				oracle++
				if near(at) {
					oraclePlace++
				}
			}
		}
		t.Logf("%-24s of %d: found %d, in place %d; E-divisive found %d, in place %d", tc.name, cases, found, place, oracle, oraclePlace)
		if cases >= 100 && (found < oracle || place < oraclePlace) {
			t.Errorf("%s: found %d of %d, %d of them in place; E-divisive means found %d, %d of them in place", tc.name, found, cases, place,
				oracle, oraclePlace)
		}
		ours, theirs, ourPlaces, theirPlaces = ours+found, theirs+oracle, ourPlaces+place, theirPlaces+oraclePlace
	}
	if ours < theirs || ourPlaces < theirPlaces {
		t.Errorf("found %d changes, %d in place; E-divisive means %d, %d in place", ours, ourPlaces, theirs, theirPlaces)
	}
}

// All changes of a series are found, in their order; a drift is one change.
func TestSegments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	stairs := segments(draw(r, 90, func(r *rand.Rand, i int) float64 { return shift(i, 30, 5) + shift(i, 60, 5) + r.NormFloat64() }), 0.01)
	if len(stairs) != 2 || stairs[0].at != 30 || stairs[1].at != 60 || stairs[0].drift || stairs[1].drift {
		t.Errorf("two steps: %+v", stairs)
	}
	back := segments(draw(r, 120, func(r *rand.Rand, i int) float64 { return shift(i, 50, 6) - shift(i, 60, 6) + r.NormFloat64() }), 0.01)
	if len(back) != 2 || back[0].at != 50 || back[1].at != 60 {
		t.Errorf("a level that came back: %+v", back)
	}
	drift := segments(draw(r, 60, func(r *rand.Rand, i int) float64 { return float64(i)/4 + r.NormFloat64() }), 0.01)
	if len(drift) != 1 || !drift[0].drift || drift[0].first != 0 || drift[0].last != 59 {
		t.Errorf("a drift: %+v", drift)
	}
	if got := segments(make([]float64, 50), 0.01); got != nil {
		t.Errorf("equal values: %+v", got)
	}
	if got := segments([]float64{1, 1, 1, 9, 9}, 0.01); got != nil {
		t.Errorf("five values: %+v", got)
	}
}

// A clear step is not a drift, even if both of its parts happen to grow; drifts are taken for steps at most once in a hundred times.
func TestStepOrDrift(t *testing.T) {
	var times []float64
	for _, x := range []float64{16.0188, 16.0558, 16.0380, 16.0000, 15.9927, 15.9851, 16.0003, 16.0263, 16.0345, 15.9966, 15.9569, 15.9766,
		7.9953, 8.0383, 8.0015, 8.0061, 7.9800, 7.9929, 8.0122, 7.9831, 7.9986, 7.9796, 7.9873, 7.9919} {
		times = append(times, 1/x)
	}
	if got := segments(times, 0.01); len(got) != 1 || got[0].drift || got[0].at != 12 {
		t.Errorf("a step to twice the time: %+v", got)
	}
	r := rand.New(rand.NewPCG(21, 22))
	const cases = 300
	steps, ranked, drifting := 0, 0, 0
	for range cases {
		list := segments(draw(r, 20, step(10, 20)), 0.01)
		if slices.ContainsFunc(list, func(s split) bool { return s.drift }) {
			steps++
		}
		x := draw(r, 60, func(r *rand.Rand, i int) float64 { return 100 + 8*float64(i)/60 + r.NormFloat64() })
		if scores := normalScores(x); drifts(scores, strongest(scores).at) {
			ranked++
		}
		if got := segments(x, 0.01); len(got) == 1 && got[0].drift {
			drifting++
		}
	}
	if steps > 0 || ranked < cases*9/10 || drifting < ranked-cases/100 {
		t.Errorf("of %d: %d steps taken for a drift; %d drifts found of %d", cases, steps, drifting, ranked)
	}
}

// TestNormalScores: scores are quantiles of the normal distribution by rank, the same for values in the same order, and opposite for
// opposite values. Equal values share the mean of their ranks.
func TestNormalScores(t *testing.T) {
	got := normalScores([]float64{30, 10, 20})
	for i, want := range []float64{0.6744897501960817, -0.6744897501960817, 0} { // quantiles of 3/4, 1/4 and 1/2
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("scores %v", got)
		}
	}
	tied := normalScores([]float64{1, 5, 5, 9})
	if tied[1] != tied[2] || math.Abs(tied[1]) > 1e-15 || math.Abs(tied[0]+tied[3]) > 1e-15 {
		t.Errorf("with ties: %v", tied)
	}
	if normalScores([]float64{2, 2, 2}) != nil {
		t.Error("equal values have scores")
	}
	r := rand.New(rand.NewPCG(7, 8))
	x := draw(r, 50, func(r *rand.Rand, _ int) float64 { return r.NormFloat64() })
	stretched, opposite := make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		stretched[i], opposite[i] = math.Exp(3*v), -v
	}
	a, b, c := normalScores(x), normalScores(stretched), normalScores(opposite)
	for i := range a {
		if a[i] != b[i] || math.Abs(a[i]+c[i]) > 1e-12 {
			t.Fatalf("value %d: %g, stretched %g, opposite %g", i, a[i], b[i], c[i])
		}
	}
}

// TestMeasure compares the statistics with their definition: the largest squared differences between two means, in units of what is
// expected without a change.
func TestMeasure(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := 6 + r.IntN(40)
		scores := centered(draw(r, n, func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }))
		mean := func(list []float64, of func(float64) float64) float64 {
			sum := 0.0
			for _, v := range list {
				sum += of(v)
			}
			return sum / float64(len(list))
		}
		itself, square := func(v float64) float64 { return v }, func(v float64) float64 { return v * v }
		size := mean(scores, math.Abs)
		variance, sizeVariance := mean(scores, square), mean(scores, func(v float64) float64 { return square(math.Abs(v) - size) })
		between := func(in, out []float64, of func(float64) float64) float64 {
			a, b := float64(len(in)), float64(len(out))
			return square(mean(in, of)-mean(out, of)) * a * b / (a + b)
		}
		var want statistics
		for k := 2; k <= n-2; k++ {
			want.level = max(want.level, between(scores[:k], scores[k:], itself)/variance)
			if k >= 5 && k <= n-5 {
				want.scale = max(want.scale, between(scores[:k], scores[k:], math.Abs)/sizeVariance)
			}
		}
		for _, length := range []int{3, 5, 8, 13, 21} {
			for from := 2; 2*length <= n && from+length <= n-2; from++ {
				want.bump = max(want.bump, between(scores[from:from+length], slices.Concat(scores[:from], scores[from+length:]), itself)/variance)
			}
		}
		got := measure(scores, make([]float64, n+1), momentsOf(scores))
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+b) }
		if !near(got.level, want.level) || !near(got.scale, want.scale) || !near(got.bump, want.bump) {
			t.Errorf("seed %d, %d values: %+v, want %+v", seed, n, got, want)
		}
	}
}

func TestSlope(t *testing.T) {
	for _, tc := range []struct {
		scores []float64
		want   float64
	}{
		{[]float64{1, 2, 3, 4}, 1}, {[]float64{9, 7, 5}, -1}, {[]float64{1, 1, 1}, 0}, {[]float64{1, 2, 1}, 0},
		{[]float64{0, 0, 0, 1}, math.Sqrt(0.6)},
	} {
		if got := slope(tc.scores); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", tc.scores, got, tc.want)
		}
	}
}

// TestLocate: a step is found where two medians describe the values best, not further than five values away and with two on each side.
func TestLocate(t *testing.T) {
	steps := func(at, n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = shift(i, at, 10) + 0.1*float64(i%3)
		}
		return list
	}
	for _, tc := range []struct{ step, guess int }{{10, 10}, {10, 7}, {10, 14}, {10, 15}, {3, 2}} {
		if got := locate(steps(tc.step, 20), tc.guess); got != tc.step {
			t.Errorf("a step at %d of 20, first seen at %d, is located at %d", tc.step, tc.guess, got)
		}
	}
	if got := locate(steps(15, 20), 4); got > 9 {
		t.Errorf("moved from 4 to %d", got)
	}
	if got := locate(steps(19, 20), 18); got > 18 {
		t.Errorf("one value alone after the step at %d", got)
	}
}

// TestNullTails: probabilities are positive, at most 1, and fall as the statistic grows.
func TestNullTails(t *testing.T) {
	for _, n := range []int{6, 17} {
		table := nullOf(n)
		if table != nullOf(n) {
			t.Errorf("the table of %d values is made twice", n)
		}
		for _, list := range [][]float64{table.level, table.bump, table.scale} {
			last := 1.0
			for _, v := range []float64{0, 0.5, 1, 2, 5, 10, 1000} {
				p := table.tail(list, v)
				if p <= 0 || p > last {
					t.Errorf("%d values: %g has the probability %g after %g", n, v, p, last)
				}
				last = p
			}
		}
		if p := table.tailOfLeast(1); p != 1 {
			t.Errorf("any probability is at most 1 with the probability %g", p)
		}
		if a, b := table.tailOfLeast(0.01), table.tailOfLeast(0.1); a > b || b < 0.05 || b > 0.3 { // of three, each has 0.1
			t.Errorf("%d values: of three, the smallest is at most 0.01 with %g, at most 0.1 with %g", n, a, b)
		}
	}
}
