package changes

import (
	"cmp"
	"math"

	"slackline/internal/stat"
)

// How a series changes.
const (
	KindLevel    = "level"    // the values
	KindDrift    = "drift"    // the values, little by little
	KindNoise    = "noise"    // how much they scatter
	KindModel    = "model"    // how they grow with a parameter
	KindAppeared = "appeared" // they were 0 or not there
	KindVanished = "vanished" // they are 0, or did not happen in runs
	KindMissing  = "missing"  // they were not measured any more
)

// split is a change in a list of values: those from at on differ from those before.
type split struct {
	at    int // first value after the change
	p     float64
	scale bool // the scatter differs, not the level
	drift bool // there is no place: the values change from first to last
	first int
	last  int // of a drift, inclusive
}

// smallest is the number of values from which on a list is tested: below, no order of them is as rare as 1 %.
const smallest = 6

// most is how many values at the end of a list are tested.
const most = 512

// margin is what is left of the level for a single test: the tables of null.go are random themselves.
const margin = 0.8

// segments finds all changes in a list of values, by splitting it where the evidence is largest and looking at both
// parts again. An unchanged list, whose values come in any order with the same probability, has a change with at most the
// given probability.
func segments(values []float64, level float64) []split {
	var found []split
	offset := max(len(values)-most, 0)
	var look func(from, to int)
	look = func(from, to int) {
		if to-from < smallest {
			return
		}
		scores := normalScores(values[from:to])
		if scores == nil {
			return
		}
		best := strongest(scores)
		if best.p > margin*level {
			return
		}
		if !best.scale {
			ranked := best.at
			best.at = locate(values[from:to], ranked)
			if drifts(scores, ranked) && !clearStep(values[from:to], best.at) {
				found = append(found, split{at: from + ranked, p: best.p, drift: true, first: from, last: to - 1})
				return
			}
		}
		best.at += from
		look(from, best.at)
		found = append(found, best)
		look(best.at, to)
	}
	look(offset, len(values))
	return found
}

// locate moves a change of the level to where two medians describe the values best: ranks say whether there is one, but
// not how far values are apart. It moves by at most five values.
func locate(values []float64, at int) int {
	const reach = 5
	best, least := at, math.Inf(1)
	for k := max(at-reach, shortest); k <= min(at+reach, len(values)-shortest); k++ {
		if d := distance(values[:k]) + distance(values[k:]); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the sum of the distances from the median.
func distance(values []float64) float64 {
	middle, sum := median(values), 0.0
	for _, v := range values {
		sum += math.Abs(v - middle)
	}
	return sum
}

// normalScores gives each value the quantile of the normal distribution that its rank has (van der Waerden): as
// efficient as the values themselves where these are normal, and deaf to how far an outlier is away. Equal values get the
// mean of their ranks. It is nil if all are equal.
func normalScores(values []float64) []float64 {
	n := len(values)
	order := stat.Order(n, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	if values[order[0]] == values[order[n-1]] {
		return nil
	}
	scores := make([]float64, n)
	for i := 0; i < n; {
		j := i + 1
		for j < n && values[order[j]] == values[order[i]] {
			j++
		}
		rank := float64(i+j+1) / 2 // mean of i+1 to j
		for ; i < j; i++ {
			scores[order[i]] = quantile(rank / float64(n+1))
		}
	}
	return scores
}

// quantile is that of the standard normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// A change has so many values on each side, one of the scatter so many: two large values in a row say little about that.
const (
	shortest      = 2
	shortestNoisy = 5
)

// statistics are the largest standardized differences between the scores before and after a place, between those inside
// and outside of a short interval, and between the sizes of the scores before and after a place, with the
// places. Scores must have the mean 0.
type statistics struct {
	level, bump, scale float64
	levelAt, scaleAt   int
	bumpFrom, bumpTo   int
}

// bumpLengths are the lengths of intervals that are looked at.
var bumpLengths = []int{3, 5, 8, 13, 21, 34, 55, 89, 144, 233}

// measure computes the statistics; sums must have room for one more than there are scores.
func measure(scores, sums []float64, m moments) statistics {
	n := len(scores)
	var s statistics
	sum, sizes := 0.0, 0.0
	for i, a := range scores {
		sum += a
		sizes += math.Abs(a) - m.size
		k := i + 1
		sums[k] = sum
		if k < shortest || k > n-shortest {
			continue
		}
		w := float64(n) / (float64(k) * float64(n-k))
		if v := sum * sum * w; v > s.level {
			s.level, s.levelAt = v, k
		}
		if v := sizes * sizes * w; v > s.scale && k >= shortestNoisy && k <= n-shortestNoisy {
			s.scale, s.scaleAt = v, k
		}
	}
	for _, length := range bumpLengths {
		if 2*length > n {
			break
		}
		w := float64(n) / (float64(length) * float64(n-length))
		for from := shortest; from+length <= n-shortest; from++ {
			d := sums[from+length] - sums[from]
			if v := d * d * w; v > s.bump {
				s.bump, s.bumpFrom, s.bumpTo = v, from, from+length
			}
		}
	}
	s.level /= m.variance
	s.bump /= m.variance
	s.scale /= m.sizeVariance
	return s
}

// moments are what statistics are standardized by.
type moments struct{ variance, size, sizeVariance float64 }

// momentsOf are those of scores with the mean 0.
func momentsOf(scores []float64) moments {
	var m moments
	n := float64(len(scores))
	for _, a := range scores {
		m.variance += a * a / n
		m.size += math.Abs(a) / n
	}
	m.sizeVariance = max(m.variance-m.size*m.size, tolerance*m.variance)
	return m
}

// centered takes the mean off scores: with ties it is not 0.
func centered(scores []float64) []float64 {
	mean := stat.Mean(scores)
	c := make([]float64, len(scores))
	for i, a := range scores {
		c[i] = a - mean
	}
	return c
}

// strongest is the split for which the evidence is largest, and how probable evidence as large as that is without a
// change: of any of the statistics, so that looking at several costs nothing in reliability.
func strongest(scores []float64) split {
	scores = centered(scores)
	s := measure(scores, make([]float64, len(scores)+1), momentsOf(scores))
	null := nullOf(len(scores))
	p := [...]float64{null.tail(null.level, s.level), null.tail(null.bump, s.bump), null.tail(null.scale, s.scale)}
	least := min(p[0], p[1], p[2])
	result := split{p: null.tailOfLeast(least)}
	switch {
	case p[0] == least:
		result.at = s.levelAt
	case p[1] == least:
		// The end of the interval that is nearer to the end of the list: what is left is looked at again.
		if result.at = s.bumpFrom; s.bumpFrom < len(scores)-s.bumpTo {
			result.at = s.bumpTo
		}
	default:
		result.at, result.scale = s.scaleAt, true
	}
	return result
}

// drifts reports whether a change is one that goes on all the time: a straight line explains the scores better than a
// step, and both parts grow, or shrink, for themselves.
func drifts(scores []float64, at int) bool {
	whole := slope(scores)
	left, right := slope(scores[:at]), slope(scores[at:])
	const significant = 1.64 // 5 %, of one side
	for _, s := range []struct {
		r float64
		n int
	}{{left, at}, {right, len(scores) - at}} {
		if s.r*whole < 0 || math.Abs(s.r)*math.Sqrt(float64(s.n-1)) < significant {
			return false
		}
	}
	n, k := float64(len(scores)), float64(at)
	sum, squares, mean := 0.0, 0.0, stat.Mean(scores)
	for i, a := range scores {
		squares += (a - mean) * (a - mean)
		if i < at {
			sum += a - mean
		}
	}
	return whole*whole > sum*sum*n/(k*(n-k))/squares
}

// clearly is the ratio of two distances from which on one description of values is taken for the better one. Of 1000 drifts in series of 20
// to 120 values at most 3 are taken for steps, of 1000 steps by six standard deviations in series of 20 values 1 for a drift.
const clearly = 0.9

// clearStep reports whether two medians describe values clearly better than a straight line: where all values after a step are larger
// than those before, ranks cannot tell, since they do not say how far values are apart. The line is that of Theil and Sen, which outliers
// do not move.
func clearStep(values []float64, at int) bool {
	return distance(values[:at])+distance(values[at:]) < clearly*distance(withoutTrend(values))
}

// withoutTrend are values less the line of Theil and Sen through them: the last one is as it was.
func withoutTrend(values []float64) []float64 {
	var slopes []float64
	for i := range values {
		for k := range i {
			slopes = append(slopes, (values[i]-values[k])/float64(i-k))
		}
	}
	slope := median(slopes)
	level := make([]float64, len(values))
	for i, v := range values {
		level[i] = v + slope*float64(len(values)-1-i)
	}
	return level
}

// slope is the correlation between the scores and their places, 0 if there is none.
func slope(scores []float64) float64 {
	n := float64(len(scores))
	mean := stat.Mean(scores)
	xy, yy := 0.0, 0.0
	for i, a := range scores {
		xy += (float64(i) - (n-1)/2) * (a - mean)
		yy += (a - mean) * (a - mean)
	}
	if yy == 0 {
		return 0
	}
	return xy / math.Sqrt(yy*n*(n*n-1)/12)
}
