package tolerance

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"testing"
)

// percentOf reads a percentage.
func percentOf(t *testing.T, text string) Percent {
	t.Helper()
	p, err := ParsePercent(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPercentText: a percentage is an exact decimal, written without needless zeros.
func TestPercentText(t *testing.T) {
	for text, want := range map[string]string{
		"5": "5", "5%": "5", "0.25%": "0.25", "0.250": "0.25", ".5": "0.5", "5.": "5", "0": "0", "0.0%": "0", "007": "7", "1000000%": "1000000",
		"0.000000001": "0.000000001", "100.000": "100",
	} {
		p := percentOf(t, text)
		if p.Number() != want || p.String() != want+"%" {
			t.Errorf("%s is %s, want %s", text, p, want)
		}
		if data, err := json.Marshal(p); err != nil || string(data) != want {
			t.Errorf("%s in JSON is %s, %v", text, data, err)
		}
		if again := percentOf(t, p.String()); again != p {
			t.Errorf("%s is read again as %s", p, again)
		}
	}
}

// TestPercentRest: what is left of the whole.
func TestWholePercents(t *testing.T) {
	for i, p := range WholePercents(1, 20, 0) {
		want, err := ParsePercent([]string{"1%", "20", "0%"}[i])
		if err != nil || p != want {
			t.Errorf("%v, want %v, %v", p, want, err)
		}
	}
}

func TestPercentRest(t *testing.T) {
	for text, want := range map[string]struct {
		left *big.Rat
		ok   bool
	}{
		"0": {big.NewRat(1, 1), true}, "25%": {big.NewRat(3, 4), true}, "0.5%": {big.NewRat(199, 200), true}, "100%": {new(big.Rat), true},
		"100.1%": {new(big.Rat), false}, "99.999999999": {big.NewRat(1, 100_000_000_000), true},
	} {
		num, den, ok := percentOf(t, text).Rest()
		if got := big.NewRat(int64(num), int64(den)); got.Cmp(want.left) != 0 || ok != want.ok {
			t.Errorf("without %s, %s is left (%v), want %s", text, got, ok, want.left)
		}
	}
}

// TestPercentAbove compares (1 + p/100) t with exact fractions, for random percentages and times up to the largest.
func TestPercentAbove(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p := Percent{random.Int64N(1 << (1 + random.IntN(40))), uint8(random.IntN(maxPlaces + 1))}
		at := random.Int64N(int64(maxTime)) >> random.IntN(60)
		exact := new(big.Rat).SetFrac64(p.value, 100*p.scale())
		exact.Add(exact, big.NewRat(1, 1)).Mul(exact, big.NewRat(at, 1))
		want := new(big.Int).Div(exact.Num(), exact.Denom())
		got, ok := p.above(at)
		if fits := want.Cmp(big.NewInt(int64(maxTime))) <= 0; ok != fits || ok && want.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%s above %d is %d (%v), want %s", p, at, got, ok, want)
		}
	}
}
