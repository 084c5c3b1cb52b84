package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/allprof"
	"slackline/model/trace/damage"
)

// The text that liballprof, the tracer that belongs to LogGOPSim, writes: a file for each rank, a line for
// each MPI call.
//
//	pmpi-trace-rank-00.txt   prefix, rank (with or without leading zeros), suffix
//
//	# a comment; some tell the host and how the clock differs from that of rank 0
//	MPI_Send:1700000000000732:80000:4500:10,8,8:1:3:1140850688,0,2:1700000000000741
//
// A line is the name, the start in microseconds, the arguments, the end. Pointers are addresses, a datatype is
// code,size,extent, a communicator is handle,rank,size; arrays of counts are an address and a list. How
// it becomes a Trace:
//
//   - The clock of a rank starts at the end of its MPI_Init; how far that is from the start of rank 0,
//     with the difference that was measured, is an offset of the clock.
//   - A request is known by its address. Waitall names the first of several, 8 bytes apart (Open MPI) or
//     4 (MPICH): whichever leads to more requests that are in use, unless Options.RequestSize says it.
//   - Test, Testany, Waitany and their like do not record what they completed. A request that no Wait names
//     before its address is used again was completed by the last of them that names it.
//   - Receives from any source, or with any tag, get the message that was sent first of those that fit.
//   - The members of a communicator follow from MPI_Comm_split and MPI_Comm_dup. The messages of one that
//     does not follow from anything are left out, with a warning.
var allprofFormat = Format{
	Name: "liballprof", Noun: "liballprof", Info: "text of liballprof, the tracer of LogGOPSim",
	Sniff: sniffAllprof,
	Main: func(names []string) string {
		for _, name := range names {
			if prefix, rank, _, ok := splitRankName(name); ok && strings.HasPrefix(prefix, "pmpi-trace-rank-") && strings.Trim(rank, "0") == "" {
				return name
			}
		}
		return ""
	},
	Beside: func(main, other string) bool {
		prefix, _, suffix, _ := splitRankName(main)
		begin, _, end, ok := splitRankName(other)
		return ok && begin == prefix && end == suffix
	},
	read: readAllprof,
}

// allprofLine is how a line of a call begins.
var allprofLine = regexp.MustCompile(`^MPI_[A-Za-z0-9_]+:(-|[0-9.]+):`)

// sniffAllprof looks at the first line that is not a comment.
func sniffAllprof(head []byte) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(head, []byte(byteOrderMark))) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			return allprofLine.Match(text)
		}
	}
	return false
}

// splitRankName cuts the name of a file around the rank, the number after the last minus sign.
func splitRankName(name string) (prefix, rank, suffix string, ok bool) {
	at := strings.LastIndexByte(name, '-') + 1
	end := at
	for end < len(name) && name[end] >= '0' && name[end] <= '9' {
		end++
	}
	return name[:at], name[at:end], name[end:], at > 0 && end > at
}

// allprofTrace is a trace that is being opened.
type allprofTrace struct {
	src      source
	prefix   string
	digits   int
	suffix   string
	o        Options
	trace    *Trace
	scans    []*allprofScan // by rank; nil: the file is missing
	regions  map[string]uint32
	comms    *allprofComms
	wildcard [][]allprofMatch // by rank: what receives from any source got
}

// readAllprof opens a trace by the file of rank 0.
func readAllprof(src source, o Options) (*Trace, error) {
	prefix, rank, suffix, ok := splitRankName(path.Base(src.main))
	if !ok {
		return nil, &damage.Error{File: src.show, Offset: -1, What: "the name has no rank in it; liballprof calls its files " +
			"NAME-0.txt, NAME-1.txt ..."}
	}
	a := &allprofTrace{src: src, prefix: prefix, digits: len(rank), suffix: suffix, o: o, trace: &Trace{}, regions: map[string]uint32{}}
	if err := a.scanFiles(); err != nil {
		return nil, err
	}
	a.define()
	a.comms = resolveComms(a)
	a.trace.Comms = a.comms.list
	a.matchWildcards()
	a.trace.Open = a.openEvents
	return a.trace, nil
}

// fileOf returns the name of the file of a rank that exists.
func (a *allprofTrace) fileOf(rank int) (string, bool) {
	number := strconv.Itoa(rank)
	padded := strings.Repeat("0", max(a.digits-len(number), 0)) + number
	for _, name := range []string{a.prefix + padded + a.suffix, a.prefix + number + a.suffix} {
		if info, err := fs.Stat(a.src.fsys, a.src.beside(name)); err == nil && !info.IsDir() {
			return name, true
		}
	}
	return a.prefix + padded + a.suffix, false
}

// scanFiles looks through the files of all ranks. There are as many ranks as there are files without a hole,
// or as the largest communicator says.
func (a *allprofTrace) scanFiles() error {
	ranks, missing := 0, 0
	for rank := 0; ; rank++ {
		name, ok := a.fileOf(rank)
		if !ok && rank >= ranks {
			break
		}
		var scan *allprofScan
		if ok {
			var err error
			if scan, err = a.scan(name, rank); err != nil {
				return err
			}
			if scan.world > maxAllprofRanks {
				return damage.At(a.src.showBeside(name), -1, "a communicator of %d ranks; the limit is %d", scan.world, maxAllprofRanks)
			}
			ranks = max(ranks, scan.world)
		} else if missing++; missing <= maxListed {
			a.warn("%s: the file of rank %d is missing", a.src.showBeside(name), rank)
		}
		a.scans = append(a.scans, scan)
	}
	if missing > maxListed {
		a.warn("%s: the files of %d more ranks are missing", a.src.show, missing-maxListed)
	}
	if len(a.scans) == 0 {
		return damage.At(a.src.show, -1, "there is no file of rank 0 beside it")
	}
	a.trace.Ranks = len(a.scans)
	return nil
}

// maxAllprofRanks bounds what a number in a file can make of the memory.
const maxAllprofRanks = 1 << 20

func (a *allprofTrace) warn(format string, args ...any) {
	a.trace.Warnings = append(a.trace.Warnings, fmt.Sprintf(format, args...))
}

// define makes locations and regions, and finds the offsets of the clocks.
func (a *allprofTrace) define() {
	d := &a.trace.Definitions
	d.Stacks = []Stack{{}}
	d.Tool = "liballprof"
	unit := a.clockUnit()
	some := slices.IndexFunc(a.scans, func(s *allprofScan) bool { return s != nil })
	for rank, scan := range a.scans {
		l := Location{ID: uint64(rank), Rank: rank}
		if scan == nil {
			name, _ := a.fileOf(rank)
			l.Missing, l.Unreadable = true, fmt.Sprintf("%s: the file of rank %d is missing", a.src.showBeside(name), rank)
			d.Locations = append(d.Locations, l)
			continue
		}
		a.trace.Warnings = append(a.trace.Warnings, scan.warnings...)
		l.Host, l.Events, l.Truncated = scan.host, scan.events, !scan.finalized
		if l.Events == 0 {
			l.Missing, l.Unreadable = true, fmt.Sprintf("%s: there is no event of rank %d in it", scan.show, rank)
		}
		if l.Truncated {
			a.warn("%s: there is no MPI_Finalize at the end: the file is truncated", scan.show)
		}
		if l.Events > 0 && !slices.Contains(scan.names, "MPI_Init") && !slices.Contains(scan.names, "MPI_Init_thread") {
			a.warn("%s: there is no MPI_Init: the start of the file is missing", scan.show)
		}
		if scan.others > 0 && !scan.own {
			a.warn("%s: its calls name rank %d of %d, not %d: is it the file of another rank?", scan.show, scan.others-1, scan.world, rank)
		}
		if scan.hasDiff != a.scans[some].hasDiff {
			a.warn("%s: only some ranks name the difference of their clock from that of rank 0 (# clockdiff): lines are missing", scan.show)
		}
		for _, name := range scan.names {
			if _, ok := a.regions[name]; !ok {
				a.regions[name] = uint32(len(d.Regions))
				d.Regions = append(d.Regions, timeline.RegionNamed(name))
			}
		}
		l.Offsets = a.offsets(scan, unit)
		d.Locations = append(d.Locations, l)
	}
}

// clockUnit returns the unit in which differences of clocks are given, in picoseconds. They should be in seconds, but
// the tracer has long printed microseconds with an s after them. The end of MPI_Init, which all ranks
// leave at about the same time, shows it.
func (a *allprofTrace) clockUnit() float64 {
	inSeconds, inMicroseconds := 0.0, 0.0
	first := a.scans[0]
	for _, scan := range a.scans {
		if scan == nil || first == nil || !scan.hasDiff {
			continue
		}
		skew := (scan.base.Sub(first.base))
		inSeconds = max(inSeconds, math.Abs(skew+scan.initDiff*second))
		inMicroseconds = max(inMicroseconds, math.Abs(skew+scan.initDiff*1e6))
	}
	const millisecond = 1e9
	if inSeconds > millisecond && inSeconds > 10*inMicroseconds {
		a.warn("%s: the differences of clocks are taken as microseconds, because as seconds they would be too large", a.src.show)
		return 1e6
	}
	return second
}

// offsets returns the offsets of the clock of a rank.
func (a *allprofTrace) offsets(scan *allprofScan, unit float64) []ClockOffset {
	first := a.scans[0]
	if first == nil || scan == first {
		return nil
	}
	apart := scan.base.Sub(first.base) // of the starts of the clocks
	const hour = 3600 * second
	begin, end := apart+scan.initDiff*unit, apart+scan.finalDiff*unit
	if !scan.hasFinal {
		end = begin
	}
	if math.Abs(begin) > hour || math.Abs(end) > hour {
		a.warn("%s: the clock is more than an hour away from that of rank 0; their MPI_Init is taken as simultaneous", scan.show)
		return nil
	}
	return []ClockOffset{
		{Time: 0, Offset: int64(math.Round(begin))},
		{Time: max(scan.last, 1), Offset: int64(math.Round(end))},
	}
}

// openEvents opens the events of location i.
func (a *allprofTrace) openEvents(i int) (EventReader, error) {
	scan := a.scans[i]
	if scan == nil {
		name, _ := a.fileOf(i)
		return nil, damage.At(a.src.showBeside(name), -1, "the file is missing")
	}
	file, err := a.src.open(scan.name)
	if err != nil {
		return nil, err
	}
	r := &allprofReader{file: file, lines: scanLines(file)}
	r.walker = newAllprofWalker(scan, a.o.RequestSize)
	r.walker.bindings, r.walker.plan = a.comms.bindings[i], scan.plan
	if a.wildcard != nil {
		r.walker.matches = a.wildcard[i]
	}
	r.walker.regions, r.walker.emit = a.regions, func(e Event) { r.queue = append(r.queue, e) }
	return r, nil
}

// allprofReader turns the lines of a file into events.
type allprofReader struct {
	file   fs.File
	lines  *bufio.Scanner
	walker *allprofWalker
	queue  []Event
	err    error
}

// Read implements EventReader.
func (r *allprofReader) Read(events []Event) (int, error) {
	for len(r.queue) < len(events) && r.err == nil {
		if !r.lines.Scan() {
			r.err = cmp.Or(r.lines.Err(), io.EOF)
			break
		}
		if err := r.walker.line(r.lines.Bytes()); err != nil {
			r.err = &damage.Error{File: r.walker.scan.show, Line: r.walker.number, Offset: -1, What: err.Error()}
		}
	}
	n := copy(events, r.queue)
	if n == 0 {
		return 0, r.err
	}
	r.queue = slices.Delete(r.queue, 0, n)
	return n, nil
}

// Close implements EventReader.
func (r *allprofReader) Close() error { return r.file.Close() }

// byteOrderMark is what some editors write at the start of a text.
const byteOrderMark = "\ufeff"

// scanLines reads lines of any length.
func scanLines(in io.Reader) *bufio.Scanner {
	text := bufio.NewReader(in)
	if start, err := text.Peek(len(byteOrderMark)); err == nil && string(start) == byteOrderMark {
		_, _ = text.Discard(len(start)) // they are there
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, 1<<16), math.MaxInt)
	return lines
}

// allprofScan is what a first look at the file of a rank shows.
type allprofScan struct {
	name, show string
	rank       int
	host       string
	base       allprof.Time // where the clock of the rank starts
	hasBase    bool
	initDiff   float64 // of the clock from that of rank 0, as the file says it
	finalDiff  float64
	hasDiff    bool
	hasFinal   bool
	world      int      // size of the largest communicator
	own        bool     // a communicator of that size has the rank of the file
	others     int      // one has another rank: that, and 1
	names      []string // of calls, in the order in which they come
	events     uint64
	last       int64 // time
	finalized  bool
	wildcards  int              // receives without a known message
	plan       map[int][]uint64 // which requests are complete after a test, by line
	comms      []allprofCommUse
	warnings   []string
}

// allprofCommUse is a use of a communicator that is new, or the making of another one out of it.
type allprofCommUse struct {
	line int
	allprof.Comm
	action     allprof.Action // doNothing, doSplit, doDup
	color, key int64
}

// allprofPlanner finds out which tests complete which requests: the last one that names a request that no wait
// names before its address is used again.
type allprofPlanner struct {
	covered map[uint64]int // line of the last test, by address
	plan    map[int][]uint64
}

// settle notes that the request of an address must have been completed.
func (p *allprofPlanner) settle(address uint64) {
	if line, ok := p.covered[address]; ok {
		p.plan[line] = append(p.plan[line], address)
		delete(p.covered, address)
	}
}

// scan looks through the file of a rank.
func (a *allprofTrace) scan(name string, rank int) (*allprofScan, error) {
	s := &allprofScan{name: name, show: a.src.showBeside(name), rank: rank}
	file, err := a.src.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	w := newAllprofWalker(s, a.o.RequestSize)
	planner := &allprofPlanner{covered: map[uint64]int{}, plan: map[int][]uint64{}}
	known := map[string]bool{}
	seen := map[int64]allprof.Comm{}
	broken := 0 // calls whose arguments are not what they should be
	w.planning, w.comment = planner, s.comment
	w.emit = func(e Event) {
		s.events++
		if e.Kind == Enter {
			if !known[w.call.Name] {
				known[w.call.Name] = true
				s.names = append(s.names, w.call.Name)
			}
			s.finalized = w.call.Action == allprof.DoFinalize
			if w.call.Arguments != "" && !w.call.Whole {
				broken++
			}
		}
	}
	w.using = func(m allprof.Comm) {
		if m.Size > s.world {
			s.world, s.own, s.others = m.Size, false, 0
		}
		if m.Size == s.world && m.Rank == s.rank {
			s.own = true
		} else if m.Size == s.world {
			s.others = m.Rank + 1
		}
		if before, ok := seen[m.Handle]; !ok || before != m {
			seen[m.Handle] = m
			s.comms = append(s.comms, allprofCommUse{line: w.number, Comm: m})
		}
	}
	w.creating = func(c *allprof.Call) {
		s.comms = append(s.comms, allprofCommUse{line: w.number, Comm: c.Comm, action: c.Action, color: c.Color, key: c.Key})
	}
	w.observe = func(m *allprofMessage) {
		if m.wildcard() {
			s.wildcards++
		}
	}
	wrong, err := walkLines(file, w)
	if err != nil {
		return nil, err
	}
	if wrong != nil {
		s.warnings = append(s.warnings, fmt.Sprintf("%s:%d: %v; this call and all after it are left out", s.show, w.number, wrong))
		s.finalized = true // nothing more to report about the end
	}
	if w.back > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("%s: time goes back %d times; calls were put one after the other", s.show, w.back))
	}
	if broken > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("%s: %d calls have other arguments than they should; they are taken as calls that do nothing",
			s.show, broken))
	}
	s.last = w.now
	for address := range w.requests {
		planner.settle(address)
	}
	for _, list := range planner.plan {
		slices.Sort(list)
	}
	s.plan = planner.plan
	return s, nil
}

// walkLines sends a walker through a file, up to a line that is wrong.
func walkLines(in io.Reader, w *allprofWalker) (wrong, err error) {
	lines := scanLines(in)
	for wrong == nil && lines.Scan() {
		wrong = w.line(lines.Bytes())
	}
	return wrong, lines.Err()
}

// comment takes in a comment.
func (s *allprofScan) comment(text []byte) {
	key, value, ok := strings.Cut(strings.TrimSpace(string(text[:min(len(text), 1000)])), ":")
	if !ok {
		return
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(key) {
	case "host", "hostname":
		s.host = strings.TrimSuffix(value, ".(none)")
	case "clockdiff", "init clockdiff":
		s.initDiff, s.hasDiff = clockDifference(value)
	case "finalize clockdiff":
		s.finalDiff, s.hasFinal = clockDifference(value)
	}
}

// clockDifference reads a number that words may follow.
func clockDifference(value string) (float64, bool) {
	number, _, _ := strings.Cut(value, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v > 1e12 || v < -1e12 || v != v {
		return 0, false
	}
	return v, true
}
