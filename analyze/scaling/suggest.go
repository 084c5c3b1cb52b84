package scaling

import (
	"cmp"
	"math"
	"slices"
)

// Suggestion is a measurement that would give more information about the law.
type Suggestion struct {
	At     []float64 `json:"-"`
	Gain   float64   `json:"gain_bits"`       // expected information, of one more point like those measured
	Spread float64   `json:"relative_spread"` // standard deviation of the predictions of all hypotheses there
	Value  float64   `json:"predicted"`       // by the model
	Repeat bool      `json:"measured_before"` // the place was measured: more repetitions there
}

// maxSuggestions is how many are given.
const maxSuggestions = 3

// Suggest returns the next measurements worth making, the most telling first:
// places within a factor of four around the measured range, between its points,
// and again at its ends. A place is informative where the hypotheses disagree by more
// than the noise.
func (f *Fit) Suggest() []Suggestion {
	p := f.predictor()
	var list []Suggestion
	for _, at := range f.places() {
		s := Suggestion{At: at, Value: f.Model.Eval(at...), Spread: p.spread(at)}
		s.Repeat = slices.ContainsFunc(f.At, func(known []float64) bool { return slices.Equal(known, at) })
		s.Gain = math.Log2(1+s.Spread*s.Spread/f.Variance) / 2
		if s.Gain > 0 && !math.IsInf(s.Value, 0) && !math.IsInf(s.Gain, 0) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b Suggestion) int { return cmp.Compare(b.Gain, a.Gain) })
	return list[:min(len(list), maxSuggestions)]
}

// spread is the relative standard deviation of the predictions by weight.
func (p *predictor) spread(at []float64) float64 {
	mean, square := 0.0, 0.0
	for i := range p.hypotheses {
		v := math.Log(p.hypotheses[i].Model.Eval(at...))
		w := p.hypotheses[i].Weight / p.total
		mean += w * v
		square += w * v * v
	}
	return math.Sqrt(max(square-mean*mean, 0))
}

// places are the places that could be measured next: along each parameter, with
// the others at their largest measured values.
func (f *Fit) places() [][]float64 {
	var places [][]float64
	top := f.sample.largest()
	for i := range f.Parameters {
		x, _ := distinctValues(f.At, i)
		low, high := x[0], x[len(x)-1]
		values := []float64{high * 2, high * 4, high, low}
		if f.Leads[i].Exp.Sign() > 0 {
			values[0], values[1] = high+1, high+2 // twice as far would cost a fortune
		}
		if half := math.Floor(low / 2); half >= 1 {
			values = append(values, half)
		}
		for k := range x[1:] {
			if middle := math.Round(math.Sqrt(x[k] * x[k+1])); middle > x[k] && middle < x[k+1] {
				values = append(values, middle)
			}
		}
		for _, v := range values {
			at := slices.Clone(top)
			at[i] = v
			if !slices.ContainsFunc(places, func(p []float64) bool { return slices.Equal(p, at) }) {
				places = append(places, at)
			}
		}
	}
	return places
}
