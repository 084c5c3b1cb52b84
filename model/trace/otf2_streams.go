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
	"slackline/model/trace/otf2"
	"slackline/model/unit"
)

// Streams of accelerators in OTF2, as Score-P writes them: locations of their own with kernels as regions and copies as one-sided
// operations. What launched an activity follows from references to streams at the calls (CUDA), from the ids of call sites (HIP), or from
// the order of calls and activities if only one stream has any.

const (
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

// setStreams finds the streams of the ranks.
func (a *otf2Archive) setStreams(ranks map[uint32]int) {
	if a.trace.attach != nil { // there is a file of streams
		return
	}
	type key struct{ rank, group int }
	devices, counts := map[key]int{}, map[int]int{}
	locations := slices.Clone(a.defs.Locations)
	slices.SortFunc(locations, func(x, y otf2.Location) int { return cmp.Compare(x.ID, y.ID) })
	for i, l := range locations {
		if l.Kind != otf2.LocationStream || i > 0 && locations[i-1].ID == l.ID {
			continue
		}
		group := a.defs.Processes[l.Group]
		process, k := l.Group, key{group: int(l.Group)}
		name := a.defs.Strings[l.Name]
		if group.Kind == otf2.GroupProcess {
			k.group = -1 - deviceInName(name)
		} else {
			process = group.Creator
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
		a.streams = append(a.streams, &otf2Stream{Location: Location{ID: l.ID, Rank: rank, Name: name, Events: l.Events}, device: devices[k],
			made: -1})
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
	var streams []*otf2Stream
	for _, s := range a.streams {
		if c.wanted(s.Rank) {
			own := *s // the archive may be read several times
			streams = append(streams, &own)
		}
	}
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
		c.warnings = append(c.warnings, fmt.Sprintf("%d activities began before the one before them on their stream had ended; they are put "+
			"one after the other", n))
	}
	addKernelsInOrder(tl, devices)
	return nil
}

// readStream reads the kernels and copies of a stream.
func (a *otf2Archive) readStream(c *conversion, s *otf2Stream) error {
	local, _ := a.readLocal(&s.Location)
	l := s.Location
	ticks := otf2.NewClock(a.defs.Resolution, a.defs.GlobalOffset)
	var at locationClock
	for i := range c.Locations {
		if c.Locations[i].Rank == s.Rank {
			ticks, at = a.clocks[i], c.clocks.of(i)
			break
		}
	}
	if len(local.Offsets) >= 2 && c.Clock != ClockNone {
		ticks = otf2.NewClock(a.defs.Resolution, a.defs.GlobalOffset)
		a.setOffsets(&l, local.Offsets, ticks.Base, ticks.Base)
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
		b := &r.record.Body
		switch r.record.ID {
		case otf2.EvtPut, otf2.EvtGet:
			b.At = 0
			b.U32()
			b.U32()
			b.U64()
			name := "Memcpy HtoD"
			if r.record.ID == otf2.EvtPut {
				name = "Memcpy DtoH"
			}
			id := b.U64()
			copies[id] = append(copies[id], begin(otf2Activity{begin: t, end: t, name: name, copy: true}))
		case otf2.EvtCompleteBlocking:
			b.At = 0
			b.U32()
			if id := b.U64(); len(copies[id]) > 0 {
				end(copies[id][0], t)
				copies[id] = copies[id][1:]
			}
		case otf2.EvtParameterUnsigned:
			b.At = 0
			if id := uint32(r.parameters.Global(uint64(b.U32()))); len(calls) > 0 && a.defs.Strings[a.defs.Parameters[id]] == otf2Callsite {
				if i := calls[len(calls)-1].index; i >= 0 {
					s.acts[i].callsite, s.acts[i].hasSite = b.U64(), true
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
			a.attributes(&call, r.record.Attributes, r.record.Body.Big || r.f.Big, local)
			open = append(open, len(list))
			list = append(list, call)
		case e.Kind == Leave && len(open) > 0:
			if k := open[len(open)-1]; k >= 0 {
				a.attributes(&list[k], r.record.Attributes, r.f.Big, local)
			}
			open = open[:len(open)-1]
		case r.record.ID == otf2.EvtParameterUnsigned && len(open) > 0 && open[len(open)-1] >= 0:
			b := &r.record.Body
			b.At = 0
			if id := uint32(r.parameters.Global(uint64(b.U32()))); a.defs.Strings[a.defs.Parameters[id]] == otf2Callsite {
				call := &list[open[len(open)-1]]
				call.callsite, call.hasSite = b.U64(), true
			}
		}
	}
}

// attributes takes the references of a list of attributes.
func (a *otf2Archive) attributes(call *otf2Call, list []byte, big bool, local *otf2.Local) {
	if len(list) == 0 {
		return
	}
	b := otf2.Bytes{Data: list, Big: big}
	for n := b.U32(); n > 0 && b.Left() > 0; n-- {
		name := a.defs.Strings[a.defs.Attributes[uint32(local.Maps[otf2.MapAttribute].Global(uint64(b.U32())))]]
		kind := b.U8()
		value := uint64(0)
		switch kind {
		case 1, 5:
			b.U8()
		case 2, 6:
			b.Take(2)
		case 9:
			b.Take(4)
		case 10:
			b.Take(8)
		default:
			value = b.U64()
		}
		switch {
		case b.Short:
			return
		case name == otf2StreamRef && kind == otf2.AttributeLocation:
			call.stream, call.hasStream = local.Maps[otf2.MapLocation].Global(value), value != otf2.Undefined64
		case name == otf2EventRef && kind == otf2.AttributeU64:
			call.event, call.hasEvent = value, true
		}
	}
}
