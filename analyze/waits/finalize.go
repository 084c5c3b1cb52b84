package waits

import "slackline/model/timeline"

var finalize = kind{
	Info: Info{
		Name:    "finalize",
		Title:   "Wait at finalize",
		Short:   "waits for the end of the program",
		Because: "%s came last",
		Meaning: "Time in MPI_Finalize before the last rank entered it. The cause is the last to enter.",
		Advice:  "Balance what the ranks do at the end: output and clean-up.",
		Color:   Color{"#C77FA8", "#DA9BC0"},
	},
	precedence: collectiveNext,
	find:       (*analysis).findInitAndFinalize,
}

// findInitAndFinalize finds the first MPI_Init and MPI_Finalize of all masters; they synchronize if all have one. Time in
// MPI_Init is not a wait state.
func (a *analysis) findInitAndFinalize(k *kind) {
	init := a.firstCalls(func(name string) bool { return name == "MPI_Init" || name == "MPI_Init_thread" })
	final := a.firstCalls(func(name string) bool { return name == "MPI_Finalize" })
	if init != nil {
		a.points = append(a.points, syncPoint{form: ofRanks, calls: init})
	}
	if final != nil {
		a.points = append(a.points, syncPoint{kind: k, form: ofRanks, calls: final})
	}
}

// firstCalls finds the first call of each master whose region has a certain name; nil if one is missing
// or there are not at least two ranks.
func (a *analysis) firstCalls(is func(name string) bool) []int32 {
	if len(a.masters) < 2 {
		return nil
	}
	wanted := make([]bool, len(a.tl.Paths))
	for id := 1; id < len(wanted); id++ {
		wanted[id] = is(a.tl.Regions[a.tl.Paths[id].Region].Name)
	}
	calls := make([]int32, len(a.masters))
	a.each(len(calls), func(rank int) {
		calls[rank] = -1
		if a.masters[rank] >= 0 {
			calls[rank] = firstOf(a.calls(a.masters[rank]), wanted)
		}
	})
	for _, c := range calls {
		if c < 0 {
			return nil
		}
	}
	return calls
}

func firstOf(c *timeline.Calls, wanted []bool) int32 {
	for i, id := range c.Path {
		if wanted[id] {
			return int32(i)
		}
	}
	return -1
}
