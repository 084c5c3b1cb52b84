package kineto

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"slackline/internal/phrase"
	"slackline/internal/plain"
	"slackline/model/trace/damage"
)

// The trace event format of Chrome is what chrome://tracing and ui.perfetto.dev show, and what many tools and programs write: JSON, packed
// by gzip or not, of a list of events, or of an object with that list as its member traceEvents. A list may lack its end.
//
//	[
//	  {"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "rank 0"}},
//	  {"ph": "X", "pid": 1, "tid": 1, "ts": 10.5, "dur": 20, "name": "solve"},
//	  {"ph": "B", "pid": 1, "tid": 2, "ts": 11, "name": "write"},
//	  {"ph": "E", "pid": 1, "tid": 2, "ts": 17.25}
//	]
//
// Which events matter, by ph:
//
//   - X is a call of the thread tid of the process pid, from ts on and as long as dur, in microseconds with any number of decimals; they
//     are kept to the picosecond. Calls of a thread are nested by their times; one that goes on after the call around it is cut there. If
//     that is more than a microsecond later, a warning counts it; the rank is incomplete if that is more than 1 % of
//     the time of its threads.
//   - B and E are the two ends of a call. Those of a thread must be in the order of time. A call without E lasts until the end of the
//     file, and an E without B is left out; a note counts both. An E may have the name of its B. If it has that of a call further out, it
//     ends the calls inside, too, and if no open call has its name, it is left out: a warning counts these, and the rank is incomplete.
//   - M with the name process_name, thread_name or process_sort_index, and name or sort_index in its args.
//   - All others are left out: instants, counters (ph C, which are values of a process and not what a thread counts), asynchronous
//     events, flows, objects. A note counts the counters.
//
// Processes with calls become ranks. If the names of all of them (or those of the files, one process in each) have the word rank or worker
// and a number below 65536, that is the rank; else they are numbered in the order of their sort index, then pid. The thread whose tid is
// the pid is the first one of a rank, or else the one whose first call is the earliest. Calls named as those of MPI are such calls, but
// without their messages.
//
// Files of the PyTorch profiler are in the same format; they are known by its members (schemaVersion, deviceProperties, ...) and categories
// (cpu_op, kernel, ...), and what these mean is used, too.
//
// A reader rejects: JSON with a syntax error or without its end, B and E events out of order, and more than 1024 processes in a file (what
// comes before is read, with a warning that names the byte); a file without calls. Events without a valid time are counted and left out.

// maxProcesses bounds what a file can make of one process: a list of calls for each.
const maxProcesses = 1024

// maxNamedRank bounds the ranks that names of processes give: those without a process are ranks, too.
const maxNamedRank = 1 << 16

// isKineto reports whether a file of trace events begins like one of the PyTorch profiler.
func isKineto(head []byte) bool {
	for _, key := range []string{`"baseTimeNanoseconds"`, `"deviceProperties"`, `"distributedInfo"`, `"schemaVersion"`} {
		if bytes.Contains(head, []byte(key)) {
			return true
		}
	}
	for {
		_, rest, found := bytes.Cut(head, []byte(`"cat"`))
		if !found {
			return false
		}
		head = bytes.TrimLeft(rest, " \t\r\n:")
		if n, err := jsonLength(head); err == nil && kindOf[string(unquoted(head[:n]))] != kindOther {
			return true
		}
	}
}

// SniffChrome looks for trace events that are not those of the PyTorch profiler.
func SniffChrome(head []byte) bool {
	head = unpackedHead(head)
	return areTraceEvents(head) && !isKineto(head)
}

// chromeFile is a file while it is read.
type chromeFile struct {
	names     *rankFile // of the calls of all processes, and the numbers of ids that are words
	processes []*chromeProcess
	byPid     map[int64]*chromeProcess
	latest    int64 // end of a call, ps since the origin
	counters  int64 // values
	lone      int64 // ends without a start
	open      int64 // calls without an end
	crossed   int64 // ends with another name than the call that was begun last
	skipped   int64 // events without a valid time
	calls     int64 // events of calls
	odd       oddEvents
	damage    error
}

// chromeProcess is a process of a file.
type chromeProcess struct {
	*rankFile
	pid, place int64
	stacks     []chromeStack // by thread
}

// chromeStack are the calls of a thread that have started with B.
type chromeStack struct {
	calls []int32
	now   int64 // time of the last B or E
	begun bool
}

// ReadChrome reads the files of a trace that lie in a directory. Messages call a file what show makes of its name.
func ReadChrome(fsys fs.FS, dir string, names []string, show func(name string) string, interrupt func() error) (*Profile, error) {
	files, err := readEach(fsys, dir, names, show, func(in io.Reader, _, shown string) (*chromeFile, error) {
		return readChrome(&jsonStream{in: in}, shown, interrupt)
	})
	if err != nil {
		return nil, err
	}
	k := &Profile{oneClock: len(names) == 1}
	var sums chromeFile
	for i, f := range files {
		if f.damage != nil {
			k.warn("%v; the events before it are read", f.damage)
		}
		if f.skipped > 0 {
			k.warn("%s: %d events have no valid time and are left out", show(names[i]), f.skipped)
		}
		if f.odd.anonymous == f.calls {
			f.odd.anonymous = 0 // the file does without
		}
		f.odd.nameless = f.names.odd.nameless
		if f.crossed > 0 {
			k.warn("%s: %s (ph E) with another name than the call of the thread that was begun last (ph B); calls or events are missing",
				show(names[i]), phrase.Plural(f.crossed, "end"))
		}
		for _, note := range f.odd.notes() {
			k.warn("%s: %s", show(names[i]), note)
		}
		sums.counters, sums.lone, sums.open = sums.counters+f.counters, sums.lone+f.lone, sums.open+f.open
		for _, p := range f.processes {
			if len(f.processes) == 1 && len(names) > 1 {
				p.name = names[i]
			}
			k.files = append(k.files, p.rankFile)
		}
	}
	if len(k.files) == 0 {
		if d := files[0].damage; d != nil {
			return nil, d
		}
		return nil, damage.At(show(names[0]), -1, "there is no call in the trace: neither a complete event (ph X) nor a start (ph B)")
	}
	k.notes = sums.notes()
	k.numberProcesses()
	return k, nil
}

// notes say what was left out or completed.
func (f *chromeFile) notes() (list []string) {
	for _, n := range []struct {
		count      int64
		noun, what string
	}{
		{f.counters, "counter value", "left out: a process has them, and no thread counts them"},
		{f.lone, "end", "(ph E) left out: no call of the thread is open"},
		{f.open, "call", "without an end (ph E): taken to last until the end of the trace"},
	} {
		if n.count > 0 {
			list = append(list, phrase.Plural(n.count, n.noun)+" "+n.what)
		}
	}
	return list
}

// numberProcesses finds the rank of each process: the number in all their names, or the place.
func (k *Profile) numberProcesses() {
	seen := map[int]bool{}
	for _, f := range k.files {
		f.rank = -1
		if m := rankInName.FindStringSubmatch(f.name); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n < maxNamedRank && !seen[n] {
				f.rank, seen[n] = n, true
			}
		}
	}
	for i, f := range k.files {
		if len(seen) < len(k.files) {
			f.rank = i
		}
		k.Ranks = max(k.Ranks, f.rank+1)
	}
	slices.SortFunc(k.files, func(x, y *rankFile) int { return cmp.Compare(x.rank, y.rank) })
}

// readChrome reads a file as far as it is whole.
func readChrome(s *jsonStream, show string, interrupt func() error) (*chromeFile, error) {
	f := &chromeFile{names: newRankFile(-1, show), byPid: map[int64]*chromeProcess{}}
	c, _ := s.next()
	err := readTraceEvents(s, interrupt, f.event, func([]byte, []byte) error { return nil })
	var stop *interruption
	if errors.As(err, &stop) {
		return nil, stop.cause
	}
	if err != nil && !(c == '[' && errors.Is(err, errListCut)) {
		f.damage = damage.At(show, s.offset+int64(s.at), "%v", err)
	}
	f.processes = slices.DeleteFunc(f.processes, func(p *chromeProcess) bool { return p.calls.len() == 0 })
	slices.SortStableFunc(f.processes, func(x, y *chromeProcess) int {
		return cmp.Or(cmp.Compare(x.place, y.place), cmp.Compare(max(x.pid, -1), max(y.pid, -1)))
	})
	for _, p := range f.processes {
		p.names, p.damage, p.origin, p.begun = f.names.names, f.damage, f.names.origin, true
		for _, stack := range p.stacks {
			for _, number := range stack.calls {
				p.calls.at(number).end = f.latest
				f.open++
			}
		}
		p.stacks = nil
	}
	return f, nil
}

// event reads the event that b begins with, and returns its length.
func (f *chromeFile) event(b []byte) (int, error) {
	size, err := jsonLength(b)
	if err != nil {
		return 0, err
	}
	var raw [memberCategory + 1][]byte
	var args []byte
	if err := members(b[:size], func(key, v []byte) error {
		return keep(&raw, &args, memberOf(key, false), key, v)
	}); err != nil {
		return 0, err
	}
	pid, err := f.names.id(raw[memberPid])
	if err != nil {
		return 0, err
	}
	tid, err := f.names.id(raw[memberTid])
	if err != nil {
		return 0, err
	}
	at := threadID{pid, tid}
	phase := string(unquoted(raw[memberPhase]))
	switch phase {
	case "X", "B", "E":
		f.calls++
		if raw[memberPid] == nil || raw[memberTid] == nil {
			f.odd.anonymous++
		}
		if phase == "X" && raw[memberDuration] == nil {
			f.odd.endless++
		}
		return size, f.call(phase[0], at, &raw)
	case "M":
		return size, f.describe(at, raw[memberName], args)
	case "C":
		f.counters++
	default:
		if kindless(raw[memberPhase]) {
			f.odd.kindless++
		}
	}
	return size, nil
}

// process is the process of an event.
func (f *chromeFile) process(pid int64) (*chromeProcess, error) {
	p, ok := f.byPid[pid]
	if !ok {
		if len(f.processes) == maxProcesses {
			return nil, fmt.Errorf("there are more than %d processes; split the file", maxProcesses)
		}
		p = &chromeProcess{rankFile: newRankFile(-1, f.names.show), pid: pid}
		p.bare = true
		f.byPid[pid] = p
		f.processes = append(f.processes, p)
	}
	return p, nil
}

// describe takes the name of a process or thread.
func (f *chromeFile) describe(at threadID, name, args []byte) error {
	what := string(unquoted(name))
	if what != "process_name" && what != "thread_name" && what != "process_sort_index" || len(args) == 0 || args[0] != '{' {
		return nil
	}
	p, err := f.process(at.pid)
	if err != nil {
		return err
	}
	var seen values
	return members(args, func(key, v []byte) error {
		switch {
		case what == "process_sort_index" && string(key) == "sort_index":
			p.place, _ = integer(v)
		case string(key) != "name":
			return nil
		case what == "process_name":
			p.name = plain.Name(unescaped(string(unquoted(v))))
		default:
			if p.labels == nil {
				p.labels = map[threadID]string{}
			}
			p.labels[at] = plain.Name(unescaped(string(unquoted(v))))
		}
		return seen.once(key, v)
	})
}

// call takes a call, or one of its ends.
func (f *chromeFile) call(phase byte, at threadID, raw *[memberCategory + 1][]byte) error {
	us, ps, ok := micros(raw[memberTime])
	lasts, part := int64(0), int64(0)
	if len(raw[memberDuration]) > 0 && phase == 'X' {
		var okToo bool
		lasts, part, okToo = micros(raw[memberDuration])
		ok = ok && okToo
	}
	if ok && !f.names.begun {
		f.names.origin, f.names.begun = us, true
	}
	const far = math.MaxInt64 / 4 / 1_000_000
	if us -= f.names.origin; !ok || us > far || us < -far || lasts < 0 || lasts > far {
		f.skipped++
		return nil
	}
	begin := us*1_000_000 + ps
	end := begin + lasts*1_000_000 + part
	p, err := f.process(at.pid)
	if err != nil {
		return err
	}
	f.latest = max(f.latest, end)
	if phase == 'X' {
		_, err = p.addCall(at, begin, end, f.names.nameOf(raw[memberName]), 0)
		return err
	}
	thread := p.threadOf(at)
	for int(thread) >= len(p.stacks) {
		p.stacks = append(p.stacks, chromeStack{})
	}
	stack := &p.stacks[thread]
	if stack.begun && begin < stack.now {
		return fmt.Errorf("an event (ph %c) is earlier than the one before it of its thread; sort B and E events by their time (ts)", phase)
	}
	stack.now, stack.begun = begin, true
	if phase == 'B' {
		number, err := p.addCall(at, begin, begin, f.names.nameOf(raw[memberName]), 0)
		if err == nil {
			stack.calls = append(stack.calls, number)
		}
		return err
	}
	n := len(stack.calls)
	if n == 0 {
		f.lone++
		return nil
	}
	ended := n - 1 // the outermost call that it ends
	if len(raw[memberName]) > len(`""`) {
		name := f.names.nameOf(raw[memberName])
		for ended >= 0 && p.calls.at(stack.calls[ended]).name != name {
			ended--
		}
		if ended < n-1 {
			f.crossed++
			p.cut = true
		}
		if ended < 0 {
			return nil
		}
	}
	for _, number := range stack.calls[ended:] {
		p.calls.at(number).end = begin
	}
	stack.calls = stack.calls[:ended]
	return nil
}
