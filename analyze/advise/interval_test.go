package advise_test

import (
	"math"
	"strings"
	"testing"

	"slackline/analyze/advise"
	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/model/unit"
)

// slowest is a program in which rank 3 computes longer than the others.
func slowest(longer int64) advise.Scenario {
	return on(imbalanced(func(r int) int64 { return 100*us + longer*us*int64(r/3) }))
}

// timeOf simulates a scenario with changes, without the search.
func timeOf(t *testing.T, x advise.Scenario, changes ...advise.Change) unit.Duration {
	t.Helper()
	y, err := x.Apply(t.Context(), changes...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := y.Run(t.Context(), simulate.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r.Makespan
}

func searched(t *testing.T, q advise.Question) *advise.Result {
	t.Helper()
	r, err := advise.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestFloor: nothing is ranked that gains less than 1 %, than the simulation differs from the measured run (of which 5 % count), or than
// repeated runs differ from their middle.
func TestFloor(t *testing.T) {
	x := slowest(300)
	run := timeOf(t, x)
	repeat := func(percent int64) advise.Repeat {
		return advise.Repeat{Scenario: x, Measured: run * unit.Duration(percent) / 100}
	}
	for _, tc := range []struct {
		name  string
		q     advise.Question
		share float64
		basis string
	}{
		{"nothing known", advise.Question{}, 0.01, "at least 1.0 %"},
		{"as measured", advise.Question{Measured: run}, 0.01, "differs by 0 %"},
		{"3 % longer than measured", advise.Question{Measured: run * 100 / 103}, 0.03, "differs by 3.0 %"},
		{"half of what was measured", advise.Question{Measured: 2 * run}, 0.05, "differs by 50.0 % from the measured one, of which 5.0 % count"},
		{"repeated runs", advise.Question{Measured: run, Repeats: []advise.Repeat{repeat(110), repeat(105)}},
			0.05 / 1.05, "3 runs differ by up to"},
		{"a repeated run that was not measured", advise.Question{Repeats: []advise.Repeat{{Scenario: x}}}, 0.01, "at least 1.0 %"},
	} {
		tc.q.Scenario = x
		r := searched(t, tc.q)
		if math.Abs(r.Noise.Share-tc.share) > 1e-6 || !strings.Contains(strings.Join(r.Noise.Basis, "; "), tc.basis) {
			t.Errorf("%s: %+v, want %g because %q", tc.name, r.Noise, tc.share, tc.basis)
		}
		if (r.Measured == nil) != (tc.q.Measured == 0) || (r.Difference == nil) != (tc.q.Measured == 0) {
			t.Errorf("%s: measured %v, difference %v", tc.name, r.Measured, r.Difference)
		}
		r.Each(func(a *advise.Advice) {
			if a.Gain < r.Noise.Share || a.Gain < a.Low || a.Gain > a.High || a.Gain > 1 {
				t.Errorf("%s: %s gains %g (%g to %g), the floor is %g", tc.name, a.Text, a.Gain, a.Low, a.High, r.Noise.Share)
			}
		})
	}
}

// TestIntervals: the interval of a gain covers the gains of the same change in the other runs, and in parts of their measured times.
func TestIntervals(t *testing.T) {
	x, y := slowest(300), slowest(150)
	before, other := timeOf(t, x), timeOf(t, y)
	r := searched(t, advise.Question{Scenario: x, Measured: 2 * before, Repeats: []advise.Repeat{{Scenario: y, Measured: 4 * other}}})
	if len(r.Advice) == 0 || r.Advice[0].Text != "balance:even@main/solve" {
		t.Fatalf("%+v", r.Advice)
	}
	a := r.Advice[0]
	saved, otherSaved := float64(before-timeOf(t, x, a.Change)), float64(other-timeOf(t, y, a.Change))
	gains := []float64{saved / float64(before), saved / float64(2*before), otherSaved / float64(other), otherSaved / float64(4*other)}
	low, high := math.Inf(1), 0.0
	for _, g := range gains {
		low, high = min(low, g), max(high, g)
	}
	if !near(a.Gain, gains[0]) || !near(a.Low, low) || !near(a.High, high) {
		t.Errorf("gain %g from %g to %g, want %g from %g to %g", a.Gain, a.Low, a.High, gains[0], low, high)
	}
	if basis := strings.Join(a.Basis, "; "); basis != "the difference between the simulated and the measured run; 2 recorded runs" {
		t.Errorf("it rests on %s", basis)
	}
}

// TestIntervalsOfNoise: with noise, the interval covers what the change gains with other replicas of it.
func TestIntervalsOfNoise(t *testing.T) {
	x := slowest(300)
	x.Noise = &whatif.Noise{Profile: profile(), Seed: 7}
	const replicas = 4
	r := searched(t, advise.Question{Scenario: x, Replicas: replicas})
	if len(r.Advice) == 0 {
		t.Fatal("no advice")
	}
	a := r.Advice[0]
	low, high := math.Inf(1), 0.0
	for i := range replicas {
		x.Replica = i
		before := timeOf(t, x)
		g := float64(before-timeOf(t, x, a.Change)) / float64(before)
		low, high = min(low, g), max(high, g)
	}
	if !near(a.Low, low) || !near(a.High, high) || low == high {
		t.Errorf("%s gains from %g to %g, want from %g to %g", a.Text, a.Low, a.High, low, high)
	}
	if basis := strings.Join(a.Basis, "; "); basis != "4 replicas of the noise" {
		t.Errorf("it rests on %s", basis)
	}
	if basis := strings.Join(r.Noise.Basis, "; "); !strings.Contains(basis, "4 replicas of the noise differ by up to") {
		t.Errorf("the floor rests on %s", basis)
	}
}

// TestSearchIsRepeatable: neither threads nor an effort that is large enough change what is found, and commands name the changes.
func TestSearchIsRepeatable(t *testing.T) {
	texts := func(q advise.Question) (list []string) {
		searched(t, q).Each(func(a *advise.Advice) { list = append(list, a.Text, percentOf(a.Gain)) })
		return list
	}
	one, four := slowest(300), slowest(300)
	one.Threads, four.Threads = 1, 4
	want := strings.Join(texts(advise.Question{Scenario: one}), " ")
	for name, q := range map[string]advise.Question{"four threads": {Scenario: four}, "with an effort": {Scenario: one, Effort: 1 << 40}} {
		if got := strings.Join(texts(q), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	r := searched(t, advise.Question{Scenario: one, Words: []string{"slackline", "simulate", "x"}, Effort: 1})
	if r.Left == 0 || r.Tried == 0 || len(r.Advice) == 0 || r.Advice[0].Command != "slackline simulate x --change "+r.Advice[0].Text {
		t.Errorf("with the least effort %d tried, %d left: %+v", r.Tried, r.Left, r.Advice)
	}
}

func percentOf(gain float64) string { return (&advise.Advice{Low: gain, High: gain}).Interval() }

// TestJudgeMeasured: between two runs that were measured, the measured times count.
func TestJudgeMeasured(t *testing.T) {
	x := slowest(300)
	r := searched(t, advise.Question{Scenario: x, Measured: 1000 * unit.Microsecond})
	v, err := advise.Judge(t.Context(), r, x, 900*unit.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	if !near(v.Gain, 0.1) || v.Before != unit.Nanoseconds(1000*unit.Microsecond) || v.After != unit.Nanoseconds(900*unit.Microsecond) {
		t.Errorf("%+v", v)
	}
	if v, err = advise.Judge(t.Context(), r, x, 0); err != nil || v.Gain != 0 || v.Before != r.RunTime {
		t.Errorf("the other run was not measured: %+v, %v", v, err)
	}
}
