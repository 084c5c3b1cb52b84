package devices

import (
	"cmp"
	"slices"

	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// ActivityTime is the time of activities of a call path: of the call that launched them, and their name.
type ActivityTime struct {
	Path     int32    `json:"-"`
	CallPath string   `json:"callpath"`
	Kind     string   `json:"kind"`
	Count    int64    `json:"count"`
	Time     unit.Sum `json:"seconds"`
	Worst    int      `json:"max_rank"` // the rank with most of it
	Most     unit.Sum `json:"max_s"`
}

// Times sums the activities of a run up by call path, the longest first. There are none if the run has no streams.
func Times(tl *timeline.Timeline, paths *profile.Paths) []ActivityTime {
	if tl.Devices == nil {
		return nil
	}
	sums := map[int32]*ActivityTime{}
	rank := map[int32]unit.Sum{}
	finish := func(of int) {
		for path, t := range rank {
			if s := sums[path]; t.Cmp(s.Most) > 0 {
				s.Worst, s.Most = of, t
			}
		}
		clear(rank)
	}
	for i := range tl.Devices.Streams {
		s := &tl.Devices.Streams[i]
		for j := range s.Len() {
			path := paths.Of[s.Path[j]]
			sum := sums[path]
			if sum == nil {
				sum = &ActivityTime{Path: path, CallPath: paths.Names[path], Kind: s.Kind[j].String()}
				sums[path] = sum
			}
			sum.Count++
			took := unit.SumOf(s.End[j] - s.Begin[j])
			sum.Time.AddSum(took)
			rank[path] = rank[path].Plus(took)
		}
		if i+1 == len(tl.Devices.Streams) || tl.Devices.Streams[i+1].Rank != s.Rank {
			finish(s.Rank)
		}
	}
	list := make([]ActivityTime, 0, len(sums))
	for _, s := range sums {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(x, y ActivityTime) int { return cmp.Or(y.Time.Cmp(x.Time), cmp.Compare(x.Path, y.Path)) })
	return list
}
