package profile

import (
	"encoding/json"
	"strings"
	"testing"

	"slackline/model/timeline"
)

func TestKindOf(t *testing.T) {
	for _, tc := range []struct {
		region timeline.Region
		want   Kind
	}{
		{timeline.Region{Name: "main"}, Computation},
		{timeline.Region{Name: "MPI_like_name"}, Computation}, // what a region is does not depend on its name alone
		{timeline.Region{Name: "MPI_Send", Paradigm: timeline.MPI, Role: timeline.PointToPoint}, PointToPoint},
		{timeline.Region{Name: "MPI_Bcast", Paradigm: timeline.MPI, Role: timeline.CollectiveCall}, Collective},
		{timeline.Region{Name: "MPI_File_open", Paradigm: timeline.MPI, Role: timeline.FileIO}, FileIO},
		{timeline.Region{Name: "MPI_Put", Paradigm: timeline.MPI, Role: timeline.OneSided}, OneSided},
		{timeline.Region{Name: "MPI_Init", Paradigm: timeline.MPI}, InitExit},
		{timeline.Region{Name: "MPI_Init_thread", Paradigm: timeline.MPI}, InitExit},
		{timeline.Region{Name: "MPI_Finalize", Paradigm: timeline.MPI}, InitExit},
		{timeline.Region{Name: "MPI_Initialized", Paradigm: timeline.MPI}, OtherMPI}, // asks, and starts nothing
		{timeline.Region{Name: "MPI_Finalized", Paradigm: timeline.MPI}, OtherMPI},
		{timeline.Region{Name: "MPI_Waitall", Paradigm: timeline.MPI}, PointToPoint},
		{timeline.Region{Name: "MPI_Testsome", Paradigm: timeline.MPI}, PointToPoint},
		{timeline.Region{Name: "MPI_Comm_split", Paradigm: timeline.MPI}, OtherMPI},
		{timeline.Region{Name: "parallel", Paradigm: timeline.OpenMP, Role: timeline.Parallel}, Computation},
		{timeline.Region{Name: "for", Paradigm: timeline.OpenMP, Role: timeline.Workshare}, Computation},
		{timeline.Region{Name: "barrier", Paradigm: timeline.OpenMP, Role: timeline.Barrier}, OpenMP},
		{timeline.Region{Name: "implicit", Paradigm: timeline.OpenMP, Role: timeline.ImplicitBarrier}, OpenMP},
		{timeline.Region{Name: "[noise]", Paradigm: timeline.Noise}, Noise},
		{timeline.Region{Name: "flush", Paradigm: timeline.Tool}, Recording},
		{timeline.NotRecorded, NotRecorded},
		{timeline.Region{Name: timeline.NoCPUName, Paradigm: timeline.NoCPU}, NoCPU},
	} {
		if got := KindOf(&tc.region); got != tc.want {
			t.Errorf("%s (paradigm %d, role %d) is %s, want %s", tc.region.Name, tc.region.Paradigm, tc.region.Role, got, tc.want)
		}
	}
}

// TestKindNames: every kind has a name of its own in results, and one for people.
func TestKindNames(t *testing.T) {
	names, titles := map[string]Kind{}, map[string]Kind{}
	for k := range kinds {
		if other, used := names[k.String()]; used || k.String() == "" {
			t.Errorf("kinds %d and %d are both called %q", other, k, k)
		}
		if other, used := titles[k.Title()]; used || k.Title() == "" || strings.Contains(k.Title(), "_") {
			t.Errorf("kinds %d and %d have the title %q", other, k, k.Title())
		}
		names[k.String()], titles[k.Title()] = k, k
	}
	data, err := json.Marshal(Part{Kind: InitExit, Name: "x", Share: 0.5})
	if want := `{"kind":"mpi_init_exit","name":"x","seconds":0,"share":0.5,"by_rank_s":null}`; err != nil || string(data) != want {
		t.Errorf("%s, %v; want %s", data, err, want)
	}
}
