package trace

import (
	"cmp"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/device"
	"slackline/model/unit"
)

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

// otf2Rank is a process with streams.
type otf2Rank struct {
	streams []*otf2Stream
	calls   []otf2Call // in order
}

// isLaunch reports whether a call launches kernels, isCopy whether it copies.
func (c *otf2Call) isLaunch() bool {
	return (strings.HasPrefix(c.name, "cu") || strings.HasPrefix(c.name, "hip")) && strings.Contains(c.name, "Launch") &&
		!strings.Contains(c.name, "HostFunc") ||
		c.name == "clEnqueueNDRangeKernel"
}

func (c *otf2Call) isCopy() bool {
	for _, prefix := range []string{"cuMemcpy", "cudaMemcpy", "hipMemcpy", "clEnqueueReadBuffer", "clEnqueueWriteBuffer",
		"clEnqueueCopyBuffer"} {
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
				join(s.list(func(x *otf2Activity) bool { return x.copy == copies }), calls, func(c *otf2Call) bool {
					return c.hasStream &&
						c.stream == s.ID
				})
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
	for _, r := range ranks {
		if !slices.Equal(names(byRank[r]), names(byRank[ranks[0]])) {
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
