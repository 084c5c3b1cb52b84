package scaling

import (
	"math"
	"slices"
)

// paperCandidates are the terms among which the method of the paper chooses.
func (m *Modeler) paperCandidates(c *sample, further []Term) []Term {
	if len(further) > 0 {
		return further
	}
	if len(m.options.Only) > 0 {
		return m.options.Only
	}
	return ascending(candidates1(c.largest()[0], m.options.Further))
}

// paperSpace is the search space of the MPI study of the paper: the powers 0, 1/4, 1/3 and all their
// multiples up to 2, each without and with a logarithm.
func paperSpace() Space {
	var s Space
	for _, den := range []int64{4, 3} {
		for num := range 2*den + 1 {
			t := Term{Poly: newRat(num, den)}
			s.Only = append(s.Only, t, t.Mul(power(F1, newRat(1, 1))))
		}
	}
	s.Only = ascending(s.Only)
	return s
}

// choosePaper fits c0 + c1 f by ordinary least squares for every candidate; the
// largest adjusted R2 wins, the earlier candidate among equals. The constant
// counts as 0.
func (f *Fit) choosePaper(candidates []Term) error {
	c := f.sample
	n := float64(len(c.value))
	f.Confidence = math.NaN()
	mean, tss := meanAndSquares(c.value)
	f.Model = newModel(f.Parameters, []ModelTerm{{mean, []Term{{}}}})
	f.Variance = tss / n / (mean * mean)
	best := 0.0
	if len(c.value) <= 2 {
		return unusable("%d points are too few for a model; measure at %d", len(c.value), MinPoints)
	}
	if tss <= n*(1e-12*mean)*(1e-12*mean) {
		return nil
	}
	for _, t := range candidates {
		if t == (Term{}) {
			continue
		}
		c0, c1, rss, ok := leastSquares(c, t)
		if !ok || !(c1 > 0) {
			continue
		}
		r2 := 1 - rss/tss*(n-1)/(n-2)
		if r2 > best+1e-12 {
			best = r2
			f.Leads, f.Form = []Term{t}, Single
			terms := []ModelTerm{{c1, []Term{t}}}
			if c0 != 0 {
				terms = append(terms, ModelTerm{c0, []Term{{}}})
			}
			f.Model = newModel(f.Parameters, terms)
			f.Variance = rss / (n - 2) / (mean * mean)
		}
	}
	return nil
}

func meanAndSquares(values []float64) (mean, squares float64) {
	for _, a := range values {
		mean += a / float64(len(values))
	}
	for _, a := range values {
		squares += (a - mean) * (a - mean)
	}
	return mean, squares
}

// leastSquares fits c0 + c1 t, unweighted.
func leastSquares(c *sample, t Term) (c0, c1, rss float64, ok bool) {
	phi, top, ok := t.column(firsts(c.at))
	if !ok || slices.Max(phi) == slices.Min(phi) {
		return 0, 0, 0, false
	}
	meanF, squares := meanAndSquares(phi)
	mean, _ := meanAndSquares(c.value)
	cross := 0.0
	for i, a := range c.value {
		cross += (phi[i] - meanF) * (a - mean)
	}
	c1 = cross / squares
	c0 = mean - c1*meanF
	for i, a := range c.value {
		r := a - c0 - c1*phi[i]
		rss += r * r
	}
	return c0, c1 / top, rss, true
}
