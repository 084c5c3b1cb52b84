package otf2

import (
	"math"
	"testing"
)

// TestMetricValues: values become whole numbers of the unit; what is below 0, or no number, is 0, and what is too large the largest.
func TestMetricValues(t *testing.T) {
	f32 := func(x float32) uint64 { return uint64(math.Float32bits(x)) }
	for _, c := range []struct {
		name     string
		kind     uint8
		bits     uint64
		base     uint8
		exponent int64
		want     uint64
	}{
		{"unsigned", TypeU64, math.MaxUint64, 0, 0, math.MaxUint64},
		{"signed", typeI64, 5, 0, 0, 5},
		{"below 0", typeI64, ^uint64(4), 0, 0, 0},
		{"double", typeDouble, math.Float64bits(2.5), 0, 0, 3},
		{"negative double", typeDouble, math.Float64bits(-2.5), 0, 0, 0},
		{"no number", typeDouble, math.Float64bits(math.NaN()), 0, 0, 0},
		{"infinite", typeDouble, math.Float64bits(math.Inf(1)), 0, 0, 1 << 63},
		{"float", typeFloat, f32(7.25), 0, 0, 7},
		{"times 2^10", TypeU64, 3, 0, 10, 3072},
		{"times 10^3", TypeU64, 3, BaseDecimal, 3, 3000},
		{"times 10^-3", TypeU64, 2500, BaseDecimal, -3, 3}, // 2.5, rounded away from 0
		{"signed, times 10^3", typeI64, 4, BaseDecimal, 3, 4000},
		{"far too large", TypeU64, 1, BaseDecimal, 400, 1 << 63},
		{"far too small", TypeU64, 1, BaseDecimal, -400, 0},
	} {
		m := &Metric{Base: c.base, Exponent: c.exponent}
		if got := m.Value(c.kind, c.bits); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestMetricModes(t *testing.T) {
	for mode, want := range map[uint8][2]bool{
		0: {true, false}, 16: {true, false}, 32: {true, false}, // what was counted from the start, up to a point, until the next, ...
		1: {false, false}, 17: {false, false}, // absolute values
		2: {true, true}, 34: {true, true}, // since the value before
	} {
		m := &Metric{Mode: mode}
		if got := [2]bool{m.Counts(), m.Relative()}; got != want {
			t.Errorf("mode %d: counts, relative = %v, want %v", mode, got, want)
		}
	}
	for occurrence, want := range map[uint8]bool{0: true, 1: true, asynchronous: false} {
		if got := (&MetricClass{Occurrence: occurrence}).Synchronous(); got != want {
			t.Errorf("occurrence %d is synchronous: %t", occurrence, got)
		}
	}
}
