package scaling

// moments are the sums over all points of w2 f^a g^b h^c, for exponents of 0 to 2, and those of w f^a g^b h^c, for
// exponents of 0 and 1: all that the normal equations of three parameters are made of.
type moments struct {
	g [3][3][3]float64
	b [2][2][2]float64
}

// fitTriples fits the shapes of three parameters.
func (d *grid) fitTriples(ws *workspace, blocks []block) {
	f, g, h := &d.axes[0], &d.axes[1], &d.axes[2]
	t := tripleFit{grid: d, ws: ws, byValue: make([]moments, len(h.x))}
	for _, phi := range f.phi {
		for _, psi := range g.phi {
			t.contract(phi, psi)
			for _, chi := range h.phi {
				t.finish(chi)
				t.solve(blocks)
				t.at++
			}
		}
	}
}

// tripleFit fits all hypotheses with the same three terms.
type tripleFit struct {
	*grid
	ws      *workspace
	at      int       // place of the terms among all combinations
	byValue []moments // by value of the third parameter: without its term, c = 0
	sums    moments
	gram    [8][8]float64 // of all columns, by their masks
	target  [8]float64
}

// contract sums up what does not depend on the term of the third parameter.
func (t *tripleFit) contract(phi, psi []float64) {
	f, g, h := &t.axes[0], &t.axes[1], &t.axes[2]
	clear(t.byValue)
	for n, w2 := range t.ws.w2 {
		x, y, w := phi[f.place[n]], psi[g.place[n]], t.ws.w[n]
		m := &t.byValue[h.place[n]]
		for a := range 3 {
			v := w2
			for b := range 3 {
				m.g[a][b][0] += v
				v *= y
			}
			w2 *= x
		}
		for a := range 2 {
			m.b[a][0][0] += w
			m.b[a][1][0] += w * y
			w *= x
		}
	}
}

// finish completes the sums with the term of the third parameter, and normalises the columns.
func (t *tripleFit) finish(chi []float64) {
	t.sums = moments{}
	for v, z := range chi {
		m := &t.byValue[v]
		for a := range 3 {
			for b := range 3 {
				s, sum := m.g[a][b][0], &t.sums.g[a][b]
				sum[0] += s
				s *= z
				sum[1] += s
				sum[2] += s * z
			}
		}
		for a := range 2 {
			for b := range 2 {
				t.sums.b[a][b][0] += m.b[a][b][0]
				t.sums.b[a][b][1] += m.b[a][b][0] * z
			}
		}
	}
	k := len(t.axes[2].terms)
	i, j := t.at/k/len(t.axes[1].terms), t.at/k%len(t.axes[1].terms)
	tops := [8]float64{3: t.pairs[0].top[i*len(t.axes[1].terms)+j], 5: t.pairs[1].top[i*k+t.at%k], 6: t.pairs[2].top[j*k+t.at%k],
		7: t.top3[t.at]}
	var scale [8]float64
	for m := range scale {
		if scale[m] = 1; tops[m] > 0 {
			scale[m] = 1 / tops[m]
		}
	}
	for m := range scale {
		t.target[m] = t.sums.b[m&1][m>>1&1][m>>2] * scale[m]
		for l := range m + 1 {
			v := t.sums.g[m&1+l&1][m>>1&1+l>>1&1][m>>2+l>>2] * scale[m] * scale[l]
			t.gram[m][l], t.gram[l][m] = v, v
		}
	}
}

// solve fits the hypotheses of the shapes.
func (t *tripleFit) solve(blocks []block) {
	n := float64(len(t.ws.w))
	for i := range blocks {
		b := &blocks[i]
		at := b.first + t.at*b.hypotheses()
		for _, list := range [2][][]columnMask{b.plain, b.extended} {
			for _, masks := range list {
				f, u := t.solveMasks(n, masks)
				t.ws.fits[at] = t.refine(t.ws, at, f, u[:len(masks)]...)
				at++
			}
		}
	}
}

// solveMasks fits columns, given by their masks, by the factorisation of the normal equations.
func (t *tripleFit) solveMasks(n float64, masks []columnMask) (f fitted, u [maxColumns]float64) {
	var m [maxColumns][maxColumns]float64 // m[i][j] is L[i][j] D[j]
	var d, y [maxColumns]float64
	chi, det, apart := n, 1.0, 1.0
	for i, mask := range masks {
		y[i] = t.target[mask]
		for j := range i + 1 {
			s := t.gram[mask][masks[j]]
			for k := range j {
				s -= m[i][k] * m[j][k] / d[k]
			}
			m[i][j] = s
		}
		for k := range i {
			y[i] -= m[i][k] / d[k] * y[k]
		}
		if d[i] = m[i][i]; !(d[i] > 0) {
			return dropped, u
		}
		det *= d[i]
		apart *= d[i] / t.gram[mask][mask]
		chi -= y[i] * y[i] / d[i]
	}
	if !(det > minDet && apart > alike) {
		return dropped, u
	}
	for i := len(masks) - 1; i >= 0; i-- {
		u[i] = y[i]
		for j := i + 1; j < len(masks); j++ {
			u[i] -= m[j][i] * u[j]
		}
		if u[i] /= d[i]; !(u[i] > 0) {
			return dropped, u
		}
	}
	return fitted{chi, det}, u
}
