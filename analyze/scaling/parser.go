package scaling

import (
	"fmt"
	"strings"
)

type expressionParser struct {
	text  string
	at    int // of the next token
	depth int
	names *[]string
}

func (p *expressionParser) expectation(e *Expression) error {
	t := p.peek()
	bracket := false
	if t.kind == nameToken && (t.text == "O" || t.text == "Theta" || t.text == "Θ") {
		back := p.at
		p.next()
		if bracket = p.take("("); !bracket {
			p.at = back
		}
		e.Tight = bracket && t.text != "O"
	}
	terms, err := p.sum()
	if err != nil {
		return err
	}
	if bracket && !p.take(")") {
		return p.expected("a closing bracket")
	}
	if t := p.peek(); t.kind != endToken {
		return p.expected("the end")
	}
	for _, name := range *p.names {
		largest := Term{}
		if len(terms) == 1 {
			largest = terms[0][name]
		}
		for _, t := range terms {
			if t[name].cmp(largest) > 0 {
				largest = t[name]
			}
		}
		e.terms[name] = largest
	}
	return nil
}

func (p *expressionParser) sum() ([]product, error) {
	var terms []product
	for {
		t, err := p.product()
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
		if !p.take("+") {
			return terms, nil
		}
	}
}

func (p *expressionParser) product() (product, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("brackets are nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	result, err := p.factor()
	for err == nil {
		sign := int64(1)
		switch t := p.peek(); {
		case p.take("*"):
		case p.take("/"):
			sign = -1
		case t.kind == nameToken || t.kind == numberToken || t.text == "(":
		default:
			return result, nil
		}
		var f product
		if f, err = p.factor(); err == nil {
			result, err = result.times(f, sign)
		}
	}
	return nil, err
}

func (p *expressionParser) factor() (product, error) {
	t := p.next()
	switch {
	case t.kind == numberToken:
		return p.constant(t)
	case t.kind == nameToken && isRoot(t.text):
		if !p.take("(") {
			return nil, p.expected("a bracket after " + t.text)
		}
		inside, err := p.product()
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, p.expected("a closing bracket")
		}
		return inside.pow(newRat(1, 2))
	case t.kind == nameToken && isLog(t.text):
		return p.logarithm(t.text)
	case t.kind == nameToken:
		if p.peek().text == "(" && p.unknownFunction(t.text) {
			return nil, fmt.Errorf("unknown function %s; there are log, log2, ln, lg, log10 and sqrt", t.text)
		}
		r, err := p.optionalPower()
		return product{p.name(t.text): {Poly: r}}, err
	case t.text == "(":
		inside, err := p.product()
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, p.expected("a closing bracket")
		}
		r, err := p.optionalPower()
		if err != nil {
			return nil, err
		}
		return inside.pow(r)
	}
	p.at = t.at
	return nil, p.expected("a number, a parameter, log, sqrt or a bracket")
}

// unknownFunction reports whether a name before a bracket is a function rather
// than a factor: parameters have short names, and functions are not parameters.
func (p *expressionParser) unknownFunction(name string) bool {
	switch strings.ToLower(name) {
	case "exp", "log1p", "loge", "cbrt", "pow", "sin", "cos", "tan", "max", "min", "abs", "floor", "ceil", "o", "theta", "omega":
		return true
	}
	return false
}

func isRoot(name string) bool { return name == "sqrt" || name == "√" }

func isLog(name string) bool {
	switch name {
	case "log", "log2", "ln", "lg", "log10":
		return true
	}
	return false
}

// name notes that a parameter occurs.
func (p *expressionParser) name(name string) string {
	for _, n := range *p.names {
		if n == name {
			return name
		}
	}
	*p.names = append(*p.names, name)
	return name
}

// constant parses what may follow a number: nothing, or the exponent of an exponential.
func (p *expressionParser) constant(base token) (product, error) {
	if strings.Trim(base.text, "0.") == "" {
		return nil, fmt.Errorf("a factor of 0 leaves nothing to expect")
	}
	if !p.take("^") {
		return product{}, nil
	}
	r, name, err := p.exponentOfNumber()
	if err != nil || name == "" {
		return product{}, err
	}
	value, err := parseNumber(base.text)
	if err != nil {
		return nil, err
	}
	bits := int64(0)
	for n := value.num; n > 1 && n%2 == 0; n /= 2 {
		bits++
	}
	if value.den() != 1 || bits == 0 || value.num != 1<<bits {
		return nil, fmt.Errorf("the base %s of an exponential is not 2, 4, 8 or a higher power of 2; write it with base 2, "+
			"e.g. 3^k as 2^(1.585 k)", base.text)
	}
	t := Term{Exp: r.mul(newRat(bits, 1))}
	return product{p.name(name): t}, t.check()
}

// exponentOfNumber parses exparg: a factor and the name after it, which is empty
// if the exponent is just a number.
func (p *expressionParser) exponentOfNumber() (Rat, string, error) {
	one := newRat(1, 1)
	if !p.take("(") {
		switch t := p.next(); {
		case t.kind == nameToken && !isLog(t.text) && !isRoot(t.text):
			return one, t.text, nil
		case t.kind == numberToken:
			return one, "", nil
		default:
			p.at = t.at
			return one, "", p.expected("a parameter or a number as exponent")
		}
	}
	factor, err := one, error(nil)
	hasNumber := p.peek().kind == numberToken
	if hasNumber {
		if factor, err = p.fraction(); err != nil {
			return one, "", err
		}
		p.take("*")
	}
	t := p.peek()
	if t.kind != nameToken || isLog(t.text) || isRoot(t.text) {
		if hasNumber && p.take(")") {
			return one, "", nil
		}
		return one, "", p.expected("a parameter in the exponent")
	}
	p.next()
	if p.take("/") {
		under, err := p.number()
		if err != nil {
			return one, "", err
		}
		if under.Sign() == 0 {
			return one, "", fmt.Errorf("the exponent is divided by 0")
		}
		factor = factor.mul(newRat(under.den(), under.num))
	}
	if !p.take(")") {
		return one, "", p.expected("a closing bracket")
	}
	return factor, t.text, Term{Exp: factor}.check()
}

// logarithm parses what follows the word.
func (p *expressionParser) logarithm(word string) (product, error) {
	before, err := p.optionalPower()
	if err != nil {
		return nil, err
	}
	bracket := p.take("(")
	t := p.peek()
	if t.kind != nameToken || isLog(t.text) || isRoot(t.text) {
		return nil, p.expected("a parameter after " + word)
	}
	p.next()
	if bracket && !p.take(")") {
		return nil, p.expected("a closing bracket")
	}
	after, err := p.optionalPower()
	if err != nil {
		return nil, err
	}
	r := Term{Log: before.mul(after)}
	return product{p.name(t.text): r}, r.check()
}

// optionalPower parses "^ power", or nothing, which is 1.
func (p *expressionParser) optionalPower() (Rat, error) {
	if !p.take("^") {
		return newRat(1, 1), nil
	}
	bracket := p.take("(")
	negative := p.take("-")
	var r Rat
	var err error
	if bracket {
		r, err = p.fraction()
	} else {
		r, err = p.number()
	}
	if err != nil {
		return r, err
	}
	if negative {
		r = r.neg()
	}
	if bracket && !p.take(")") {
		return r, p.expected("a closing bracket")
	}
	return r, Term{Poly: r}.check()
}

// fraction parses "number [ "/" number ]".
func (p *expressionParser) fraction() (Rat, error) {
	r, err := p.number()
	if err != nil || !p.take("/") {
		return r, err
	}
	under, err := p.number()
	if err != nil {
		return r, err
	}
	if under.Sign() == 0 {
		return r, fmt.Errorf("an exponent is divided by 0")
	}
	r = r.mul(newRat(under.den(), under.num))
	return r, Term{Poly: r}.check()
}

// number parses a number in an exponent.
func (p *expressionParser) number() (Rat, error) {
	t := p.peek()
	if t.kind != numberToken {
		return Rat{}, p.expected("a number")
	}
	p.next()
	r, err := parseNumber(t.text)
	if err != nil {
		return r, err
	}
	if strings.Contains(t.text, ".") {
		r = r.snap()
	}
	return r, nil
}
