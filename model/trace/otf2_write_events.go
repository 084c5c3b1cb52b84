package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/otf2"
)

// otf2EventWriter writes the events of a location.
type otf2EventWriter struct {
	w     *otf2Writer
	out   *otf2.Writer
	rank  uint32
	last  uint64 // time stamp
	begun bool
	open  []uint32 // calling contexts of the open calls, undefined32 if they have none
	r     otf2.Record

	epochs *otf2Epochs

	starts   int               // of collectives, so far
	lost     map[int]bool      // of these
	calls    uint32            // so far
	launches map[uint32]uint64 // streams on which calls launched something, by number of the call
}

// otf2EventRoom is the largest number of bytes that an event takes with its time stamp, but for the start of a
// program, whose arguments count.
const otf2EventRoom = 9 + otf2SkipRecords*otf2.Frame + 60

// write writes an event.
func (w *otf2EventWriter) write(e *Event) error {
	if e.Kind == Other || (e.Kind == CollectiveEnd || e.Kind == CollectiveDone) && e.Op.IsNeighbor() {
		return nil
	}
	if e.Kind == CollectiveBegin || e.Kind == CollectiveIssue {
		if w.starts++; w.lost[w.starts-1] {
			return nil
		}
	}
	if fieldsOf[e.Kind]&(useWindow|useFile) != 0 {
		w.epochs.records(e, func(id uint8, fill func(r *otf2.Record)) {
			w.stamp(e.Time, otf2EventRoom)
			fill(&w.r)
			w.out.Record(id, &w.r)
		})
		return w.out.Err
	}
	room := otf2EventRoom
	if e.Kind == ProgramBegin {
		room += 5 * len(w.w.t.Command)
	}
	w.stamp(e.Time, room)
	switch e.Kind {
	case Enter, Leave:
		w.call(e)
	case SkippedSends, SkippedReceives, SkippedCollectives:
		w.skipped(e)
	case IsendDone, IrecvPost, RequestTest, RequestCancelled: // without length
		w.r.U64(e.Request)
		w.out.Buffer = append(append(w.out.Buffer, otf2Events[e.Kind]), w.r.Data...)
	default:
		w.fields(e)
		w.out.Record(otf2Events[e.Kind], &w.r)
	}
	return w.out.Err
}

// stamp begins a record of so many bytes: with its time, if that is another one than before.
func (w *otf2EventWriter) stamp(time int64, room int) {
	fresh := w.out.Room(room)
	if now := w.w.ticks(time); fresh || !w.begun || now != w.last {
		w.out.Buffer = append(w.out.Buffer, otf2.Timestamp, byte(now), byte(now>>8), byte(now>>16), byte(now>>24),
			byte(now>>32), byte(now>>40), byte(now>>48), byte(now>>56))
		w.last, w.begun = now, true
	}
	w.out.Count++
	w.r.Reset()
}

// plain writes an event of one number, without length.
func (w *otf2EventWriter) plain(id uint8, v uint32) {
	w.r.U32(v)
	w.out.Buffer = append(append(w.out.Buffer, id), w.r.Data...)
}

// call writes the start or the end of a call, with its context if that is known.
func (w *otf2EventWriter) call(e *Event) {
	if e.Kind == Enter {
		w.reference()
		context := uint32(otf2.Undefined32)
		if e.Stack != 0 {
			context = w.w.contexts[Stack{e.Stack, e.Region}]
			w.r.U32(context, otf2.Undefined32) // how far the stack was unwound is not known
			w.out.Record(otf2.EvtContextEnter, &w.r)
		} else {
			w.plain(otf2.EvtEnter, e.Region)
		}
		w.open = append(w.open, context)
		return
	}
	if n := len(w.open); n > 0 {
		context := w.open[n-1]
		w.open = w.open[:n-1]
		if context != otf2.Undefined32 && w.w.regionOf(context) == e.Region {
			w.r.U32(context)
			w.out.Record(otf2.EvtContextLeave, &w.r)
			return
		}
	}
	w.plain(otf2.EvtLeave, e.Region)
}

// reference names the stream on which a call launches something, as an attribute of the event that follows.
func (w *otf2EventWriter) reference() {
	if stream, ok := w.launches[w.calls]; ok {
		w.r.U32(1, 0)
		w.r.U8(otf2.AttributeLocation)
		w.r.U64(stream)
		w.out.Record(otf2.AttributeList, &w.r)
		w.r.Reset()
	}
	w.calls++
}

// regionOf returns the region of a calling context.
func (w *otf2Writer) regionOf(context uint32) uint32 {
	if at := int(context) + 1; at < len(w.t.Stacks) {
		return w.t.Stacks[at].Region
	}
	return w.extra[int(context)-max(len(w.t.Stacks)-1, 0)].Region
}

// fields writes the fields of an event that has a length.
func (w *otf2EventWriter) fields(e *Event) {
	r := &w.r
	switch e.Kind {
	case Send, Isend, Recv, IrecvDone, PartitionedSend, PartitionedDone:
		r.U32(uint32(e.Peer), e.Comm, uint32(e.Tag))
		r.U64(uint64(e.Size))
	case CollectiveEnd, CollectiveDone:
		r.U8(uint8(e.Op))
		r.U32(e.Comm, uint32(e.Root))
		r.U64(uint64(e.Sent), uint64(e.Received))
	case Fork:
		r.U8(otf2.ParadigmOpenMP)
		r.U32(uint32(e.Size))
	case Join:
		r.U8(otf2.ParadigmOpenMP)
	case TeamBegin, TeamEnd:
		r.U32(w.w.team(w.rank))
	case Sample:
		r.U32(e.Stack-1, otf2.Undefined32, 0) // an empty stack is undefined; the interrupt generator is 0
	case Polls, NoCPU, ThreadBegin, ThreadEnd:
		r.U32(uint32(otf2Parameter(e.Kind)))
		r.U64(uint64(e.Size))
	case Count:
		r.U32(e.Object)
		r.U8(1, otf2.TypeU64)
	case RecordingOff:
		r.U8(otf2.MeasurementOff)
	case RecordingOn:
		r.U8(otf2.MeasurementOn)
	case CommCreate, CommDestroy:
		r.U32(e.Comm)
	case ProgramBegin:
		w.w.program(r)
	case ProgramEnd:
		r.U64(uint64(e.Size))
	}
	if fieldsOf[e.Kind]&useRequest != 0 {
		r.U64(e.Request)
	}
}

// team is the communicator of the threads of a rank.
func (w *otf2Writer) team(rank uint32) uint32 { return uint32(len(w.t.Comms)) + rank }

// program writes name and arguments of the program. Strings 1 and up are theirs.
func (w *otf2Writer) program(r *otf2.Record) {
	command := w.t.Command
	if len(command) == 0 {
		r.U32(0, 0)
		return
	}
	r.U32(1, uint32(len(command)-1))
	for i := range command[1:] {
		r.U32(uint32(i + 2))
	}
}

// otf2StreamWriter writes the streams of accelerators as Score-P does: a location for each, in a group for each device, with kernels as
// regions and copies between host and device as one-sided operations. All methods do nothing if there are no streams.
type otf2StreamWriter struct {
	tl       *timeline.Timeline
	paradigm uint8
	word     string // of the paradigm
	ids      []uint64
	groups   []uint32          // of the devices, by stream
	regions  map[string]uint32 // of kernels
	names    []string          // of regions, in order
	window   uint32
	hosts    map[int]uint32 // places of the ranks in the communicator of the window
	skew     []bool         // by stream: its host has offsets, so that it needs some of its own
	launches map[[2]int]map[uint32]uint64
}

func newOTF2Streams(t *Trace, tl *timeline.Timeline) *otf2StreamWriter {
	if tl == nil {
		return nil
	}
	s := &otf2StreamWriter{tl: tl, paradigm: otf2.ParadigmCUDA, word: "CUDA", regions: map[string]uint32{}, window: uint32(len(t.Windows))}
	if slices.ContainsFunc(t.Regions, func(r timeline.Region) bool { return strings.HasPrefix(r.Name, "hip") }) {
		s.paradigm, s.word = otf2.ParadigmHIP, "HIP"
	}
	type device struct{ rank, number int }
	groups := map[device]uint32{}
	for i := range tl.Devices.Streams {
		stream := &tl.Devices.Streams[i]
		at := device{stream.Rank, stream.Device}
		if _, ok := groups[at]; !ok {
			groups[at] = uint32(t.Ranks + len(groups))
		}
		s.groups = append(s.groups, groups[at])
		for j := range stream.Len() {
			name := tl.RegionOf(stream.Path[j]).Name
			if _, ok := s.regions[name]; !ok && copyRecord(name) == 0 {
				s.regions[name] = uint32(len(t.Regions) + len(s.names))
				s.names = append(s.names, name)
			}
		}
	}
	return s
}

// copyRecord is the record of a copy between host and device; 0: it is not one.
func copyRecord(name string) uint8 {
	return map[string]uint8{"Memcpy HtoD": otf2.EvtGet, "Memcpy DtoH": otf2.EvtPut}[name]
}

// setIDs gives ids to the streams: those after the threads.
func (s *otf2StreamWriter) setIDs(w *otf2Writer) {
	if s == nil {
		return
	}
	next := uint64(0)
	offsets := map[int]bool{}
	for i, id := range w.ids {
		next = max(next, id+1)
		offsets[w.t.Locations[i].Rank] = offsets[w.t.Locations[i].Rank] || len(w.measured[i]) > 0
	}
	s.launches = map[[2]int]map[uint32]uint64{}
	for i := range s.tl.Devices.Streams {
		acts := &s.tl.Devices.Streams[i]
		id := next + uint64(i)
		s.ids, s.skew = append(s.ids, id), append(s.skew, offsets[acts.Rank])
		for _, l := range acts.Launch {
			if !l.Known() {
				continue
			}
			thread := [2]int{acts.Rank, s.tl.Locations[l.Thread].Thread}
			if s.launches[thread] == nil {
				s.launches[thread] = map[uint32]uint64{}
			}
			if _, ok := s.launches[thread][uint32(l.Call)]; !ok {
				s.launches[thread][uint32(l.Call)] = id
			}
		}
	}
}

// locations are the ids of the streams.
func (s *otf2StreamWriter) locations() []uint64 {
	if s == nil {
		return nil
	}
	return s.ids
}

func (s *otf2StreamWriter) count() int {
	if s == nil {
		return 0
	}
	return len(s.tl.Devices.Streams)
}

// exact reports whether all times are whole ticks.
func (s *otf2StreamWriter) exact(c otf2.Clock) bool {
	for i := range s.count() {
		acts := &s.tl.Devices.Streams[i]
		for _, t := range slices.Concat(acts.Begin, acts.End) {
			if _, ok := c.Ticks(int64(t)); !ok {
				return false
			}
		}
	}
	return true
}

// span is when the first activity begins and the last one ends, in ticks; false: there is none.
func (s *otf2StreamWriter) span(c otf2.Clock) (from, to int64, some bool) {
	for i := range s.count() {
		acts := &s.tl.Devices.Streams[i]
		if n := acts.Len(); n > 0 {
			begin, _ := c.Ticks(int64(acts.Begin[0]))
			end, _ := c.Ticks(int64(acts.End[n-1]))
			if !some {
				from, to, some = begin, end, true
			}
			from, to = min(from, begin), max(to, end)
		}
	}
	return from, to, some
}

// launchesOf are the streams on which the calls of a thread launched something, by number of the call.
func (s *otf2StreamWriter) launchesOf(l *Location) map[uint32]uint64 {
	if s == nil {
		return nil
	}
	return s.launches[[2]int{l.Rank, l.Thread}]
}

// defineLocations defines the devices and their streams; node is where a rank runs.
func (s *otf2StreamWriter) defineLocations(d *otf2.DefinitionWriter, node func(rank int) uint32) {
	for i := range s.count() {
		stream := &s.tl.Devices.Streams[i]
		if i == 0 || s.groups[i] != s.groups[i-1] {
			name := d.Text(fmt.Sprintf("%s Context %d", s.word, stream.Device))
			d.Add(otf2.DefLocationGroup, func(r *otf2.Record) {
				r.U32(s.groups[i], name)
				r.U8(otf2.GroupAccelerator)
				r.U32(node(stream.Rank), uint32(stream.Rank))
			})
		}
		text := stream.Name
		if !strings.HasPrefix(text, s.word) {
			text = s.word + "[" + text + "]"
		}
		name := d.Text(text)
		d.Add(otf2.DefLocation, func(r *otf2.Record) {
			r.U64(s.ids[i])
			r.U32(name)
			r.U8(otf2.LocationStream)
			r.U64(2 * uint64(stream.Len())) // a start and an end
			r.U32(s.groups[i])
		})
	}
	if s != nil {
		name := d.Text(otf2StreamRef)
		d.Add(otf2.DefAttribute, func(r *otf2.Record) {
			r.U32(0, name)
			r.U8(otf2.AttributeLocation)
			r.U32(0) // no description
		})
	}
}

// defineRegions defines kernels after so many other regions.
func (s *otf2StreamWriter) defineRegions(d *otf2.DefinitionWriter, others int) {
	if s == nil {
		return
	}
	for i, text := range s.names {
		name := d.Text(text)
		d.Add(otf2.DefRegion, func(r *otf2.Record) {
			r.U32(uint32(others+i), name, 0)
			r.U8(0)
			r.U32(0, 0, 0, name)
			r.U8(otf2.RoleKernel, s.paradigm)
			r.U32(0)
		})
	}
}

// defineWindow defines the window of all copies and its communicator: the masters of the ranks, then the streams.
func (s *otf2StreamWriter) defineWindow(d *otf2.DefinitionWriter, comm uint32, masters []uint64,
	group func(kind, paradigm uint8, members []uint64) uint32) {
	if s == nil {
		return
	}
	s.hosts = map[int]uint32{}
	var members, places []uint64
	for rank, id := range masters {
		if id != otf2.Undefined64 {
			s.hosts[rank] = uint32(len(members))
			members = append(members, id)
		}
	}
	members = append(members, s.ids...)
	for i := range members {
		places = append(places, uint64(i))
	}
	group(otf2.GroupCommLocations, s.paradigm, members)
	d.Comm(comm, d.Text(s.word+"_COMM"), group(otf2.GroupCommGroup, s.paradigm, places), 0)
	name := d.Text(s.word + "_WINDOW")
	d.Add(otf2.DefRmaWin, func(r *otf2.Record) { r.U32(s.window, name, comm, 0) })
}

// writeStream writes the files of a stream.
func (w *otf2Writer) writeStream(i int) error {
	s, stream := w.streams, &w.streams.tl.Devices.Streams[i]
	return w.writePair(len(w.t.Locations)+i, s.ids[i], func(out io.Writer) error {
		e := &otf2EventWriter{w: w, out: otf2.NewWriter(out, otf2EventChunk, false)}
		for j := range stream.Len() {
			name := s.tl.RegionOf(stream.Path[j]).Name
			e.stamp(int64(stream.Begin[j]), otf2EventRoom)
			record := copyRecord(name)
			if record == 0 {
				e.plain(otf2.EvtEnter, s.regions[name])
				e.stamp(int64(stream.End[j]), otf2EventRoom)
				e.plain(otf2.EvtLeave, s.regions[name])
				continue
			}
			e.r.U32(s.window, s.hosts[stream.Rank])
			e.r.U64(0, uint64(j)) // the size is not known; a matching id
			e.out.Record(record, &e.r)
			e.stamp(int64(stream.End[j]), otf2EventRoom)
			e.r.U32(s.window)
			e.r.U64(uint64(j))
			e.out.Record(otf2.EvtCompleteBlocking, &e.r)
		}
		return e.out.Finish()
	}, func(out io.Writer) error {
		c := otf2.NewWriter(out, otf2DefChunk, true)
		if s.skew[i] { // the times of streams are corrected already
			var r otf2.Record
			for _, t := range []uint64{0, w.clock.Resolution} {
				r.Reset()
				r.Full64(t)
				r.U64(0)
				r.F64(0)
				c.Room(len(r.Data) + otf2.Frame)
				c.Record(otf2.LocalClockOffset, &r)
			}
		}
		return c.Finish()
	})
}
