package scaling

import "math"

// A hypothesis whose columns cannot be distinguished is dropped: the determinant of its normal equations is at or below minDet,
// or, with columns of length one, at or below alike. What is left of a determinant that should be 0 is the rounding of its sums,
// and far above minDet: the term log(p) f(n) is the same column as log(p) if only n = 100 is measured where p > 1.
var minDet = math.Exp(-50)

const alike = 1e-13

// fitted is what remains of the fit of a hypothesis: the sum of squared relative
// residuals and the determinant of the normal equations. A hypothesis that is
// dropped has chi = +Inf.
type fitted struct{ chi, det float64 }

var dropped = fitted{chi: math.Inf(1)}

// finite reports whether the fit can be compared with others: numbers did not become too large, nor undefined.
func (f fitted) finite() bool { return f.chi < math.Inf(1) && f.det > 0 && f.det < math.Inf(1) }

// The normal equations are solved by the factorisation L D L^T, which is stable
// without pivoting for such matrices. The sum of squares follows from it, since
// the target is a vector of ones: chi = n - sum y_i^2/d_i. That loses digits when
// the fit is good; then it is summed up from the residuals (see exactBelow).

// solve1 fits one column with square g and sum b.
func solve1(n, g, b float64) (f fitted, u float64) {
	if !(g > minDet) || !(b > 0) {
		return dropped, 0
	}
	return fitted{n - b*b/g, g}, b / g
}

// solve2 fits two columns.
func solve2(n, g11, g12, g22, b1, b2 float64) (f fitted, u1, u2 float64) {
	if f, u1, u2 = solveSigned(n, g11, g12, g22, b1, b2); !(u1 > 0 && u2 > 0) {
		return dropped, 0, 0
	}
	return f, u1, u2
}

// solveSigned fits two columns, whose shares may be below 0.
func solveSigned(n, g11, g12, g22, b1, b2 float64) (f fitted, u1, u2 float64) {
	l := g12 / g11
	d2 := g22 - l*g12
	y2 := b2 - l*b1
	det := g11 * d2
	u2 = y2 / d2
	u1 = (b1 - g12*u2) / g11
	if !(det > minDet && d2 > alike*g22) {
		return dropped, 0, 0
	}
	return fitted{n - b1*b1/g11 - y2*u2, det}, u1, u2
}

// pair is the factorisation of two columns, to be continued with a third.
type pair struct {
	g11, g12, d2 float64
	apart        float64 // the determinant with columns of length one
	b1, y2       float64
}

func newPair(g11, g12, g22, b1, b2 float64) pair {
	l := g12 / g11
	d2 := g22 - l*g12
	return pair{g11: g11, g12: g12, d2: d2, apart: d2 / g22, b1: b1, y2: b2 - l*b1}
}

// solve3 fits a third column in addition to a pair.
func (p *pair) solve3(n, g13, g23, g33, b3 float64) (f fitted, u1, u2, u3 float64) {
	l31 := g13 / p.g11
	m32 := g23 - l31*p.g12
	l32 := m32 / p.d2
	d3 := g33 - l31*g13 - l32*m32
	y3 := b3 - l31*p.b1 - l32*p.y2
	det := p.g11 * p.d2 * d3
	if !(det > minDet && p.d2 > 0 && p.apart*d3 > alike*g33) {
		return dropped, 0, 0, 0
	}
	u3 = y3 / d3
	if !(u3 > 0) {
		return dropped, 0, 0, 0
	}
	u2 = (p.y2 - m32*u3) / p.d2
	u1 = (p.b1 - p.g12*u2 - g13*u3) / p.g11
	if !(u1 > 0 && u2 > 0) {
		return dropped, 0, 0, 0
	}
	return fitted{n - p.b1*p.b1/p.g11 - p.y2*p.y2/p.d2 - y3*u3, det}, u1, u2, u3
}

// exactBelow is the mean squared residual below which chi is summed up from the
// residuals: above it, what the short formula loses (about 1e-15) is less than a
// millionth of it.
const exactBelow = 1e-6

func dot(a, b []float64) float64 {
	s := 0.0
	b = b[:len(a)]
	for i, x := range a {
		s += x * b[i]
	}
	return s
}
