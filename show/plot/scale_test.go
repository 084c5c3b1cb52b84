package plot

import (
	"math"
	"strings"
	"testing"
)

// TestPadLinear: some air around the data; the axis starts at 0 where little is lost by it, and does not go below 0 for data that do not.
func TestPadLinear(t *testing.T) {
	for _, tc := range []struct {
		name     string
		lo, hi   float64
		air      float64
		fromZero bool
		want     interval
	}{
		{"half of it is free", 5, 10, 0.1, false, interval{0, 11}},
		{"less is free", 6, 10, 0.1, false, interval{5.6, 10.4}},
		{"no air", 5, 10, 0, false, interval{5, 10}},
		{"from zero, no air", 6, 10, 0, true, interval{0, 10}},
		{"from zero", 8, 10, 0.1, true, interval{0, 11}},
		{"below zero", -4, 10, 0.5, false, interval{-11, 17}},
		{"negative, from zero", -10, -8, 0.1, true, interval{-11, 0}},
		{"all the same", 7, 7, 0.1, false, interval{7, 7}},
		{"zero", 0, 0, 0.1, false, interval{0, 0}},
		{"not below zero", 5.1, 10, 2, false, interval{0, 19.8}},
	} {
		got := padLinear(interval{tc.lo, tc.hi}, tc.air, tc.fromZero)
		if math.Abs(got.lo-tc.want.lo) > 1e-12 || math.Abs(got.hi-tc.want.hi) > 1e-12 {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestWiden: a range without width becomes one in which ticks differ, around the same middle.
func TestWiden(t *testing.T) {
	for _, tc := range []struct {
		lo, hi float64
		scale  Scale
		want   interval
	}{
		{7, 7, Linear, interval{6.65, 7.35}}, {0, 0, Linear, interval{-1, 1}}, {-7, -7, Linear, interval{-7.35, -6.65}},
		{1, 2, Linear, interval{1, 2}},
		{8, 8, Log2, interval{4, 16}}, {1, 1.01, Log10, interval{math.Sqrt(1.01) / 2, math.Sqrt(1.01) * 2}}, {1, 1.03, Log10, interval{1, 1.03}},
	} {
		if got := widen(interval{tc.lo, tc.hi}, tc.scale); math.Abs(got.lo-tc.want.lo) > 1e-12 || math.Abs(got.hi-tc.want.hi) > 1e-12 {
			t.Errorf("%g to %g: %v, want %v", tc.lo, tc.hi, got, tc.want)
		}
	}
}

// TestAt: where values lie on the canvas. What is outside of a fixed range stays within reach, also on logarithmic axes.
func TestAt(t *testing.T) {
	linear := span{interval: interval{10, 20}, from: 100, to: 300}
	log := span{Axis: Axis{Scale: Log10}, interval: interval{1, 100}, from: 400, to: 0} // upwards
	for _, tc := range []struct {
		s       span
		v, want float64
	}{
		{linear, 10, 100}, {linear, 20, 300}, {linear, 15, 200}, {linear, 5, 0}, {linear, 1e300, farAway}, {linear, -1e300, -farAway},
		{log, 1, 400}, {log, 10, 200}, {log, 100, 0}, {log, 1000, -200}, {log, 0, farAway}, {log, -5, farAway}, {log, math.Inf(1), -farAway},
	} {
		if got := tc.s.at(tc.v); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%g is at %g, want %g", tc.v, got, tc.want)
		}
	}
}

// TestResolveRefuses: a range that cannot be drawn is an error that names the axis.
func TestResolveRefuses(t *testing.T) {
	for want, tc := range map[string]struct {
		axis Axis
		data interval
	}{
		"has no values":           {Axis{Label: "x"}, emptyInterval()},
		"is not finite":           {Axis{Label: "x"}, interval{0, math.Inf(1)}},
		"0 has no logarithm":      {Axis{Label: "x", Scale: Log10}, interval{0, 5}},
		"-3 has no logarithm":     {Axis{Label: "x", Scale: Log2, Min: -3, Max: 5}, interval{1, 5}},
		"the range NaN to 1":      {Axis{Label: "x"}, interval{math.NaN(), 1}},
		`axis "x": the range -1.`: {Axis{Label: "x"}, interval{-1.7e308, 1.7e308}},
	} {
		if _, err := tc.axis.resolve(tc.data, 0.05); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%v: %v, want %q", tc.data, err, want)
		}
	}
}

// TestHugeRanges: ranges up to the largest numbers have a finite range and a few ticks.
func TestHugeRanges(t *testing.T) {
	for _, tc := range []struct {
		axis   Axis
		lo, hi float64
	}{
		{Axis{}, 0, 1e308}, {Axis{}, 0, math.MaxFloat64}, {Axis{}, -math.MaxFloat64 / 2, math.MaxFloat64 / 2},
		{Axis{}, 0, 1e-300}, {Axis{}, 0, 5e-324},
		{Axis{Scale: Log10}, 1e-300, 1e300}, {Axis{Scale: Log10}, 5e-324, math.MaxFloat64}, {Axis{Scale: Log2}, 1e-200, 1e200},
		{Axis{Quantity: Time}, 0, math.MaxFloat64}, {Axis{Quantity: Bytes, Scale: Log2}, 1, math.MaxFloat64},
	} {
		s, err := tc.axis.resolve(interval{tc.lo, tc.hi}, 0.05)
		if err != nil {
			continue // which says so
		}
		if math.IsInf(s.hi-s.lo, 0) || !(s.lo < s.hi) || s.Scale != Linear && s.lo <= 0 {
			t.Errorf("%+v, %g to %g: the range is %g to %g", tc.axis, tc.lo, tc.hi, s.lo, s.hi)
			continue
		}
		if ticks, _ := s.ticks(400); len(ticks) < 2 || len(ticks) > 12 {
			t.Errorf("%+v, %g to %g: %d ticks", tc.axis, tc.lo, tc.hi, len(ticks))
		}
	}
}
