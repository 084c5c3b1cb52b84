package otf2

import (
	"testing"

	"slackline/model/timeline"
)

// Regions that are written are read as what they were.
func TestRegionsAndBack(t *testing.T) {
	for _, r := range []timeline.Region{
		{Name: "main"}, {Name: "main", Role: timeline.FileIO},
		{Name: "detour", Paradigm: timeline.Noise}, {Name: "flush", Paradigm: timeline.Tool},
		{Name: "MPI_Send", Paradigm: timeline.MPI, Role: timeline.PointToPoint},
		{Name: "MPI_Put", Paradigm: timeline.MPI, Role: timeline.OneSided},
		{Name: "MPI_Bcast", Paradigm: timeline.MPI, Role: timeline.CollectiveCall}, {Name: "MPI_Init", Paradigm: timeline.MPI},
		{Name: "MPI_Allreduce", Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
		{Name: "MPI_File_read_all", Paradigm: timeline.MPI, Role: timeline.FileIO},
		{Name: "!$omp parallel", Paradigm: timeline.OpenMP, Role: timeline.Parallel},
		{Name: "!$omp barrier", Paradigm: timeline.OpenMP, Role: timeline.Barrier},
		{Name: "!$omp for", Paradigm: timeline.OpenMP, Role: timeline.Workshare},
		{Name: "!$omp ibarrier", Paradigm: timeline.OpenMP, Role: timeline.ImplicitBarrier},
	} {
		paradigm, role := RegionTo(&r)
		if p, got := RegionFrom(paradigm, role, timeline.Function); p != r.Paradigm || got != r.Role {
			t.Errorf("%s: paradigm %d, role %d become %d, %d; want %d, %d", r.Name, paradigm, role, p, got, r.Paradigm, r.Role)
		}
	}
}

func TestCollectiveRole(t *testing.T) {
	for name, want := range map[string]uint8{
		"MPI_Barrier": roleBarrier, "MPI_Bcast": roleOneToAll, "MPI_Scatterv": roleOneToAll, "MPI_Reduce": roleAllToOne,
		"MPI_Gather": roleAllToOne, "MPI_Scan": roleCollective, "MPI_Allgather": roleAllToAll, "MPI_Comm_dup": roleCollective,
	} {
		if got := collectiveRole(name); got != want {
			t.Errorf("%s = %d, want %d", name, got, want)
		}
	}
}

// A role that says nothing leaves what the name suggests.
func TestRegionFromByName(t *testing.T) {
	if p, r := RegionFrom(ParadigmMPI, 0, timeline.OneSided); p != timeline.MPI || r != timeline.OneSided {
		t.Errorf("paradigm %d, role %d", p, r)
	}
	if p, r := RegionFrom(99, roleFileMetadata, timeline.Function); p != timeline.User || r != timeline.FileIO {
		t.Errorf("paradigm %d, role %d", p, r)
	}
}
