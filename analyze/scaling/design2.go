package scaling

import (
	"math"
	"slices"
)

// design2 is what series with the same points of two parameters have in common.
//
// The columns are products f(p) g(q), of which f and g alone and the constant are
// special cases. The normal equations of all forms with the same f and g are made
// of the same few sums, which are computed once: over the points with the same p
// first, which do not depend on f.
type design2 struct {
	at     [][]float64
	row    []int32 // by point: place of its p among the distinct ones
	col    []int32
	f, g   axis
	top    []float64 // by f, g: the largest |f g| at a point
	hyps   []hypothesis
	groups []group
}

// axis are the candidates of one parameter at its distinct values.
type axis struct {
	x     []float64
	terms []Term
	phi   [][]float64 // by term, then by distinct value; normalised
	scale []float64
}

func newAxis(x []float64) axis {
	a := axis{x: x}
	for _, t := range candidates2() {
		phi := make([]float64, len(x))
		top := 0.0
		for i, v := range x {
			phi[i] = t.Eval(v)
			top = max(top, math.Abs(phi[i]))
		}
		if normalise(phi, top) {
			a.terms, a.phi, a.scale = append(a.terms, t), append(a.phi, phi), append(a.scale, top)
		}
	}
	return a
}

// distinctValues returns the distinct values of a coordinate and the place of each point's value.
func distinctValues(at [][]float64, coordinate int) (x []float64, place []int32) {
	for _, p := range at {
		x = append(x, p[coordinate])
	}
	slices.Sort(x)
	x = slices.Compact(x)
	for _, p := range at {
		i, _ := slices.BinarySearch(x, p[coordinate])
		place = append(place, int32(i))
	}
	return x, place
}

func newDesign2(at [][]float64) *design2 {
	d := &design2{at: at}
	var x []float64
	x, d.row = distinctValues(at, 0)
	d.f = newAxis(x)
	x, d.col = distinctValues(at, 1)
	d.g = newAxis(x)
	d.top = make([]float64, len(d.f.terms)*len(d.g.terms))
	for i, f := range d.f.phi {
		for j, g := range d.g.phi {
			top := 0.0
			for n := range at {
				top = max(top, math.Abs(f[d.row[n]]*g[d.col[n]]))
			}
			d.top[i*len(d.g.terms)+j] = top
		}
	}
	d.listHypotheses()
	return d
}

// The hypotheses of one f and g, in their order: products, then sums; and where
// what belongs to one parameter alone comes before them.
const (
	productsPerPair = 6
	sumsPerPair     = 2
)

// Columns of a hypothesis: f and g with their places, or none.
func columnOf(f, g int) int32 { return int32((f+1)<<12 | (g + 1)) }

func (d *design2) listHypotheses() {
	nf, ng := len(d.f.terms), len(d.g.terms)
	one := columnOf(-1, -1)
	add := func(plain bool, prior float64, columns ...int32) {
		h := hypothesis{group: int32(len(d.groups) - 1), k: int8(len(columns)), plain: plain, prior: prior, columns: [3]int32{-1, -1, -1}}
		copy(h.columns[:], columns)
		d.hyps = append(d.hyps, h)
	}
	open := func(form Form, f, g Term) float64 {
		d.groups = append(d.groups, group{leads: [2]Term{f, g}, form: form})
		return -oddityWeight * float64(f.oddity()+g.oddity())
	}
	open(Constant, Term{}, Term{})
	add(true, 0, one)
	for i, f := range d.f.terms {
		prior := open(Single, f, Term{}) - math.Ln2
		add(true, prior, columnOf(i, -1))
		add(true, prior, one, columnOf(i, -1))
	}
	for j, g := range d.g.terms {
		prior := open(Single, Term{}, g) - math.Ln2
		add(true, prior, columnOf(-1, j))
		add(true, prior, one, columnOf(-1, j))
	}
	for i := range nf {
		for j := range ng {
			odd := open(Product, d.f.terms[i], d.g.terms[j])
			plain, extended := odd+math.Log(plainShare)-math.Ln2, odd+math.Log(extendedShare)-math.Log(4)
			fg, f, g := columnOf(i, j), columnOf(i, -1), columnOf(-1, j)
			add(true, plain, fg)
			add(true, plain, one, fg)
			add(false, extended, fg, f)
			add(false, extended, fg, g)
			add(false, extended, one, fg, f)
			add(false, extended, one, fg, g)
		}
	}
	for i := range nf {
		for j := range ng {
			prior := open(Sum, d.f.terms[i], d.g.terms[j]) - math.Ln2
			add(true, prior, columnOf(i, -1), columnOf(-1, j))
			add(true, prior, one, columnOf(i, -1), columnOf(-1, j))
		}
	}
}

// axisSums are sums over all points of a term of one parameter.
type axisSums struct{ b, g1, gg float64 } // w f, w2 f, w2 f f

// fit fits all hypotheses to the sample; the results are in ws.fits.
func (d *design2) fit(ws *workspace, c *sample) {
	ws.prepare(c.value)
	ws.fits = resize(ws.fits, len(d.hyps))
	n := float64(len(c.value))
	b1, g11 := 0.0, 0.0
	for i, w := range ws.w {
		b1 += w
		g11 += ws.w2[i]
	}
	rows := len(d.f.x)
	sumsF := d.sumsOf(ws, &d.f, d.row)
	sumsG := d.sumsOf(ws, &d.g, d.col)
	f, u := solve1(n, g11, b1)
	ws.fits[0] = d.refine(ws, f, u, columnOf(-1, -1), 0, -1, 0, -1)
	d.fitSingles(ws, n, g11, b1, sumsF, sumsG)
	nf, ng := len(d.f.terms), len(d.g.terms)
	products := 1 + 2*(nf+ng)
	sums := products + productsPerPair*nf*ng
	for k := range ws.scratch[:3] {
		ws.scratch[k] = resize(ws.scratch[k], rows)
	}
	ag, agg, bg := ws.scratch[0], ws.scratch[1], ws.scratch[2]
	for j, g := range d.g.phi {
		clear(ag)
		clear(agg)
		clear(bg)
		for i, row := range d.row {
			value := g[d.col[i]]
			x := value * ws.w2[i]
			ag[row] += x
			agg[row] += x * value
			bg[row] += value * ws.w[i]
		}
		for i, f := range d.f.phi {
			p := pairSums{n: n, g11: g11, b1: b1, f: sumsF[i], g: sumsG[j]}
			for r, v := range f {
				x, y := v*ag[r], v*agg[r]
				p.fg += x
				p.ffg += v * x
				p.fgg += y
				p.ffgg += v * y
				p.b += v * bg[r]
			}
			at := i*ng + j
			d.fitSum(ws, sums+sumsPerPair*at, &p, i, j)
			d.fitProduct(ws, products+productsPerPair*at, &p, i, j, d.top[at])
		}
	}
	for i := range d.hyps {
		if int(d.hyps[i].k) >= len(c.value) {
			ws.fits[i] = dropped
		}
	}
}

func (d *design2) sumsOf(ws *workspace, a *axis, place []int32) []axisSums {
	sums := make([]axisSums, len(a.terms))
	byValue := make([][2]float64, len(a.x))
	for i, p := range place {
		byValue[p][0] += ws.w[i]
		byValue[p][1] += ws.w2[i]
	}
	for t, phi := range a.phi {
		s := &sums[t]
		for i, v := range phi {
			s.b += v * byValue[i][0]
			s.g1 += v * byValue[i][1]
			s.gg += v * v * byValue[i][1]
		}
	}
	return sums
}

func (d *design2) fitSingles(ws *workspace, n, g11, b1 float64, sumsF, sumsG []axisSums) {
	next := 1
	one := columnOf(-1, -1)
	single := func(s axisSums, column int32) {
		f, u := solve1(n, s.gg, s.b)
		ws.fits[next] = d.refine(ws, f, u, column, 0, -1, 0, -1)
		f, u1, u2 := solve2(n, g11, s.g1, s.gg, b1, s.b)
		ws.fits[next+1] = d.refine(ws, f, u1, one, u2, column, 0, -1)
		next += 2
	}
	for i, s := range sumsF {
		single(s, columnOf(i, -1))
	}
	for j, s := range sumsG {
		single(s, columnOf(-1, j))
	}
}

// pairSums are the sums of one f and one g: w2 times f g, f f g and so on; b is
// that of w f g.
type pairSums struct {
	n, g11, b1            float64
	f, g                  axisSums
	fg, ffg, fgg, ffgg, b float64
}

func (d *design2) fitSum(ws *workspace, at int, p *pairSums, i, j int) {
	f, g := columnOf(i, -1), columnOf(-1, j)
	fit, u1, u2 := solve2(p.n, p.f.gg, p.fg, p.g.gg, p.f.b, p.g.b)
	ws.fits[at] = d.refine(ws, fit, u1, f, u2, g, 0, -1)
	pre := newPair(p.g11, p.f.g1, p.f.gg, p.b1, p.f.b)
	fit, u1, u2, u3 := pre.solve3(p.n, p.g.g1, p.fg, p.g.gg, p.g.b)
	ws.fits[at+1] = d.refine(ws, fit, u1, columnOf(-1, -1), u2, f, u3, g)
}

func (d *design2) fitProduct(ws *workspace, at int, p *pairSums, i, j int, top float64) {
	s := 1 / top // the product is a column of its own, with its own largest value
	g1, gg, gf, ggCross, b := p.fg*s, p.ffgg*s*s, p.ffg*s, p.fgg*s, p.b*s
	one, fg, f, g := columnOf(-1, -1), columnOf(i, j), columnOf(i, -1), columnOf(-1, j)
	fit, u := solve1(p.n, gg, b)
	ws.fits[at] = d.refine(ws, fit, u, fg, 0, -1, 0, -1)
	fit, u1, u2 := solve2(p.n, p.g11, g1, gg, p.b1, b)
	ws.fits[at+1] = d.refine(ws, fit, u1, one, u2, fg, 0, -1)
	fit, u1, u2 = solve2(p.n, gg, gf, p.f.gg, b, p.f.b)
	ws.fits[at+2] = d.refine(ws, fit, u1, fg, u2, f, 0, -1)
	fit, u1, u2 = solve2(p.n, gg, ggCross, p.g.gg, b, p.g.b)
	ws.fits[at+3] = d.refine(ws, fit, u1, fg, u2, g, 0, -1)
	pre := newPair(p.g11, g1, gg, p.b1, b)
	fit, u1, u2, u3 := pre.solve3(p.n, p.f.g1, gf, p.f.gg, p.f.b)
	ws.fits[at+4] = d.refine(ws, fit, u1, one, u2, fg, u3, f)
	fit, u1, u2, u3 = pre.solve3(p.n, p.g.g1, ggCross, p.g.gg, p.g.b)
	ws.fits[at+5] = d.refine(ws, fit, u1, one, u2, fg, u3, g)
}

// refine sums up chi from the residuals if it is small.
func (d *design2) refine(ws *workspace, f fitted, u1 float64, c1 int32, u2 float64, c2 int32, u3 float64, c3 int32) fitted {
	if f.chi > exactBelow*float64(len(ws.w)) {
		return f
	}
	f.chi = 0
	for i, w := range ws.w {
		g := u1 * d.value(c1, i)
		if c2 >= 0 {
			g += u2 * d.value(c2, i)
		}
		if c3 >= 0 {
			g += u3 * d.value(c3, i)
		}
		r := 1 - g*w
		f.chi += r * r
	}
	return f
}

// value returns a column at a point.
func (d *design2) value(column int32, point int) float64 {
	f, g := int(column>>12)-1, int(column&0xfff)-1
	switch {
	case f >= 0 && g >= 0:
		return d.f.phi[f][d.row[point]] * d.g.phi[g][d.col[point]] / d.top[f*len(d.g.terms)+g]
	case f >= 0:
		return d.f.phi[f][d.row[point]]
	case g >= 0:
		return d.g.phi[g][d.col[point]]
	}
	return 1
}

// columnsOf returns the columns of a hypothesis.
func (d *design2) columnsOf(h *hypothesis) (phi [][]float64, terms []ModelTerm) {
	for _, c := range h.columns[:h.k] {
		column := make([]float64, len(d.at))
		for i := range column {
			column[i] = d.value(c, i)
		}
		t := ModelTerm{Coefficient: 1, Factors: make([]Term, 2)}
		f, g := int(c>>12)-1, int(c&0xfff)-1
		if f >= 0 {
			t.Factors[0] = d.f.terms[f]
			t.Coefficient /= d.f.scale[f]
		}
		if g >= 0 {
			t.Factors[1] = d.g.terms[g]
			t.Coefficient /= d.g.scale[g]
		}
		if f >= 0 && g >= 0 {
			t.Coefficient /= d.top[f*len(d.g.terms)+g]
		}
		phi, terms = append(phi, column), append(terms, t)
	}
	return phi, terms
}
