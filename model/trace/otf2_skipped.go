package trace

import "fmt"

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
	skipKinds // and those behind it: kinds of events
)

// skipped writes what was skipped.
func (w *otf2EventWriter) skipped(e *Event) {
	values := [otf2SkipRecords]uint64{uint64(uint32(e.Peer))<<32 | uint64(uint32(e.Tag)), uint64(e.Comm), uint64(e.Size)}
	fields := [otf2SkipRecords]int{skipChannel, skipComm, skipKinds + int(e.Kind-SkippedSends)}
	for i, v := range values {
		w.r.reset()
		w.r.u32(uint32(otf2SkipParameter(fields[i])))
		w.r.u64(v)
		w.out.record(evtParameterUnsigned, &w.r)
	}
	w.out.count += otf2SkipRecords - 1
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
