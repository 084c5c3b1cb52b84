package phrase

import (
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
	if got := Plural(1, "rank") + ", " + Plural(2000, "rank"); got != "1 rank, 2,000 ranks" {
		t.Errorf("plural = %q", got)
	}
}
