package changes

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"slackline/model/dataset"
	"slackline/model/history"
)

// measuredAt makes the states of commits.
func measuredAt(commits int, runs bool, fill func(d *dataset.Dataset, r *rand.Rand, commit int)) []*history.State {
	r := rand.New(rand.NewPCG(5, 6))
	var states []*history.State
	for i := range commits {
		s := &history.State{Commit: history.Commit{ID: fmt.Sprintf("c%d", i), Time: time.Unix(int64(i), 0)}, Runs: runs, Data: dataset.New("p")}
		fill(s.Data, r, i)
		states = append(states, s)
	}
	return states
}

func find(t *testing.T, states []*history.State) *Result {
	t.Helper()
	r, err := Find(context.Background(), states, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one is the only change of a series.
func one(t *testing.T, s *Series) Change {
	t.Helper()
	if len(s.Changes) != 1 {
		t.Fatalf("%s %s: changes = %+v, want 1", s.CallPath, s.Metric, s.Changes)
	}
	return s.Changes[0]
}

// A function that goes from O(log p) to O(p) is a changed law, although its level at the measured points stays the same.
func TestLawChanges(t *testing.T) {
	points := []float64{8, 16, 32, 64, 128}
	log := func(p float64) float64 { return 1e-5 * math.Log2(p) }
	linear := func(p float64) float64 { return 4.69e-5 / 32 * p }
	for _, scaled := range []float64{1, 3} {
		r := find(t, measuredAt(16, false, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			for _, p := range points {
				f, by := log, 1.0
				if commit >= 10 {
					f, by = linear, scaled
				}
				for range 3 {
					d.Get("solve", "time").Add([]float64{p}, by*f(p)*(1+0.02*r.NormFloat64()))
				}
			}
		}))
		c := one(t, r.Series[0])
		if c.Kind != KindModel || c.LawFrom != "O(log p)" || c.LawTo != "O(p)" || c.Before != 9 || c.After != 10 || !c.Worse {
			t.Errorf("level times %g: %+v", scaled, c)
		}
		if r.Series[0].Law != "O(p)" {
			t.Errorf("the law of today is %s", r.Series[0].Law)
		}
	}
}

// Time that runs spend where they never did is a change, which one run makes suspect and several prove; what is too small
// a part of the run is none. A bandwidth that grows is better, and exact counts change at once.
func TestKinds(t *testing.T) {
	states := func(commits int) []*history.State {
		return measuredAt(commits, true, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			add := func(path, metric, unit string, v float64) {
				s := d.Get(path, metric)
				s.Unit = unit
				s.Add([]float64{8}, v)
			}
			add(dataset.RootPath, dataset.RunTime, "s", 10+0.01*r.NormFloat64())
			add("main", "delay", "s", 1+0.01*r.NormFloat64())
			add("main", "messages", "", 100+shift(commit, 11, 1))
			add("halo", "bandwidth", "MB/s", 100+shift(commit, 11, 20)+0.1*r.NormFloat64())
			if commit >= 11 {
				add("imbalance", "delay", "s", 0.5+0.01*r.NormFloat64())
				add("tiny", "delay", "s", 0.0001)
			}
		})
	}
	series := func(r *Result, path, metric string) *Series {
		for _, s := range r.Series {
			if s.CallPath == path && s.Metric == metric {
				return s
			}
		}
		t.Fatalf("no series %s %s", path, metric)
		return nil
	}
	early := find(t, states(12))
	if s := series(early, "imbalance", "delay"); len(s.Changes) > 0 || len(s.Suspects) != 1 ||
		s.Suspects[0].Kind != KindAppeared || !s.Suspects[0].Worse {
		t.Errorf("after one run: %+v, %+v", s.Changes, s.Suspects)
	}
	if c := one(t, series(early, "main", "messages")); c.P != 0 || c.From != 100 || c.To != 101 || !c.Worse {
		t.Errorf("messages: %+v", c)
	}
	if s := series(early, "halo", "bandwidth"); len(s.Suspects) != 1 || s.Suspects[0].Worse {
		t.Errorf("bandwidth after one run: %+v", s.Suspects)
	}
	late := find(t, states(16))
	if c := one(t, series(late, "imbalance", "delay")); c.Kind != KindAppeared || c.Before != 10 || c.After != 11 || c.From != 0 || !c.Worse {
		t.Errorf("after five runs: %+v", c)
	}
	if c := one(t, series(late, "halo", "bandwidth")); c.Worse || c.After != 11 {
		t.Errorf("bandwidth: %+v", c)
	}
	for _, s := range []*Series{series(late, "main", "delay"), series(late, "tiny", "delay")} {
		if len(s.Changes) > 0 || len(s.Suspects) > 0 {
			t.Errorf("%s: %+v, %+v", s.CallPath, s.Changes, s.Suspects)
		}
	}
}

// The number of threads changes nothing, and a point of its own at each commit is one that is missing.
func TestThreads(t *testing.T) {
	make := func() []*history.State {
		return measuredAt(30, false, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				d.Get(name, "time").Add([]float64{8}, 1+shift(commit, 17, 0.2)+0.05*r.NormFloat64())
			}
			d.Get("once", "time").Add([]float64{float64(commit + 1)}, 1)
		})
	}
	want := ""
	for _, threads := range []int{1, 2, 5} {
		r, err := Find(context.Background(), make(), Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range r.Series {
			got += fmt.Sprintln(s.CallPath, s.Changes)
		}
		if want == "" {
			want = got
		}
		if got != want || len(r.Missing) != 1 || len(r.Series) != 5 {
			t.Errorf("%d threads: %d series, %d missing:\n%s, want\n%s", threads, len(r.Series), len(r.Missing), got, want)
		}
	}
}

// What the last commit lacks is missing, since the commit after the last one that has it; in runs it did not happen.
func TestMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		runs bool
		has  func(commit int, path string, p float64) bool
		want string
	}{
		"nothing":           {false, func(int, string, float64) bool { return true }, ""},
		"a series":          {false, func(c int, path string, _ float64) bool { return c < 7 || path == "g" }, "f missing 6..7"},
		"since long":        {false, func(c int, path string, _ float64) bool { return c < 2 || path == "g" }, "f missing 1..2"},
		"measured once":     {false, func(c int, path string, _ float64) bool { return c == 3 || path == "g" }, "f missing 3..4"},
		"two points":        {false, func(c int, path string, p float64) bool { return c < 7 || path == "g" || p == 4 }, "f 2 of 3 points 6..7"},
		"points one by one": {false, func(c int, path string, p float64) bool { return c < int(p) || path == "g" }, "f missing 7..8"},
		"there again":       {false, func(c int, path string, _ float64) bool { return c != 4 || path == "g" }, ""},
		"new":               {false, func(c int, path string, _ float64) bool { return c > 7 || path == "g" }, ""},
		"not in runs":       {true, func(c int, path string, _ float64) bool { return c < 7 || path == "g" }, ""},
		"no run at a point": {true, func(c int, _ string, p float64) bool { return c < 7 || p == 4 },
			"f 2 of 3 points 6..7, g 2 of 3 points 6..7"},
		"nothing any longer": {false, func(c int, _ string, _ float64) bool { return c < 7 }, "f missing 6..7, g missing 6..7"},
	} {
		r := find(t, measuredAt(9, tc.runs, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			for _, path := range []string{"f", "g"} {
				for _, p := range []float64{2, 4, 8} {
					if tc.has(commit, path, p) {
						d.Get(path, "time").Add([]float64{p}, 1)
					}
				}
			}
		}))
		var got []string
		for i := range r.Missing {
			m := &r.Missing[i]
			got = append(got, fmt.Sprintf("%s %s %d..%d", m.CallPath, m.Size(), m.Before, m.After))
			if m.Kind != KindMissing || !m.Worse || m.From != 1 || !math.IsNaN(m.To) {
				t.Errorf("%s: %+v", name, m.Change)
			}
		}
		if got := strings.Join(got, ", "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// Other units and other parameters are other series, and a commit with few points does not hide those of all others.
func TestSpaces(t *testing.T) {
	r := find(t, measuredAt(12, false, func(d *dataset.Dataset, _ *rand.Rand, commit int) {
		s := d.Get("f", "messages")
		s.Add([]float64{2}, 10)
		if commit != 3 {
			s.Add([]float64{8}, 10+shift(commit, 8, 5))
		}
		g := d.Get("g", "time")
		g.Unit = map[bool]string{true: "ms", false: "s"}[commit < 6]
		g.Add([]float64{2}, 1)
	}))
	if c := one(t, r.Series[0]); len(r.Series[0].Points) != 2 || c.Before != 7 || c.After != 8 || !c.Worse {
		t.Errorf("%v: %+v", r.Series[0].Points, c)
	}
	if len(r.Series) != 3 || len(r.Series[1].At) != 6 || len(r.Series[2].At) != 6 || r.Series[2].Unit != "s" {
		t.Errorf("%d series, want one for each unit", len(r.Series))
	}
	if len(r.Missing) != 1 || r.Missing[0].Unit != "ms" || r.Missing[0].After != 6 {
		t.Errorf("missing: %+v", r.Missing)
	}
}

// A benchmark that took no time at the last commit was not measured, whatever is better; what should be large is worse if it
// is 0; and a function that is not called any more is fine.
func TestVanished(t *testing.T) {
	for _, tc := range []struct {
		metric string
		runs   bool
		last   float64
		want   bool
	}{
		{"time", false, 0, true}, {"time", false, -1, true}, {"latency", false, 0, true}, {"bandwidth", false, 0, true},
		{"messages", false, 0, false}, {"time", true, 0, false}, {"time", false, 0.9, false},
	} {
		r := find(t, measuredAt(5, tc.runs, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			value := 1 + 0.01*r.NormFloat64()
			if commit == 4 {
				value = tc.last
			}
			d.Get("main->f", tc.metric).Add([]float64{4}, value)
			d.Get(dataset.RootPath, dataset.RunTime).Add([]float64{4}, 2)
		}))
		s := r.Series[0]
		if got := len(s.Suspects) == 1 && s.Suspects[0].Worse; got != tc.want || len(s.Changes) > 0 {
			t.Errorf("%s, of runs %v, at last %g: suspect = %v, want %v; changes %+v", tc.metric, tc.runs, tc.last, got, tc.want, s.Changes)
		}
	}
}

// TestSize: how large a change is, for people.
func TestSize(t *testing.T) {
	for want, c := range map[string]Change{
		"+50 %": {Kind: KindLevel, From: 2, To: 3}, "-25 %": {Kind: KindLevel, From: 4, To: 3}, "2 x": {Kind: KindLevel, From: 1, To: 2},
		"1e+03 x": {Kind: KindDrift, From: 1, To: 1000}, "+0.123 %": {Kind: KindLevel, From: 1000, To: 1001.23},
		"-100 %": {Kind: KindLevel, From: 1}, "-": {Kind: KindLevel, To: 1},
		"appeared": {Kind: KindAppeared, To: 5}, "vanished": {Kind: KindVanished, From: 5},
		"+0 %": {From: 1, To: 1},
	} {
		if got := c.Size(); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	r := &Result{Commits: []history.Commit{{ID: "0123456789abcdef"}, {ID: "fedcba9876543210"}}}
	if got, want := r.Range(&Change{Before: 0, After: 1}), r.Commits[0].Short()+".."+r.Commits[1].Short(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestJudge: whether a change is for the worse depends on what grows, and on whether that is good.
func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		metric string
		change Change
		want   bool
	}{
		{"time", Change{Kind: KindLevel, From: 1, To: 2}, true}, {"time", Change{Kind: KindLevel, From: 2, To: 1}, false},
		{"bandwidth", Change{Kind: KindLevel, From: 1, To: 2}, false}, {"bandwidth", Change{Kind: KindDrift, From: 2, To: 1}, true},
		{"score", Change{Kind: KindLevel, From: 2, To: 1}, true}, // an option says that larger is better
		{"bandwidth", Change{Kind: KindNoise, From: 1, To: 2}, true}, {"bandwidth", Change{Kind: KindNoise, From: 2, To: 1}, false},
		{"time", Change{Kind: KindModel, From: 2, To: 1, faster: true}, true}, {"bandwidth", Change{Kind: KindModel, faster: true}, false},
		{"time", Change{Kind: KindAppeared, To: 1}, true}, {"time", Change{Kind: KindVanished, From: 1}, false},
	} {
		s := &Series{Metric: tc.metric}
		if s.judge(&tc.change, Options{LargerBetter: []string{"score"}}); tc.change.Worse != tc.want {
			t.Errorf("%s: %+v", tc.metric, tc.change)
		}
	}
}

// Of a drift that began before a commit that was accepted, what came later must change the same way.
func TestAfter(t *testing.T) {
	for _, tc := range []struct {
		name     string
		at       func(commit int) float64
		accepted int // commits
		want     bool
	}{
		{"nothing accepted", func(c int) float64 { return float64(c) }, 0, true},
		{"it goes on", func(c int) float64 { return float64(c) }, 20, true},
		{"all of it accepted", func(c int) float64 { return float64(c) }, 60, false},
		{"too little of it left", func(c int) float64 { return float64(c) }, 56, false},
		{"hardly any longer", func(c int) float64 { return min(float64(c), 48+0.1*float64(c-48)) }, 48, false},
	} {
		r := find(t, measuredAt(60, false, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			d.Get("f", "time").Add([]float64{8}, 100+tc.at(commit)+r.NormFloat64())
		}))
		c, accepted := one(t, r.Series[0]), map[string]bool{}
		for i := range tc.accepted {
			accepted[fmt.Sprintf("c%d", i)] = true
		}
		if got := r.After(r.Series[0], &c, accepted, Options{}); c.Kind != KindDrift || got != tc.want {
			t.Errorf("%s: %v, want %v: %+v", tc.name, got, tc.want, c)
		}
	}
	r := &Result{Commits: []history.Commit{{ID: "a"}, {ID: "b"}}}
	step := &Change{Kind: KindLevel, After: 1}
	if !r.After(&Series{}, step, map[string]bool{"a": true}, Options{}) || r.After(&Series{}, step, map[string]bool{"b": true}, Options{}) {
		t.Error("a step is after the commit before it, and not after its own")
	}
}

// TestUnits: in other units the same changes are found, with levels in these units.
func TestUnits(t *testing.T) {
	run := func(factor float64) *Result {
		return find(t, measuredAt(40, false, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			d.Get("step", "time").Add([]float64{8}, factor*(10+shift(commit, 20, 2)+0.1*r.NormFloat64()))
			d.Get("drift", "time").Add([]float64{8}, factor*(10+0.2*float64(commit)+0.1*r.NormFloat64()))
			d.Get("noisy", "time").Add([]float64{8}, factor*(10+(0.01+shift(commit, 20, 1))*r.NormFloat64()))
		}))
	}
	one := run(1)
	for _, factor := range []float64{1 << 20, 1.0 / (1 << 30)} { // of which products are exact
		other := run(factor)
		for i, s := range one.Series {
			if len(s.Changes) != 1 || len(other.Series[i].Changes) != 1 {
				t.Errorf("%s: %d changes, %d times %g", s.CallPath, len(s.Changes), len(other.Series[i].Changes), factor)
				continue
			}
			a, b := s.Changes[0], other.Series[i].Changes[0]
			scale := factor
			if a.Kind == KindNoise {
				scale = 1 // the scatter is relative
			}
			if a.Kind != b.Kind || a.Before != b.Before || a.After != b.After || a.P != b.P || a.Worse != b.Worse ||
				math.Abs(a.From*scale-b.From) > 1e-9*b.From || math.Abs(a.To*scale-b.To) > 1e-9*b.To {
				t.Errorf("%s times %g: %+v, want %+v", s.CallPath, factor, b, a)
			}
		}
	}
	for i, want := range []string{KindLevel, KindDrift, KindNoise} {
		if got := one.Series[i].Changes[0].Kind; got != want {
			t.Errorf("%s: %s, want %s", one.Series[i].CallPath, got, want)
		}
	}
}

// TestSmallChanges: a change that is certain but smaller than what counts is left out.
func TestSmallChanges(t *testing.T) {
	for _, tc := range []struct {
		step, smallest, noise float64
		want                  int
	}{{0.1, 0.05, 5e-4, 1}, {0.1, 0.2, 5e-4, 0}, {0.005, 0, 5e-4, 0}, {0.02, 0, 5e-4, 1}, {0.15, 0.15, 0, 1}} { // 15 % are not below 15 %
		states := measuredAt(40, false, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			d.Get("f", "time").Add([]float64{8}, 1+shift(commit, 20, tc.step)+tc.noise*r.NormFloat64())
		})
		r, err := Find(context.Background(), states, Options{Smallest: tc.smallest})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r.Series[0].Changes); got != tc.want {
			t.Errorf("a step of %g, of which %g count: %d changes, want %d", tc.step, tc.smallest, got, tc.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, nil, Options{}); err == nil {
		t.Error("no error although it was stopped")
	}
}

// Of few values of random noise, at most 1 % are suspect: of the noise that is assumed of series on average over them, and of
// noise of up to 10 % in each, whatever its distribution.
func TestFewFalseAlarms(t *testing.T) {
	const cases = 20_000
	for name, draw := range map[string]func(r *rand.Rand) func() float64{
		"noise as assumed": func(r *rand.Rand) func() float64 {
			chi := 0.0
			for range assumedValues {
				z := r.NormFloat64()
				chi += z * z
			}
			noise := assumedNoise * math.Sqrt(assumedValues/chi)
			return func() float64 { return math.Exp(noise * r.NormFloat64()) }
		},
		"normal, 10 %":         func(r *rand.Rand) func() float64 { return func() float64 { return 1 + 0.1*r.NormFloat64() } },
		"one-sided, 10 %":      func(r *rand.Rand) func() float64 { return func() float64 { return 1 + 0.1*r.ExpFloat64() } },
		"even, -20 % to +20 %": func(r *rand.Rand) func() float64 { return func() float64 { return 0.8 + 0.4*r.Float64() } },
	} {
		for _, n := range []int{2, 3, 4, 5, 6, 8, 12, 40} {
			r := rand.New(rand.NewPCG(17, uint64(n)))
			alarms := 0
			for range cases {
				next, values := draw(r), make([]float64, n)
				for i := range values {
					values[i] = next()
				}
				if _, p := few(values); p <= 0.01 {
					alarms++
				}
			}
			t.Logf("%s, %d values: %d false alarms in %d series", name, n, alarms, cases)
			if most := cases / 100 * 12 / 10; alarms > most { // 1 %, and three standard deviations of what is drawn
				t.Errorf("%s, %d values: %d false alarms in %d series, more than %d", name, n, alarms, cases, most)
			}
		}
	}
}

// A change that lasts is never forgotten: from the second value after it on, it is suspect or found, however few were before it.
func TestLastingChange(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, ratio := range []float64{0.5, 2, 5} {
		for before := 2; before <= 12; before++ {
			var values []float64
			for i := range before + 40 {
				v := 10 * (1 + 0.01*r.NormFloat64())
				if i >= before {
					v *= ratio
				}
				values = append(values, v)
			}
			for n := before + 2; n <= len(values); n++ {
				s := &Series{Metric: "time", Unit: "s", Values: values[:n], At: make([]int, n)}
				s.levels(0.01, 0.01)
				s.suspect(0.01, 0.01)
				if len(s.Changes) == 0 && len(s.Suspects) == 0 {
					t.Errorf("%d values before and %d after a change by %g: unchanged", before, n-before, ratio)
				}
			}
		}
	}
}

// TestStudent compares with the table of Abramowitz and Stegun (26.10).
func TestStudent(t *testing.T) {
	for freedom, want := range map[int]float64{1: 63.657, 2: 9.925, 3: 5.841, 4: 4.604, 5: 4.032, 30: 2.750} {
		for _, v := range []float64{want, -want} {
			if got := beyond(v, freedom); math.Abs(got-0.01) > 1e-5 {
				t.Errorf("%d degrees of freedom: the probability beyond %g is %g, want 0.01", freedom, v, got)
			}
		}
	}
}
