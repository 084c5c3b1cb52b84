package profile

import (
	"math"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// uneven is a run of 100 ps in which rank 0 computes for 80 and is in MPI for 20, rank 1 for 40 and 60.
func uneven(t *testing.T) (p *Profile, call int32) {
	t.Helper()
	b := timeline.NewBuilder(2)
	b.Comm(timeline.Comm{Members: []int32{0, 1}})
	main := b.Region(timeline.Region{Name: "main"})
	mpi := b.Region(timeline.Region{Name: "MPI_Barrier", Paradigm: timeline.MPI, Role: timeline.CollectiveCall})
	for rank, enter := range []unit.Duration{80, 40} {
		l := b.Location(rank, 0, "", "")
		l.Enter(0, main)
		l.Enter(enter, mpi)
		l.Collective(90, timeline.OpBarrier, 0, -1, 0, 0, nil)
		l.Leave(100)
		l.Leave(100)
	}
	p, err := New(b.Finish(1), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range p.Paths.Names {
		if name == "main/MPI_Barrier" {
			return p, int32(i)
		}
	}
	t.Fatalf("no call path of the barrier in %q", p.Paths.Names)
	return nil, 0
}

// Efficiencies worked out by hand; their products are those of the definition.
func TestEfficiency(t *testing.T) {
	p, call := uneven(t)
	wait := WaitTime{Name: "barrier", Rank: 1, Path: call, Time: 40}
	unknown := WaitTime{Name: "?", Rank: 0, Path: call, Time: 10, Unknown: true}
	for name, tc := range map[string]struct {
		ideal   unit.Duration
		waiting []WaitTime
		want    Efficiency
	}{
		"no waits":  {0, nil, Efficiency{Serialization: 1, NotAnalyzed: 1, Transfer: 0.8, Ideal: 80, Estimated: true}},
		"estimated": {0, []WaitTime{wait}, Efficiency{Serialization: 1, NotAnalyzed: 1, Transfer: 0.8, Ideal: 80, Estimated: true}},
		"not analyzed": {0, []WaitTime{unknown}, Efficiency{Serialization: 1, NotAnalyzed: 80.0 / 90, Transfer: 0.9, Ideal: 80,
			Estimated: true}},
		"given":         {90, nil, Efficiency{Serialization: 80.0 / 90, NotAnalyzed: 1, Transfer: 0.9, Ideal: 90}},
		"given too low": {10, nil, Efficiency{Serialization: 1, NotAnalyzed: 1, Transfer: 0.8, Ideal: 80}},
		"given too big": {500, nil, Efficiency{Serialization: 0.8, NotAnalyzed: 1, Transfer: 1, Ideal: 100}},
	} {
		e := p.Efficiency(tc.ideal, tc.waiting)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-12 { // quotients of whole numbers
				t.Errorf("%s: %s = %g, want %g", name, what, got, want)
			}
		}
		near("parallel", e.Parallel, 0.6)
		near("load balance", e.LoadBalance, 0.75)
		near("communication", e.Communication, 0.8)
		near("serialization", e.Serialization, tc.want.Serialization)
		near("not analyzed", e.NotAnalyzed, tc.want.NotAnalyzed)
		near("transfer", e.Transfer, tc.want.Transfer)
		near("load balance x communication", e.LoadBalance*e.Communication, e.Parallel)
		near("serialization x not analyzed x transfer", e.Serialization*e.NotAnalyzed*e.Transfer, e.Communication)
		if e.Ideal != tc.want.Ideal || e.Estimated != tc.want.Estimated || e.MaxUseful != 80 || e.AverageUseful != 60 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// Waiting is taken out of the call that it is part of, and all parts sum up to the total.
func TestComposition(t *testing.T) {
	p, call := uneven(t)
	c := p.Composition([]WaitTime{{Name: "barrier", Rank: 1, Path: call, Time: 40}})
	got := map[string]unit.Duration{}
	sum := unit.Duration(0)
	for _, part := range c.Parts {
		got[part.Kind.String()+"/"+part.Name] = part.Time
		sum += part.Time
	}
	if c.Total != 200 || sum != c.Total || len(got) != 3 || got["waiting/barrier"] != 40 || got[Computation.String()+"/"+
		Computation.String()] != 120 {
		t.Errorf("of %d: %v, sum %d; want 120 of computation, 40 of waiting and 40 of MPI", c.Total, got, sum)
	}
}
