package changes

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"slackline/model/dataset"
	"slackline/model/history"
)

// stateOf is a commit with the values of one series at points of p.
func stateOf(runs bool, values map[float64][]float64) *state {
	d := dataset.New("p")
	for _, p := range []float64{1, 2, 4, 8} {
		if v := values[p]; v != nil {
			d.Get("f", "time").Add([]float64{p}, v...)
		}
	}
	return indexed(&history.State{Runs: runs, Data: d})
}

// TestSeriesPoints: a series has the points of the last commit that most commits have, else all of them, at the commits
// that have them.
func TestSeriesPoints(t *testing.T) {
	type at = map[float64][]float64
	one := []float64{1}
	for _, tc := range []struct {
		name   string
		states []at
		points string
		at     []int
	}{
		{"the same points", []at{{1: one, 2: one}, {1: one, 2: one}}, "[[1] [2]]", []int{0, 1}},
		{"points in common", []at{{1: one, 2: one, 4: one}, {2: one, 4: one, 8: one}, {1: one, 4: one, 2: one}}, "[[1] [2] [4]]", []int{0, 2}},
		{"points of most", []at{{1: one, 2: one}, {2: one}, {1: one, 2: one}, {2: one}, {1: one, 2: one, 8: one}}, "[[1] [2]]", []int{0, 2, 4}},
		{"points of few", []at{{1: one, 2: one}, {2: one}, {2: one}, {1: one, 2: one}}, "[[2]]", []int{0, 1, 2, 3}},
		{"those of the last", []at{{1: one}, {8: one}, {8: one}}, "[[8]]", []int{1, 2}},
		{"too few", []at{{1: one}, {2: one}}, "", nil},
		{"one commit", []at{{1: one}}, "", nil},
		{"always 0", []at{{1: {0}}, {1: {0}}}, "", nil},
	} {
		var states []*state
		for _, values := range tc.states {
			states = append(states, stateOf(false, values))
		}
		s := collect(states)[0].series(states)
		if s == nil {
			if tc.points != "" {
				t.Errorf("%s: no series", tc.name)
			}
			continue
		}
		if got := fmt.Sprint(s.Points); got != tc.points || !slices.Equal(s.At, tc.at) {
			t.Errorf("%s: points %s at commits %v, want %s at %v", tc.name, got, s.At, tc.points, tc.at)
		}
	}
}

// TestLevel: a value is the geometric mean of the medians at the points, or their mean where one is not positive.
func TestLevel(t *testing.T) {
	point := func(values ...float64) dataset.Point { return dataset.Point{Values: values} }
	for _, tc := range []struct {
		points []dataset.Point
		want   float64
	}{
		{[]dataset.Point{point(3)}, 3},
		{[]dataset.Point{point(1, 9, 2)}, 2},
		{[]dataset.Point{point(2), point(8)}, 4},
		{[]dataset.Point{point(1, 2, 100), point(8), point(4)}, 4},
		{[]dataset.Point{point(0), point(8)}, 4},
		{[]dataset.Point{point(-2), point(8)}, 3},
		{[]dataset.Point{point(-5)}, -5},
		{[]dataset.Point{point(1e-200), point(1e200)}, 1},
	} {
		if got := level(tc.points); math.Abs(got-tc.want) > 1e-12*math.Abs(tc.want) {
			t.Errorf("%v: %g, want %g", tc.points, got, tc.want)
		}
	}
}

// TestExponent: the slope of a power law is its exponent, whatever the factor and the other parameters are.
func TestExponent(t *testing.T) {
	for _, a := range []float64{-1, 0, 0.5, 2} {
		var points []dataset.Point
		for _, p := range []float64{2, 4, 8, 16} {
			for k, size := range []float64{1, 10, 1000} { // each with a factor of its own
				points = append(points, dataset.Point{At: []float64{p, size}, Values: []float64{float64(k+3) * math.Pow(p, a)}})
			}
		}
		if got := exponent(points, 0); math.Abs(got-a) > 1e-12 {
			t.Errorf("exponent %g, want %g", got, a)
		}
	}
	zero := []dataset.Point{{At: []float64{2}, Values: []float64{0}}, {At: []float64{4}, Values: []float64{1}}}
	if got := exponent(zero, 0); !math.IsNaN(got) {
		t.Errorf("with a value of 0: %g", got)
	}
	if got := exponent([]dataset.Point{{At: []float64{2}, Values: []float64{1}}}, 0); !math.IsNaN(got) {
		t.Errorf("of one point: %g", got)
	}
}

func TestScatter(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{5, 5, 5}, 0}, {[]float64{9, 10, 11}, 1.4826 / 10}, {[]float64{9, 10, 11, 1000, 10}, 1.4826 / 10},
		{[]float64{-9, -10, -11}, 1.4826 / 10},
	} {
		if got := scatter(tc.values); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", tc.values, got, tc.want)
		}
	}
}

// TestExact: counts, and numbers with so many digits that they are not equal by chance, have no noise if they repeat.
func TestExact(t *testing.T) {
	for _, tc := range []struct {
		name, metric, unit string
		values             []float64
		want               bool
	}{
		{"a count", "messages", "", []float64{7, 7, 7, 8}, true},
		{"bytes", "x", "B", []float64{7, 7, 7, 8}, true},
		{"a count that never repeats", "messages", "", []float64{7, 8, 7, 8}, false},
		{"twice is not enough", "messages", "", []float64{7, 7, 8, 8}, false},
		{"few digits", "time", "s", []float64{1.25, 1.25, 1.25, 1.3}, false},
		{"many digits", "time", "s", []float64{1.2345678, 1.2345678, 1.2345678, 1.3}, true},
		{"many digits, one change taken back", "time", "s", []float64{1.2345678, 1.2345678, 1.2345678, 1.3456789, 1.2345678, 1.3456789}, true},
		{"the steps of a clock", "time", "s", []float64{1.2345678, 1.2345678, 1.2345678, 1.3456789, 1.2345678, 1.3456789, 1.2345678}, false},
		{"a count that comes back", "messages", "", []float64{7, 7, 7, 8, 7, 8, 7}, true},
		{"small, with few digits", "time", "s", []float64{1.5e-7, 1.5e-7, 1.5e-7}, false},
		{"large, with few digits", "time", "s", []float64{2e12, 2e12, 2e12}, false},
		{"no values", "messages", "", nil, false},
	} {
		if got := exact(tc.metric, tc.unit, tc.values); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// TestExactChanges: a value that differs is a change if the one before was there three times, or if it stays.
func TestExactChanges(t *testing.T) {
	for _, tc := range []struct {
		values   []float64
		smallest float64
		want     []int // first values after changes
	}{
		{[]float64{1, 1, 1, 1}, 0, nil}, {[]float64{1, 1, 1, 2}, 0, []int{3}}, {[]float64{1, 1, 2}, 0, nil}, {[]float64{1, 1, 2, 2}, 0, []int{2}},
		{[]float64{1, 1, 1, 2, 1, 1}, 0, []int{3, 4}}, {[]float64{1, 2, 3, 4}, 0, nil}, {[]float64{3, 3, 2, 2, 1, 1}, 0, []int{2, 4}},
		{[]float64{100, 100, 100, 114, 115, 115}, 0.15, []int{4}}, // 15 % are not below 15 %; each step alone is
		{[]float64{100, 100, 100, 125, 125}, 0.5, nil}, {[]float64{100, 200, 201, 201}, 0.05, []int{2}},
		{[]float64{100, 100, 100, 110, 110, 110, 100, 100}, 0.2, nil}, {nil, 0.1, nil},
	} {
		s := &Series{Values: tc.values}
		for i := range tc.values {
			s.At = append(s.At, 10*i) // commits in between have no measurement
		}
		s.exactChanges(tc.smallest)
		var got []int
		for _, c := range s.Changes {
			got = append(got, c.place)
			if tc.smallest == 0 && c.From != tc.values[c.place-1] || c.To != tc.values[c.place] ||
				c.Before != 10*(c.place-1) || c.After != 10*c.place || c.P != 0 {
				t.Errorf("%v: %+v", tc.values, c)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%v: changes at %v, want %v", tc.values, got, tc.want)
		}
	}
}

// TestFillRuns: what did not happen in some of the runs of a commit took no time there.
func TestFillRuns(t *testing.T) {
	d := dataset.New("p")
	d.Get(dataset.RootPath, dataset.RunTime).Add([]float64{4}, 10, 11, 12)
	d.Get("rare", "delay").Add([]float64{4}, 5)
	d.Get("rare", "messages").Add([]float64{4}, 5)
	d.Get("elsewhere", "delay").Add([]float64{8}, 5)
	s := indexed(&history.State{Runs: true, Data: d})
	for k, want := range map[key]string{{"rare", "delay"}: "[5 0 0]", {"rare", "messages"}: "[5]", {"elsewhere", "delay"}: "[5]"} {
		if got := fmt.Sprint(s.index[k].Points[0].Values); got != want {
			t.Errorf("%v: %s, want %s", k, got, want)
		}
	}
}
