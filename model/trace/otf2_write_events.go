package trace

import (
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
}

// otf2EventRoom is the largest number of bytes that an event takes with its time stamp, but for the start of a
// program, whose arguments count.
const otf2EventRoom = 9 + otf2SkipRecords*otf2.Frame + 60

// write writes an event.
func (w *otf2EventWriter) write(e *Event) error {
	if e.Kind == Other || (e.Kind == CollectiveEnd || e.Kind == CollectiveDone) && e.Op.IsNeighbor() {
		return nil
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
