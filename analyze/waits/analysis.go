package waits

import (
	"slackline/analyze/profile"
	"slackline/internal/parallel"
	"slackline/model/timeline"
)

// analysis holds what the passes over a timeline share.
type analysis struct {
	tl      *timeline.Timeline
	paths   *profile.Paths
	windows *profile.Windows
	threads int
	part    *timeline.Part // nil: the timeline is the whole run
	// causeless: there will be no backward pass, and nothing that only it needs
	causeless bool

	masters  []int32 // by rank: its location, -1 if it is missing
	tests    []bool  // by timeline.PathID: whether it ends in a call that only tests
	groups   []group // by communicator
	rules    []uint8 // by collective: number of its rule, 0 if it neither waits nor synchronizes
	points   []syncPoint
	joinings [][]joining // by location
	contacts []contacts  // by location that receives

	states []state // by location, then by call
	first  []int   // by location: its first state; one more at the end
	ends   []ends  // by location
	idle   []idlePhase
	inTeam []bool // by location: whether it ever was in a team

	pairs   []epochPair   // of runs with streams: calls of one-sided communication that depend on each other
	hosts   int           // locations from here on are streams
	devices *deviceStates // what only runs with streams have; nil: there are none

	completions costTable

	// of parts
	bases     []int // by process: number of its first wait state among those of all; one more at the end
	idleBases []int // the same of idle phases
	rounds    int   // of the backward pass
	backward  *backward
}

// prepare finds what the passes need.
func (a *analysis) prepare() error {
	if a.windows == nil {
		var err error
		if a.paths, err = profile.NewPaths(a.tl); err != nil {
			return err
		}
		a.windows = profile.NewWindows(a.tl, a.paths, a.threads)
	}
	a.masters = mastersOf(a.tl)
	a.inTeam = make([]bool, len(a.tl.Locations))
	for i := range a.tl.Teams {
		for _, m := range a.tl.Teams[i].Members {
			a.inTeam[m.Location] = true
		}
	}
	a.tests = testsOf(a.tl)
	a.findGroups()
	a.findRules()
	for _, k := range kinds {
		if k.find != nil {
			k.find(a, k)
		}
	}
	if !a.causeless {
		a.findJoinings()
	}
	return nil
}

func (a *analysis) each(n int, work func(i int)) { parallel.Each(n, a.threads, work) }

func (a *analysis) calls(location int32) *timeline.Calls { return &a.tl.Locations[location].Calls }

func (a *analysis) rankOf(location int32) int { return a.tl.Locations[location].Rank }

// pathOf is the number of the call path of a call.
func (a *analysis) pathOf(location, call int32) int32 {
	return a.paths.Of[a.calls(location).Path[call]]
}

// isTest reports whether a call only tests: such calls never wait. One that represents earlier ones that found
// nothing is a wait.
func (a *analysis) isTest(location, call int32) bool {
	return a.tests[a.calls(location).Path[call]] && !a.tl.Locations[location].Polled(call)
}

// mastersOf finds the first location of every rank.
func mastersOf(tl *timeline.Timeline) []int32 {
	masters := make([]int32, tl.Ranks)
	for i := range masters {
		masters[i] = -1
	}
	for i := len(tl.Locations) - 1; i >= 0; i-- {
		masters[tl.Locations[i].Rank] = int32(i)
	}
	return masters
}

// testsOf finds the paths of calls that only test.
func testsOf(tl *timeline.Timeline) []bool {
	tests := make([]bool, len(tl.Paths))
	for id := 1; id < len(tests); id++ {
		switch tl.Regions[tl.Paths[id].Region].Name {
		case "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Win_test", "MPI_Parrived", "MPI_Request_get_status",
			"MPI_Iprobe", "MPI_Improbe":
			tests[id] = true
		}
	}
	return tests
}
