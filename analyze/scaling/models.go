package scaling

import (
	"cmp"
	"math"
	"slices"

	"slackline/internal/parallel"
	"slackline/model/dataset"
)

// Modelled is the outcome of one series: a fit, or the reason why there is none.
type Modelled struct {
	Series   *dataset.Series
	Fit      *Fit
	Err      error
	Segments *Segments // nil: one law is enough
	Outliers []Outlier
}

// Models finds a model for every series of a dataset, in its order, by so many
// threads. The result does not depend on their number.
func Models(d *dataset.Dataset, o Options, threads int) ([]Modelled, error) {
	m, err := newModeler(d.Parameters, o)
	if err != nil {
		return nil, err
	}
	list := make([]Modelled, len(d.Series))
	parallel.Each(len(list), threads, func(i int) {
		r := Modelled{Series: d.Series[i]}
		if r.Fit, r.Err = m.fit(r.Series); r.Err == nil {
			r.Segments = m.segments(r.Fit)
			r.Outliers = r.Fit.outliers()
		}
		list[i] = r
	})
	return list, nil
}

// Ranked is a call path with what it takes at a place.
type Ranked struct {
	Fit        *Fit
	Prediction Prediction
	Share      float64 // of the sum over all call paths with the same metric
}

// Dominating returns the call paths of each metric in the order of what they take
// at a place: what will matter there. Metrics stay in the order of the data.
func Dominating(list []Modelled, at []float64) []Ranked {
	metrics := map[string]int{}
	sums := map[string]float64{}
	var ranked []Ranked
	for _, r := range list {
		if r.Fit == nil {
			continue
		}
		if _, ok := metrics[r.Fit.Metric]; !ok {
			metrics[r.Fit.Metric] = len(metrics)
		}
		p := r.Fit.Predict(at...)
		if !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
			sums[r.Fit.Metric] += p.Value
		}
		ranked = append(ranked, Ranked{Fit: r.Fit, Prediction: p})
	}
	for i := range ranked {
		ranked[i].Share = ranked[i].Prediction.Value / sums[ranked[i].Fit.Metric]
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(metrics[a.Fit.Metric], metrics[b.Fit.Metric]), cmp.Compare(b.Prediction.Value, a.Prediction.Value))
	})
	return ranked
}

// Place returns a target as a place: parameters that it does not name have their
// largest value of the data.
func (t *Target) Place(d *dataset.Dataset) ([]float64, error) {
	largest := make([]float64, len(d.Parameters))
	for _, s := range d.Series {
		for _, p := range s.Points {
			for i, x := range p.At {
				largest[i] = max(largest[i], x)
			}
		}
	}
	return t.place(d.Parameters, largest)
}
