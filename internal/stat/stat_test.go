package stat

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestQuantile(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		p      float64
		want   float64
	}{
		{[]float64{1}, 0.3, 1},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4}, 0.25, 1.75},
		{[]float64{1, 2, 3, 4}, 0.75, 3.25},
		{[]float64{1, 2, 3, 4, 5}, 0.5, 3},
		{[]float64{1, 2, 3, 4, 10}, 0.9, 7.6},
		{[]float64{1, 2, 3}, -1, 1},
		{[]float64{1, 2, 3}, 2, 3},
	} {
		if got := Quantile(tc.values, tc.p); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("Quantile(%v, %v) = %v, want %v", tc.values, tc.p, got, tc.want)
		}
	}
	if got := Quantile([]float64{}, 0.5); !math.IsNaN(got) {
		t.Errorf("Quantile of nothing = %v, want NaN", got)
	}
}

func TestQuantileInt(t *testing.T) {
	for _, tc := range []struct {
		values   []int64
		num, den int
		want     int64
	}{
		{nil, 1, 2, 0},
		{[]int64{7}, 1, 2, 7},
		{[]int64{1, 2}, 1, 2, 2}, // 1.5, half up
		{[]int64{1, 4}, 1, 4, 2}, // 1.75
		{[]int64{1, 2, 3, 4}, 1, 4, 2},
		{[]int64{10, 20, 30, 40}, 99, 100, 40}, // 39.7
		{[]int64{0, math.MaxInt64}, 1, 2, math.MaxInt64/2 + 1},
		{[]int64{0, math.MaxInt64}, 1, 1, math.MaxInt64},
	} {
		if got := QuantileInt(tc.values, tc.num, tc.den); got != tc.want {
			t.Errorf("QuantileInt(%v, %d/%d) = %d, want %d", tc.values, tc.num, tc.den, got, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		values := Sorted(rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 50).Draw(t, "values"))
		num := rapid.IntRange(0, 100).Draw(t, "num")
		got, want := float64(QuantileInt(values, num, 100)), Quantile(values, float64(num)/100)
		if math.Abs(got-want) > 0.51 { // rounding, and what floating point loses at 2^40
			t.Fatalf("QuantileInt = %v, Quantile = %v", got, want)
		}
	})
}

func TestMean(t *testing.T) {
	values := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	if got := Mean(values); got != 5 {
		t.Errorf("Mean = %v, want 5", got)
	}
	if got := Mean([]float64{1e100, 1, -1e100}); got != 1.0/3 {
		t.Errorf("Mean with cancellation = %v, want 1/3", got)
	}
	if !math.IsNaN(Mean([]int64{})) {
		t.Error("no values must give NaN")
	}
}

// Order has the places of all values, equal ones as they were.
func TestOrder(t *testing.T) {
	values := []float64{3, 1, 2, 1, 3}
	got := Order(len(values), func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	if want := []int{1, 3, 2, 0, 4}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if got := Order(0, nil); len(got) != 0 {
		t.Errorf("order of nothing: %v", got)
	}
}

// The distances of 1, 2, 3, 4, 100 from their median are 2, 1, 0, 1, 97: one value far away does not count.
func TestDeviation(t *testing.T) {
	if median, deviation := Deviation([]float64{100, 2, 1, 4, 3}); median != 3 || deviation != 1.4826 {
		t.Errorf("median %g, deviation %g, want 3 and 1.4826", median, deviation)
	}
}
