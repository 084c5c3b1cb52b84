package unit

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Duration
		str  string
	}{
		{"0", 0, "0"},
		{"0.0", 0, "0"},
		{"0us", 0, "0"},
		{"1ps", 1, "1ps"},
		{"2.5us", 2_500_000, "2.5us"},
		{"1500ns", 1_500_000, "1.5us"},
		{"0.001ns", 1, "1ps"},
		{"1.23400ns", 1234, "1.234ns"},
		{"3\u00b5s", 3_000_000, "3us"},
		{"3\u03bcs", 3_000_000, "3us"},
		{"4ms", 4_000_000_000, "4ms"},
		{"1.5min", 90 * Second, "90s"},
		{"2h", 7200 * Second, "7200s"},
		{"9223372.036854775807s", math.MaxInt64, "9223372.036854775807s"},
	} {
		got, err := ParseDuration(tc.text)
		if err != nil || got != tc.want {
			t.Errorf("ParseDuration(%q) = %d, %v, want %d", tc.text, got, err, tc.want)
		}
		if got.String() != tc.str {
			t.Errorf("Duration(%d).String() = %q, want %q", got, got, tc.str)
		}
	}
}

func TestParseDurationErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", `empty duration; write e.g. 2.5us`},
		{"5", `duration "5" needs a unit; use ps, ns, us, ms, s, min or h, e.g. 2.5us`},
		{"3 us", `duration "3 us" has a blank in it; write number and unit together, e.g. 2.5us`},
		{"-3us", `duration "-3us" is negative; give 0 or more`},
		{"0.5ps", `duration "0.5ps" is finer than 1ps; round it to whole picoseconds`},
		{"0.00000000000000000001s", `duration "0.00000000000000000001s" is finer than 1ps; round it to whole picoseconds`},
		{"3 weeks", `duration "3 weeks" has a blank in it; write number and unit together, e.g. 2.5us`},
		{"3weeks", `duration "3weeks" has the unknown unit "weeks"; use ps, ns, us, ms, s, min or h`},
		{"1e3ns", `duration "1e3ns" has the unknown unit "e3ns"; use ps, ns, us, ms, s, min or h`},
		{".5us", `duration ".5us" does not begin with a number such as 12 or 0.5; write e.g. 2.5us`},
		{"5.us", `duration "5.us" does not begin with a number such as 12 or 0.5; write e.g. 2.5us`},
		{"9223372.036854775808s", `duration "9223372.036854775808s" is too large; the largest is 9223372s (106 days)`},
		{"99999999999999999999ps", `duration "99999999999999999999ps" is too large; the largest is 9223372s (106 days)`},
		{strings.Repeat("x", 50), `duration "` + strings.Repeat("x", 40) + `..." does not begin with a number such as 12 or 0.5; write e.g. 2.5us`},
	} {
		_, err := ParseDuration(tc.text)
		if err == nil || err.Error() != tc.want {
			t.Errorf("ParseDuration(%q): error %v, want %s", tc.text, err, tc.want)
		}
	}
}

func TestDurationText(t *testing.T) {
	for _, tc := range []struct {
		d         Duration
		ns, short string
	}{
		{0, "0", "0"},
		{1, "0.001", "1ps"},
		{10, "0.01", "10ps"},
		{100, "0.1", "100ps"},
		{1000, "1", "1ns"},
		{157_650_000, "157650", "157.7us"},
		{157_649_999, "157649.999", "157.6us"},
		{12_345, "12.345", "12.35ns"},
		{999_960_000, "999960", "1ms"},
		{2_500_000, "2500", "2.5us"},
		{5_123_456 * Second, "5123456000000000", "5123456s"},
		{-1500, "-1.5", "-1.5ns"},
		{math.MaxInt64, "9223372036854775.807", "9223372s"},
		{math.MinInt64, "-9223372036854775.808", "-9223372s"},
	} {
		if got := tc.d.NS(); got != tc.ns {
			t.Errorf("Duration(%d).NS() = %s, want %s", int64(tc.d), got, tc.ns)
		}
		if got := tc.d.Short(); got != tc.short {
			t.Errorf("Duration(%d).Short() = %s, want %s", int64(tc.d), got, tc.short)
		}
	}
}

func TestNanosecondsJSON(t *testing.T) {
	v := struct {
		A Nanoseconds `json:"a"`
	}{1500}
	data, err := json.Marshal(v)
	if want := `{"a":1.5}`; err != nil || string(data) != want {
		t.Errorf("Marshal = %s, %v, want %s", data, err, want)
	}
	for _, list := range [][]Duration{nil, {0, 1_000_000, 1}} {
		want := map[int]string{0: "[]", 3: "[0,1000,0.001]"}[len(list)]
		if got := string(AppendNSList(nil, list)); got != want {
			t.Errorf("AppendNSList(%v) = %s, want %s", list, got, want)
		}
	}
	var back []Nanoseconds
	if err := json.Unmarshal([]byte("[0, 1000.001, -2.5, null]"), &back); err != nil {
		t.Fatal(err)
	}
	if back[0] != 0 || back[1] != 1_000_001 || back[2] != -2500 || back[3] != 0 {
		t.Errorf("Unmarshal = %v", back)
	}
	for _, text := range []string{`1e3`, `0.0001`, `"5"`, `10000000000000000`, `{}`} {
		var n Nanoseconds
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("Unmarshal(%s) = %d, want an error", text, n)
		}
	}
}

// What is printed is read back as the same value, in every form that is exact.
func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64Min(0).Draw(t, "d"))
		if back, err := ParseDuration(d.String()); err != nil || back != d {
			t.Fatalf("ParseDuration(%q) = %d, %v, want %d", d.String(), back, err, d)
		}
		if back, err := ParseDuration(d.NS() + "ns"); err != nil || back != d {
			t.Fatalf("ParseDuration(%q) = %d, %v, want %d", d.NS()+"ns", back, err, d)
		}
		var n Nanoseconds
		if err := n.UnmarshalJSON(d.AppendNS(nil)); err != nil || Duration(n) != d {
			t.Fatalf("UnmarshalJSON(%q) = %d, %v, want %d", d.NS(), n, err, d)
		}
		short, err := ParseDuration(d.Short())
		if diff := max(short-d, d-short); err != nil || diff > d/2000 { // half of the fourth digit
			t.Fatalf("Short of %s is %s, %v", d, d.Short(), err)
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"2.5us", "0", "1500ns", "3 us", "1min", "9223372s", "0.0000001ns", "-1s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			return
		}
		if back, err := ParseDuration(d.String()); err != nil || back != d || d < 0 {
			t.Fatalf("ParseDuration(%q) = %d, printed %q, read back as %d, %v", text, d, d.String(), back, err)
		}
	})
}
