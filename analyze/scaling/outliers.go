package scaling

import (
	"math"

	"slackline/internal/stat"
)

// Outlier is a measurement that lies far from the others or from the model. It is
// reported, not removed.
type Outlier struct {
	At    []float64 `json:"-"`
	Value float64   `json:"value"`
	Sigma float64   `json:"sigma"` // distance in robust standard deviations
	Point bool      `json:"-"`     // the aggregate of the point is far from the model; otherwise one repetition from its point
}

// Distances beyond which measurements are outliers, in robust standard
// deviations. One-sided noise has longer tails.
const (
	outlierSymmetric = 5
	outlierOneSided  = 9
	outlierPoint     = 4
	fewestScatter    = 5 // degrees of freedom from which on scatter is judged
)

// outliers returns the repetitions far from the median of their point, and the
// points far from the model.
func (f *Fit) outliers() []Outlier {
	var list []Outlier
	c := f.sample
	if c.equal {
		return nil
	}
	var deviations []float64
	for _, reps := range c.reps {
		if len(reps) > 2 {
			median := stat.Quantile(reps, 0.5)
			for _, y := range reps {
				deviations = append(deviations, math.Abs(y/median-1))
			}
		}
	}
	limit := float64(outlierSymmetric)
	if c.noise.Kind == noiseOneSided {
		limit = outlierOneSided
	}
	if scale := stat.PerDeviation * stat.Quantile(stat.Sorted(deviations), 0.5); len(deviations) > fewestScatter && scale > 0 {
		for i, reps := range c.reps {
			median := stat.Quantile(reps, 0.5)
			for _, y := range reps {
				if s := math.Abs(y/median-1) / scale; len(reps) > 2 && s > limit {
					list = append(list, Outlier{At: c.at[i], Value: y, Sigma: s})
				}
			}
		}
	}
	return append(list, f.outlyingPoints()...)
}

// outlyingPoints are the points whose aggregate is far from the model, measured
// by the typical distance of all.
func (f *Fit) outlyingPoints() []Outlier {
	var residuals []float64
	for i, a := range f.Values {
		residuals = append(residuals, math.Abs(f.Model.Eval(f.At[i]...)/a-1))
	}
	scale := max(stat.PerDeviation*stat.Quantile(stat.Sorted(residuals), 0.5), math.Sqrt(f.sample.v))
	var list []Outlier
	for i, r := range residuals {
		if s := r / scale; len(residuals) >= MinPoints && s > outlierPoint && !math.IsInf(s, 0) {
			list = append(list, Outlier{At: f.At[i], Value: f.Values[i], Sigma: s, Point: true})
		}
	}
	return list
}
