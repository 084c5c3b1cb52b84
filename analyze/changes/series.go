package changes

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/stat"
	"slackline/model/dataset"
	"slackline/model/history"
)

// key names a series.
type key struct{ path, metric string }

// collected is a series of a history before its values are chosen.
type collected struct {
	key
	unit       string
	parameters []string
	in         []int // states that have it
}

// state is what was measured at a commit, by series.
type state struct {
	*history.State
	index map[key]*dataset.Series
}

func indexed(s *history.State) *state {
	index := make(map[key]*dataset.Series, len(s.Data.Series))
	for _, d := range s.Data.Series {
		index[key{d.CallPath, d.Metric}] = d
	}
	if whole := index[key{dataset.RootPath, dataset.RunTime}]; s.Runs && whole != nil {
		fillRuns(s.Data, whole)
	}
	return &state{s, index}
}

// fillRuns adds a 0 for each run in which something did not happen.
func fillRuns(d *dataset.Dataset, whole *dataset.Series) {
	for _, s := range d.Series {
		if !slices.Contains(partsOfRun, s.Metric) {
			continue
		}
		for i := range s.Points {
			p := &s.Points[i]
			if all := pointAt(whole, p.At); all != nil {
				for len(p.Values) < len(all.Values) {
					p.Values = append(p.Values, 0)
				}
			}
		}
	}
}

// partsOfRun are the metrics of runs that are parts of the run time: what a run does not have of them did not happen.
var partsOfRun = []string{"time", "waiting", "delay"}

// collect lists the series of a history in the order of their first measurements.
func collect(states []*state) []*collected {
	type space struct {
		key
		unit, parameters string
	}
	var list []*collected
	index := map[space]*collected{}
	for i, state := range states {
		parameters := strings.Join(state.Data.Parameters, "\x00")
		for _, s := range state.Data.Series {
			k := key{s.CallPath, s.Metric}
			at := space{k, s.Unit, parameters}
			c := index[at]
			if c == nil {
				c = &collected{key: k, unit: s.Unit, parameters: state.Data.Parameters}
				index[at] = c
				list = append(list, c)
			}
			c.in = append(c.in, i)
		}
	}
	return list
}

// missing is what the last commit lacks of a series; nil: nothing. A run at the same point lacks what did not happen in it.
func (c *collected) missing(states []*state) *Missing {
	type place struct {
		at   []float64
		last int // commit that has it
	}
	var places []*place
	index := map[string]*place{}
	for _, i := range c.in {
		for _, p := range states[i].index[c.key].Points {
			if len(p.Values) == 0 {
				continue
			}
			name := fmt.Sprint(p.At)
			if index[name] == nil {
				index[name] = &place{at: p.At}
				places = append(places, index[name])
			}
			index[name].last = i
		}
	}
	s := &Series{CallPath: c.path, Metric: c.metric, Unit: c.unit, Parameters: c.parameters}
	m := &Missing{s, Change{Kind: KindMissing, Before: -1, To: math.NaN(), P: math.NaN(), Worse: true, points: len(places)}}
	newest := states[len(states)-1]
	var points []dataset.Point
	for _, p := range places {
		s.Points = [][]float64{p.at}
		if p.last == len(states)-1 || newest.Runs && sameRuns(newest, s) {
			continue
		}
		m.lost++
		if p.last > m.Before {
			m.Before, m.After, points = p.last, p.last+1, nil
		}
		if p.last == m.Before {
			points = append(points, *pointAt(states[p.last].index[c.key], p.at))
		}
	}
	if m.lost == 0 {
		return nil
	}
	m.From = level(points)
	return m
}

// series chooses the points of a series and computes its values. Points are those of the last commit that most others have, else all of
// that one, at the commits that have them. Without two commits there is no series.
func (c *collected) series(states []*state) *Series {
	s := &Series{CallPath: c.path, Metric: c.metric, Unit: c.unit, Parameters: c.parameters}
	newest := states[c.in[len(c.in)-1]]
	for _, p := range newest.index[c.key].Points {
		s.Points = append(s.Points, p.At)
	}
	common := slices.DeleteFunc(slices.Clone(s.Points), func(at []float64) bool {
		have := 0
		for _, i := range c.in {
			if pointAt(states[i].index[c.key], at) != nil {
				have++
			}
		}
		return 2*have <= len(c.in)
	})
	if len(common) > 0 {
		s.Points = common
	}
	part := newest.Runs && slices.Contains(partsOfRun, c.metric)
	if whole := newest.index[key{dataset.RootPath, dataset.RunTime}]; part && whole != nil {
		s.whole = level(whole.Points)
	}
	for i, state := range states {
		switch {
		case slices.Contains(c.in, i):
			if points := measured(state, s); points != nil {
				s.At, s.Values = append(s.At, i), append(s.Values, level(points))
			}
		case part && state.Runs && sameRuns(state, s): // it did not happen
			s.At, s.Values = append(s.At, i), append(s.Values, 0)
		}
	}
	if len(s.At) < 2 || !slices.ContainsFunc(s.Values, func(v float64) bool { return v != 0 }) {
		return nil
	}
	return s
}

func pointAt(s *dataset.Series, at []float64) *dataset.Point {
	for i := range s.Points {
		if slices.Equal(s.Points[i].At, at) && len(s.Points[i].Values) > 0 {
			return &s.Points[i]
		}
	}
	return nil
}

// measured are the measurements of a commit at the points of a series; nil: some are missing.
func measured(state *state, s *Series) []dataset.Point {
	d := state.index[key{s.CallPath, s.Metric}]
	if d == nil {
		return nil
	}
	var points []dataset.Point
	for _, at := range s.Points {
		p := pointAt(d, at)
		if p == nil {
			return nil
		}
		points = append(points, *p)
	}
	return points
}

// sameRuns reports whether a commit has runs at the points of a series, with its metric.
func sameRuns(state *state, s *Series) bool {
	if !slices.Equal(state.Data.Parameters, s.Parameters) {
		return false
	}
	return slices.ContainsFunc(state.Data.Series, func(d *dataset.Series) bool {
		return d.Metric == s.Metric && !slices.ContainsFunc(s.Points, func(at []float64) bool { return pointAt(d, at) == nil })
	})
}

// level is the geometric mean of the medians at points; their mean if one is not above 0.
func level(points []dataset.Point) float64 {
	medians := make([]float64, len(points))
	sum, positive := 0.0, true
	for i, p := range points {
		medians[i] = median(p.Values)
		positive = positive && medians[i] > 0
		sum += math.Log(medians[i])
	}
	if len(points) == 1 || !positive {
		return stat.Mean(medians)
	}
	return math.Exp(sum / float64(len(points)))
}

// slopes are, for each parameter with at least three values, the exponents by which the series grows with it at the
// commits: the slopes of a straight line through the logarithms, other parameters being equal. There are none if a value
// is not above 0.
func (s *Series) slopes(states []*state) [][]float64 {
	var all [][]float64
	for parameter := range s.Parameters {
		if distinct(s.Points, parameter) < 3 {
			continue
		}
		list := make([]float64, len(s.At))
		for i, at := range s.At {
			points := measured(states[at], s)
			if list[i] = exponent(points, parameter); points == nil || math.IsNaN(list[i]) {
				return nil
			}
		}
		all = append(all, list)
	}
	return all
}

func distinct(points [][]float64, parameter int) int {
	seen := map[float64]bool{}
	for _, at := range points {
		seen[at[parameter]] = true
	}
	return len(seen)
}

// exponent is the slope of the logarithms over that of a parameter, within points that are equal otherwise.
func exponent(points []dataset.Point, parameter int) float64 {
	type group struct{ n, x, y float64 }
	groups := map[string]*group{}
	of := func(at []float64) string {
		var b strings.Builder
		for i, x := range at {
			if i != parameter {
				b.WriteString(strconv.FormatFloat(x, 'g', -1, 64) + " ")
			}
		}
		return b.String()
	}
	for _, p := range points {
		g := groups[of(p.At)]
		if g == nil {
			g = &group{}
			groups[of(p.At)] = g
		}
		g.n, g.x, g.y = g.n+1, g.x+math.Log(p.At[parameter]), g.y+math.Log(median(p.Values))
	}
	xx, xy := 0.0, 0.0
	for _, p := range points {
		g := groups[of(p.At)]
		dx := math.Log(p.At[parameter]) - g.x/g.n
		xx += dx * dx
		xy += dx * (math.Log(median(p.Values)) - g.y/g.n)
	}
	if slope := xy / xx; !math.IsInf(slope, 0) {
		return slope
	}
	return math.NaN()
}

func median(values []float64) float64 { return stat.Quantile(stat.Sorted(values), 0.5) }

// scatter is the standard deviation relative to the median, estimated by the median distance from it.
func scatter(values []float64) float64 {
	middle, deviation := stat.Deviation(values)
	return deviation / math.Abs(middle)
}

// exact reports whether a series has no noise: it is a count of something that the program does, or its values have so many
// digits that equal ones are not equal by chance, and several in a row are equal. Values that leave and come back again and again
// are those of a coarse clock, whatever they were divided by.
func exact(metric, unit string, values []float64) bool {
	const inRow, mostBack = 3, 2
	run, longest, back := 1, 1, 0
	for i := 1; i < len(values); i++ {
		run++
		if values[i] != values[i-1] {
			run = 1
			if slices.Contains(values[:i], values[i]) {
				back++
			}
		}
		longest = max(longest, run)
	}
	if longest < inRow {
		return false
	}
	if unit == "B" || slices.Contains([]string{"visits", "messages", "bytes"}, metric) {
		return true
	}
	return back <= mostBack && slices.ContainsFunc(values, func(v float64) bool {
		return len(strings.Trim(strings.NewReplacer(".", "", "-", "").Replace(strconv.FormatFloat(v, 'f', -1, 64)), "0")) > 6
	})
}

// exactChanges notes each value that differs from the one before it, if that was there at least three times, or if it is
// there again; with a smallest part of the level that counts: that differs by so much from the level after the last change.
func (s *Series) exactChanges(smallest float64) {
	level := 0 // place of a value at the level after the last change
	for i, same := 1, 1; i < len(s.Values); i++ {
		if s.Values[i] == s.Values[i-1] {
			same++
			continue
		}
		if smallest == 0 {
			level = i - 1
		}
		from, to := s.Values[level], s.Values[i]
		if (same >= 3 || i+1 < len(s.Values) && s.Values[i+1] == to) && from != to && math.Abs(to-from) >= smallest*(1-rounding)*math.Abs(from) {
			s.Changes = append(s.Changes, s.change(KindLevel, i, from, to, 0))
			level = i
		}
		same = 1
	}
}
