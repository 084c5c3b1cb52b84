package scaling

import (
	"cmp"
	"math"
	"slices"
)

// Prediction is the value of a model at a place that was not measured.
type Prediction struct {
	Value float64 `json:"value" nan:"null"` // of the model
	// The 5 % and 95 % quantiles of the predictions of all hypotheses by weight.
	Low  float64 `json:"low" nan:"null"`
	High float64 `json:"high" nan:"null"`
	// The same, widened by two standard deviations of the noise: where a measurement is to be expected.
	MeasuredLow  float64 `json:"measured_low" nan:"null"`
	MeasuredHigh float64 `json:"measured_high" nan:"null"`
}

// The quantiles of an interval.
const (
	lowQuantile  = 0.05
	highQuantile = 0.95
)

// Predict returns the prediction at a place. Values may be infinite far away.
func (f *Fit) Predict(at ...float64) Prediction { return f.predictor().predict(at) }

// predictor has the hypotheses of a fit solved, for many predictions.
type predictor struct {
	fit        *Fit
	hypotheses []Candidate
	total      float64
}

func (f *Fit) predictor() *predictor {
	p := &predictor{fit: f, hypotheses: f.hypotheses()}
	for _, h := range p.hypotheses {
		p.total += h.Weight
	}
	return p
}

func (p *predictor) predict(at []float64) Prediction {
	type weighted struct{ value, weight float64 }
	list := make([]weighted, len(p.hypotheses))
	for i := range p.hypotheses {
		list[i] = weighted{p.hypotheses[i].Model.Eval(at...), p.hypotheses[i].Weight / p.total}
	}
	slices.SortStableFunc(list, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	quantile := func(q float64) float64 {
		sum := 0.0
		for _, h := range list {
			if sum += h.weight; sum >= q {
				return h.value
			}
		}
		return list[len(list)-1].value
	}
	r := Prediction{Value: p.fit.Model.Eval(at...), Low: quantile(lowQuantile), High: quantile(highQuantile)}
	wide := 2 * math.Sqrt(p.fit.Variance)
	r.MeasuredLow, r.MeasuredHigh = r.Low*max(1-wide, 0), r.High*(1+wide)
	return r
}

const (
	highestWall = 1 << 60 // where the search for a wall ends
	wallSlack   = 1e-9    // what the coefficients of an exact law may be off
)

// Wall returns the largest whole value of a parameter, 1 or more, at which the
// model stays within a budget; at holds the values of the other parameters. It is
// 0 if already the value at 1 is too much, and +Inf if there is no wall below 2^60.
func (m *Model) Wall(budget float64, parameter int, at []float64) float64 {
	place := slices.Clone(at)
	within := func(x float64) bool {
		place[parameter] = x
		return m.Eval(place...) <= budget*(1+wallSlack)
	}
	if within(highestWall) {
		return math.Inf(1)
	}
	if !within(1) {
		return 0
	}
	low, high := 1.0, 2.0
	for within(high) {
		low, high = high, 2*high
	}
	for high-low > 1 {
		middle := math.Floor((low + high) / 2)
		if middle <= low || middle >= high {
			break // whole numbers are no longer distinct
		}
		if within(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
