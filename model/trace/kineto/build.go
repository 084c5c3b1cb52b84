package kineto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/trace/device"
	"slackline/model/unit"
)

// builder makes a timeline out of files.
type builder struct {
	threads  int
	oneClock bool
	builder  *timeline.Builder
	ranks    []*rankBuilder
	world    int // ranks of the job, as the files say
	tl       *timeline.Timeline
	devices  *timeline.Devices
	warn     func(format string, args ...any)
}

// rankBuilder is a rank on its way into a timeline.
type rankBuilder struct {
	*rankFile
	shift   unit.Duration // from times of the file to those of the run
	base    int32         // first location
	first   unit.Duration // event
	last    unit.Duration
	order   []uint32 // threads, the master first
	from    []int    // by place in order: its first call among the sorted ones; one more at the end
	regions []timeline.RegionID
	launch  map[uint32]launchedBy // by correlation
	streams map[[2]int64]*deviceStream
	list    []*deviceStream
	places  []place // of the activities
}

type launchedBy struct {
	number int32 // of the call in the file
	launch timeline.Launch
}

// deviceStream is a stream of a rank.
type deviceStream struct {
	device, stream int64
	made           int32 // number among all streams, in the order of making
	b              *timeline.StreamBuilder
}

// place is where an activity went.
type place struct {
	stream *deviceStream
	number int32
}

// align finds what is to be added to the times of each rank, so that they count from the same moment.
func (b *builder) align() error {
	earliest := int64(math.MaxInt64)
	origin := func(r *rankBuilder) int64 { return r.rankFile.base + 1000*r.origin }
	for _, r := range b.ranks {
		if r.begun {
			earliest = min(earliest, origin(r))
		}
		b.world = max(b.world, r.info.World, r.rank+1)
	}
	for _, r := range b.ranks {
		if !r.begun {
			continue
		}
		ns := origin(r) - earliest
		if ns > math.MaxInt64/4/1000 || ns < 0 {
			return fmt.Errorf("%s: its times are more than 26 days after those of other ranks; is it of another run?", r.show)
		}
		r.shift = unit.Duration(1000 * ns)
	}
	return nil
}

// build makes the timeline.
func (b *builder) build() *timeline.Timeline {
	parallel.Each(len(b.ranks), b.threads, func(i int) { b.ranks[i].sort() })
	base := int32(0)
	host := b.builder.Region(timeline.Region{Name: "host"})
	ids := map[string]timeline.RegionID{}
	locations := make([][]*timeline.LocationBuilder, len(b.ranks))
	for i, r := range b.ranks {
		r.base = base
		base += int32(len(r.order))
		for _, name := range r.names {
			name = regionName(name)
			id, ok := ids[name]
			if !ok {
				id = b.builder.Region(timeline.RegionNamed(name))
				ids[name] = id
			}
			r.regions = append(r.regions, id)
		}
		for n, thread := range r.order {
			name := "master"
			if int(thread) < len(r.threads) && n > 0 {
				name = fmt.Sprintf("thread %d", r.threads[thread].tid)
			}
			locations[i] = append(locations[i], b.builder.Location(r.rank, n, name, ""))
		}
	}
	parallel.Each(len(b.ranks), b.threads, func(i int) {
		r := b.ranks[i]
		for n := range r.order {
			r.enter(locations[i][n], n, host)
		}
		r.findLaunches()
	})
	b.tl = b.builder.Finish(b.threads)
	b.addStreams()
	b.addCommunication()
	b.moveClocks()
	return b.tl
}

// sort puts the calls of the threads in order and finds the master.
func (r *rankBuilder) sort() {
	first := make([]int64, len(r.threads))
	for i := range first {
		first[i] = math.MaxInt64
	}
	begin, end := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range r.calls {
		c := &r.calls[i]
		first[c.thread] = min(first[c.thread], c.begin)
		begin, end = min(begin, c.begin), max(end, c.end)
	}
	for i := range r.acts {
		begin, end = min(begin, r.acts[i].begin), max(end, r.acts[i].end)
	}
	r.first, r.last = unit.Duration(begin)+r.shift, unit.Duration(end)+r.shift
	r.order = make([]uint32, len(r.threads))
	for i := range r.order {
		r.order[i] = uint32(i)
	}
	isMaster := func(i uint32) bool { return r.threads[i].pid == r.threads[i].tid && r.threads[i].pid != 0 }
	some := slices.ContainsFunc(r.order, isMaster)
	master := uint32(0)
	for i := range r.threads {
		x, y := uint32(i), master
		better := cmp.Or(cmp.Compare(first[x], first[y]), cmp.Compare(r.threads[x].tid, r.threads[y].tid), cmp.Compare(r.threads[x].pid,
			r.threads[y].pid)) < 0
		if some && isMaster(x) != isMaster(y) {
			better = isMaster(x)
		}
		if better {
			master = x
		}
	}
	slices.SortFunc(r.order, func(x, y uint32) int {
		if x == master || y == master {
			return cmp.Compare(b2i(y == master), b2i(x == master))
		}
		return cmp.Or(cmp.Compare(r.threads[x].pid, r.threads[y].pid), cmp.Compare(r.threads[x].tid, r.threads[y].tid))
	})
	if len(r.order) == 0 {
		r.order = []uint32{0} // a master without calls
	}
	place := make([]uint32, max(len(r.threads), 1))
	for n, thread := range r.order {
		place[thread] = uint32(n)
	}
	r.from = make([]int, len(r.order)+1)
	for i := range r.calls {
		c := &r.calls[i]
		c.thread = place[c.thread] // from now on
		r.from[c.thread+1]++
	}
	for n := range r.order {
		r.from[n+1] += r.from[n]
	}
	byThread := func(x, y hostCall) int {
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.begin, y.begin), cmp.Compare(y.end, x.end), cmp.Compare(x.number, y.number))
	}
	if !slices.IsSortedFunc(r.calls, byThread) {
		slices.SortFunc(r.calls, byThread)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// enter gives a location the calls of a thread, nested by containment: a call lies in the last open one that has not ended when it
// begins, and is cut where that ends.
func (r *rankBuilder) enter(l *timeline.LocationBuilder, n int, host timeline.RegionID) {
	calls := r.calls[r.from[n]:r.from[n+1]]
	l.Reserve(len(calls) + 1)
	if n == 0 {
		l.Enter(r.first, host)
	}
	var open []int64 // ends
	for i := range calls {
		c := &calls[i]
		for k := len(open); k > 0 && open[k-1] <= c.begin; k = len(open) {
			l.Leave(unit.Duration(open[k-1]) + r.shift)
			open = open[:k-1]
		}
		if k := len(open); k > 0 {
			c.end = min(c.end, open[k-1])
		}
		l.Enter(unit.Duration(c.begin)+r.shift, r.regions[c.name])
		open = append(open, c.end)
	}
	for _, end := range slices.Backward(open) {
		l.Leave(unit.Duration(end) + r.shift)
	}
	if n == 0 {
		l.Leave(r.last)
	}
	if r.damage != nil {
		l.SetTruncated()
	}
}

// callAt is the place of a sorted call in the timeline: the master has one more.
func (r *rankBuilder) callAt(i int) timeline.Launch {
	c := &r.calls[i]
	call := int32(i - r.from[c.thread])
	if c.thread == 0 {
		call++
	}
	return timeline.Launch{Thread: r.base + int32(c.thread), Call: call}
}

// sortedAt is the inverse of callAt; -1: the outermost call of the master.
func (r *rankBuilder) sortedAt(l timeline.Launch) int {
	n := l.Thread - r.base
	i := r.from[n] + int(l.Call)
	if n == 0 {
		if l.Call == 0 {
			return -1
		}
		i--
	}
	return i
}

// findLaunches finds the calls by their correlation, the first in the file if there are several.
func (r *rankBuilder) findLaunches() {
	r.launch = map[uint32]launchedBy{}
	for i := range r.calls {
		c := &r.calls[i]
		if c.correlation == 0 {
			continue
		}
		if old, ok := r.launch[c.correlation]; !ok || c.number < old.number {
			r.launch[c.correlation] = launchedBy{c.number, r.callAt(i)}
		}
	}
}

// launchOf is the call with a correlation.
func (r *rankBuilder) launchOf(correlation uint32) timeline.Launch {
	if l, ok := r.launch[correlation]; ok && correlation != 0 {
		return l.launch
	}
	return timeline.NoLaunch
}

// addStreams gives the timeline the activities of all ranks.
func (b *builder) addStreams() {
	some := false
	for _, r := range b.ranks {
		some = some || len(r.acts) > 0
	}
	if !some {
		return
	}
	d := timeline.NewDeviceBuilder(b.tl)
	made := int32(0)
	var references []timeline.Reference
	for _, r := range b.ranks {
		r.streams = map[[2]int64]*deviceStream{}
		r.places = make([]place, len(r.acts))
		regions := map[[2]uint32]timeline.RegionID{}
		numbers := map[*deviceStream]int32{}
		for i := range r.acts {
			a := &r.acts[i]
			key := [2]int64{a.device, a.stream}
			s := r.streams[key]
			if s == nil {
				s = &deviceStream{device: a.device, stream: a.stream, made: made}
				s.b = d.Stream(r.rank, int(a.device), a.stream, fmt.Sprintf("%d:%d", a.device, a.stream))
				made++
				r.streams[key] = s
				r.list = append(r.list, s)
			}
			kind := timeline.ComputeKernel
			switch {
			case a.kind == kindCopy:
				kind = timeline.Copy
			case a.kind == kindMemset:
				kind = timeline.Memset
			case a.args >= 0 || device.IsCommunication(r.names[a.name]):
				kind = timeline.CommunicationKernel
			}
			region, ok := regions[[2]uint32{a.name, uint32(a.kind)}]
			if !ok {
				region = d.Region(activityName(r.names[a.name], a.kind))
				regions[[2]uint32{a.name, uint32(a.kind)}] = region
			}
			r.places[i] = place{s, numbers[s]}
			numbers[s]++
			s.b.Add(unit.Duration(a.begin)+r.shift, unit.Duration(a.end)+r.shift, region, kind, r.launchOf(a.correlation))
		}
		references = append(references, b.references(r)...)
	}
	b.devices = d.Finish(references)
	if n := b.devices.Overlaps; n > 0 {
		b.tl.Problems.Notes = append(b.tl.Problems.Notes, fmt.Sprintf("%d activities began before the one before them on their stream had "+
			"ended; they are put one after the other", n))
	}
}

// stream finds a stream by device and number, or by the number alone if only one of the rank has it; nil: none.
func (r *rankBuilder) stream(device, number int64) *deviceStream {
	if s := r.streams[[2]int64{device, number}]; s != nil {
		return s
	}
	var found *deviceStream
	for _, s := range r.list {
		if s.stream == number {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

// references makes references out of the records of synchronization.
func (b *builder) references(r *rankBuilder) []timeline.Reference {
	var list []timeline.Reference
	enter := func(l timeline.Launch) unit.Duration { return b.tl.Locations[l.Thread].Calls.Enter[l.Call] }
	for i := range r.syncs {
		s := &r.syncs[i]
		call := r.launchOf(s.correlation)
		if !call.Known() {
			continue
		}
		ref := timeline.Reference{Location: call.Thread, Call: call.Call, Stream: -1, Device: -1, Event: -1, Recorded: enter(call)}
		named := func(number int64) int32 {
			if number < 0 {
				return -1
			}
			if s := r.stream(s.device, number); s != nil {
				return s.made
			}
			return timeline.NoStream
		}
		switch s.kind {
		case "Stream Sync":
			ref.Stream = named(s.stream)
		case "Context Sync":
			ref.Device = int32(max(min(s.device, math.MaxInt32), -1))
		case "Event Sync", "Stream Wait Event":
			if s.kind == "Stream Wait Event" {
				ref.Stream = named(s.stream)
			}
			ref.Event = max(named(s.waitOn), -1)
			if record := r.launchOf(s.record); record.Known() {
				ref.Recorded = enter(record)
			}
		default:
			continue
		}
		list = append(list, ref)
	}
	return list
}
