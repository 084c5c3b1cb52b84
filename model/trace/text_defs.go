package trace

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/timeline"
	"slackline/model/trace/streams"
)

// textLine is a keyword that begins a line, and what reads the rest of it.
type textLine struct {
	keyword string
	read    func(r *textReader)
}

// textLines are the lines that begin with a keyword.
var textLines = []textLine{
	{"unit", (*textReader).defineUnit},
	{"ranks", func(r *textReader) { r.ranks = r.rank("the number of ranks") }},
	{"comm", (*textReader).defineComm},
	{"region", (*textReader).defineRegion},
	{"stack", (*textReader).defineStack},
	{"cart", (*textReader).defineCart},
	{"coordinates", (*textReader).defineCoordinates},
	{"neighbors", (*textReader).defineNeighbors},
	{"window", func(r *textReader) { r.defineObject("the window", r.windows, &r.d.Windows) }},
	{"file", func(r *textReader) { r.defineObject("the file", r.files, &r.d.Files) }},
	{"metric", (*textReader).defineMetric},
	{"command", func(r *textReader) { r.d.Command = r.allWords() }},
	{"launch", func(r *textReader) { r.d.Launch = r.allWords() }},
	{"mpi", func(r *textReader) { r.d.MPI = r.take("the MPI library") }},
	{"tool", func(r *textReader) { r.d.Tool = r.take("the tool") }},
	{"machine", func(r *textReader) { r.d.Machine = r.take("the machine") }},
	{"created", func(r *textReader) { r.d.Created = r.integer("the time", math.MinInt64, math.MaxInt64) }},
	{"sample-period", func(r *textReader) { r.d.SamplePeriod = r.time("the period") }},
	{"callpaths", func(r *textReader) { r.d.CallPaths = r.take("off, caller or full") }},
	{"resolution", func(r *textReader) { r.d.Resolution = r.integer("the number of ticks per second", 0, math.MaxInt64) }},
	{"yield", func(r *textReader) { r.d.Yield = r.take("forced") }},
	{"recording", func(r *textReader) { r.d.Recording = r.take("what chose when recording was on") }},
	{"missing", func(r *textReader) { r.d.Missing = r.take("what is missing of the run") }},
	{"rank", (*textReader).beginLocation},
	{"offset", (*textReader).clockOffset},
	{"trip", (*textReader).roundTrip},
	{"enter", (*textReader).bareEnter},
	{"leave", (*textReader).bareLeave},
	{"device", (*textReader).device},
}

// defineUnit reads the unit of times that have none.
func (r *textReader) defineUnit() {
	if r.unit = r.take("the unit"); !slices.Contains([]string{"ps", "ns", "us", "ms", "s"}, r.unit) {
		r.fail("there is no unit %q; use ps, ns, us, ms or s", r.unit)
	}
}

// device reads a record of what ran on accelerators.
func (r *textReader) device() {
	text := r.take("what it is about")
	i := slices.Index(streams.Words, text)
	if i < 0 {
		r.fail("there is no %q of a device%s", text, suggest.Phrase(text, streams.Words))
		return
	}
	record := streams.Record{Word: streams.Word(i)}
	for len(r.words) > 0 && !(record.Word.Named() && len(r.words) == 1) {
		record.Numbers = append(record.Numbers, r.integer("a number", math.MinInt64, math.MaxInt64))
	}
	if record.Word.Named() {
		record.Name = r.take("the name")
	}
	r.devices = append(r.devices, record)
}

// allWords takes the rest of the line.
func (r *textReader) allWords() []string {
	var list []string
	for _, w := range r.words {
		list = append(list, w.text)
	}
	r.words = nil
	return list
}

// rankList reads numbers and ranges up to a keyword or the end of the line.
func (r *textReader) rankList() []int32 {
	var list []int32
	for len(r.words) > 0 && !r.words[0].is("remote") && !r.words[0].is(";") {
		if r.skip("?") {
			list = append(list, timeline.UnknownRank)
			continue
		}
		w := r.words[0].text
		r.words = r.words[1:]
		first, last, isRange := strings.Cut(w, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to < from || to > maxTextRank {
			r.fail("%q is neither a rank nor a range of ranks such as 0-3, nor ? for a process that is not recorded", w)
			return nil
		}
		for rank := from; rank <= to; rank++ {
			list = append(list, int32(rank))
		}
		if len(list) > maxTextRank {
			r.fail("a communicator of more than %d ranks", maxTextRank)
		}
	}
	return list
}

func (r *textReader) defineComm() {
	key := r.newKey("the communicator", r.comms)
	c := timeline.Comm{Name: key}
	optional(r, "name", &c.Name, r.take)
	c.Members = r.rankList()
	if r.skip("remote") {
		c.Remote = r.rankList()
	}
	r.comms[key] = uint32(len(r.d.Comms))
	r.d.Comms = append(r.d.Comms, c)
}

// defineObject defines a window or a file.
func (r *textReader) defineObject(what string, known map[string]uint32, list *[]timeline.Object) {
	key := r.newKey(what, known)
	o := timeline.Object{Name: key}
	optional(r, "name", &o.Name, r.take)
	if !r.skip("comm") {
		r.fail("%s needs the word comm and a communicator", what)
	}
	o.Comm = int32(r.comm("the communicator"))
	known[key] = uint32(len(*list))
	*list = append(*list, o)
}

// defineMetric defines a metric.
func (r *textReader) defineMetric() {
	key := r.newKey("the metric", r.metrics)
	m := timeline.Metric{Name: key}
	optional(r, "name", &m.Name, r.take)
	optional(r, "unit", &m.Unit, r.take)
	r.metrics[key] = uint32(len(r.d.Metrics))
	r.d.Metrics = append(r.d.Metrics, m)
}

// defineNeighbors reads the neighbors of a rank of a communicator.
func (r *textReader) defineNeighbors() {
	comm, rank := r.comm("the communicator"), r.rank("the rank")
	if !r.skip("from") {
		r.fail("neighbors need the word from and the ranks that it receives from")
	}
	in := r.neighborList()
	if !r.skip("to") {
		r.fail("neighbors need the word to and the ranks that it sends to")
	}
	out := r.neighborList()
	if r.err != nil {
		return
	}
	if err := setNeighbors(&r.d.Comms[comm], rank, in, out); err != nil {
		r.fail("%v", err)
	}
}

// neighborList reads ranks up to a keyword or the end of the line.
func (r *textReader) neighborList() []int32 {
	list := []int32{}
	for len(r.words) > 0 && !r.words[0].is("to") {
		if r.skip("-") {
			list = append(list, timeline.NoNeighbor)
			continue
		}
		list = append(list, int32(r.rank("a neighbor")))
	}
	return list
}

// newKey reads a key that must not be defined yet.
func (r *textReader) newKey(what string, known map[string]uint32) string {
	key := r.take(what)
	if _, twice := known[key]; twice {
		r.fail("%q is defined twice, or used before it is defined", key)
	}
	return key
}

func (r *textReader) defineRegion() {
	key := r.newKey("the region", r.regions)
	name := key
	optional(r, "name", &name, r.take)
	g := timeline.RegionNamed(name)
	for len(r.words) > 0 {
		w := r.words[0].text
		paradigm, role := slices.Index(textParadigms, w), slices.Index(textRoles, w)
		switch {
		case r.skip("at"):
			g.File, g.Line = r.take("the file"), int(r.integer("the line", 0, math.MaxInt32))
		case paradigm >= 0:
			g.Paradigm = timeline.Paradigm(paradigm)
			r.words = r.words[1:]
		case role >= 0:
			g.Role = timeline.Role(role)
			r.words = r.words[1:]
		default:
			r.fail("%q is neither a paradigm nor a role of a region%s", w, suggest.Phrase(w, slices.Concat(textParadigms, textRoles)))
		}
	}
	r.regions[key] = uint32(len(r.d.Regions))
	r.d.Regions = append(r.d.Regions, g)
}

func (r *textReader) defineStack() {
	key := r.newKey("the stack", r.stacks)
	s := Stack{Region: r.region("the region")}
	optional(r, "in", &s.Parent, r.stack)
	r.stacks[key] = uint32(len(r.d.Stacks))
	r.d.Stacks = append(r.d.Stacks, s)
}

func (r *textReader) defineCart() {
	c := Cart{Comm: r.comm("the communicator")}
	for len(r.words) > 0 {
		w := r.words[0].text
		r.words = r.words[1:]
		text, periodic := strings.CutSuffix(w, "p")
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 || size > maxTextRank {
			r.fail("%q is not the size of a dimension", w)
		}
		c.Dims, c.Periodic = append(c.Dims, size), append(c.Periodic, periodic)
	}
	if len(c.Dims) > maxDims {
		r.fail("%d dimensions are too many", len(c.Dims))
	}
	if r.err != nil {
		return
	}
	r.fillCoordinates()
	c.Coords = make([][]int, len(r.d.Comms[c.Comm].Members))
	r.d.Carts = append(r.d.Carts, c)
	r.coords = false
}

func (r *textReader) defineCoordinates() {
	if len(r.d.Carts) == 0 {
		r.fail("there is no process grid; define one with cart")
		return
	}
	c := &r.d.Carts[len(r.d.Carts)-1]
	rank := r.rank("the rank")
	if rank >= len(c.Coords) {
		r.fail("rank %d is not in the communicator of the grid, which has %d", rank, len(c.Coords))
	}
	at := make([]int, len(c.Dims))
	for i, size := range c.Dims {
		at[i] = int(r.integer("a coordinate", 0, int64(size)-1))
	}
	if r.err == nil {
		c.Coords[rank], r.coords = at, true
	}
}

// fillCoordinates gives coordinates to the last grid if the text gives it none: the last one varies
// fastest, as MPI has it.
func (r *textReader) fillCoordinates() {
	if len(r.d.Carts) == 0 || r.coords {
		return
	}
	c := &r.d.Carts[len(r.d.Carts)-1]
	for rank := range c.Coords {
		c.Coords[rank] = rowMajor(c.Dims, rank)
	}
}

// rowMajor returns the coordinates of a rank in a grid; nil if it is not in it.
func rowMajor(dims []int, rank int) []int {
	at := make([]int, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		at[i] = rank % dims[i]
		rank /= dims[i]
	}
	if rank > 0 {
		return nil
	}
	return at
}

// beginLocation begins a thread of a rank.
func (r *textReader) beginLocation() {
	r.endLocation()
	l := Location{Rank: r.rank("the rank"), ID: math.MaxUint64}
	r.fields("a rank", []textField{
		{"thread", func() { l.Thread = r.rank("the thread") }},
		{"name", func() { l.Name = r.take("the name") }},
		{"host", func() { l.Host = r.take("the host") }},
		{"id", func() { l.ID = r.uint64("the id") }},
		{"truncated", func() { l.Truncated = true }},
		{"missing", func() { l.Missing = true }},
	})
	if l.ID == math.MaxUint64 {
		l.ID = uint64(l.Thread)<<32 | uint64(l.Rank)
	}
	r.d.Locations = append(r.d.Locations, l)
	r.events = append(r.events, nil)
	r.at, r.now = len(r.d.Locations)-1, math.MinInt64
}

// endLocation ends the location being read, whose calls must be closed.
func (r *textReader) endLocation() {
	if n := len(r.open); n > 0 {
		r.fail("the call of %s is not closed; close it with } TIME, or write ... if it stays open", r.d.Regions[r.open[n-1]].Name)
	}
	r.at = -1
}

// cutLocation ends the location being read; open calls stay open.
func (r *textReader) cutLocation() {
	if r.at < 0 {
		r.fail(noRank)
	}
	r.open, r.at = nil, -1
}

// clockOffset reads an offset of the clock of the location being read.
func (r *textReader) clockOffset() {
	if r.at < 0 {
		r.fail(noRank)
		return
	}
	o := ClockOffset{Time: r.time("the time"), Offset: r.time("the offset")}
	optional(r, "deviation", &o.Deviation, r.float)
	l := &r.d.Locations[r.at]
	l.Offsets = append(l.Offsets, o)
}

// roundTrip reads an exchange of the location being read with another one.
func (r *textReader) roundTrip() {
	if r.at < 0 {
		r.fail(noRank)
		return
	}
	l := &r.d.Locations[r.at]
	w := r.take("the partner")
	rank, thread, _ := strings.Cut(w+".0", ".")
	thread, _, _ = strings.Cut(thread, ".")
	trip := textTrip{location: r.at, index: len(l.RoundTrips), line: r.line}
	var err, err2 error
	trip.rank, err = strconv.Atoi(rank)
	trip.thread, err2 = strconv.Atoi(thread)
	if err != nil || err2 != nil {
		r.fail("expected a rank, or a rank with a thread such as 3.1, got %q", w)
	}
	l.RoundTrips = append(l.RoundTrips, RoundTrip{Sent: r.time("the time"), Answered: r.time("the time"), Back: r.time("the time")})
	r.trips = append(r.trips, trip)
}
