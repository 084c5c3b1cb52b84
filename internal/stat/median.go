package stat

import "math"

// exactMedian is the sample size up to which MedianInterval adds up the binomial distribution; beyond
// it the normal approximation is off by less than one place.
const exactMedian = 1000

// MedianInterval returns the places (counted from 0) of the two order statistics of a sample of n
// values between which the median of the population lies with a probability of at least 95 %,
// whatever the distribution: the number of values below the median is binomial with 1/2. It is not ok
// for fewer than 6 values, for which even the extremes are not enough.
func MedianInterval(n int) (low, high int, ok bool) {
	if n < 6 {
		return 0, 0, false
	}
	k := 0 // the largest number of values for which at most 2.5 % of the samples have fewer below
	if n <= exactMedian {
		logFact, _ := math.Lgamma(float64(n + 1))
		sum := 0.0
		for ; k <= n/2; k++ {
			a, _ := math.Lgamma(float64(k + 1))
			b, _ := math.Lgamma(float64(n - k + 1))
			sum += math.Exp(logFact - a - b - float64(n)*math.Ln2)
			if sum > 0.025 {
				break
			}
		}
	} else {
		k = int(math.Floor((float64(n) - 1.96*math.Sqrt(float64(n))) / 2))
	}
	return k - 1, n - k, true
}
