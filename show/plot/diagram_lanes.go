package plot

import (
	"cmp"
	"slices"

	"slackline/internal/stat"
	"slackline/model/unit"
)

// lane is the part of its row's height that a span takes.
type lane struct{ index, of int }

// assignLanes gives spans of one row that overlap different lanes: each takes the first lane that
// is free when it starts. Only spans that hang together share the height; others keep all of it.
func assignLanes(spans []Span) []lane {
	order := stat.Order(len(spans), func(a, b int) int {
		return cmp.Or(cmp.Compare(spans[a].Row, spans[b].Row), cmp.Compare(spans[a].Start, spans[b].Start))
	})
	lanes := make([]lane, len(spans))
	var ends []unit.Duration // of the lanes of the current cluster
	first := 0               // the cluster is order[first:k]
	closeCluster := func(k int) {
		for _, i := range order[first:k] {
			lanes[i].of = len(ends)
		}
		ends, first = ends[:0], k
	}
	for k, i := range order {
		s := spans[i]
		if k > 0 && (s.Row != spans[order[k-1]].Row || s.Start >= slices.Max(ends)) {
			closeCluster(k)
		}
		free := slices.IndexFunc(ends, func(end unit.Duration) bool { return end <= s.Start })
		if free < 0 {
			free = len(ends)
			ends = append(ends, 0)
		}
		ends[free] = s.End
		lanes[i].index = free
	}
	closeCluster(len(order))
	return lanes
}
