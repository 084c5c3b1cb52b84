package campaign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomFormula writes a formula with all its parentheses, and says what it is at p = 3 and n = 0.5; NaN is no value.
func randomFormula(random *rand.Rand, depth int) (text string, value float64) {
	if depth == 0 || random.IntN(4) == 0 {
		switch random.IntN(4) {
		case 0:
			return "p", 3
		case 1:
			return " n ", 0.5
		case 2:
			return "0", 0
		}
		k := random.IntN(5)
		return fmt.Sprint(k), float64(k)
	}
	left, x := randomFormula(random, depth-1)
	right, y := randomFormula(random, depth-1)
	known := !math.IsNaN(x) && !math.IsNaN(y)
	truth := func(b bool) float64 {
		switch {
		case !known:
			return math.NaN()
		case b:
			return 1
		}
		return 0
	}
	words := []string{"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "=", "==", "!=", "and", "or"}
	switch word := words[random.IntN(len(words))]; word {
	case "+":
		value, text = x+y, word
	case "-":
		value, text = x-y, word
	case "*":
		value, text = x*y, word
	case "/":
		if value, text = x/y, word; y == 0 {
			value = math.NaN()
		}
	case "%":
		value, text = math.Mod(x, y), word
	case "<":
		value, text = truth(x < y), word
	case "<=":
		value, text = truth(x <= y), word
	case ">":
		value, text = truth(x > y), word
	case ">=":
		value, text = truth(x >= y), word
	case "=", "==":
		value, text = truth(x == y), word
	case "!=":
		value, text = truth(x != y), word
	case "and": // false if one of both is, whatever the other one is
		if value, text = truth(x != 0 && y != 0), word; x == 0 || y == 0 {
			value = 0
		}
	case "or":
		if value, text = truth(x != 0 || y != 0), word; x != 0 && !math.IsNaN(x) || y != 0 && !math.IsNaN(y) {
			value = 1
		}
	}
	return "(" + left + " " + text + " " + right + ")", value
}

// TestExpressionsOfAnyShape: formulas of any shape have the value that their parts give.
func TestExpressionsOfAnyShape(t *testing.T) {
	for seed := range uint64(500) {
		text, want := randomFormula(rand.New(rand.NewPCG(seed, 1)), 4)
		e, err := parseExpression(text, []string{"p", "n"})
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		if got := e.value(map[string]float64{"p": 3, "n": 0.5}); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("seed %d: %s = %v, want %v", seed, text, got, want)
		}
	}
}

// TestPrecedence: what is not in parentheses binds as in mathematics: powers from the right, then signs, products, sums, comparisons,
// and, or.
func TestPrecedence(t *testing.T) {
	for short, long := range map[string]string{
		"p - n - 1":            "(p - n) - 1",
		"p / n / 2":            "(p / n) / 2",
		"p + n * 2":            "p + (n * 2)",
		"p % 2 * 3":            "(p % 2) * 3",
		"2 ^ p ^ n":            "2 ^ (p ^ n)",
		"-p ^ 2":               "0 - (p ^ 2)",
		"2 ^ -n":               "1 / (2 ^ n)",
		"- -p":                 "p",
		"p * -n":               "0 - p * n",
		"p + 1 > n * 2":        "(p + 1) > (n * 2)",
		"p > 1 and n > 1 or 1": "((p > 1) and (n > 1)) or 1",
		"1 or p > 1 and n > 1": "1 or ((p > 1) and (n > 1))",
		"p = 3 and n = 0.5":    "(p = 3) and (n = 0.5)",
		"p>1or n>1":            "(p > 1) or (n > 1)", // a number ends where letters begin that are not its exponent
		"2e0*p":                "2 * p",
		"1_000 - .5":           "999.5",
	} {
		at := map[string]float64{"p": 3, "n": 0.5}
		a, err := parseExpression(short, []string{"p", "n"})
		if err != nil {
			t.Errorf("%s: %v", short, err)
			continue
		}
		b, err := parseExpression(long, []string{"p", "n"})
		if err != nil {
			t.Fatalf("%s: %v", long, err)
		}
		if a.value(at) != b.value(at) {
			t.Errorf("%s = %v, but %s = %v", short, a.value(at), long, b.value(at))
		}
	}
}

// TestExpressionMistakes: an error names what is wrong and what there is.
func TestExpressionMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":          "expected a number or a parameter at the end",
		"p +":       "expected a number or a parameter at the end",
		"+ p":       `expected a number or a parameter, got "+"`,
		"p n":       `expected the formula to end before "n"`,
		"1 < p < 3": `expected the formula to end before "<"`,
		"(p":        "lacks a closing parenthesis",
		"p)":        `expected the formula to end before ")"`,
		"()":        `expected a number or a parameter, got ")"`,
		"sizes * 2": `there is no parameter "sizes"; did you mean size?; there are p, size`,
		"p & 1":     `'&' has no meaning in a formula`,
		"p ! 1":     `expected the formula to end before "!"`,
		"1.2.3":     "expected a number",
		"and":       `expected a number or a parameter, got "and"`,
		strings.Repeat("(", 51) + "p" + strings.Repeat(")", 51): "is nested more than 50 deep",
	} {
		if _, err := parseExpression(text, []string{"p", "size"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	deep := strings.Repeat("(", 49) + "p" + strings.Repeat(")", 49)
	if _, err := parseExpression(deep, []string{"p"}); err != nil {
		t.Errorf("49 parentheses: %v", err)
	}
}

// TestDecimal: what a program gets is a number that it can read again as the same one.
func TestDecimal(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", -3: "-3", 0.5: "0.5", 1e6: "1000000", 1.25e-7: "1.25e-07", 1 << 62: "4611686018427387904",
		1 << 63: "9.223372036854776e+18", 1e300: "1e+300", 1.0 / 3: "0.3333333333333333",
	} {
		if got := decimal(x); got != want {
			t.Errorf("decimal(%v) = %s, want %s", x, got, want)
		}
	}
	if got := decimal(math.Copysign(0, -1)); got != "0" {
		t.Errorf("decimal(-0) = %s, want 0: {-(p - p)} is no other number than {p - p}", got)
	}
}
