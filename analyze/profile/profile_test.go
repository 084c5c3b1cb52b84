package profile

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

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
			p.Paths.Names[e.Path], e.Visits, e.Exclusive, e.Inclusive, e.Sent, e.Received, e.Collective))
	}
	for _, part := range p.Composition([]WaitTime{{Name: "late_sender", Rank: 1, Path: 3, Time: 7}}).Parts {
		got = append(got, fmt.Sprintf("%s %s %d", part.Kind, part.Name, part.Time))
	}
	before := p.Efficiency(500, nil).AverageUseful
	work := int32(slices.Index(p.Paths.Names, "main/work"))
	if after := p.Efficiency(500, []WaitTime{{Name: "host_wait", Path: work, Time: 40},
		{Name: "late_sender", Path: 3, Time: 7}}).AverageUseful; after != before-10 {
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
		got = append(got, fmt.Sprintf("collective %d of %d: %d calls, time %d, over %v", c.Op, c.Ranks, c.Calls, c.Time, c.Over))
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

func TestIterations(t *testing.T) {
	p, err := New(ringRun(3, 8), Options{})
	if err != nil {
		t.Fatal(err)
	}
	it := p.Iterations()
	if it == nil {
		t.Fatal("no iterations were found")
	}
	if len(it.List) != 7 || it.Covers {
		t.Fatalf("%d iterations of %s, covered: %v; want 7 between calls", len(it.List), p.Paths.Names[it.Path], it.Covers)
	}
	it.addWait(1, it.List[2].Begin+5, 9)
	for k, i := range it.List {
		if i.Duration < 100 || i.Duration > 102 || i.MaxComputation < i.Computation || i.Computation < 30 {
			t.Errorf("iteration %d = %+v", k, i)
		}
		if want := unit.Duration(0); k != 2 && i.Waiting != want || k == 2 && i.Waiting != 9 {
			t.Errorf("waiting of iteration %d = %v", k, i.Waiting)
		}
	}
}

// TestNoIterations checks that a program without repetition has none.
func TestNoIterations(t *testing.T) {
	p, err := New(ringRun(2, 2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if it := p.Iterations(); it != nil {
		t.Errorf("found %d iterations of %s", len(it.List), p.Paths.Names[it.Path])
	}
}

func TestEmpty(t *testing.T) {
	for _, ranks := range []int{0, 2} {
		p, err := New(timeline.NewBuilder(ranks).Finish(1), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e := p.Efficiency(0, nil); e.Parallel != 0 || p.Iterations() != nil || p.Composition(nil).Total != 0 {
			t.Errorf("%d empty ranks have efficiency %v", ranks, e.Parallel)
		}
	}
}
