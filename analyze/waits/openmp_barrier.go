package waits

import (
	"slices"

	"slackline/model/timeline"
)

var openMPBarrier = kind{
	Info: Info{
		Name:    "omp_barrier",
		Title:   "Wait at OpenMP barrier",
		Short:   "waits at a barrier of its team",
		Who:     "Threads of rank %d waited",
		Because: "another thread came last",
		Meaning: "Time of a thread in an explicit or implicit OpenMP barrier before the last thread of the team entered it. " +
			"The cause is the last to enter.",
		Advice: "Balance the loop (schedule(dynamic), smaller chunks), or join loops with nowait.",
		Color:  Color{"#7A3B12", "#A8663A"},
	},
	precedence: collectiveNext,
	find:       (*analysis).findTeams,
}

// findTeams adds the synchronization points of threads: the forks and the barriers of teams.
func (a *analysis) findTeams(k *kind) {
	isBarrier := make([]bool, len(a.tl.Paths))
	for id := 1; id < len(isBarrier); id++ {
		r := a.tl.Regions[a.tl.Paths[id].Region]
		isBarrier[id] = r.Paradigm == timeline.OpenMP && (r.Role == timeline.Barrier || r.Role == timeline.ImplicitBarrier)
	}
	found := make([][]syncPoint, len(a.tl.Teams))
	a.each(len(found), func(i int) {
		t := &a.tl.Teams[i]
		if len(t.Members) < 2 {
			return
		}
		found[i] = append(a.barriersOf(t, k, isBarrier), syncPoint{form: ofFork, team: t})
	})
	a.points = append(a.points, slices.Concat(found...)...)
}

// barriersOf finds the barriers of a team: the k-th one of every member, as long as all have one.
func (a *analysis) barriersOf(t *timeline.Team, kind *kind, isBarrier []bool) []syncPoint {
	var list []syncPoint
	for i := range t.Members {
		m := &t.Members[i]
		c := a.calls(m.Location)
		k := 0
		for call := m.BeginPlace.Next; call < min(m.EndPlace.Next, int32(c.Len())); call++ {
			if !isBarrier[c.Path[call]] {
				continue
			}
			if i == 0 {
				list = append(list, syncPoint{kind: kind, form: ofThreads, team: t, calls: make([]int32, 0, len(t.Members))})
			} else if k == len(list) {
				break
			}
			list[k].calls = append(list[k].calls, call)
			k++
		}
		list = list[:k]
	}
	return list
}
