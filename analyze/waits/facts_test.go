package waits

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/analyze/profile"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// analyzed is the analysis of a trace as text.
func analyzed(t *testing.T, text string) *Result {
	t.Helper()
	r, err := Analyze(context.Background(), tracetest.Timeline(t, strings.ReplaceAll(text, "\t", "")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// delays are the costs by rank and call path.
func delays(r *Result) map[string]unit.Duration {
	costs := map[string]unit.Duration{}
	for _, d := range r.Delays {
		costs[r.Paths.Names[d.Path]] += d.Sum().Duration()
	}
	return costs
}

// TestNoCPUIsTheCause wants a rank that was late because it had no CPU not to be blamed for what it computed.
func TestNoCPUIsTheCause(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  0..1 MPI_Init
	  1..11 work
	  11..100 MPI_Recv: @60 no-cpu 20; recv from 1 size 8
	} 101
	rank 1
	0 main {
	  0..1 MPI_Init
	  1..99 work: @90 no-cpu 88
	  99..100 MPI_Send: send to 0 size 8
	} 101
	`)
	costs := delays(r)
	if got := costs["main/work/no CPU"]; got != 88*unit.Millisecond || costs["main/work"] != 0 {
		t.Errorf("costs = %v, want 88 ms by main/work/no CPU alone", costs)
	}
	parts := composition(r)
	// What rank 0 had no CPU for while it waited is waiting.
	if parts[profile.NoCPU] != 88*unit.Millisecond || parts[profile.Waiting] != 88*unit.Millisecond ||
		parts[profile.PointToPoint] != 2*unit.Millisecond {
		t.Errorf("composition = %v", parts)
	}
	if share := r.Timeline.LackShare(); share < 0.53 || share > 0.54 {
		t.Errorf("without a CPU for %v of the time, want 108 of 202 ms", share)
	}
}

// TestBornLater wants nobody to be blamed for what he did before the thread began that waits.
func TestBornLater(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  0..50 MPI_Init_thread
	} 101
	rank 0 thread 1
	@60 thread-begin
	60 wait {
	  61..99 MPI_Recv: recv from 1 size 8
	} 100
	@100 thread-end
	rank 1
	0 main {
	  0..50 MPI_Init_thread
	  50..98 work
	  98..99 MPI_Send: send to 0 size 8
	} 101
	`)
	costs := delays(r)
	if costs["main/MPI_Init_thread"] != 0 || costs["main/work"] != 37*unit.Millisecond {
		t.Errorf("costs = %v, want 37 ms by main/work alone", costs)
	}
	total := r.Profile().Composition(nil).Total
	if total != unit.SumOf((2*101+40)*unit.Millisecond) {
		t.Errorf("time of all threads = %v, want two runs of 101 ms and a life of 40 ms", total)
	}
}

// TestStartedLate: what a rank did before it started a thread made that late, and what made the rank wait until then; the critical path
// goes on there.
func TestStartedLate(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  0..50 MPI_Init_thread
	  50..71 MPI_Recv: recv from 2 size 8
	  71..80 setup
	} 112
	rank 0 thread 1
	@80 thread-begin
	80..110 serve
	110..112 MPI_Send: send to 1 size 8
	@112 thread-end
	rank 1
	0 main {
	  0..50 MPI_Init_thread
	  50..60 work
	  60..113 MPI_Recv: recv from 0 size 8
	} 120
	rank 2
	0 main {
	  0..50 MPI_Init_thread
	  50..70 slow
	  70..71 MPI_Send: send to 0 size 8
	} 120
	`)
	// Rank 1 waited 50 ms. Since MPI_Init_thread, 60 ms went by: 20 of waiting for rank 2, 1 of receiving, 9 of setup, 30 of the thread.
	costs := delays(r)
	want := map[string]unit.Duration{"serve": 25 * unit.Millisecond, "main/setup": 7500 * unit.Microsecond,
		"main/MPI_Recv": 833333333, "main/slow": (20+50)*unit.Millisecond - 25*unit.Millisecond - 7500*unit.Microsecond - 833333333}
	if diff := cmp.Diff(want, costs); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
	var path []string
	for _, s := range r.CriticalPath().Segments {
		path = append(path, fmt.Sprintf("%d.%d %v..%v %s", s.Rank, s.Thread, s.From, s.To, s.Metric))
	}
	if diff := cmp.Diff([]string{"2.0 0..70ms none", "0.0 70ms..80ms late_sender", "0.1 80ms..110ms none", "1.0 110ms..120ms late_sender"},
		path); diff != "" {
		t.Errorf("critical path (-want +got):\n%s", diff)
	}
}

// TestStartedByAnother: a master that waits when a thread begins did not start it. What it waits for may come from that thread.
func TestStartedByAnother(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  0..50 MPI_Init_thread
	  50..101 MPI_Recv: recv from 1 size 8
	} 120
	rank 0 thread 1
	@80 thread-begin
	80..90 serve
	90..92 MPI_Send: send to 1 size 8
	rank 1
	0 main {
	  0..50 MPI_Init_thread
	  50..60 work
	  60..93 MPI_Recv: recv from 0 size 8
	  93..100 answer
	  100..101 MPI_Send: send to 0 size 8
	} 120
	`)
	if costs := delays(r); r.Cyclic != 0 || costs["main/MPI_Recv"] >= 10*unit.Millisecond || costs["serve"] < 30*unit.Millisecond {
		t.Errorf("%d wait states depend on each other, costs %v, want the wait of 30 ms to be charged to serve", r.Cyclic, costs)
	}
}

// TestIdleLifetime wants the time before a worker begins not to be idle.
func TestIdleLifetime(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  0..50 MPI_Init
	  @60 fork 2
	  @60 team-begin
	  60..70 "!$omp parallel"
	  @70 team-end
	  @70 join
	} 80
	rank 0 thread 1
	@60 thread-begin
	@60 team-begin
	60..70 "!$omp parallel"
	@70 team-end
	`)
	if got := r.Totals.ByMetric[openMPIdle.metric].Amount; got != unit.SumOf(10*unit.Millisecond) {
		t.Errorf("idle = %v, want 10 ms: after the parallel region, not before the thread began", got)
	}
}

// TestOtherThread wants a thread of another kind not to be idle, whatever its lifetime, and a worker not to be idle in a call of its own.
func TestOtherThread(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  @60 fork 2
	  @60 team-begin
	  60..70 "!$omp parallel"
	  @70 team-end
	  @70 join
	} 80
	rank 0 thread 1
	40..55 write
	@60 team-begin
	60..70 "!$omp parallel"
	@70 team-end
	rank 0 thread 2
	10..75 MPI_Recv
	`)
	parts := composition(r)
	if parts[profile.Waiting] != 55*unit.Millisecond || parts[profile.Outside] != 15*unit.Millisecond {
		t.Errorf("composition = %v, want 55 ms idle of thread 1, and 15 ms of thread 2 in no call", parts)
	}
}

// TestIdleWithoutCPU wants time without a CPU of a worker that is idle to be waiting alone, and the parts to sum up to the whole.
func TestIdleWithoutCPU(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  @60 fork 2
	  @60 team-begin
	  60..70 "!$omp parallel"
	  @70 team-end
	  @70 join
	} 80
	rank 0 thread 1
	@30 thread-begin
	@50 no-cpu 20
	@60 team-begin
	60..70 "!$omp parallel": @68 no-cpu 3
	@70 team-end
	@80 thread-end
	`)
	parts := composition(r)
	if parts[profile.NoCPU] != 3*unit.Millisecond || parts[profile.Waiting] != 40*unit.Millisecond || parts[profile.Outside] != 0 {
		t.Errorf("composition = %v, want 3 ms without a CPU, 40 ms idle, nothing in no call", parts)
	}
}

// TestBornInTeam wants a worker that is started after the fork of its first team to be in it from then on.
func TestBornInTeam(t *testing.T) {
	r := analyzed(t, `slackline trace 1
	unit ms
	rank 0
	0 main {
	  @60 fork 2
	  @61 team-begin
	  61..70 "!$omp parallel"
	  @70 team-end
	  @70 join
	} 70
	rank 0 thread 1
	@63 thread-begin
	@66 no-cpu 2
	@67 team-begin
	67..70 "!$omp parallel"
	@70 team-end
	`)
	want := map[profile.Kind]unit.Duration{profile.Computation: 75 * unit.Millisecond, profile.NoCPU: 2 * unit.Millisecond}
	for _, p := range r.Profile().Composition(r.WaitTimes()).Parts {
		if p.Time != unit.SumOf(want[p.Kind]) {
			t.Errorf("%s = %v, want %v: lives of 70 and 7 ms, 2 ms of them without a CPU", p.Name, p.Time, want[p.Kind])
		}
	}
}

// composition is what the time of a run consists of.
func composition(r *Result) map[profile.Kind]unit.Duration {
	parts := map[profile.Kind]unit.Duration{}
	for _, p := range r.Profile().Composition(r.WaitTimes()).Parts {
		parts[p.Kind] += p.Time.Duration()
	}
	return parts
}
