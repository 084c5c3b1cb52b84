package figures

import (
	"slices"
	"testing"

	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Rank 0 sends at 30, rank 1 receives from 10 on and rank 2 does nothing: 20 of waiting on rank 1, caused by rank 0.
func TestWaitTimes(t *testing.T) {
	b := timeline.NewBuilder(3)
	comm := b.Comm(timeline.Comm{Members: []int32{0, 1, 2}})
	main, send, recv := b.Region(timeline.RegionNamed("main")), b.Region(timeline.RegionNamed("MPI_Send")),
		b.Region(timeline.RegionNamed("MPI_Recv"))
	l := b.Location(0, 0, "", "")
	l.Enter(0, main)
	l.Enter(30, send)
	l.Send(30, 1, comm, 7, 8)
	l.Leave(32)
	l.Leave(40)
	l = b.Location(1, 0, "", "")
	l.Enter(0, main)
	l.Enter(10, recv)
	l.Recv(33, 0, comm, 7, 8)
	l.Leave(33)
	l.Leave(40)
	l = b.Location(2, 0, "", "")
	l.Enter(0, main)
	l.Leave(40)
	tl := b.Finish(1)
	r, err := waits.Analyze(t.Context(), tl, waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]unit.Duration{
		"Waiting": {0, 20, 0}, "Delay costs": {20, 0, 0}, "Direct waits": {0, 20, 0}, "Indirect waits": {0, 0, 0},
		"Propagating waits": {0, 0, 0}, "Terminal waits": {0, 20, 0},
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
