package whatif

import (
	"math/bits"

	"slackline/internal/stat"
	"slackline/model/unit"
)

// Distribution describes the replicas of one process count. Times are exact, quantiles (type 7) and
// the mean rounded half up to picoseconds.
type Distribution struct {
	Ranks     int           `json:"ranks"`
	Replicas  int           `json:"replicas"`
	Noiseless unit.Duration `json:"noiseless_ns"`
	Min       unit.Duration `json:"min_ns"`
	Q1        unit.Duration `json:"q1_ns"`
	Median    unit.Duration `json:"median_ns"`
	Q3        unit.Duration `json:"q3_ns"`
	Max       unit.Duration `json:"max_ns"`
	Mean      unit.Duration `json:"mean_ns"`
	Slowdown  Slowdown      `json:"slowdown"`
	// MedianInterval holds the median of all possible replicas with 95 % confidence, whatever their
	// distribution; nil: there are fewer than 6 replicas.
	MedianInterval *[2]unit.Duration `json:"median_ci_ns,omitempty"`
	// Whiskers after Tukey: the outermost replicas within 1.5 times the distance of the quartiles
	// from the box.
	Whiskers [2]unit.Duration `json:"whiskers_ns"`
	Outliers []unit.Duration  `json:"outliers_ns"` // beyond the whiskers, in rising order
}

// Slowdown are noisy times over the noiseless one: 1 for none.
type Slowdown struct {
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// Distribution describes the samples of a point, of which there must be one or more.
func (p *Point) Distribution() Distribution {
	sorted := stat.Sorted(p.Samples)
	n := len(sorted)
	d := Distribution{
		Ranks: p.Ranks, Replicas: n, Noiseless: p.Noiseless,
		Min: sorted[0], Q1: stat.QuantileInt(sorted, 1, 4), Median: stat.QuantileInt(sorted, 1, 2),
		Q3: stat.QuantileInt(sorted, 3, 4), Max: sorted[n-1], Mean: mean(sorted),
	}
	reach := 3 * (d.Q3 - d.Q1) / 2
	d.Whiskers = [2]unit.Duration{d.Q1, d.Q3}
	for _, v := range sorted {
		// As differences, which cannot overflow.
		if d.Q1-v > reach || v-d.Q3 > reach {
			d.Outliers = append(d.Outliers, v)
			continue
		}
		d.Whiskers = [2]unit.Duration{min(d.Whiskers[0], v), max(d.Whiskers[1], v)}
	}
	if low, high, ok := stat.MedianInterval(n); ok {
		d.MedianInterval = &[2]unit.Duration{sorted[low], sorted[high]}
	}
	d.Slowdown = Slowdown{slowdown(d.Median, d.Noiseless), slowdown(d.Max, d.Noiseless)}
	return d
}

// MedianSlowdowns is the interval of the median as slowdowns; not ok if there is none.
func (d *Distribution) MedianSlowdowns() (low, high float64, ok bool) {
	if d.MedianInterval == nil {
		return 0, 0, false
	}
	return slowdown(d.MedianInterval[0], d.Noiseless), slowdown(d.MedianInterval[1], d.Noiseless), true
}

// slowdown is the noisy time over the noiseless one. A program that takes no time has no work that
// noise could stretch.
func slowdown(noisy, noiseless unit.Duration) float64 {
	if noiseless == 0 {
		return 1
	}
	return float64(noisy) / float64(noiseless)
}

// mean is the mean of times, rounded half up.
func mean(times []unit.Duration) unit.Duration {
	var hi, lo, carry uint64
	for _, t := range times {
		lo, carry = bits.Add64(lo, uint64(t), 0)
		hi += carry
	}
	n := uint64(len(times))
	quotient, rest := bits.Div64(hi, lo, n) // the mean of 63 bits fits
	if rest >= n-rest {
		quotient++
	}
	return unit.Duration(quotient)
}
