package flags

import (
	"slices"
	"testing"
)

func TestCount(t *testing.T) {
	for text, want := range map[string]Count{"1": 1, "2^20": 1 << 20, "1024": 1024} {
		var n Count
		if err := n.Set(text); err != nil || n != want {
			t.Errorf("Set(%q) = %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "1,2", "1..3", "x", ""} {
		var n Count
		if err := n.Set(text); err == nil {
			t.Errorf("Set(%q) = %d, want an error", text, n)
		}
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string][]int{"4": {4}, "2^1..2^3": {2, 4, 8}, "8,2,8": {8, 2}, "3..5": {3, 4, 5}} {
		var n Counts
		if err := n.Set(text); err != nil || !slices.Equal(n, want) || n.First() != want[0] {
			t.Errorf("Set(%q) = %v, %v; want %v", text, n, err, want)
		}
	}
	for _, text := range []string{"0", "1,0", "-1", "x", "", "1..100000"} {
		var n Counts
		if err := n.Set(text); err == nil {
			t.Errorf("Set(%q) = %v, want an error", text, n)
		}
	}
}
