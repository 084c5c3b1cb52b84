package explore

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// # Runs with accelerators
//
// Streams are locations after the threads, as the analysis of waits has them, and activities their calls. Their rows lie below those of
// the threads of their rank: rows are then in another order than locations.

// Activities have categories of kinds that no call has.
const (
	kernelCategory        = uint16(profile.Waiting)
	communicationCategory = uint16(profile.NotAnalyzed)
	copyCategory          = uint16(firstWait - 1)
)

// activityCategories are what runs on streams, for the legend.
var activityCategories = []Category{
	{ID: int(kernelCategory), Name: "kernel", Title: "kernel", Class: "device", Slot: 0, Kind: "kernel", Rank: -1},
	{ID: int(communicationCategory), Name: "communication_kernel", Title: "communication kernel", Class: "device", Slot: 1,
		Kind: "communication_kernel", Rank: -1},
	{ID: int(copyCategory), Name: "copy", Title: "copy or memset", Class: "device", Slot: 2, Kind: "copy", Rank: -1},
}

// activityCategory is the category of an activity.
func activityCategory(k timeline.ActivityKind) uint16 {
	switch k {
	case timeline.ComputeKernel:
		return kernelCategory
	case timeline.CommunicationKernel:
		return communicationCategory
	}
	return copyCategory
}

// shadeActivities gives the call paths of activities their categories.
func (v *view) shadeActivities(s *shades) {
	if v.run.Devices == nil {
		return
	}
	for i := range v.run.Devices.Streams {
		stream := &v.run.Devices.Streams[i]
		for j, path := range stream.Path {
			s.of[path] = activityCategory(stream.Kind[j])
		}
	}
}

// isStream reports whether a location is a stream.
func (v *view) isStream(location int) bool { return location >= len(v.run.Locations) }

// streamOf is the stream of a location; nil if that is a thread.
func (v *view) streamOf(location int) *timeline.Stream {
	if !v.isStream(location) {
		return nil
	}
	return &v.run.Devices.Streams[location-len(v.run.Locations)]
}

// rowOrder are the locations of all rows: by rank, threads before streams; nil: rows are locations.
func rowOrder(tl *timeline.Timeline) []int {
	if tl.Devices == nil || len(tl.Locations) > MaxList {
		return nil
	}
	return tl.ByRank()
}

// launchIndex finds what host calls launched: by thread, in the order of the calls.
type launchIndex [][]launched

type launched struct {
	call     int32
	stream   int32 // location
	activity int32
}

func (v *view) launchesOf() (launchIndex, error) {
	return v.launches.get(func() (launchIndex, error) {
		x := make(launchIndex, len(v.run.Locations))
		for location := len(v.run.Locations); location < len(v.tl.Locations); location++ {
			for i, l := range v.streamOf(location).Launch {
				if l.Known() {
					x[l.Thread] = append(x[l.Thread], launched{l.Call, int32(location), int32(i)})
				}
			}
		}
		for _, list := range x {
			slices.SortStableFunc(list, func(a, b launched) int { return cmp.Compare(a.call, b.call) })
		}
		return x, nil
	})
}

// describeLaunch adds to a call where it was launched, or what it launched.
func (v *view) describeLaunch(location int, c *Call) error {
	if v.run.Devices == nil {
		return nil
	}
	if s := v.streamOf(location); s != nil {
		if l := s.Launch[c.Index]; l.Known() {
			c.Launch = v.launch(int32(location), int32(c.Index))
		}
		return nil
	}
	x, err := v.launchesOf()
	if err != nil {
		return err
	}
	list := x[location]
	first := sort.Search(len(list), func(i int) bool { return list[i].call >= int32(c.Index) })
	for i := first; i < len(list) && list[i].call == int32(c.Index); i++ {
		if c.Launched++; c.Launch == nil {
			c.Launch = v.launch(list[i].stream, list[i].activity)
		}
	}
	return nil
}

// launch describes the launch of an activity; it must be known.
func (v *view) launch(location, activity int32) *Launch {
	s := v.streamOf(int(location))
	from := s.Launch[activity]
	calls := &v.tl.Locations[from.Thread].Calls
	return &Launch{
		From: int(from.Thread), To: int(location), Call: int(from.Call), Activity: int(activity), Launched: v.since(calls.Enter[from.Call]),
		Begin: v.since(s.Begin[activity]), End: v.since(s.End[activity]), CallPath: v.pathOfCall(from.Thread, from.Call),
		Path: v.pathOfCall(location, activity),
	}
}

// answerLaunches lists launches, or of very many those of the longest activities.
func answerLaunches(ctx context.Context, v *view, q *query) (any, error) {
	from, to := q.span(v.length())
	limit := q.limit(1000)
	r := q.rows(v)
	if q.err != nil {
		return nil, q.err
	}
	end, err := v.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	a := &Launches{Launches: []Launch{}}
	type found struct{ location, activity int32 }
	var list []found
	length := func(x found) unit.Duration {
		s := v.streamOf(int(x.location))
		return s.End[x.activity] - s.Begin[x.activity]
	}
	cut := func() {
		slices.SortStableFunc(list, func(x, y found) int { return cmp.Compare(length(y), length(x)) })
		list = list[:min(len(list), limit)]
	}
	for row := r.first; row < r.last; row++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		location := r.at(row)
		s := v.streamOf(location)
		if s == nil {
			continue
		}
		for i := firstFrom(s.Begin, v.tl.Start+from); i < s.Len(); i++ {
			at := v.run.LaunchedAt(s, int32(i))
			if s.Begin[i] >= v.tl.Start+to && at >= v.tl.Start+to {
				break
			}
			if l := s.Launch[i]; l.Known() && r.has(int(l.Thread)) {
				a.Total++
				if list = append(list, found{int32(location), int32(i)}); len(list) >= 2*limit+mostLaunches {
					cut()
				}
			}
		}
	}
	cut()
	a.Chosen = a.Total > int64(len(list))
	for _, x := range list {
		a.Launches = append(a.Launches, *v.launch(x.location, x.activity))
	}
	slices.SortStableFunc(a.Launches, func(x, y Launch) int { return cmp.Compare(x.Launched, y.Launched) })
	return a, nil
}

// mostLaunches are kept before the shortest are left out.
const mostLaunches = 1 << 14
