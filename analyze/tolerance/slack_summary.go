package tolerance

import (
	"cmp"
	"maps"
	"slices"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// SlackSummary is how much slack the operations of one origin and kind have.
type SlackSummary struct {
	Origin   uint32        `json:"-"` // index into Program.Origins
	Kind     schedule.Kind `json:"-"`
	Ops      int           `json:"ops"`
	Critical int           `json:"critical"` // without slack
	Smallest unit.Duration `json:"smallest_ns"`
	Median   unit.Duration `json:"median_ns"`
	Largest  unit.Duration `json:"largest_ns"`
}

// Summary gathers the slack of operations by origin and kind, those with the smallest slack first.
// The slack of a receive is that of its message: how late that may arrive.
func (s *Slack) Summary() []SlackSummary {
	type key struct {
		origin uint32
		kind   schedule.Kind
	}
	groups := map[key][]unit.Duration{}
	for i, op := range s.Graph.Ops() {
		slack := s.Ops[i]
		if op.Kind == schedule.Recv {
			slack = s.Messages[i]
		}
		k := key{op.Origin, op.Kind}
		groups[k] = append(groups[k], slack)
	}
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.kind, b.kind))
	})
	var list []SlackSummary
	for _, k := range keys {
		group := groups[k]
		slices.Sort(group)
		critical, _ := slices.BinarySearch(group, 1) // the place of 1 is after all that have none
		list = append(list, SlackSummary{
			Origin: k.origin, Kind: k.kind, Ops: len(group), Critical: critical,
			Smallest: group[0], Median: group[(len(group)-1)/2], Largest: group[len(group)-1],
		})
	}
	slices.SortStableFunc(list, func(a, b SlackSummary) int {
		return cmp.Or(cmp.Compare(a.Smallest, b.Smallest), cmp.Compare(b.Critical, a.Critical))
	})
	return list
}
