package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
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
	wait := WaitTime{Name: "barrier", Rank: 1, Path: call, Time: unit.SumOf(40)}
	unknown := WaitTime{Name: "?", Rank: 0, Path: call, Time: unit.SumOf(10), Unknown: true}
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

// TestEfficiencyPartlyRecorded: the times of ranks that were recorded for longer or shorter are compared as if all had been recorded for
// the mean of it; worked out by hand.
func TestEfficiencyPartlyRecorded(t *testing.T) {
	p := runOf(t, `
rank 0
0..40 solve
40..60 MPI_Barrier: barrier
@60 recording off
@100 recording on
rank 1
0..50 solve
50..100 MPI_Barrier: barrier
`)
	e := p.Efficiency(0, nil)
	// Rank 0 was recorded for 60 of 100 ps, rank 1 for all: 80 ps on average, so that rank 0 counts 80/60-fold and rank 1 80/100-fold.
	if e.RunTime != 80 || e.MaxUseful != 53 || e.AverageUseful != (53+40)/2 {
		t.Errorf("%+v, want a run time of 80 ps, at most 53 ps and on average 46 ps useful", e)
	}
	want := "computation 90 [40ps 50ps], mpi_collective 70 [20ps 50ps], not_recorded 40 [40ps 0]"
	if got := partsOf(p.Composition(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if u := p.Unrecorded; u[0] != unit.SumOf(40) || u[1].Sign() != 0 {
		t.Errorf("not recorded: %v", u)
	}
}

// TestEfficiencyOfThreads: what a rank computes is the mean over its threads while they live.
func TestEfficiencyOfThreads(t *testing.T) {
	p := runOf(t, `
rank 0
0..100 solve
rank 0 thread 1
0..60 solve
60..100 MPI_Barrier
rank 1
0..80 solve
80..100 MPI_Barrier
`)
	e := p.Efficiency(0, nil)
	if e.MaxUseful != 80 || e.AverageUseful != 80 || e.LoadBalance != 1 || e.Parallel != 0.8 {
		t.Errorf("%+v: both ranks compute for 80 of 100 ps", e)
	}
	// A wait of one of two threads counts half for the estimate of an ideal network: (100 + 60)/2 + 40/2 = 100.
	wait := []WaitTime{{Name: "x", Rank: 0, Path: pathOf(t, p, "MPI_Barrier"), Time: unit.SumOf(40)}}
	if e := p.Efficiency(0, wait); e.Ideal != 100 || e.Serialization != 0.8 || e.Transfer != 1 {
		t.Errorf("with a wait: %+v", e)
	}
}

// TestEfficiencyScales: the unit of time does not matter, and the products are those of the definition, for random times.
func TestEfficiencyScales(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 4))
		ranks := 1 + random.IntN(4)
		work := make([]int, ranks)
		for r := range work {
			work[r] = random.IntN(100)
		}
		run := func(factor int) *Efficiency {
			text := ""
			for r, w := range work {
				text += fmt.Sprintf("rank %d\n0..%d solve\n%d..%d MPI_Barrier: barrier\n", r, w*factor, w*factor, 100*factor)
			}
			return runOf(t, text).Efficiency(0, nil)
		}
		one, many := run(1), run(1<<40)
		most, sum := 0, 0
		for _, w := range work {
			most, sum = max(most, w), sum+w
		}
		if one.Parallel != many.Parallel || one.LoadBalance != many.LoadBalance || one.Transfer != many.Transfer || one.Ideal<<40 != many.Ideal {
			t.Errorf("seed %d: %+v, 2^40 times as long %+v", seed, one, many)
		}
		if want := float64(sum) / float64(ranks) / 100; math.Abs(one.Parallel-want) > 1e-12 || one.MaxUseful != unit.Duration(most) {
			t.Errorf("seed %d: %v of useful time: %+v", seed, work, one)
		}
		if math.Abs(one.LoadBalance*one.Serialization*one.NotAnalyzed*one.Transfer-one.Parallel) > 1e-12 {
			t.Errorf("seed %d: the product of the factors is not the parallel efficiency: %+v", seed, one)
		}
	}
}
