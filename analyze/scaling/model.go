package scaling

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Model is a sum of terms with coefficients above 0. With method Paper the constant may be negative; with the other one, too, beside one
// term, if the measurements leave no doubt.
type Model struct {
	Parameters []string
	Terms      []ModelTerm // in ascending order
}

// ModelTerm is a coefficient times a term of each parameter.
type ModelTerm struct {
	Coefficient float64
	Factors     []Term // by parameter
}

// constant reports whether the term has no parameter.
func (t *ModelTerm) constant() bool {
	return !slices.ContainsFunc(t.Factors, func(f Term) bool { return f != (Term{}) })
}

// newModel sorts the terms.
func newModel(parameters []string, terms []ModelTerm) Model {
	slices.SortStableFunc(terms, func(a, b ModelTerm) int { return slices.CompareFunc(a.Factors, b.Factors, Term.cmp) })
	return Model{parameters, terms}
}

// Eval returns the value of the model at a place.
func (m *Model) Eval(at ...float64) float64 {
	sum := 0.0
	for i := range m.Terms {
		sum += m.Terms[i].eval(at)
	}
	return sum
}

// eval returns the value of the term at a place.
func (t *ModelTerm) eval(at []float64) float64 {
	v := t.Coefficient
	for i, f := range t.Factors {
		if f != (Term{}) {
			v *= f.Eval(at[i])
		}
	}
	return v
}

// finite reports whether the model is a number at all measured points, and all its coefficients are.
func (m *Model) finite(c *sample) bool {
	for i := range m.Terms {
		if a := m.Terms[i].Coefficient; math.IsNaN(a) || math.IsInf(a, 0) || a == 0 && len(m.Terms) > 1 {
			return false
		}
	}
	for _, at := range c.at {
		if y := m.Eval(at...); math.IsNaN(y) || math.IsInf(y, 0) {
			return false
		}
	}
	return true
}

// factors are the terms without their coefficients.
func (m *Model) factors() [][]Term {
	list := make([][]Term, len(m.Terms))
	for i := range m.Terms {
		list[i] = m.Terms[i].Factors
	}
	return list
}

// constant returns the constant of the model, 0 if it has none.
func (m *Model) constant() float64 {
	for i := range m.Terms {
		if m.Terms[i].constant() {
			return m.Terms[i].Coefficient
		}
	}
	return 0
}

// String returns the formula, e.g. "16 + 0.56 * p".
func (m *Model) String() string {
	var b strings.Builder
	for i, t := range m.Terms {
		c := t.Coefficient
		switch {
		case i > 0 && c < 0:
			b.WriteString(" - ")
			c = -c
		case i > 0:
			b.WriteString(" + ")
		}
		fmt.Fprintf(&b, "%.6g", c)
		for j, f := range t.Factors {
			if text := f.product(m.Parameters[j]); text != "" {
				b.WriteString(" * " + text)
			}
		}
	}
	if len(m.Terms) == 0 {
		return "0"
	}
	return b.String()
}

// MarshalText returns the formula.
func (m Model) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// adjustedR2 returns 1 - (RSS/TSS)(n-1)/(n-m-1) for n points and m terms beside
// the constant, unweighted. It is NaN for constants and for n <= m+1.
func (m *Model) adjustedR2(c *sample) float64 {
	terms := 0
	for i := range m.Terms {
		if !m.Terms[i].constant() {
			terms++
		}
	}
	n := len(c.value)
	if terms == 0 || n <= terms+1 {
		return math.NaN()
	}
	mean, top := 0.0, 0.0
	for _, a := range c.value {
		mean += a / float64(n)
		top = max(top, a)
	}
	_, exponent := math.Frexp(top) // a power of two, so that squares stay in range and nothing else changes
	rss, tss := 0.0, 0.0
	for i, a := range c.value {
		r, d := math.Ldexp(a-m.Eval(c.at[i]...), -exponent), math.Ldexp(a-mean, -exponent)
		rss += r * r
		tss += d * d
	}
	r2 := 1 - rss/tss*float64(n-1)/float64(n-terms-1)
	if math.IsInf(r2, 0) {
		return math.NaN()
	}
	return r2
}

// smape returns the symmetric mean absolute percentage error.
func (m *Model) smape(c *sample) float64 {
	sum := 0.0
	for i, a := range c.value {
		g := m.Eval(c.at[i]...)
		if a != g {
			sum += 2 * math.Abs(a-g) / (math.Abs(a) + math.Abs(g))
		}
	}
	return 100 * sum / float64(len(c.value))
}
