package waits

import (
	"fmt"
	"strings"
	"testing"

	"slackline/analyze/profile"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// TestUnanalyzed: time in calls that no rule understands is listed by call, and is neither waiting nor transfer.
func TestUnanalyzed(t *testing.T) {
	for _, tc := range []struct{ name, defs, zero, one, want string }{
		{"all is analyzed", "", "10..20 MPI_Send: send to 1 size 8", "10..30 MPI_Recv: recv from 0 size 8", ""},
		{"a local call", "", "10..20 MPI_Comm_rank", "10..20 MPI_Type_commit", ""},
		{"a test that finds nothing", "", "10..20 MPI_Test", "10..20 MPI_Iprobe", ""},
		{"unknown calls", "", "10..20 MPI_Frobnicate\n30..35 MPI_Comm_disconnect", "10..30 MPI_Frobnicate",
			"MPI_Frobnicate 30us 2, MPI_Comm_disconnect 5us 1"},
		{"a message without receive", "", "10..20 MPI_Send: send to 1 size 8", "", "MPI_Send 10us 1"},
		{"a collective of one rank", "", "10..20 MPI_Barrier: begin; barrier", "", "MPI_Barrier 10us 1"},
		{"a communicator of one rank", "comm self 0\nwindow w comm self\n", "10..20 MPI_Win_create: begin; win-create w\n" +
			"20..25 MPI_Allreduce: begin; allreduce sent 8 received 8 comm self\n25..26 MPI_Ibarrier: issue 1\n" +
			"30..35 MPI_Wait: barrier comm self request 1", "", ""},
		{"an alltoallv without counts", "", "10..20 MPI_Alltoallv: begin; alltoallv sent 8 received 8",
			"10..20 MPI_Alltoallv: begin; alltoallv sent 8 received 8", "MPI_Alltoallv 20us 2"},
		{"neighbors that are not known", "", "10..20 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 8 received 8",
			"10..20 MPI_Neighbor_alltoall: begin; neighbor_alltoall sent 8 received 8", "MPI_Neighbor_alltoall 20us 2"},
		{"a put between fences", "window w comm MPI_COMM_WORLD\n", "10..20 MPI_Win_fence: begin; win-fence w\n20..25 MPI_Put: put w to 1 size 8",
			"10..20 MPI_Win_fence: begin; win-fence w", ""},
		{"a fence that does not hold", "window w comm MPI_COMM_WORLD\n", "10..20 MPI_Win_fence: begin; win-fence w",
			"25..30 MPI_Win_fence: begin; win-fence w", ""},
		{"a post without start", "window w comm MPI_COMM_WORLD\n", "10..20 MPI_Win_post: win-post w 1\n20..30 MPI_Win_wait: win-wait w", "",
			"MPI_Win_post 10us 1, MPI_Win_wait 10us 1"},
		{"a lock that is not released", "window w comm MPI_COMM_WORLD\n", "10..20 MPI_Win_lock: win-lock w 1 shared", "", "MPI_Win_lock 10us 1"},
		{"independent I/O with a call inside", "", "10..20 MPI_File_write {\n12..15 MPI_Frobnicate\n} 20", "",
			"MPI_File_write 7us 1, MPI_Frobnicate 3us 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			zero := strings.ReplaceAll(tc.zero, "10..20 MPI_File_write {", "10 MPI_File_write {")
			text := "slackline trace 1\nunit us\ncomm MPI_COMM_WORLD 0 1\n" + tc.defs + "rank 0\n0 main {\n" + zero + "\n} 100\nrank 1\n0 main {\n" +
				tc.one + "\n} 100\n"
			r := analyze(t, timelineOf(t, tracetest.Open(t, text)), 1)
			d := r.NotAnalyzed()
			var got []string
			sum := unit.Duration(0)
			for _, c := range d.Calls {
				got, sum = append(got, fmt.Sprintf("%s %s %d", c.Call, c.Time.Short(), c.Count)), sum+c.Time.Duration()
			}
			if strings.Join(got, ", ") != tc.want || d.Time != unit.SumOf(sum) {
				t.Fatalf("not analyzed: %v, %s in all, want %q", got, d.Time.Short(), tc.want)
			}
			checkUnanalyzed(t, r, sum)
		})
	}
}

// checkUnanalyzed compares what composition and efficiencies make of the time.
func checkUnanalyzed(t *testing.T, r *Result, want unit.Duration) {
	t.Helper()
	p := r.Profile()
	in, all := unit.Duration(0), unit.Duration(0)
	c := p.Composition(r.WaitTimes())
	for _, part := range c.Parts {
		if all += part.Time.Duration(); part.Kind == profile.NotAnalyzed {
			in += part.Time.Duration()
		}
	}
	if in != want || all != c.Total.Duration() {
		t.Errorf("composition: %s not analyzed, %s of %s, want %s", in.Short(), all.Short(), c.Total.Short(), want.Short())
	}
	e := p.Efficiency(0, r.WaitTimes())
	if product := e.Serialization * e.NotAnalyzed * e.Transfer; product < e.Communication-1e-12 || product > e.Communication+1e-12 {
		t.Errorf("serialization x not analyzed x transfer = %v, communication = %v", product, e.Communication)
	}
	if want == 0 && e.NotAnalyzed != 1 {
		t.Errorf("factor %v of %s that was not analyzed", e.NotAnalyzed, want.Short())
	}
}
