package waits

import "slackline/model/timeline"

var openMPBarrierInfo = Info{
	Name:    "omp_barrier",
	Title:   "Wait at OpenMP barrier",
	Short:   "waits at a barrier of its team",
	Because: "%s came last",
	Meaning: "Time of a thread in an explicit or implicit OpenMP barrier before the last thread of the team entered it. " +
		"The last to enter is held responsible.",
	Advice: "Balance the loop (schedule(dynamic), smaller chunks), or join loops with nowait.",
}

var (
	openMPBarrierClass = class{metric: OpenMPBarrier, depends: barrierClass.depends, detect: waitForLast}
	forkClass          = class{metric: noMetric, depends: barrierClass.depends}
)

// findTeams adds the meetings of threads: the beginnings and the barriers of teams.
func (a *analysis) findTeams() {
	isBarrier := make([]bool, len(a.tl.Paths))
	for id := 1; id < len(isBarrier); id++ {
		r := a.tl.Regions[a.tl.Paths[id].Region]
		isBarrier[id] = r.Paradigm == timeline.OpenMP && (r.Role == timeline.Barrier || r.Role == timeline.ImplicitBarrier)
	}
	found := make([][]meeting, len(a.tl.Teams))
	a.each(len(found), func(i int) {
		t := &a.tl.Teams[i]
		if len(t.Members) < 2 {
			return
		}
		found[i] = append(a.barriersOf(t, isBarrier), meeting{class: &forkClass, form: ofFork, team: t})
	})
	for _, list := range found {
		a.meetings = append(a.meetings, list...)
	}
}

// barriersOf finds the barriers of a team: the k-th one of every member, as long as all have one.
func (a *analysis) barriersOf(t *timeline.Team, isBarrier []bool) []meeting {
	var list []meeting
	for i := range t.Members {
		m := &t.Members[i]
		c := a.calls(m.Location)
		k := 0
		for call := m.BeginPlace.Next; call < min(m.EndPlace.Next, int32(c.Len())); call++ {
			if !isBarrier[c.Path[call]] {
				continue
			}
			if i == 0 {
				list = append(list, meeting{class: &openMPBarrierClass, form: ofThreads, team: t, calls: make([]int32, 0, len(t.Members))})
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
