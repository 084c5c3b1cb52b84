package waits

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// ThreadTime is what a process loses to its threads beside wait states.
type ThreadTime struct {
	Rank       int
	Limited    unit.Duration // limited parallelism: time of threads that are no members of the team that works
	Management unit.Duration // of all members: from the fork to the parallel region, and from its end to the join
}

// threadTimes measures the teams of all ranks.
func (a *analysis) threadTimes() []ThreadTime {
	var list []ThreadTime
	for i := range a.tl.Teams {
		t := &a.tl.Teams[i]
		rank := a.rankOf(t.Master)
		if n := len(list); n == 0 || list[n-1].Rank != rank {
			list = append(list, ThreadTime{Rank: rank})
		}
		sum := &list[len(list)-1]
		a.aliveIn(a.workersOf(t.Master), t.Fork, t.Join, func(from, to unit.Duration, alive []int32) {
			sum.Limited += unit.Duration(max(1+len(alive)-len(t.Members), 0)) * (to - from)
		})
		for j := range t.Members {
			sum.Management += a.management(t, &t.Members[j])
		}
	}
	return list
}

// management is the time of a member between fork and join outside of the parallel region.
func (a *analysis) management(t *timeline.Team, m *timeline.TeamMember) unit.Duration {
	c := a.calls(m.Location)
	for call := m.BeginPlace.Next; call < min(m.EndPlace.Next, int32(c.Len())); call++ {
		if r := a.tl.RegionOf(c.Path[call]); r.Paradigm == timeline.OpenMP && r.Role == timeline.Parallel {
			return max(c.Enter[call]-t.Fork, 0) + max(t.Join-c.Leave[call], 0)
		}
	}
	return 0
}
