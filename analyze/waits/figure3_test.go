package waits

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// figure3 is the example of Boehme et al. (2016), in seconds.
func figure3() *timeline.Timeline {
	b := timeline.NewBuilder(3)
	world := b.Comm(timeline.Comm{Name: "MPI_COMM_WORLD", Members: []int32{0, 1, 2}})
	region := func(name string, p timeline.Paradigm) timeline.RegionID {
		return b.Region(timeline.Region{Name: name, Paradigm: p})
	}
	main, f, g := region("main", timeline.User), region("f", timeline.User), region("g", timeline.User)
	send, recv := region("MPI_Send", timeline.MPI), region("MPI_Recv", timeline.MPI)
	const s = unit.Second
	var l *timeline.LocationBuilder
	call := func(r timeline.RegionID, from, to unit.Duration) {
		l.Enter(from*s, r)
		l.Leave(to * s)
	}
	sending := func(to int32, from, until unit.Duration) {
		l.Enter(from*s, send)
		l.Send(from*s, to, world, 0, 8)
		l.Leave(until * s)
	}
	receiving := func(source int32, from, until unit.Duration) {
		l.Enter(from*s, recv)
		l.Recv(until*s, source, world, 0, 8)
		l.Leave(until * s)
	}
	l = b.Location(0, 0, "A", "")
	l.Enter(0, main)
	sending(1, 0, 1)
	call(f, 1, 3)
	call(g, 3, 6)
	sending(1, 6, 7)
	l.Leave(7 * s)
	l = b.Location(1, 0, "B", "")
	l.Enter(0, main)
	receiving(0, 0, 1)
	sending(2, 1, 2)
	call(f, 2, 3)
	receiving(0, 3, 7)
	sending(2, 7, 8)
	l.Leave(8 * s)
	l = b.Location(2, 0, "C", "")
	l.Enter(1*s, main)
	receiving(1, 1, 2)
	call(f, 2, 4)
	call(g, 4, 5)
	receiving(1, 5, 8)
	l.Leave(8 * s)
	return b.Finish(1)
}

func TestFigure3(t *testing.T) {
	r, err := Analyze(context.Background(), figure3(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"late_sender 1 main/MPI_Recv {3s 3s 0 1.5s 1.5s}",
		"late_sender 2 main/MPI_Recv {2s 500ms 1.5s 0 2s}",
		"delay 0 main/f 750ms 375ms",
		"delay 0 main/g 2.25s 1.125s",
		"delay 1 main/MPI_Recv 500ms 0",
		"waiting {5s 3.5s 1.5s 1.5s 3.5s} unattributed 0",
	}
	var got []string
	for _, w := range r.Waits {
		got = append(got, fmt.Sprintf("%s %d %s {%v %v %v %v %v}",
			w.Metric, w.Rank, w.CallPath, w.Amount, w.Direct, w.Indirect, w.Propagating, w.Terminal))
	}
	for _, d := range r.Delays {
		got = append(got, fmt.Sprintf("delay %d %s %v %v", d.Rank, r.Paths.Names[d.Path], d.Short, d.Long))
		if d.ByWait.Of(lateSender.metric) != d.Cost {
			t.Errorf("costs of %s by late sender = %v, want all of %v", r.Paths.Names[d.Path], d.ByWait.Of(lateSender.metric), d.Cost)
		}
	}
	w := &r.Totals.Waiting
	got = append(got, fmt.Sprintf("waiting {%v %v %v %v %v} unattributed %v",
		w.Amount, w.Direct, w.Indirect, w.Propagating, w.Terminal, r.Totals.Unattributed))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figure 3 (-want +got):\n%s", diff)
	}
}
