package unit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCounts(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []int
		str  string
	}{
		{"7", []int{7}, "7"},
		{"2^10", []int{1024}, "1024"},
		{"3^0", []int{1}, "1"},
		{"1^99999", []int{1}, "1"},
		{"0^5", []int{0}, "0"},
		{"4..7", []int{4, 5, 6, 7}, "4..7"},
		{"5..5", []int{5}, "5"},
		{"0..10:4", []int{0, 4, 8}, "0,4,8"},
		{"3..50*4", []int{3, 12, 48}, "3,12,48"},
		{"2^1..2^5", []int{2, 4, 8, 16, 32}, "2..32*2"},
		{"3^1..3^3", []int{3, 9, 27}, "3,9,27"},
		{"2^1..2^5*4", []int{2, 8, 32}, "2,8,32"},
		{"2^2..2^4:6", []int{4, 10, 16}, "4,10,16"},
		{"2^2..6", []int{4, 5, 6}, "4..6"},
		{"0-3, 8", []int{0, 1, 2, 3, 8}, "0..3,8"},
		{"10..30 step 10", []int{10, 20, 30}, "10,20,30"},
		{"2^1..2^5 step 2", []int{2, 8, 32}, "2,8,32"},
		{"1^1..1^3", []int{1}, "1"},
		{"9,2..4,9", []int{9, 2, 3, 4, 9}, "9,2..4,9"},
		{"9223372036854775806..9223372036854775807", []int{9223372036854775806, 9223372036854775807}, "9223372036854775806,9223372036854775807"},
		{"2^61..2^62", []int{1 << 61, 1 << 62}, "2305843009213693952,4611686018427387904"},
	} {
		got, err := ParseCounts(tc.text)
		if err != nil || !slices.Equal(got, tc.want) || FormatCounts(got) != tc.str {
			t.Errorf("ParseCounts(%q) = %v (%s), %v, want %v (%s)", tc.text, got, FormatCounts(got), err, tc.want, tc.str)
		}
	}
	if got, err := ParseCounts("1..1000000"); err != nil || len(got) != MaxCounts {
		t.Errorf("ParseCounts(1..1000000) has %d values, %v", len(got), err)
	}
}

func TestParseCountsErrors(t *testing.T) {
	const list = "expected a list such as 2,4,8 or 2^1..2^10, got "
	for _, tc := range []struct{ text, want string }{
		{"", list + `""`},
		{"4,,8", list + `"4,,8"`},
		{"four", list + `"four"`},
		{"-4", list + `"-4"`},
		{"2..", list + `"2.."`},
		{"2..4:", list + `"2..4:"`},
		{"1.5", list + `"1.5"`},
		{"8..2", `expected the smaller end of a range first, got "8..2"`},
		{"3-1", `expected the smaller end of a range first, got "3-1"`},
		{"2..8:0", `expected a step above 0, got "2..8:0"`},
		{"2..8*1", `expected a factor above 1 after the star, got "2..8*1"`},
		{"0..8*2", `expected products to start above 0, got "0..8*2"`},
		{"3^2..2^8", `expected powers of one base, got "3^2..2^8"; write 9..256 for all numbers between`},
		{"2^63", `expected numbers up to 9223372036854775807, got 2^63`},
		{"9223372036854775808", `expected numbers up to 9223372036854775807, got "9223372036854775808"`},
		{"0..1000000", `expected at most 1000000 values, got more with "0..1000000"`},
		{"0..9223372036854775807", `expected at most 1000000 values, got more with "0..9223372036854775807"`},
		{"1,1..1000000", `expected at most 1000000 values, got more with "1..1000000"`},
	} {
		_, err := ParseCounts(tc.text)
		if err == nil || err.Error() != tc.want {
			t.Errorf("ParseCounts(%q): error %v, want %s", tc.text, err, tc.want)
		}
	}
}

func TestParseNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"16": "[16]", "1..4": "[1 2 3 4]", "2^1..2^4": "[2 4 8 16]", "10..30 step 10": "[10 20 30]", "1,3, 2^5": "[1 3 32]",
		"0.5..2 step 0.5": "[0.5 1 1.5 2]", "0.1..0.3:0.1": "[0.1 0.2 0.30000000000000004]", "2^0..2^4 step 2": "[1 4 16]",
		"1_000": "[1000]", "2^-1": "[0.5]", "1e-3": "[0.001]", "-1": "[-1]", "1..50*7": "[1 7 49]", "2..2^2": "[2 3 4]",
	} {
		if got, err := ParseNumbers(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("ParseNumbers(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "4..2", "1..1e9", "1..4 step 0", "1e400", "2^x", "nan"} {
		if got, err := ParseNumbers(text); err == nil {
			t.Errorf("ParseNumbers(%q) = %v, want an error", text, got)
		}
	}
}

func TestParseInterval(t *testing.T) {
	for text, want := range map[string][2]int{"3": {3, 3}, "0..15": {0, 15}, " 1-2 ": {1, 2}, "0..2147483647": {0, 2147483647},
		"2^3": {8, 8}} {
		if low, high, err := ParseInterval(text); err != nil || [2]int{low, high} != want {
			t.Errorf("ParseInterval(%q) = %d, %d, %v, want %v", text, low, high, err, want)
		}
	}
	for _, text := range []string{"", "a", "3..1", "1..9:2", "1..8*2", "2^1..2^3", "1,2"} {
		if low, high, err := ParseInterval(text); err == nil {
			t.Errorf("ParseInterval(%q) = %d, %d, want an error", text, low, high)
		}
	}
}

func TestParseSizes(t *testing.T) {
	if got, err := ParseSizes("8, 64KiB,2^1..2^3,1..3"); err != nil || !slices.Equal(got, []Size{8, 65536, 2, 4, 8, 1, 2, 3}) {
		t.Errorf("ParseSizes = %v, %v", got, err)
	}
	for _, text := range []string{"", "8,", "x", "8q", "-1"} {
		if got, err := ParseSizes(text); err == nil || !strings.Contains(err.Error(), "expected a list of sizes such as") {
			t.Errorf("ParseSizes(%q) = %v, %v, want an error", text, got, err)
		}
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]string{"0:100us": "0 100us 0", "1ns:2ns:5": "1ns 2ns 5"} {
		from, to, n, err := ParseSpan(text, "0:100us", ParseDuration)
		if got := fmt.Sprint(from, " ", to, " ", n); err != nil || got != want {
			t.Errorf("ParseSpan(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"5us":       `expected FROM:TO or FROM:TO:N such as 0:100us, got "5us"`,
		"1:2:3:4":   `expected FROM:TO or FROM:TO:N such as 0:100us, got "1:2:3:4"`,
		"2us:1us":   `expected the smaller end of a range first, got "2us:1us"`,
		"1us:1us":   `expected the smaller end of a range first, got "1us:1us"`,
		"0:1us:1":   `expected at least 2 values as N in FROM:TO:N, got "0:1us:1"`,
		"0:1us:few": `expected at least 2 values as N in FROM:TO:N, got "0:1us:few"`,
		"0:1parsec": `duration "1parsec" has the unknown unit "parsec"; use`,
	} {
		if _, _, _, err := ParseSpan(text, "0:100us", ParseDuration); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("ParseSpan(%q): error %v, want %s", text, err, want)
		}
	}
}

func TestFormatCountsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 9), rapid.IntMin(0)), 1, 30).Draw(t, "list")
		back, err := ParseCounts(FormatCounts(list))
		if err != nil || !slices.Equal(back, list) {
			t.Fatalf("ParseCounts(%q) = %v, %v, want %v", FormatCounts(list), back, err, list)
		}
	})
}

func FuzzParseCounts(f *testing.F) {
	for _, s := range []string{"7", "2^1..2^20", "32..1024", "1..9:2", "3..99*3", "1,2,4..8", "0^9..0^9", "2..", "1..9*", "0-3",
		"2^1..2^9 step 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseCounts(text)
		if err != nil {
			return
		}
		if back, err := ParseCounts(FormatCounts(list)); err != nil || !slices.Equal(back, list) {
			t.Fatalf("ParseCounts(%q) does not survive printing: %v", text, err)
		}
	})
}

// FormatCounts prints counts so that ParseCounts reads the same list. Runs of successive
// integers and of doublings become ranges.
func FormatCounts(list []int) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(list[i]))
		if n := runLength(list[i:], func(v int) int { return v + 1 }); n >= 3 {
			fmt.Fprintf(&b, "..%d", list[i+n-1])
			i += n
		} else if n := runLength(list[i:], func(v int) int { return 2 * v }); n >= 3 && list[i] > 0 {
			fmt.Fprintf(&b, "..%d*2", list[i+n-1])
			i += n
		} else {
			i++
		}
	}
	return b.String()
}

// runLength returns how many values at the start of the list follow each from the one before.
func runLength(list []int, next func(int) int) int {
	n := 1
	for n < len(list) && list[n] > list[n-1] && list[n] == next(list[n-1]) {
		n++
	}
	return n
}
