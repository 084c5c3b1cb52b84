package trace

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"slackline/model/trace/allprof"
)

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
		s.world = max(s.world, m.Size)
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
