package devices

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
)

const us = unit.Microsecond

// launchBound is the worked example of METRICS-ACC.md 9.1: three small kernels with 40 us of host work before each.
func launchBound(t *testing.T) *Run {
	t.Helper()
	b := timeline.NewBuilder(1)
	step, prepare, launch, sync := b.Region(timeline.Region{Name: "ProfilerStep"}), b.Region(timeline.Region{Name: "prepare"}),
		b.Region(timeline.Region{Name: "cudaLaunchKernel"}), b.Region(timeline.Region{Name: "cudaStreamSynchronize"})
	l := b.Location(0, 0, "master", "")
	l.Enter(0, step)
	for k := range unit.Duration(3) {
		l.Enter(44*k*us, prepare)
		l.Leave((44*k + 40) * us)
		l.Enter((44*k+40)*us, launch)
		l.Leave((44*k + 44) * us)
	}
	l.Enter(132*us, sync)
	l.Leave(146 * us)
	l.Leave(146 * us)
	tl := b.Finish(1)
	d := timeline.NewDeviceBuilder(tl)
	s := d.Stream(0, 0, 7, "0:7")
	for k := range unit.Duration(3) {
		s.Add((44*k+46)*us, (44*k+56)*us, d.Region("add_kernel"), timeline.ComputeKernel, timeline.Launch{Thread: 0, Call: 2 + 2*int32(k)})
	}
	d.Finish(nil)
	paths, err := profile.NewPaths(tl)
	if err != nil {
		t.Fatal(err)
	}
	return New(tl, paths, profile.NewWindows(tl, paths, 1), 1)
}

// shares sums a local path up by call path.
type shares struct {
	paths *profile.Paths
	sums  map[string]unit.Duration
}

func (s *shares) Path(path int32, from, to unit.Duration) bool {
	s.sums[s.paths.Names[path]] += to - from
	return true
}

func (s *shares) Wait(_ int32, from, to unit.Duration) bool {
	s.sums["wait"] += to - from
	return true
}

func TestLaunchBound(t *testing.T) {
	r := launchBound(t)
	hosts := r.HostWaits()
	if diff := cmp.Diff([]HostWait{{Thread: 0, Call: 7, For: Op{0, 2}, Amount: 12 * us}}, hosts); diff != "" {
		t.Errorf("waits of hosts (-want +got):\n%s", diff)
	}
	r.Count(nil)
	if diff := cmp.Diff([]Idle{{Op{0, 1}, 56 * us, 28 * us}, {Op{0, 2}, 100 * us, 28 * us}}, r.Idles()); diff != "" {
		t.Errorf("idle times (-want +got):\n%s", diff)
	}
	use := r.Uses()[0]
	if use.Span != 98*us || use.Computing != 30*us || use.Idle != 56*us || use.Latency != 12*us {
		t.Errorf("the device computes %v, idles %v and waits %v for launches in %v, want 30us, 56us and 12us in 98us",
			use.Computing, use.Idle, use.Latency, use.Span)
	}
	got := &shares{r.paths, map[string]unit.Duration{}}
	r.FromInside(hosts[0].For, 144*us).Back(132*us, got)
	want := map[string]unit.Duration{"ProfilerStep/cudaLaunchKernel/add_kernel": 10 * us, "ProfilerStep/cudaLaunchKernel": 2 * us}
	if diff := cmp.Diff(want, got.sums); diff != "" {
		t.Errorf("what the host waited for (-want +got):\n%s", diff)
	}
}

func TestSpans(t *testing.T) {
	span := func(from, to unit.Duration) timeline.Span { return timeline.Span{From: from, To: to} }
	union := unite([]timeline.Span{span(5, 7), span(1, 3), span(2, 4), span(9, 9), span(7, 8)})
	if diff := cmp.Diff([]timeline.Span{span(1, 4), span(5, 8)}, union); diff != "" {
		t.Errorf("union (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]timeline.Span{span(0, 1), span(4, 5), span(8, 10)}, without(span(0, 10), union)); diff != "" {
		t.Errorf("rest (-want +got):\n%s", diff)
	}
	if left := without(span(2, 3), union); len(left) != 0 {
		t.Errorf("rest of what is covered: %v", left)
	}
}
