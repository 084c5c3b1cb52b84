package changes

import (
	"math"
	"slices"

	"slackline/internal/stat"
)

// With fewer values than smallestHistory no order of them is rare, and the scatter of one or two says little. So the noise is estimated
// from the values and from what is assumed of series, as if assumedValues more had shown a standard deviation of assumedNoise: the
// variance has a scaled inverse chi-squared distribution before anything is measured. The test is then exact over such series,
// and one of less noise has fewer false alarms.
const (
	assumedNoise  = 0.1
	assumedValues = 2
)

// few is the place at which the logarithms of some values most probably change, and the probability of values that differ as much on both
// sides of any place, without a change: Student's t of the two sides, times the number of places. From smallestHistory values on, it looks
// only where one side has too few values for their order to be rare, and leaves out the one of them that is farthest from the other
// side, which may be an outlier.
func few(values []float64) (at int, p float64) {
	n := len(values)
	logs := make([]float64, n)
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	p = 1
	for k := 1; k < n; k++ {
		before, after := logs[:k], logs[k:]
		if n >= smallestHistory {
			switch side := min(k, n-k); {
			case side < shortest || side >= smallestHistory:
				continue
			case k == side:
				before = withoutFarthest(before, stat.Mean(after))
			default:
				after = withoutFarthest(after, stat.Mean(before))
			}
		}
		if q := float64(n-1) * different(before, after); q < p {
			at, p = k, q
		}
	}
	return at, p
}

// withoutFarthest are the values but that one which is farthest from another value.
func withoutFarthest(values []float64, from float64) []float64 {
	farthest := 0
	for i, v := range values {
		if math.Abs(v-from) > math.Abs(values[farthest]-from) {
			farthest = i
		}
	}
	return slices.Delete(slices.Clone(values), farthest, farthest+1)
}

// different is the probability of means that differ as much, without a change.
func different(before, after []float64) float64 {
	m, first := meanAndSquares(before)
	n, second := meanAndSquares(after)
	freedom := assumedValues + len(before) + len(after) - 2
	variance := (assumedValues*assumedNoise*assumedNoise + first + second) / float64(freedom)
	return beyond((n-m)/math.Sqrt(variance*(1/float64(len(before))+1/float64(len(after)))), freedom)
}

// meanAndSquares are the mean and the sum of the squared distances from it.
func meanAndSquares(values []float64) (mean, squares float64) {
	mean = stat.Mean(values)
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, squares
}

// beyond is the probability of at least |t|, of either sign, in Student's distribution (Abramowitz and Stegun, 26.7.3 and 26.7.4).
func beyond(t float64, freedom int) float64 {
	angle := math.Atan(math.Abs(t) / math.Sqrt(float64(freedom)))
	sin, cos := math.Sincos(angle)
	sum, term := 0.0, 1.0
	if freedom%2 == 1 {
		term = cos
	}
	for k := 2 + freedom%2; k <= freedom; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if freedom%2 == 1 {
		return max(1-2/math.Pi*(angle+sin*sum), 0)
	}
	return max(1-sin*sum, 0)
}
