package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

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
	acts   []otf2Activity
	warn   string
}

// otf2Activity is a kernel or a copy.
type otf2Activity struct {
	begin, end           unit.Duration
	launch               timeline.Launch
	callsite             uint64
	region               uint32 // of the trace; after those: copies to the device, copies from it
	copy, hasSite, ended bool
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
		a.streams = append(a.streams, &otf2Stream{Location: Location{ID: l.ID, Rank: rank, Name: name, Events: l.Events}, device: devices[k]})
	}
	slices.SortStableFunc(a.streams, func(x, y *otf2Stream) int { return cmp.Compare(x.Rank, y.Rank) })
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

// attachStreams reads the streams into a timeline, and finds what launched their activities among the calls of the hosts.
func (a *otf2Archive) attachStreams(c *conversion, tl *timeline.Timeline) error {
	var streams []*otf2Stream
	var ranks []*otf2Rank
	for _, s := range a.streams {
		if !c.wanted(s.Rank) || s.Rank >= tl.Ranks {
			continue
		}
		own := *s // the archive may be read several times
		if n := len(ranks); n == 0 || ranks[n-1].rank != s.Rank {
			ranks = append(ranks, &otf2Rank{rank: s.Rank, first: int32(len(streams))})
		}
		streams = append(streams, &own)
		p := ranks[len(ranks)-1]
		p.streams = append(p.streams, &own)
	}
	if len(streams) == 0 {
		return nil
	}
	errs := make([]error, len(streams))
	c.each(len(streams), func(i int) { errs[i] = a.readStream(c, streams[i]) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c.each(len(ranks), func(i int) { ranks[i].attach(c, tl) })
	var references [][]timeline.Reference
	for _, p := range ranks {
		references = append(references, p.references)
	}
	d := timeline.NewDeviceBuilder(tl)
	a.addActivities(d, streams)
	devices := d.Finish(slices.Concat(references...))
	for _, s := range streams {
		if s.warn != "" {
			c.warnings = append(c.warnings, s.warn)
		}
	}
	if n := devices.Overlaps; n > 0 {
		c.warnings = append(c.warnings, fmt.Sprintf("%d activities began before the one before them on their stream had ended; they are put "+
			"one after the other", n))
	}
	addKernelsInOrder(tl, devices)
	return nil
}

// addActivities gives the activities of all streams to a builder.
func (a *otf2Archive) addActivities(d *timeline.DeviceBuilder, streams []*otf2Stream) {
	type region struct {
		id    timeline.RegionID
		kind  timeline.ActivityKind
		known bool
	}
	regions := make([]region, len(a.trace.Regions)+len(otf2Copies))
	for i, s := range streams {
		b := d.Stream(s.Rank, s.device, int64(i), s.Name)
		b.Reserve(len(s.acts))
		for k := range s.acts {
			x := &s.acts[k]
			r := &regions[x.region]
			if !r.known {
				name := ""
				if x.copy {
					name, r.kind = otf2Copies[int(x.region)-len(a.trace.Regions)], timeline.Copy
				} else if name = a.trace.Regions[x.region].Name; device.IsCommunication(name) {
					r.kind = timeline.CommunicationKernel
				}
				r.id, r.known = d.Region(name), true
			}
			b.Add(x.begin, x.end, r.id, r.kind, x.launch)
		}
		s.acts = nil
	}
}

// otf2Copies are the names of copies: to the device and from it.
var otf2Copies = [...]string{"Memcpy HtoD", "Memcpy DtoH"}

// readStream reads the kernels and copies of a stream.
func (a *otf2Archive) readStream(c *conversion, s *otf2Stream) error {
	r, err := a.openStream(c, s)
	if err != nil {
		if s.Events == 0 {
			return nil
		}
		if !c.Partial {
			return fmt.Errorf("rank %d, stream %s: %w; no event can be read %s", s.Rank, s.Name, err, partialHint)
		}
		s.warn = fmt.Sprintf("rank %d, stream %s: %v", s.Rank, s.Name, err)
		return nil
	}
	defer r.Close()
	var e Event
	for n := 0; err == nil; n++ {
		if n%batch == 0 && c.Interrupt != nil {
			if err := c.Interrupt(); err != nil {
				return err
			}
		}
		if err = r.next(&e); err == nil {
			err = r.take(&e)
		}
	}
	if !errors.Is(err, io.EOF) {
		if c.Strict || !errors.Is(err, damage.Err) || c.unread() != nil && !c.Partial {
			return cmp.Or(c.unread(), err)
		}
		s.warn = fmt.Sprintf("rank %d, stream %s: %s", s.Rank, s.Name, damage.Loss(err))
	}
	s.acts = slices.DeleteFunc(s.acts, func(x otf2Activity) bool { return !x.ended })
	return nil
}

// otf2StreamReader makes activities of the records of a stream.
type otf2StreamReader struct {
	*otf2Reader
	stream *otf2Stream
	at     locationClock
	open   []int32            // activities of the open regions, -1: not a kernel
	copies map[uint64][]int32 // that have not ended, in order, by matching id
}

// openStream opens the records of a stream. It has the clock of its host, unless it has offsets of its own.
func (a *otf2Archive) openStream(c *conversion, s *otf2Stream) (*otf2StreamReader, error) {
	own := otf2.NewClock(a.defs.Resolution, a.defs.GlobalOffset)
	in, err := a.openReader(&s.Location, own)
	if err != nil {
		return nil, err
	}
	r := &otf2StreamReader{otf2Reader: in, stream: s, copies: map[uint64][]int32{}}
	if in.lost != nil {
		s.warn = fmt.Sprintf("rank %d, stream %s: %v%s", s.Rank, s.Name, in.lost, localLost)
	} else if a.locals && in.file != nil && !in.local.Found {
		s.warn = fmt.Sprintf("rank %d, stream %s: %s is missing, although other locations have one; its ids may be wrong", s.Rank, s.Name,
			a.src.showBeside(a.localFile(&s.Location)))
	}
	if host := hostsOf(c.Locations, s.Rank); host < len(c.Locations) && c.Locations[host].Rank == s.Rank {
		in.clock, r.at = a.clocks[host], c.clocks.of(host)
	}
	if len(in.local.Offsets) >= 2 && c.Clock != ClockNone {
		l := s.Location
		in.clock = own
		if err := a.setOffsets(&l, in.local.Offsets, own.Base, own.Base); err != nil {
			s.warn = fmt.Sprintf("rank %d, stream %s: %v", s.Rank, s.Name, err)
		}
		if offsets, err := c.clocks.offsetsOf(&l); err == nil && offsets != nil {
			r.at = c.clocks.by(offsets)
		}
	}
	return r, nil
}

// take takes the record that was read, which has become an event.
func (r *otf2StreamReader) take(e *Event) error {
	t, fits := r.at.correct(e.Time)
	if !fits {
		return r.f.Damage(errFarClock)
	}
	a, b := r.objects.archive, &r.record.Body
	innermost := int32(-1)
	if n := len(r.open); n > 0 {
		innermost = r.open[n-1]
	}
	switch id := r.record.ID; {
	case e.Kind == Enter && a.artificial[e.Region]:
		r.open = append(r.open, -1)
	case e.Kind == Enter:
		r.open = append(r.open, r.begin(otf2Activity{begin: t, region: e.Region}))
	case e.Kind == Leave:
		r.end(innermost, t)
		r.open = r.open[:max(len(r.open)-1, 0)]
	case id == otf2.EvtPut || id == otf2.EvtGet:
		b.At = 0
		b.U32() // window
		b.U32() // host
		b.U64() // bytes
		match, region := b.U64(), len(a.trace.Regions)
		if id == otf2.EvtPut {
			region++
		}
		r.copies[match] = append(r.copies[match], r.begin(otf2Activity{begin: t, region: uint32(region), copy: true}))
	case id == otf2.EvtCompleteBlocking:
		b.At = 0
		b.U32() // window
		match := b.U64()
		if list := r.copies[match]; len(list) > 0 {
			r.end(list[0], t)
			if r.copies[match] = list[1:]; len(list) == 1 {
				delete(r.copies, match)
			}
		}
	case id == otf2.EvtParameterUnsigned && innermost >= 0:
		if site, ok := r.callsite(); ok {
			x := &r.stream.acts[innermost]
			x.callsite, x.hasSite = site, true
		}
	}
	return nil
}

// begin begins an activity and returns its number.
func (r *otf2StreamReader) begin(x otf2Activity) int32 {
	s := r.stream
	n := len(s.acts)
	if n == cap(s.acts) { // room for those that are announced, as far as what was read makes them credible
		announced := int(min(s.Events/2, math.MaxInt32))
		s.acts = slices.Grow(s.acts, max(1, min(announced-n, max(batch, 3*n))))
	}
	x.launch = timeline.NoLaunch
	s.acts = append(s.acts, x)
	return int32(n)
}

// end ends an activity; -1: none.
func (r *otf2StreamReader) end(i int32, t unit.Duration) {
	if i >= 0 {
		r.stream.acts[i].end, r.stream.acts[i].ended = t, true
	}
}
