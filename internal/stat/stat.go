// Package stat describes samples: quantiles, means, box plots.
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

// Number is a type that can be summarised.
type Number interface {
	~int | ~int32 | ~int64 | ~uint64 | ~float64
}

// Sorted returns a sorted copy of the values.
func Sorted[T cmp.Ordered](values []T) []T {
	s := slices.Clone(values)
	slices.Sort(s)
	return s
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

// SD returns the standard deviation of a sample, with n-1 in the denominator. It is NaN for fewer
// than two values.
func SD[T Number](values []T) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	mean := Mean(values)
	sum := 0.0
	for _, v := range values {
		d := float64(v) - mean
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// Box are the numbers of a box plot after Tukey: the quartiles (type 7), the whiskers, which end at
// the outermost values within 1.5 times the distance of the quartiles from the box, and what lies
// beyond.
type Box struct {
	N                         int
	Min, Q1, Median, Q3, Max  float64
	LowWhisker, HighWhisker   float64
	LowOutliers, HighOutliers int // number of values beyond the whiskers
}

// BoxOf returns the box plot of values that are sorted. All numbers are NaN for no values.
func BoxOf[T Number](sorted []T) Box {
	b := Box{
		N:      len(sorted),
		Min:    Quantile(sorted, 0),
		Q1:     Quantile(sorted, 0.25),
		Median: Quantile(sorted, 0.5),
		Q3:     Quantile(sorted, 0.75),
		Max:    Quantile(sorted, 1),
	}
	b.LowWhisker, b.HighWhisker = b.Min, b.Max
	reach := 1.5 * (b.Q3 - b.Q1)
	for i, v := range sorted {
		if float64(v) >= b.Q1-reach {
			b.LowOutliers, b.LowWhisker = i, float64(v)
			break
		}
	}
	for i := range sorted {
		if v := float64(sorted[len(sorted)-1-i]); v <= b.Q3+reach {
			b.HighOutliers, b.HighWhisker = i, v
			break
		}
	}
	return b
}
