package scaling

// fit fits all hypotheses to the sample; the results are in ws.fits.
//
// The normal equations of all hypotheses with the same terms are made of the same few sums, which are computed once: over
// the points with the same value of a parameter first, which do not depend on its term.
func (d *grid) fit(ws *workspace, c *sample) {
	ws.prepare(c.value)
	ws.fits = resize(ws.fits, len(d.hyps))
	b1, g11 := 0.0, 0.0
	for i, w := range ws.w {
		b1 += w
		g11 += ws.w2[i]
	}
	n := float64(len(c.value))
	f, u := solve1(n, g11, b1)
	ws.fits[0] = d.refine(ws, 0, f, u)
	sums := make([][]axisSums, len(d.axes))
	for i := range d.axes {
		sums[i] = d.axes[i].sums(ws)
	}
	next := d.blocks[1:]
	for i := range d.axes {
		d.fitSingles(ws, next[0].first, n, g11, b1, sums[i])
		next = next[1:]
	}
	for k := range d.pairs {
		p := &d.pairs[k]
		d.fitPairs(ws, p, &next[0], &next[1], pairSums{n: n, g11: g11, b1: b1}, sums[p.f], sums[p.g])
		next = next[2:]
	}
	if len(next) > 0 {
		d.fitTriples(ws, next)
	}
	for i := range d.hyps {
		if int(d.hyps[i].k) >= len(c.value) {
			ws.fits[i] = dropped
		}
	}
}

// axisSums are sums over all points of a term of one parameter.
type axisSums struct{ b, g1, gg float64 } // w f, w2 f, w2 f f

func (a *axis) sums(ws *workspace) []axisSums {
	sums := make([]axisSums, len(a.terms))
	byValue := make([][2]float64, len(a.x))
	for i, p := range a.place {
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

func (d *grid) fitSingles(ws *workspace, at int, n, g11, b1 float64, sums []axisSums) {
	for _, s := range sums {
		f, u := solve1(n, s.gg, s.b)
		ws.fits[at] = d.refine(ws, at, f, u)
		f, u1, u2 := solve2(n, g11, s.g1, s.gg, b1, s.b)
		ws.fits[at+1] = d.refine(ws, at+1, f, u1, u2)
		at += 2
	}
}

// pairSums are the sums of one f and one g: w2 times f g, f f g and so on; b is
// that of w f g.
type pairSums struct {
	n, g11, b1            float64
	f, g                  axisSums
	fg, ffg, fgg, ffgg, b float64
}

// fitPairs fits the products and sums of two parameters.
func (d *grid) fitPairs(ws *workspace, pair *axisPair, products, sums *block, p pairSums, sumsF, sumsG []axisSums) {
	axisF, axisG := &d.axes[pair.f], &d.axes[pair.g]
	for k := range ws.scratch[:3] {
		ws.scratch[k] = resize(ws.scratch[k], len(axisF.x))
	}
	ag, agg, bg := ws.scratch[0], ws.scratch[1], ws.scratch[2]
	for j, g := range axisG.phi {
		clear(ag)
		clear(agg)
		clear(bg)
		for i, row := range axisF.place {
			value := g[axisG.place[i]]
			x := value * ws.w2[i]
			ag[row] += x
			agg[row] += x * value
			bg[row] += value * ws.w[i]
		}
		for i, f := range axisF.phi {
			p.f, p.g = sumsF[i], sumsG[j]
			p.fg, p.ffg, p.fgg, p.ffgg, p.b = 0, 0, 0, 0, 0
			for r, v := range f {
				x, y := v*ag[r], v*agg[r]
				p.fg += x
				p.ffg += v * x
				p.fgg += y
				p.ffgg += v * y
				p.b += v * bg[r]
			}
			at := i*len(axisG.terms) + j
			d.fitSum(ws, sums.first+sums.hypotheses()*at, &p)
			d.fitProduct(ws, products.first+products.hypotheses()*at, &p, pair.top[at])
		}
	}
}

func (d *grid) fitSum(ws *workspace, at int, p *pairSums) {
	fit, u1, u2 := solve2(p.n, p.f.gg, p.fg, p.g.gg, p.f.b, p.g.b)
	ws.fits[at] = d.refine(ws, at, fit, u1, u2)
	pre := newPair(p.g11, p.f.g1, p.f.gg, p.b1, p.f.b)
	fit, u1, u2, u3 := pre.solve3(p.n, p.g.g1, p.fg, p.g.gg, p.g.b)
	ws.fits[at+1] = d.refine(ws, at+1, fit, u1, u2, u3)
}

func (d *grid) fitProduct(ws *workspace, at int, p *pairSums, top float64) {
	s := 1 / top // the product is a column of its own, with its own largest value
	g1, gg, gf, ggCross, b := p.fg*s, p.ffgg*s*s, p.ffg*s, p.fgg*s, p.b*s
	fit, u := solve1(p.n, gg, b)
	ws.fits[at] = d.refine(ws, at, fit, u)
	fit, u1, u2 := solve2(p.n, p.g11, g1, gg, p.b1, b)
	ws.fits[at+1] = d.refine(ws, at+1, fit, u1, u2)
	fit, u1, u2 = solve2(p.n, gg, gf, p.f.gg, b, p.f.b)
	ws.fits[at+2] = d.refine(ws, at+2, fit, u1, u2)
	fit, u1, u2 = solve2(p.n, gg, ggCross, p.g.gg, b, p.g.b)
	ws.fits[at+3] = d.refine(ws, at+3, fit, u1, u2)
	pre := newPair(p.g11, g1, gg, p.b1, b)
	fit, u1, u2, u3 := pre.solve3(p.n, p.f.g1, gf, p.f.gg, p.f.b)
	ws.fits[at+4] = d.refine(ws, at+4, fit, u1, u2, u3)
	fit, u1, u2, u3 = pre.solve3(p.n, p.g.g1, ggCross, p.g.gg, p.g.b)
	ws.fits[at+5] = d.refine(ws, at+5, fit, u1, u2, u3)
}

// refine sums up chi of the hypothesis at a place from the residuals if it is small.
func (d *grid) refine(ws *workspace, at int, f fitted, u ...float64) fitted {
	if f.chi > exactBelow*float64(len(ws.w)) {
		return f
	}
	f.chi = 0
	columns := &d.hyps[at].columns
	for i, w := range ws.w {
		g := u[0] * d.value(columns[0], i)
		for k := 1; k < len(u); k++ {
			g += u[k] * d.value(columns[k], i)
		}
		r := 1 - g*w
		f.chi += r * r
	}
	return f
}
