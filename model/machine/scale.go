package machine

import (
	"fmt"
	"math"
	"slices"

	"slackline/model/unit"
)

// ScaleNetwork returns a copy of the machine whose network is faster by a factor: L, g and G of every
// class divided by it, rounded half up. What CPUs do (o, O, gamma) stays as it is, so does S.
func ScaleNetwork(m *Machine, factor float64) (*Machine, error) {
	if !(factor > 0) || math.IsInf(factor, 0) {
		return nil, fmt.Errorf("a network cannot be %g times as fast; give a number above 0", factor)
	}
	scaled := *m
	for c := range scaled.Classes {
		p := &scaled.Classes[c]
		p.Overhead, p.PerByte = slices.Clone(p.Overhead), slices.Clone(p.PerByte)
		var ok [3]bool
		p.Latency, ok[0] = divided(p.Latency, factor)
		p.Gap, ok[1] = divided(p.Gap, factor)
		ok[2] = true
		for i := range p.PerByte {
			v, fits := divided(p.PerByte[i].Value, factor)
			p.PerByte[i].Value = v
			ok[2] = ok[2] && fits
		}
		if slices.Contains(ok[:], false) {
			return nil, fmt.Errorf("a network %g times as fast has parameters that are too large", factor)
		}
	}
	return &scaled, nil
}

// divided divides a cost. It reports whether the result is within a quarter of the range, so that
// sums of a few still fit.
func divided[T unit.Duration | unit.PerByte](value T, by float64) (T, bool) {
	x := math.Floor(float64(value)/by + 0.5)
	if x > math.MaxInt64/4 {
		return 0, false
	}
	return T(x), true
}
