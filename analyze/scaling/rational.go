package scaling

import (
	"math/bits"
	"strconv"
)

// Rat is an exact fraction in lowest terms with a denominator above 0. The zero
// Rat is 0. Parsed exponents are small (see maxExponent, maxDenominator), so
// that the few operations done with them cannot overflow.
type Rat struct {
	num   int64
	less1 int64 // the denominator less 1, so that the zero value is 0/1
}

// newRat returns num/den. It panics if den is 0: a mistake of the programmer.
func newRat(num, den int64) Rat {
	if den == 0 {
		panic("scaling: a fraction with denominator 0")
	}
	if den < 0 {
		num, den = -num, -den
	}
	g := gcd(abs(num), den)
	return Rat{num / g, den/g - 1}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, 1)
}

func abs(a int64) int64 {
	if a < 0 {
		return -a
	}
	return a
}

// den is the denominator, above 0.
func (r Rat) den() int64 { return r.less1 + 1 }

// float is the value as a floating point number.
func (r Rat) float() float64 { return float64(r.num) / float64(r.den()) }

// Sign is -1, 0 or 1.
func (r Rat) Sign() int {
	switch {
	case r.num < 0:
		return -1
	case r.num > 0:
		return 1
	}
	return 0
}

// add returns r + s.
func (r Rat) add(s Rat) Rat {
	if r.less1 == s.less1 {
		return newRat(r.num+s.num, r.den())
	}
	return newRat(r.num*s.den()+s.num*r.den(), r.den()*s.den())
}

// neg returns -r.
func (r Rat) neg() Rat { return Rat{-r.num, r.less1} }

// sub returns r - s.
func (r Rat) sub(s Rat) Rat { return r.add(s.neg()) }

// mul returns r * s.
func (r Rat) mul(s Rat) Rat {
	// Cross-reduced first, so that the products are the result's own parts.
	a, b := newRat(r.num, s.den()), newRat(s.num, r.den())
	return Rat{a.num * b.num, a.den()*b.den() - 1}
}

// abs returns the absolute value.
func (r Rat) abs() Rat { return Rat{abs(r.num), r.less1} }

// cmp returns -1, 0 or 1 as r is less than, equal to or greater than s.
func (r Rat) cmp(s Rat) int {
	if r.Sign() != s.Sign() || r.num == 0 {
		if d := r.Sign() - s.Sign(); d != 0 {
			return d / int(abs(int64(d)))
		}
		return 0
	}
	ah, al := bits.Mul64(uint64(abs(r.num)), uint64(s.den()))
	bh, bl := bits.Mul64(uint64(abs(s.num)), uint64(r.den()))
	switch {
	case ah == bh && al == bl:
		return 0
	case ah < bh || ah == bh && al < bl:
		return -r.Sign()
	}
	return r.Sign()
}

// String returns "n" or "n/d".
func (r Rat) String() string { return string(r.append(nil)) }

func (r Rat) append(b []byte) []byte {
	b = strconv.AppendInt(b, r.num, 10)
	if r.less1 != 0 {
		b = strconv.AppendInt(append(b, '/'), r.den(), 10)
	}
	return b
}

// snapDenominator and snapDistance define which decimals represent a fraction: 0.33
// for 1/3, but 2.8074 for itself.
const (
	snapDenominator = 12
	snapDistance    = 0.005
)

// snap returns the nearest fraction with a small denominator if that is near.
func (r Rat) snap() Rat {
	v := r.float()
	best, distance := r, snapDistance
	for den := int64(1); den <= snapDenominator; den++ {
		num := nearest(v * float64(den))
		if d := v - float64(num)/float64(den); max(d, -d) < distance {
			best, distance = newRat(num, den), max(d, -d)
		}
	}
	return best
}

func nearest(v float64) int64 {
	if v < 0 {
		return -int64(0.5 - v)
	}
	return int64(v + 0.5)
}
