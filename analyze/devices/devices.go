// Package devices answers questions about runs on accelerators: what an activity waited for, when hosts and devices waited inside of
// their process, what a device did with its time, and what a process did before an operation (its local path).
//
// Streams do not lose time, host threads and devices do: waiting is counted there, each instant once. Whether a communication kernel
// waited for another process, and for how long, is found elsewhere and handed in (see Count). A stream is known by its index among
// those of the timeline, a host thread by its location.
package devices

import (
	"math"
	"slices"
	"sort"

	"slackline/analyze/profile"
	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// inferAbove is how long an activity must have been held back, after its predecessor's end and its launch, for another stream to be
// looked for as the reason: longer than a launch takes.
const inferAbove = 20 * unit.Microsecond

// Run is a run with streams, ready for questions.
type Run struct {
	tl      *timeline.Timeline
	paths   *profile.Paths
	windows *profile.Windows
	threads int
	streams []stream
	byRank  [][2]int32   // by rank: its streams, from and to
	masters []int32      // by rank: its first location, -1 if it has none
	devices []device     // by rank, then device
	host    [][]hostSpan // by thread: waits, by start
	latest  [][]unit.Duration
	refs    map[Op]*timeline.Reference // by thread and call
}

// stream is a stream with what follows from it.
type stream struct {
	*timeline.Stream
	launched []unit.Duration // start of the launching call, or of the activity itself if that is not known
	least    []unit.Duration // of those from an activity on
	most     []unit.Duration // of those up to an activity whose launches are known
	event    []Op            // what the activity waited for on another stream, the one that ended last; None: nothing
	full     []unit.Duration // how long a communication kernel waited from its start; nil: none did
	state    []int32         // number of that wait
}

// Op is an activity of a stream, or a call of a thread.
type Op struct{ At, Index int32 }

// None is no activity.
var None = Op{-1, -1}

// New prepares the answers about a timeline with devices.
func New(tl *timeline.Timeline, paths *profile.Paths, windows *profile.Windows, threads int) *Run {
	d := tl.Devices
	r := &Run{
		tl: tl, paths: paths, windows: windows, threads: max(threads, 1), streams: make([]stream, len(d.Streams)),
		byRank: make([][2]int32, tl.Ranks), masters: make([]int32, tl.Ranks), host: make([][]hostSpan, len(tl.Locations)),
		latest: make([][]unit.Duration, len(tl.Locations)), refs: make(map[Op]*timeline.Reference, len(d.References)),
	}
	for i := range r.masters {
		r.masters[i] = -1
	}
	for i := len(tl.Locations) - 1; i >= 0; i-- {
		r.masters[tl.Locations[i].Rank] = int32(i)
	}
	for i := range d.References {
		ref := &d.References[i]
		r.refs[Op{ref.Location, ref.Call}] = ref
	}
	for i := range d.Streams {
		s := &d.Streams[i]
		if of := &r.byRank[s.Rank]; of[1] == of[0] {
			*of = [2]int32{int32(i), int32(i) + 1}
		} else {
			of[1]++
		}
		if n := len(r.devices); n == 0 || r.devices[n-1].rank != s.Rank || r.devices[n-1].number != s.Device {
			r.devices = append(r.devices, device{rank: s.Rank, number: s.Device, from: int32(i)})
		}
		r.devices[len(r.devices)-1].to = int32(i) + 1
	}
	parallel.Each(len(r.streams), r.threads, func(i int) {
		s := &r.streams[i]
		s.Stream = &d.Streams[i]
		s.launched, s.event = make([]unit.Duration, s.Len()), make([]Op, s.Len())
		for j := range s.launched {
			s.launched[j] = tl.LaunchedAt(s.Stream, int32(j))
			s.event[j] = None
		}
		s.bound()
	})
	known := r.knownEvents()
	parallel.Each(len(r.streams), r.threads, func(i int) {
		for _, e := range known[i] {
			r.later(&r.streams[i].event[e.act], e.on)
		}
		for j := range r.streams[i].event {
			if r.streams[i].event[j] == None {
				r.streams[i].event[j] = r.inferred(int32(i), int32(j))
			}
		}
	})
	return r
}

// HasStreams reports whether a rank has streams.
func (r *Run) HasStreams(rank int) bool { return r.byRank[rank][1] > r.byRank[rank][0] }

// Streams are those of a rank, from and to.
func (r *Run) Streams(rank int) (from, to int32) { return r.byRank[rank][0], r.byRank[rank][1] }

// Event is what an activity waited for on another stream, known or inferred; None: nothing.
func (r *Run) Event(o Op) Op { return r.streams[o.At].event[o.Index] }

func (r *Run) end(o Op) unit.Duration { return r.streams[o.At].End[o.Index] }

// later replaces an activity by another one that ended later; of two that ended at the same time the one on the first stream counts,
// then the first there.
func (r *Run) later(best *Op, o Op) {
	if *best == None || r.end(o) > r.end(*best) || r.end(o) == r.end(*best) && (o.At < best.At || o.At == best.At && o.Index < best.Index) {
		*best = o
	}
}

// launch is when an activity could begin because of its launch: not after its start. It is only right if the launch is known.
func (s *stream) launch(i int32) unit.Duration { return min(s.launched[i], s.Begin[i]) }

// ready is when an activity could have begun, had it not waited for another stream: when its predecessor had ended and it was
// launched; false if neither is known.
func (s *stream) ready(i int32) (unit.Duration, bool) {
	known := s.Launch[i].Known()
	switch {
	case i > 0 && known:
		return max(s.End[i-1], s.launch(i)), true
	case i > 0:
		return s.End[i-1], true
	}
	return s.launch(i), known
}

// waitFor is a known event that an activity waited for.
type waitFor struct {
	act int32
	on  Op
}

// knownEvents resolves the calls that make a stream wait for an event, by stream.
func (r *Run) knownEvents() [][]waitFor {
	found := make([][]waitFor, len(r.streams))
	for i := range r.tl.Devices.References {
		ref := &r.tl.Devices.References[i]
		if ref.Stream < 0 || ref.Event < 0 || ref.Event == ref.Stream || !isEventWait(r.nameOf(ref.Location, ref.Call)) {
			continue
		}
		on := r.lastBefore(ref.Event, ref.Recorded)
		act := r.firstFrom(ref.Stream, r.tl.Locations[ref.Location].Calls.Enter[ref.Call])
		if on != None && act >= 0 {
			found[ref.Stream] = append(found[ref.Stream], waitFor{act, on})
		}
	}
	return found
}

// nameOf is the name of the function of a call.
func (r *Run) nameOf(thread, call int32) string {
	return r.tl.RegionOf(r.tl.Locations[thread].Calls.Path[call]).Name
}

// lastBefore is the last activity of a stream that was launched before a moment.
func (r *Run) lastBefore(at int32, t unit.Duration) Op {
	s := &r.streams[at]
	i := sort.Search(s.Len(), func(i int) bool { return s.least[i] >= t }) - 1
	if i < 0 {
		return None
	}
	return Op{at, int32(i)}
}

// firstFrom is the first activity of a stream that is known to have been launched at a moment or after it, -1 if there is none.
func (r *Run) firstFrom(at int32, t unit.Duration) int32 {
	s := &r.streams[at]
	i := sort.Search(s.Len(), func(i int) bool { return s.most[i] >= t })
	if i == s.Len() {
		return -1
	}
	return int32(i)
}

// bound finds the least launch from each activity on and the latest up to it: the launches themselves if they are in order.
func (s *stream) bound() {
	s.least, s.most = s.launched, s.launched
	unknown := slices.ContainsFunc(s.Launch, func(l timeline.Launch) bool { return !l.Known() })
	if slices.IsSorted(s.launched) && !unknown {
		return
	}
	s.least, s.most = slices.Clone(s.launched), slices.Clone(s.launched)
	for i, l := range s.Launch {
		if !l.Known() {
			s.most[i] = math.MinInt64
		}
	}
	for i := 1; i < len(s.most); i++ {
		s.most[i] = max(s.most[i], s.most[i-1])
	}
	for i := len(s.least) - 2; i >= 0; i-- {
		s.least[i] = min(s.least[i], s.least[i+1])
	}
}

// launchedBefore reports whether activity j of a stream was launched before activity i of this one; began, if one launch is unknown.
func (s *stream) launchedBefore(j int32, than *stream, i int32) bool {
	if s.Launch[j].Known() && than.Launch[i].Known() {
		return s.launched[j] < than.launched[i]
	}
	return s.Begin[j] < than.Begin[i]
}

// inferred is what held an activity back according to the times alone: the last activity of another stream of the process that was
// launched before it and ended while it waited.
func (r *Run) inferred(at, i int32) Op {
	s := &r.streams[at]
	from, ok := s.ready(i)
	if !ok || s.Begin[i]-from <= inferAbove {
		return None
	}
	best := None
	of := r.byRank[s.Rank]
	for k := of[0]; k < of[1]; k++ {
		if k == at {
			continue
		}
		o := &r.streams[k]
		j := int32(sort.Search(o.Len(), func(j int) bool { return o.End[j] > s.Begin[i] })) - 1
		found := int32(-1)
		for ; j >= 0 && o.End[j] > from && (found < 0 || o.End[j] == o.End[found]); j-- {
			if o.launchedBefore(j, s, i) {
				found = j // of those that ended together the first
			}
		}
		if found >= 0 {
			r.later(&best, Op{k, found})
		}
	}
	return best
}
