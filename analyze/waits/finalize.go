package waits

import (
	"slices"

	"slackline/model/timeline"
)

var finalize = kind{
	Info: Info{
		Name:    "finalize",
		Title:   "Wait at finalize",
		Short:   "waits for the end of the program",
		Because: "%s came last",
		Meaning: "Time in MPI_Finalize, or in the last MPI_Session_finalize of a program without it, before the last rank entered it. " +
			"The cause is the last to enter. If sessions are finalized it counts only if all ranks were inside at one instant.",
		Advice: "Balance what the ranks do at the end: output and clean-up.",
		Color:  Color{"#C77FA8", "#DA9BC0"},
	},
	precedence: collectiveNext,
	find:       (*analysis).findInitAndFinalize,
}

// findInitAndFinalize finds the first MPI_Init and MPI_Finalize of all masters; they synchronize if all have one. Time in
// MPI_Init is not a wait state.
func (a *analysis) findInitAndFinalize(k *kind) {
	init := a.chosenCalls(a.firstOf("MPI_Init", "MPI_Init_thread"))
	if init != nil {
		a.points = append(a.points, syncPoint{form: ofRanks, calls: init})
	}
	finalize, session := a.firstOf("MPI_Finalize"), a.lastOf("MPI_Session_finalize")
	sessions := false
	final := a.chosenCalls(func(c *timeline.Calls) int32 {
		call := finalize(c)
		if call < 0 {
			call = session(c)
		}
		return call
	})
	for rank, call := range final {
		sessions = sessions || finalize(a.calls(a.masters[rank])) != call
	}
	if final != nil && (!sessions || a.hold(final)) {
		a.points = append(a.points, syncPoint{kind: k, form: ofRanks, calls: final})
	}
}

// hold reports whether all masters were inside of their calls at one instant.
func (a *analysis) hold(calls []int32) bool {
	var o instance
	for rank, call := range calls {
		s := a.spanOf(a.masters[rank], call)
		o.parts = append(o.parts, part{issued: s.enter, done: s})
	}
	return o.holds()
}

// chosenCalls finds a call of each master; nil if one is missing or there are not at least two ranks.
func (a *analysis) chosenCalls(choose func(*timeline.Calls) int32) []int32 {
	if len(a.masters) < 2 {
		return nil
	}
	calls := make([]int32, len(a.masters))
	a.each(len(calls), func(rank int) {
		calls[rank] = -1
		if a.masters[rank] >= 0 {
			calls[rank] = choose(a.calls(a.masters[rank]))
		}
	})
	if slices.Contains(calls, -1) {
		return nil
	}
	return calls
}

// firstOf returns a function that finds the first call of a region with one of the names, lastOf the last one; -1 if there is none.
func (a *analysis) firstOf(names ...string) func(*timeline.Calls) int32 {
	wanted := a.pathsTo(names)
	return func(c *timeline.Calls) int32 {
		return int32(slices.IndexFunc(c.Path, func(id timeline.PathID) bool { return wanted[id] }))
	}
}

func (a *analysis) lastOf(names ...string) func(*timeline.Calls) int32 {
	wanted := a.pathsTo(names)
	if !slices.Contains(wanted, true) {
		return func(*timeline.Calls) int32 { return -1 }
	}
	return func(c *timeline.Calls) int32 {
		for i := len(c.Path) - 1; i >= 0; i-- {
			if wanted[c.Path[i]] {
				return int32(i)
			}
		}
		return -1
	}
}

// pathsTo marks the paths that end in a region with one of the names.
func (a *analysis) pathsTo(names []string) []bool {
	wanted := make([]bool, len(a.tl.Paths))
	for id := 1; id < len(wanted); id++ {
		wanted[id] = slices.Contains(names, a.tl.Regions[a.tl.Paths[id].Region].Name)
	}
	return wanted
}
