package figures

import (
	"slices"
	"testing"

	"slackline/analyze/waits"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// Rank 1 waits for 20 us for rank 0, and rank 2, which only meets them in the barrier, for nobody.
func TestWaitTimes(t *testing.T) {
	tl := tracetest.Timeline(t, tracetest.LateSender+"rank 2\n0 main {\n  0..2 MPI_Barrier: barrier\n} 40\n")
	r, err := waits.Analyze(t.Context(), tl, waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const late = 20 * unit.Microsecond
	want := map[string][]unit.Sum{
		"Waiting": sums(0, late, 0), "Delay costs": sums(late, 0, 0), "Direct waits": sums(0, late, 0), "Indirect waits": sums(0, 0, 0),
		"Propagating waits": sums(0, 0, 0), "Terminal waits": sums(0, late, 0),
	}
	list := WaitTimes(r, 3)
	for _, s := range list {
		if !slices.Equal(s.Times, want[s.Name]) {
			t.Errorf("%s: %v, want %v", s.Name, s.Times, want[s.Name])
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d series, want %d", len(list), len(want))
	}
	r.Forward = true // then nothing is known but the waiting times
	if list := WaitTimes(r, 3); len(list) != 1 || list[0].Name != "Waiting" || !slices.Equal(list[0].Times, want["Waiting"]) {
		t.Errorf("without a backward pass: %v, want the waiting times only", list)
	}
}

func sums(times ...unit.Duration) []unit.Sum {
	var list []unit.Sum
	for _, d := range times {
		list = append(list, unit.SumOf(d))
	}
	return list
}
