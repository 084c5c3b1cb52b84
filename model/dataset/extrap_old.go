package dataset

import (
	"fmt"
	"math"
)

// Extra-P JSON (old): tables of parameters, metrics, call paths and coordinates
// with numbers, and measurements that refer to them, one for each repetition.

var extraPOldFormat = Format{Name: "extrap-old", Info: "Extra-P JSON (old)", Sniff: sniffExtraPOld, Read: decoded(readExtraPOld)}

func sniffExtraPOld(head []byte) bool { return isObject(head) && hasKey(head, "callpaths") }

type namedID struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type extraPOld struct {
	Parameters  []namedID `json:"parameters"`
	Metrics     []namedID `json:"metrics"`
	CallPaths   []namedID `json:"callpaths"`
	Coordinates []struct {
		ID    int64 `json:"id"`
		Pairs []struct {
			Parameter *int64   `json:"parameter_id"`
			Value     *float64 `json:"parameter_value"`
		} `json:"parameter_value_pairs"`
	} `json:"coordinates"`
	Measurements []struct {
		CallPath   *int64   `json:"callpath_id"`
		Metric     *int64   `json:"metric_id"`
		Coordinate *int64   `json:"coordinate_id"`
		Value      *float64 `json:"value"`
	} `json:"measurements"`
}

func readExtraPOld(name string, file *extraPOld) (*Dataset, error) {
	d := New()
	place := map[int64]int{}
	for i, p := range file.Parameters {
		d.Parameters = append(d.Parameters, p.Name)
		place[p.ID] = i
	}
	if err := checkNames(d.Parameters); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	points := map[int64][]float64{}
	for _, c := range file.Coordinates {
		at := make([]float64, len(d.Parameters))
		for i := range at {
			at[i] = math.NaN()
		}
		for _, pair := range c.Pairs {
			if pair.Parameter == nil || pair.Value == nil {
				return nil, fmt.Errorf("%s: coordinate %d has a pair without parameter_id or parameter_value", name, c.ID)
			}
			i, ok := place[*pair.Parameter]
			if !ok {
				return nil, fmt.Errorf("%s: coordinate %d has a value of parameter %d, which does not exist", name, c.ID, *pair.Parameter)
			}
			at[i] = *pair.Value
		}
		for i, x := range at {
			if math.IsNaN(x) {
				return nil, fmt.Errorf("%s: coordinate %d has no value of parameter %s", name, c.ID, d.Parameters[i])
			}
		}
		points[c.ID] = at
	}
	paths, metrics := names(file.CallPaths), names(file.Metrics)
	for i, m := range file.Measurements {
		if m.CallPath == nil || m.Metric == nil || m.Coordinate == nil {
			return nil, fmt.Errorf("%s: measurement %d (from 1) has no callpath_id, metric_id or coordinate_id", name, i+1)
		}
		path, ok1 := paths[*m.CallPath]
		metric, ok2 := metrics[*m.Metric]
		at, ok3 := points[*m.Coordinate]
		switch {
		case !ok1 || !ok2 || !ok3:
			return nil, fmt.Errorf("%s: measurement %d (from 1) refers to a call path, metric or coordinate that does not exist", name, i+1)
		case m.Value == nil:
			d.addPresent(path, metric, at, values{math.NaN()})
		default:
			d.Get(path, metric).Add(at, *m.Value)
		}
	}
	return d, nil
}

func names(list []namedID) map[int64]string {
	m := map[int64]string{}
	for _, e := range list {
		m[e.ID] = e.Name
	}
	return m
}
