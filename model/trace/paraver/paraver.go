// Package paraver reads traces of Paraver as Extrae writes them: the text of a .prv file, with names beside it in a .pcf and a .row file.
// It turns their lines into calls with what belongs to each of them; what calls mean together is up to model/trace.
//
//	#Paraver (17/11/26 at 10:00):5000_ns:1(4):1:2(1:1,1:1),2    length, nodes (CPUs), applications, tasks (threads:node), communicators
//	c:1:1:2:1:2                                                 communicator: application, number, tasks
//	1:1:1:1:1:0:100:1                                           state: CPU, application, task, thread, begin, end, state
//	2:1:1:1:1:100:50000001:1:70000001:3                         events: CPU, application, task, thread, time, then types with values
//	3:1:1:1:1:100:100:2:1:2:1:120:200:8:7                       message: who sends and when (twice), who receives and when (twice), size, tag
package paraver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"slackline/model/trace/damage"
)

// Types of events. MPI calls and functions begin with a value and end with 0.
const (
	typePointToPoint = 50000001
	typeIO           = 50000005
	typeSent         = 50100001
	typeReceived     = 50100002
	typeRoot         = 50100003
	typeComm         = 50100004
	typeFunction     = 60000019
	typeSampled      = 30000000 // plus the level, from 1 for the innermost
	typeCaller       = 70000000
	maxLevels        = 99
)

// application is the call that holds all others of a thread.
const application = "application"

// Bounds of what a number in a file can make of the memory.
const (
	maxTasks   = 1 << 20
	maxThreads = 1 << 20
)

// Trace is what a file holds.
type Trace struct {
	Tasks   []Task
	Threads []*Thread // by task, then number
	Comms   [][]int32 // tasks from 0, of all communicators; the first is that of all tasks
	Names   []string  // of functions and calls
	Stacks  []Stack   // the first is the empty one
	Message []Message

	Warnings []string
}

// Task is a process.
type Task struct {
	first, threads int // in Threads
	node           int // from 0
	Host           string
}

// Thread is what a thread did.
type Thread struct {
	Task, Number int // from 0
	Marks        []Mark
	Calls        []Call
	parts        []part

	last  int64   // time
	open  []int32 // calls; the first is the application
	kinds []int64 // types of the events that opened them
	mpi   []int32 // calls of MPI, in order
	count []int32 // of collectives, by communicator
}

// Mark is a moment of a thread: a call begins or ends, or a sample was taken.
type Mark struct {
	Time  int64 // ps
	What  MarkKind
	Index int32 // of the call, or of the stack of the sample
}

// MarkKind is the kind of a mark.
type MarkKind uint8

// The kinds.
const (
	Begins MarkKind = iota
	Ends
	Sampled
)

// Call is a call of MPI or of a function of the program.
type Call struct {
	Begin, End     int64 // ps; an open call ends never
	Name           int32
	Stack          int32
	Comm           int32 // -1: none
	Number         int32 // of a collective, in its communicator
	Sent, Received int64
}

// Stack is a node of a call tree.
type Stack struct{ Parent, Name int32 }

// Message is a message from one thread to another.
type Message struct {
	from, to         int32 // threads
	Tag              int32
	Size             int64
	sent, post, recv int64 // ps
	From, To         int32 // tasks
}

// Sniff reports whether a file is a trace of Paraver.
func Sniff(head []byte) bool { return bytes.HasPrefix(head, []byte("#Paraver (")) }

// reader reads a file.
type reader struct {
	*Trace
	show      string
	line      int
	scale     int64 // of times, in ps
	labels    labels
	names     map[nameKey]int32
	byName    map[string]int32
	stacks    map[Stack]int32
	comms     map[int64]int32 // by number in the file
	roots     [][]int32       // by communicator and collective: task, -1: not known
	nameless  int             // MPI calls whose names are not known
	unnamed   int             // functions, callers and samples whose names are not known
	length    int64           // of the run, in units of the file
	latest    int64           // time, in units of the file
	states    bool            // there are some, so that nothing was filtered out
	defined   int             // communicators
	between   int             // communicators of two groups, which some count
	announced int             // communicators in the header; -1: not said
	torn      int             // calls of which another one's end came first
	fields    []int64
	levels    [maxLevels + 1]int64
	interrupt func() error
}

type nameKey struct{ kind, value int64 }

// Read reads a trace. pcf and row may be nil. strict: damage is an error; otherwise what comes before it is read.
func Read(prv, pcf, row io.Reader, show string, strict bool, interrupt func() error) (*Trace, error) {
	r := &reader{
		Trace: &Trace{Stacks: []Stack{{}}}, show: show, names: map[nameKey]int32{}, byName: map[string]int32{}, stacks: map[Stack]int32{},
		comms: map[int64]int32{}, interrupt: interrupt,
	}
	var err error
	if r.labels, err = r.readLabels(pcf); err != nil {
		return nil, fmt.Errorf("the .pcf file beside %s: %w", show, err)
	}
	lines := bufio.NewReaderSize(prv, 1<<20)
	if err := r.header(lines); err != nil {
		return nil, err
	}
	if err := r.hosts(row); err != nil {
		return nil, fmt.Errorf("the .row file beside %s: %w", show, err)
	}
	err = r.body(lines)
	var bad *damage.Error
	if errors.As(err, &bad) && !strict {
		r.warn("%v; what follows is left out", bad)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if r.nameless > 0 && pcf != nil {
		r.warn("%s: %d MPI calls have no name in the .pcf file: what they do is not known, and their waits are not found", show, r.nameless)
	}
	if r.unnamed > 0 && pcf != nil {
		r.warn("%s: %d functions of events have no name in the .pcf file: they are missing in call paths, or have numbers", show, r.unnamed)
	}
	if r.announced >= 0 && bad == nil && (r.announced < r.defined || r.announced > r.defined+r.between) {
		r.warn("%s: %d communicators, but the header announces %d: records are missing or repeated", show, r.defined, r.announced)
	}
	if r.states && r.latest < r.length && bad == nil {
		r.warn("%s: the last record is at %d of %d: the end of the run is missing", show, r.latest, r.length)
	}
	open := 0
	for _, t := range r.Threads {
		if n := len(t.kinds); n > 0 && isMPI(t.kinds[n-1]) {
			open++
		}
	}
	if open > 0 && bad == nil {
		r.warn("%s: %d threads are in an MPI call at the end: the run was aborted, or records are missing", show, open)
	}
	if r.torn > 0 {
		r.warn("%s: %d calls end where none or another one is open, or begin in one of MPI that does not end: records are missing", show, r.torn)
	}
	r.messages()
	return r.Trace, nil
}

func (r *reader) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

func (r *reader) fail(format string, args ...any) error {
	return &damage.Error{File: r.show, Line: r.line, Offset: -1, What: fmt.Sprintf(format, args...)}
}

// body reads the lines after the header.
func (r *reader) body(lines *bufio.Reader) error {
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			r.line++
			return r.fail("a line of more than 1 MiB")
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if r.line++; r.line%(1<<16) == 0 && r.interrupt != nil {
			if err := r.interrupt(); err != nil {
				return err
			}
		}
		if wrong := r.record(bytes.TrimRight(line, "\r\n")); wrong != nil {
			return wrong
		}
		if err != nil {
			return nil
		}
	}
}

// record reads a line.
func (r *reader) record(line []byte) error {
	if len(line) == 0 || line[0] == '#' {
		return nil
	}
	if len(line) < 2 || line[1] != ':' {
		return r.fail("neither a state (1:), an event (2:), a message (3:) nor a communicator (c:)")
	}
	switch line[0] {
	case '1':
		r.states, r.latest = true, max(r.latest, endOfState(line))
		return nil
	case 'c', 'C', '2', '3':
	case 'i', 'I': // a communicator of two groups
		r.between++
		return nil
	default:
		return r.fail("a record of kind %q, which there is not", line[:1])
	}
	r.fields = r.fields[:0]
	for at := 2; at <= len(line); at++ {
		value, begin := int64(0), at
		for ; at < len(line) && line[at]-'0' <= 9; at++ {
			value = 10*value + int64(line[at]-'0')
		}
		if at == begin || at-begin > 18 || at < len(line) && line[at] != ':' { // not just a few digits
			text, _, _ := bytes.Cut(line[begin:], []byte{':'})
			var ok bool
			if value, ok = number(text); !ok {
				return r.fail("%q is not a number", text)
			}
			at = begin + len(text)
		}
		r.fields = append(r.fields, value)
	}
	switch line[0] {
	case '2':
		return r.events(r.fields)
	case '3':
		return r.message(r.fields)
	}
	return r.communicator(r.fields)
}

// endOfState is the time at which a state ends, the last field but one.
func endOfState(line []byte) int64 {
	if at := bytes.LastIndexByte(line, ':'); at >= 0 {
		if end, ok := number(line[bytes.LastIndexByte(line[:at], ':')+1 : at]); ok {
			return end
		}
	}
	return 0
}

// number reads a number, which may be negative or an address of 64 bits.
func number(text []byte) (int64, bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 20 {
		return 0, false
	}
	if len(digits) > 18 { // addresses of 64 bits are values, too
		u, err := strconv.ParseUint(string(digits), 10, 64)
		return int64(u), err == nil && len(digits) == len(text)
	}
	var n int64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int64(d-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// time turns a time of the file into picoseconds.
func (r *reader) time(t int64) (int64, error) {
	if t < 0 || t > math.MaxInt64/r.scale {
		return 0, r.fail("the time %d is out of range", t)
	}
	r.latest = max(r.latest, t)
	return t * r.scale, nil
}

// thread finds a thread by application, task and number, which count from 1.
func (r *reader) thread(f []int64) (int, error) {
	if f[0] != 1 {
		return 0, r.fail("application %d of 1", f[0])
	}
	if f[1] < 1 || f[1] > int64(len(r.Tasks)) {
		return 0, r.fail("task %d of %d", f[1], len(r.Tasks))
	}
	t := &r.Tasks[f[1]-1]
	if f[2] < 1 || f[2] > int64(t.threads) {
		return 0, r.fail("thread %d of %d of task %d", f[2], t.threads, f[1])
	}
	return t.first + int(f[2]-1), nil
}

// communicator reads a definition: the application, the number, how many tasks, the tasks.
func (r *reader) communicator(f []int64) error {
	if len(f) < 3 || int64(len(f)-3) != f[2] {
		return r.fail("a communicator with another number of tasks than it has")
	}
	if f[0] != 1 {
		return r.fail("application %d of 1", f[0])
	}
	r.defined++
	members := make([]int32, 0, len(f)-3)
	for _, task := range f[3:] {
		if task < 1 || task > int64(len(r.Tasks)) {
			return r.fail("task %d of %d", task, len(r.Tasks))
		}
		members = append(members, int32(task-1))
	}
	if slices.Equal(members, r.Comms[0]) {
		r.comms[f[1]] = 0
		return nil
	}
	r.comms[f[1]] = int32(len(r.Comms))
	r.Comms = append(r.Comms, members)
	return nil
}

// events reads the events of a thread at a time: CPU, application, task, thread, time, then pairs of type and value.
func (r *reader) events(f []int64) error {
	if len(f) < 7 || len(f)%2 == 0 {
		return r.fail("an event record without types and values")
	}
	at, err := r.thread(f[1:])
	if err != nil {
		return err
	}
	time, err := r.time(f[4])
	if err != nil {
		return err
	}
	t := r.Threads[at]
	if n := len(t.Marks); n > 0 && t.Marks[n-1].Time > time {
		return r.fail("the events of thread %d of task %d are not in the order of their times", t.Number+1, t.Task+1)
	}
	t.last = time
	if len(t.Calls) == 0 {
		r.begin(t, time, r.named(application), 0, 0)
	}
	pairs := f[5:]
	for i := 0; i < len(pairs); i += 2 { // what ends, ends before something begins
		if ends := opens(pairs[i]) && pairs[i+1] == 0; ends && len(t.open) > 1 {
			if t.kinds[len(t.kinds)-1] != pairs[i] {
				r.torn++
			}
			t.endCall(time)
		} else if ends && pairs[i] != typeFunction && len(t.mpi) > 0 { // the first ones may have begun before the trace did
			r.torn++
		}
	}
	stack := r.stack(typeCaller, pairs)
	for i := 0; i < len(pairs); i += 2 {
		if kind, value := pairs[i], pairs[i+1]; opens(kind) && value != 0 {
			switch {
			case r.labels.has(kind, value):
			case kind == typeFunction:
				r.unnamed++
			default:
				r.nameless++
			}
			r.begin(t, time, r.name(kind, value), stack, kind)
		}
	}
	if sampled := r.stack(typeSampled, pairs); sampled != 0 {
		t.Marks = append(t.Marks, Mark{time, Sampled, sampled})
	}
	r.collective(t, time, pairs)
	return nil
}

// opens reports whether events of a type begin and end calls.
func opens(kind int64) bool {
	return isMPI(kind) || kind == typeFunction
}

func isMPI(kind int64) bool { return kind >= typePointToPoint && kind <= typeIO }

// begin begins a call that an event of a type opens; 0 is the application.
func (r *reader) begin(t *Thread, time int64, name, stack int32, kind int64) {
	if n := len(t.kinds); isMPI(kind) && t.kinds[n-1] != 0 && t.kinds[n-1] != typeFunction {
		r.torn++
	}
	call := int32(len(t.Calls))
	t.Calls = append(t.Calls, Call{Begin: time, End: math.MaxInt64, Name: name, Stack: stack, Comm: -1})
	t.Marks = append(t.Marks, Mark{time, Begins, call})
	t.open, t.kinds = append(t.open, call), append(t.kinds, kind)
	if isMPI(kind) {
		t.mpi = append(t.mpi, call)
	}
}

// endCall ends the innermost call.
func (t *Thread) endCall(time int64) {
	n := len(t.open) - 1
	call := t.open[n]
	t.open, t.kinds = t.open[:n], t.kinds[:n]
	t.Calls[call].End = time
	t.Marks = append(t.Marks, Mark{time, Ends, call})
}

// collective keeps what is said about the collective call that began now.
func (r *reader) collective(t *Thread, time int64, pairs []int64) {
	if len(t.open) == 0 {
		return
	}
	c := &t.Calls[t.open[len(t.open)-1]]
	if c.Begin != time {
		return
	}
	root := false
	for i := 0; i < len(pairs); i += 2 {
		switch value := pairs[i+1]; pairs[i] {
		case typeSent:
			c.Sent = value
		case typeReceived:
			c.Received = value
		case typeRoot:
			root = value != 0
		case typeComm:
			if comm, known := r.comms[value]; known && c.Comm < 0 {
				c.Comm = comm
				c.Number = r.ordinal(r.Threads[r.Tasks[t.Task].first], comm)
			}
		}
	}
	if root && c.Comm >= 0 {
		for int(c.Comm) >= len(r.roots) {
			r.roots = append(r.roots, nil)
		}
		list := &r.roots[c.Comm]
		for int(c.Number) >= len(*list) {
			*list = append(*list, -1)
		}
		(*list)[c.Number] = int32(t.Task)
	}
}

// ordinal counts the collectives of a task in a communicator.
func (r *reader) ordinal(first *Thread, comm int32) int32 {
	for int(comm) >= len(first.count) {
		first.count = append(first.count, 0)
	}
	first.count[comm]++
	return first.count[comm] - 1
}
