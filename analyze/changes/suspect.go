package changes

import (
	"math"
	"slices"

	"slackline/internal/stat"
)

// suspicious is the distance from the median, in standard deviations as estimated from the median distance, from which
// on values at the end are suspect: so far, hardly any noise reaches.
const suspicious = 6

// smallestHistory is the number of values from which on a last one is compared with the median of the others.
const smallestHistory = 6

// suspect notes values at the end that are far from those since the last change: they may be outliers. It also notes that the values differ
// before and after a place where too few of them are on one side for a change of noisy values. What comes after such a place is looked
// at again: a place that was accepted does not hide another one.
func (s *Series) suspect(level, smallest float64) {
	from, values, drift := 0, s.Values, false
	if n := len(s.Changes); n > 0 {
		c := &s.Changes[n-1]
		from = c.place
		if drift = c.Kind == KindDrift; drift { // its values are taken to where it ends
			from = slices.Index(s.At, c.Before)
			values = slices.Concat(values[:from], withoutTrend(values[from:]))
		}
	}
	for {
		place, p := farOff(values[from:]), math.NaN()
		if place == 0 && !drift {
			place, p = fewOff(values[from:], level)
		}
		if place == 0 {
			return
		}
		place += from
		before, after := median(values[from:place]), median(values[place:])
		if distance := math.Abs(after - before); distance <= max(smallest, 0.02)*math.Abs(before) || !s.matters(distance) {
			return
		}
		s.Suspects = append(s.Suspects, s.change(KindLevel, place, before, after, p))
		from = place
	}
}

// farOff is the place of the first of the values at the end that are all far from the others on the same side; 0: there is none.
func farOff(values []float64) int {
	last := len(values) - 1
	if len(values) < smallestHistory {
		return 0
	}
	middle, deviation := stat.Deviation(values[:last])
	far := func(v float64) bool {
		return math.Abs(v-middle) > suspicious*deviation && (v > middle) == (values[last] > middle)
	}
	if !far(values[last]) {
		return 0
	}
	place := last
	for far(values[place-1]) { // half of the values before the last one are not
		place--
	}
	return place
}

// fewOff is the place at which values differ before and after it, with few on one side, and the probability of that; 0: there is none.
func fewOff(values []float64, level float64) (place int, p float64) {
	if slices.ContainsFunc(values, func(v float64) bool { return v <= 0 }) {
		return 0, 1
	}
	if place, p = few(values); p > level {
		return 0, p
	}
	return place, p
}
