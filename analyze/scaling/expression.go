package scaling

import (
	"fmt"
	"slices"
	"strings"
)

// Expression is how something is expected to grow: for each parameter its largest
// term. Constants and the bases of logarithms do not matter.
//
//	expectation := ("O" | "Theta") "(" sum ")" | sum
//	sum         := product { "+" product }
//	product     := factor { ("*" | "/" | nothing) factor }
//	factor      := number [ "^" exparg ] | "sqrt" "(" product ")" | log | name [ "^" power ]
//	             | "(" product ")" [ "^" power ]
//	log         := ("log" | "log2" | "ln" | "lg" | "log10") [ "^" power ] ( name | "(" name ")" ) [ "^" power ]
//	power       := ["-"] number | "(" ["-"] number [ "/" number ] ")"
//	exparg      := name | number | "(" [ number [ "/" number ] [ "*" ] ] name [ "/" number ] ")"
//	number      := digits [ "." digits ]
//
// U+0398 is Theta, U+221A for sqrt. Bases of exponentials are 2, 4, 8 and
// so on. A decimal exponent is snapped to a fraction with a denominator of up to
// 12 that is nearer than 0.005.
type Expression struct {
	Text  string
	Tight bool // Theta: a bound from both sides; O and nothing: from above

	Names []string        // of the parameters, in the order in which they occur
	terms map[string]Term // of those that occur
}

// Term returns the largest term in a parameter; the constant if it does not occur.
func (e *Expression) Term(parameter string) Term { return e.terms[parameter] }

// Mentions reports whether a parameter occurs.
func (e *Expression) Mentions(parameter string) bool {
	_, ok := e.terms[parameter]
	return ok
}

// Check returns an error if a name in the expression is not among the parameters.
func (e *Expression) Check(parameters []string) error {
	for _, name := range e.Names {
		if !slices.Contains(parameters, name) {
			return fmt.Errorf("%q contains %s, which is not a parameter of the data (%s)", e.Text, name, strings.Join(parameters, ", "))
		}
	}
	return nil
}

// Limits of what an expression may hold, so that exponents stay exact and a file
// cannot make the parser work for long.
const (
	maxExponent    = 1000
	maxDenominator = 1_000_000
	maxExpression  = 500 // bytes
	maxNesting     = 20
)

// ParseExpression parses an expectation or a limit.
func ParseExpression(text string) (*Expression, error) {
	e := &Expression{Text: strings.TrimSpace(text), terms: map[string]Term{}}
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the expression has %d characters; write one of at most %d", len(text), maxExpression)
	}
	p := &expressionParser{text: text, names: &e.Names}
	if err := p.expectation(e); err != nil {
		return nil, fmt.Errorf("%q: %w", e.Text, err)
	}
	return e, nil
}

// product is a product of terms in several parameters.
type product map[string]Term

func (a product) times(b product, sign int64) (product, error) {
	for name, t := range b {
		a[name] = a[name].Mul(t.pow(newRat(sign, 1)))
		if err := a[name].check(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a product) pow(r Rat) (product, error) {
	for name, t := range a {
		a[name] = t.pow(r)
		if err := a[name].check(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// check refuses exponents that no program has.
func (t Term) check() error {
	for _, r := range []Rat{t.Exp, t.Poly, t.Log} {
		if abs(r.num)/r.den() > maxExponent || r.den() > maxDenominator {
			return fmt.Errorf("the exponent %s is beyond what can be checked; give at most %d, with at most 6 decimals", r, maxExponent)
		}
	}
	return nil
}

// ParseTerm parses an expression in one parameter, whatever its name.
func ParseTerm(text string) (Term, error) {
	e, err := ParseExpression(text)
	if err != nil {
		return Term{}, err
	}
	switch len(e.Names) {
	case 0:
		return Term{}, nil
	case 1:
		return e.terms[e.Names[0]], nil
	}
	return Term{}, fmt.Errorf("%q contains %s; give a term in one parameter", e.Text, strings.Join(e.Names, " and "))
}
