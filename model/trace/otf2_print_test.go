package trace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/model/timeline"
)

// otf2Printer prints the events of an archive as otf2-print does, from the records themselves: it sees
// also what no Trace holds.
type otf2Printer struct {
	*otf2Archive
	names    map[uint8]map[uint64]string // of definitions, by id of their record
	contexts map[uint64]uint64           // regions of calling contexts
	comms    map[uint64]otf2Comm
	classes  map[uint64][]uint32 // members of metrics
}

// newOTF2Printer opens an archive.
func newOTF2Printer(t *testing.T, anchor string) *otf2Printer {
	t.Helper()
	p := &otf2Printer{names: map[uint8]map[uint64]string{}, contexts: map[uint64]uint64{}, comms: map[uint64]otf2Comm{}, classes: map[uint64][]uint32{}}
	var err error
	p.otf2Archive, err = openOTF2(source{fsys: os.DirFS(filepath.Dir(anchor)), main: filepath.Base(anchor), show: anchor})
	if err != nil {
		t.Fatal(err)
	}
	f, file, err := p.open(p.name+".def", p.anchor.defChunk)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := f.nextChunk(); err != nil {
		t.Fatal(err)
	}
	for {
		id, r, err := f.definition()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p.define(id, &r)
	}
	for _, c := range p.defs.comms {
		p.comms[uint64(c.id)] = c
	}
	return p
}

// define keeps the name of a definition.
func (p *otf2Printer) define(id uint8, r *otf2Bytes) {
	const defAttribute, defMetricMember, defMetricClass, defMetricInstance = 11, 19, 20, 21
	switch id {
	case defAttribute, defRegion, defMetricMember, defParameter, defComm, defInterComm, defInterruptGenerator:
		self := uint64(r.u32())
		p.setName(id, self, r.u32())
	case defLocation:
		self := r.u64()
		p.setName(id, self, r.u32())
	case defCallingContext:
		self := uint64(r.u32())
		p.contexts[self] = uint64(r.u32())
	case defMetricClass, defMetricInstance:
		self := uint64(r.u32())
		if id == defMetricClass {
			p.classes[self] = r.list32()
		} else {
			p.classes[self] = p.classes[uint64(r.u32())]
		}
	}
}

func (p *otf2Printer) setName(id uint8, self uint64, name uint32) {
	if p.names[id] == nil {
		p.names[id] = map[uint64]string{}
	}
	p.names[id][self] = p.defs.strings[name]
}

// ref prints a reference with its name.
func (p *otf2Printer) ref(id uint8, self uint64) string {
	if name, ok := p.names[id][self]; ok {
		return fmt.Sprintf("%q <%d>", name, self)
	}
	if self == undefined32 {
		return "UNDEFINED"
	}
	return fmt.Sprintf("UNKNOWN <%d>", self)
}

func (p *otf2Printer) string(id uint64) string {
	return fmt.Sprintf("%q <%d>", p.defs.strings[uint32(id)], id)
}

// comm prints a communicator.
func (p *otf2Printer) comm(id uint64) string {
	if c, ok := p.comms[id]; ok && c.inter {
		return p.ref(defInterComm, id)
	}
	return p.ref(defComm, id)
}

// member prints a rank of a communicator, in the remote group of an intercommunicator.
func (p *otf2Printer) member(comm, rank, self uint64) string {
	c := p.comms[comm]
	g := p.defs.groups[c.group]
	if c.inter {
		g = p.defs.groups[c.remote]
		for _, m := range g.members {
			if p.commLocations(g.paradigm)[m] == self {
				g = p.defs.groups[c.group]
				break
			}
		}
	}
	location := self
	switch {
	case g.kind == groupCommSelf:
	case rank >= uint64(len(g.members)):
		return fmt.Sprintf("%d (?)", rank)
	default:
		location = p.commLocations(g.paradigm)[g.members[rank]]
	}
	return fmt.Sprintf("%d (%s)", rank, p.ref(defLocation, location))
}

// events prints the events of a location, each as name, location, time and attributes.
func (p *otf2Printer) events(t *testing.T, l *Location) []string {
	t.Helper()
	f, file, err := p.open(p.eventFile(l), p.anchor.eventChunk)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := f.nextChunk(); err != nil {
		t.Fatal(err)
	}
	local, err := p.readLocal(l)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var e otf2Event
	interval := 0
	for {
		err := f.event(&e)
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		time := e.time
		if o := local.offsets; len(o) >= 2 {
			for interval+2 < len(o) && time > o[interval+1].Time {
				interval++
			}
			a, b := o[interval], o[interval+1]
			slope := float64(b.Offset-a.Offset) / float64(b.Time-a.Time)
			time += uint64(a.Offset + int64(math.RoundToEven(slope*(float64(time)-float64(a.Time)))))
		}
		name, rest := p.event(l, local, &e)
		lines = append(lines, fmt.Sprintf("%s %d %d %s", name, l.ID, time, rest))
		if len(e.attributes) > 0 {
			lines = append(lines, p.attributes(local, &otf2Bytes{b: e.attributes, big: f.big}))
		}
	}
}

// attributes prints a list of attributes of numbers.
func (p *otf2Printer) attributes(local *otf2Local, r *otf2Bytes) string {
	var list []string
	for n := r.u32(); n > 0; n-- {
		id := local.maps[1].global(uint64(r.u32()))
		if kind := r.u8(); kind != 4 {
			return "a type of attribute that this test does not know"
		}
		list = append(list, fmt.Sprintf("(%s; UINT64; %d)", p.ref(11, id), r.u64()))
	}
	return "ADDITIONAL ATTRIBUTES: " + strings.Join(list, ", ")
}

// event prints name and attributes of an event.
func (p *otf2Printer) event(l *Location, local *otf2Local, e *otf2Event) (name, rest string) {
	r := &e.body
	global := func(kind int, id uint32) uint64 {
		if id == undefined32 {
			return undefined32
		}
		return local.maps[kind].global(uint64(id))
	}
	message := func(who string) string {
		rank := uint64(r.u32())
		comm := global(mapComm, r.u32())
		return fmt.Sprintf("%s: %s, Communicator: %s, Tag: %d, Length: %d", who, p.member(comm, rank, l.ID), p.comm(comm), r.u32(), r.u64())
	}
	collective := func() string {
		op := strings.ToUpper(timeline.Op(r.u8()).String())
		comm := global(mapComm, r.u32())
		root := "NONE"
		if rank := r.u32(); rank != undefined32 {
			root = p.member(comm, uint64(rank), l.ID)
		}
		return fmt.Sprintf("Operation: %s, Communicator: %s, Root: %s, Sent: %d, Received: %d", op, p.comm(comm), root, r.u64(), r.u64())
	}
	request := func(v uint64) string { return fmt.Sprintf("Request: %d", v) }
	region := func() string { return "Region: " + p.ref(defRegion, global(mapRegion, uint32(e.value))) }
	paradigm := func() string {
		return map[uint8]string{paradigmOpenMP: "Model: OPENMP"}[r.u8()]
	}
	context := func() string {
		id := global(mapContext, r.u32())
		if id == undefined32 {
			return "Calling Context: UNDEFINED"
		}
		return fmt.Sprintf("Calling Context: %q <%d>", p.names[defRegion][p.contexts[id]], id)
	}
	distance := func() string {
		if v := r.u32(); v != undefined32 {
			return fmt.Sprintf("Unwind Distance: %d", v)
		}
		return "Unwind Distance: UNDEFINED"
	}
	switch e.id {
	case evtMeasurementOnOff:
		return "MEASUREMENT_ON_OFF", "Mode: " + map[uint8]string{1: "ON", 2: "OFF"}[r.u8()]
	case evtEnter:
		return "ENTER", region()
	case evtLeave:
		return "LEAVE", region()
	case evtSend:
		return "MPI_SEND", message("Receiver")
	case evtIsend:
		return "MPI_ISEND", message("Receiver") + ", " + request(r.u64())
	case evtIsendComplete:
		return "MPI_ISEND_COMPLETE", request(e.value)
	case evtIrecvRequest:
		return "MPI_IRECV_REQUEST", request(e.value)
	case evtRecv:
		return "MPI_RECV", message("Sender")
	case evtIrecv:
		return "MPI_IRECV", message("Sender") + ", " + request(r.u64())
	case evtRequestTest:
		return "MPI_REQUEST_TEST", request(e.value)
	case evtRequestCancelled:
		return "MPI_REQUEST_CANCELLED", request(e.value)
	case evtCollectiveBegin:
		return "MPI_COLLECTIVE_BEGIN", ""
	case evtCollectiveEnd:
		return "MPI_COLLECTIVE_END", collective()
	case evtCollectiveRequest:
		return "NON_BLOCKING_COLLECTIVE_REQUEST", request(r.u64())
	case evtCollectiveDone:
		return "NON_BLOCKING_COLLECTIVE_COMPLETE", collective() + ", " + request(r.u64())
	case evtThreadFork:
		return "THREAD_FORK", fmt.Sprintf("%s, # Requested Threads: %d", paradigm(), r.u32())
	case evtThreadJoin:
		return "THREAD_JOIN", paradigm()
	case evtTeamBegin:
		return "THREAD_TEAM_BEGIN", "Thread Team: " + p.comm(global(mapComm, r.u32()))
	case evtTeamEnd:
		return "THREAD_TEAM_END", "Thread Team: " + p.comm(global(mapComm, r.u32()))
	case 31:
		metric := global(5, r.u32())
		n := r.u8()
		var values []string
		for i := range n {
			kind := map[uint8]string{4: "UINT64", 8: "INT64", 10: "DOUBLE"}[r.u8()]
			values = append(values, fmt.Sprintf("(%s; %s; %d)", p.ref(19, uint64(p.classes[metric][i])), kind, r.u64()))
		}
		return "METRIC", fmt.Sprintf("Metric: %d, %d Value: %s", metric, n, strings.Join(values, ", "))
	case 33:
		return "PARAMETER_INT64", fmt.Sprintf("Parameter: %s, Value: %d", p.ref(defParameter, global(mapParameter, r.u32())), int64(r.u64()))
	case evtParameterUnsigned:
		return "PARAMETER_UINT64", fmt.Sprintf("Parameter: %s, Value: %d", p.ref(defParameter, global(mapParameter, r.u32())), r.u64())
	case evtContextEnter:
		return "CALLING_CONTEXT_ENTER", context() + ", " + distance()
	case evtContextLeave:
		return "CALLING_CONTEXT_LEAVE", context()
	case evtContextSample:
		return "CALLING_CONTEXT_SAMPLE", context() + ", " + distance() + ", Interrupt Generator: " + p.ref(defInterruptGenerator, global(11, r.u32()))
	case evtProgramBegin:
		program := fmt.Sprintf("Name: %s", p.string(global(mapString, r.u32())))
		n := r.u32()
		var words []string
		for range n {
			words = append(words, p.string(global(mapString, r.u32())))
		}
		return "PROGRAM_BEGIN", fmt.Sprintf("%s, %d Arguments: %s", program, n, strings.Join(words, ", "))
	case evtProgramEnd:
		return "PROGRAM_END", fmt.Sprintf("Exit status: %d", int64(r.u64()))
	case evtCommCreate:
		return "COMM_CREATE", "Communicator: " + p.comm(global(mapComm, r.u32()))
	case evtCommDestroy:
		return "COMM_DESTROY", "Communicator: " + p.comm(global(mapComm, r.u32()))
	}
	return fmt.Sprintf("RECORD_%d", e.id), ""
}

// judge holds what we read of an archive against what otf2-print says, which must find nothing wrong with it.
func judge(t *testing.T, anchor string) {
	t.Helper()
	judgeAgainst(t, anchor, otf2Print(t, anchor, true))
}

func judgeAgainst(t *testing.T, anchor string, want map[uint64][]string) {
	t.Helper()
	p := newOTF2Printer(t, anchor)
	total := 0
	for i := range p.trace.Locations {
		l := &p.trace.Locations[i]
		got := p.events(t, l)
		total += len(got)
		if len(got) != len(want[l.ID]) {
			t.Errorf("location %d: %d lines, otf2-print has %d", l.ID, len(got), len(want[l.ID]))
		}
		for k := range min(len(got), len(want[l.ID])) {
			if strings.TrimSpace(got[k]) != want[l.ID][k] {
				t.Fatalf("location %d, line %d:\n%s\notf2-print has\n%s", l.ID, k, got[k], want[l.ID][k])
			}
		}
	}
	if total == 0 {
		t.Errorf("%s: no events", anchor)
	}
}

// The reader sees, event for event, what otf2-print prints.
func TestOTF2AsOtf2Print(t *testing.T) {
	cases, err := filepath.Glob(casesDir + "/*/traces.otf2")
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	for _, anchor := range cases {
		t.Run(filepath.Base(filepath.Dir(anchor)), func(t *testing.T) { judge(t, anchor) })
	}
}
