package trace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/model/timeline"
	"slackline/model/trace/otf2"
)

// otf2Printer prints the events of an archive as otf2-print does, from the records themselves: it sees
// also what no Trace holds.
type otf2Printer struct {
	*otf2Archive
	names    map[uint8]map[uint64]string // of definitions, by id of their record
	contexts map[uint64]uint64           // regions of calling contexts
	comms    map[uint64]otf2.Comm
	classes  map[uint64][]uint32 // members of metrics
}

// newOTF2Printer opens an archive.
func newOTF2Printer(t *testing.T, anchor string) *otf2Printer {
	t.Helper()
	p := &otf2Printer{names: map[uint8]map[uint64]string{}, contexts: map[uint64]uint64{}, comms: map[uint64]otf2.Comm{},
		classes: map[uint64][]uint32{}}
	var err error
	p.otf2Archive, err = openOTF2(source{fsys: os.DirFS(filepath.Dir(anchor)), main: filepath.Base(anchor), show: anchor}.watched())
	if err != nil {
		t.Fatal(err)
	}
	f, file, err := p.open(p.name+".def", p.anchor.DefChunk)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := f.NextChunk(); err != nil {
		t.Fatal(err)
	}
	for {
		id, r, err := f.Definition()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p.define(id, &r)
	}
	for _, c := range p.defs.Comms {
		p.comms[uint64(c.ID)] = c
	}
	return p
}

// define keeps the name of a definition.
func (p *otf2Printer) define(id uint8, r *otf2.Bytes) {
	const defAttribute, defMetricMember, defMetricClass, defMetricInstance = 11, 19, 20, 21
	switch id {
	case defAttribute, otf2.DefRegion, defMetricMember, otf2.DefParameter, otf2.DefComm, otf2.DefInterComm, otf2.DefInterruptGenerator:
		self := uint64(r.U32())
		p.setName(id, self, r.U32())
	case otf2.DefLocation:
		self := r.U64()
		p.setName(id, self, r.U32())
	case otf2.DefCallingContext:
		self := uint64(r.U32())
		p.contexts[self] = uint64(r.U32())
	case defMetricClass, defMetricInstance:
		self := uint64(r.U32())
		if id == defMetricClass {
			p.classes[self] = r.List32()
		} else {
			p.classes[self] = p.classes[uint64(r.U32())]
		}
	}
}

func (p *otf2Printer) setName(id uint8, self uint64, name uint32) {
	if p.names[id] == nil {
		p.names[id] = map[uint64]string{}
	}
	p.names[id][self] = p.defs.Strings[name]
}

// ref prints a reference with its name.
func (p *otf2Printer) ref(id uint8, self uint64) string {
	if name, ok := p.names[id][self]; ok {
		return fmt.Sprintf("%q <%d>", name, self)
	}
	if self == otf2.Undefined32 {
		return "UNDEFINED"
	}
	return fmt.Sprintf("UNKNOWN <%d>", self)
}

func (p *otf2Printer) string(id uint64) string {
	return fmt.Sprintf("%q <%d>", p.defs.Strings[uint32(id)], id)
}

// comm prints a communicator.
func (p *otf2Printer) comm(id uint64) string {
	if c, ok := p.comms[id]; ok && c.Inter {
		return p.ref(otf2.DefInterComm, id)
	}
	return p.ref(otf2.DefComm, id)
}

// member prints a rank of a communicator, in the remote group of an intercommunicator.
func (p *otf2Printer) member(comm, rank, self uint64) string {
	c := p.comms[comm]
	g := p.defs.Groups[c.Group]
	if c.Inter {
		g = p.defs.Groups[c.Remote]
		for _, m := range g.Members {
			if p.commLocations(g.Paradigm)[m] == self {
				g = p.defs.Groups[c.Group]
				break
			}
		}
	}
	location := self
	switch {
	case g.Kind == otf2.GroupCommSelf:
	case rank >= uint64(len(g.Members)):
		return fmt.Sprintf("%d (?)", rank)
	default:
		location = p.commLocations(g.Paradigm)[g.Members[rank]]
	}
	return fmt.Sprintf("%d (%s)", rank, p.ref(otf2.DefLocation, location))
}

// events prints the events of a location, each as name, location, time and attributes.
func (p *otf2Printer) events(t *testing.T, l *Location) []string {
	t.Helper()
	f, file, err := p.open(p.eventFile(l), p.anchor.EventChunk)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := f.NextChunk(); err != nil {
		t.Fatal(err)
	}
	local, err := p.readLocal(l)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var e otf2.Event
	interval := 0
	for {
		err := f.Event(&e)
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		time := e.Time
		if o := local.Offsets; len(o) >= 2 {
			for interval+2 < len(o) && time > o[interval+1].Time {
				interval++
			}
			a, b := o[interval], o[interval+1]
			slope := float64(b.Offset-a.Offset) / float64(b.Time-a.Time)
			time += uint64(a.Offset + int64(math.RoundToEven(slope*(float64(time)-float64(a.Time)))))
		}
		name, rest := p.event(l, local, &e)
		lines = append(lines, fmt.Sprintf("%s %d %d %s", name, l.ID, time, rest))
		if len(e.Attributes) > 0 {
			lines = append(lines, p.attributes(local, &otf2.Bytes{Data: e.Attributes, Big: f.Big}))
		}
	}
}

// attributes prints a list of attributes of numbers.
func (p *otf2Printer) attributes(local *otf2.Local, r *otf2.Bytes) string {
	var list []string
	for n := r.U32(); n > 0; n-- {
		id := local.Maps[1].Global(uint64(r.U32()))
		if kind := r.U8(); kind != 4 {
			return "a type of attribute that this test does not know"
		}
		list = append(list, fmt.Sprintf("(%s; UINT64; %d)", p.ref(11, id), r.U64()))
	}
	return "ADDITIONAL ATTRIBUTES: " + strings.Join(list, ", ")
}

// event prints name and attributes of an event.
func (p *otf2Printer) event(l *Location, local *otf2.Local, e *otf2.Event) (name, rest string) {
	r := &e.Body
	global := func(kind int, id uint32) uint64 {
		if id == otf2.Undefined32 {
			return otf2.Undefined32
		}
		return local.Maps[kind].Global(uint64(id))
	}
	message := func(who string) string {
		rank := uint64(r.U32())
		comm := global(otf2.MapComm, r.U32())
		return fmt.Sprintf("%s: %s, Communicator: %s, Tag: %d, Length: %d", who, p.member(comm, rank, l.ID), p.comm(comm), r.U32(), r.U64())
	}
	collective := func() string {
		op := strings.ToUpper(timeline.Op(r.U8()).String())
		comm := global(otf2.MapComm, r.U32())
		root := "NONE"
		if rank := r.U32(); rank != otf2.Undefined32 {
			root = p.member(comm, uint64(rank), l.ID)
		}
		return fmt.Sprintf("Operation: %s, Communicator: %s, Root: %s, Sent: %d, Received: %d", op, p.comm(comm), root, r.U64(), r.U64())
	}
	request := func(v uint64) string { return fmt.Sprintf("Request: %d", v) }
	region := func() string { return "Region: " + p.ref(otf2.DefRegion, global(otf2.MapRegion, uint32(e.Value))) }
	paradigm := func() string {
		return map[uint8]string{otf2.ParadigmOpenMP: "Model: OPENMP"}[r.U8()]
	}
	context := func() string {
		id := global(otf2.MapContext, r.U32())
		if id == otf2.Undefined32 {
			return "Calling Context: UNDEFINED"
		}
		return fmt.Sprintf("Calling Context: %q <%d>", p.names[otf2.DefRegion][p.contexts[id]], id)
	}
	distance := func() string {
		if v := r.U32(); v != otf2.Undefined32 {
			return fmt.Sprintf("Unwind Distance: %d", v)
		}
		return "Unwind Distance: UNDEFINED"
	}
	switch e.ID {
	case otf2.EvtMeasurementOnOff:
		return "MEASUREMENT_ON_OFF", "Mode: " + map[uint8]string{1: "ON", 2: "OFF"}[r.U8()]
	case otf2.EvtEnter:
		return "ENTER", region()
	case otf2.EvtLeave:
		return "LEAVE", region()
	case otf2.EvtSend:
		return "MPI_SEND", message("Receiver")
	case otf2.EvtIsend:
		return "MPI_ISEND", message("Receiver") + ", " + request(r.U64())
	case otf2.EvtIsendComplete:
		return "MPI_ISEND_COMPLETE", request(e.Value)
	case otf2.EvtIrecvRequest:
		return "MPI_IRECV_REQUEST", request(e.Value)
	case otf2.EvtRecv:
		return "MPI_RECV", message("Sender")
	case otf2.EvtIrecv:
		return "MPI_IRECV", message("Sender") + ", " + request(r.U64())
	case otf2.EvtRequestTest:
		return "MPI_REQUEST_TEST", request(e.Value)
	case otf2.EvtRequestCancelled:
		return "MPI_REQUEST_CANCELLED", request(e.Value)
	case otf2.EvtCollectiveBegin:
		return "MPI_COLLECTIVE_BEGIN", ""
	case otf2.EvtCollectiveEnd:
		return "MPI_COLLECTIVE_END", collective()
	case otf2.EvtCollectiveRequest:
		return "NON_BLOCKING_COLLECTIVE_REQUEST", request(r.U64())
	case otf2.EvtCollectiveDone:
		return "NON_BLOCKING_COLLECTIVE_COMPLETE", collective() + ", " + request(r.U64())
	case otf2.EvtThreadFork:
		return "THREAD_FORK", fmt.Sprintf("%s, # Requested Threads: %d", paradigm(), r.U32())
	case otf2.EvtThreadJoin:
		return "THREAD_JOIN", paradigm()
	case otf2.EvtTeamBegin:
		return "THREAD_TEAM_BEGIN", "Thread Team: " + p.comm(global(otf2.MapComm, r.U32()))
	case otf2.EvtTeamEnd:
		return "THREAD_TEAM_END", "Thread Team: " + p.comm(global(otf2.MapComm, r.U32()))
	case 31:
		metric := global(5, r.U32())
		n := r.U8()
		var values []string
		for i := range n {
			kind := map[uint8]string{4: "UINT64", 8: "INT64", 10: "DOUBLE"}[r.U8()]
			value := fmt.Sprint(r.U64())
			if bits, _ := strconv.ParseUint(value, 10, 64); kind == "DOUBLE" {
				value = fmt.Sprint(math.Float64frombits(bits))
			}
			values = append(values, fmt.Sprintf("(%s; %s; %s)", p.ref(19, uint64(p.classes[metric][i])), kind, value))
		}
		word := "Value"
		if n > 1 {
			word = "Values"
		}
		return "METRIC", fmt.Sprintf("Metric: %d, %d %s: %s", metric, n, word, strings.Join(values, ", "))
	case 33:
		return "PARAMETER_INT64", fmt.Sprintf("Parameter: %s, Value: %d",
			p.ref(otf2.DefParameter, global(otf2.MapParameter, r.U32())), int64(r.U64()))
	case otf2.EvtParameterUnsigned:
		return "PARAMETER_UINT64", fmt.Sprintf("Parameter: %s, Value: %d", p.ref(otf2.DefParameter, global(otf2.MapParameter, r.U32())), r.U64())
	case otf2.EvtContextEnter:
		return "CALLING_CONTEXT_ENTER", context() + ", " + distance()
	case otf2.EvtContextLeave:
		return "CALLING_CONTEXT_LEAVE", context()
	case otf2.EvtContextSample:
		return "CALLING_CONTEXT_SAMPLE", context() + ", " + distance() + ", Interrupt Generator: " +
			p.ref(otf2.DefInterruptGenerator, global(11, r.U32()))
	case otf2.EvtProgramBegin:
		program := fmt.Sprintf("Name: %s", p.string(global(otf2.MapString, r.U32())))
		n := r.U32()
		var words []string
		for range n {
			words = append(words, p.string(global(otf2.MapString, r.U32())))
		}
		return "PROGRAM_BEGIN", fmt.Sprintf("%s, %d Arguments: %s", program, n, strings.Join(words, ", "))
	case otf2.EvtProgramEnd:
		return "PROGRAM_END", fmt.Sprintf("Exit status: %d", int64(r.U64()))
	case otf2.EvtCommCreate:
		return "COMM_CREATE", "Communicator: " + p.comm(global(otf2.MapComm, r.U32()))
	case otf2.EvtCommDestroy:
		return "COMM_DESTROY", "Communicator: " + p.comm(global(otf2.MapComm, r.U32()))
	}
	return fmt.Sprintf("RECORD_%d", e.ID), ""
}

// judge holds what we read of an archive against what otf2-print says, which must find nothing wrong with it. With go test
// -short nobody asks otf2-print.
func judge(t *testing.T, anchor string) {
	t.Helper()
	if testing.Short() {
		return
	}
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
	needed.Full(t, "otf2-print")
	cases, err := filepath.Glob(casesDir + "/*/traces.otf2")
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	for _, anchor := range cases {
		t.Run(filepath.Base(filepath.Dir(anchor)), func(t *testing.T) { judge(t, anchor) })
	}
}
