package replay

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/simulate"
	"slackline/analyze/waits"
	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// widerCases are runs with all of MPI.
const widerCases = "../../testdata/waits2/cases"

// readTrace reads the timeline of a trace.
func readTrace(t testing.TB, dir, file string) *timeline.Timeline {
	t.Helper()
	tr, err := trace.Open(os.DirFS(dir), file, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := trace.ToTimeline(tr, trace.TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Close != nil {
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return tl
}

// waitsOf returns the waiting times of a run by metric.
func waitsOf(t testing.TB, tl *timeline.Timeline) map[string]unit.Duration {
	t.Helper()
	r, err := waits.Analyze(context.Background(), tl, waits.Options{Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]unit.Duration{}
	for _, w := range r.Waits {
		found[w.Metric.String()] += w.Amount.Duration()
	}
	return found
}

// Every run with all of MPI is replayed, with any number of threads, and its simulated run shows the same kinds of waits.
func TestWiderCases(t *testing.T) {
	files, err := filepath.Glob(widerCases + "/*/trace*.*")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d traces in %s: %v", len(files), widerCases, err)
	}
	for _, file := range files {
		if base := filepath.Base(file); base != "traces.otf2" && base != "trace.txt" {
			continue
		}
		name, _ := filepath.Rel(widerCases, file)
		t.Run(name, func(t *testing.T) {
			tl := readTrace(t, widerCases, name)
			p, err := New(tl, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkEncoded(t, p)
			if r := p.Report(); r.OneSided+r.Between > 0 {
				t.Errorf("%d one-sided calls and %d collectives between groups were left out", r.OneSided, r.Between)
			}
			said := strings.Contains(strings.Join(p.Report().Warnings(), "\n"), "partitioned messages are sent whole")
			if said != strings.Contains(name, "-partitioned-channels") {
				t.Errorf("%d partitioned messages, warnings %q", p.Report().Partitioned, p.Report().Warnings())
			}
			var first *simulate.Result
			for _, threads := range []int{1, 4} {
				got, err := simulate.Run(t.Context(), p, cluster(machine.NoLimit), simulate.Options{Threads: threads})
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = got
				}
				if got.Makespan != first.Makespan || !slices.Equal(got.Finish, first.Finish) {
					t.Errorf("%d threads: %s, one: %s", threads, got.Makespan, first.Makespan)
				}
			}
			if _, err := simulate.Run(t.Context(), p, cluster(100), simulate.Options{}); err != nil {
				t.Errorf("with rendezvous: %v", err)
			}
			q, err := p.WithRanks(2 * p.Ranks())
			if err != nil {
				t.Fatal(err)
			}
			simulated(t, q, cluster(machine.NoLimit), nil)
			r, err := simulate.Run(t.Context(), p, cluster(machine.NoLimit), simulate.Options{Calls: true})
			if err != nil {
				t.Fatal(err)
			}
			if pr := &r.Calls.Problems; pr.UnmatchedSends+pr.UnmatchedReceives+pr.IncompleteCollectives+pr.PendingRequests > 0 {
				t.Errorf("the simulated run does not fit together: %+v", pr)
			}
			recorded, again := waitsOf(t, tl), waitsOf(t, r.Calls)
			for metric := range maps.Keys(recorded) {
				// On this network no send waits for its receive, and a call with two reasons to wait may have the other one. All ranks
				// leave MPI_Init at the same time.
				other := metric == "late_receiver" || metric == "late_sender" && again["late_contributor"] > recorded["late_contributor"] ||
					metric == "win_create"
				if again[metric] == 0 && !other {
					t.Errorf("no %s, but %s in the run", metric, recorded[metric])
				}
			}
		})
	}
}

// Hand-computed runs on a network with 2 us of latency, 0.3 us of overhead and 0.1 ns per byte without the first byte: a message of 0
// bytes arrives 2.3 us after its send began, and takes 0.3 us more at the receiver.
func TestInner(t *testing.T) {
	for _, tc := range []struct {
		name, defs string
		ranks      []string
		want       string // finish times, in us
	}{
		{"neighbors: rank 1 gets from rank 0 alone, after 20 us", "neighbors W 0 from to 1\nneighbors W 1 from 0 to 2\nneighbors W 2 from 1 to\n",
			[]string{
				"0..20 work\n20..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 1 received 0",
				"0..5 work\n5..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 1 received 1",
				"0..1 work\n1..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 0 received 1",
			}, "20.3 22.6 7.6"},
		{"alltoallv: rank 0 receives nothing and does not wait", "",
			[]string{
				"0..5 work\n5..30 MPI_Alltoallv: begin; alltoallv sent 1 received 0 counts 0,1,0,0",
				"0..20 work\n20..30 MPI_Alltoallv: begin; alltoallv sent 0 received 1 counts 0,0,1,0",
			}, "5.3 20.3"},
		{"neighbors: rank 0 sends to rank 2 first, its first neighbor",
			"neighbors W 0 from to 2 1\nneighbors W 1 from 0 to\nneighbors W 2 from 0 to\n",
			[]string{
				"0..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 2 received 0",
				"0..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 0 received 1",
				"0..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 0 received 1",
			}, "0.8 3.1 2.6"},
		{"neighbors: of two messages to the same rank the second goes last",
			"neighbors W 0 from to 2 1 2\nneighbors W 1 from 0 to\nneighbors W 2 from 0 0 to\n",
			[]string{
				"0..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 3 received 0",
				"0..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 0 received 1",
				"0..30 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 0 received 2",
			}, "1.3 3.1 3.6"},
		{"alltoallv: rank 1 begins with rank 2", "",
			[]string{
				"0..30 MPI_Alltoallv: begin; alltoallv sent 0 received 1 counts 0,0,0,0,1,0",
				"0..30 MPI_Alltoallv: begin; alltoallv sent 2 received 0 counts 1,0,1,0,0,0",
				"0..30 MPI_Alltoallv: begin; alltoallv sent 0 received 1 counts 0,0,0,0,1,0",
			}, "3.1 0.8 2.6"},
		{"gatherv: the root does not wait for rank 1, which has nothing", "",
			[]string{
				"0..1 work\n1..30 MPI_Gatherv: begin; gatherv sent 1 received 2 root 0",
				"0..20 work\n20..30 MPI_Gatherv: begin; gatherv sent 0 received 0 root 0",
				"0..5 work\n5..30 MPI_Gatherv: begin; gatherv sent 1 received 0 root 0",
			}, "7.6 20 5.3"},
		{"scatterv: rank 1 gets nothing and does not wait", "",
			[]string{
				"0..20 work\n20..30 MPI_Scatterv: begin; scatterv sent 2 received 1 root 0",
				"0..1 work\n1..30 MPI_Scatterv: begin; scatterv sent 0 received 0 root 0",
				"0..5 work\n5..30 MPI_Scatterv: begin; scatterv sent 0 received 1 root 0",
			}, "20.3 1 22.6"},
		{"post, start, put, complete, wait", "window w comm W\n",
			[]string{
				"0..1 MPI_Win_create: begin; win-create w\n1..11 work\n11..12 MPI_Win_start: win-start w 1\n12..13 MPI_Put: put w to 1 size 1\n" +
					"13..30 MPI_Win_complete: win-complete w",
				"0..1 MPI_Win_create: begin; win-create w\n1..2 MPI_Win_post: win-post w 0\n2..30 MPI_Win_wait: win-wait w",
			}, "13.7 16"},
		{"a fence waits for the data and for all", "window w comm W\n",
			[]string{
				"0..1 MPI_Win_create: begin; win-create w\n1..2 MPI_Put: put w to 1 size 1\n2..12 work\n12..30 MPI_Win_fence: begin; win-fence w",
				"0..1 MPI_Win_create: begin; win-create w\n1..30 MPI_Win_fence: begin; win-fence w",
			}, "13.5 15.5"},
		{"a get asks and is answered", "window w comm W\n",
			[]string{
				"0..1 MPI_Win_create: begin; win-create w\n1..2 MPI_Get: get w from 1 size 1\n2..30 MPI_Win_fence: begin; win-fence w",
				"0..1 MPI_Win_create: begin; win-create w\n1..30 MPI_Win_fence: begin; win-fence w",
			}, "8.4007 10.4007"},
		{"lock, put, unlock, with the target in MPI", "window w comm W\n",
			[]string{
				"0..1 MPI_Win_create: begin; win-create w\n1..2 MPI_Win_lock: win-lock w 1 exclusive\n2..3 MPI_Put: put w to 1 size 1\n" +
					"3..4 MPI_Win_unlock: win-unlock w 1\n4..30 MPI_Win_free: begin; win-free w",
				"0..1 MPI_Win_create: begin; win-create w\n1..30 MPI_Win_free: begin; win-free w",
			}, "14.1 16.1"},
		{"the target computes for 20 us before it answers", "window w comm W\n",
			[]string{
				"0..1 MPI_Win_create: begin; win-create w\n1..22 MPI_Win_lock: win-lock w 1 exclusive\n22..23 MPI_Win_unlock: win-unlock w 1\n" +
					"23..30 MPI_Win_free: begin; win-free w",
				"0..1 MPI_Win_create: begin; win-create w\n1..21 work\n21..30 MPI_Win_free: begin; win-free w",
			}, "31.3 33.3"},
		{"the same with a library that makes progress without the target", "window w comm W\n",
			[]string{
				"0..1 MPI_Win_create: begin; win-create w\n1..2 MPI_Win_lock: win-lock w 1 exclusive\n2..3 MPI_Win_unlock: win-unlock w 1\n" +
					"3..30 MPI_Win_free: begin; win-free w",
				"0..1 MPI_Win_create: begin; win-create w\n1..21 work\n21..30 MPI_Win_free: begin; win-free w",
			}, "25.2 23.2"},
		{"operations of 0 bytes and to itself are nothing", "window w comm W\n",
			[]string{
				"0..1 MPI_Win_create: begin; win-create w\n1..2 MPI_Put: put w to 1 size 0\n2..30 MPI_Put: put w to 0 size 8",
				"0..30 MPI_Win_create: begin; win-create w",
			}, "2.6 2.6"},
		{"a communicator is made when all have come", "comm N 0 1\n",
			[]string{
				"0..5 work\n5..30 MPI_Comm_dup: begin; comm-create N; create_handle comm W",
				"0..20 work\n20..30 MPI_Comm_dup: begin; comm-create N; create_handle comm W",
			}, "22.6 20.6"},
		{"a barrier between two groups", "comm B 0 remote 1\n",
			[]string{
				"0..5 work\n5..30 MPI_Barrier: begin; barrier comm B",
				"0..20 work\n20..30 MPI_Barrier: begin; barrier comm B",
			}, "22.6 20.6"},
		{"a broadcast to another group: rank 1 does not wait", "comm B 0 1 remote 2\n",
			[]string{
				"0..5 work\n5..30 MPI_Bcast: begin; bcast sent 1 root self comm B",
				"0..1 work\n1..30 MPI_Bcast: begin; bcast root group comm B",
				"0..2 work\n2..30 MPI_Bcast: begin; bcast received 1 root 0 comm B",
			}, "5.3 1 7.6"},
		{"messages of different channels match by channel", "",
			[]string{
				"0..1 MPI_Pready: send to 1 size 1 request 1 channel 2\n1..11 work\n11..12 MPI_Pready: send to 1 size 1 request 2 channel 1\n" +
					"12..30 MPI_Waitall: sent 1; sent 2",
				"0..1 MPI_Start: post 1\n1..2 MPI_Start: post 2\n2..20 MPI_Wait: recv from 0 size 1 request 1 channel 1\n" +
					"20..30 MPI_Wait: recv from 0 size 1 request 2 channel 2",
			}, "10.6 12.9"},
		{"file: the last comes at 20, the file system takes 10", "file f comm W\n",
			[]string{
				"0..5 work\n5..30 MPI_File_open: file-open f",
				"0..20 work\n20..30 MPI_File_open: file-open f",
			}, "32.6 30.6"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := New(readText(t, tc.defs, tc.ranks...), Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := simulate.Run(t.Context(), p, cluster(machine.NoLimit), simulate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Finish {
				got = append(got, fmt.Sprint(float64(f)/float64(unit.Microsecond)))
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("finish times %v us, want %s", got, tc.want)
			}
		})
	}
}

// TestSimulatedPolls wants calls that a program repeats until they find something to wait in its simulated run, too.
func TestSimulatedPolls(t *testing.T) {
	window := "0..1 MPI_Win_create: begin; win-create w\n"
	for _, tc := range []struct{ metric, defs, waits, late string }{
		{"late_sender", "", "0..1 MPI_Irecv: post 1\n1..25 MPI_Test: polls 9; recv from 1 size 8 request 1",
			"0..20 work\n20..21 MPI_Send: send to 0 size 8"},
		{"early_wait", "window w comm W\n", window + "1..2 MPI_Win_post: win-post w 1\n2..25 MPI_Win_test: polls 9; win-wait w",
			window + "1..2 MPI_Win_start: win-start w 0\n2..22 work\n22..23 MPI_Win_complete: win-complete w"},
	} {
		p, err := New(readText(t, tc.defs, tc.waits, tc.late), Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(t.Context(), p, cluster(machine.NoLimit), simulate.Options{Calls: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := waitsOf(t, r.Calls)[tc.metric]; got < 15*unit.Microsecond {
			t.Errorf("%s of %s, want the 20us that rank 1 works", tc.metric, got)
		}
	}
}

// readText reads a run from the lines of its ranks; communicator W has all of them.
func readText(t testing.TB, defs string, ranks ...string) *timeline.Timeline {
	t.Helper()
	text := "slackline trace 1\nunit us\ncomm W"
	for r := range ranks {
		text += fmt.Sprint(" ", r)
	}
	text += "\n" + defs
	for r, lines := range ranks {
		text += fmt.Sprintf("rank %d\n0 main {\n%s\n} 30\n", r, lines)
	}
	return tracetest.Timeline(t, text)
}
