package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Perfetto's own format, for ui.perfetto.dev: protocol buffers, written as a stream. A rank is a process, a
// location a thread of it, a call a slice; an arrow leads from the call that sends a message to the call that
// receives it. Times are in nanoseconds since the start of the run; what is finer is rounded down.
//
// A file is a sequence of packets. Each location is a sequence of its own, so that names are sent once for
// each and the thread need not be named in every packet. The numbers of fields are those of
// protos/perfetto/trace in Perfetto's sources.
const (
	fieldPacket = 1 // of the file

	// TracePacket
	packetTimestamp   = 8
	packetSequence    = 10
	packetTrackEvent  = 11
	packetInterned    = 12
	packetFlags       = 13
	packetDefaults    = 59
	packetDescriptor  = 60
	flagStateCleared  = 1
	flagNeedsState    = 2
	defaultTrackEvent = 11

	// TrackDescriptor, ProcessDescriptor, ThreadDescriptor
	trackUUID    = 1
	trackProcess = 3
	trackThread  = 4
	processID    = 1
	processName  = 6
	threadPID    = 1
	threadTID    = 2
	threadName   = 5

	// TrackEvent
	eventCategory   = 3
	eventAnnotation = 4
	eventType       = 9
	eventName       = 10
	eventTrack      = 11
	eventFlow       = 47
	eventFlowEnd    = 48
	typeBegin       = 1
	typeEnd         = 2

	// InternedData and its entries, DebugAnnotation
	internedCategories  = 1
	internedNames       = 2
	internedAnnotations = 3
	entryID             = 1
	entryName           = 2
	annotationName      = 1
	annotationInt       = 4
)

var perfettoFormat = Format{
	Name: "perfetto", Noun: "a Perfetto trace", Info: "trace for ui.perfetto.dev", Suffixes: []string{".pftrace", ".perfetto-trace",
		".perfetto"},
	Stream: streamOf(writePerfetto, ""),
}

// writePerfetto writes a timeline for ui.perfetto.dev.
func writePerfetto(w io.Writer, tl *timeline.Timeline, o WriteOptions) error {
	p := &perfettoWriter{w: w, tl: tl, source: newTimelineSource(tl)}
	for i := range tl.Locations {
		p.describe(i)
	}
	for i := range tl.Locations {
		if err := o.interrupted(); err != nil {
			return err
		}
		p.location(i)
		if p.err != nil {
			return p.err
		}
	}
	p.drain(0)
	return p.err
}

// perfettoWriter is the state of writing.
type perfettoWriter struct {
	w        io.Writer
	tl       *timeline.Timeline
	source   *timelineSource
	out      []byte
	err      error
	sequence uint64
	first    bool            // packet of the sequence
	known    map[uint64]bool // names that the sequence knows
	packet   protoMessage
	event    protoMessage
	names    protoMessage
}

// protoMessage builds a message in the wire format of protocol buffers.
type protoMessage struct{ b []byte }

func (m *protoMessage) uint(field int, v uint64) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3)
	m.b = binary.AppendUvarint(m.b, v)
}

func (m *protoMessage) fixed64(field int, v uint64) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|1)
	m.b = binary.LittleEndian.AppendUint64(m.b, v)
}

func (m *protoMessage) bytes(field int, v []byte) {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|2)
	m.b = append(binary.AppendUvarint(m.b, uint64(len(v))), v...)
}

func (m *protoMessage) string(field int, v string) { m.bytes(field, []byte(v)) }

// entry is a message of a number and a name.
func (m *protoMessage) entry(field int, id uint64, name string) {
	var e protoMessage
	e.uint(entryID, id)
	e.string(entryName, name)
	m.bytes(field, e.b)
}

// send writes the current packet.
func (p *perfettoWriter) send() {
	m := protoMessage{p.out}
	m.bytes(fieldPacket, p.packet.b)
	p.out = m.b
	p.packet.b = p.packet.b[:0]
	p.drain(1 << 16)
}

func (p *perfettoWriter) drain(most int) {
	if len(p.out) > most && p.err == nil {
		_, p.err = p.w.Write(p.out)
		p.out = p.out[:0]
	}
}

// processOf is the number of the process of a location: that of its first thread, from 1.
func (p *perfettoWriter) processOf(location int) uint64 {
	for location > 0 && p.tl.Locations[location-1].Rank == p.tl.Locations[location].Rank {
		location--
	}
	return uint64(location) + 1
}

// describe names the process and the thread of a location.
func (p *perfettoWriter) describe(location int) {
	l := &p.tl.Locations[location]
	pid, tid := p.processOf(location), uint64(location)+1
	if pid == tid {
		name := fmt.Sprintf("rank %d", l.Rank)
		if l.Host != "" {
			name += " on " + l.Host
		}
		var process, track protoMessage
		process.uint(processID, pid)
		process.string(processName, name)
		track.uint(trackUUID, uint64(len(p.tl.Locations))+pid)
		track.bytes(trackProcess, process.b)
		p.packet.bytes(packetDescriptor, track.b)
		p.send()
	}
	name := l.Name
	if name == "" {
		name = fmt.Sprintf("thread %d", l.Thread)
	}
	var thread, track protoMessage
	thread.uint(threadPID, pid)
	thread.uint(threadTID, tid)
	thread.string(threadName, name)
	track.uint(trackUUID, tid)
	track.bytes(trackThread, thread.b)
	p.packet.bytes(packetDescriptor, track.b)
	p.send()
}

// flow is one end of a message at a call.
type flow struct {
	call    int32
	message int32
}

// flowsOf sorts messages by a call of theirs.
func flowsOf(messages []int32, call func(m int32) int32) []flow {
	flows := make([]flow, len(messages))
	for i, m := range messages {
		flows[i] = flow{call(m), m}
	}
	slices.SortStableFunc(flows, func(a, b flow) int { return cmp.Compare(a.call, b.call) })
	return flows
}

// at returns the flows of a call.
func at(flows []flow, call int32) []flow {
	first, _ := slices.BinarySearchFunc(flows, call, func(f flow, c int32) int { return cmp.Compare(f.call, c) })
	last := first
	for last < len(flows) && flows[last].call == call {
		last++
	}
	return flows[first:last]
}

// location writes the calls of a location.
func (p *perfettoWriter) location(location int) {
	calls := &p.tl.Locations[location].Calls
	messages := p.tl.Messages
	sends := flowsOf(p.source.sends.of(location), func(m int32) int32 { return messages[m].Send })
	receives := flowsOf(p.source.receives.of(location), func(m int32) int32 { return messages[m].Recv })
	p.sequence, p.first, p.known = uint64(location)+1, true, map[uint64]bool{}
	var open []int32
	closeCall := func() {
		call := open[len(open)-1]
		open = open[:len(open)-1]
		p.event.uint(eventType, typeEnd)
		for _, f := range at(receives, call) {
			p.event.fixed64(eventFlowEnd, uint64(f.message)+1)
			p.annotate(&messages[f.message], noteFrom, p.tl.Locations[messages[f.message].From].Rank)
		}
		p.emit(calls.Leave[call])
	}
	for call := range int32(calls.Len()) {
		for len(open) > 0 && calls.Skip[open[len(open)-1]] <= call {
			closeCall()
		}
		open = append(open, call)
		p.event.uint(eventType, typeBegin)
		p.name(p.tl.RegionOf(calls.Path[call]), uint64(p.tl.Paths[calls.Path[call]].Region))
		for _, f := range at(sends, call) {
			p.event.fixed64(eventFlow, uint64(f.message)+1)
			p.annotate(&messages[f.message], noteTo, p.tl.Locations[messages[f.message].To].Rank)
		}
		p.emit(calls.Enter[call])
	}
	for len(open) > 0 {
		closeCall()
	}
}

// Notes at the ends of messages.
const (
	noteTo = iota + 1
	noteFrom
	noteBytes
	noteTag
)

var perfettoNotes = [...]string{noteTo: "to rank", noteFrom: "from rank", noteBytes: "bytes", noteTag: "tag"}

// perfettoCategories are the categories of slices, by paradigm.
var perfettoCategories = [...]string{timeline.User: "user", timeline.MPI: "MPI", timeline.OpenMP: "OpenMP", timeline.Noise: "noise",
	timeline.Tool: "tool"}

// Kinds of names that a sequence must know before it uses them.
const (
	knowName = iota << 32
	knowCategory
	knowNote
)

// know adds a name to the packet unless the sequence knows it.
func (p *perfettoWriter) know(kind, id uint64, field int, name string) {
	if !p.known[kind|id] {
		p.known[kind|id] = true
		p.names.entry(field, id, name)
	}
}

// name gives the current event the name of a region.
func (p *perfettoWriter) name(r *timeline.Region, region uint64) {
	id, category := region+1, uint64(r.Paradigm)+1
	p.know(knowName, id, internedNames, r.Name)
	p.know(knowCategory, category, internedCategories, perfettoCategories[r.Paradigm])
	p.event.uint(eventName, id)
	p.event.uint(eventCategory, category)
}

// annotate notes at the current event what a message is.
func (p *perfettoWriter) annotate(m *timeline.Message, direction, rank int) {
	for _, note := range []struct {
		id    int
		value int64
	}{{direction, int64(rank)}, {noteBytes, m.Size}, {noteTag, int64(m.Tag)}} {
		p.know(knowNote, uint64(note.id), internedAnnotations, perfettoNotes[note.id])
		var a protoMessage
		a.uint(annotationName, uint64(note.id))
		a.uint(annotationInt, uint64(note.value))
		p.event.bytes(eventAnnotation, a.b)
	}
}

// emit writes the current event.
func (p *perfettoWriter) emit(time unit.Duration) {
	p.packet.uint(packetTimestamp, uint64((time-p.tl.Start)/unit.Nanosecond))
	p.packet.uint(packetSequence, p.sequence)
	flags := uint64(flagNeedsState)
	if p.first {
		flags |= flagStateCleared
		var track, defaults protoMessage
		track.uint(eventTrack, p.sequence)
		defaults.bytes(defaultTrackEvent, track.b)
		p.packet.bytes(packetDefaults, defaults.b)
		p.first = false
	}
	p.packet.uint(packetFlags, flags)
	if len(p.names.b) > 0 {
		p.packet.bytes(packetInterned, p.names.b)
		p.names.b = p.names.b[:0]
	}
	p.packet.bytes(packetTrackEvent, p.event.b)
	p.event.b = p.event.b[:0]
	p.send()
}
