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

// TestOpNames: every operation has a name of its own, by which it is found again.
func TestOpNames(t *testing.T) {
	seen := map[string]bool{}
	for op := range numOps {
		name := op.String()
		if found, ok := OpNamed(name); !ok || found != op || name == "" || seen[name] {
			t.Errorf("operation %d: %q is that of %d, %t", op, name, found, ok)
		}
		seen[name] = true
		if text, err := op.MarshalText(); err != nil || string(text) != name {
			t.Errorf("operation %s as text = %s, %v", name, text, err)
		}
	}
	if got := numOps.String(); got != "unknown" {
		t.Errorf("an operation that does not exist = %q", got)
	}
	if _, ok := OpNamed("Barrier"); ok {
		t.Error("names are in lower case")
	}
}

// TestRooted: the operations of MPI that have a root.
func TestRooted(t *testing.T) {
	for _, c := range []struct {
		name             string
		rooted, neighbor bool
	}{
		{"bcast", true, false}, {"reduce", true, false}, {"gather", true, false}, {"gatherv", true, false}, {"scatter", true, false},
		{"scatterv", true, false}, {"barrier", false, false}, {"allreduce", false, false}, {"reduce_scatter", false, false},
		{"scan", false, false}, {"neighbor_allgather", false, true}, {"neighbor_alltoallw", false, true},
	} {
		if op, ok := OpNamed(c.name); !ok || op.Rooted() != c.rooted || op.IsNeighbor() != c.neighbor {
			t.Errorf("%s: rooted %t, of neighbors %t, want %t, %t", c.name, op.Rooted(), op.IsNeighbor(), c.rooted, c.neighbor)
		}
	}
}

// TestCollectiveOp: handles and memory are no collective calls, though they have operations.
func TestCollectiveOp(t *testing.T) {
	for call, want := range map[string]Op{
		"barrier": OpBarrier, "ibarrier": OpBarrier, "iscan": OpScan, "ineighbor_alltoallv": OpNeighborAlltoallv,
		"reduce_scatter_block": OpReduceScatterBlock,
	} {
		if got, ok := CollectiveOp(call); !ok || got != want {
			t.Errorf("CollectiveOp(%q) = %v, %t, want %v", call, got, ok, want)
		}
	}
	for _, call := range []string{"", "i", "create_handle", "allocate", "iallocate", "iibarrier", "init", "send"} {
		if got, ok := CollectiveOp(call); ok {
			t.Errorf("CollectiveOp(%q) = %v, want none", call, got)
		}
	}
}

// TestRegionProperties: which calls let MPI make progress, which need no other process (MPI 4.1, where it says "local"), and which only
// test.
func TestRegionProperties(t *testing.T) {
	for _, c := range []struct {
		name                      string
		communicates, local, test bool
	}{
		{"main", false, false, false},
		{"MPI_Init", true, false, false},
		{"MPI_Init_thread", true, false, false},
		{"MPI_Finalize", true, false, false},
		{"MPI_Initialized", false, true, false},
		{"MPI_Session_init", false, true, false},
		{"MPI_Session_finalize", false, false, false},
		{"MPI_Send", true, false, false},
		{"MPI_Send_init", true, true, false},
		{"mpi_bcast_init_", false, true, false}, // as Fortran compilers name it
		{"MPI_Bcast_init_c", true, true, false},
		{"MPI_Start", true, true, false},
		{"MPI_Test", true, false, true},
		{"MPI_Test_cancelled", false, true, false},
		{"MPI_Testsome", true, false, true},
		{"MPI_Iprobe", true, false, true},
		{"MPI_Probe", true, false, false},
		{"MPI_Win_test", true, false, true},
		{"MPI_Win_sync", true, true, false},
		{"MPI_Win_get_group", true, true, false},
		{"MPI_Win_fence", true, false, false},
		{"MPI_Get", true, false, false},
		{"MPI_Get_count_c", false, true, false},
		{"MPI_Get_address", false, true, false},
		{"MPI_Comm_rank", false, true, false},
		{"MPI_Comm_get_parent", false, true, false},
		{"MPI_Comm_dup", false, false, false},
		{"MPI_Comm_split", false, false, false},
		{"MPI_Cart_shift", false, true, false},
		{"MPI_Cart_create", false, false, false},
		{"MPI_Type_commit", false, true, false},
		{"MPI_T_init_thread", false, true, false},
		{"MPI_File_get_size", true, true, false},
		{"MPI_File_open", true, false, false},
		{"MPI_Pready_range", true, true, false},
		{"MPI_Parrived", true, false, true},
		{"MPI_Wtime", false, true, false},
		{"MPI_Group_incl", false, true, false},
		{"MPI_Group", false, false, false}, // there is no such call
		{"MPI_Pack_external_c", false, true, false},
		{"wtime", false, false, false},
	} {
		r := RegionNamed(c.name)
		if got := [3]bool{r.Communicates(), r.IsLocal(), IsTest(c.name)}; got != [3]bool{c.communicates, c.local, c.test} {
			t.Errorf("%s: communicates, is local, tests = %v, want %v", c.name, got, [3]bool{c.communicates, c.local, c.test})
		}
	}
}
