package profile

import (
	"slices"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// countedRun is a run of two ranks, each with a computation of 1 ms, then a barrier.
func countedRun(names ...string) *timeline.Timeline {
	b := timeline.NewBuilder(2)
	b.Comm(timeline.Comm{Members: []int32{0, 1}})
	main := b.Region(timeline.Region{Name: "main"})
	barrier := b.Region(timeline.Region{Name: "MPI_Barrier", Paradigm: timeline.MPI, Role: timeline.CollectiveCall})
	for _, name := range names {
		b.Metric(timeline.Metric{Name: name})
	}
	for r := range 2 {
		l := b.Location(r, 0, "", "")
		count := func(t unit.Duration, value uint64) {
			for m := range names {
				l.Count(t, int32(m), value*uint64(m+1))
			}
		}
		count(0, 7)
		l.Enter(0, main)
		count(unit.Millisecond, 1_000_007)
		l.Enter(unit.Millisecond, barrier)
		l.Collective(2*unit.Millisecond, timeline.OpBarrier, 0, -1, 0, 0, nil)
		count(2*unit.Millisecond, 1_500_007)
		l.Leave(2 * unit.Millisecond)
		l.Leave(2 * unit.Millisecond)
	}
	return b.Finish(1)
}

func TestCounts(t *testing.T) {
	p, err := New(countedRun("PAPI_TOT_CYC", "PAPI_TOT_INS"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Counts(nil)
	if c.Cycles != 2_000_000 || c.Instructions != 4_000_000 || c.IPC != 2 || c.Frequency != 1e9 || c.Useful != unit.SumOf(2*unit.Millisecond) {
		t.Errorf("%+v", c)
	}
	want := []Counter{{"PAPI_TOT_CYC", "", 2_000_000, 3_000_000}, {"PAPI_TOT_INS", "", 4_000_000, 6_000_000}}
	if !slices.Equal(c.Counters, want) {
		t.Errorf("%+v, want %+v", c.Counters, want)
	}
	d := p.Document(&Composition{}, nil, c, nil, true)
	if got := d.CallPaths[1].Counters["PAPI_TOT_INS"]; got != 2_000_000 || d.CallPaths[1].CallPath != "main/MPI_Barrier" {
		t.Errorf("%s has %d instructions", d.CallPaths[1].CallPath, got)
	}
	if got := d.ByRank[2]; *got.Rank != 1 || got.Counters["PAPI_TOT_CYC"] != 1_000_000 {
		t.Errorf("by rank: %+v", got)
	}
}

// TestCountsOfOthers: other counters are listed, but make no factors; without any there is nothing to list.
func TestCountsOfOthers(t *testing.T) {
	p, err := New(countedRun("page-faults"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Counts(nil); c.Instructions != 0 || c.IPC != 0 || c.Frequency != 0 || c.Counters[0].Useful != 2_000_000 {
		t.Errorf("%+v", c)
	}
	if p, err = New(countedRun(), Options{}); err != nil || p.Counts(nil) != nil {
		t.Errorf("%+v, %v", p.Counts(nil), err)
	}
}
