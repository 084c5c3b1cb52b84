package scaling

import (
	"math"
	"slices"
)

// grid is what series with the same points of several parameters have in common.
//
// The columns are products of terms, one of each parameter or none; the constant is the product of none. The hypotheses
// are listed by block: a shape over some of the parameters, with all combinations of their terms.
type grid struct {
	at     [][]float64
	axes   []axis
	pairs  []axisPair
	top3   []float64 // by the terms of three parameters: the largest absolute value of their product at a point
	blocks []block
	hyps   []hypothesis // nil: see list
	groups []group
}

// axis are the candidates of one parameter at its distinct values.
type axis struct {
	x     []float64
	place []int32 // by point: that of its value in x
	terms []Term
	phi   [][]float64 // by term, then by distinct value; normalised
	scale []float64
}

// axisPair are two parameters.
type axisPair struct {
	f, g int
	top  []float64 // by the terms of f and g: the largest absolute value of their product at a point
}

// block are the hypotheses of a shape over some of the parameters.
type block struct {
	*shape
	axes  []int
	first int // place of the first hypothesis
}

func newAxis(at [][]float64, coordinate int, terms []Term) axis {
	a := axis{}
	a.x, a.place = distinctValues(at, coordinate)
	for _, t := range terms {
		if phi, top, ok := t.column(a.x); ok {
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

// newGrid prepares points of two or three parameters with their candidates.
func newGrid(at [][]float64, candidates [][]Term) *grid {
	d := &grid{at: at}
	for i, terms := range candidates {
		d.axes = append(d.axes, newAxis(at, i, terms))
	}
	d.addBlocks()
	for i := range d.axes {
		d.addBlocks(i)
	}
	for i := range d.axes {
		for j := i + 1; j < len(d.axes); j++ {
			d.addPair(i, j)
		}
	}
	if len(d.axes) == 3 {
		d.setTop3()
		d.addBlocks(0, 1, 2)
	}
	d.hyps, d.groups = d.listHypotheses()
	return d
}

// addPair adds two parameters.
func (d *grid) addPair(i, j int) {
	f, g := &d.axes[i], &d.axes[j]
	p := axisPair{f: i, g: j, top: make([]float64, len(f.terms)*len(g.terms))}
	for s, phi := range f.phi {
		for t, psi := range g.phi {
			top := 0.0
			for n := range d.at {
				top = max(top, math.Abs(phi[f.place[n]]*psi[g.place[n]]))
			}
			p.top[s*len(g.terms)+t] = top
		}
	}
	d.pairs = append(d.pairs, p)
	d.addBlocks(i, j)
}

// setTop3 finds the largest products of all three parameters.
func (d *grid) setTop3() {
	f, g, h := &d.axes[0], &d.axes[1], &d.axes[2]
	products := make([]float64, len(d.at))
	for _, phi := range f.phi {
		for _, psi := range g.phi {
			for n := range products {
				products[n] = phi[f.place[n]] * psi[g.place[n]]
			}
			for _, chi := range h.phi {
				top := 0.0
				for n, v := range products {
					top = max(top, math.Abs(v*chi[h.place[n]]))
				}
				d.top3 = append(d.top3, top)
			}
		}
	}
}

// addBlocks adds the shapes over some parameters.
func (d *grid) addBlocks(axes ...int) {
	next := 0
	if n := len(d.blocks); n > 0 {
		next = d.end(&d.blocks[n-1])
	}
	for i := range shapes[len(axes)] {
		b := block{&shapes[len(axes)][i], axes, next}
		next = d.end(&b)
		d.blocks = append(d.blocks, b)
	}
}

// end is the place after the last hypothesis of a block.
func (d *grid) end(b *block) int { return b.first + d.combinations(b)*b.hypotheses() }

// combinations is how many combinations of terms a block has.
func (d *grid) combinations(b *block) int {
	n := 1
	for _, a := range b.axes {
		n *= len(d.axes[a].terms)
	}
	return n
}

// Columns of a hypothesis: the places of its terms, from 1 on, in columnBits bits for each parameter; 0 is the constant.
const (
	columnBits = 10
	columnTerm = 1<<columnBits - 1
)

func columnOf(axis, term int) int32 { return int32(term+1) << (columnBits * axis) }

// termPlace returns the place of the term of a parameter in a column; -1: none.
func termPlace(column int32, axis int) int { return int(column>>(columnBits*axis))&columnTerm - 1 }

// list returns the hypotheses and their groups. Those of three parameters are many and depend on the series, so that
// a fit does not keep them.
func (d *grid) list() ([]hypothesis, []group) {
	if d.hyps == nil {
		return d.listHypotheses()
	}
	return d.hyps, d.groups
}

func (d *grid) kept() design {
	if len(d.axes) < 3 {
		return d
	}
	bare := *d
	bare.hyps, bare.groups = nil, nil
	return &bare
}

func (d *grid) listed() design {
	full := *d
	full.hyps, full.groups = d.list()
	return &full
}

func (d *grid) listHypotheses() (hyps []hypothesis, groups []group) {
	hyps = make([]hypothesis, 0, d.end(&d.blocks[len(d.blocks)-1]))
	combinations := 0
	for i := range d.blocks {
		combinations += d.combinations(&d.blocks[i])
	}
	groups = make([]group, 0, combinations)
	for i := range d.blocks {
		b := &d.blocks[i]
		terms := make([]int, len(b.axes))
		share := d.share(b)
		for range d.combinations(b) {
			g := group{form: b.form}
			oddity := 0
			var columns [1 << maxParameters]int32 // by mask
			for k, a := range b.axes {
				g.leads[a] = d.axes[a].terms[terms[k]]
				oddity += g.leads[a].oddity()
				for m := range columns {
					if m>>k&1 == 1 {
						columns[m] |= columnOf(a, terms[k])
					}
				}
			}
			plain, extended := b.priors(oddity)
			plain, extended = plain-share, extended-share
			add := func(list [][]columnMask, plain bool, prior float64) {
				for _, masks := range list {
					h := newHypothesis(len(groups), plain, prior)
					for _, m := range masks {
						h.columns[h.k] = columns[m]
						h.k++
					}
					hyps = append(hyps, h)
				}
			}
			add(b.plain, true, plain)
			add(b.extended, false, extended)
			groups = append(groups, g)
			for k := len(terms) - 1; k >= 0; k-- { // the next combination
				if terms[k]++; terms[k] < len(d.axes[b.axes[k]].terms) {
					break
				}
				terms[k] = 0
			}
		}
	}
	return hyps, groups
}

// share returns the logarithm of by how much the prior of a block is less than that of a single parameter. Of three
// parameters there are so many combinations that together they would outweigh the constant, which is one; so those of a
// block share the prior of one parameter.
func (d *grid) share(b *block) float64 {
	share := 0.0
	if len(d.axes) == 3 {
		for k := 1; k < len(b.axes); k++ {
			share += math.Log(float64(len(d.axes[b.axes[k]].terms)))
		}
	}
	return share
}

// value returns a column at a point.
func (d *grid) value(column int32, point int) float64 {
	v := 1.0
	for i := range d.axes {
		if t := termPlace(column, i); t >= 0 {
			v *= d.axes[i].phi[t][d.axes[i].place[point]]
		}
	}
	return v / d.topOf(column)
}

// topOf returns the largest absolute value of the product of the terms of a column, each of which is 1 at most.
func (d *grid) topOf(column int32) float64 {
	for _, p := range d.pairs {
		s, t := termPlace(column, p.f), termPlace(column, p.g)
		switch {
		case s < 0 || t < 0:
		case column == columnOf(p.f, s)|columnOf(p.g, t):
			return p.top[s*len(d.axes[p.g].terms)+t]
		default:
			return d.top3[(s*len(d.axes[1].terms)+t)*len(d.axes[2].terms)+termPlace(column, 2)]
		}
	}
	return 1
}

// columnsOf returns the columns of a hypothesis.
func (d *grid) columnsOf(h *hypothesis) (phi [][]float64, terms []ModelTerm) {
	for _, c := range h.columns[:h.k] {
		column := make([]float64, len(d.at))
		for i := range column {
			column[i] = d.value(c, i)
		}
		t := ModelTerm{Coefficient: 1, Factors: make([]Term, len(d.axes))}
		for i := range d.axes {
			if k := termPlace(c, i); k >= 0 {
				t.Factors[i] = d.axes[i].terms[k]
				t.Coefficient /= d.axes[i].scale[k]
			}
		}
		t.Coefficient /= d.topOf(c)
		phi, terms = append(phi, column), append(terms, t)
	}
	return phi, terms
}
