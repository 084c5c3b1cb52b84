package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/timeline"
)

// definition reads the rest of a line that begins with a keyword.
func (r *textReader) definition(keyword string) (err error) {
	d := &r.d
	switch keyword {
	case "unit":
		r.unit, err = r.take("the unit")
		if err == nil && !slices.Contains([]string{"ps", "ns", "us", "ms", "s"}, r.unit) {
			err = fmt.Errorf("there is no unit %q; use ps, ns, us, ms or s", r.unit)
		}
	case "ranks":
		r.ranks, err = r.rank("the number of ranks")
	case "comm":
		err = r.defineComm()
	case "region":
		err = r.defineRegion()
	case "stack":
		err = r.defineStack()
	case "cart":
		err = r.defineCart()
	case "coordinates":
		err = r.defineCoordinates()
	case "command":
		d.Command = r.allWords()
	case "launch":
		d.Launch = r.allWords()
	case "mpi":
		d.MPI, err = r.take("the MPI library")
	case "tool":
		d.Tool, err = r.take("the tool")
	case "machine":
		d.Machine, err = r.take("the machine")
	case "created":
		d.Created, err = r.integer("the time", math.MinInt64, math.MaxInt64)
	case "sample-period":
		d.SamplePeriod, err = r.time("the period")
	case "callpaths":
		d.CallPaths, err = r.take("off, caller or full")
	case "yield":
		d.Yield, err = r.take("forced")
	case "resolution":
		d.Resolution, err = r.integer("the number of ticks per second", 0, math.MaxInt64)
	case "rank":
		err = r.beginLocation()
	case "offset", "trip":
		err = r.clock(keyword)
	case "enter", "leave":
		err = r.bareCall(keyword)
	}
	return err
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
func (r *textReader) rankList() ([]int32, error) {
	var list []int32
	for len(r.words) > 0 && !r.words[0].is("remote") {
		w := r.words[0].text
		if r.words[0].is("?") {
			list, r.words = append(list, timeline.UnknownRank), r.words[1:]
			continue
		}
		first, last, isRange := strings.Cut(w, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to < from || to > maxTextRank {
			return nil, fmt.Errorf("%q is neither a rank nor a range of ranks such as 0-3, nor ? for a process that is not recorded", w)
		}
		for rank := from; rank <= to; rank++ {
			list = append(list, int32(rank))
		}
		if len(list) > maxTextRank {
			return nil, fmt.Errorf("a communicator of more than %d ranks", maxTextRank)
		}
		r.words = r.words[1:]
	}
	return list, nil
}

func (r *textReader) defineComm() error {
	key, err := r.newKey("the communicator", r.comms)
	if err != nil {
		return err
	}
	c := timeline.Comm{Name: key}
	if err := optional(r, "name", &c.Name, r.take); err != nil {
		return err
	}
	if c.Members, err = r.rankList(); err != nil {
		return err
	}
	if r.skip("remote") {
		if c.Remote, err = r.rankList(); err != nil {
			return err
		}
	}
	r.comms[key] = uint32(len(r.d.Comms))
	r.d.Comms = append(r.d.Comms, c)
	return nil
}

// newKey reads a key that must not be defined yet.
func (r *textReader) newKey(what string, known map[string]uint32) (string, error) {
	key, err := r.take(what)
	if _, twice := known[key]; err == nil && twice {
		err = fmt.Errorf("%q is defined twice, or used before it is defined", key)
	}
	return key, err
}

func (r *textReader) defineRegion() error {
	key, err := r.newKey("the region", r.regions)
	if err != nil {
		return err
	}
	name := key
	if err := optional(r, "name", &name, r.take); err != nil {
		return err
	}
	g := timeline.RegionNamed(name)
	for len(r.words) > 0 {
		w := r.words[0].text
		paradigm, role := slices.Index(textParadigms, w), slices.Index(textRoles, w)
		switch {
		case r.skip("at"):
			if g.File, err = r.take("the file"); err != nil {
				return err
			}
			line, err := r.integer("the line", 0, math.MaxInt32)
			if err != nil {
				return err
			}
			g.Line = int(line)
		case paradigm >= 0:
			g.Paradigm = timeline.Paradigm(paradigm)
			r.words = r.words[1:]
		case role >= 0:
			g.Role = timeline.Role(role)
			r.words = r.words[1:]
		default:
			return fmt.Errorf("%q is neither a paradigm nor a role of a region%s", w, suggest.Phrase(w, slices.Concat(textParadigms, textRoles)))
		}
	}
	r.regions[key] = uint32(len(r.d.Regions))
	r.d.Regions = append(r.d.Regions, g)
	return nil
}

func (r *textReader) defineStack() error {
	key, err := r.newKey("the stack", r.stacks)
	if err != nil {
		return err
	}
	var s Stack
	if s.Region, err = r.region("the region"); err != nil {
		return err
	}
	if err := optional(r, "in", &s.Parent, r.stack); err != nil {
		return err
	}
	r.stacks[key] = uint32(len(r.d.Stacks))
	r.d.Stacks = append(r.d.Stacks, s)
	return nil
}

func (r *textReader) defineCart() (err error) {
	var c Cart
	if c.Comm, err = r.comm("the communicator"); err != nil {
		return err
	}
	for len(r.words) > 0 {
		text, periodic := strings.CutSuffix(r.words[0].text, "p")
		size, err := strconv.Atoi(text)
		if err != nil || size < 1 || size > maxTextRank {
			return fmt.Errorf("%q is not the size of a dimension", r.words[0].text)
		}
		c.Dims, c.Periodic = append(c.Dims, size), append(c.Periodic, periodic)
		r.words = r.words[1:]
	}
	if len(c.Dims) > maxDims {
		return fmt.Errorf("%d dimensions are too many", len(c.Dims))
	}
	r.fillCoordinates()
	c.Coords = make([][]int, len(r.d.Comms[c.Comm].Members))
	r.d.Carts = append(r.d.Carts, c)
	r.coords = false
	return nil
}

func (r *textReader) defineCoordinates() error {
	if len(r.d.Carts) == 0 {
		return fmt.Errorf("there is no process grid; define one with cart")
	}
	c := &r.d.Carts[len(r.d.Carts)-1]
	rank, err := r.rank("the rank")
	if err != nil {
		return err
	}
	if rank >= len(c.Coords) {
		return fmt.Errorf("rank %d is not in the communicator of the grid, which has %d", rank, len(c.Coords))
	}
	at := make([]int, len(c.Dims))
	for i, size := range c.Dims {
		v, err := r.integer("a coordinate", 0, int64(size)-1)
		if err != nil {
			return err
		}
		at[i] = int(v)
	}
	c.Coords[rank] = at
	r.coords = true
	return nil
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
func (r *textReader) beginLocation() error {
	if err := r.endLocation(); err != nil {
		return err
	}
	rank, err := r.rank("the rank")
	if err != nil {
		return err
	}
	l := Location{Rank: rank, ID: undefined64}
	for len(r.words) > 0 && err == nil {
		switch {
		case r.skip("thread"):
			l.Thread, err = r.rank("the thread")
		case r.skip("name"):
			l.Name, err = r.take("the name")
		case r.skip("host"):
			l.Host, err = r.take("the host")
		case r.skip("id"):
			l.ID, err = r.uint64("the id")
		case r.skip("truncated"):
			l.Truncated = true
		case r.skip("missing"):
			l.Missing = true
		default:
			known := []string{"thread", "name", "host", "id", "truncated", "missing"}
			err = fmt.Errorf("a rank has no %q%s", r.words[0].text, suggest.Phrase(r.words[0].text, known))
		}
	}
	if l.ID == undefined64 {
		l.ID = uint64(l.Thread)<<32 | uint64(l.Rank)
	}
	r.d.Locations = append(r.d.Locations, l)
	r.events = append(r.events, nil)
	r.at, r.now = len(r.d.Locations)-1, math.MinInt64
	return err
}

// endLocation ends the location in hand, whose calls must be closed.
func (r *textReader) endLocation() error {
	if n := len(r.open); n > 0 {
		return fmt.Errorf("the call of %s is not closed; close it with } TIME, or write ... if it stays open", r.d.Regions[r.open[n-1]].Name)
	}
	r.at = -1
	return nil
}

// cutLocation ends the location in hand; open calls stay open.
func (r *textReader) cutLocation() error {
	if r.at < 0 {
		return errNoRank
	}
	r.open, r.at = nil, -1
	return nil
}

// clock reads a line about the clock of the location in hand.
func (r *textReader) clock(keyword string) error {
	if r.at < 0 {
		return errNoRank
	}
	l := &r.d.Locations[r.at]
	if keyword == "offset" {
		when, err := r.time("the time")
		if err != nil {
			return err
		}
		o := ClockOffset{Time: when}
		if o.Offset, err = r.time("the offset"); err != nil {
			return err
		}
		err = optional(r, "deviation", &o.Deviation, r.float)
		l.Offsets = append(l.Offsets, o)
		return err
	}
	w, err := r.take("the partner")
	if err != nil {
		return err
	}
	rank, thread, _ := strings.Cut(w+".0", ".")
	thread, _, _ = strings.Cut(thread, ".")
	trip := textTrip{location: r.at, index: len(l.RoundTrips), line: r.line}
	var err2 error
	trip.rank, err = strconv.Atoi(rank)
	trip.thread, err2 = strconv.Atoi(thread)
	if err != nil || err2 != nil {
		return fmt.Errorf("%q is not a rank, nor a rank with a thread such as 3.1", w)
	}
	var t RoundTrip
	for _, to := range []*int64{&t.Sent, &t.Answered, &t.Back} {
		if *to, err = r.time("the time"); err != nil {
			return err
		}
	}
	l.RoundTrips = append(l.RoundTrips, t)
	r.trips = append(r.trips, trip)
	return nil
}

func (r *textReader) float(what string) (float64, error) {
	w, err := r.take(what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a number", what, w)
	}
	return v, nil
}
