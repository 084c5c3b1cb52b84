package timeline

import "testing"

func TestRegionNamed(t *testing.T) {
	for name, want := range map[string]Region{
		"main":                             {},
		"MPIR_thing":                       {},
		"MPI_Send":                         {Paradigm: MPI, Role: PointToPoint},
		"MPI_ISEND":                        {Paradigm: MPI, Role: PointToPoint},
		"MPI_Recv_init":                    {Paradigm: MPI, Role: PointToPoint},
		"MPI_Sendrecv_replace":             {Paradigm: MPI, Role: PointToPoint},
		"MPI_Waitsome":                     {Paradigm: MPI, Role: PointToPoint},
		"MPI_Barrier":                      {Paradigm: MPI, Role: CollectiveCall},
		"MPI_Ialltoallw":                   {Paradigm: MPI, Role: CollectiveCall},
		"MPI_Reduce_scatter_block":         {Paradigm: MPI, Role: CollectiveCall},
		"MPI_Ineighbor_allgatherv":         {Paradigm: MPI, Role: CollectiveCall},
		"MPI_Allgather_c":                  {Paradigm: MPI, Role: CollectiveCall},
		"MPI_Allocate":                     {Paradigm: MPI, Role: Function},
		"MPI_Init":                         {Paradigm: MPI, Role: Function},
		"MPI_Comm_split":                   {Paradigm: MPI, Role: Function},
		"MPI_File_write_all":               {Paradigm: MPI, Role: FileIO},
		"MPI_Win_fence":                    {Paradigm: MPI, Role: OneSided},
		"MPI_Fetch_and_op":                 {Paradigm: MPI, Role: OneSided},
		"!$omp parallel @a.c:4":            {Paradigm: OpenMP, Role: Parallel},
		"!$omp implicit barrier @dyn.c:40": {Paradigm: OpenMP, Role: ImplicitBarrier},
		"!$omp barrier @dyn.c:40":          {Paradigm: OpenMP, Role: Barrier},
		"!$omp for @dyn.c:40":              {Paradigm: OpenMP, Role: Workshare},
		"!$omp task @dyn.c:40":             {Paradigm: OpenMP, Role: Function},
	} {
		want.Name = name
		if got := RegionNamed(name); got != want {
			t.Errorf("RegionNamed(%q) = %+v, want %+v", name, got, want)
		}
	}
}
