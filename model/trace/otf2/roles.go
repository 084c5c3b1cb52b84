package otf2

import (
	"slices"
	"strings"

	"slackline/model/timeline"
)

// Roles of regions in OTF2.
const (
	roleFunction        = 1
	roleParallel        = 5
	roleWorkshare       = 8
	roleBarrier         = 15
	roleImplicitBarrier = 16
	roleOneToAll        = 23
	roleAllToOne        = 24
	roleAllToAll        = 25
	roleCollective      = 26
	roleFileIO          = 27
	RolePointToPoint    = 28
	roleRMA             = 29
	RoleArtificial      = 31
	roleFileMetadata    = 38
	RoleKernel          = 40
)

// roles are the roles of OTF2 by ours, but for collectives, whose role depends on the operation.
var roles = [...]uint8{
	timeline.Function: roleFunction, timeline.PointToPoint: RolePointToPoint, timeline.FileIO: roleFileIO, timeline.OneSided: roleRMA,
	timeline.Parallel: roleParallel, timeline.Barrier: roleBarrier, timeline.ImplicitBarrier: roleImplicitBarrier,
	timeline.Workshare: roleWorkshare,
}

// RegionFrom translates paradigm and role; byName is the role that the name suggests.
func RegionFrom(paradigm, role uint8, byName timeline.Role) (timeline.Paradigm, timeline.Role) {
	switch paradigm {
	case ParadigmMPI:
		switch role {
		case roleBarrier, roleOneToAll, roleAllToOne, roleAllToAll, roleCollective:
			return timeline.MPI, timeline.CollectiveCall
		case roleFileMetadata:
			return timeline.MPI, timeline.FileIO
		case RolePointToPoint, roleFileIO, roleRMA, roleFunction:
			return timeline.MPI, timeline.Role(slices.Index(roles[:], role))
		}
		return timeline.MPI, byName
	case ParadigmOpenMP:
		switch {
		case role == roleParallel || role == roleBarrier || role == roleImplicitBarrier:
			return timeline.OpenMP, timeline.Role(slices.Index(roles[:], role))
		case role == 3 || role >= 6 && role <= 14 || role == 18 || role == 19: // loop, sections ... atomic, ordered
			return timeline.OpenMP, timeline.Workshare
		}
		return timeline.OpenMP, timeline.Function
	case paradigmMeasurement:
		if role == RoleArtificial {
			return timeline.Noise, timeline.Function
		}
		return timeline.Tool, timeline.Function
	}
	if role == roleFileIO || role == roleFileMetadata {
		return timeline.User, timeline.FileIO
	}
	return timeline.User, timeline.Function
}

// RegionTo translates paradigm and role back.
func RegionTo(r *timeline.Region) (paradigm, role uint8) {
	switch r.Paradigm {
	case timeline.Noise:
		return paradigmMeasurement, RoleArtificial
	case timeline.Tool:
		return paradigmMeasurement, roleFunction
	}
	if role = roles[r.Role]; r.Role == timeline.CollectiveCall {
		role = collectiveRole(r.Name)
	}
	return [...]uint8{timeline.User: paradigmUser, timeline.MPI: ParadigmMPI, timeline.OpenMP: ParadigmOpenMP}[r.Paradigm], role
}

// collectiveRole is the role of a collective call by its name.
func collectiveRole(name string) uint8 {
	call, _ := strings.CutPrefix(strings.ToLower(name), "mpi_")
	op, ok := timeline.CollectiveOp(call)
	switch {
	case !ok:
		return roleCollective
	case op == timeline.OpBarrier:
		return roleBarrier
	case op == timeline.OpBcast || op == timeline.OpScatter || op == timeline.OpScatterv:
		return roleOneToAll
	case op == timeline.OpReduce || op == timeline.OpGather || op == timeline.OpGatherv:
		return roleAllToOne
	case op == timeline.OpScan || op == timeline.OpExscan:
		return roleCollective
	}
	return roleAllToAll
}
