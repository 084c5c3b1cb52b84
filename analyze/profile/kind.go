package profile

import (
	"strings"

	"slackline/model/timeline"
)

// Kind is a kind of activity.
type Kind uint8

// The kinds of activity.
const (
	Computation Kind = iota
	PointToPoint
	Collective
	FileIO
	OneSided
	InitExit    // MPI_Init and MPI_Finalize
	OtherMPI    // the rest of MPI
	OpenMP      // barriers and other work of the runtime
	Noise       // injected into a simulation
	Recording   // the recorder's own time
	NotRecorded // recording was off
	Outside     // in no call: before the start, after the end, threads outside of parallel regions
	Waiting     // given by others, see Composition
	NoCPU       // ready to run, but without a CPU
	NotAnalyzed // in MPI, but no rule tells whether it is waiting; given by others, see Composition
	kinds
)

var kindNames = [kinds]string{
	"computation", "mpi_point_to_point", "mpi_collective", "mpi_file_io", "mpi_one_sided", "mpi_init_exit", "mpi_other",
	"openmp", "noise", "recording", "not_recorded", "outside", "waiting", "no_cpu", "mpi_not_analyzed",
}

// String returns the name of the kind in results.
func (k Kind) String() string { return kindNames[k] }

// MarshalText returns the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Title returns the name of the kind for people.
func (k Kind) Title() string {
	switch k {
	case PointToPoint:
		return "MPI messages"
	case Collective:
		return "MPI collectives"
	case FileIO:
		return "MPI file I/O"
	case OneSided:
		return "MPI one-sided"
	case InitExit:
		return "MPI start and end"
	case OtherMPI:
		return "other MPI"
	case OpenMP:
		return "OpenMP runtime"
	case Outside:
		return "in no call"
	case NoCPU:
		return "without a CPU, outside waits"
	case NotAnalyzed:
		return "MPI not analyzed"
	}
	return strings.ReplaceAll(kindNames[k], "_", " ")
}

// KindOf is the kind of activity in a region. Parallel regions and worksharing constructs of OpenMP contain the program's own
// work; barriers and the rest belong to the runtime.
func KindOf(r *timeline.Region) Kind {
	switch r.Paradigm {
	case timeline.MPI:
		return kindOfMPI(r)
	case timeline.OpenMP:
		if r.Role == timeline.Barrier || r.Role == timeline.ImplicitBarrier {
			return OpenMP
		}
	case timeline.Noise:
		return Noise
	case timeline.Tool:
		if r.Role == timeline.Unrecorded {
			return NotRecorded
		}
		return Recording
	case timeline.NoCPU:
		return NoCPU
	}
	return Computation
}

func kindOfMPI(r *timeline.Region) Kind {
	switch r.Role {
	case timeline.PointToPoint:
		return PointToPoint
	case timeline.CollectiveCall:
		return Collective
	case timeline.FileIO:
		return FileIO
	case timeline.OneSided:
		return OneSided
	}
	switch {
	case r.Name == "MPI_Init", r.Name == "MPI_Init_thread", r.Name == "MPI_Finalize":
		return InitExit
	case strings.HasPrefix(r.Name, "MPI_Wait"), strings.HasPrefix(r.Name, "MPI_Test"):
		return PointToPoint
	}
	return OtherMPI
}
