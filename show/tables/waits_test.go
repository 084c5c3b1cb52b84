package tables

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/analyze/waits"
	"slackline/internal/table"
	"slackline/model/trace"
)

// late is a run whose rank 1 waits 20 us for rank 0.
func late(t *testing.T) *waits.Result {
	t.Helper()
	files := fstest.MapFS{"run.txt": {Data: []byte(`slackline trace 1
unit us
rank 0
0 main {
  0..2   MPI_Barrier: barrier
  2..30  solve
  30..32 MPI_Send: send to 1 size 8
} 40
rank 1
0 main {
  0..2   MPI_Barrier: barrier
  2..10  solve
  10..33 MPI_Recv: recv from 0 size 8
} 40
`)}}
	recorded, err := trace.Open(files, "run.txt", trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := trace.ToTimeline(recorded, trace.TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := waits.Analyze(context.Background(), tl, waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantText compares a table with its text.
func wantText(t *testing.T, tab *table.Table, want string) {
	t.Helper()
	var b strings.Builder
	tab.WriteText(&b, table.TextOptions{})
	if got := strings.TrimSpace(b.String()); got != strings.TrimSpace(want) {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}

// The same wait as the verb shows it and as the report does.
func TestWaits(t *testing.T) {
	all := Waits(late(t), 0)
	wantText(t, all.Pick("wait", "time", "share", "direct", "worst", "callpath"), `
wait         time    share   direct  worst rank  in
Late sender  20us  100.0 %  100.0 %     1: 20us  main/MPI_Recv`)
	wantText(t, all.Pick("wait", "callpath", "ranks", "worst rank", "its time"), `
wait         in             ranks  worst rank  its time
Late sender  main/MPI_Recv      1           1      20us`)
}

func TestDelays(t *testing.T) {
	wantText(t, Delays(late(t), 0).Pick("callpath", "cost", "short=direct", "worst"), `
caused by   cost  direct  worst rank
main/solve  20us    20us     0: 20us`)
}

// A limit leaves out what takes least, and counts it.
func TestPathsLimit(t *testing.T) {
	p := late(t).Profile()
	tab := Paths(p, p.Longest(), 80*1e6, 2)
	wantText(t, tab.Pick("time", "share", "visits", "most", "callpath"), `
time   share  visits  most on rank  in (exclusive)
36us  45.0 %       2       0: 28us  main/solve
23us  28.7 %       1       1: 23us  main/MPI_Recv`)
	if tab.Left != 3 {
		t.Errorf("%d rows were left out, want 3", tab.Left)
	}
}
