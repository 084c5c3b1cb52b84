package dataset

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// A blank is a place, by the names of the parameters, where a series was measured without a value: a program that failed there leaves
// nothing, null or NaN in a table. Several series may share one.
type blank map[string]float64

// Blanks are the places where a series was measured and has no value. Those that lack a parameter are left out.
func (d *Dataset) Blanks(s *Series) (list [][]float64) {
	there := map[string]bool{}
	for _, p := range s.Points {
		there[placeKey(p.At)] = true
	}
	for _, b := range d.blanks[seriesKey{s.CallPath, s.Metric}] {
		var at []float64
		for _, name := range d.Parameters {
			if x, ok := b[name]; ok {
				at = append(at, x)
			}
		}
		if key := placeKey(at); len(at) == len(d.Parameters) && !there[key] {
			there[key] = true
			list = append(list, at)
		}
	}
	return list
}

func (d *Dataset) addBlank(key seriesKey, b blank) {
	if d.blanks == nil {
		d.blanks = map[seriesKey][]blank{}
	}
	d.blanks[key] = append(d.blanks[key], b)
}

// Plan notes points that were planned, with values of the parameters of these names: a series without a value at one of them has blanks
// there, at all of its values of the other parameters.
func (d *Dataset) Plan(names []string, points [][]float64) {
	names = slices.Clone(names)
	for i := len(names) - 1; i >= 0; i-- { // what is constant may have been dropped
		if !slices.Contains(d.Parameters, names[i]) {
			names = slices.Delete(names, i, i+1)
			for k := range points {
				points[k] = slices.Delete(slices.Clone(points[k]), i, i+1)
			}
		}
	}
	shared := map[string]blank{}
	for _, s := range d.Series {
		there, others := map[string]bool{}, map[string][]float64{}
		for _, p := range s.Points {
			planned, other := d.split(p.At, names)
			there[placeKey(planned)], others[placeKey(other)] = true, other
		}
		for _, at := range points {
			if there[placeKey(at)] {
				continue
			}
			for _, key := range slices.Sorted(maps.Keys(others)) {
				full := placeKey(at) + key
				if shared[full] == nil {
					shared[full] = d.join(names, at, others[key])
				}
				d.addBlank(seriesKey{s.CallPath, s.Metric}, shared[full])
			}
		}
	}
}

// split takes the parameters of some names out of a place, in the order of the names.
func (d *Dataset) split(at []float64, names []string) (planned, other []float64) {
	for _, name := range names {
		planned = append(planned, at[slices.Index(d.Parameters, name)])
	}
	for i, name := range d.Parameters {
		if !slices.Contains(names, name) {
			other = append(other, at[i])
		}
	}
	return planned, other
}

// join is the place that split takes apart.
func (d *Dataset) join(names []string, planned, other []float64) blank {
	b := blank{}
	for _, name := range d.Parameters {
		x := 0.0
		if i := slices.Index(names, name); i >= 0 {
			x = planned[i]
		} else {
			x, other = other[0], other[1:]
		}
		if !math.IsNaN(x) {
			b[name] = x
		}
	}
	return b
}

// withBlanks are the points of a series with those that have no value.
func (d *Dataset) withBlanks(s *Series) []Point {
	points := slices.Clone(s.Points)
	for _, at := range d.Blanks(s) {
		points = append(points, Point{at, []float64{}})
	}
	return points
}

// takeBlanks adds those of another dataset.
func (d *Dataset) takeBlanks(other *Dataset) {
	for key, list := range other.blanks {
		for _, b := range list {
			d.addBlank(key, maps.Clone(b))
		}
	}
}

// selectBlanks keeps those at one value of a parameter, and those that do not have it.
func (d *Dataset) selectBlanks(name string, value float64) {
	for key, list := range d.blanks {
		d.blanks[key] = slices.DeleteFunc(list, func(b blank) bool { x, ok := b[name]; return ok && x != value })
	}
}

// setBlanks gives all of them a value of a parameter.
func (d *Dataset) setBlanks(name string, value float64) {
	for _, list := range d.blanks {
		for _, b := range list {
			b[name] = value
		}
	}
}

// present returns the values without the missing ones, and how many those were.
func (v values) present() ([]float64, int) {
	if !slices.ContainsFunc(v, math.IsNaN) {
		return v, 0
	}
	there := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	return there, len(v) - len(there)
}

// addPresent adds what is there of a list of values to a series.
func (d *Dataset) addPresent(path, metric string, at []float64, v values) {
	there, missing := v.present()
	if missing > 0 {
		if d.missing == nil {
			d.missing = map[seriesKey]int{}
		}
		d.missing[seriesKey{path, metric}] += missing
	}
	if len(there) > 0 {
		d.Get(path, metric).Add(at, there...)
		return
	}
	b := blank{}
	for i, x := range at {
		if !math.IsNaN(x) {
			b[d.Parameters[i]] = x
		}
	}
	d.addBlank(seriesKey{path, metric}, b)
}

// warnOfMissing warns of the values that were missing, series by series.
func (d *Dataset) warnOfMissing() {
	keys := slices.SortedFunc(maps.Keys(d.missing), func(a, b seriesKey) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.metric, b.metric))
	})
	for _, key := range keys {
		s := Series{CallPath: key.path, Metric: key.metric}
		d.warnf("%s: missing values are left out: %d", s.Name(), d.missing[key])
	}
}
