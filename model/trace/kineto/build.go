package kineto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slackline/internal/parallel"
	"slackline/internal/phrase"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// builder makes a timeline out of files.
type builder struct {
	threads  int
	oneClock bool
	builder  *timeline.Builder
	ranks    []*rankBuilder
	world    int  // ranks of the job, as the files say
	absent   bool // groups have ranks without a file
	tl       *timeline.Timeline
	devices  *timeline.Devices
	warn     func(format string, args ...any)
}

// rankBuilder is a rank on its way into a timeline.
type rankBuilder struct {
	*rankFile
	shift    unit.Duration // from times of the file to those of the run
	base     int32         // first location
	first    unit.Duration // event
	last     unit.Duration
	order    []uint32 // threads, the master first
	places   []uint32 // of the threads in order
	sorted   []int32  // the calls, by thread in order, then as they are nested
	from     []int    // by place in order: its first call among the sorted ones; one more at the end
	regions  []timeline.RegionID
	launches []launchedBy // by correlation
	found    int          // the last one that was looked for
	made     []*deviceStream
	numbers  []int32 // of the activities on their streams
	overlaps int     // calls that go on after the call around them
	left     int64   // how long they do
}

// launchedBy is the call with a correlation.
type launchedBy struct {
	correlation uint32
	call        int32 // number of the call in the file, then the place among the sorted ones
}

// deviceStream is a stream of a rank.
type deviceStream struct {
	streamID
	made int32 // number among all streams, in the order of making
	b    *timeline.StreamBuilder
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
	earliest := unit.Duration(math.MaxInt64)
	for _, r := range b.ranks {
		earliest = min(earliest, r.first)
	}
	for _, r := range b.ranks {
		if far := (r.first - earliest) / unit.Second; far > 60 {
			b.warn("%s: its events begin %d s after those of another rank: is it of another run, or its clock wrong?", r.show, far)
		}
	}
	base := int32(0)
	var host timeline.RegionID
	if slices.ContainsFunc(b.ranks, func(r *rankBuilder) bool { return !r.bare }) {
		host = b.builder.Region(timeline.Region{Name: "host"})
	}
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
			if int(thread) < len(r.threads) {
				name = cmp.Or(r.labels[r.threads[thread]], name)
			}
			locations[i] = append(locations[i], b.builder.Location(r.rank, n, name, ""))
		}
	}
	parallel.Each(len(b.ranks), b.threads, func(i int) {
		r := b.ranks[i]
		for n := range r.order {
			r.enter(locations[i][n], n, host)
		}
		if r.bare && unit.Duration(r.left)/unit.Duration(len(r.order)) > (r.last-r.first)/100 { // others have calls around everything
			locations[i][0].SetTruncated()
		}
	})
	for _, r := range b.ranks {
		if r.overlaps > 0 {
			b.warn("%s: %s of rank %d went on after the end of the call around; these parts, together %s, are left out", r.show,
				phrase.Plural(r.overlaps, "call"), r.rank, unit.Duration(r.left).Short())
		}
	}
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
	for _, c := range r.calls.all {
		first[c.thread] = min(first[c.thread], c.begin)
		begin, end = min(begin, c.begin), max(end, c.end)
	}
	for _, a := range r.acts.all {
		begin, end = min(begin, a.begin), max(end, a.end)
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
	r.places = make([]uint32, max(len(r.threads), 1))
	for n, thread := range r.order {
		r.places[thread] = uint32(n)
	}
	r.sortCalls()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rounding is by how much a call may go on after the call around it, because times and durations are rounded to microseconds.
const rounding = int64(unit.Microsecond)

// enter gives a location the calls of a thread, nested by containment: a call lies in the last open one that has not ended when it
// begins, and is cut where that ends.
func (r *rankBuilder) enter(l *timeline.LocationBuilder, n int, host timeline.RegionID) {
	calls := r.sorted[r.from[n]:r.from[n+1]]
	l.Reserve(len(calls) + 1)
	if n == 0 && !r.bare {
		l.Enter(r.first, host)
	}
	var open []int64 // ends
	for _, i := range calls {
		c := *r.calls.at(i)
		for k := len(open); k > 0 && open[k-1] <= c.begin; k = len(open) {
			l.Leave(unit.Duration(open[k-1]) + r.shift)
			open = open[:k-1]
		}
		if k := len(open); k > 0 {
			if c.end-rounding > open[k-1] {
				r.overlaps++
				r.left += c.end - open[k-1]
			}
			c.end = min(c.end, open[k-1])
		}
		l.Enter(unit.Duration(c.begin)+r.shift, r.regions[c.name])
		open = append(open, c.end)
	}
	for _, end := range slices.Backward(open) {
		l.Leave(unit.Duration(end) + r.shift)
	}
	if n == 0 && !r.bare {
		l.Leave(r.last)
	}
	if r.damage != nil || r.cut {
		l.SetTruncated()
	}
}

// callAt is the place of a sorted call in the timeline: the master has one more.
func (r *rankBuilder) callAt(i int32) timeline.Launch {
	n := r.places[r.calls.at(r.sorted[i]).thread]
	call := i - int32(r.from[n])
	if n == 0 {
		call++
	}
	return timeline.Launch{Thread: r.base + int32(n), Call: call}
}

// numberOf is the number of a call of the timeline in the file; -1: the outermost call of the master.
func (r *rankBuilder) numberOf(l timeline.Launch) int32 {
	n := l.Thread - r.base
	i := r.from[n] + int(l.Call)
	if n == 0 {
		if l.Call == 0 {
			return -1
		}
		i--
	}
	return r.sorted[i]
}

// addStreams gives the timeline the activities of all ranks.
func (b *builder) addStreams() {
	some := false
	for _, r := range b.ranks {
		some = some || r.acts.len() > 0
	}
	if !some {
		return
	}
	d := timeline.NewDeviceBuilder(b.tl)
	made := int32(0)
	var references []timeline.Reference
	for _, r := range b.ranks {
		counts := make([]int32, len(r.streams))
		for _, a := range r.acts.all {
			counts[a.stream]++
		}
		for i, on := range r.streams {
			s := &deviceStream{streamID: on, made: made}
			s.b = d.Stream(r.rank, int(on.device), on.stream, fmt.Sprintf("%d:%d", on.device, on.stream))
			s.b.Reserve(int(counts[i]))
			made++
			r.made = append(r.made, s)
		}
		clear(counts)
		r.numbers = make([]int32, r.acts.len())
		regions := map[[2]uint32]timeline.RegionID{}
		for i, a := range r.acts.all {
			kind := timeline.ComputeKernel
			switch {
			case a.kind == kindCopy:
				kind = timeline.Copy
			case a.kind == kindMemset:
				kind = timeline.Memset
			case r.communicates(a):
				kind = timeline.CommunicationKernel
			}
			region, ok := regions[[2]uint32{a.name, uint32(a.kind)}]
			if !ok {
				region = d.Region(activityName(r.names[a.name], a.kind))
				regions[[2]uint32{a.name, uint32(a.kind)}] = region
			}
			r.numbers[i] = counts[a.stream]
			counts[a.stream]++
			r.made[a.stream].b.Add(unit.Duration(a.begin)+r.shift, unit.Duration(a.end)+r.shift, region, kind, r.launchOf(a.correlation))
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
	if i, ok := r.byStream[streamID{device, number}]; ok {
		return r.made[i]
	}
	var found *deviceStream
	for _, s := range r.made {
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
