// Package stat describes samples: quantiles, means, deviations, the confidence interval of the median, rank sums.
//
// Quantiles follow one convention throughout, type 7 of Hyndman and Fan (1996), the default of R and
// of most tools: of n sorted values the quantile p lies at place (n-1)p, counted from 0, and between
// two values by linear interpolation. The package assumes nothing about the distribution.
package stat

import (
	"cmp"
	"math"
	"slices"
)

// Number is a type that can be summarized.
type Number interface {
	~int | ~int32 | ~int64 | ~uint64 | ~float64
}

// Sorted returns a sorted copy of the values.
func Sorted[T cmp.Ordered](values []T) []T {
	s := slices.Clone(values)
	slices.Sort(s)
	return s
}

// Order returns the places 0 .. n-1 in the order of what is there; equals keep theirs.
func Order(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}

// Quantile returns the quantile p (type 7) of values that are sorted. p is cut to [0, 1]; NaN is
// returned for no values.
func Quantile[T Number](sorted []T, p float64) float64 {
	n := len(sorted)
	if n == 0 || math.IsNaN(p) {
		return math.NaN()
	}
	place := min(max(p, 0), 1) * float64(n-1)
	i := int(place)
	if i >= n-1 {
		return float64(sorted[n-1])
	}
	// From the lower value up, so that equal values give themselves.
	return float64(sorted[i]) + float64((place-float64(i))*(float64(sorted[i+1])-float64(sorted[i])))
}

// QuantileInt returns the quantile num/den (type 7) of sorted integers, rounded half up to an
// integer, without floating point. 0 is returned for no values; num/den must be in [0, 1], and the
// values must be 0 or more.
func QuantileInt[T ~int64](sorted []T, num, den int) T {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	place := int64(n-1) * int64(num)
	i, rest := int(place/int64(den)), place%int64(den)
	if rest == 0 || i+1 >= n {
		return sorted[min(i, n-1)]
	}
	// a + (b-a)*rest/den with the difference split, so that nothing overflows.
	a, difference := int64(sorted[i]), int64(sorted[i+1]-sorted[i])
	d := int64(den)
	whole := difference / d * rest
	part := (2*(difference%d)*rest + d) / (2 * d)
	return T(a + whole + part)
}

// Mean returns the arithmetic mean, or NaN for no values. It sums with compensation (Neumaier), so
// the order of the values hardly matters.
func Mean[T Number](values []T) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sum, lost := 0.0, 0.0
	for _, v := range values {
		x := float64(v)
		next := sum + x
		if math.Abs(sum) >= math.Abs(x) {
			lost += sum - next + x
		} else {
			lost += x - next + sum
		}
		sum = next
	}
	return (sum + lost) / float64(len(values))
}

// PerDeviation times the median distance from the median estimates the standard deviation of a normal distribution, whatever a few
// values far away are.
const PerDeviation = 1.4826

// Deviation returns the median of values and the standard deviation that PerDeviation estimates.
func Deviation(values []float64) (median, deviation float64) {
	median = Quantile(Sorted(values), 0.5)
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - median)
	}
	return median, PerDeviation * Quantile(Sorted(distances), 0.5)
}
