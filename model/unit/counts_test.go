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
	const whole = ` where a whole number is needed; write e.g. 64, 32..1024:32 or 2^1..2^20`
	for _, tc := range []struct{ text, want string }{
		{"", `count "" has ""` + whole},
		{"4,,8", `count "" in "4,,8" has ""` + whole},
		{"four", `count "four" has "four"` + whole},
		{"-4", `count "-4" has "-4"` + whole},
		{"2..", `count "2.." has ""` + whole},
		{"2..4:", `count "2..4:" has ""` + whole},
		{"8..2", `count "8..2" goes down; write the smaller end first`},
		{"2..8:0", `count "2..8:0" has step "0"; give 1 or more after the colon`},
		{"2..8*1", `count "2..8*1" has factor "1"; give 2 or more after the star`},
		{"0..8*2", `count "0..8*2" multiplies 0; begin at 1 or more`},
		{"2^63", `count "2^63" has "2^63", which is too large; the largest is 9223372036854775807`},
		{"9223372036854775808", `count "9223372036854775808" has "9223372036854775808", which is too large; the largest is 9223372036854775807`},
		{"0..1000000", `count "0..1000000" gives more than 1000000 values; use larger steps or fewer terms`},
		{"1,1..1000000", `count "1..1000000" in "1,1..1000000" gives more than 1000000 values; use larger steps or fewer terms`},
	} {
		_, err := ParseCounts(tc.text)
		if err == nil || err.Error() != tc.want {
			t.Errorf("ParseCounts(%q): error %v, want %s", tc.text, err, tc.want)
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
	for _, s := range []string{"7", "2^1..2^20", "32..1024", "1..9:2", "3..99*3", "1,2,4..8", "0^9..0^9", "2..", "1..9*"} {
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
