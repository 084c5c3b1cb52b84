package dataset

import (
	"fmt"
	"slices"
	"strings"

	"slackline/model/cube"
)

var cubeFormat = Format{Name: "cube", Info: "Cube 4 profile", Binary: true, PlaceInName: true, Sniff: cube.IsCube, Read: readCube}

// readCube reads a profile: the exclusive values of each metric and call path, one
// repetition for each location. Where it was measured is in its name.
func readCube(name string, data []byte) (*Dataset, error) {
	f, err := cube.Read(name, data)
	if err != nil {
		return nil, err
	}
	d := New()
	for _, w := range f.Warnings {
		d.warnf("%s: %s", name, w)
	}
	var below leftOut
	paths := make([]string, len(f.Nodes))
	for i, n := range f.Nodes {
		paths[i] = strings.Join(n.Path(), "->")
	}
	for _, m := range f.Metrics {
		if !m.HasData() {
			continue
		}
		for i, n := range f.Nodes {
			values := f.Exclusive(m, n)
			if IsDuration(m.Name, "") && slices.ContainsFunc(values, func(v float64) bool { return v < 0 }) {
				below.add(m.Name + " of " + paths[i])
			}
			d.Get(paths[i], m.Name).Add(nil, values...)
		}
	}
	below.warn(d, "%s: times of call paths below 0 (is it damaged?)", name)
	if len(d.Series) == 0 {
		return nil, fmt.Errorf("%s: holds no metric with values", name)
	}
	return d, nil
}

// sumRepetitions replaces the repetitions of each point by their sum: of a profile,
// which has one for each location, the sum over the locations.
func (d *Dataset) sumRepetitions() {
	for _, s := range d.Series {
		for i := range s.Points {
			sum := 0.0
			for _, v := range s.Points[i].Values {
				sum += v
			}
			s.Points[i].Values = []float64{sum}
		}
	}
}
