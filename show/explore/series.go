package explore

import (
	"context"
	"slices"

	"slackline/analyze/scaling"
	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/model/dataset"
)

// datasetView is a dataset with its models.
type datasetView struct {
	data   *dataset.Dataset
	models []scaling.Modelled // by series
}

// models finds the models of a dataset, once.
func (v *view) models() (*datasetView, error) {
	if v.opened.Dataset == nil {
		return nil, badRequest("run", "this input is a run, not a dataset")
	}
	return v.dataset.get(func() (*datasetView, error) {
		models, err := scaling.Models(v.opened.Dataset, scaling.Options{}, v.threads)
		return &datasetView{v.opened.Dataset, models}, err
	})
}

// mostSeries is how many series of a dataset are listed.
const mostSeries = 2000

// answerSeries lists what is in a dataset.
func answerSeries(_ context.Context, v *view, _ *query) (any, error) {
	d, err := v.models()
	if err != nil {
		return nil, err
	}
	list := &SeriesList{Parameters: d.data.Parameters, Series: []Series{}, Cut: len(d.models) > mostSeries}
	for i := range d.models[:min(len(d.models), mostSeries)] {
		list.Series = append(list.Series, d.series(i))
	}
	return list, nil
}

// find is the number of the series of the same metric and call path as one of another dataset; -1: there is none.
func (d *datasetView) find(s *dataset.Series) int {
	return slices.IndexFunc(d.models, func(m scaling.Modelled) bool { return m.Series.CallPath == s.CallPath && m.Series.Metric == s.Metric })
}

func (d *datasetView) series(i int) Series {
	m := &d.models[i]
	s := Series{Series: i, CallPath: m.Series.CallPath, Metric: m.Series.Metric, Points: []SeriesPoint{}}
	for _, p := range m.Series.Points {
		sorted := stat.Sorted(p.Values)
		if len(sorted) == 0 {
			continue
		}
		s.Points = append(s.Points, SeriesPoint{
			At: p.At, Count: len(sorted), Min: sorted[0], Max: sorted[len(sorted)-1],
			Q1: stat.Quantile(sorted, 0.25), Median: stat.Quantile(sorted, 0.5), Q3: stat.Quantile(sorted, 0.75),
		})
	}
	if m.Err != nil {
		s.Doubt = m.Err.Error()
		return s
	}
	s.Model, s.Growth, s.Doubt = m.Fit.Model.String(), m.Fit.Landau(), m.Fit.Doubt
	s.Confidence = phrase.FiniteOr0(m.Fit.Confidence)
	return s
}
