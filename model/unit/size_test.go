package unit

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSize(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Size
		str  string
	}{
		{"0", 0, "0B"},
		{"1B", 1, "1B"},
		{"65535", 65535, "65535B"},
		{"64KiB", 65536, "64KiB"},
		{"65KiB", 66560, "65KiB"},
		{"262144", 262144, "256KiB"},
		{"1MiB", 1 << 20, "1MiB"},
		{"1.5KiB", 1536, "1536B"},
		{"1.5MiB", 1536 * 1024, "1536KiB"},
		{"0.5KiB", 512, "512B"},
		{"2kB", 2000, "2000B"},
		{"1.5MB", 1_500_000, "1500000B"},
		{"3GB", 3_000_000_000, "3000000000B"},
		{"2TiB", 2 << 40, "2TiB"},
		{"9223372036854775807", math.MaxInt64, "9223372036854775807B"},
	} {
		got, err := ParseSize(tc.text)
		if err != nil || got != tc.want || got.String() != tc.str {
			t.Errorf("ParseSize(%q) = %d (%s), %v, want %d (%s)", tc.text, int64(got), got, err, int64(tc.want), tc.str)
		}
	}
}

func TestParseSizeErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", `empty size; write e.g. 64KiB`},
		{"1.5", `size "1.5" is not a whole number of bytes; write it in B`},
		{"0.3KiB", `size "0.3KiB" is not a whole number of bytes; write it in B`},
		{"-1", `size "-1" is negative; give 0 or more`},
		{"64KB", `size "64KB" has the unknown unit "KB"; use B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB or TB (powers of 1000)`},
		{"64 KiB", `size "64 KiB" has a blank in it; write number and unit together, e.g. 64KiB`},
		{"9223372036854775808", `size "9223372036854775808" is too large; the largest is 9223372036854775807B`},
		{"8589934592GiB", `size "8589934592GiB" is too large; the largest is 9223372036854775807B`},
	} {
		_, err := ParseSize(tc.text)
		if err == nil || err.Error() != tc.want {
			t.Errorf("ParseSize(%q): error %v, want %s", tc.text, err, tc.want)
		}
	}
}

func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Size(rapid.Int64Min(0).Draw(t, "s")) >> rapid.IntRange(0, 62).Draw(t, "shift")
		if back, err := ParseSize(s.String()); err != nil || back != s {
			t.Fatalf("ParseSize(%q) = %d, %v, want %d", s.String(), back, err, s)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"1B", "64KiB", "65535", "1.5MiB", "kB", "9223372036854775808", "0.1B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSize(text)
		if err != nil {
			return
		}
		if back, err := ParseSize(s.String()); err != nil || back != s || s < 0 {
			t.Fatalf("ParseSize(%q) = %d, printed %q, read back as %d, %v", text, int64(s), s, int64(back), err)
		}
	})
}

func TestSizeShort(t *testing.T) {
	for _, tc := range []struct {
		size Size
		want string
	}{{0, "0 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"}, {72960 << 10, "71.25 MiB"}, {3 << 40, "3 TiB"}, {5 << 50, "5 PiB"}} {
		if got := tc.size.Short(); got != tc.want {
			t.Errorf("Size(%d).Short() = %q, want %q", int64(tc.size), got, tc.want)
		}
	}
}
