package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// runOf reads a run that is written as text.
func runOf(t *testing.T, text string) *Profile {
	t.Helper()
	p, err := New(tracetest.Timeline(t, "slackline trace 1\nunit ps\n"+text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pathOf is the number of a call path.
func pathOf(t *testing.T, p *Profile, name string) int32 {
	t.Helper()
	i := slices.Index(p.Paths.Names, name)
	if i < 0 {
		t.Fatalf("no call path %s in %q", name, p.Paths.Names)
	}
	return int32(i)
}

// partsOf are the parts of a composition as text.
func partsOf(c *Composition) string {
	var list []string
	sum := unit.Duration(0)
	for _, part := range c.Parts {
		list = append(list, fmt.Sprintf("%s %d %v", part.Name, part.Time.Duration(), part.ByRank))
		for _, d := range part.ByRank {
			sum += d.Duration()
		}
	}
	if sum != c.Total.Duration() {
		list = append(list, fmt.Sprintf("the sum is %d of %d", sum, c.Total))
	}
	return strings.Join(list, ", ")
}

// ringRun is a program of so many ranks that work, rank r for 10+r ps, send to the next and meet in a
// barrier, a number of times.
func ringRun(ranks, times int) *timeline.Timeline {
	b := timeline.NewBuilder(ranks)
	world := timeline.Comm{}
	for r := range ranks {
		world.Members = append(world.Members, int32(r))
	}
	b.Comm(world)
	region := func(name string, p timeline.Paradigm, role timeline.Role) timeline.RegionID {
		return b.Region(timeline.Region{Name: name, Paradigm: p, Role: role})
	}
	main, work := region("main", timeline.User, timeline.Function), region("work", timeline.User, timeline.Function)
	send := region("MPI_Send", timeline.MPI, timeline.PointToPoint)
	recv := region("MPI_Recv", timeline.MPI, timeline.PointToPoint)
	barrier := region("MPI_Barrier", timeline.MPI, timeline.CollectiveCall)
	for r := range ranks {
		l := b.Location(r, 0, "", "")
		l.Enter(0, main)
		for k := range times {
			t := unit.Duration(100 * k)
			l.Enter(t, work)
			t += unit.Duration(10 + r)
			l.Leave(t)
			l.Enter(t, send)
			l.Send(t, int32((r+1)%ranks), 0, 0, 100)
			t += 5
			l.Leave(t)
			l.Enter(t, recv)
			t = unit.Duration(100*k + 60)
			l.Recv(t, int32((r+ranks-1)%ranks), 0, 0, 100)
			l.Leave(t)
			l.Enter(t, barrier)
			t = unit.Duration(100*k + 80)
			l.Collective(t, timeline.OpBarrier, 0, -1, 0, 0, nil)
			l.Leave(t)
		}
		l.Leave(unit.Duration(100 * times))
	}
	return b.Finish(1)
}

func TestRing(t *testing.T) {
	p, err := New(ringRun(4, 6), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range p.ByPath {
		got = append(got, fmt.Sprintf("%s %d %d %d sent %v received %v collective %v",
			p.Paths.Names[e.Path], e.Visits, e.Exclusive.Duration(), e.Inclusive.Duration(), e.Sent, e.Received, e.Collective))
	}
	for _, part := range p.Composition([]WaitTime{{Name: "late_sender", Rank: 1, Path: 3, Time: unit.SumOf(7)}}).Parts {
		got = append(got, fmt.Sprintf("%s %s %d", part.Kind, part.Name, part.Time.Duration()))
	}
	before := p.Efficiency(500, nil).AverageUseful
	work := int32(slices.Index(p.Paths.Names, "main/work"))
	if after := p.Efficiency(500, []WaitTime{{Name: "host_wait", Path: work, Time: unit.SumOf(40)},
		{Name: "late_sender", Path: 3, Time: unit.SumOf(7)}}).AverageUseful; after != before-10 {
		t.Errorf("useful %s, with 40 ps of waiting in the computation of one of four ranks %s", before, after)
	}
	e := p.Efficiency(500, nil)
	got = append(got, fmt.Sprintf("LB %.4f CE %.4f SE %.4f TE %.4f PE %.4f",
		e.LoadBalance, e.Communication, e.Serialization, e.Transfer, e.Parallel))
	for _, l := range Matrix(p.Timeline) {
		got = append(got, fmt.Sprintf("%d to %d: %v", l.From, l.To, l.Traffic))
	}
	for _, s := range sizes(p.Timeline) {
		got = append(got, fmt.Sprintf("sizes %d to %d: %v", s.From, s.To, s.Traffic))
	}
	for _, c := range Collectives(p.Timeline, 3) {
		got = append(got, fmt.Sprintf("collective %d of %d: %d calls, time %d, over %v", c.Op, c.Ranks, c.Calls, c.Time.Duration(), c.Over))
	}
	want := []string{
		"main 4 480 2400 sent {0 0} received {0 0} collective {0 0}",
		"main/MPI_Barrier 24 480 480 sent {0 0} received {0 0} collective {24 0}",
		"main/MPI_Recv 24 1044 1044 sent {0 0} received {24 2400} collective {0 0}",
		"main/MPI_Send 24 120 120 sent {24 2400} received {0 0} collective {0 0}",
		"main/work 24 276 276 sent {0 0} received {0 0} collective {0 0}",
		"computation computation 756", "mpi_point_to_point mpi_point_to_point 1157", "mpi_collective mpi_collective 480",
		"waiting late_sender 7",
		"LB 0.9545 CE 0.3300 SE 0.3960 TE 0.8333 PE 0.3150",
		"0 to 1: {6 600}", "1 to 2: {6 600}", "2 to 3: {6 600}", "3 to 0: {6 600}",
		"sizes 64 to 127: {24 2400}",
		"collective 0 of 4: 6 calls, time 480, over [2 2 2]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

func TestEmpty(t *testing.T) {
	for _, ranks := range []int{0, 2} {
		p, err := New(timeline.NewBuilder(ranks).Finish(1), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e := p.Efficiency(0, nil); e.Parallel != 0 || p.Iterations() != nil || p.Composition(nil).Total.Sign() != 0 {
			t.Errorf("%d empty ranks have efficiency %v", ranks, e.Parallel)
		}
	}
}

// TestLongest: the call paths by their own time, each with the rank that is longest in it; of equal ones the first.
func TestLongest(t *testing.T) {
	p := runOf(t, `
rank 0
0 main {
  0..10 solve
  10..20 output
} 25
rank 1
0 main {
  0..20 solve
} 25
rank 2
0 main {
  0..20 solve
} 22
`)
	var got []string
	for _, l := range p.Longest() {
		got = append(got, fmt.Sprintf("%s %d, rank %d %d", p.Paths.Names[l.Path], l.Exclusive.Duration(), l.Worst, l.Most.Duration()))
	}
	want := []string{"main/solve 50, rank 1 20", "main 12, rank 0 5", "main/output 10, rank 0 10"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if list := runOf(t, "rank 0\n0 main {\n} 0\n").Longest(); len(list) != 1 || list[0].Most.Sign() != 0 || list[0].Visits != 1 {
		t.Errorf("of a run without time: %+v", list)
	}
}

// TestOrderOfRanks: a profile moves with its ranks, and clocks that all start later change nothing.
func TestOrderOfRanks(t *testing.T) {
	work := []unit.Duration{7, 3, 11}
	run := func(order [3]int, start unit.Duration) *Profile {
		text := ""
		for rank, i := range order {
			text += fmt.Sprintf("rank %d\n%d main {\n  %d..%d MPI_Barrier: barrier\n} %d\n", rank, start, start+work[i], start+12, start+15)
		}
		return runOf(t, text)
	}
	straight := run([3]int{0, 1, 2}, 0)
	for _, tc := range []struct {
		order [3]int
		start unit.Duration
	}{{[3]int{2, 0, 1}, 0}, {[3]int{0, 1, 2}, 1 << 40}, {[3]int{1, 2, 0}, -500}} {
		p := run(tc.order, tc.start)
		for _, e := range p.Entries {
			k := slices.IndexFunc(straight.Entries, func(s Entry) bool { return s.Rank == tc.order[e.Rank] && s.Path == e.Path })
			want := straight.Entries[k]
			if want.Rank = e.Rank; !cmp.Equal(e, want) {
				t.Errorf("%v: %+v, want %+v", tc, e, want)
			}
		}
		if diff := cmp.Diff(straight.ByPath, p.ByPath); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tc, diff)
		}
		if diff := cmp.Diff(straight.Efficiency(0, nil), p.Efficiency(0, nil)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tc, diff)
		}
	}
}

// TestLongRun: the sum of times near the largest that there are, 106 days, is exact.
func TestLongRun(t *testing.T) {
	const end = 1<<63 - 2
	text, ranks := strings.Builder{}, 5
	for rank := range ranks {
		fmt.Fprintf(&text, "rank %d\n0 main {\n  %d..%d MPI_Barrier: barrier\n} %d\n", rank, rank, end-1, end)
	}
	p := runOf(t, text.String())
	times := func(n, d int64) unit.Sum { return unit.SumOf(unit.Duration(n)).Plus(unit.SumOf(end).Times(d)) }
	main, barrier := p.ByPath[0], p.ByPath[1]
	if main.Exclusive != times(0+1+2+3+4+5, 0) || main.Inclusive != times(0, 5) || barrier.Exclusive != times(-15, 5) {
		t.Errorf("main %v of %v, barrier %v", main.Exclusive, main.Inclusive, barrier.Exclusive)
	}
	c := p.Composition(nil)
	if c.Total != times(0, 5) || c.Parts[1].Time != times(-15, 5) || c.Parts[1].Time.Seconds() != "46116860.184273879015" {
		t.Errorf("%v of %v are %v", c.Parts[1].Time, c.Total, c.Parts[1].Name)
	}
	if e := p.Efficiency(0, nil); e.RunTime != end || e.AverageUseful != 3 || e.MaxUseful != 5 {
		t.Errorf("efficiency %+v, want 3ps of useful time on average", e)
	}
}

// TestSampledAndPolled: functions that samples found have samples and no visits; a call that stands for a loop of tests counts them all.
func TestSampledAndPolled(t *testing.T) {
	b := timeline.NewBuilder(1)
	b.Comm(timeline.Comm{Members: []int32{0}})
	f := b.Region(timeline.Region{Name: "f"})
	test := b.Region(timeline.Region{Name: "MPI_Test", Paradigm: timeline.MPI})
	l := b.Location(0, 0, "", "")
	for i := range unit.Duration(2) {
		l.EnterSampled(10*i, f)
		l.Seen(3)
		l.Leave(10*i + 5)
	}
	l.Enter(20, test)
	l.Polls(100)
	l.Leave(30)
	p, err := New(b.Finish(1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	polled, sampled := p.ByPath[0], p.ByPath[1]
	if polled.Visits != 100 || !p.Counted(&polled) || polled.Pieces != 0 {
		t.Errorf("polled: %+v", polled)
	}
	if sampled.Visits != 0 || sampled.Pieces != 2 || sampled.Samples != 6 || p.Counted(&sampled) || sampled.Exclusive != unit.SumOf(10) {
		t.Errorf("sampled: %+v", sampled)
	}
	d := p.Document(p.Composition(nil), nil, nil, nil, true)
	if x := d.CallPaths[1]; x.Visits != nil || x.Samples == nil || *x.Samples != 6 || x.Rank != nil {
		t.Errorf("sampled: %+v", x)
	}
	if x := d.ByRank[0]; x.Samples != nil || x.Visits == nil || *x.Visits != 100 || *x.Rank != 0 || x.Kind != "mpi_point_to_point" {
		t.Errorf("polled: %+v", x)
	}
}
