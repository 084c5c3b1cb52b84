package unit

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestSum compares sums of durations with those of large numbers: what they are, their order and how they are written.
func TestSum(t *testing.T) {
	duration := rapid.OneOf(rapid.Int64Range(math.MinInt64, math.MaxInt64), rapid.Int64Range(math.MaxInt64-9, math.MaxInt64),
		rapid.Int64Range(-2000, 2000))
	draw := func(t *rapid.T) (sum Sum, want *big.Int) {
		want = new(big.Int)
		for _, d := range rapid.SliceOfN(duration, 0, 6).Draw(t, "times") {
			sum.Add(Duration(d))
			want.Add(want, big.NewInt(d))
		}
		return sum, want
	}
	rapid.Check(t, func(t *rapid.T) {
		x, wantX := draw(t)
		y, wantY := draw(t)
		n := rapid.Int64Range(1, 1<<28).Draw(t, "n")
		same := func(what string, got Sum, want *big.Int) {
			if got.Big().Cmp(want) != 0 {
				t.Fatalf("%s of %v and %v is %v, want %v", what, wantX, wantY, got.Big(), want)
			}
		}
		same("the first", x, wantX)
		same("the sum", x.Plus(y), new(big.Int).Add(wantX, wantY))
		same("the difference", x.Minus(y), new(big.Int).Sub(wantX, wantY))
		same("the mean", x.Mean(int(n)), new(big.Int).Quo(wantX, big.NewInt(n)))
		if x.Cmp(y) != wantX.Cmp(wantY) || x.Sign() != wantX.Sign() {
			t.Fatalf("the order of %v and %v is %d, the sign %d", wantX, wantY, x.Cmp(y), x.Sign())
		}
		if got, _ := new(big.Float).SetInt(wantX).Float64(); got != x.Float() {
			t.Fatalf("%v as a floating point number is %v, want %v", wantX, x.Float(), got)
		}
		for text, worth := range map[string]Duration{x.NS(): Nanosecond, x.Seconds(): Second} {
			exact, _ := new(big.Rat).SetString(text)
			if exact == nil || exact.Mul(exact, big.NewRat(int64(worth), 1)).Cmp(new(big.Rat).SetInt(wantX)) != 0 {
				t.Fatalf("%v ps are written as %s", wantX, text)
			}
		}
		if wantX.IsInt64() {
			d := Duration(wantX.Int64())
			if x.Duration() != d || x.Short() != d.Short() || x.String() != d.String() || x.NS() != d.NS() || x.Seconds() != d.Seconds() {
				t.Fatalf("%v is written as %s, %s, %s and %s", d, x.Short(), x, x.NS(), x.Seconds())
			}
		}
		if wantX.Sign() < 0 {
			return
		}
		same("the multiple", x.Times(n), new(big.Int).Mul(wantX, big.NewInt(n)))
		den := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "den")
		num := rapid.Uint64Range(0, den).Draw(t, "num")
		product := new(big.Int).Mul(wantX, new(big.Int).SetUint64(num))
		wantRest := new(big.Int)
		product.QuoRem(product, new(big.Int).SetUint64(den), wantRest)
		whole, rest := x.Scaled(num, den)
		if same("the share", whole, product); rest != wantRest.Uint64() {
			t.Fatalf("%v * %d / %d leaves %d, want %v", wantX, num, den, rest, wantRest)
		}
	})
}

// TestSumText: sums that are no durations are written as these are, in seconds.
func TestSumText(t *testing.T) {
	day := SumOf(24 * Hour)
	for _, tc := range []struct {
		sum                        Sum
		short, text, ns, inSeconds string
	}{
		{day.Times(200), "17280000s", "17280000s", "17280000000000000", "17280000"},
		{day.Times(200).Plus(SumOf(Second / 2)), "17280001s", "17280000.5s", "17280000500000000", "17280000.5"},
		{Sum{}.Minus(day.Times(200)).Minus(SumOf(1)), "-17280000s", "-17280000.000000000001s", "-17280000000000000.001",
			"-17280000.000000000001"},
	} {
		if x := tc.sum; x.Short() != tc.short || x.String() != tc.text || x.NS() != tc.ns || x.Seconds() != tc.inSeconds {
			t.Errorf("%v is written as %s, %s, %s and %s", tc, x.Short(), x, x.NS(), x.Seconds())
		}
	}
}
