package scaling

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRationals compares the arithmetic of fractions with that of math/big.
func TestRationals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() (Rat, *big.Rat) {
		num, den := random.Int64N(4001)-2000, random.Int64N(60)+1
		if random.IntN(2) == 0 {
			num, den = -num, -den
		}
		return newRat(num, den), big.NewRat(num, den)
	}
	same := func(what string, got Rat, want *big.Rat) {
		if got.num != want.Num().Int64() || got.den() != want.Denom().Int64() {
			t.Fatalf("%s = %s, want %s", what, got, want)
		}
	}
	for range 2000 {
		a, x := draw()
		b, y := draw()
		same("fraction", a, x)
		same("sum", a.add(b), new(big.Rat).Add(x, y))
		same("difference", a.sub(b), new(big.Rat).Sub(x, y))
		same("product", a.mul(b), new(big.Rat).Mul(x, y))
		same("opposite", a.neg(), new(big.Rat).Neg(x))
		same("absolute value", a.abs(), new(big.Rat).Abs(x))
		if a.cmp(b) != x.Cmp(y) || a.Sign() != x.Sign() || a.cmp(a) != 0 {
			t.Fatalf("%s and %s compare as %d", a, b, a.cmp(b))
		}
		if want, _ := x.Float64(); a.float() != want {
			t.Fatalf("%s is %g, want %g", a, a.float(), want)
		}
	}
	if huge, less := newRat(1<<62, 3), newRat(1<<62-1, 3); huge.cmp(less) != 1 || less.cmp(huge) != -1 || huge.neg().cmp(less.neg()) != -1 {
		t.Error("large fractions look the same")
	}
	if zero := (Rat{}); zero.String() != "0" || zero != newRat(0, -7) || zero.den() != 1 {
		t.Errorf("the zero value is %s", zero)
	}
	for want, r := range map[string]Rat{"3": newRat(6, 2), "-1/2": newRat(2, -4), "2/3": newRat(4, 6)} {
		if r.String() != want {
			t.Errorf("%s, want %s", r, want)
		}
	}
}

// TestSnap: decimals that stand for a fraction with a small denominator become that.
func TestSnap(t *testing.T) {
	for _, tc := range []struct {
		num, den int64
		want     string
	}{
		{33, 100, "1/3"}, {67, 100, "2/3"}, {-33, 100, "-1/3"}, {25, 100, "1/4"}, {2, 1, "2"}, {0, 1, "0"}, {999, 1000, "1"}, {143, 1000, "1/7"},
		{28074, 10000, "14037/5000"}, {1001, 1000, "1"}, {-1501, 1000, "-3/2"},
	} {
		if got := newRat(tc.num, tc.den).snap().String(); got != tc.want {
			t.Errorf("%d/%d becomes %s, want %s", tc.num, tc.den, got, tc.want)
		}
	}
}
