package measure

import (
	"slices"
	"strings"
	"testing"

	"slackline/observe/mpi"
)

// TestOmit removes what a library lacks or cannot do, for the number of ranks of a job alone.
func TestOmit(t *testing.T) {
	mpich := &mpi.Library{Kind: mpi.MPICH, Version: "4.0.2"}
	points := func(names string) *Collectives {
		ops, err := ParseOperations(strings.Split(names, ","))
		if err != nil {
			t.Fatal(err)
		}
		c := &Collectives{}
		for _, op := range ops {
			for _, ranks := range []int{2, 3} {
				c.Points = append(c.Points, &CollectivePoint{Operation: op, Ranks: ranks, Size: 8})
			}
		}
		return c
	}
	for _, tc := range []struct {
		names      string
		library    *mpi.Library
		persistent bool
		ranks      int
		left       int
		omitted    []string
	}{
		{"bcast,bcast_init,scatter_init", mpich, true, 2, 6, nil},
		{"bcast,bcast_init,scatter_init", mpich, true, 3, 5, []string{"MPI_Scatter_init"}},
		{"bcast,gather_init,scatter_init", mpich, true, 3, 4, []string{"MPI_Gather_init", "MPI_Scatter_init"}},
		{"bcast,gather_init,scatter_init", &mpi.Library{Kind: mpi.MPICH, Version: "4.3.1"}, true, 3, 5, []string{"MPI_Scatter_init"}},
		{"bcast,gather_init,scatter_init", &mpi.Library{Kind: mpi.MPICH, Version: "5.0.0"}, true, 3, 6, nil},
		{"bcast,gather_init,scatter_init", &mpi.Library{Kind: mpi.OpenMPI, Version: "4.1.4"}, true, 3, 6, nil},
		{"bcast,gather_init,put+flush", &mpi.Library{Kind: mpi.OpenMPI, Version: "3.1.0"}, false, 3, 5, []string{"MPI_Gather_init"}},
	} {
		c := points(tc.names)
		err := c.omit(tc.library, tc.persistent, tc.ranks)
		var omitted []string
		for _, o := range c.Omitted {
			if o.Reason == "" {
				t.Error("an omission without a reason")
			}
			omitted = append(omitted, o.Operations...)
		}
		if err != nil || len(c.Points) != tc.left || !slices.Equal(omitted, tc.omitted) {
			t.Errorf("%s under %s: %d points, omitted %v, %v; want %d, %v", tc.names, tc.library, len(c.Points), omitted, err, tc.left, tc.omitted)
		}
	}
	c := points("scatter_init")
	c.Points = c.Points[1:]
	if err := c.omit(mpich, true, 3); err == nil || !strings.Contains(err.Error(), "choose other operations") {
		t.Errorf("nothing left: %v", err)
	}
}
