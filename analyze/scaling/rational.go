package scaling

import (
	"math/bits"
	"strconv"
)

// Rat is an exact fraction in lowest terms with a denominator above 0. The zero
// Rat is 0. Parsed exponents are small (see maxExponent, maxDenominator), so
// that the few operations done with them cannot overflow.
type Rat struct {
	num int64
	den int64 // less 1, so that the zero value is 0/1
}

// NewRat returns num/den. It panics if den is 0: a mistake of the programmer.
func NewRat(num, den int64) Rat {
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

// Num and Den are the parts of the fraction.
func (r Rat) Num() int64 { return r.num }

// Den is the denominator, above 0.
func (r Rat) Den() int64 { return r.den + 1 }

// Float is the value as a floating point number.
func (r Rat) Float() float64 { return float64(r.num) / float64(r.Den()) }

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

// Add returns r + s.
func (r Rat) Add(s Rat) Rat {
	if r.den == s.den {
		return NewRat(r.num+s.num, r.Den())
	}
	return NewRat(r.num*s.Den()+s.num*r.Den(), r.Den()*s.Den())
}

// Neg returns -r.
func (r Rat) Neg() Rat { return Rat{-r.num, r.den} }

// Sub returns r - s.
func (r Rat) Sub(s Rat) Rat { return r.Add(s.Neg()) }

// Mul returns r * s.
func (r Rat) Mul(s Rat) Rat {
	// Cross-reduced first, so that the products are the result's own parts.
	a, b := NewRat(r.num, s.Den()), NewRat(s.num, r.Den())
	return Rat{a.num * b.num, a.Den()*b.Den() - 1}
}

// Abs returns the absolute value.
func (r Rat) Abs() Rat { return Rat{abs(r.num), r.den} }

// Cmp returns -1, 0 or 1 as r is less than, equal to or greater than s.
func (r Rat) Cmp(s Rat) int {
	if r.Sign() != s.Sign() || r.num == 0 {
		if d := r.Sign() - s.Sign(); d != 0 {
			return d / int(abs(int64(d)))
		}
		return 0
	}
	ah, al := bits.Mul64(uint64(abs(r.num)), uint64(s.Den()))
	bh, bl := bits.Mul64(uint64(abs(s.num)), uint64(r.Den()))
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
	if r.den != 0 {
		b = strconv.AppendInt(append(b, '/'), r.Den(), 10)
	}
	return b
}

// snapDenominator and snapDistance say which decimals stand for a fraction: 0.33
// for 1/3, but 2.8074 for itself.
const (
	snapDenominator = 12
	snapDistance    = 0.005
)

// snap returns the nearest fraction with a small denominator if that is near.
func (r Rat) snap() Rat {
	v := r.Float()
	best, distance := r, snapDistance
	for den := int64(1); den <= snapDenominator; den++ {
		num := nearest(v * float64(den))
		if d := v - float64(num)/float64(den); max(d, -d) < distance {
			best, distance = NewRat(num, den), max(d, -d)
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
