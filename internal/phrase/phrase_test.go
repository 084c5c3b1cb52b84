package phrase

import (
	"math"
	"testing"
	"time"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 20971520: "20,971,520", -1234: "-1,234"} {
		if got := Grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for _, tc := range []struct {
		messages int64
		took     time.Duration
		want     string
	}{
		{20_971_520, 2 * time.Second, "10.5 million messages/s"},
		{5000, time.Second, "5.0 thousand messages/s"},
		{7, time.Second, "7 messages/s"},
		{7, 0, "no time"},
	} {
		if got := Rate(tc.messages, tc.took); got != tc.want {
			t.Errorf("rate(%d, %v) = %q, want %q", tc.messages, tc.took, got, tc.want)
		}
	}
}

func TestPlural(t *testing.T) {
	if got := Plural(1, "rank") + ", " + Plural(2000, "rank") + ", " + Plural(2, "process"); got != "1 rank, 2,000 ranks, 2 processes" {
		t.Errorf("Plural = %q", got)
	}
}

func TestPercent(t *testing.T) {
	for _, tc := range []struct {
		part, whole float64
		want        string
	}{
		{0, 0, "-"}, {3, 0, "-"}, {0, 5, "0 %"}, {-0.0001, 1, "0 %"}, {0.0001, 1, "< 0.1 %"}, {0.3618, 1, "36.2 %"}, {-0.1, 1, "-10.0 %"},
		{0.99949, 1, "99.9 %"}, {0.99951, 1, "> 99.9 %"}, {1, 1, "100.0 %"}, {5, 2, "250.0 %"},
	} {
		if got := Percent(tc.part, tc.whole); got != tc.want {
			t.Errorf("Percent(%v, %v) = %q, want %q", tc.part, tc.whole, got, tc.want)
		}
	}
	if got := Percent(int64(1), 3); got != "33.3 %" {
		t.Errorf("Percent(1, 3) = %q, want 33.3 %%", got)
	}
}

func TestList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := List(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func TestFiniteOr0(t *testing.T) {
	for v, want := range map[float64]float64{math.Inf(1): 0, math.Inf(-1): 0, -2.5: -2.5} {
		if got := FiniteOr0(v); got != want {
			t.Errorf("%g: %g, want %g", v, got, want)
		}
	}
	if got := FiniteOr0(math.NaN()); got != 0 {
		t.Errorf("NaN: %g, want 0", got)
	}
}

func TestInterval(t *testing.T) {
	none := math.NaN()
	for _, tc := range []struct {
		low, high float64
		want      string
	}{
		{1, 2.5, "1..2.5"}, {0.25, math.Inf(1), "0.25 or more"}, {math.Inf(-1), 3, "3 or less"}, {none, none, "-"},
	} {
		if got := Interval(tc.low, tc.high); got != tc.want {
			t.Errorf("from %g to %g: %q, want %q", tc.low, tc.high, got, tc.want)
		}
	}
}
