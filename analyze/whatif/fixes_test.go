package whatif_test

import (
	"encoding/json"
	"slices"
	"testing"

	"slackline/analyze/simulate"
	"slackline/analyze/waits"
	"slackline/analyze/whatif"
	"slackline/model/timeline"
	"slackline/model/unit"
)

func TestTryFixes(t *testing.T) {
	const us = unit.Microsecond
	paths := []string{"main/solve/fixup", "main", "main/nothing"}
	f, err := whatif.TryFixes(t.Context(), unbalanced{}, whatif.IdealNetwork(), simulate.Options{}, paths, true)
	if err != nil {
		t.Fatal(err)
	}
	want := whatif.Fixes{RunTime: unit.Nanoseconds(150 * us), List: []whatif.Fix{
		{Path: "main/solve/fixup", RunTime: unit.Nanoseconds(60 * us), Gain: 0.6, Max: unit.Nanoseconds(120 * us)},
		{Path: "main", RunTime: unit.Nanoseconds(60 * us), Gain: 0.6, Min: unit.Nanoseconds(30 * us), Max: unit.Nanoseconds(150 * us)},
		{RunTime: unit.Nanoseconds(150 * us)},
	}}
	if f.RunTime != want.RunTime || !slices.Equal(f.List, want.List) {
		t.Errorf("fixes = %+v, want %+v", f, want)
	}
	if f.Best() != &f.List[0] || f.First() != &f.List[0] {
		t.Errorf("the best fix is %+v, the first %+v", f.Best(), f.First())
	}
	f.List[1].Gain = 0.7 // a little better than the fix of one function
	if f.Best() != &f.List[1] || f.First() != &f.List[0] {
		t.Errorf("the best fix is %+v, the first %+v", f.Best(), f.First())
	}
	text, err := json.Marshal(f.List[2])
	if got := string(text); err != nil || got != `{"run_time_ns":150000,"gain":0,"min_ns":0,"max_ns":0}` {
		t.Errorf("JSON = %s, %v", got, err)
	}
	if none := (&whatif.Fixes{List: []whatif.Fix{{Path: "main", Gain: 0.01}, {Gain: 0.5}}}); none.Best() != nil || none.First() != nil {
		t.Error("a fix without gain, or the network, is the best")
	}
}

// Rank 1 sends late because it computes for longer in solve.
func TestFixCandidates(t *testing.T) {
	b := timeline.NewBuilder(2)
	region := func(name string) timeline.RegionID { return b.Region(timeline.RegionNamed(name)) }
	main, solve, send, recv := region("main"), region("solve"), region("MPI_Send"), region("MPI_Recv")
	b.Comm(timeline.Comm{Members: []int32{0, 1}})
	for rank := range 2 {
		l := b.Location(rank, 0, "", "")
		work := unit.Duration(1+9*rank) * unit.Millisecond
		l.Enter(0, main)
		l.Enter(0, solve)
		l.Leave(work)
		if rank == 1 {
			l.Enter(work, send)
			l.Send(work, 0, 0, 7, 64)
			l.Leave(work + unit.Microsecond)
		} else {
			l.Enter(work, recv)
			l.Recv(10*unit.Millisecond+unit.Microsecond, 1, 0, 7, 64)
			l.Leave(10*unit.Millisecond + 2*unit.Microsecond)
		}
		l.Leave(11 * unit.Millisecond)
	}
	r, err := waits.Analyze(t.Context(), b.Finish(1), waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := whatif.FixCandidates(r), []string{"main/solve", "main"}; !slices.Equal(got, want) {
		t.Errorf("candidates = %v, want %v", got, want)
	}
}
