package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/device"
	"slackline/model/unit"
)

// Streams of accelerators in OTF2, as Score-P writes them: locations of their own with kernels as regions and copies as one-sided operations.
// What launched an activity follows from references to streams at the calls (CUDA), from the ids of call sites (HIP), or from the order of
// calls and activities if only one stream has any.

const (
	defAttribute = 11

	mapAttribute = 1
	mapLocation  = 2

	locationStream = 2

	attributeU64      = 4
	attributeLocation = 13

	paradigmCUDA   = 5
	paradigmOpenCL = 19
	paradigmHIP    = 23

	otf2StreamRef = "CUDA_STREAM_REF"
	otf2EventRef  = "CUDA_EVENT_REF"
	otf2Callsite  = "callsite id"
)

// otf2Stream is a stream of the archive.
type otf2Stream struct {
	Location
	device int
	made   int32 // number among those of the builder, -1: it is not read
	b      *timeline.StreamBuilder
	acts   []otf2Activity
	warn   string
}

// otf2Activity is a kernel or a copy.
type otf2Activity struct {
	begin, end unit.Duration
	name       string
	copy       bool
	callsite   uint64
	hasSite    bool
	launch     timeline.Launch
}

// otf2Call is a host call that has to do with a device.
type otf2Call struct {
	at                           timeline.Launch
	id                           uint64 // of the location
	enter                        unit.Duration
	name                         string
	stream                       uint64 // reference, hasStream: there is one
	event                        uint64
	callsite                     uint64
	hasStream, hasEvent, hasSite bool
	inner                        bool // it lies in another one of its kind
}

// isAccelerator reports whether communication of a paradigm is that between hosts and devices.
func isAccelerator(paradigm uint8) bool {
	return paradigm == paradigmCUDA || paradigm == paradigmHIP || paradigm == paradigmOpenCL
}

// setStreams finds the streams of the ranks.
func (a *otf2Archive) setStreams(ranks map[uint32]int) {
	type key struct{ rank, group int }
	devices, counts := map[key]int{}, map[int]int{}
	locations := slices.Clone(a.defs.locations)
	slices.SortFunc(locations, func(x, y otf2Location) int { return cmp.Compare(x.id, y.id) })
	for i, l := range locations {
		if l.kind != locationStream || i > 0 && locations[i-1].id == l.id {
			continue
		}
		group := a.defs.processes[l.group]
		process, k := l.group, key{group: int(l.group)}
		name := a.defs.strings[l.name]
		if group.kind == groupProcess {
			k.group = -1 - deviceInName(name)
		} else {
			process = group.creator
		}
		rank, ok := ranks[process]
		if !ok {
			continue
		}
		k.rank = rank
		if _, ok := devices[k]; !ok {
			devices[k] = counts[rank]
			counts[rank]++
		}
		a.streams = append(a.streams, &otf2Stream{Location: Location{ID: l.id, Rank: rank, Name: name, Events: l.events}, device: devices[k], made: -1})
	}
	if len(a.streams) > 0 {
		a.trace.attach = a.attachStreams
	}
}

// deviceInName is the first number in the name of a stream, 0 if there is none.
func deviceInName(name string) int {
	first := strings.IndexAny(name, "0123456789")
	if first < 0 {
		return 0
	}
	digits := name[first:]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// attachStreams reads the streams, and the calls of the hosts that have to do with them, into a timeline.
func (a *otf2Archive) attachStreams(c *conversion, tl *timeline.Timeline) error {
	streams := slices.DeleteFunc(slices.Clone(a.streams), func(s *otf2Stream) bool { return !c.wanted(s.Rank) })
	if len(streams) == 0 {
		return nil
	}
	errs := make([]error, len(streams))
	c.each(len(streams), func(i int) { errs[i] = a.readStream(c, streams[i]) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	calls := make([][]otf2Call, len(c.Locations))
	has := map[int]bool{}
	for _, s := range streams {
		has[s.Rank] = true
		if s.warn != "" {
			c.warnings = append(c.warnings, s.warn)
		}
	}
	errs = make([]error, len(calls))
	c.each(len(calls), func(i int) {
		if has[c.Locations[i].Rank] && !c.Locations[i].Missing {
			calls[i], errs[i] = a.readDeviceCalls(c, tl, i)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	d := timeline.NewDeviceBuilder(tl)
	var references []timeline.Reference
	made := int32(0)
	for rank := range tl.Ranks {
		p := otf2Rank{}
		for _, s := range streams {
			if s.Rank == rank {
				s.made = made
				made++
				p.streams = append(p.streams, s)
			}
		}
		if len(p.streams) == 0 {
			continue
		}
		for i := range calls {
			if c.Locations[i].Rank == rank {
				p.calls = append(p.calls, calls[i]...)
			}
		}
		slices.SortStableFunc(p.calls, func(x, y otf2Call) int { return cmp.Or(cmp.Compare(x.enter, y.enter), cmp.Compare(x.id, y.id)) })
		p.findLaunches()
		references = append(references, p.references()...)
		for _, s := range p.streams {
			s.b = d.Stream(rank, s.device, int64(s.made), s.Name)
			for _, x := range s.acts {
				kind := timeline.ComputeKernel
				if x.copy {
					kind = timeline.Copy
				} else if device.IsCommunication(x.name) {
					kind = timeline.CommunicationKernel
				}
				s.b.Add(x.begin, x.end, d.Region(x.name), kind, x.launch)
			}
		}
	}
	devices := d.Finish(references)
	if n := devices.Overlaps; n > 0 {
		c.warnings = append(c.warnings, fmt.Sprintf("%d activities began before the one before them on their stream had ended; they are put one after the other", n))
	}
	addKernelsInOrder(tl, devices)
	return nil
}

// otf2Rank is a process with streams.
type otf2Rank struct {
	streams []*otf2Stream
	calls   []otf2Call // in order
}

// isLaunch reports whether a call launches kernels, isCopy whether it copies.
func (c *otf2Call) isLaunch() bool {
	return (strings.HasPrefix(c.name, "cu") || strings.HasPrefix(c.name, "hip")) && strings.Contains(c.name, "Launch") && !strings.Contains(c.name, "HostFunc") ||
		c.name == "clEnqueueNDRangeKernel"
}

func (c *otf2Call) isCopy() bool {
	for _, prefix := range []string{"cuMemcpy", "cudaMemcpy", "hipMemcpy", "clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueCopyBuffer"} {
		if strings.HasPrefix(c.name, prefix) {
			return true
		}
	}
	return false
}

// findLaunches finds which calls launched the activities of a process.
func (p *otf2Rank) findLaunches() {
	referenced := slices.ContainsFunc(p.calls, func(c otf2Call) bool { return c.hasStream && (c.isLaunch() || c.isCopy()) })
	for _, copies := range []bool{false, true} {
		var calls []*otf2Call
		for i := range p.calls {
			if c := &p.calls[i]; c.isCopy() && copies || c.isLaunch() && !copies {
				calls = append(calls, c)
			}
		}
		if referenced {
			for _, s := range p.streams {
				join(s.list(func(x *otf2Activity) bool { return x.copy == copies }), calls, func(c *otf2Call) bool { return c.hasStream && c.stream == s.ID })
			}
			continue
		}
		var all, rest []*otf2Activity
		holders := 0
		for _, s := range p.streams {
			own := s.list(func(x *otf2Activity) bool { return x.copy == copies })
			if len(own) > 0 {
				holders++
			}
			all = append(all, own...)
		}
		slices.SortStableFunc(all, func(x, y *otf2Activity) int { return cmp.Compare(x.begin, y.begin) })
		sites := map[uint64][]*otf2Activity{}
		for _, x := range all {
			if x.hasSite && !copies {
				sites[x.callsite] = append(sites[x.callsite], x)
			} else {
				rest = append(rest, x)
			}
		}
		for site, list := range sites {
			join(list, calls, func(c *otf2Call) bool { return c.hasSite && c.callsite == site })
		}
		if holders == 1 && len(rest) == len(all) {
			join(rest, calls, func(c *otf2Call) bool { return !c.inner })
		}
	}
}

// list are the activities of a stream of a kind.
func (s *otf2Stream) list(of func(*otf2Activity) bool) []*otf2Activity {
	var list []*otf2Activity
	for i := range s.acts {
		if of(&s.acts[i]) {
			list = append(list, &s.acts[i])
		}
	}
	return list
}

// join gives the k-th activity the k-th of certain calls. If one of them would begin before its launch, all stay unknown.
func join(acts []*otf2Activity, calls []*otf2Call, of func(*otf2Call) bool) {
	k := 0
	for _, c := range calls {
		if k == len(acts) {
			break
		}
		if !of(c) {
			continue
		}
		if acts[k].begin < c.enter {
			for _, x := range acts {
				x.launch = timeline.NoLaunch
			}
			return
		}
		acts[k].launch = c.at
		k++
	}
}

// references are what calls say about streams and events.
func (p *otf2Rank) references() []timeline.Reference {
	var list []timeline.Reference
	stream := func(id uint64) int32 {
		for _, s := range p.streams {
			if s.ID == id {
				return s.made
			}
		}
		return timeline.NoStream
	}
	records := map[uint64]*otf2Call{} // by event, the last one so far
	for i := range p.calls {
		c := &p.calls[i]
		if !c.hasStream && !c.hasEvent {
			continue
		}
		r := timeline.Reference{Location: c.at.Thread, Call: c.at.Call, Stream: -1, Device: -1, Event: -1, Recorded: c.enter}
		if c.hasStream {
			r.Stream = stream(c.stream)
		}
		if c.hasEvent {
			if record := records[c.event]; record != nil && record.enter < c.enter && record.hasStream {
				r.Event, r.Recorded = max(stream(record.stream), -1), record.enter
			}
		}
		list = append(list, r)
		if c.hasEvent && strings.Contains(c.name, "EventRecord") {
			records[c.event] = c
		}
	}
	return list
}

// addKernelsInOrder finds the collectives of kernels whose groups the trace does not name: if all ranks have the same sequence of operations,
// the k-th ones belong together.
func addKernelsInOrder(tl *timeline.Timeline, d *timeline.Devices) {
	byRank := map[int32][]device.Op{}
	var ranks []int32
	for i := range tl.Locations {
		if r := int32(tl.Locations[i].Rank); len(ranks) == 0 || ranks[len(ranks)-1] != r {
			ranks = append(ranks, r)
		}
	}
	for i := range d.Streams {
		s := &d.Streams[i]
		for j := range s.Len() {
			if s.Kind[j] != timeline.CommunicationKernel || !s.Launch[j].Known() {
				continue
			}
			op := device.Op{Rank: int32(s.Rank), Stream: int32(i), Act: int32(j), Name: device.KernelOperation(tl.RegionOf(s.Path[j]).Name), Ranks: ranks, Root: -1, Peer: -1, Sequence: -1}
			op.Sent, op.Received, op.Takes, op.Launched = 1, 1, true, tl.LaunchedAt(s, int32(j))
			byRank[op.Rank] = append(byRank[op.Rank], op)
		}
	}
	names := func(list []device.Op) (names []string) {
		slices.SortStableFunc(list, func(x, y device.Op) int { return cmp.Compare(x.Launched, y.Launched) })
		for i := range list {
			names = append(names, list[i].Name)
		}
		return names
	}
	var all []device.Op
	for _, r := range ranks {
		if !slices.Equal(names(byRank[r]), names(byRank[ranks[0]])) {
			return
		}
		for _, op := range byRank[r] {
			if known, ok := device.Operation(op.Name); ok && !device.IsRooted(known) {
				all = append(all, op)
			}
		}
	}
	device.Match(d, all, func(int32) bool { return true }, func(string, ...any) {})
}

// readStream reads the kernels and copies of a stream.
func (a *otf2Archive) readStream(c *conversion, s *otf2Stream) error {
	local, _ := a.readLocal(&s.Location)
	l := s.Location
	ticks := newOTF2Clock(a.defs.resolution, a.defs.globalOffset)
	var at locationClock
	for i := range c.Locations {
		if c.Locations[i].Rank == s.Rank {
			ticks, at = a.clocks[i], c.clocks.of(i)
			break
		}
	}
	if len(local.offsets) >= 2 && c.Clock != ClockNone {
		ticks = newOTF2Clock(a.defs.resolution, a.defs.globalOffset)
		a.setOffsets(&l, local.offsets, ticks.base, ticks.base)
		if own, ok := c.clocks.from(&l); ok {
			at = own
		}
	}
	r, err := a.openReader(&s.Location, ticks)
	if err != nil {
		if s.Events > 0 {
			s.warn = fmt.Sprintf("rank %d, stream %s: %v", s.Rank, s.Name, err)
		}
		return nil
	}
	defer r.Close()
	type open struct {
		index int // -1: not a kernel
	}
	var calls []open
	copies := map[uint64][]int{}
	var ended []bool
	begin := func(x otf2Activity) int {
		x.launch = timeline.NoLaunch
		s.acts, ended = append(s.acts, x), append(ended, false)
		return len(s.acts) - 1
	}
	end := func(i int, t unit.Duration) { s.acts[i].end, ended[i] = t, true }
	var e Event
	for n := 0; ; n++ {
		if err = r.next(&e); err != nil {
			break
		}
		if n%batch == 0 && c.Interrupt != nil {
			if err := c.Interrupt(); err != nil {
				return err
			}
		}
		t := at.correct(e.Time)
		b := &r.record.body
		switch r.record.id {
		case evtPut, evtGet:
			b.at = 0
			b.u32()
			b.u32()
			b.u64()
			name := "Memcpy HtoD"
			if r.record.id == evtPut {
				name = "Memcpy DtoH"
			}
			id := b.u64()
			copies[id] = append(copies[id], begin(otf2Activity{begin: t, end: t, name: name, copy: true}))
		case evtCompleteBlocking:
			b.at = 0
			b.u32()
			if id := b.u64(); len(copies[id]) > 0 {
				end(copies[id][0], t)
				copies[id] = copies[id][1:]
			}
		case evtParameterUnsigned:
			b.at = 0
			if id := uint32(r.parameters.global(uint64(b.u32()))); len(calls) > 0 && a.defs.strings[a.defs.parameters[id]] == otf2Callsite {
				if i := calls[len(calls)-1].index; i >= 0 {
					s.acts[i].callsite, s.acts[i].hasSite = b.u64(), true
				}
			}
		default:
			switch e.Kind {
			case Enter:
				if a.artificial[e.Region] {
					calls = append(calls, open{-1})
				} else {
					calls = append(calls, open{begin(otf2Activity{begin: t, end: t, name: a.trace.Regions[e.Region].Name})})
				}
			case Leave:
				if n := len(calls); n > 0 {
					if calls[n-1].index >= 0 {
						end(calls[n-1].index, t)
					}
					calls = calls[:n-1]
				}
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		if c.Strict || !errors.Is(err, damage.Err) {
			return err
		}
		s.warn = fmt.Sprintf("rank %d, stream %s: events end early: %v", s.Rank, s.Name, err)
	}
	n := 0
	for i := range s.acts { // what has no end is left out
		if ended[i] {
			s.acts[n] = s.acts[i]
			n++
		}
	}
	s.acts = s.acts[:n]
	return nil
}

// from returns the correction of a location by its own offsets.
func (k *clocks) from(l *Location) (locationClock, bool) {
	knots := make([]clock.Knot, len(l.Offsets))
	for j, o := range l.Offsets {
		knots[j] = clock.Knot{Time: unit.Duration(k.toTicks(o.Time)), Offset: unit.Duration(k.toTicks(o.Offset))}
	}
	offsets, err := clock.NewOffsets(knots)
	switch {
	case err != nil || len(knots) < 2:
		return locationClock{}, false
	case k.ticks != nil:
		return locationClock{kind: inTicks, cursor: offsets.Cursor(), ticks: *k.ticks}, true
	}
	return locationClock{kind: inTime, cursor: offsets.Cursor()}, true
}

// readDeviceCalls reads the calls of a thread that have to do with a device.
func (a *otf2Archive) readDeviceCalls(c *conversion, tl *timeline.Timeline, i int) ([]otf2Call, error) {
	wanted := make([]bool, len(a.trace.Regions))
	some := false
	for k := range wanted {
		name := a.trace.Regions[k].Name
		wanted[k] = strings.HasPrefix(name, "cu") || strings.HasPrefix(name, "hip") || strings.HasPrefix(name, "cl")
		some = some || wanted[k]
	}
	location := slices.IndexFunc(tl.Locations, func(l timeline.Location) bool {
		return l.Rank == c.Locations[i].Rank && l.Thread == c.Locations[i].Thread
	})
	if !some || location < 0 {
		return nil, nil
	}
	r, err := a.openReader(&c.Locations[i], a.clocks[i])
	if err != nil {
		return nil, nil // what is lost is said elsewhere
	}
	defer r.Close()
	local, _ := a.readLocal(&c.Locations[i])
	at := c.clocks.of(i)
	calls := &tl.Locations[location].Calls
	var list []otf2Call
	var open []int // -1: not wanted
	next := int32(0)
	var e Event
	for n := 0; ; n++ {
		if err := r.next(&e); err != nil {
			return list, nil
		}
		if n%batch == 0 && c.Interrupt != nil {
			if err := c.Interrupt(); err != nil {
				return nil, err
			}
		}
		switch {
		case e.Kind == Enter && !wanted[e.Region]:
			open = append(open, -1)
		case e.Kind == Enter:
			t := at.correct(e.Time)
			name := a.trace.Regions[e.Region].Name
			for next < int32(calls.Len()) && (calls.Enter[next] < t || calls.Enter[next] == t && tl.RegionOf(calls.Path[next]).Name != name) {
				next++
			}
			if next == int32(calls.Len()) || calls.Enter[next] != t {
				open = append(open, -1)
				continue
			}
			call := otf2Call{at: timeline.Launch{Thread: int32(location), Call: next}, id: c.Locations[i].ID, enter: t, name: name}
			next++
			call.inner = slices.ContainsFunc(open, func(k int) bool {
				return k >= 0 && (call.isLaunch() && list[k].isLaunch() || call.isCopy() && list[k].isCopy())
			})
			a.attributes(&call, r.record.attributes, r.record.body.big || r.f.big, local)
			open = append(open, len(list))
			list = append(list, call)
		case e.Kind == Leave && len(open) > 0:
			if k := open[len(open)-1]; k >= 0 {
				a.attributes(&list[k], r.record.attributes, r.f.big, local)
			}
			open = open[:len(open)-1]
		case r.record.id == evtParameterUnsigned && len(open) > 0 && open[len(open)-1] >= 0:
			b := &r.record.body
			b.at = 0
			if id := uint32(r.parameters.global(uint64(b.u32()))); a.defs.strings[a.defs.parameters[id]] == otf2Callsite {
				call := &list[open[len(open)-1]]
				call.callsite, call.hasSite = b.u64(), true
			}
		}
	}
}

// attributes takes the references of a list of attributes.
func (a *otf2Archive) attributes(call *otf2Call, list []byte, big bool, local *otf2Local) {
	if len(list) == 0 {
		return
	}
	b := otf2Bytes{b: list, big: big}
	for n := b.u32(); n > 0 && b.left() > 0; n-- {
		name := a.defs.strings[a.defs.attributes[uint32(local.maps[mapAttribute].global(uint64(b.u32())))]]
		kind := b.u8()
		value := uint64(0)
		switch kind {
		case 1, 5:
			b.u8()
		case 2, 6:
			b.take(2)
		case 9:
			b.take(4)
		case 10:
			b.take(8)
		default:
			value = b.u64()
		}
		switch {
		case b.short:
			return
		case name == otf2StreamRef && kind == attributeLocation:
			call.stream, call.hasStream = local.maps[mapLocation].global(value), value != undefined64
		case name == otf2EventRef && kind == attributeU64:
			call.event, call.hasEvent = value, true
		}
	}
}
