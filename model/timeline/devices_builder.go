package timeline

import (
	"cmp"
	"slices"

	"slackline/internal/plain"
	"slackline/model/unit"
)

// DeviceBuilder adds what ran on accelerators to a timeline of host threads. Streams are made with Stream; Finish puts everything in order.
type DeviceBuilder struct {
	t       *Timeline
	streams []*StreamBuilder
	regions map[string]RegionID
	paths   pathTree // those of the timeline
}

// NewDeviceBuilder begins the devices of a timeline.
func NewDeviceBuilder(t *Timeline) *DeviceBuilder {
	b := &DeviceBuilder{t: t, regions: map[string]RegionID{}, paths: pathTree{nodes: t.Paths}}
	b.paths.grow()
	return b
}

// StreamBuilder takes the activities of one stream, in any order.
type StreamBuilder struct {
	b      *DeviceBuilder
	stream Stream
	order  int64
	list   []activity

	Index  int32   // of the stream in the timeline, after Finish
	Places []int32 // where each activity is now, in the order in which they were added; after Finish
}

// activity is one that was added.
type activity struct {
	begin, end unit.Duration
	path       PathID
	launch     Launch
	number     int32 // in the order of adding
	kind       ActivityKind
}

// Stream adds a stream of a device. Streams of a rank are in the order of their devices, then of the given order.
func (b *DeviceBuilder) Stream(rank, device int, order int64, name string) *StreamBuilder {
	s := &StreamBuilder{b: b, order: order, stream: Stream{Rank: rank, Device: device, Name: plain.Name(name)}}
	b.streams = append(b.streams, s)
	return s
}

// Region returns the region of an activity by its name.
func (b *DeviceBuilder) Region(name string) RegionID {
	id, ok := b.regions[name]
	if !ok {
		id = RegionID(len(b.t.Regions))
		b.t.Regions = append(b.t.Regions, Region{Name: plain.Name(name)})
		b.regions[name] = id
	}
	return id
}

// path is the call path of a region below the launching call.
func (b *DeviceBuilder) path(l Launch, r RegionID) PathID {
	parent := PathID(0)
	if l.Known() {
		parent = b.t.Locations[l.Thread].Calls.Path[l.Call]
	}
	return b.paths.child(parent, r)
}

// Reserve makes room for so many activities; it is never needed, but saves memory.
func (s *StreamBuilder) Reserve(activities int) { s.list = slices.Grow(s.list, activities) }

// Add adds an activity.
func (s *StreamBuilder) Add(begin, end unit.Duration, r RegionID, kind ActivityKind, l Launch) {
	s.list = append(s.list, activity{begin, max(begin, end), s.b.path(l, r), l, int32(len(s.list)), kind})
}

// Finish orders streams and activities and makes them those of the timeline. References are given in any order, with indices of
// streams in the order in which these were made; the list becomes that of the timeline. Communication is added by the caller.
func (b *DeviceBuilder) Finish(references []Reference) *Devices {
	d := &Devices{}
	made := slices.Clone(b.streams)
	slices.SortStableFunc(b.streams, func(x, y *StreamBuilder) int {
		return cmp.Or(cmp.Compare(x.stream.Rank, y.stream.Rank), cmp.Compare(x.stream.Device, y.stream.Device), cmp.Compare(x.order, y.order))
	})
	for i, s := range b.streams {
		s.Index = int32(i)
		d.Overlaps += s.finish()
		d.Streams = append(d.Streams, s.stream)
	}
	index := func(stream int32) int32 {
		if stream < 0 {
			return stream
		}
		return made[stream].Index
	}
	for i := range references {
		r := &references[i]
		r.Stream, r.Event = index(r.Stream), index(r.Event)
	}
	byCall := func(x, y Reference) int {
		return cmp.Or(cmp.Compare(x.Location, y.Location), cmp.Compare(x.Call, y.Call))
	}
	if !slices.IsSortedFunc(references, byCall) {
		slices.SortStableFunc(references, byCall)
	}
	d.References = references
	t := b.t
	t.Paths = b.paths.nodes
	if first, last, ok := d.bounds(); ok {
		if len(t.Locations) == 0 {
			t.Start, t.End = first, last
		}
		t.Start, t.End = min(t.Start, first), max(t.End, last)
	}
	t.Devices = d
	return d
}

// finish sorts the activities by start, end and order of adding, and lets none begin before the one before it has ended. It returns
// how many did.
func (s *StreamBuilder) finish() (overlaps int64) {
	order := func(x, y activity) int {
		return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.end, y.end), cmp.Compare(x.number, y.number))
	}
	if !slices.IsSortedFunc(s.list, order) {
		slices.SortFunc(s.list, order)
	}
	n := len(s.list)
	s.Places = make([]int32, n)
	s.stream.Activities = Activities{make([]unit.Duration, 0, n), make([]unit.Duration, 0, n), make([]PathID, 0, n),
		make([]ActivityKind, 0, n), make([]Launch, 0, n)}
	for i, x := range s.list {
		if i > 0 {
			if last := s.stream.End[i-1]; x.begin < last {
				overlaps++
				x.begin, x.end = last, max(x.end, last)
			}
		}
		s.Places[x.number] = int32(i)
		s.stream.add(x.begin, x.end, x.path, x.kind, x.launch)
	}
	s.list = nil
	return overlaps
}
