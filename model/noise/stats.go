package noise

import (
	"cmp"
	"slices"

	"slackline/internal/stat"
	"slackline/model/unit"
)

// Statistics describe a trace. Detours that overlap or touch count as one interval of noise, as the
// program sees it.
type Statistics struct {
	Period unit.Duration
	Noise  unit.Duration // time without CPU per period
	// OverheadPercent is the share of time without CPU, Noise over Period, in percent: the serial
	// overhead of the noise paper.
	OverheadPercent float64
	Count           int     // intervals of noise per period
	RatePerSecond   float64 // intervals of noise per second

	// Quantiles of the lengths (type 7, rounded half up to picoseconds).
	Min, Q1, Median, Q3, P99, Max unit.Duration
	Mean                          float64 // in picoseconds

	Largest []Share        // what the longest intervals carry
	Sources []SourceAmount // in the order of the labels
}

// Share describes what part of the noise the longest intervals carry.
type Share struct {
	Percent      float64       `json:"percent"`   // of the intervals, the longest ones
	Count        int           `json:"stretches"` // how many these are, rounded up
	AtLeast      unit.Duration `json:"at_least_ns"`
	NoisePercent float64       `json:"noise_percent"` // their part of the noise
}

// SourceAmount is the noise of one source.
type SourceAmount struct {
	Label           string
	Count           int           // detours per period, as given
	Noise           unit.Duration // per period, see BySource
	OverheadPercent float64       // of the time
	NoisePercent    float64       // of the noise
	Longest         unit.Duration // of its detours, as given
}

// largestShares are the shares of the longest intervals that are reported, in percent.
var largestShares = []float64{0.1, 1, 10}

// Stats returns the statistics of a trace. A trace without noise has only a period and sources.
func Stats(d *Detours) Statistics {
	s := Statistics{Period: unit.Duration(d.period), Noise: unit.Duration(d.period - d.free)}
	s.OverheadPercent = percent(int64(s.Noise), d.period)
	s.Sources = d.sourceAmounts()
	busy := d.Intervals()
	if len(busy) == 0 {
		return s
	}
	lengths := make([]unit.Duration, len(busy))
	for i, b := range busy {
		lengths[i] = unit.Duration(b.Length)
	}
	slices.Sort(lengths)
	s.Count = len(lengths)
	s.RatePerSecond = float64(s.Count) * 1e12 / float64(d.period)
	s.Min, s.Max = lengths[0], lengths[s.Count-1]
	s.Q1 = stat.QuantileInt(lengths, 1, 4)
	s.Median = stat.QuantileInt(lengths, 1, 2)
	s.Q3 = stat.QuantileInt(lengths, 3, 4)
	s.P99 = stat.QuantileInt(lengths, 99, 100)
	s.Mean = float64(s.Noise) / float64(s.Count)
	for _, p := range largestShares {
		share := Share{Percent: p, Count: int((float64(s.Count)*p + 99.999) / 100)}
		share.Count = min(max(share.Count, 1), s.Count)
		sum := int64(0)
		for _, l := range lengths[s.Count-share.Count:] {
			sum += int64(l)
		}
		share.NoisePercent = percent(sum, int64(s.Noise))
		share.AtLeast = lengths[s.Count-share.Count]
		s.Largest = append(s.Largest, share)
	}
	return s
}

func (t *Detours) sourceAmounts() []SourceAmount {
	noise := make([]int64, len(t.labels))
	t.bySource(0, t.period, noise)
	list := make([]SourceAmount, len(t.labels))
	for l, label := range t.labels {
		list[l] = SourceAmount{
			Label:           label,
			Noise:           unit.Duration(noise[l]),
			OverheadPercent: percent(noise[l], t.period),
			NoisePercent:    percent(noise[l], t.period-t.free),
		}
	}
	for i := range t.list {
		d, l := t.At(i)
		list[l].Count++
		list[l].Longest = max(list[l].Longest, unit.Duration(d.Length))
	}
	return list
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * (float64(part) / float64(whole))
}

// Points returns the detours as given, for a scatter plot of lengths over starts, by start: at most
// most of them. If there are more, the longest half of the allowance is kept, and of the others
// every k-th in time.
func (t *Detours) Points(most int) []Detour {
	if len(t.list) <= most {
		return slices.Clone(t.list)
	}
	if most <= 0 {
		return nil
	}
	byLength := stat.Order(len(t.list), func(a, b int) int { return cmp.Compare(t.list[b].Length, t.list[a].Length) })
	longest := (most + 1) / 2
	keep := make([]bool, len(t.list))
	for _, i := range byLength[:longest] {
		keep[i] = true
	}
	others, left := most-longest, len(t.list)-longest
	points := make([]Detour, 0, most)
	seen := 0 // of the others
	for i, d := range t.list {
		if keep[i] {
			points = append(points, d)
			continue
		}
		// Taken when the running share of what is allowed passes a whole number.
		if (seen+1)*others/left > seen*others/left {
			points = append(points, d)
		}
		seen++
	}
	return points
}
