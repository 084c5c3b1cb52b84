package changes

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"slackline/model/dataset"
)

// TestSuspect: a last value far from those before is suspect, but not where values always scatter as much.
// Of few values none is like the others, so it takes more.
func TestSuspect(t *testing.T) {
	for _, tc := range []struct {
		name   string
		values []float64
		want   bool
	}{
		{"far off", []float64{10, 10.1, 9.9, 10, 10.1, 9.9, 15}, true},
		{"far below", []float64{10, 10.1, 9.9, 10, 10.1, 9.9, 5}, true},
		{"within the noise", []float64{10, 12, 8, 11, 9, 10, 12.5}, false},
		{"one of five", []float64{10, 10.1, 9.9, 10, 15}, true},
		{"one of four", []float64{10, 10.1, 9.9, 20}, true},
		{"one of three", []float64{10, 10.5, 100}, true},
		{"one of three below", []float64{10, 10.5, 1}, true},
		{"one of two", []float64{10, 100}, true},
		{"two of four", []float64{10, 10.1, 100, 99}, true},
		{"one of five, within the noise", []float64{10, 14, 9, 11, 16}, false},
		{"one of three, within the noise", []float64{10, 11, 13}, false},
		{"one of two, perhaps", []float64{10, 20}, false},
		{"one of three, back again", []float64{10, 100, 10}, false},
		{"few, and none at times", []float64{10, 0, 10, 100}, false},
		{"few after a change", []float64{1, 1, 1, 1, 1, 1, 10, 10.1, 9.9, 10, 15}, true},
		{"less than 2 %", []float64{10, 10, 10, 10, 10, 10, 10.1}, false},
		{"six after three", []float64{10, 10.1, 10.2, 20, 21, 20, 20, 21, 20}, true},
		{"six after one and an outlier", []float64{10, 20, 20, 21, 20, 20, 21, 20}, false},
	} {
		s := &Series{Values: tc.values}
		for i := range tc.values {
			s.At = append(s.At, i)
		}
		if tc.name == "few after a change" {
			s.Changes = []Change{{Kind: KindLevel, place: 6}}
		}
		s.suspect(0.01, 0.01)
		if got := len(s.Suspects) > 0; got != tc.want {
			t.Errorf("%s: suspect %+v", tc.name, s.Suspects)
		}
		last := len(tc.values) - 1
		switch tc.name {
		case "two of four":
			last--
		case "six after three":
			last -= 5
		}
		few := strings.Contains(tc.name, "of ") || strings.Contains(tc.name, "few") || strings.Contains(tc.name, "after")
		if len(s.Suspects) == 0 {
			continue
		}
		if c := s.Suspects[0]; len(s.Suspects) > 1 || c.After != last || c.From < 10 || c.From > 10.25 || few == math.IsNaN(c.P) ||
			few && c.P > 0.01 {
			t.Errorf("%s: %+v", tc.name, s.Suspects)
		}
	}
}

// What is suspect begins with the first of the values at the end that are far off on the same side; what is far from these is suspect, too.
func TestSuspectPlace(t *testing.T) {
	before := []float64{1, 1.01, 0.99, 1, 1.01, 0.99, 1, 1.01, 0.99, 1}
	for _, tc := range []struct {
		name string
		end  []float64
		want []int // first values of what is suspect
	}{
		{"the last value", []float64{3}, []int{10}},
		{"four values", []float64{3, 3.01, 2.99, 3}, []int{10}},
		{"an outlier on the other side", []float64{0.1, 3, 3.01}, []int{11}},
		{"back between", []float64{3, 1, 3.01}, []int{12}},
		{"far off once more", []float64{3, 3.01, 2.99, 30}, []int{10, 13}},
		{"an outlier that is over", []float64{3, 1}, nil},
	} {
		s := &Series{Values: slices.Concat(before, tc.end)}
		for i := range s.Values {
			s.At = append(s.At, i)
		}
		s.suspect(0.01, 0.01)
		var got []int
		for _, c := range s.Suspects {
			if got = append(got, c.After); c.Before != c.After-1 {
				t.Errorf("%s: %+v", tc.name, c)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: suspect from %v on, want %v", tc.name, got, tc.want)
		}
	}
}

// While values drift, one that is far from where the drift leads is suspect, and no other one.
func TestSuspectInDrift(t *testing.T) {
	for _, tc := range []struct {
		last float64
		want bool
	}{{0.1, false}, {1, true}, {-1, true}} {
		r := find(t, measuredAt(40, false, func(d *dataset.Dataset, r *rand.Rand, commit int) {
			d.Get("f", "time").Add([]float64{8}, 10-0.1*float64(commit)+0.05*r.NormFloat64()+shift(commit, 39, tc.last))
		}))
		s := r.Series[0]
		if c := one(t, s); c.Kind != KindDrift {
			t.Errorf("%+v", c)
		}
		if got := len(s.Suspects) == 1; got != tc.want || got && (s.Suspects[0].After != 39 || s.Suspects[0].Worse != (tc.last > 0)) {
			t.Errorf("%g from where the drift leads: suspect %+v, want %v", tc.last, s.Suspects, tc.want)
		}
	}
}

// Of two values one that is 4.1 times the other is suspect, at one point and at five: no slope is tested of a last value.
func TestSuspectAtPoints(t *testing.T) {
	for _, points := range []int{1, 5} {
		for ratio, want := range map[float64]bool{4: false, 4.2: true} {
			r := find(t, measuredAt(2, false, func(d *dataset.Dataset, _ *rand.Rand, commit int) {
				for i := range points {
					d.Get("f", "time").Add([]float64{float64(int(1) << i)}, 1+shift(commit, 1, ratio-1))
				}
			}))
			if got := len(r.Series[0].Suspects) > 0; got != want {
				t.Errorf("%d points, %g times: suspect %v, want %v", points, ratio, got, want)
			}
		}
	}
}
