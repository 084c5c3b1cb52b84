package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// textReader is the state of reading a text.
type textReader struct {
	d       Definitions
	show    string
	line    int
	words   []word // of the line that have not been read
	unit    string
	ranks   int // that are announced
	regions map[string]uint32
	comms   map[string]uint32
	stacks  map[string]uint32
	events  [][]Event
	trips   []textTrip
	at      int // location in hand; -1: none
	open    []uint32
	now     int64
	coords  bool // the last grid has coordinates
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
	}
	r.d.Stacks = []Stack{{}}
	for line := range strings.Lines(string(data)) {
		r.line++
		var ok bool
		if r.words, ok = splitWords(strings.TrimRight(line, "\n")); !ok {
			err = fmt.Errorf("a quoted word is not ended, or not written as in Go")
		} else if r.line == 1 {
			err = r.header(line)
		} else if len(r.words) > 0 {
			err = r.readLine()
		}
		if err != nil {
			return nil, r.fail(err)
		}
	}
	if err := r.finish(); err != nil {
		return nil, r.fail(err)
	}
	return NewMemory(r.d, r.events), nil
}

// fail gives an error its place.
func (r *textReader) fail(err error) error {
	return &FileError{File: r.show, Line: r.line, Offset: -1, What: err.Error()}
}

func (r *textReader) header(line string) error {
	version := strings.TrimSpace(strings.TrimPrefix(line, textMagic))
	version, _, _ = strings.Cut(version, " ")
	if version != textVersion {
		return fmt.Errorf("the text is in version %q of the format; this slackline reads version %s", version, textVersion)
	}
	return nil
}

// Words that begin a line.
var textLines = []string{
	"unit", "ranks", "comm", "region", "stack", "cart", "coordinates", "command", "launch", "mpi", "tool", "machine",
	"created", "sample-period", "callpaths", "resolution", "yield", "rank", "offset", "trip", "enter", "leave",
}

// readLine reads a line that is not empty.
func (r *textReader) readLine() error {
	first := r.words[0]
	var err error
	switch c := first.text[:min(1, len(first.text))]; {
	case first.quoted:
		err = fmt.Errorf("a line begins with %q", first.text)
	case first.is("}"):
		err = r.closeCall()
	case first.is("..."):
		r.words = r.words[1:]
		err = r.cutLocation()
	case c == "@":
		err = r.records(nil)
	case c >= "0" && c <= "9" || c == "-":
		err = r.call()
	case slices.Contains(textLines, first.text):
		r.words = r.words[1:]
		err = r.definition(first.text)
	default:
		err = fmt.Errorf("a line begins with %q%s", first.text, suggest.Phrase(first.text, textLines))
	}
	if err == nil && len(r.words) > 0 {
		err = fmt.Errorf("%q at the end of the line is too much", r.words[0].text)
	}
	return err
}

// take takes the next word off the line.
func (r *textReader) take(what string) (string, error) {
	if len(r.words) == 0 || !r.words[0].quoted && slices.Contains([]string{";", ":", "{", "}"}, r.words[0].text) {
		return "", fmt.Errorf("%s is missing", what)
	}
	w := r.words[0].text
	r.words = r.words[1:]
	return w, nil
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
func optional[T any](r *textReader, keyword string, to *T, read func(what string) (T, error)) error {
	if !r.skip(keyword) {
		return nil
	}
	v, err := read("what follows " + keyword)
	if err == nil {
		*to = v
	}
	return err
}

func (r *textReader) time(what string) (int64, error) {
	w, err := r.take(what)
	if err != nil {
		return 0, err
	}
	return r.parseTime(w)
}

func (r *textReader) parseTime(w string) (int64, error) {
	text, negative := strings.CutPrefix(w, "-")
	if text != "" && strings.IndexFunc(text, func(c rune) bool { return (c < '0' || c > '9') && c != '.' }) < 0 {
		text += r.unit
	}
	d, err := unit.ParseDuration(text)
	if negative {
		d = -d
	}
	return int64(d), err
}

// integer reads a number of a range.
func (r *textReader) integer(what string, least, most int64) (int64, error) {
	w, err := r.take(what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(w, 10, 64)
	if err != nil || v < least || v > most {
		return 0, fmt.Errorf("%s: %q is not a number from %d to %d", what, w, least, most)
	}
	return v, nil
}

func (r *textReader) int32(what string) (int32, error) {
	v, err := r.integer(what, math.MinInt32, math.MaxInt32)
	return int32(v), err
}

func (r *textReader) rank(what string) (int, error) {
	v, err := r.integer(what, 0, maxTextRank)
	return int(v), err
}

// maxTextRank bounds what a line can make of the memory.
const maxTextRank = 1 << 24

func (r *textReader) uint64(what string) (uint64, error) {
	w, err := r.take(what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a number of up to 64 bits", what, w)
	}
	return v, nil
}

func (r *textReader) size(what string) (int64, error) {
	w, err := r.take(what)
	if err != nil {
		return 0, err
	}
	if strings.HasPrefix(w, "-") {
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %q is no size", what, w)
		}
		return v, nil
	}
	v, err := unit.ParseSize(w)
	return int64(v), err
}

// region reads the name of a region, which is defined by it if it is new.
func (r *textReader) region(what string) (uint32, error) {
	w, err := r.take(what)
	if err != nil {
		return 0, err
	}
	id, ok := r.regions[w]
	if !ok {
		id = uint32(len(r.d.Regions))
		r.regions[w] = id
		r.d.Regions = append(r.d.Regions, timeline.RegionNamed(w))
	}
	return id, nil
}

func (r *textReader) comm(what string) (uint32, error) { return r.key(what, "communicator", r.comms) }

func (r *textReader) stack(what string) (uint32, error) { return r.key(what, "stack", r.stacks) }

// key reads a key that must be defined.
func (r *textReader) key(what, kind string, known map[string]uint32) (uint32, error) {
	w, err := r.take(what)
	if err != nil {
		return 0, err
	}
	id, ok := known[w]
	if !ok {
		var names []string
		for name := range known {
			names = append(names, name)
		}
		slices.Sort(names)
		return 0, fmt.Errorf("there is no %s %q%s", kind, w, suggest.Phrase(w, names))
	}
	return id, nil
}

// finish checks and completes what was read.
func (r *textReader) finish() error {
	if err := r.endLocation(); err != nil {
		return err
	}
	if r.line == 0 || len(r.d.Locations) == 0 {
		return fmt.Errorf("the trace has no rank; begin one with rank 0")
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
	slices.SortFunc(order, func(a, b int) int {
		if before(&r.d.Locations[a], &r.d.Locations[b]) {
			return -1
		}
		return 1
	})
	if err := r.sort(order); err != nil {
		return err
	}
	if len(r.d.Comms) == 0 {
		world := timeline.Comm{Name: "MPI_COMM_WORLD"}
		for rank := range r.d.Ranks {
			world.Members = append(world.Members, int32(rank))
		}
		r.d.Comms = append(r.d.Comms, world)
	}
	r.fillCoordinates()
	return nil
}

// sort brings the locations into order and finds the partners of exchanges.
func (r *textReader) sort(order []int) error {
	locations, events := make([]Location, len(order)), make([][]Event, len(order))
	place := map[[2]int]int{}
	for to, from := range order {
		l := r.d.Locations[from]
		if _, twice := place[[2]int{l.Rank, l.Thread}]; twice {
			return fmt.Errorf("thread %d of rank %d is there twice", l.Thread, l.Rank)
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
			return fmt.Errorf("there is no thread %d of rank %d", trip.thread, trip.rank)
		}
		l.RoundTrips[trip.index].Partner = partner
	}
	r.d.Locations, r.events = locations, events
	return nil
}
