package profile

import (
	"testing"

	"slackline/model/unit"
)

// TestCompositionKinds: each kind of waiting is a part of its own; time that was not analyzed is one, whatever its name; idle threads
// are taken out of the time in no call.
func TestCompositionKinds(t *testing.T) {
	p := runOf(t, `
rank 0
10 main {
  20..60 MPI_Recv: recv from 1 size 1
} 90
rank 0 thread 1
rank 1
0 main {
  30..50 MPI_Send: send to 0 size 1
} 100
`)
	recv := pathOf(t, p, "main/MPI_Recv")
	for _, tc := range []struct {
		name    string
		waiting []WaitTime
		want    string
	}{
		{"none", nil, "computation 120 [40ps 80ps], mpi_point_to_point 60 [40ps 20ps], outside 120 [120ps 0]"},
		{"two kinds", []WaitTime{{Name: "b", Path: recv, Time: unit.SumOf(5)}, {Name: "a", Path: recv, Time: unit.SumOf(3)},
			{Name: "b", Path: recv, Time: unit.SumOf(2)}},
			"computation 120 [40ps 80ps], mpi_point_to_point 50 [30ps 20ps], outside 120 [120ps 0], a 3 [3ps 0], b 7 [7ps 0]"},
		{"idle", []WaitTime{{Name: "idle", Path: recv, Time: unit.SumOf(100), Idle: true}},
			"computation 120 [40ps 80ps], mpi_point_to_point 60 [40ps 20ps], outside 20 [20ps 0], idle 100 [100ps 0]"},
		{"in no call", []WaitTime{{Name: "x", Path: 0, Time: unit.SumOf(1)}},
			"computation 120 [40ps 80ps], mpi_point_to_point 60 [40ps 20ps], outside 119 [119ps 0], x 1 [1ps 0]"},
		{"not analyzed", []WaitTime{{Name: "x", Path: recv, Time: unit.SumOf(1), Unknown: true},
			{Name: "y", Path: recv, Time: unit.SumOf(1), Unknown: true}},
			"computation 120 [40ps 80ps], mpi_point_to_point 58 [38ps 20ps], outside 120 [120ps 0], mpi_not_analyzed 2 [2ps 0]"},
		{"all of it", []WaitTime{{Name: "x", Rank: 1, Path: pathOf(t, p, "main/MPI_Send"), Time: unit.SumOf(20)},
			{Name: "x", Path: recv, Time: unit.SumOf(40)}},
			"computation 120 [40ps 80ps], outside 120 [120ps 0], x 60 [40ps 20ps]"},
	} {
		c := p.Composition(tc.waiting)
		if got := partsOf(c); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		shares := 0.0
		for _, part := range c.Parts {
			shares += part.Share
		}
		if shares < 1-1e-12 || shares > 1+1e-12 || c.Total != unit.SumOf(300) {
			t.Errorf("%s: shares of %v sum up to %g", tc.name, c.Total, shares)
		}
	}
}

// Waiting is taken out of the call that it is part of, and all parts sum up to the total.
func TestComposition(t *testing.T) {
	p, call := uneven(t)
	c := p.Composition([]WaitTime{{Name: "barrier", Rank: 1, Path: call, Time: unit.SumOf(40)}})
	got := map[string]unit.Duration{}
	sum := unit.Duration(0)
	for _, part := range c.Parts {
		got[part.Kind.String()+"/"+part.Name] = part.Time.Duration()
		sum += part.Time.Duration()
	}
	if c.Total != unit.SumOf(200) || sum != c.Total.Duration() || len(got) != 3 || got["waiting/barrier"] != 40 ||
		got[Computation.String()+"/"+
			Computation.String()] != 120 {
		t.Errorf("of %d: %v, sum %d; want 120 of computation, 40 of waiting and 40 of MPI", c.Total, got, sum)
	}
}
