package cli

import (
	"slices"
	"testing"
	"time"

	"slackline/model/unit"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 20971520: "20,971,520", -1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestFraction(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "0.25": 0.25, "10%": 0.1, "100%": 1} {
		var f fraction
		if err := f.Set(text); err != nil || f.value != want {
			t.Errorf("Set(%q) = %v, %v; want %v", text, f.value, err, want)
		}
	}
	for _, text := range []string{"", "x", "-0.1", "1.1", "101%", "NaN", "0.1x", "%"} {
		var f fraction
		if err := f.Set(text); err == nil {
			t.Errorf("Set(%q) = %v, want an error", text, f.value)
		}
	}
}

func TestDelays(t *testing.T) {
	var d delays
	for _, text := range []string{"4@0:20us", "0@1ms:5ns"} {
		if err := d.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := d.String(), "4@0:20us,0@1ms:5ns"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
	if got := d.of(0); len(got) != 1 || got[0].length != 5*unit.Nanosecond {
		t.Errorf("of(0) = %v", got)
	}
}

func TestWithout(t *testing.T) {
	held := delays{{0, 10, 5}, {0, 30, 10}}
	for _, tc := range []struct {
		s    span
		want []span
	}{
		{span{0, 5}, []span{{0, 5}}},
		{span{0, 12}, []span{{0, 10}}},
		{span{5, 20}, []span{{5, 10}, {15, 20}}},
		{span{12, 14}, nil},
		{span{10, 50}, []span{{15, 30}, {40, 50}}},
		{span{15, 30}, []span{{15, 30}}},
	} {
		if got := without(tc.s, held); !slices.Equal(got, tc.want) {
			t.Errorf("without(%v) = %v, want %v", tc.s, got, tc.want)
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
		if got := rate(tc.messages, tc.took); got != tc.want {
			t.Errorf("rate(%d, %v) = %q, want %q", tc.messages, tc.took, got, tc.want)
		}
	}
	if got := plural(1, "rank") + ", " + plural(2000, "rank"); got != "1 rank, 2,000 ranks" {
		t.Errorf("plural = %q", got)
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]count{"1": 1, "2^20": 1 << 20, "1024": 1024} {
		var n count
		if err := n.Set(text); err != nil || n != want {
			t.Errorf("Set(%q) = %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "1,2", "1..3", "x", ""} {
		var n count
		if err := n.Set(text); err == nil {
			t.Errorf("Set(%q) = %d, want an error", text, n)
		}
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string][]int{"4": {4}, "2^1..2^3": {2, 4, 8}, "8,2,8": {8, 2}, "3..5": {3, 4, 5}} {
		var n counts
		if err := n.Set(text); err != nil || !slices.Equal(n, want) || n.first() != want[0] {
			t.Errorf("Set(%q) = %v, %v; want %v", text, n, err, want)
		}
	}
	for _, text := range []string{"0", "1,0", "-1", "x", "", "1..100000"} {
		var n counts
		if err := n.Set(text); err == nil {
			t.Errorf("Set(%q) = %v, want an error", text, n)
		}
	}
}

func TestCheckMemory(t *testing.T) {
	gib := func() (int64, bool) { return 1 << 30, true }
	unknown := func() (int64, bool) { return 0, false }
	if err := checkMemory(1<<20, 1, gib); err != nil {
		t.Errorf("a million ranks in 1 GiB: %v", err)
	}
	if err := checkMemory(1<<27, 1, unknown); err != nil {
		t.Errorf("unknown memory: %v", err)
	}
	err := checkMemory(1<<27, 1, gib)
	if want := "134,217,728 ranks need at least 20.0 GiB of memory, but only 1.0 GiB are free"; err == nil || err.Error() != want {
		t.Errorf("checkMemory = %v, want %s", err, want)
	}
	// Each of several processes on a host has all ranks.
	if err := checkMemory(4<<20, 1, gib); err != nil {
		t.Errorf("4 million ranks in 1 GiB: %v", err)
	}
	err = checkMemory(4<<20, 2, gib)
	if want := "4,194,304 ranks in each of 2 processes on a host need at least 1.2 GiB of memory, but only 1.0 GiB are free"; err == nil || err.Error() != want {
		t.Errorf("checkMemory = %v, want %s", err, want)
	}
}
