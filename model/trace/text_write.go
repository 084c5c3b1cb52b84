package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"slackline/model/timeline"
	"slackline/model/trace/streams"
	"slackline/model/unit"
)

// textWriter is the state of writing a text.
type textWriter struct {
	w       io.Writer
	d       *Definitions
	regions []string // keys
	comms   []string
	windows []string
	files   []string
	metrics []string
	unit    uint64 // of times, in ps
	b       []byte
	err     error

	open    []uint32 // calls whose begin stands above
	pending *Event   // a call that may fit into one line
	records []Event  // in it
}

// writeText writes a trace as text.
func writeText(out io.Writer, t *Trace, o WriteOptions) ([]string, error) {
	t, devices, err := t.accelerators(&o)
	if err != nil {
		return nil, err
	}
	w := &textWriter{w: out, d: &t.Definitions, unit: uint64(unit.Nanosecond)}
	w.definitions()
	var warnings []string
	for i := range t.Locations {
		l := &t.Locations[i]
		if err := t.checkOrder(i); err != nil {
			return warnings, err
		}
		w.location(l)
		_, damage, err := t.eachChecked(i, &o, func(e *Event) error {
			w.event(e)
			return w.err
		})
		if err != nil {
			return warnings, err
		}
		if damage != nil {
			warnings = append(warnings, damage.Error())
			w.print("# the trace was damaged here\n")
		}
		w.flush()
		if len(w.open) > 0 {
			w.print("...\n")
			w.open = w.open[:0]
		}
	}
	if devices != nil {
		err = streams.Records(devices, w.device)
	}
	w.drain(0)
	return warnings, cmp.Or(w.err, err)
}

// device writes a record of what ran on accelerators.
func (w *textWriter) device(r streams.Record) error {
	w.b = append(append(w.b, "device "...), streams.Words[r.Word]...)
	for _, n := range r.Numbers {
		w.b = strconv.AppendInt(append(w.b, ' '), n, 10)
	}
	if r.Word.Named() {
		w.b = strconv.AppendQuote(append(w.b, ' '), r.Name)
	}
	w.print("\n")
	return w.err
}

// print appends to the text.
func (w *textWriter) print(format string, args ...any) {
	w.b = fmt.Appendf(w.b, format, args...)
	w.drain(1 << 16)
}

// drain writes the text if there is more than so much of it.
func (w *textWriter) drain(most int) {
	if len(w.b) > most && w.err == nil {
		_, w.err = w.w.Write(w.b)
		w.b = w.b[:0]
	}
}

// quoted is a word in quotes if it needs them.
func quoted(s string) string { return string(appendWord(nil, s)) }

// keysOf returns keys for things with names: the names themselves, with a number where they are not unique.
func keysOf[T any](list []T, nameOf func(*T) string) []string {
	keys := make([]string, len(list))
	seen := map[string]bool{}
	for i := range list {
		name := nameOf(&list[i])
		key := name
		for k := 2; seen[key] || key == ""; k++ {
			key = name + "#" + strconv.Itoa(k)
		}
		seen[key] = true
		keys[i] = key
	}
	return keys
}

// appendTime appends a time in ns.
func appendTime(b []byte, ps int64) []byte { return unit.Duration(ps).AppendNS(b) }

// time appends a time in the unit of the text.
func (w *textWriter) time(b []byte, ps int64) []byte {
	magnitude := uint64(ps)
	if ps < 0 {
		b, magnitude = append(b, '-'), -magnitude
	}
	b = strconv.AppendUint(b, magnitude/w.unit, 10)
	rest := magnitude % w.unit
	for place, first := w.unit, true; rest > 0; first = false {
		if first {
			b = append(b, '.')
		}
		place /= 10
		b = append(b, byte('0'+rest/place))
		rest %= place
	}
	return b
}

// mostRecords is how many records stand in a line with their call.
const mostRecords = 8

// event writes an event, or keeps it until it is clear how.
func (w *textWriter) event(e *Event) {
	switch {
	case e.Kind == Enter:
		w.flush()
		kept := *e
		w.pending = &kept
	case e.Kind == Leave && w.pending != nil && w.pending.Region == e.Region:
		w.line(e.Time)
	case e.Kind == Leave:
		w.flush()
		if n := len(w.open); n > 0 && w.open[n-1] == e.Region {
			w.open = w.open[:n-1]
			w.indent()
			w.b = append(w.time(append(w.b, "} "...), e.Time), '\n')
		} else {
			w.indent()
			w.b = append(w.time(append(w.b, "leave "...), e.Time), ' ')
			w.b = append(appendWord(w.b, w.regions[e.Region]), '\n')
		}
	case w.pending != nil && len(w.records) < mostRecords:
		kept := *e
		kept.Counts = slices.Clone(e.Counts)
		w.records = append(w.records, kept)
	default:
		w.flush()
		w.recordLine(e)
	}
	w.drain(1 << 16)
}

func (w *textWriter) indent() {
	for range len(w.open) {
		w.b = append(w.b, "  "...)
	}
}

// line writes the pending call in one line.
func (w *textWriter) line(end int64) {
	w.indent()
	w.b = append(w.time(w.b, w.pending.Time), ".."...)
	w.b = append(w.time(w.b, end), ' ')
	w.callName()
	for i := range w.records {
		e := &w.records[i]
		sign := "; "
		if i == 0 {
			sign = ": "
		}
		w.b = append(w.b, sign...)
		usual := end
		if begins(e.Kind) {
			usual = w.pending.Time
		}
		if e.Time != usual {
			w.b = append(w.time(append(w.b, '@'), e.Time), ' ')
		}
		w.record(e)
	}
	w.b = append(w.b, '\n')
	w.pending, w.records = nil, w.records[:0]
}

// callName writes name and stack of the pending call.
func (w *textWriter) callName() {
	w.b = appendWord(w.b, w.regions[w.pending.Region])
	if w.pending.Stack != 0 {
		w.b = strconv.AppendUint(append(w.b, " stack "...), uint64(w.pending.Stack), 10)
	}
}

// flush writes the start of the pending call and its records, because it does not fit into one line.
func (w *textWriter) flush() {
	if w.pending == nil {
		return
	}
	w.indent()
	w.b = append(w.time(w.b, w.pending.Time), ' ')
	w.callName()
	w.b = append(w.b, " {\n"...)
	w.open = append(w.open, w.pending.Region)
	w.pending = nil
	for i := range w.records {
		w.recordLine(&w.records[i])
	}
	w.records = w.records[:0]
}

// recordLine writes a record in a line of its own.
func (w *textWriter) recordLine(e *Event) {
	w.indent()
	w.b = append(w.time(append(w.b, '@'), e.Time), ' ')
	w.record(e)
	w.b = append(w.b, '\n')
}

// record writes what happened.
func (w *textWriter) record(e *Event) {
	b := w.b
	switch e.Kind {
	case Send, Isend, PartitionedSend:
		b = fmt.Appendf(b, "send to %d", e.Peer)
	case Recv, IrecvDone, PartitionedDone:
		b = fmt.Appendf(b, "recv from %d", e.Peer)
	case CollectiveEnd, CollectiveDone:
		b = append(b, e.Op.String()...)
	case Sample:
		b = fmt.Appendf(b, "sample %d", e.Stack)
	case NoCPU:
		w.b = w.time(append(b, "no-cpu "...), e.Size)
		return
	case Count:
		w.b = strconv.AppendUint(append(appendWord(append(b, "count "...), w.metrics[e.Object]), ' '), e.Request, 10)
		return
	case RecordingOn:
		b = append(b, "recording on"...)
	case RecordingOff:
		b = append(b, "recording off"...)
	case SkippedSends:
		b = fmt.Appendf(b, "skipped %d sends to %d", e.Size, e.Peer)
	case SkippedReceives:
		b = fmt.Appendf(b, "skipped %d receives from %d", e.Size, e.Peer)
	case SkippedCollectives:
		b = fmt.Appendf(b, "skipped %d collectives", e.Size)
	case CommCreate:
		b = appendWord(append(b, "comm-create "...), w.comms[e.Comm])
	case CommDestroy:
		b = appendWord(append(b, "comm-destroy "...), w.comms[e.Comm])
	default:
		w.b = b
		if fieldsOf[e.Kind]&useObject != 0 {
			w.object(e)
		} else {
			w.plain(e)
		}
		return
	}
	f := fieldsOf[e.Kind]
	if f&usePeer != 0 {
		if e.Kind < SkippedSends || f&useChannel != 0 {
			b = appendIf(b, " size ", e.Size, 0)
		}
		b = appendIf(b, " tag ", int64(e.Tag), 0)
	}
	if f&useOp != 0 {
		switch e.Root {
		case timeline.RootSelf:
			b = append(b, " root self"...)
		case timeline.RootGroup:
			b = append(b, " root group"...)
		default:
			b = appendIf(b, " root ", int64(e.Root), NoRoot)
		}
		b = appendIf(b, " sent ", e.Sent, 0)
		b = appendIf(b, " received ", e.Received, 0)
		for i, v := range e.Counts {
			sign := ","
			if i == 0 {
				sign = " counts "
			}
			b = strconv.AppendInt(append(b, sign...), v, 10)
		}
	}
	if (f&(usePeer|useOp) != 0 || e.Kind == SkippedCollectives) && e.Comm != 0 {
		b = appendWord(append(b, " comm "...), w.comms[e.Comm])
	}
	if f&useRequest != 0 {
		b = strconv.AppendUint(append(b, " request "...), e.Request, 10)
	}
	if f&useChannel != 0 {
		b = strconv.AppendUint(append(b, " channel "...), uint64(e.Object), 10)
	}
	w.b = b
}

// appendIf appends a value that is not the usual one.
func appendIf(b []byte, keyword string, v, usual int64) []byte {
	if v == usual {
		return b
	}
	return strconv.AppendInt(append(b, keyword...), v, 10)
}

// plain writes a record of a word and perhaps a number.
func (w *textWriter) plain(e *Event) {
	for _, words := range []map[string]Kind{textPlain, textRequests, textNumbers} {
		for name, kind := range words {
			if kind == e.Kind {
				w.b = append(w.b, name...)
			}
		}
	}
	switch f := fieldsOf[e.Kind]; {
	case f&useRequest != 0:
		w.b = strconv.AppendUint(append(w.b, ' '), e.Request, 10)
	case f&useSize != 0:
		w.b = strconv.AppendInt(append(w.b, ' '), e.Size, 10)
	}
}
