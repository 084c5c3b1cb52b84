package trace

import (
	"testing"

	"slackline/model/timeline"
)

func TestRegionNamed(t *testing.T) {
	for name, want := range map[string]timeline.Region{
		"main":                             {},
		"MPIR_thing":                       {},
		"MPI_Send":                         {Paradigm: timeline.MPI, Role: timeline.PointToPoint},
		"MPI_ISEND":                        {Paradigm: timeline.MPI, Role: timeline.PointToPoint},
		"MPI_Recv_init":                    {Paradigm: timeline.MPI, Role: timeline.PointToPoint},
		"MPI_Sendrecv_replace":             {Paradigm: timeline.MPI, Role: timeline.PointToPoint},
		"MPI_Waitsome":                     {Paradigm: timeline.MPI, Role: timeline.PointToPoint},
		"MPI_Barrier":                      {Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
		"MPI_Ialltoallw":                   {Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
		"MPI_Reduce_scatter_block":         {Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
		"MPI_Ineighbor_allgatherv":         {Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
		"MPI_Allgather_c":                  {Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
		"MPI_Allocate":                     {Paradigm: timeline.MPI, Role: timeline.Function},
		"MPI_Init":                         {Paradigm: timeline.MPI, Role: timeline.Function},
		"MPI_Comm_split":                   {Paradigm: timeline.MPI, Role: timeline.Function},
		"MPI_File_write_all":               {Paradigm: timeline.MPI, Role: timeline.FileIO},
		"MPI_Win_fence":                    {Paradigm: timeline.MPI, Role: timeline.OneSided},
		"MPI_Fetch_and_op":                 {Paradigm: timeline.MPI, Role: timeline.OneSided},
		"!$omp parallel @a.c:4":            {Paradigm: timeline.OpenMP, Role: timeline.Parallel},
		"!$omp implicit barrier @dyn.c:40": {Paradigm: timeline.OpenMP, Role: timeline.ImplicitBarrier},
		"!$omp barrier @dyn.c:40":          {Paradigm: timeline.OpenMP, Role: timeline.Barrier},
		"!$omp for @dyn.c:40":              {Paradigm: timeline.OpenMP, Role: timeline.Workshare},
		"!$omp task @dyn.c:40":             {Paradigm: timeline.OpenMP, Role: timeline.Function},
	} {
		want.Name = name
		if got := RegionNamed(name); got != want {
			t.Errorf("RegionNamed(%q) = %+v, want %+v", name, got, want)
		}
	}
}
