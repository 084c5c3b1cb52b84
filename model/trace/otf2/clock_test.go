package otf2

import (
	"math"
	"testing"
)

// Ticks become picoseconds, rounded down, and back.
func TestClock(t *testing.T) {
	for _, tc := range []struct {
		resolution, base, ticks uint64
		want                    int64
		fits                    bool
	}{
		{1e9, 100, 105, 5000, true},
		{1e9, 100, 99, -1000, true},
		{3, 0, 1, 333_333_333_333, true},
		{3, 2, 1, -333_333_333_334, true},
		{3_000_000_000, 0, 7, 2333, true},
		{1, 0, 1 << 40, 0, false},
		{7, 0, 1 << 62, 0, false},
		{1e12, 0, math.MaxInt64, math.MaxInt64, true},
	} {
		c := NewClock(tc.resolution, tc.base)
		got, fits := c.Time(tc.ticks)
		if fits != tc.fits || fits && got != tc.want {
			t.Errorf("tick %d of %d per second since %d = %d ps, %v; want %d, %v", tc.ticks, tc.resolution, tc.base, got, fits, tc.want, tc.fits)
		}
		if !fits {
			continue
		}
		if back, ok := c.Ticks(got); !ok || uint64(back) != tc.ticks-tc.base {
			t.Errorf("%d ps at %d per second = %d ticks, %v; want %d", got, tc.resolution, back, ok, int64(tc.ticks-tc.base))
		}
	}
	c := NewClock(1e9, 0)
	if _, ok := c.Ticks(1500); ok {
		t.Error("half a tick is one")
	}
	c = NewClock(3, 0)
	if _, ok := c.Ticks(333_333_333_332); ok {
		t.Error("a time before the tick is one")
	}
}
