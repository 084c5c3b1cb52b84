package stat

import "testing"

// TestMedianInterval holds places that stand in tables (counted from 1 there).
func TestMedianInterval(t *testing.T) {
	for _, tc := range []struct{ n, low, high int }{
		{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {20, 6, 15}, {50, 18, 33}, {100, 40, 61}, {1000, 469, 532},
	} {
		low, high, ok := MedianInterval(tc.n)
		if !ok || low+1 != tc.low || high+1 != tc.high {
			t.Errorf("MedianInterval(%d) = places %d and %d, %v; want %d and %d", tc.n, low+1, high+1, ok, tc.low, tc.high)
		}
	}
	if _, _, ok := MedianInterval(5); ok {
		t.Error("5 values are enough")
	}
	// The approximation goes on where the sum ends.
	low, high, _ := MedianInterval(1001)
	if low+1 < 468 || low+1 > 470 || high != 1000-low {
		t.Errorf("MedianInterval(1001) = places %d and %d", low+1, high+1)
	}
}
