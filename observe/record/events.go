package record

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/mpi"
)

// mpiCall is what the decoder knows of a wrapped function.
type mpiCall struct {
	region     uint32
	collective bool
	op         timeline.Op
	tests      bool // it may find nothing
	buffered   bool // it prepares buffered sends
	onWindow   bool
	window     trace.Event // that it is, if it is on a window
	file       fileCall
}

// callTable is the calls by number, with their regions.
func callTable(list []mpi.Function, regions *regionTable) []mpiCall {
	calls := make([]mpiCall, 0, len(list)+len(handWritten)+1)
	classes := map[string]string{}
	for _, f := range list {
		classes[f.Name], classes[f.Name+"_c"] = f.Class, f.Class
	}
	for _, name := range functionNames(list) {
		c := mpiCall{}
		if name != "" {
			c.region = regions.region(timeline.RegionNamed("MPI_" + name))
		}
		if operation, _, ok := collectiveClass(classes[name]); ok {
			c.collective, c.op = true, collectiveOps[operation]
		} else if classes[name] == "icomm" {
			c.collective, c.op = true, timeline.OpCreateHandle
		}
		c.tests = strings.HasPrefix(classes[name], "test") || name == "Iprobe" || name == "Improbe" || name == "Win_test" || name == "Parrived"
		base := strings.TrimSuffix(name, "_c")
		c.window, c.onWindow = windowCalls[base].event, windowCalls[base].class != ""
		c.file, _, _ = fileCallOf(name)
		c.buffered = base == "Bsend_init"
		calls = append(calls, c)
	}
	return calls
}

// ompRegions are the OpenMP constructs that threads wait in.
var ompRegions = map[uint16]string{
	5: "!$omp barrier", ompImplicitBarrier: "!$omp implicit barrier", 9: "!$omp for", 11: "!$omp single",
	13: "!$omp sections", 15: "!$omp critical", 17: "!$omp taskwait",
}

// The numbers of OpenMP's events, as in core.h.
const (
	ompFork = iota + 1
	ompJoin
	ompTeamBegin
	ompTeamEnd
	ompImplicitBarrier = 7
)

// streamTables are what the events of one location need.
type streamTables struct {
	calls   []mpiCall
	comms   map[uint32]uint32
	objects map[uint32]object // windows and files
	stacks  []uint32          // by path
	parents []trace.Stack
	names   map[uint32]uint32 // regions by number of a name
	code    map[uint64]uint32 // regions by address
	omp     map[uint16]uint32
	period  int64 // ps
	thread  int
	end     int64               // of the program, ns, if its record had no room; else 0
	cut     bool                // recording was not on all the time
	neverOn bool                // nor at any time
	lasted  int64               // from the end of MPI_Init to that of the program, ns; 0: not known
	counts  map[uint32][]int64  // bytes by peer of persistent collectives, by number
	late    map[uint64][]uint64 // requests of the rank that were completed while it was off, as SL_LATE; both halves of one
	dropped *dropped            // what a ring has overwritten; nil: nothing
	metrics []uint32            // that records have values of, in their order
}

// eventStream reads the events of a location from its raw file.
type eventStream struct {
	*streamTables
	file   *rawFile
	close  io.Closer
	queue  []trace.Event
	at     int
	last   int64    // time of the last event
	before uint32   // stack of the last call or sample
	left   uint16   // kind of the last record, if that was a call or a wait
	open   []uint32 // regions that the program has entered and not left
	issued map[uint64]trace.Event
	held   []rawRecord // samples and times without a CPU that may be part of the next record
	run    pollRun
	polls  int64 // calls that the next one stands for
	more   bool  // the call of the last record goes on in the next one
	forks  bool  // a team is being made, from a stack that its begin will tell
	done   bool
	silent map[uint64]bool // requests that no event names
	lost   map[uint32]bool // windows and files of which something was not recorded
	begun  map[uint64]bool // requests that are not complete, if recording was not on all the time
	lacks  []trace.Event   // times without a CPU whose place is not known yet

	splitsAtBegin bool // as the function of this name says
}

func (s *eventStream) Close() error { return s.close.Close() }

// Read fills events.
func (s *eventStream) Read(events []trace.Event) (int, error) {
	n := 0
	for n < len(events) {
		if s.at == len(s.queue) {
			s.queue, s.at = s.queue[:0], 0
			if err := s.fill(); err != nil {
				if err == io.EOF && n > 0 {
					return n, nil
				}
				return n, err
			}
			continue
		}
		k := copy(events[n:], s.queue[s.at:])
		n, s.at = n+k, s.at+k
	}
	return n, nil
}

// fill decodes records until there are events.
func (s *eventStream) fill() error {
	var rec rawRecord
	for len(s.queue) == 0 {
		if s.done {
			return io.EOF
		}
		switch err := s.file.next(&rec); {
		case err == io.EOF:
			s.done = true
			s.release()
			s.endRun()
			s.putLacks(math.MaxInt64)
			if s.file.head.full() {
				s.off(s.last)
				if s.end > 0 {
					s.put(picoseconds(s.end), trace.Event{Kind: trace.ProgramEnd})
				}
			}
		case err != nil:
			return err
		default:
			if s.dropped != nil {
				s.begin(picoseconds(rec.enter))
			}
			if rec.kind == rawSample || rec.kind == rawNoCPU {
				s.hold(&rec)
				continue
			}
			if rec.kind == rawSpan {
				s.wakeUps(&rec)
			}
			s.release()
			s.take(&rec)
		}
	}
	return nil
}

// hold keeps a sample or a time without a CPU until the next record is known: a sample that is due while a thread sleeps is taken when it
// wakes up, before the record of the wait, which says where it slept.
func (s *eventStream) hold(rec *rawRecord) {
	const most = 16 // signals may wake up a thread several times
	if len(s.held) == most {
		s.take(&s.held[0])
		s.held = slices.Delete(s.held, 0, 1)
	}
	s.held = append(s.held, *rec)
	last := &s.held[len(s.held)-1]
	last.data, last.counted = slices.Clone(rec.data), slices.Clone(rec.counted)
}

// wakeUps takes out what was held and is part of a wait. Its times without a CPU are; its samples say nothing new.
func (s *eventStream) wakeUps(wait *rawRecord) {
	s.held = slices.DeleteFunc(s.held, func(rec rawRecord) bool {
		if rec.enter < wait.enter {
			return false
		}
		if rec.kind == rawNoCPU {
			s.lack(&rec)
		}
		return true
	})
}

// release takes what was held.
func (s *eventStream) release() {
	for i := range s.held {
		s.take(&s.held[i])
	}
	s.held = s.held[:0]
}

// put adds an event; times do not decrease.
func (s *eventStream) put(time int64, e trace.Event) {
	e.Time = max(time, s.last)
	s.last = e.Time
	s.queue = append(s.queue, e)
}

// lack keeps a time without a CPU for putLacks.
func (s *eventStream) lack(rec *rawRecord) {
	s.lacks = append(s.lacks, trace.Event{Kind: trace.NoCPU, Time: picoseconds(rec.enter), Size: picoseconds(int64(rec.word(0)))})
}

// putLacks adds the times without a CPU up to a time. A worker that is idle after a parallel region learns of its end only later, and the
// record of that end comes after those of the times without a CPU since then.
func (s *eventStream) putLacks(until int64) {
	for len(s.lacks) > 0 && s.lacks[0].Time <= until {
		s.put(s.lacks[0].Time, s.lacks[0])
		s.lacks = s.lacks[1:]
	}
}

func (s *eventStream) stack(path uint32) uint32 {
	if int(path) < len(s.stacks) {
		return s.stacks[path]
	}
	return 0
}

func (s *eventStream) decode(rec *rawRecord) {
	enter, leave := picoseconds(rec.enter), picoseconds(rec.leave)
	if rec.kind != rawNoCPU {
		wait, call := rec.kind == rawSpan, rec.isCall()
		if wait && s.left != 0 || call && s.left == rawSpan {
			s.sleep(enter, s.stack(rec.path))
		}
		if s.left = 0; wait || call {
			s.left = rec.kind
		}
	}
	if rec.kind != rawNoCPU && (rec.kind != rawSample || s.stack(rec.path) != 0) {
		s.putLacks(enter)
	}
	if !rec.isCall() && rec.kind != rawSample {
		s.count(enter, rec.counted)
	}
	switch rec.kind {
	case rawSample:
		s.sample(enter, s.stack(rec.path), rec.function != 0)
		s.count(enter, rec.counted)
	case rawSpan:
		s.span(enter, leave, s.stack(rec.path), rec.open)
	case rawEnter:
		s.enter(enter, s.code[rec.word(0)])
	case rawLeave:
		s.leave(enter, s.code[rec.word(0)])
	case rawRegionEnter:
		s.enter(enter, s.names[uint32(rec.word(0))])
	case rawRegionLeave:
		s.leave(enter, s.names[uint32(rec.word(0))])
	case rawOMP:
		s.openMP(enter, rec)
	case rawOff:
		s.off(enter)
	case rawSkips:
		for i := 0; i+skipWords <= rec.words(); i += skipWords {
			s.skipped(enter, skipOf(rec.list(i, skipWords)))
		}
	case rawOn:
		s.put(enter, trace.Event{Kind: trace.RecordingOn})
	case rawNoCPU:
		s.lack(rec)
		if n := len(s.open); s.left == 0 && (n == 0 || s.open[n-1] != s.omp[ompImplicitBarrier]) {
			s.putLacks(enter)
		}
	case rawThreadBegin:
		s.put(enter, trace.Event{Kind: trace.ThreadBegin})
	case rawThreadEnd:
		s.leaveAll(enter)
		s.endSeen(enter)
		s.put(enter, trace.Event{Kind: trace.ThreadEnd})
	case rawProgramBegin:
		s.put(enter, trace.Event{Kind: trace.ProgramBegin})
	case rawProgramEnd:
		s.leaveAll(enter)
		s.endSeen(enter)
		s.put(enter, trace.Event{Kind: trace.ProgramEnd})
	default:
		s.call(rec, enter, leave)
	}
}

// count gives the values of the metrics at a time; times before the last event are those of what is part of it.
func (s *eventStream) count(time int64, values []byte) {
	if time < s.last || len(values) != 8*len(s.metrics) {
		return
	}
	for i, metric := range s.metrics {
		s.put(time, trace.Event{Kind: trace.Count, Object: metric, Request: binary.LittleEndian.Uint64(values[8*i:])})
	}
}

// sample takes a sample. One that comes late has found the thread without a CPU, in the system or asleep. In the first two
// cases the time since the event before belongs to it. Where the thread slept is known only as far as the call paths before and after
// agree.
func (s *eventStream) sample(time int64, stack uint32, slept bool) {
	if time < s.last || stack == 0 || s.forks {
		return // inside of a run of polls, or of the runtime
	}
	if s.last > 0 && s.period > 0 && time-s.last > 3*s.period {
		there := stack
		if slept {
			there = s.common(s.before, stack)
		}
		if there != 0 {
			s.put(s.last+s.period, trace.Event{Kind: trace.Sample, Stack: there})
		}
		if there != 0 && slept {
			s.put(time-s.period, trace.Event{Kind: trace.Sample, Stack: there})
		}
	}
	s.before = stack
	s.put(time, trace.Event{Kind: trace.Sample, Stack: stack})
}

// sleep gives a time next to a wait in which no sample was taken, as when a thread waits for a mutex, to what the call paths before and
// after it have in common. The function that waits is one of them.
func (s *eventStream) sleep(until int64, stack uint32) {
	if s.forks || s.period == 0 || until-s.last <= 3*s.period {
		return
	}
	if there := s.common(s.before, stack); there != 0 {
		s.put(s.last+s.period, trace.Event{Kind: trace.Sample, Stack: there})
		s.putLacks(until - s.period)
		s.put(until-s.period, trace.Event{Kind: trace.Sample, Stack: there})
	}
}

// common is the longest stack that two have in common. Stacks come after what they are called from.
func (s *eventStream) common(a, b uint32) uint32 {
	for a != b {
		if a > b {
			a, b = b, a
		}
		b = s.parents[b].Parent
	}
	return a
}

// span is the time that the innermost function of a stack waited in a call of the system; open: it did until the end.
func (s *eventStream) span(enter, leave int64, stack uint32, open bool) {
	if stack == 0 {
		return
	}
	s.before = stack
	node := s.parents[stack]
	s.put(enter, trace.Event{Kind: trace.Enter, Region: node.Region, Stack: node.Parent})
	if !open {
		s.putLacks(leave)
		s.put(leave, trace.Event{Kind: trace.Leave, Region: node.Region})
	}
}

func (s *eventStream) enter(time int64, region uint32) { s.enterFrom(time, region, 0) }

// enterFrom enters a region that is called from a stack; 0: it is not known.
func (s *eventStream) enterFrom(time int64, region, stack uint32) {
	s.open = append(s.open, region)
	s.put(time, trace.Event{Kind: trace.Enter, Region: region, Stack: stack})
}

// leave leaves a region, and those that were left unseen inside of it. What was not entered is not left.
func (s *eventStream) leave(time int64, region uint32) {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i] != region {
			continue
		}
		for len(s.open) > i {
			inner := s.open[len(s.open)-1]
			s.open = s.open[:len(s.open)-1]
			s.put(time, trace.Event{Kind: trace.Leave, Region: inner})
		}
		return
	}
}

// leaveAll leaves all regions.
func (s *eventStream) leaveAll(time int64) {
	for len(s.open) > 0 {
		s.leave(time, s.open[len(s.open)-1])
	}
}

func (s *eventStream) openMP(time int64, rec *rawRecord) {
	const addressBits = 48
	code := rec.word(0) & (1<<addressBits - 1)
	switch rec.function {
	case ompFork:
		s.put(time, trace.Event{Kind: trace.Fork, Size: int64(rec.word(0) >> addressBits)})
		s.forks = s.stack(rec.path) != 0
	case ompJoin:
		s.forks = false
		s.put(time, trace.Event{Kind: trace.Join})
	case ompTeamBegin:
		s.forks = false
		s.put(time, trace.Event{Kind: trace.TeamBegin})
		s.enterFrom(time, s.code[code], s.stack(rec.path))
	case ompTeamEnd:
		if n := len(s.open); n > 0 {
			s.leave(time, s.open[n-1])
		}
		s.put(time, trace.Event{Kind: trace.TeamEnd})
	default:
		if region, ok := s.omp[rec.function]; ok {
			s.enter(time, region)
		} else if region, ok := s.omp[rec.function-1]; ok {
			s.leave(time, region)
		}
	}
}
