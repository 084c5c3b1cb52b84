package advise

import (
	"testing"

	"slackline/model/unit"
)

func TestHalfSpread(t *testing.T) {
	for _, tc := range []struct {
		times []unit.Duration
		want  float64
	}{{nil, 0}, {[]unit.Duration{7}, 0}, {[]unit.Duration{0, 0}, 0}, {[]unit.Duration{30, 10, 20}, 0.5}, {[]unit.Duration{0, 4}, 1}} {
		if got := halfSpread(tc.times); got != tc.want {
			t.Errorf("%v = %g, want %g", tc.times, got, tc.want)
		}
	}
}
