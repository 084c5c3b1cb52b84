package trace

import (
	"cmp"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/device"
	"slackline/model/trace/otf2"
	"slackline/model/unit"
)

// otf2Call is a host call that has to do with a device.
type otf2Call struct {
	at       timeline.Launch
	enter    unit.Duration // on the clock of its thread, until it is found in the timeline
	stream   uint64        // what it refers to: a location
	event    uint64
	callsite uint64
	region   uint32
	callTraits
}

// callTraits are what is known of a call.
type callTraits uint8

const (
	deviceCall callTraits = 1 << iota
	launchCall            // it launches kernels
	copyCall
	recordCall // it records an event
	hasStream
	hasEvent
	hasCallsite
	innerCall // it lies in another one that launches or copies as it does
)

// has reports whether a call has one of some traits.
func (c callTraits) has(some callTraits) bool { return c&some != 0 }

// traitsOf returns what the name of a function says about its calls.
func traitsOf(name string) (t callTraits) {
	driver := strings.HasPrefix(name, "cu") || strings.HasPrefix(name, "hip")
	if driver || strings.HasPrefix(name, "cl") {
		t |= deviceCall
	}
	if driver && strings.Contains(name, "Launch") && !strings.Contains(name, "HostFunc") || name == "clEnqueueNDRangeKernel" {
		t |= launchCall
	}
	for _, prefix := range []string{"cuMemcpy", "cudaMemcpy", "hipMemcpy", "clEnqueueReadBuffer", "clEnqueueWriteBuffer",
		"clEnqueueCopyBuffer"} {
		if strings.HasPrefix(name, prefix) {
			t |= copyCall
		}
	}
	if t != 0 && strings.Contains(name, "EventRecord") {
		t |= recordCall
	}
	return t
}

// setDeviceCalls finds out which regions, attributes and parameters have to do with devices, if there are streams.
func (a *otf2Archive) setDeviceCalls() {
	if len(a.streams) == 0 {
		return
	}
	for i := range a.trace.Regions {
		a.traits = append(a.traits, traitsOf(a.trace.Regions[i].Name))
	}
	for id, name := range a.defs.Attributes {
		switch a.defs.Strings[name] {
		case otf2StreamRef:
			a.references.Set(id, uint32(hasStream))
		case otf2EventRef:
			a.references.Set(id, uint32(hasEvent))
		}
	}
	for id, name := range a.defs.Parameters {
		if a.defs.Strings[name] == otf2Callsite {
			a.callsites.Set(id, 0)
		}
	}
}

// callsite returns the id of a call site, if that is the parameter that was read.
func (r *otf2Reader) callsite() (site uint64, ok bool) {
	b := &r.record.Body
	b.At = 0
	if _, ok = r.callsites.Get(b.U32()); ok {
		site = b.U64()
	}
	return site, ok
}

// otf2Calls are the calls of a thread that have to do with devices, kept while its events are read.
type otf2Calls struct {
	pieces     [][]otf2Call // none of them moves as the list grows
	open       []*otf2Call  // nil: it has nothing to do with devices
	references otf2.Indices
}

// keepCalls lets the reader of a location keep the calls that streams need.
func (c *conversion) keepCalls(i int, reader EventReader) {
	if r, ok := reader.(*otf2Reader); ok && r.file != nil && len(r.objects.archive.streams) > 0 {
		r.calls = &otf2Calls{references: r.objects.archive.references.Mapped(&r.local.Maps[otf2.MapAttribute])}
		c.deviceCalls[i] = r.calls
	}
}

// take takes the record that was read, which has become an event.
func (k *otf2Calls) take(r *otf2Reader, e *Event) {
	n := len(k.open)
	switch {
	case e.Kind == Enter:
		k.open = append(k.open, nil)
		if traits := r.objects.archive.traits[e.Region]; traits != 0 {
			if slices.ContainsFunc(k.open, func(c *otf2Call) bool { return c != nil && c.has(traits&(launchCall|copyCall)) }) {
				traits |= innerCall
			}
			k.open[n] = k.add(otf2Call{enter: unit.Duration(e.Time), region: e.Region, callTraits: traits})
			k.refer(r, k.open[n])
		}
	case n == 0:
	case e.Kind == Leave:
		if c := k.open[n-1]; c != nil {
			k.refer(r, c)
		}
		k.open = k.open[:n-1]
	case r.record.ID == otf2.EvtParameterUnsigned && k.open[n-1] != nil:
		if site, ok := r.callsite(); ok {
			c := k.open[n-1]
			c.callsite, c.callTraits = site, c.callTraits|hasCallsite
		}
	}
}

// add appends a call.
func (k *otf2Calls) add(c otf2Call) *otf2Call {
	n := len(k.pieces) - 1
	if n < 0 || len(k.pieces[n]) == batch {
		k.pieces = append(k.pieces, make([]otf2Call, 0, batch))
		n++
	}
	k.pieces[n] = append(k.pieces[n], c)
	return &k.pieces[n][len(k.pieces[n])-1]
}

// refer takes what the attributes of the record that was read say about a call.
func (k *otf2Calls) refer(r *otf2Reader, c *otf2Call) {
	if len(r.record.Attributes) == 0 {
		return
	}
	b := otf2.Bytes{Data: r.record.Attributes, Big: r.f.Big}
	for n := b.U32(); n > 0 && b.Left() > 0; n-- {
		what, _ := k.references.Get(b.U32())
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
		switch trait := callTraits(what); {
		case b.Short:
			return
		case trait == hasStream && kind == otf2.AttributeLocation:
			c.stream, c.callTraits = r.local.Maps[otf2.MapLocation].Global(value), c.callTraits&^hasStream
			if value != otf2.Undefined64 {
				c.callTraits |= hasStream
			}
		case trait == hasEvent && kind == otf2.AttributeU64:
			c.event, c.callTraits = value, c.callTraits|hasEvent
		}
	}
}

// otf2Rank is a process with streams.
type otf2Rank struct {
	rank       int
	streams    []*otf2Stream // by id
	first      int32         // number of the first one among those of all ranks
	pieces     [][]otf2Call  // of its calls, in order
	references []timeline.Reference
}

// attach finds out which calls launched the activities of a process, and what else they say about its streams.
func (p *otf2Rank) attach(c *conversion, tl *timeline.Timeline) {
	p.findCalls(c, tl)
	referenced := false
	for c := range p.calls {
		referenced = referenced || c.has(hasStream) && c.has(launchCall|copyCall)
	}
	p.findLaunches(launchCall, referenced)
	p.findLaunches(copyCall, referenced)
	p.findReferences()
	p.pieces = nil
}

// findCalls finds the calls of all threads in the timeline.
func (p *otf2Rank) findCalls(c *conversion, tl *timeline.Timeline) {
	var threads []int
	for i := hostsOf(c.Locations, p.rank); i < len(c.Locations) && c.Locations[i].Rank == p.rank; i++ {
		if c.deviceCalls[i] != nil {
			threads = append(threads, i)
		}
	}
	slices.SortFunc(threads, func(x, y int) int { return cmp.Compare(c.Locations[x].ID, c.Locations[y].ID) })
	for _, i := range threads {
		location, ok := slices.BinarySearchFunc(tl.Locations, &c.Locations[i], func(x timeline.Location, y *Location) int {
			return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Thread, y.Thread))
		})
		if pieces := c.deviceCalls[i].pieces; ok {
			placeCalls(tl, int32(location), c.clocks.of(i), pieces)
			p.pieces = append(p.pieces, pieces...)
		}
		c.deviceCalls[i] = nil
	}
	if len(threads) > 1 {
		all := slices.Concat(p.pieces...)
		slices.SortStableFunc(all, func(x, y otf2Call) int { return cmp.Compare(x.enter, y.enter) })
		p.pieces = [][]otf2Call{all}
	}
}

// calls calls visit for all calls in order.
func (p *otf2Rank) calls(visit func(*otf2Call) bool) {
	for _, piece := range p.pieces {
		for i := range piece {
			if !visit(&piece[i]) {
				return
			}
		}
	}
}

// hostsOf is the index of the first location of a rank.
func hostsOf(locations []Location, rank int) int {
	first, _ := slices.BinarySearchFunc(locations, rank, func(l Location, rank int) int { return cmp.Compare(l.Rank, rank) })
	return first
}

// placeCalls finds the calls of a thread in the timeline. Those that are not there, as recording was off, are left out.
func placeCalls(tl *timeline.Timeline, location int32, at locationClock, pieces [][]otf2Call) {
	calls := &tl.Locations[location].Calls
	next, n := 0, calls.Len()
	for k, piece := range pieces {
		placed := piece[:0]
		for _, c := range piece {
			c.enter, _ = at.correct(int64(c.enter))
			for next < n && (calls.Enter[next] < c.enter ||
				calls.Enter[next] == c.enter && tl.Paths[calls.Path[next]].Region != timeline.RegionID(c.region)) {
				next++
			}
			if next < n && calls.Enter[next] == c.enter {
				c.at = timeline.Launch{Thread: location, Call: int32(next)}
				placed = append(placed, c)
				next++
			}
		}
		pieces[k] = placed
	}
}

// launchQueue are activities in order, of which each gets the next call.
type launchQueue struct {
	acts []*otf2Activity
	next int
}

// take gives the next activity its launch. If one of them would begin before its launch, all stay unknown.
func (q *launchQueue) take(c *otf2Call) {
	switch {
	case q == nil || q.next == len(q.acts):
	case q.acts[q.next].begin < c.enter:
		for _, x := range q.acts {
			x.launch = timeline.NoLaunch
		}
		q.next = len(q.acts)
	default:
		q.acts[q.next].launch = c.at
		q.next++
	}
}

// findLaunches finds which calls launched kernels or copies: by the streams that calls refer to, if some do.
func (p *otf2Rank) findLaunches(kind callTraits, referenced bool) {
	queues := make([]launchQueue, len(p.streams))
	for i, s := range p.streams {
		queues[i].acts = s.list(kind == copyCall)
	}
	queueOf := func(c *otf2Call) *launchQueue {
		if i := p.stream(c.stream); i >= 0 && c.has(hasStream) {
			return &queues[i]
		}
		return nil
	}
	if !referenced {
		queueOf = queueWithoutReference(queues)
	}
	for c := range p.calls {
		if c.has(kind) {
			queueOf(c).take(c)
		}
	}
}

// queueWithoutReference finds the activities that a call may have launched if no call refers to a stream: those of its call site, or, if
// there are no call sites and only one stream has activities, all of them.
func queueWithoutReference(queues []launchQueue) func(*otf2Call) *launchQueue {
	queues = slices.DeleteFunc(queues, func(q launchQueue) bool { return len(q.acts) == 0 })
	var all launchQueue
	for _, q := range queues {
		all.acts = append(all.acts, q.acts...)
	}
	slices.SortStableFunc(all.acts, func(x, y *otf2Activity) int { return cmp.Compare(x.begin, y.begin) })
	sites := map[uint64]*launchQueue{}
	for _, x := range all.acts {
		if !x.hasSite {
			continue
		}
		q := sites[x.callsite]
		if q == nil {
			q = &launchQueue{}
			sites[x.callsite] = q
		}
		q.acts = append(q.acts, x)
	}
	return func(c *otf2Call) *launchQueue {
		switch {
		case len(sites) > 0 && c.has(hasCallsite):
			return sites[c.callsite]
		case len(sites) == 0 && len(queues) == 1 && !c.has(innerCall):
			return &all
		}
		return nil
	}
}

// list are the activities of a stream that are copies, or those that are not.
func (s *otf2Stream) list(copies bool) []*otf2Activity {
	count := 0
	for i := range s.acts {
		if s.acts[i].copy == copies {
			count++
		}
	}
	list := make([]*otf2Activity, 0, count)
	for i := range s.acts {
		if s.acts[i].copy == copies {
			list = append(list, &s.acts[i])
		}
	}
	return list
}

// stream is the place of a stream among those of the process, -1 if it is not one of them.
func (p *otf2Rank) stream(id uint64) int {
	if i, ok := slices.BinarySearchFunc(p.streams, id, func(s *otf2Stream, id uint64) int { return cmp.Compare(s.ID, id) }); ok {
		return i
	}
	return -1
}

// findReferences finds what calls say about streams and events.
func (p *otf2Rank) findReferences() {
	count := 0
	for c := range p.calls {
		if c.has(hasStream | hasEvent) {
			count++
		}
	}
	p.references = make([]timeline.Reference, 0, count)
	stream := func(id uint64) int32 {
		if i := p.stream(id); i >= 0 {
			return p.first + int32(i)
		}
		return timeline.NoStream
	}
	records := map[uint64]*otf2Call{} // by event, the last one so far
	for c := range p.calls {
		if !c.has(hasStream | hasEvent) {
			continue
		}
		r := timeline.Reference{Location: c.at.Thread, Call: c.at.Call, Stream: -1, Device: -1, Event: -1, Recorded: c.enter}
		if c.has(hasStream) {
			r.Stream = stream(c.stream)
		}
		if c.has(hasEvent) {
			if record := records[c.event]; record != nil && record.enter < c.enter && record.has(hasStream) {
				r.Event, r.Recorded = max(stream(record.stream), -1), record.enter
			}
		}
		p.references = append(p.references, r)
		if c.has(hasEvent) && c.has(recordCall) {
			records[c.event] = c
		}
	}
}

// addKernelsInOrder finds the collectives of kernels whose groups the trace does not name: if all ranks have the same sequence of
// operations, the k-th ones belong together.
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
			op := device.Op{Rank: int32(s.Rank), Stream: int32(i), Act: int32(j), Name: device.KernelOperation(tl.RegionOf(s.Path[j]).Name),
				Ranks: ranks, Root: -1, Peer: -1, Sequence: -1}
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
	var first []string
	for i, r := range ranks {
		own := names(byRank[r])
		if i == 0 {
			first = own
		}
		if !slices.Equal(own, first) {
			return
		}
		for _, op := range byRank[r] {
			if known, ok := device.Operation(op.Name); ok && !known.Rooted() {
				all = append(all, op)
			}
		}
	}
	device.Match(d, all, func(int32) bool { return true }, func(string, ...any) {})
}
