package profile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
)

// TestDescribeRun: what is 0 or was not recorded is left out of the description of a run.
func TestDescribeRun(t *testing.T) {
	plain := runOf(t, "rank 0\n5..45 f\nrank 0 thread 1\nrank 1\n10..25 f\n").Timeline
	if diff := cmp.Diff(RunDocument{Ranks: 2, Locations: 3, Time: 40, Machine: "m"}, DescribeRun(plain, "m")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	data, err := json.Marshal(DescribeRun(plain, ""))
	if want := `{"ranks":2,"locations":3,"time_s":40}`; err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
	full := runOf(t, `
comm world 0-1
cart world 2p 1
yield forced
rank 0
0 f {
@40 no-cpu 10
} 60
@60 recording off
@90 recording on
90..100 f
rank 1
0..100 f
@100 no-cpu 40
`).Timeline
	full.LeftOut.Before, full.LeftOut.After = 3, 4
	full.Problems.CutMessages, full.Problems.CutCollectives = 5, 6
	want := RunDocument{Ranks: 2, Locations: 2, Time: 100, Before: 3, After: 4, NotRecorded: 30, CutMessages: 5, CutCollectives: 6, NoCPU: 50,
		NoCPUShare: 0.25, ForcedYield: true, Grid: []int{2, 1}}
	if diff := cmp.Diff(want, DescribeRun(full, "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDocumentWithoutAnything: lists of a run in which nothing happened are empty, never null.
func TestDocumentWithoutAnything(t *testing.T) {
	p, err := New(timeline.NewBuilder(1).Finish(1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p.Document(&Composition{Parts: []Part{}}, p.Efficiency(0, nil), p.Counts(nil), p.Iterations(), false))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "null") || strings.Contains(string(data), "by_rank") || strings.Contains(string(data), "iterations") {
		t.Errorf("%s", data)
	}
}
