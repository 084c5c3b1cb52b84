package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/streams"
	"slackline/model/unit"
)

// textReader is the state of reading a text. The first mistake is kept in err and ends the line: what is read
// after it is zero and never used.
type textReader struct {
	d       Definitions
	show    string
	line    int
	words   []word // of the line that have not been read
	err     error
	unit    string
	ranks   int // that are announced
	regions map[string]uint32
	comms   map[string]uint32
	stacks  map[string]uint32
	windows map[string]uint32
	files   map[string]uint32
	metrics map[string]uint32
	events  [][]Event
	trips   []textTrip
	at      int // location being read; -1: none
	open    []uint32
	now     int64
	coords  bool // the last grid has coordinates
	devices []streams.Record
}

// textTrip is an exchange whose partner is not known yet.
type textTrip struct {
	location, index, line int
	rank, thread          int
}

// readText reads a trace as a whole.
func readText(src source, _ Options) (*Trace, error) {
	data, err := src.readMain()
	if err != nil {
		return nil, err
	}
	r := &textReader{
		show: src.show, unit: "ns", at: -1,
		regions: map[string]uint32{}, comms: map[string]uint32{}, stacks: map[string]uint32{},
		windows: map[string]uint32{}, files: map[string]uint32{}, metrics: map[string]uint32{},
	}
	r.d.Stacks = []Stack{{}}
	for line := range strings.Lines(string(data)) {
		r.line++
		var ok bool
		if r.words, ok = splitWords(strings.TrimRight(line, "\n")); !ok {
			r.fail("a quoted word is not ended, or not written as in Go")
		} else if strings.IndexByte(line, 0) >= 0 {
			r.fail("a byte 0: a part of the file is lost")
		} else if r.line == 1 {
			r.header(line)
		} else if len(r.words) > 0 {
			r.readLine()
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	if r.finish(); r.err != nil {
		return nil, r.err
	}
	calls := func(e Event) bool { return e.Kind == Enter || e.Kind == Sample }
	for i := range r.d.Locations {
		if l := &r.d.Locations[i]; l.Thread == 0 && !l.Missing && len(r.devices) == 0 && !slices.ContainsFunc(r.events[i], calls) {
			l.Missing, l.Unreadable = true, fmt.Sprintf("%s: there is no call of rank %d in it", src.show, l.Rank)
		}
	}
	t := newMemory(r.d, r.events)
	if len(r.devices) > 0 {
		t.attach = func(c *conversion, tl *timeline.Timeline) error {
			return attachRecords(c, tl, src.show, func(visit func(*streams.Record) error) error {
				for i := range r.devices {
					if err := visit(&r.devices[i]); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	return t, nil
}

// fail keeps the first mistake, with its line, and drops the rest of the line.
func (r *textReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &damage.Error{File: r.show, Line: r.line, Offset: -1, What: fmt.Sprintf(format, args...)}
	}
	r.words = nil
}

func (r *textReader) header(line string) {
	version := strings.TrimSpace(strings.TrimPrefix(line, textMagic))
	if len(r.words) != 3 || !r.words[1].is("trace") || !r.words[2].is(textVersion) {
		r.fail("the text is in version %q of the format; this slackline reads version %s", version, textVersion)
	}
}

// readLine reads a line that is not empty.
func (r *textReader) readLine() {
	first := r.words[0]
	switch c := first.text[:min(1, len(first.text))]; {
	case first.quoted:
		r.fail("a line begins with %q", first.text)
	case first.is("}"):
		r.closeCall()
	case first.is("..."):
		r.words = r.words[1:]
		r.cutLocation()
	case c == "@":
		r.records(nil)
	case c >= "0" && c <= "9" || c == "-":
		r.call()
	default:
		r.words = r.words[1:]
		r.definition(first.text)
	}
	if len(r.words) > 0 {
		r.fail("%q at the end of the line is too much", r.words[0].text)
	}
}

// definition reads the rest of a line that begins with a keyword.
func (r *textReader) definition(keyword string) {
	var known []string
	for _, line := range textLines {
		if line.keyword == keyword {
			line.read(r)
			return
		}
		known = append(known, line.keyword)
	}
	r.fail("a line begins with %q%s", keyword, suggest.Phrase(keyword, known))
}

// take takes the next word off the line.
func (r *textReader) take(what string) string {
	if len(r.words) == 0 || !r.words[0].quoted && slices.Contains([]string{";", ":", "{", "}"}, r.words[0].text) {
		r.fail("%s is missing", what)
		return ""
	}
	w := r.words[0].text
	r.words = r.words[1:]
	return w
}

// skip takes the next word off the line if it is the given one.
func (r *textReader) skip(text string) bool {
	if len(r.words) > 0 && r.words[0].is(text) {
		r.words = r.words[1:]
		return true
	}
	return false
}

// optional reads what follows a keyword, if that is next.
func optional[T any](r *textReader, keyword string, to *T, read func(what string) T) {
	if r.skip(keyword) {
		*to = read("what follows " + keyword)
	}
}

// textField is a field that may be given after a keyword, in any order with others.
type textField struct {
	keyword string
	read    func()
}

// fields reads the fields of something up to the end of the line or record.
func (r *textReader) fields(of string, known []textField) {
	for len(r.words) > 0 && !r.words[0].is(";") {
		i := slices.IndexFunc(known, func(f textField) bool { return r.skip(f.keyword) })
		if i >= 0 {
			known[i].read()
			continue
		}
		var keywords []string
		for _, f := range known {
			keywords = append(keywords, f.keyword)
		}
		r.fail("%s has no %q%s", of, r.words[0].text, suggest.Phrase(r.words[0].text, keywords))
	}
}

func (r *textReader) time(what string) int64 { return r.parseTime(r.take(what)) }

func (r *textReader) parseTime(w string) int64 {
	text, negative := strings.CutPrefix(w, "-")
	if text != "" && strings.IndexFunc(text, func(c rune) bool { return (c < '0' || c > '9') && c != '.' }) < 0 {
		text += r.unit
	}
	d, err := unit.ParseDuration(text)
	if err != nil {
		r.fail("%v", err)
	}
	if negative {
		d = -d
	}
	return int64(d)
}

// integer reads a number of a range.
func (r *textReader) integer(what string, lowest, highest int64) int64 {
	w := r.take(what)
	v, err := strconv.ParseInt(w, 10, 64)
	if err != nil || v < lowest || v > highest {
		r.fail("%s: %q is not a number from %d to %d", what, w, lowest, highest)
	}
	return v
}

func (r *textReader) int32(what string) int32 {
	return int32(r.integer(what, math.MinInt32, math.MaxInt32))
}

func (r *textReader) rank(what string) int { return int(r.integer(what, 0, maxTextRank)) }

// maxTextRank bounds the memory that a line can take.
const maxTextRank = 1 << 20

func (r *textReader) uint64(what string) uint64 {
	w := r.take(what)
	v, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		r.fail("%s: %q is not a number of up to 64 bits", what, w)
	}
	return v
}

func (r *textReader) float(what string) float64 {
	w := r.take(what)
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		r.fail("%s: %q is not a number", what, w)
	}
	return v
}

func (r *textReader) size(what string) int64 {
	v, err := unit.ParseSize(r.take(what))
	if err != nil {
		r.fail("%v", err)
	}
	return int64(v)
}

// region reads the name of a region, which is defined by it if it is new.
func (r *textReader) region(what string) uint32 {
	w := r.take(what)
	id, ok := r.regions[w]
	if !ok {
		id = uint32(len(r.d.Regions))
		r.regions[w] = id
		r.d.Regions = append(r.d.Regions, timeline.RegionNamed(w))
	}
	return id
}

func (r *textReader) comm(what string) uint32 { return r.key(what, "communicator", r.comms) }

func (r *textReader) window(what string) uint32 { return r.key(what, "window", r.windows) }

func (r *textReader) stack(what string) uint32 { return r.key(what, "stack", r.stacks) }

// key reads a key that must be defined.
func (r *textReader) key(what, kind string, known map[string]uint32) uint32 {
	w := r.take(what)
	id, ok := known[w]
	if !ok {
		r.fail("there is no %s %q%s", kind, w, suggest.Phrase(w, slices.Sorted(maps.Keys(known))))
	}
	return id
}

// finish checks and completes what was read.
func (r *textReader) finish() {
	if r.endLocation(); len(r.d.Locations) == 0 {
		r.fail("the trace has no rank; begin one with rank 0")
		return
	}
	order := make([]int, len(r.d.Locations))
	for i := range order {
		order[i] = i
		r.d.Ranks = max(r.d.Ranks, r.d.Locations[i].Rank+1)
	}
	for _, c := range r.d.Comms {
		for _, m := range slices.Concat(c.Members, c.Remote) {
			r.d.Ranks = max(r.d.Ranks, int(m)+1)
		}
	}
	r.d.Ranks = max(r.d.Ranks, r.ranks)
	slices.SortFunc(order, func(a, b int) int { return r.d.Locations[a].compare(&r.d.Locations[b]) })
	r.sort(order)
	if len(r.d.Comms) == 0 {
		world := timeline.Comm{Name: "MPI_COMM_WORLD"}
		for rank := range r.d.Ranks {
			world.Members = append(world.Members, int32(rank))
		}
		r.d.Comms = append(r.d.Comms, world)
	}
	r.fillCoordinates()
}

// sort brings the locations into order and finds the partners of exchanges.
func (r *textReader) sort(order []int) {
	locations, events := make([]Location, len(order)), make([][]Event, len(order))
	place := map[[2]int]int{}
	for to, from := range order {
		l := r.d.Locations[from]
		if _, twice := place[[2]int{l.Rank, l.Thread}]; twice {
			r.fail("thread %d of rank %d is there twice", l.Thread, l.Rank)
		}
		place[[2]int{l.Rank, l.Thread}] = to
		locations[to], events[to] = l, r.events[from]
		locations[to].Events = uint64(len(r.events[from]))
	}
	for _, trip := range r.trips {
		l := r.d.Locations[trip.location]
		partner, ok := place[[2]int{trip.rank, trip.thread}]
		if !ok {
			r.line = trip.line
			r.fail("there is no thread %d of rank %d", trip.thread, trip.rank)
		}
		l.RoundTrips[trip.index].Partner = partner
	}
	r.d.Locations, r.events = locations, events
}
