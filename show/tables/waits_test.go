package tables

import (
	"context"
	"strings"
	"testing"

	"slackline/analyze/waits"
	"slackline/internal/table"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// late is a run whose rank 1 waits 20 us for rank 0.
func late(t *testing.T) *waits.Result {
	t.Helper()
	r, err := waits.Analyze(context.Background(), tracetest.Timeline(t, tracetest.LateSender), waits.Options{})
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
	if got := strings.Trim(b.String(), "\n"); got != strings.Trim(want, "\n") {
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
	tab := Paths(p, p.Longest(), unit.SumOf(80*1e6), 2)
	wantText(t, tab.Pick("time", "share", "visits", "most", "callpath"), `
time   share  visits  most on rank  in (exclusive)
36us  45.0 %       2       0: 28us  main/solve
23us  28.7 %       1       1: 23us  main/MPI_Recv`)
	if tab.Left != 3 {
		t.Errorf("%d rows were left out, want 3", tab.Left)
	}
}

// The critical path goes through what rank 0 does, up to its message, and then through rank 1.
func TestCritical(t *testing.T) {
	r := late(t)
	c := r.CriticalPath()
	tab := Critical(r, c, 0)
	sum := 0.0
	for _, row := range tab.Rows {
		sum += row[2].Value.(float64)
	}
	if sum < 0.999999 || sum > 1.000001 {
		t.Errorf("the shares of the critical path add up to %g", sum)
	}
	if row := tab.Rows[0]; row[0].Text != "main/solve" || row[1].Text != "28us" || row[5].Text != "0: 28us" {
		t.Errorf("most of the critical path is in %v", row)
	}
	if tab := Critical(r, c, 1); len(tab.Rows) != 1 || tab.Left == 0 {
		t.Errorf("%d rows with a limit of 1, %d left out", len(tab.Rows), tab.Left)
	}
}

// A row for each wait, delay and time that was not analyzed, with exact seconds; what a forward pass does not know is empty.
func TestEachWait(t *testing.T) {
	r := late(t)
	r.Unanalyzed = []waits.Unanalyzed{{Place: r.Waits[0].Place, Time: unit.SumOf(123)}}
	const columns = "kind,metric,rank,callpath,seconds,direct_s,indirect_s,propagating_s,terminal_s,short_s,long_s\n"
	const rest = "delay,,0,main/solve,0.00002,,,,,0.00002,0\nnot_analyzed,,1,main/MPI_Recv,0.000000000123,,,,,,\n"
	want := columns + "wait,late_sender,1,main/MPI_Recv,0.00002,0.00002,0,0,0.00002,,\n" + rest
	if got := csvOf(t, EachWait(r)); got != want {
		t.Errorf("waits\n%s\nwant\n%s", got, want)
	}
	r.Forward = true
	want = columns + "wait,late_sender,1,main/MPI_Recv,0.00002,,,,,,\n" + rest
	if got := csvOf(t, EachWait(r)); got != want {
		t.Errorf("waits of a forward pass\n%s\nwant\n%s", got, want)
	}
}

func TestNotAnalyzed(t *testing.T) {
	d := waits.UnanalyzedDocument{Time: unit.SumOf(40e6), Share: 0.125, Calls: []waits.UnanalyzedCall{
		{Call: "MPI_Test", Time: unit.SumOf(30e6), Count: 1500}, {Call: "MPI_Probe", Time: unit.SumOf(8e6), Count: 2},
		{Call: "MPI_Iprobe", Time: unit.SumOf(2e6), Count: 1},
	}}
	wantText(t, NotAnalyzed(d, 2), `
call       time   share  calls
MPI_Test   30us  75.0 %  1,500
MPI_Probe   8us  20.0 %      2`)
	const start = "MPI time that was not analyzed: 40us, 12.5 % of the time of all threads: MPI_Test 30us"
	for limit, want := range map[int]string{
		0: start + ", MPI_Probe 8us, MPI_Iprobe 2us", 3: start + ", MPI_Probe 8us, MPI_Iprobe 2us",
		2: start + ", MPI_Probe 8us and 1 other call", 1: start + " and 2 other calls",
	} {
		if got := NotAnalyzedWords(d, limit); got != want {
			t.Errorf("limit %d: %s, want %s", limit, got, want)
		}
	}
	if got := NotAnalyzedWords(waits.UnanalyzedDocument{}, 3); got != "MPI time that was not analyzed: none" {
		t.Errorf("nothing: %s", got)
	}
}
