package tables

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/table"
	"slackline/model/timeline"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// The line of characters over the run keeps its blanks, however narrow the screen is: each has its place.
func TestCollectivesOverTheRun(t *testing.T) {
	over := make([]int64, 60)
	over[0], over[59] = 8, 8
	var out bytes.Buffer
	uses := []profile.CollectiveUse{{Op: timeline.OpAllreduce, Ranks: 4, Calls: 16, Over: over}}
	Collectives(uses).WriteText(&out, table.TextOptions{Width: 85})
	if want := "|#" + strings.Repeat(" ", 58) + "#|"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q in\n%s", want, out.String())
	}
}

// counted is a run of two ranks: rank 0 sends 8 bytes to rank 1 in main, and two counters have the same name.
func counted(t *testing.T) *profile.Profile {
	t.Helper()
	tl := tracetest.Timeline(t, `slackline trace 1
unit ps
rank 0
0 main {
  30..32 MPI_Send: send to 1 size 8
} 40
rank 1
0 main {
  10..33 MPI_Recv: recv from 0 size 8
} 40
`)
	tl.Metrics = []timeline.Metric{{Name: "cycles"}, {Name: "cycles"}}
	p, err := profile.New(tl, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// csvOf is a table as CSV.
func csvOf(t *testing.T, tab *table.Table) string {
	t.Helper()
	var out bytes.Buffer
	if err := tab.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Times are exact seconds; counters with the same name get columns of their own; what was not analyzed is that of the rank
// in the rows of ranks, and the sum in the rows of call paths.
func TestEachPath(t *testing.T) {
	p := counted(t)
	path := int32(-1)
	for i, name := range p.Paths.Names {
		if name == "main/MPI_Recv" {
			path = int32(i)
		}
	}
	unanalyzed := []waits.Unanalyzed{{Place: profile.Place{Rank: 1, Path: path}, Time: unit.SumOf(5)},
		{Place: profile.Place{Rank: 0, Path: path}, Time: unit.SumOf(2)}}
	const columns = "callpath,kind,visits,exclusive_s,inclusive_s,messages_sent,bytes_sent,messages_received,bytes_received," +
		"collective_bytes,samples,not_analyzed_s,count_cycles,count_cycles_2\n"
	const want = columns +
		"main,computation,2,0.000000000055,0.00000000008,0,0,0,0,0,,0,0,0\n" +
		"main/MPI_Recv,mpi_point_to_point,1,0.000000000023,0.000000000023,0,0,1,8,0,,0.000000000007,0,0\n" +
		"main/MPI_Send,mpi_point_to_point,1,0.000000000002,0.000000000002,1,8,0,0,0,,0,0,0\n"
	if got := sortedLines(csvOf(t, EachPath(p, unanalyzed, false))); got != sortedLines(want) {
		t.Errorf("by call path\n%s\nwant\n%s", got, sortedLines(want))
	}
	const byRank = "rank," + columns +
		"0,main,computation,1,0.000000000038,0.00000000004,0,0,0,0,0,,0,0,0\n" +
		"0,main/MPI_Send,mpi_point_to_point,1,0.000000000002,0.000000000002,1,8,0,0,0,,0,0,0\n" +
		"1,main,computation,1,0.000000000017,0.00000000004,0,0,0,0,0,,0,0,0\n" +
		"1,main/MPI_Recv,mpi_point_to_point,1,0.000000000023,0.000000000023,0,0,1,8,0,,0.000000000005,0,0\n"
	if got := sortedLines(csvOf(t, EachPath(p, unanalyzed, true))); got != sortedLines(byRank) {
		t.Errorf("by rank\n%s\nwant\n%s", got, sortedLines(byRank))
	}
}

func sortedLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// Functions that samples found have samples instead of calls.
func TestVisits(t *testing.T) {
	p := counted(t)
	for _, tc := range []struct {
		entry profile.Entry
		want  string
	}{
		{profile.Entry{Path: 1, Visits: 1234}, "1,234"}, {profile.Entry{Path: 1, Visits: 7, Pieces: 2, Samples: 1}, "1 sample"},
		{profile.Entry{Path: 1, Pieces: 2, Samples: 5000}, "5,000 samples"}, {profile.Entry{Path: 1, Pieces: 2}, "sampled"},
	} {
		if got := visits(p, &tc.entry).Text; got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.entry, got, tc.want)
		}
	}
}

func TestCounters(t *testing.T) {
	c := &profile.Counts{Counters: []profile.Counter{{Name: "PAPI_TOT_INS", Useful: 3_000_000, Total: 4_000_000}, {Name: "energy", Unit: "J"}}}
	wantText(t, Counters(c), `
counter       in computation  in all calls  unit
PAPI_TOT_INS       3,000,000     4,000,000
energy                     0             0  J`)
	if got := CountedFactors(c); got != "" {
		t.Errorf("without cycles the factors are %q", got)
	}
	c.Instructions, c.IPC, c.Frequency = 3_000_000, 1.23456, 2.4e9
	if got, want := CountedFactors(c), "3,000,000 instructions / 1.23 instructions per cycle / 2.4 GHz"; got != want {
		t.Errorf("the factors are %q, want %q", got, want)
	}
}

// The most calls of a part are #, no calls are a blank, and a single one is never a blank.
func TestSparkline(t *testing.T) {
	for _, tc := range []struct {
		counts []int64
		want   string
	}{
		{[]int64{0, 0}, "|  |"}, {[]int64{1}, "|#|"}, {[]int64{0, 1, 1000}, "| .#|"}, {[]int64{1, 2, 3, 4, 5, 6, 7}, "|.:-=+*#|"},
		{[]int64{7, 7, 7}, "|###|"}, {[]int64{6, 14}, "|-#|"},
	} {
		if got := sparkline(tc.counts); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.counts, got, tc.want)
		}
	}
}
