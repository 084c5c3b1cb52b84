package cli_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// finishes simulates and returns when each rank ends, in ns.
func finishes(t *testing.T, args ...string) []float64 {
	t.Helper()
	code, out, stderr := slackline("", append([]string{"simulate"}, append(args, "--format", "json", "--quiet")...)...)
	if code != 0 {
		t.Fatalf("%v: %s", args, stderr)
	}
	var result struct {
		Finish []float64 `json:"finish_ns"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	return result.Finish
}

func latest(list []float64) float64 {
	most := list[0]
	for _, v := range list {
		most = max(most, v)
	}
	return most
}

// TestLoopsOfBroadcasts is the example of Hoefler, Schneider and Lumsdaine: a linear broadcast on four processes takes L + 2g, but
// (8g + L)/3 of each of three in a row, and what the root sees contains no L.
func TestLoopsOfBroadcasts(t *testing.T) {
	const latency, gap = 10_000.0, 1_000.0
	for _, ranks := range []int{2, 4, 16} {
		for _, loop := range []int{1, 3, 100} {
			ends := finishes(t, "bcast", "--algorithm", "linear", "--size", "1", "--ranks", fmt.Sprint(ranks), "--iterations", fmt.Sprint(loop),
				"-L", "10us", "-g", "1us", "-o", "0", "-G", "0")
			n, p := float64(loop), float64(ranks)
			if got, want := latest(ends), (n*(p-1)-1)*gap+latency; got != want {
				t.Errorf("%d ranks, %d in a row: the last ends at %g, not at %g ns", ranks, loop, got, want)
			}
			if want := (n*(p-1) - 1) * gap; ends[0] != want {
				t.Errorf("%d ranks, %d in a row: the root ends at %g, not at %g ns", ranks, loop, ends[0], want)
			}
			if ranks == 4 && loop == 1 && latest(ends) != latency+2*gap || ranks == 4 && loop == 3 && latest(ends)/3 != (8*gap+latency)/3 {
				t.Errorf("the example of the paper gives %g", latest(ends)/n)
			}
			single := (p-2)*gap + latency
			if bias, want := latest(ends)/n-single, (1-1/n)*(gap-latency); bias-want > 1e-6 || want-bias > 1e-6 {
				t.Errorf("%d ranks, %d in a row: bias %g, not %g ns", ranks, loop, bias, want)
			}
		}
	}
}
