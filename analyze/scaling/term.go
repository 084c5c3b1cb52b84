package scaling

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Term is 2^(Exp x) * x^Poly * log2(x)^Log with exact exponents; the zero Term is
// the constant 1. Terms are ordered by their growth: first Exp, then Poly, then
// Log.
type Term struct{ Exp, Poly, Log Rat }

// Class is the class of functions that a term belongs to.
type Class int

// The classes of the paper: logarithms (and the constant), powers, exponentials.
const (
	F1 Class = 1 + iota
	F2
	F3
)

// class returns the class of the term's leading factor.
func (t Term) class() Class {
	switch {
	case t.Exp.Sign() != 0:
		return F3
	case t.Poly.Sign() != 0:
		return F2
	}
	return F1
}

// in returns the exponent of the term in a class.
func (t Term) in(c Class) Rat {
	switch c {
	case F3:
		return t.Exp
	case F2:
		return t.Poly
	}
	return t.Log
}

// power returns the term with one exponent, in a class.
func power(c Class, exponent Rat) Term {
	switch c {
	case F3:
		return Term{Exp: exponent}
	case F2:
		return Term{Poly: exponent}
	}
	return Term{Log: exponent}
}

// Mul returns the product.
func (t Term) Mul(s Term) Term { return Term{t.Exp.add(s.Exp), t.Poly.add(s.Poly), t.Log.add(s.Log)} }

// Div returns the quotient.
func (t Term) Div(s Term) Term { return Term{t.Exp.sub(s.Exp), t.Poly.sub(s.Poly), t.Log.sub(s.Log)} }

// pow returns the term to a power.
func (t Term) pow(r Rat) Term { return Term{t.Exp.mul(r), t.Poly.mul(r), t.Log.mul(r)} }

// cmp compares the growth of two terms.
func (t Term) cmp(s Term) int {
	return cmp.Or(t.Exp.cmp(s.Exp), t.Poly.cmp(s.Poly), t.Log.cmp(s.Log))
}

// growth is -1 for a term that decreases, 0 for the constant, 1 for one that grows.
func (t Term) growth() int { return t.cmp(Term{}) }

// Eval returns the value at x, which may be infinite or not a number.
func (t Term) Eval(x float64) float64 {
	v := 1.0
	if t.Exp.num != 0 {
		v = math.Exp2(t.Exp.float() * x)
	}
	if t.Poly.num != 0 {
		v *= math.Pow(x, t.Poly.float())
	}
	if t.Log.num != 0 {
		v *= math.Pow(math.Log2(x), t.Log.float())
	}
	return v
}

// product prints the term in a parameter as factors joined by " * ", for
// formulas; the constant is "".
func (t Term) product(name string) string {
	var parts []string
	if t.Exp.Sign() != 0 {
		parts = append(parts, exponential(t.Exp, name))
	}
	if t.Poly.Sign() != 0 {
		parts = append(parts, name+exponent(t.Poly))
	}
	if t.Log.Sign() != 0 {
		parts = append(parts, "log2("+name+")"+exponent(t.Log))
	}
	return strings.Join(parts, " * ")
}

// landau prints the term as between the brackets of O(...), e.g. "p^(1/3)/log p".
func (t Term) landau(name string) string {
	var over, under []string
	add := func(r Rat, text func(Rat) string) {
		switch r.Sign() {
		case 1:
			over = append(over, text(r))
		case -1:
			under = append(under, text(r.neg()))
		}
	}
	add(t.Poly, func(r Rat) string { return name + exponent(r) })
	add(t.Exp, func(r Rat) string { return exponential(r, name) })
	add(t.Log, func(r Rat) string { return "log" + exponent(r) + " " + name })
	text := cmp.Or(strings.Join(over, " "), "1")
	for _, part := range under {
		text += "/" + part
	}
	return text
}

// exponent prints "^2" or "^(1/2)", and nothing for 1.
func exponent(r Rat) string {
	switch {
	case r == newRat(1, 1):
		return ""
	case r.den() == 1 && r.num > 0:
		return "^" + r.String()
	}
	return "^(" + r.String() + ")"
}

// exponential prints 2^k, 2^(k/2), 2^(2*k) or 2^(3/2*k).
func exponential(r Rat, name string) string {
	switch {
	case r == newRat(1, 1):
		return "2^" + name
	case r.num == 1:
		return fmt.Sprintf("2^(%s/%d)", name, r.den())
	}
	return fmt.Sprintf("2^(%s*%s)", r, name)
}

// MarshalJSON writes {"exp":"0","poly":"1/2","log":"1"}.
func (t Term) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 48)
	b = t.Exp.append(append(b, `{"exp":"`...))
	b = t.Poly.append(append(b, `","poly":"`...))
	b = t.Log.append(append(b, `","log":"`...))
	return append(b, `"}`...), nil
}

// oddity counts what makes a lead term unusual: the prior of the evidence
// method prefers common laws. The exponential factor does not count.
func (t Term) oddity() int {
	n := 0
	switch t.Poly.den() {
	case 1:
	case 2, 3:
		n++
	default:
		n += 2
	}
	switch one, plain := newRat(1, 1), t.Poly.Sign() == 0; {
	case t.Log.Sign() == 0:
	case t.Log == one:
		if !plain && t.Poly != one {
			n++
		}
	case t.Log == newRat(2, 1):
		n++
		if !plain {
			n++
		}
	default:
		n += 2
	}
	return n
}
