package scaling

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// termOf3 is a term with exponents in sixths.
func termOf3(exp, poly, log int64) Term { return Term{newRat(exp, 6), newRat(poly, 6), newRat(log, 6)} }

func randomTerm(r *rand.Rand) Term { return termOf3(r.Int64N(3)-1, r.Int64N(13)-6, r.Int64N(13)-6) }

// TestTermAlgebra: products, quotients and powers of terms are those of their values, and the order is that of growth.
func TestTermAlgebra(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	for range 500 {
		a, b := randomTerm(r), randomTerm(r)
		x := 2 + 60*r.Float64()
		if !near(a.Mul(b).Eval(x), a.Eval(x)*b.Eval(x)) || !near(a.Div(b).Eval(x), a.Eval(x)/b.Eval(x)) {
			t.Fatalf("%v and %v at %g", a, b, x)
		}
		if !near(a.pow(newRat(3, 2)).Eval(x), math.Pow(a.Eval(x), 1.5)) {
			t.Fatalf("%v to the power 3/2 at %g", a, x)
		}
		if a.Mul(b) != b.Mul(a) || a.Div(b).Mul(b) != a || a.cmp(b) != -b.cmp(a) || a.cmp(b) != a.Div(b).growth() {
			t.Fatalf("%v and %v: the laws of terms do not hold", a, b)
		}
	}
	rising := []Term{termOf3(-6, 60, 0), termOf3(0, -6, 0), termOf3(0, -6, 60), termOf3(0, 0, -6), {}, termOf3(0, 0, 3), termOf3(0, 0, 60),
		termOf3(0, 1, -60), termOf3(0, 1, 0), termOf3(0, 6, 6), termOf3(0, 60, 0), termOf3(1, -60, 0), termOf3(6, 0, 0)}
	if !slices.IsSortedFunc(rising, Term.cmp) {
		t.Error("the terms are not in the order of their growth")
	}
	for i, term := range rising {
		want := min(1, max(-1, i-4)) // the constant is the fifth
		if term.growth() != want {
			t.Errorf("%s grows as %d, want %d", term.landau("p"), term.growth(), want)
		}
	}
}

// TestTermText: terms as they are written in models, in O(...) and in JSON.
func TestTermText(t *testing.T) {
	for _, tc := range []struct {
		term            Term
		product, landau string
	}{
		{Term{}, "", "1"},
		{termOf3(0, 6, 0), "p", "p"},
		{termOf3(0, 3, 0), "p^(1/2)", "p^(1/2)"},
		{termOf3(0, 12, 6), "p^2 * log2(p)", "p^2 log p"},
		{termOf3(0, 0, 12), "log2(p)^2", "log^2 p"},
		{termOf3(0, -6, 0), "p^(-1)", "1/p"},
		{termOf3(0, 2, -6), "p^(1/3) * log2(p)^(-1)", "p^(1/3)/log p"},
		{termOf3(6, 0, 0), "2^p", "2^p"},
		{termOf3(3, 6, 0), "2^(p/2) * p", "p 2^(p/2)"},
		{termOf3(9, 0, 0), "2^(3/2*p)", "2^(3/2*p)"},
		{termOf3(-6, 0, 6), "2^(-1*p) * log2(p)", "log p/2^p"},
	} {
		if got := tc.term.product("p"); got != tc.product {
			t.Errorf("%q, want %q", got, tc.product)
		}
		if got := tc.term.landau("p"); got != tc.landau {
			t.Errorf("O(%s), want O(%s)", got, tc.landau)
		}
	}
	if data, err := json.Marshal(termOf3(0, 3, 6)); err != nil || string(data) != `{"exp":"0","poly":"1/2","log":"1"}` {
		t.Errorf("%s, %v", data, err)
	}
}
