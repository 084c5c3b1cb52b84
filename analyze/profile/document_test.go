package profile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// TestDescribeRun: what is 0 or was not recorded is left out of the description of a run.
func TestDescribeRun(t *testing.T) {
	plain := runOf(t, "rank 0\n5..45 f\nrank 0 thread 1\nrank 1\n10..25 f\n").Timeline
	if diff := cmp.Diff(RunDocument{Ranks: 2, Locations: 3, Time: 40, Machine: "m"}, DescribeRun(plain, "m", plain.Missing())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	data, err := json.Marshal(DescribeRun(plain, "", plain.Missing()))
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
	want := RunDocument{Ranks: 2, Locations: 2, Time: 100, Before: 3, After: 4, NotRecorded: unit.SumOf(30), CutMessages: 5,
		CutCollectives: 6, Parts: missing.Parts{Off: 0.15}, NoCPU: unit.SumOf(50),
		NoCPUShare: 50.0 / 170, ForcedYield: true, Grid: []int{2, 1}}
	if diff := cmp.Diff(want, DescribeRun(full, "", full.Missing())); diff != "" {
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

// TestMomentsSinceTheStart: moments count from the start of the run, also of one whose clock began long before, and of a part of it.
func TestMomentsSinceTheStart(t *testing.T) {
	text := "comm world 0-1\n"
	for r := range 2 {
		text += fmt.Sprintf("rank %d\n", r)
		for k := range 7 {
			text += fmt.Sprintf("%d step {\n%d..%d MPI_Barrier: barrier\n} %d\n", 100*k, 100*k+80, 100*k+90, 100*k+100)
		}
	}
	whole := runOf(t, text).Timeline
	whole.Shift(1000, 1)
	for name, tc := range map[string]struct {
		of          *timeline.Timeline
		first, last unit.Duration
		begins      []unit.Duration
	}{
		"whole":          {whole, 80, 680, []unit.Duration{0, 100, 200, 300, 400, 500, 600}},
		"part":           {whole.Window(1100, 1700, 1), 180, 680, []unit.Duration{100, 200, 300, 400, 500, 600}},
		"part of a part": {whole.Window(1100, 1700, 1).Window(1200, 1700, 1), 280, 680, []unit.Duration{200, 300, 400, 500, 600}},
	} {
		p, err := New(tc.of, Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := p.Iterations()
		d := p.Document(&Composition{}, nil, nil, found, false)
		var begins []unit.Duration
		for i, it := range d.Iterations.List {
			begins = append(begins, it.Begin)
			if found.List[i].Begin != it.Begin+1000 {
				t.Errorf("%s: iteration %d of the profile moved to %v", name, i, found.List[i].Begin)
			}
		}
		if c := d.Collectives[0]; c.First != tc.first || c.Last != tc.last || !slices.Equal(begins, tc.begins) {
			t.Errorf("%s: collectives from %v to %v, iterations at %v; want %v, %v, %v", name, c.First, c.Last, begins, tc.first, tc.last, tc.begins)
		}
	}
}
