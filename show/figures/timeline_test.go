package figures_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"slackline/analyze/waits"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
	"slackline/show/figures"
)

// Cells show what takes most of their time: a wait state instead of the call that waits.
func TestTimeline(t *testing.T) {
	const ms = unit.Millisecond
	b := timeline.NewBuilder(2)
	comm := b.Comm(timeline.Comm{Members: []int32{0, 1}})
	main, send, recv := b.Region(timeline.RegionNamed("main")), b.Region(timeline.RegionNamed("MPI_Send")),
		b.Region(timeline.RegionNamed("MPI_Recv"))
	l := b.Location(0, 0, "", "")
	l.Enter(0, main)
	l.Enter(6*ms, send)
	l.Send(6*ms+1, 1, comm, 7, 8)
	l.Leave(7 * ms)
	l.Leave(10 * ms)
	l = b.Location(1, 0, "", "")
	l.Enter(0, main)
	l.Enter(2*ms, recv)
	l.Recv(7*ms, 0, comm, 7, 8)
	l.Leave(7 * ms)
	l.Leave(10 * ms)
	r, err := waits.Analyze(context.Background(), b.Finish(1), waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := figures.Timeline(r, 8, 10)
	want := []string{"computation", "computation", "late sender", "late sender", "late sender", "late sender", "MPI messages", "computation",
		"computation", "computation"}
	for x, name := range want {
		if got := f.Kinds[f.Cells[10+x]].Name; got != name {
			t.Errorf("rank 1, piece %d: %s, want %s", x, got, name)
		}
	}
	if len(f.Rows) != 2 || f.Rows[1] != "rank 1" || len(figures.Timeline(r, 1, 10).Rows) != 1 {
		t.Errorf("rows %v", f.Rows)
	}
}

// Streams are rows below their rank: what their kernels do, and when their device is idle.
func TestTimelineOfStreams(t *testing.T) {
	const dir = "../../testdata/accelerator/cases/02-long-kernel"
	raw, err := trace.Open(os.DirFS(dir), "traces.otf2", trace.Options{Name: dir})
	if err != nil {
		t.Fatal(err)
	}
	if raw.Close != nil {
		defer raw.Close()
	}
	tl, err := trace.ToTimeline(raw, trace.TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := waits.Analyze(t.Context(), tl, waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const columns = 652 // a microsecond each
	f := figures.Timeline(r, 8, columns)
	if !slices.Equal(f.Rows, []string{"rank 0", "rank 0, CUDA[0:7]", "rank 0, CUDA[0:13]"}) {
		t.Fatalf("rows = %q, want the rank and its streams", f.Rows)
	}
	counts := map[string]int{}
	for _, k := range f.Cells[columns:] {
		counts[f.Kinds[k].Name]++
	}
	// Activities of 610 us; idle times of 46 us; the host has no waits there.
	if counts["computation"] != 610 || counts["idle device"] != 46 || counts["in no call"] != 2*columns-610-46 {
		t.Errorf("cells of the streams = %v, want 610 of computation and 46 of an idle device", counts)
	}
}
