package trace

// otf2EventWriter writes the events of a location.
type otf2EventWriter struct {
	w     *otf2Writer
	out   *otf2Chunks
	rank  uint32
	last  uint64 // time stamp
	begun bool
	open  []uint32 // calling contexts of the open calls, undefined32 if they have none
	r     otf2Record
}

// otf2EventRoom is the largest number of bytes that an event takes with its time stamp, but for the begin of a
// program, whose arguments count.
const otf2EventRoom = 9 + otf2SkipRecords*otf2Frame + 60

// write writes an event.
func (w *otf2EventWriter) write(e *Event) error {
	if e.Kind == Other {
		return nil
	}
	room := otf2EventRoom
	if e.Kind == ProgramBegin {
		room += 5 * len(w.w.t.Command)
	}
	fresh := w.out.room(room)
	if now := w.w.ticks(e.Time); fresh || !w.begun || now != w.last {
		w.out.b = append(w.out.b, otf2Timestamp, byte(now), byte(now>>8), byte(now>>16), byte(now>>24),
			byte(now>>32), byte(now>>40), byte(now>>48), byte(now>>56))
		w.last, w.begun = now, true
	}
	w.out.count++
	w.r.reset()
	switch e.Kind {
	case Enter, Leave:
		w.call(e)
	case Send:
		w.message(evtSend, e)
	case Isend:
		w.message(evtIsend, e)
	case Recv:
		w.message(evtRecv, e)
	case IrecvDone:
		w.message(evtIrecv, e)
	case IsendDone:
		w.plain64(evtIsendComplete, e.Request)
	case IrecvPost:
		w.plain64(evtIrecvRequest, e.Request)
	case RequestTest:
		w.plain64(evtRequestTest, e.Request)
	case RequestCancelled:
		w.plain64(evtRequestCancelled, e.Request)
	case CollectiveBegin:
		w.out.record(evtCollectiveBegin, &w.r)
	case CollectiveEnd:
		w.collective(evtCollectiveEnd, e)
	case CollectiveDone:
		w.collective(evtCollectiveDone, e)
	case CollectiveIssue:
		w.r.u64(e.Request)
		w.out.record(evtCollectiveRequest, &w.r)
	default:
		w.rare(e)
	}
	return w.out.err
}

// plain32 and plain64 write an event without length.
func (w *otf2EventWriter) plain32(id uint8, v uint32) {
	w.r.u32(v)
	w.out.b = append(append(w.out.b, id), w.r.b...)
}

func (w *otf2EventWriter) plain64(id uint8, v uint64) {
	w.r.u64(v)
	w.out.b = append(append(w.out.b, id), w.r.b...)
}

// call writes the begin or the end of a call, with its context if that is known.
func (w *otf2EventWriter) call(e *Event) {
	if e.Kind == Enter {
		context := uint32(undefined32)
		if e.Stack != 0 {
			context = w.w.contexts[Stack{e.Stack, e.Region}]
			w.r.u32(context)
			w.r.u32(undefined32) // how far the stack was unwound
			w.out.record(evtContextEnter, &w.r)
		} else {
			w.plain32(evtEnter, e.Region)
		}
		w.open = append(w.open, context)
		return
	}
	if n := len(w.open); n > 0 {
		context := w.open[n-1]
		w.open = w.open[:n-1]
		if context != undefined32 && w.w.regionOf(context) == e.Region {
			w.r.u32(context)
			w.out.record(evtContextLeave, &w.r)
			return
		}
	}
	w.plain32(evtLeave, e.Region)
}

// regionOf returns the region of a calling context.
func (w *otf2Writer) regionOf(context uint32) uint32 {
	if at := int(context) + 1; at < len(w.t.Stacks) {
		return w.t.Stacks[at].Region
	}
	return w.extra[int(context)-max(len(w.t.Stacks)-1, 0)].Region
}

func (w *otf2EventWriter) message(id uint8, e *Event) {
	w.r.u32(uint32(e.Peer))
	w.r.u32(e.Comm)
	w.r.u32(uint32(e.Tag))
	w.r.u64(uint64(e.Size))
	if id == evtIsend || id == evtIrecv {
		w.r.u64(e.Request)
	}
	w.out.record(id, &w.r)
}

func (w *otf2EventWriter) collective(id uint8, e *Event) {
	w.r.u8(uint8(e.Op))
	w.r.u32(e.Comm)
	w.r.u32(uint32(e.Root))
	w.r.u64(uint64(e.Sent))
	w.r.u64(uint64(e.Received))
	if id == evtCollectiveDone {
		w.r.u64(e.Request)
	}
	w.out.record(id, &w.r)
}

// rare writes an event that is not about MPI.
func (w *otf2EventWriter) rare(e *Event) {
	id := uint8(0)
	switch e.Kind {
	case Fork:
		id = evtThreadFork
		w.r.u8(paradigmOpenMP)
		w.r.u32(uint32(e.Size))
	case Join:
		id = evtThreadJoin
		w.r.u8(paradigmOpenMP)
	case TeamBegin, TeamEnd:
		id = evtTeamBegin
		if e.Kind == TeamEnd {
			id = evtTeamEnd
		}
		w.r.u32(w.w.team(w.rank))
	case Sample:
		id = evtContextSample
		w.r.u32(e.Stack - 1) // of an empty stack: undefined
		w.r.u32(undefined32)
		w.r.u32(0) // the interrupt generator
	case Polls, NoCPU, ThreadBegin, ThreadEnd:
		id = evtParameterUnsigned
		w.r.u32(uint32(otf2Parameter(e.Kind)))
		w.r.u64(uint64(e.Size))
	case SkippedSends, SkippedReceives, SkippedCollectives:
		w.skipped(e)
		return
	case RecordingOff, RecordingOn:
		id = evtMeasurementOnOff
		mode := uint8(measurementOn)
		if e.Kind == RecordingOff {
			mode = measurementOff
		}
		w.r.u8(mode)
	case CommCreate, CommDestroy:
		id = evtCommCreate
		if e.Kind == CommDestroy {
			id = evtCommDestroy
		}
		w.r.u32(e.Comm)
	case ProgramBegin:
		id = evtProgramBegin
		w.w.program(&w.r)
	case ProgramEnd:
		id = evtProgramEnd
		w.r.u64(uint64(e.Size))
	}
	w.out.record(id, &w.r)
}

// team is the communicator of the threads of a rank.
func (w *otf2Writer) team(rank uint32) uint32 { return uint32(len(w.t.Comms)) + rank }

// program writes name and arguments of the program. Strings 1 and up are theirs.
func (w *otf2Writer) program(r *otf2Record) {
	command := w.t.Command
	if len(command) == 0 {
		r.u32(0)
		r.u32(0)
		return
	}
	r.u32(1)
	r.u32(uint32(len(command) - 1))
	for i := range command[1:] {
		r.u32(uint32(i + 2))
	}
}
