package scaling

import (
	"math"
	"slices"
)

// design1 is what series with the same points of one parameter have in common:
// the columns, normalised, and the hypotheses.
type design1 struct {
	x       []float64
	terms   []Term      // by column; the first is the constant
	phi     [][]float64 // by column, then by point
	scale   []float64   // by column: the largest absolute value before normalisation
	hyps    []hypothesis
	groups  []group
	leads   []int32   // columns that lead, in the order of the hypotheses
	seconds []int32   // columns that may be second
	below   [][]int32 // by lead: places in seconds of what grows less
}

// newDesign1 prepares points of one parameter. further are candidates beside the
// common ones.
func newDesign1(x []float64, further []Term) *design1 {
	d := &design1{x: x}
	d.column(Term{})
	for _, t := range candidates1(slices.Max(x), further) {
		if c, ok := d.column(t); ok {
			d.leads = append(d.leads, c)
		}
	}
	for _, s := range second {
		if c, ok := d.column(s); ok {
			d.seconds = append(d.seconds, c)
		}
	}
	d.listHypotheses()
	return d
}

// column returns the place of a term, which is added unless it is not finite at a
// point or 0 at all.
func (d *design1) column(t Term) (int32, bool) {
	if i := slices.Index(d.terms, t); i >= 0 {
		return int32(i), true
	}
	phi, top, ok := t.column(d.x)
	if !ok {
		return 0, false
	}
	d.terms, d.phi, d.scale = append(d.terms, t), append(d.phi, phi), append(d.scale, top)
	return int32(len(d.terms) - 1), true
}

// column returns a term at some values, divided by top, the largest absolute value; ok reports whether all is finite.
func (t Term) column(values []float64) (phi []float64, top float64, ok bool) {
	phi = make([]float64, len(values))
	for i, x := range values {
		phi[i] = t.Eval(x)
		top = max(top, math.Abs(phi[i]))
	}
	for i := range phi {
		phi[i] /= top
		if math.IsNaN(phi[i]) || math.IsInf(phi[i], 0) {
			return nil, 0, false
		}
	}
	return phi, top, top > 0 && !math.IsInf(top, 0)
}

// listHypotheses lists the hypotheses by lead.
func (d *design1) listHypotheses() {
	d.groups = []group{{form: Constant}}
	d.hyps = []hypothesis{newHypothesis(0, true, 0, 0)}
	d.below = make([][]int32, len(d.leads))
	for i, lead := range d.leads {
		t := d.terms[lead]
		if t.growth() > 0 {
			for j, s := range d.seconds {
				if d.terms[s].cmp(t) < 0 {
					d.below[i] = append(d.below[i], int32(j))
				}
			}
		}
		g := len(d.groups)
		d.groups = append(d.groups, group{leads: [maxParameters]Term{t}, form: Single})
		odd := -oddityWeight * float64(t.oddity())
		plain, extended := odd-math.Ln2, 0.0
		if n := len(d.below[i]); n > 0 {
			plain += math.Log(plainShare)
			extended = odd + math.Log(extendedShare) - math.Log(float64(2*n))
		}
		d.hyps = append(d.hyps, newHypothesis(g, true, plain, lead), newHypothesis(g, true, plain, 0, lead))
		for _, j := range d.below[i] {
			d.hyps = append(d.hyps, newHypothesis(g, false, extended, d.seconds[j], lead),
				newHypothesis(g, false, extended, 0, d.seconds[j], lead))
		}
	}
}

// fit fits all hypotheses to the sample; the results are in ws.fits.
func (d *design1) fit(ws *workspace, c *sample) {
	n := len(c.value)
	ws.prepare(c.value)
	ws.fits = resize(ws.fits, len(d.hyps))
	points := float64(n)
	m := len(d.seconds)
	ws.scratch[0] = resize(ws.scratch[0], m*n)
	weighted := ws.scratch[0] // the second columns times w2
	for j, col := range d.seconds {
		for i, f := range d.phi[col] {
			weighted[j*n+i] = f * ws.w2[i]
		}
	}
	one := d.phi[0]
	g11, b1 := dot(one, ws.w2), dot(one, ws.w)
	var g1s, gss, bs [16]float64
	var pairs [16]pair
	for j, col := range d.seconds {
		g1s[j], gss[j], bs[j] = dot(d.phi[col], ws.w2), dot(d.phi[col], weighted[j*n:j*n+n]), dot(d.phi[col], ws.w)
		pairs[j] = newPair(g11, g1s[j], gss[j], b1, bs[j])
	}
	f, u := solve1(points, g11, b1)
	ws.fits[0] = d.refine(ws, f, 0, u, -1, 0, -1, 0)
	next := 1
	keep := func(f fitted, c1 int32, u1 float64, c2 int32, u2 float64, c3 int32, u3 float64) {
		ws.fits[next] = d.refine(ws, f, c1, u1, c2, u2, c3, u3)
		next++
	}
	for i, lead := range d.leads {
		phi := d.phi[lead]
		g1t, gtt, bt := 0.0, 0.0, 0.0
		for i, f := range phi {
			x := f * ws.w2[i]
			g1t += x
			gtt += x * f
			bt += f * ws.w[i]
		}
		f, u1 := solve1(points, gtt, bt)
		keep(f, lead, u1, -1, 0, -1, 0)
		f, u1, u2 := solve2(points, g11, g1t, gtt, b1, bt)
		keep(f, 0, u1, lead, u2, -1, 0)
		for _, j := range d.below[i] {
			gst := dot(phi, weighted[int(j)*n:int(j)*n+n])
			f, u1, u2 := solve2(points, gss[j], gst, gtt, bs[j], bt)
			keep(f, d.seconds[j], u1, lead, u2, -1, 0)
			f, u1, u2, u3 := pairs[j].solve3(points, g1t, gst, gtt, bt)
			keep(f, 0, u1, d.seconds[j], u2, lead, u3)
		}
	}
	for i := range d.hyps {
		if int(d.hyps[i].k) >= n {
			ws.fits[i] = dropped
		}
	}
	d.fitBelow(ws, g11, b1)
}

// decisive is the logarithm of the ratio of likelihoods from which on noise does not decide any more: of 100,000 random series of positive
// laws, with noise of up to 20 %, one is given a constant below 0.
const decisive = 12

// fitBelow allows a constant below 0 beside a term that grows, as in p - 1 messages, where that decides: sums of positive terms come near
// to such a law, with another lead and a confidence that grows with the number of points. Then nothing else is left.
func (d *design1) fitBelow(ws *workspace, g11, b1 float64) {
	n := float64(len(ws.w))
	best, least := math.Inf(1), math.Inf(1)
	for i := range ws.fits {
		if f := ws.fits[i]; f.finite() {
			best = min(best, f.chi)
		}
	}
	if len(ws.w) <= 2 || best <= 2*n*tinyVariance {
		return
	}
	below := make([]fitted, len(d.leads))
	for i, lead := range d.leads {
		below[i] = dropped
		phi := d.phi[lead]
		g12, g22, b2 := 0.0, 0.0, 0.0
		for k, x := range phi {
			g12 += x * ws.w2[k]
			g22 += x * x * ws.w2[k]
			b2 += x * ws.w[k]
		}
		f, u1, u2 := solveSigned(n, g11, g12, g22, b1, b2)
		if d.terms[lead].growth() <= 0 || !f.finite() || u1 >= 0 || u1+u2*slices.Min(phi) <= 0 { // not above 0 at all points
			continue
		}
		below[i] = d.refine(ws, f, 0, u1, lead, u2, -1, 0)
		least = min(least, max(below[i].chi, n*tinyVariance))
	}
	if (n-2)/2*math.Log(best/least) < decisive {
		return
	}
	for i := range ws.fits {
		ws.fits[i] = dropped
	}
	for i, lead := range d.leads {
		at := slices.IndexFunc(d.hyps, func(h hypothesis) bool { return h.k == 2 && h.plain && h.columns[0] == 0 && h.columns[1] == lead })
		ws.fits[at] = below[i]
	}
}

// refine sums up chi from the residuals if it is small.
func (d *design1) refine(ws *workspace, f fitted, c1 int32, u1 float64, c2 int32, u2 float64, c3 int32, u3 float64) fitted {
	n := float64(len(ws.w))
	if f.chi > exactBelow*n {
		return f
	}
	f.chi = 0
	for i, w := range ws.w {
		g := u1 * d.phi[c1][i]
		if c2 >= 0 {
			g += u2 * d.phi[c2][i]
		}
		if c3 >= 0 {
			g += u3 * d.phi[c3][i]
		}
		r := 1 - g*w
		f.chi += r * r
	}
	return f
}

// prepare computes the weights of the points.
func (ws *workspace) prepare(values []float64) {
	ws.w, ws.w2 = resize(ws.w, len(values)), resize(ws.w2, len(values))
	top := slices.Max(values)
	for i, a := range values {
		ws.w[i] = top / a
		ws.w2[i] = ws.w[i] * ws.w[i]
	}
}

// terms returns the columns of a hypothesis.
func (d *design1) columnsOf(h *hypothesis) (phi [][]float64, terms []ModelTerm) {
	for _, c := range h.columns[:h.k] {
		phi = append(phi, d.phi[c])
		terms = append(terms, ModelTerm{Coefficient: 1 / d.scale[c], Factors: []Term{d.terms[c]}})
	}
	return phi, terms
}
