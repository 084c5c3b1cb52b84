package scaling

import (
	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/model/dataset"
	"slackline/show/figures"
	"slackline/show/plot"
)

// Figure has measurements and models over the first parameter; the others have the
// values at which most was measured, unless there is a target. A single model has its prediction band and, with
// --expect, the expectation with its limits.
func (r *scalingReport) Figure(a *env.Env) (fig plot.Figure, title, subtitle string, err error) {
	var fits []*scaling.Fit
	var resampled *scaling.Bootstrap // of the first
	var drawn *dataset.Series        // the first
	for i, m := range r.models {
		if m.Err != nil {
			continue
		}
		if len(fits) == 0 && r.resampled != nil {
			resampled = r.resampled[i]
		}
		if fits = append(fits, m.Fit); drawn == nil {
			drawn = m.Series
		}
	}
	if len(fits) > figures.MaxModels {
		a.Warn("--plot: the first %d of %d models are drawn; choose with --only-path and --metric", figures.MaxModels, len(fits))
		fits = fits[:figures.MaxModels]
	}
	f := &figures.Scaling{Place: r.place, Resampled: resampled}
	if f.Place == nil {
		f.Place, _ = (&scaling.Target{Named: map[string]float64{}}).Place(r.data)
		f.Reach = figures.Reach(fits[0])
		f.Place = append(f.Place[:1], figures.MeasuredRest(drawn)...)
	}
	if r.expect != nil {
		name := r.data.Parameters[0]
		f.Expected, f.Limit = r.expect, scaling.DefaultLimit(r.expect.Term(name))
		if r.limit != nil && r.limit.Mentions(name) {
			f.Limit = r.limit.Term(name)
		}
	}
	return f.Models(fits), "", "", nil
}
