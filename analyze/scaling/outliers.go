package scaling

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/model/dataset"
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
	largestScatter   = 0.18 // of points without repetitions: what is four times the model is not noise
	fewestScatter    = 5    // degrees of freedom from which on scatter is judged
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
	residuals, scale := f.residuals()
	var list []Outlier
	for i, r := range residuals {
		if s := r / scale; len(residuals) >= MinPoints && s > outlierPoint && !math.IsInf(s, 0) {
			list = append(list, Outlier{At: f.At[i], Value: f.Values[i], Sigma: s, Point: true})
		}
	}
	return list
}

// residuals are the distances of all points from the model, in parts of their values, and the typical one.
func (f *Fit) residuals() (all []float64, scale float64) {
	for i, a := range f.Values {
		all = append(all, math.Abs(f.Model.Eval(f.At[i]...)/a-1))
	}
	return all, max(stat.PerDeviation*stat.Quantile(stat.Sorted(all), 0.5), math.Sqrt(f.sample.v))
}

// scatter is by how much points are off a model by chance: if the noise is known, that the model is off the others, too, is no excuse.
func (f *Fit) scatter() float64 {
	if f.sample.nu > 0 {
		return math.Sqrt(f.sample.v)
	}
	_, scale := f.residuals()
	return min(scale, largestScatter)
}

// stepOf is what a limit grows by from one value of a parameter to the next; at least what is never more than noise.
func stepOf(limit Term, before, after float64) float64 {
	if step := limit.Eval(after) / limit.Eval(before); step > 1+minTolerance { // not if there is none before
		return step
	}
	return 1 + minTolerance
}

// leaps says that values at the largest points are off the model by more than noise and than what the limit of a parameter grows by in the
// step to them: a law for what is below says nothing of them. Looked at are the point where all parameters are largest, and those where one
// is, if more than half of them are off. Above is the direction that matters, and below for a bound from below; empty: there are none.
func (f *Fit) leaps(limits []Term, above, below bool) string {
	if len(limits) != len(f.Parameters) || len(f.Values) < MinPoints {
		return ""
	}
	scale := f.scatter()
	largest, steps := f.sample.largest(), make([]float64, len(limits))
	for i, limit := range limits {
		before := math.Inf(-1)
		for _, at := range f.At {
			if at[i] < largest[i] {
				before = max(before, at[i])
			}
		}
		steps[i] = stepOf(limit, before, largest[i])
	}
	off := func(i int, step float64) bool {
		ratio := f.Values[i] / f.Model.Eval(f.At[i]...)
		return math.Abs(1/ratio-1) > outlierPoint*scale && (above && ratio > step || below && ratio < 1/step)
	}
	name := func(i int) string { return fmt.Sprintf("%s = %g", f.Parameters[i], largest[i]) }
	for i := range f.At {
		if slices.Equal(f.At[i], largest) && off(i, slices.Max(steps)) {
			var place []string
			for k := range largest {
				place = append(place, name(k))
			}
			return fmt.Sprintf("the value at the largest point, %s, is %.3g; %.3g fits the others: measure there again, or beyond",
				strings.Join(place, ", "), f.Values[i], f.Model.Eval(f.At[i]...))
		}
	}
	for k := range largest {
		all, bad := 0, 0
		for i, at := range f.At {
			if at[k] == largest[k] {
				if all++; off(i, steps[k]) {
					bad++
				}
			}
		}
		if 2*bad > all {
			return fmt.Sprintf("%d of the %s at %s are off the law of the others: measure there again, or beyond", bad, phrase.Plural(all, "value"),
				name(k))
		}
	}
	return ""
}

// turned says that only the values at the largest value of a parameter let a function pass: without them it fails, and they are off the law
// of the others in the good direction. A program that ended early is fast, too. Empty: there are none.
func (j *judge) turned(c *Check, s *dataset.Series) string {
	largest := c.Fit.sample.largest()
	for k, name := range c.Fit.Parameters {
		rest, before := *s, math.Inf(-1)
		rest.Points = nil
		for _, p := range s.Points {
			if p.At[k] < largest[k] {
				rest.Points = append(rest.Points, p)
				before = max(before, p.At[k])
			}
		}
		fit, err := j.modeler.fitWith(&rest, c.further)
		if err != nil {
			continue // too few are left
		}
		without := &Check{Expectation: c.Expectation, Fit: fit, Limits: c.Limits, Floor: math.NaN(), twoSided: c.twoSided}
		without.weigh()
		if without.judge(); without.Verdict != Fail {
			continue
		}
		step, scale := stepOf(c.Limits[k], before, largest[k]), fit.scatter()
		all, off, last, others := 0, 0, 0, 0
		for i, at := range c.Fit.At {
			value, model := c.Fit.Values[i], &c.Fit.Model
			if at[k] == largest[k] {
				model, last = &fit.Model, i
				all++
			}
			ratio := value / model.Eval(at...)
			far := math.Abs(ratio-1) > max(outlierPoint*scale, minTolerance)
			if c.Expectation.larger {
				ratio = 1 / ratio
			}
			switch {
			case at[k] < largest[k] && far:
				others++
			case at[k] == largest[k] && far && ratio < 1/step:
				off++
			}
		}
		if 2*others <= len(c.Fit.At)-all {
			continue // one of the others is an outlier
		}
		if 2*off > all {
			return fmt.Sprintf("without the %s at %s = %g it fails: there, a value is %.3g, and %.4g fits the others: measure there again, or "+
				"beyond", phrase.Plural(all, "value"), name, largest[k], c.Fit.Values[last], fit.Model.Eval(c.Fit.At[last]...))
		}
	}
	return ""
}
