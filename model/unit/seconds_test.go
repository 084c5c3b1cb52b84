package unit

import (
	"math"
	"testing"
)

func TestSeconds(t *testing.T) {
	for _, tc := range []struct {
		d    Duration
		want string
	}{
		{0, "0"}, {1, "0.000000000001"}, {-1, "-0.000000000001"}, {Second, "1"}, {3 * Millisecond / 2, "0.0015"}, {-90 * Second, "-90"},
		{math.MaxInt64, "9223372.036854775807"}, {math.MinInt64, "-9223372.036854775808"},
	} {
		if got := tc.d.Seconds(); got != tc.want {
			t.Errorf("%d ps = %s, want %s", int64(tc.d), got, tc.want)
		}
	}
}
