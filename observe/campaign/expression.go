package campaign

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

// An expression is a formula over the parameters of a plan: a filter such as "p*n <= 1e6", the number
// of cores, or the content of the braces of a template. Truth is 1, falsehood 0. A division by 0 has no value: it is NaN, and
// so is all that depends on it.
//
//	or  = and {"or" and}
//	and = comparison {"and" comparison}
//	comparison = sum ["<" | "<=" | ">" | ">=" | "=" | "==" | "!=" sum]
//	sum = product {("+" | "-") product}
//	product = power {("*" | "/" | "%") power}
//	power = atom ["^" power]
//	atom = number | name | "(" or ")" | "-" power
type expression struct {
	text  string
	value func(at map[string]float64) float64 // at a point
	at    yamlfile.Place                      // in the plan
}

// maxNesting bounds parentheses and powers.
const maxNesting = 50

type expressionParser struct {
	tokens []string
	names  []string
	depth  int
}

type evaluator = func(at map[string]float64) float64

// parseExpression parses a formula over parameters of the given names.
func parseExpression(text string, names []string) (*expression, error) {
	tokens, err := splitTokens(text)
	if err != nil {
		return nil, err
	}
	p := &expressionParser{tokens: tokens, names: names}
	f, err := p.or()
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("expected the formula to end before %q", p.tokens[0])
	}
	if err != nil {
		return nil, err
	}
	return &expression{text: text, value: f}, nil
}

// splitTokens takes a formula apart.
func splitTokens(text string) ([]string, error) {
	var tokens []string
	rest := []rune(text)
	for len(rest) > 0 {
		n := 1
		switch c := rest[0]; {
		case unicode.IsSpace(c):
			rest = rest[1:]
			continue
		case c >= '0' && c <= '9' || c == '.':
			for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || strings.ContainsRune(".eE_", rest[n]) ||
				strings.ContainsRune("+-", rest[n]) && strings.ContainsRune("eE", rest[n-1])) {
				n++
			}
		case c == '_' || unicode.IsLetter(c):
			for n < len(rest) && (rest[n] == '_' || unicode.IsLetter(rest[n]) || unicode.IsDigit(rest[n])) {
				n++
			}
		case strings.ContainsRune("<>=!", c):
			if n < len(rest) && rest[n] == '=' {
				n++
			}
		case !strings.ContainsRune("+-*/%^()", c):
			return nil, fmt.Errorf("%q has no meaning in a formula; use parameters, numbers, + - * / %% ^ ( ), comparisons, and, or", c)
		}
		tokens = append(tokens, string(rest[:n]))
		rest = rest[n:]
	}
	return tokens, nil
}

// take removes the next token if it is one of those given.
func (p *expressionParser) take(tokens ...string) (string, bool) {
	if len(p.tokens) == 0 || !slices.Contains(tokens, p.tokens[0]) {
		return "", false
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t, true
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var operations = map[string]func(x, y float64) float64{
	"or":  func(x, y float64) float64 { return decided(x, y, func(v float64) bool { return v != 0 }) },
	"and": func(x, y float64) float64 { return 1 - decided(x, y, func(v float64) bool { return v == 0 }) },
	"<":   comparison(func(x, y float64) bool { return x < y }),
	"<=":  comparison(func(x, y float64) bool { return x <= y }),
	">":   comparison(func(x, y float64) bool { return x > y }),
	">=":  comparison(func(x, y float64) bool { return x >= y }),
	"=":   comparison(func(x, y float64) bool { return x == y }),
	"==":  comparison(func(x, y float64) bool { return x == y }),
	"!=":  comparison(func(x, y float64) bool { return x != y }),
	"+":   func(x, y float64) float64 { return x + y },
	"-":   func(x, y float64) float64 { return x - y },
	"*":   func(x, y float64) float64 { return x * y },
	"/": func(x, y float64) float64 {
		if y == 0 {
			return math.NaN()
		}
		return x / y
	},
	"%": math.Mod,
	"^": math.Pow,
}

// comparison compares what has a value.
func comparison(holds func(x, y float64) bool) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if math.IsNaN(x) || math.IsNaN(y) {
			return math.NaN()
		}
		return truth(holds(x, y))
	}
}

// decided is 1 if one of two operands decides the whole, whatever the other one is, and 0 if neither does.
func decided(x, y float64, decides func(float64) bool) float64 {
	switch {
	case !math.IsNaN(x) && decides(x), !math.IsNaN(y) && decides(y):
		return 1
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	}
	return 0
}

// chain parses operands joined by operations of one rank, from the left.
func (p *expressionParser) chain(operand func() (evaluator, error), once bool, tokens ...string) (evaluator, error) {
	left, err := operand()
	for err == nil {
		word, ok := p.take(tokens...)
		if !ok {
			return left, nil
		}
		var right evaluator
		if right, err = operand(); err == nil {
			x, y, apply := left, right, operations[word]
			left = func(at map[string]float64) float64 { return apply(x(at), y(at)) }
		}
		if once {
			break
		}
	}
	return left, err
}

func (p *expressionParser) or() (evaluator, error)  { return p.chain(p.and, false, "or") }
func (p *expressionParser) and() (evaluator, error) { return p.chain(p.comparison, false, "and") }
func (p *expressionParser) comparison() (evaluator, error) {
	return p.chain(p.sum, true, "<", "<=", ">", ">=", "=", "==", "!=")
}
func (p *expressionParser) sum() (evaluator, error) { return p.chain(p.product, false, "+", "-") }
func (p *expressionParser) product() (evaluator, error) {
	return p.chain(p.power, false, "*", "/", "%")
}

func (p *expressionParser) power() (evaluator, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("is nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	base, err := p.atom()
	if err != nil {
		return nil, err
	}
	if _, ok := p.take("^"); !ok {
		return base, nil
	}
	exponent, err := p.power()
	if err != nil {
		return nil, err
	}
	return func(at map[string]float64) float64 { return math.Pow(base(at), exponent(at)) }, nil
}

func (p *expressionParser) atom() (evaluator, error) {
	if len(p.tokens) == 0 {
		return nil, fmt.Errorf("expected a number or a parameter at the end")
	}
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	switch c := rune(t[0]); {
	case t == "-":
		inner, err := p.power()
		if err != nil {
			return nil, err
		}
		return func(at map[string]float64) float64 { return -inner(at) }, nil
	case t == "(":
		inner, err := p.or()
		if err != nil {
			return nil, err
		}
		if _, ok := p.take(")"); !ok {
			return nil, fmt.Errorf("lacks a closing parenthesis")
		}
		return inner, nil
	case c >= '0' && c <= '9' || c == '.':
		x, err := unit.ParseNumber(t)
		if err != nil {
			return nil, err
		}
		return func(map[string]float64) float64 { return x }, nil
	case slices.Contains(p.names, t):
		return func(at map[string]float64) float64 { return at[t] }, nil
	case operations[t] != nil || t == ")":
		return nil, fmt.Errorf("expected a number or a parameter, got %q", t)
	}
	return nil, fmt.Errorf("there is no parameter %q%s; there are %s", t, suggest.Phrase(t, p.names), strings.Join(p.names, ", "))
}

// decimal prints a number as short as possible, whole numbers without exponent as long as they fit into 64 bits.
func decimal(x float64) string {
	if x == 0 {
		return "0" // also of -0
	}
	if a := math.Abs(x); a == math.Trunc(a) && a < 1<<63 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
