package replay

import (
	"strings"

	"slackline/model/timeline"
)

// callKind is what a call becomes unless a message or a collective defines it.
type callKind uint8

const (
	userCall      callKind = iota // computation
	toolCall                      // the recorder's own time: nothing
	offCall                       // recording was off: see unrecorded.go
	opaqueCall                    // an MPI call whose time is kept
	sessionEnd                    // MPI_Session_finalize: opaque, but the last one of a rank without MPI_Finalize is the end
	communication                 // an MPI call whose time is dropped: the simulator computes it
	neighborhood                  // a collective among neighbors that are not known: dropped
	pollCall                      // MPI_Test, MPI_Iprobe and the like: dropped
	initCall                      // MPI_Init: the schedule begins after it
	finalizeCall                  // MPI_Finalize: the schedule ends before it
)

// isMPI reports whether calls of the kind end a span of computation.
func (k callKind) isMPI() bool { return k >= opaqueCall }

// kindsOf returns for every call path what a call of it is, and whether time that is spent there
// between polls is waiting.
// Detours that a simulation injected are computation, or nothing.
func kindsOf(t *timeline.Timeline, denoise bool) (kinds []callKind, idle []bool) {
	ofRegion := make([]callKind, len(t.Regions))
	sleeps := make([]bool, len(t.Regions))
	for i := range t.Regions {
		ofRegion[i] = kindOf(&t.Regions[i])
		if denoise && t.Regions[i].Paradigm == timeline.Noise {
			ofRegion[i] = toolCall
		}
		sleeps[i] = t.Regions[i].Paradigm == timeline.User && isSleep(t.Regions[i].Name)
	}
	kinds, idle = make([]callKind, len(t.Paths)), make([]bool, len(t.Paths))
	for i := 1; i < len(t.Paths); i++ {
		p := &t.Paths[i]
		kinds[i] = ofRegion[p.Region]
		idle[i] = idle[p.Parent] || sleeps[p.Region]
	}
	return kinds, idle
}

func kindOf(r *timeline.Region) callKind {
	switch r.Paradigm {
	case timeline.MPI:
	case timeline.Tool:
		if r.Role == timeline.Unrecorded {
			return offCall
		}
		return toolCall
	default:
		return userCall
	}
	name := callName(r)
	switch name {
	case "init", "init_thread":
		return initCall
	case "finalize":
		return finalizeCall
	case "session_finalize":
		return sessionEnd
	case "test", "testall", "testany", "testsome", "iprobe", "improbe", "request_get_status", "win_test", "parrived":
		return pollCall
	case "wait", "waitall", "waitany", "waitsome", "probe", "mprobe":
		return communication
	}
	switch {
	case strings.HasPrefix(name, "neighbor_") || strings.HasPrefix(name, "ineighbor_"):
		return neighborhood
	case r.Role == timeline.PointToPoint || r.Role == timeline.CollectiveCall:
		return communication
	}
	return opaqueCall
}

// callName is the name of an MPI call without what languages and profilers add to it, e.g. bsend of MPI_Bsend, pmpi_bsend_ and MPI_Bsend_c.
func callName(r *timeline.Region) string {
	name := strings.TrimRight(strings.ToLower(r.Name), "_")
	return strings.TrimPrefix(strings.TrimPrefix(name, "p"), "mpi_")
}

// sleeps are the functions of the C library by which a program waits without working.
var sleeps = map[string]bool{
	"sleep": true, "usleep": true, "nanosleep": true, "clock_nanosleep": true, "thrd_sleep": true, "pause": true,
	"sched_yield": true, "thrd_yield": true, "pthread_yield": true,
	"poll": true, "ppoll": true, "select": true, "pselect": true, "epoll_wait": true,
}

// isSleep reports whether a function is one of those, also under its inner names such as
// __clock_nanosleep and nanosleep@@GLIBC_2.17.
func isSleep(name string) bool {
	name, _, _ = strings.Cut(name, "@")
	return sleeps[strings.TrimPrefix(strings.TrimLeft(name, "_"), "GI_")]
}
