package scaling

import (
	"strings"
	"testing"
)

func rat(text string) Rat {
	r, err := ParseTerm("x^(" + text + ")")
	if err != nil {
		panic(err)
	}
	return r.Poly
}

func term(exp, poly, log string) Term { return Term{rat(exp), rat(poly), rat(log)} }

func TestParseExpression(t *testing.T) {
	for _, tc := range []struct {
		text  string
		tight bool
		name  string
		want  Term
	}{
		{"O(p log p)", false, "p", term("0", "1", "1")},
		{"Theta(k^3 2^k)", true, "k", term("1", "3", "0")},
		{"Θ(k)", true, "k", term("0", "1", "0")},
		{"1", false, "p", Term{}},
		{"sqrt(p)", false, "p", term("0", "1/2", "0")},
		{"√(p)", false, "p", term("0", "1/2", "0")},
		{"p^(2/3) log2(p)^2", false, "p", term("0", "2/3", "2")},
		{"2^(k/2) k", false, "k", term("1/2", "1", "0")},
		{"2^(3/2*k)", false, "k", term("3/2", "0", "0")},
		{"2^(2 k)", false, "k", term("2", "0", "0")},
		{"4^k", false, "k", term("2", "0", "0")},
		{"16^(k/4)", false, "k", term("1", "0", "0")},
		{"2^3 p", false, "p", term("0", "1", "0")},
		{"2^(3) p", false, "p", term("0", "1", "0")},
		{"3*p + 2", false, "p", term("0", "1", "0")},
		{"log^2 p", false, "p", term("0", "0", "2")},
		{"(log p)^2", false, "p", term("0", "0", "2")},
		{"log(p)^2", false, "p", term("0", "0", "2")},
		{"ln(p) lg p log10(p)", false, "p", term("0", "0", "3")},
		{"p^0.33", false, "p", term("0", "1/3", "0")},
		{"p^0.67", false, "p", term("0", "2/3", "0")},
		{"p^2.8074", false, "p", term("0", "14037/5000", "0")},
		{"O(n^3/p)", false, "p", term("0", "-1", "0")},
		{"O(n^3/p)", false, "n", term("0", "3", "0")},
		{"p^-1", false, "p", term("0", "-1", "0")},
		{"1/p + 1", false, "p", Term{}},
		{"p log p + n^2", false, "p", term("0", "1", "1")},
		{"p log p + n^2", false, "n", term("0", "2", "0")},
		{"p*log(p)/log(p)", false, "p", term("0", "1", "0")},
		{"O * 2", false, "O", term("0", "1", "0")},
		{"sqrt(p q)^1", false, "", Term{}}, // a power after a root is not in the grammar
	} {
		e, err := ParseExpression(tc.text)
		if tc.name == "" {
			if err == nil {
				t.Errorf("%s: no error", tc.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := e.Term(tc.name); got != tc.want || e.Tight != tc.tight {
			t.Errorf("%s in %s = %s (tight %v), want %s (%v)", tc.text, tc.name, triple(got), e.Tight, triple(tc.want), tc.tight)
		}
	}
}

func TestBadExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "ends where",
		"O(":                     "ends where",
		"O(p":                    "closing bracket",
		"O(p))":                  `")" where the end`,
		"p +":                    "ends where",
		"p ** 2":                 `"*" where`,
		"3^k":                    "base 3",
		"0.5^k":                  "base 0.5",
		"exp(p)":                 "unknown function exp",
		"log":                    "ends where",
		"log log p":              "where a parameter after log",
		"log(2)":                 "where a parameter",
		"p^q":                    "where a number",
		"p^(1/0)":                "divided by 0",
		"2^(k/0)":                "divided by 0",
		"0":                      "a factor of 0",
		"p^99999":                "beyond what can be checked",
		"p^99999999999999999999": "too long",
		"p^1.12345678":           "too long",
		"(p + 1) q":              "sum inside a product",
		"p - 1":                  `"-" where`,
		"p; rm":                  `";" where`,
		"p\x00":                  "where the end",
		strings.Repeat("(", 100) + "p" + strings.Repeat(")", 100): "nested",
		strings.Repeat("p ", 400):                                 "characters",
	} {
		if e, err := ParseExpression(text); err == nil {
			t.Errorf("%q: no error but %v", text, e.terms)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want something with %q", text, err, want)
		}
	}
	e, err := ParseExpression("n log q")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check([]string{"p", "n"}); err == nil || !strings.Contains(err.Error(), "q, which is not a parameter") {
		t.Errorf("Check = %v", err)
	}
}

// TestPrintedTerms parses what is printed.
func TestPrintedTerms(t *testing.T) {
	list := append(append(append([]Term{}, growing...), decreasing...), exponentials...)
	list = append(list, term("3/2", "-1/2", "-2"), term("0", "0", "-1/2"))
	for _, want := range list {
		for _, text := range []string{want.landau("p"), want.product("p")} {
			if got, err := ParseTerm(text); err != nil || got != want {
				t.Errorf("%s = %s, %v; want %s", text, triple(got), err, triple(want))
			}
		}
	}
}

// TestSpace holds the space of p, as the paper lists it, and of others.
func TestSpace(t *testing.T) {
	for _, tc := range []struct {
		expected string
		want     string
	}{
		{"p", "1, log p, p^(1/4), p^(1/4) log p, p^(1/2), p^(1/2) log p, p^(3/4), p^(3/4) log p, p, p log p, " +
			"p^(5/4), p^(5/4) log p, p^(3/2), p^(3/2) log p, p^(7/4), p^(7/4) log p, p^2"},
		{"log p", "1, log^(1/4) p, log^(1/2) p, log^(3/4) p, log p, log^(5/4) p, log^(3/2) p, log^(7/4) p, log^2 p"},
		{"1", "1, log^(1/4) p, log^(1/2) p, log^(3/4) p, log p, log^(5/4) p, log^(3/2) p, log^(7/4) p, log^2 p"},
		{"1/p", "1/p^2, log p/p^2, 1/p^(7/4), log p/p^(7/4), 1/p^(3/2), log p/p^(3/2), 1/p^(5/4), log p/p^(5/4), 1/p, log p/p, " +
			"1/p^(3/4), log p/p^(3/4), 1/p^(1/2), log p/p^(1/2), 1/p^(1/4), log p/p^(1/4), 1"},
	} {
		e, err := ParseTerm(tc.expected)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range (Space{}).Around(e) {
			got = append(got, x.landau("p"))
		}
		if text := strings.Join(got, ", "); text != tc.want {
			t.Errorf("space of %s:\n%s\nwant\n%s", tc.expected, text, tc.want)
		}
	}
	e, _ := ParseTerm("k^3 2^k")
	for _, want := range []string{"k^4 2^k", "k^2 2^k", "k^3 2^k", "k^6 2^(2*k)", "k 2^(k/2)"} {
		w, _ := ParseTerm(want)
		found := false
		for _, x := range (Space{}).Around(e) {
			found = found || x == w
		}
		if !found {
			t.Errorf("the space of k^3 2^k lacks %s", want)
		}
	}
}

func FuzzParseExpression(f *testing.F) {
	for _, s := range []string{"O(p log p)", "Theta(k^3 2^k)", "p^(2/3) log2(p)^2", "√(p) + n^3/p", "2^(3/2*k)", "((p)^2)^0.33"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpression(text)
		if err != nil {
			return
		}
		for _, name := range e.Names {
			x := e.Term(name)
			again, err := ParseTerm(x.landau("p"))
			if err == nil && again != x && x.Exp.Sign() >= 0 {
				t.Fatalf("%q: %s is printed as %s and read as %s", text, triple(x), x.landau("p"), triple(again))
			}
			RankOf(x, x, DefaultLimit(x))
			Space{}.Around(x)
		}
	})
}
