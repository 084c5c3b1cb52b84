package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/otf2"
)

// openEvents opens the events of location i.
func (a *otf2Archive) openEvents(i int) (EventReader, error) {
	return a.openReader(&a.trace.Locations[i], a.clocks[i])
}

// openReader opens the events of a location.
func (a *otf2Archive) openReader(l *Location, clock otf2.Clock) (*otf2Reader, error) {
	name := a.eventFile(l)
	f, file, err := a.open(name, a.anchor.EventChunk)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && l.Events == 0 && !l.Missing {
			return &otf2Reader{err: io.EOF, local: &otf2.Local{}}, nil
		}
		return nil, damage.At(a.src.showBeside(name), -1, "the events are missing: %v", err)
	}
	if err := f.NextChunk(); err != nil {
		file.Close()
		return nil, f.Damage(err)
	}
	local, lost := a.readLocal(l)
	sum, summed := a.sums[l.ID]
	r := &otf2Reader{
		f: f, file: file, clock: clock, stacks: a.trace.Stacks, announced: l.Events, sum: uint32(sum >> 32), summed: summed,
		regions: a.regions.Mapped(&local.Maps[otf2.MapRegion]), comms: a.comms.Mapped(&local.Maps[otf2.MapComm]),
		contexts: a.contexts.Mapped(&local.Maps[otf2.MapContext]), self: a.self, rank: uint32(l.Rank),
		kinds: a.kinds, skips: a.skips, parameters: local.Maps[otf2.MapParameter], objects: a.objectsOf(local),
		metrics: a.metrics, classes: local.Maps[otf2.MapMetric], local: local, lost: lost,
		callsites: a.callsites.Mapped(&local.Maps[otf2.MapParameter]),
	}
	return r, nil
}

// otf2Reader turns the records of a location into events, one each.
type otf2Reader struct {
	f          *otf2.File
	file       fs.File
	clock      otf2.Clock
	ticks      uint64 // of the time stamp before
	now        int64  // that in picoseconds
	begun      bool
	regions    otf2.Indices
	comms      otf2.Indices
	contexts   otf2.Indices
	self       map[uint32]bool
	rank       uint32
	stacks     []Stack
	kinds      map[uint32]Kind
	skips      map[uint32]int
	skip       Event // what is skipped, as far as it was read
	partial    bool  // the last record is only a part of an event
	parameters otf2.Map
	objects    otf2Objects
	local      *otf2.Local
	lost       error // of the local definitions; for threads it was said when the archive was opened
	callsites  otf2.Indices
	calls      *otf2Calls // that have to do with devices; nil: they are not kept
	metrics    map[uint32][]otf2Metric
	classes    otf2.Map
	totals     map[uint32]uint64 // of metrics whose values are increments
	counts     []Event           // of the last record of metrics
	given      int               // of these
	announced  uint64
	sum        uint32 // of the file
	summed     bool   // it is known
	read       uint64
	record     otf2.Event
	err        error
}

// Close implements EventReader.
func (r *otf2Reader) Close() error {
	if r.file == nil { // there are no events
		return nil
	}
	return r.file.Close()
}

// Read implements EventReader.
func (r *otf2Reader) Read(events []Event) (int, error) {
	for i := range events {
		if r.err == nil {
			r.err = r.next(&events[i])
		}
		if r.err != nil {
			if i > 0 {
				return i, nil
			}
			return 0, r.err
		}
	}
	return len(events), nil
}

// next reads an event. What was skipped is several records.
func (r *otf2Reader) next(e *Event) error {
	if r.file == nil {
		return r.err
	}
	if r.given < len(r.counts) {
		*e = r.counts[r.given]
		r.given++
		return nil
	}
	for {
		r.partial = false
		if err := r.nextRecord(e); err != nil || !r.partial {
			return err
		}
	}
}

func (r *otf2Reader) nextRecord(e *Event) error {
	err := r.f.Event(&r.record)
	if errors.Is(err, io.EOF) {
		switch {
		case r.announced == otf2.Undefined64:
		case r.read < r.announced:
			return r.f.Damage(fmt.Errorf("the file ends after %d events, but %d are announced", r.read, r.announced))
		case r.read > r.announced && r.announced > 0:
			return r.f.Damage(fmt.Errorf("the file has %d events, but %d are announced", r.read, r.announced))
		}
		if r.summed {
			if err := r.f.CheckSum(r.sum); err != nil {
				return err
			}
		}
		if d := r.objects.archive.defs; r.begun && d.Length > 0 && len(r.local.Offsets) < 2 && r.ticks-d.GlobalOffset > d.Length {
			what := fmt.Sprintf("the last event is at tick %d, but the run has %d ticks from %d on", r.ticks, d.Length, d.GlobalOffset)
			return &damage.Error{File: r.f.Show, Offset: -1, What: what, Whole: true}
		}
		return io.EOF
	}
	if err != nil {
		return err
	}
	r.read++
	if r.record.Time != r.ticks || !r.begun {
		ps, ok := r.clock.Time(r.record.Time)
		if !ok || r.begun && ps < r.now {
			return r.f.Damage(fmt.Errorf("the time %d is out of range or before that of the event before it", r.record.Time))
		}
		r.ticks, r.now, r.begun = r.record.Time, ps, true
	}
	*e = Event{Time: r.now}
	if id, v := r.record.ID, r.record.Value; (id == otf2.EvtEnter || id == otf2.EvtLeave || id == otf2.EvtOmpFork) && v > math.MaxUint32 &&
		v != otf2.Undefined64 {
		return r.f.Damage(otf2.ErrBad)
	}
	err = r.translate(e)
	if err == nil && r.record.Body.Bad {
		err = otf2.ErrBad
	}
	if err != nil {
		return r.f.Damage(err)
	}
	if e.Kind <= Leave {
		r.objects.call(e)
	}
	if r.calls != nil {
		r.calls.take(r, e)
	}
	return nil
}

// translate fills an event from the record being read.
func (r *otf2Reader) translate(e *Event) error {
	b := &r.record.Body
	e.Kind = otf2Kinds[r.record.ID]
	var ok bool
	switch r.record.ID {
	case otf2.EvtEnter, otf2.EvtLeave:
		if e.Region, ok = r.regions.Get(uint32(r.record.Value)); !ok {
			return fmt.Errorf("region %d is not defined", uint32(r.record.Value))
		}
	case otf2.EvtSend, otf2.EvtRecv:
		return r.message(e)
	case otf2.EvtIsend, otf2.EvtIrecv:
		err := r.message(e)
		e.Request = b.U64()
		return err
	case otf2.EvtIsendComplete, otf2.EvtIrecvRequest, otf2.EvtRequestTest, otf2.EvtRequestCancelled:
		e.Request = r.record.Value
	case otf2.EvtCollectiveEnd:
		return r.collective(e)
	case otf2.EvtCollectiveRequest:
		e.Request = b.U64()
	case otf2.EvtCollectiveDone:
		err := r.collective(e)
		if e.Kind == Other { // whatever it is, its request ends
			e.Kind = RequestCancelled
		}
		e.Request = b.U64()
		return err
	default:
		return r.translateRare(e)
	}
	return nil
}

// translateRare fills an event from a record that is not about MPI.
func (r *otf2Reader) translateRare(e *Event) error {
	b := &r.record.Body
	switch r.record.ID {
	case otf2.EvtMeasurementOnOff:
		switch b.U8() {
		case otf2.MeasurementOn:
			e.Kind = RecordingOn
		case otf2.MeasurementOff:
			e.Kind = RecordingOff
		}
	case otf2.EvtOmpFork:
		e.Size = int64(uint32(r.record.Value))
	case otf2.EvtThreadFork:
		b.U8() // paradigm
		e.Size = int64(b.U32())
	case otf2.EvtParameterUnsigned:
		id := uint32(r.parameters.Global(uint64(b.U32())))
		if kind, ok := r.kinds[id]; ok {
			e.Kind, e.Size = kind, int64(b.U64())
		} else if field, ok := r.skips[id]; ok {
			return r.skipped(e, field, b.U64())
		}
	case otf2.EvtContextEnter, otf2.EvtContextLeave, otf2.EvtContextSample:
		id := b.U32()
		context, ok := r.contexts.Get(id)
		switch {
		case !ok && id == otf2.Undefined32 && e.Kind == Sample: // of an empty stack
		case !ok:
			return fmt.Errorf("calling context %d is not defined", id)
		case e.Kind == Sample:
			e.Stack = context
		case e.Kind == Enter:
			e.Region, e.Stack = r.stacks[context].Region, r.stacks[context].Parent
		default:
			e.Region = r.stacks[context].Region
		}
	case otf2.EvtMetric:
		r.count(e)
	case otf2.EvtProgramEnd:
		e.Size = int64(b.U64())
	case otf2.EvtCommCreate, otf2.EvtCommDestroy:
		var ok bool
		if e.Comm, ok = r.comm(b.U32()); !ok { // of threads
			e.Kind, e.Comm = Other, 0
		}
	default:
		if id := r.record.ID; id >= otf2.EvtWinCreate && id <= otf2.EvtFileEnd && (id <= otf2.EvtCompleteRemote || id >= otf2.EvtFileOpen) {
			return r.translateObject(e)
		}
	}
	return nil
}

// comm returns the index of a communicator.
func (r *otf2Reader) comm(id uint32) (uint32, bool) {
	index, ok := r.comms.Get(id)
	if ok && len(r.self) > 0 && r.self[index] {
		index += r.rank
	}
	return index, ok
}

// message reads the fields that all messages have.
func (r *otf2Reader) message(e *Event) error {
	b := &r.record.Body
	e.Peer = int32(b.U32())
	id := b.U32()
	e.Tag, e.Size = int32(b.U32()), int64(b.U64())
	var ok bool
	if e.Comm, ok = r.comm(id); !ok {
		return fmt.Errorf("communicator %d is not defined", id)
	}
	return nil
}

// collective reads the fields that all collectives have. Operations that are not known become Other.
func (r *otf2Reader) collective(e *Event) error {
	b := &r.record.Body
	op, id := b.U8(), b.U32()
	e.Root, e.Sent, e.Received = int32(b.U32()), int64(b.U64()), int64(b.U64())
	if op >= otf2Ops {
		*e = Event{Time: e.Time, Kind: Other}
		return nil
	}
	e.Op = timeline.Op(op)
	var ok bool
	if e.Comm, ok = r.comm(id); !ok {
		return fmt.Errorf("communicator %d is not defined", id)
	}
	return nil
}

// otf2Ops is the number of collective operations that OTF2 has.
const otf2Ops = uint8(timeline.OpDestroyHandleDeallocate) + 1

// What was skipped while recording was off are three parameters, one after the other: the channel, the communicator, and
// how many sends, receives or collectives.

// otf2SkipRecords is the number of records for one event.
const otf2SkipRecords = 3

// otf2SkipFields are the ends of the names of the parameters.
var otf2SkipFields = []string{"CHANNEL", "COMM", "SENDS", "RECEIVES", "COLLECTIVES"}

// otf2SkipParameter is the number of the parameter of a field: after those of otf2Parameters.
func otf2SkipParameter(field int) int { return len(otf2Parameters) + field }

// The fields.
const (
	skipChannel = iota
	skipComm
	skipKinds // and those after it: kinds of events
)

// skipped writes what was skipped.
func (w *otf2EventWriter) skipped(e *Event) {
	values := [otf2SkipRecords]uint64{uint64(uint32(e.Peer))<<32 | uint64(uint32(e.Tag)), uint64(e.Comm), uint64(e.Size)}
	fields := [otf2SkipRecords]int{skipChannel, skipComm, skipKinds + int(e.Kind-SkippedSends)}
	for i, v := range values {
		w.r.Reset()
		w.r.U32(uint32(otf2SkipParameter(fields[i])))
		w.r.U64(v)
		w.out.Record(otf2.EvtParameterUnsigned, &w.r)
	}
	w.out.Count += otf2SkipRecords - 1
}

// skipped reads a field of what was skipped; the last one makes the event.
func (r *otf2Reader) skipped(e *Event, field int, v uint64) error {
	r.partial = field < skipKinds
	switch field {
	case skipChannel:
		r.skip.Peer, r.skip.Tag = int32(v>>32), int32(uint32(v))
	case skipComm:
		var ok bool
		if r.skip.Comm, ok = r.comm(uint32(v)); !ok {
			return fmt.Errorf("communicator %d is not defined", uint32(v))
		}
	default:
		*e = Event{Time: e.Time, Kind: SkippedSends + Kind(field-skipKinds), Size: int64(v), Comm: r.skip.Comm}
		if e.Kind != SkippedCollectives {
			e.Peer, e.Tag = r.skip.Peer, r.skip.Tag
		}
		r.skip = Event{}
	}
	return nil
}
