package unit

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePerByte(t *testing.T) {
	for _, tc := range []struct {
		text string
		want PerByte
		str  string
	}{
		{"0", 0, "0"},
		{"0ns", 0, "0"},
		{"6ns", 6_000_000, "6ns"},
		{"0.018ns", 18_000, "0.018ns"},
		{"0.0133ns", 13_300, "0.0133ns"},
		{"18ps", 18_000, "0.018ns"},
		{"1fs", 1, "0.000001ns"},
		{"0.00058us", 580_000, "0.58ns"},
		{"0.05ns/B", 50_000, "0.05ns"},
		{"2us", 2_000_000_000, "2000ns"},
	} {
		got, err := ParsePerByte(tc.text)
		if err != nil || got != tc.want || got.String() != tc.str {
			t.Errorf("ParsePerByte(%q) = %d (%s), %v, want %d (%s)", tc.text, int64(got), got, err, int64(tc.want), tc.str)
		}
	}
}

func TestParsePerByteErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", `empty cost per byte; write e.g. 0.05ns`},
		{"6", `cost per byte "6" needs a unit; use fs, ps, ns, us, ms or s, e.g. 0.05ns`},
		{"0.0000001ns", `cost per byte "0.0000001ns" is finer than 0.000001ns; give at most 6 decimals of a nanosecond`},
		{"-1ns", `cost per byte "-1ns" is negative; give 0 or more`},
		{"6GB/s", `cost per byte "6GB/s" has the unknown unit "GB/s"; use fs, ps, ns, us, ms or s`},
		{"9224s", `cost per byte "9224s" is too large; the largest is 9223s`},
	} {
		_, err := ParsePerByte(tc.text)
		if err == nil || err.Error() != tc.want {
			t.Errorf("ParsePerByte(%q): error %v, want %s", tc.text, err, tc.want)
		}
	}
}

// Times is floor(bytes * p / 1000 + 1/2), or says that this does not fit.
func TestTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Int64Min(0).Draw(t, "p") >> rapid.IntRange(0, 62).Draw(t, "shift")
		bytes := rapid.Int64Min(0).Draw(t, "bytes") >> rapid.IntRange(0, 62).Draw(t, "shift of bytes")
		want := new(big.Int).Mul(big.NewInt(p), big.NewInt(bytes))
		want.Add(want, big.NewInt(500)).Quo(want, big.NewInt(1000))
		got, ok := PerByte(p).Times(bytes)
		if ok != want.IsInt64() || ok && int64(got) != want.Int64() || !ok && got != math.MaxInt64 {
			t.Fatalf("PerByte(%d).Times(%d) = %d, %t, want %s", p, bytes, int64(got), ok, want)
		}
	})
	if d, ok := PerByte(5).Times(-3); d != 0 || !ok {
		t.Errorf("Times of a negative size = %d, %t, want 0, true", int64(d), ok)
	}
}

func FuzzParsePerByte(f *testing.F) {
	for _, s := range []string{"6ns", "0.018ns", "18ps", "0", "0.05ns/B", "/B", "0.0000001ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePerByte(text)
		if err != nil {
			return
		}
		if back, err := ParsePerByte(p.String()); err != nil || back != p || p < 0 {
			t.Fatalf("ParsePerByte(%q) = %d, printed %q, read back as %d, %v", text, int64(p), p, int64(back), err)
		}
	})
}
