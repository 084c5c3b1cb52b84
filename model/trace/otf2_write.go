package trace

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"slackline/internal/atomicfile"
	"slackline/model/trace/otf2"
	"slackline/model/trace/streams"
)

// Sizes of chunks that are written.
const (
	otf2EventChunk = 1 << 20
	otf2DefChunk   = 4 << 20 // or more, for a very large communicator
	otf2MostChunk  = 16 << 20
)

// otf2Writer is the state of writing an archive.
type otf2Writer struct {
	d        *atomicfile.Dir
	name     string
	t        *Trace
	o        *WriteOptions
	clock    otf2.Clock
	shift    int64 // ticks at time 0 of the trace
	global   uint64
	length   uint64
	surveys  []otf2Survey
	measured [][]ClockOffset   // offsets of the clocks, by location
	ids      []uint64          // of the locations in the archive
	contexts map[Stack]uint32  // ids of calling contexts
	extra    []Stack           // those that are no stack of the trace
	groupIDs map[string]uint32 // of epochs, by worldGroup
	streams  *otf2StreamWriter // nil: nothing ran on accelerators
	sums     []uint64          // checksums of the files of the locations and streams
	warnings warningList
}

// writeOTF2 writes an archive. It goes through all events twice: times must not be negative in OTF2, and
// contexts must have numbers.
func writeOTF2(d *atomicfile.Dir, base string, t *Trace, o WriteOptions) ([]string, error) {
	t, devices, err := t.accelerators(&o)
	if err != nil {
		return nil, err
	}
	t = t.withMasters()
	w := &otf2Writer{d: d, name: otf2DefaultName, t: t, o: &o, streams: newOTF2Streams(t, devices)}
	if name, ok := strings.CutSuffix(base, ".otf2"); ok && name != "" {
		w.name = name
	}
	w.setMeasured()
	if err := w.survey(); err != nil {
		return w.warnings.list, err
	}
	if err := w.setClock(); err != nil {
		return w.warnings.list, err
	}
	w.setContexts()
	w.setGroups()
	w.setIDs()
	w.streams.setIDs(w)
	w.sums = make([]uint64, len(t.Locations)+w.streams.count())
	err = eachLocation(len(t.Locations), o.Threads, w.writeLocation)
	var definitions *otf2.DefinitionWriter
	if err == nil {
		definitions, err = w.define()
	}
	if err == nil {
		err = eachLocation(w.streams.count(), o.Threads, w.writeStream)
	}
	var sums otf2.Sums
	if err == nil && devices != nil {
		err = writeFile(d, path.Join(w.name, streams.Name), func(out io.Writer) (err error) {
			sums.Streams, err = streams.Write(out, devices)
			return err
		})
		w.warnings.add("OTF2 cannot express which kernels communicate, nor several launches of a call: this is in a file that only slackline "+
			"reads (%s); other programs see the streams with their kernels and copies", path.Join(w.name, streams.Name))
	}
	if err == nil {
		err = w.writeDefinitions(definitions, sums)
	}
	w.warnOfLoss()
	return w.warnings.list, err
}

// setMeasured takes the offsets of the clocks from the trace, or makes them out of its round trips, which OTF2
// does not know: in whole ticks, so that times stay as they are.
func (w *otf2Writer) setMeasured() {
	w.measured = make([][]ClockOffset, len(w.t.Locations))
	given := false
	for i := range w.t.Locations {
		w.measured[i] = w.t.Locations[i].Offsets
		given = given || len(w.measured[i]) > 0
	}
	if given {
		return
	}
	clocks := (&conversion{Trace: w.t, lost: make([]string, len(w.t.Locations))}).findClocks()
	tick := max(w.wanted().Factor, 1)
	for i := range w.t.Locations {
		rank := w.t.Locations[i].Rank
		if clocks.pings == nil || clocks.pings[rank].Offsets == nil {
			continue
		}
		for _, knot := range clocks.pings[rank].Offsets.Knots() {
			o := ClockOffset{Time: int64(knot.Time) / tick * tick, Offset: int64(knot.Offset) / tick * tick}
			if n := len(w.measured[i]); n == 0 || o.Time > w.measured[i][n-1].Time {
				w.measured[i] = append(w.measured[i], o)
			}
		}
	}
}

// otf2Survey is what must be known of the events of a location before they are written.
type otf2Survey struct {
	events      uint64 // that are written
	first, last int64
	exact       bool // all times are whole ticks of the resolution of the trace
	contexts    map[Stack]bool
	teams       bool
	parameters  bool // events of otf2Parameters occur
	skips       bool
	samples     bool
	created     map[uint32]bool // communicators
	others      uint64          // events that have no counterpart
	counts      uint64          // collectives with counts by peer
	lost        uint64          // neighborhood collectives
	starts      otf2Starts      // of collectives
	channels    uint64          // partitioned messages
	flushes     uint64          // that complete nothing
	groups      map[string]bool // of epochs
	epochs      *otf2Epochs
	damage      error
}

// otf2Starts are the starts of collectives: those of neighborhood collectives are left out, as their ends are.
type otf2Starts struct {
	count    int
	blocking int            // the last one, -1: none
	open     map[uint64]int // by request
	lost     map[int]bool
}

func newOTF2Starts() otf2Starts {
	return otf2Starts{blocking: -1, open: map[uint64]int{}, lost: map[int]bool{}}
}

// begin counts a start.
func (s *otf2Starts) begin(e *Event) {
	if e.Kind == CollectiveIssue {
		s.open[e.Request] = s.count
	} else {
		s.blocking = s.count
	}
	s.count++
}

// end returns the number of the start of what ends; -1: it has none.
func (s *otf2Starts) end(e *Event) int {
	if e.Kind == CollectiveEnd {
		start := s.blocking
		s.blocking = -1
		return start
	}
	start, ok := s.open[e.Request]
	delete(s.open, e.Request)
	if !ok {
		return -1
	}
	return start
}

// survey goes through all events.
func (w *otf2Writer) survey() error {
	w.surveys = make([]otf2Survey, len(w.t.Locations))
	fine := w.wanted()
	return eachLocation(len(w.t.Locations), w.o.Threads, func(i int) error {
		s := &w.surveys[i]
		if err := w.t.checkOrder(i); err != nil {
			return err
		}
		s.starts = newOTF2Starts()
		s.exact, s.contexts, s.created = true, map[Stack]bool{}, map[uint32]bool{}
		s.groups, s.epochs = map[string]bool{}, newOTF2Epochs(w)
		for _, o := range w.measured[i] {
			_, exact := fine.Ticks(o.Time)
			_, whole := fine.Ticks(o.Offset)
			s.exact = s.exact && exact && whole
		}
		begun := false
		var err error
		_, s.damage, err = w.t.eachChecked(i, w.o, func(e *Event) error {
			if !begun {
				s.first, begun = e.Time, true
				_, whole := fine.Ticks(e.Time)
				s.exact = s.exact && whole
			} else if e.Time != s.last && s.exact {
				_, s.exact = fine.Ticks(e.Time)
			}
			s.last = e.Time
			s.note(e)
			return nil
		})
		return err
	})
}

// note keeps what must be known of an event.
func (s *otf2Survey) note(e *Event) {
	switch e.Kind {
	case Enter:
		if e.Stack != 0 {
			s.contexts[Stack{e.Stack, e.Region}] = true
		}
	case TeamBegin, TeamEnd:
		s.teams = true
	case Polls, NoCPU, ThreadBegin, ThreadEnd:
		s.parameters = true
	case SkippedSends, SkippedReceives, SkippedCollectives:
		s.skips = true
		s.events += otf2SkipRecords - 1
	case Sample:
		s.samples = true
	case CommCreate, CommDestroy:
		s.created[e.Comm] = true
	case CollectiveBegin, CollectiveIssue:
		s.starts.begin(e)
	case CollectiveEnd, CollectiveDone:
		if start := s.starts.end(e); e.Op.IsNeighbor() {
			s.lost++
			if start >= 0 {
				s.starts.lost[start] = true
				s.events--
			}
			return
		}
		if len(e.Counts) > 0 {
			s.counts++
		}
	case PartitionedSend:
		s.channels++
	case Other:
		s.others++
		return
	default:
		if fieldsOf[e.Kind]&(useWindow|useFile) != 0 {
			s.object(e)
			return
		}
	}
	s.events++
}

// object keeps what must be known of an event about a window or a file.
func (s *otf2Survey) object(e *Event) {
	if e.Kind == WinPost || e.Kind == WinStart {
		s.groups[s.epochs.w.worldGroup(e)] = true
	} else if e.Kind == WinComplete || e.Kind == WinWait {
		s.groups[""] = true // of epochs whose start is missing
	}
	before := s.events
	s.epochs.records(e, func(uint8, func(*otf2.Record)) { s.events++ })
	if e.Kind == WinFlush && s.events == before {
		s.flushes++
	}
}

// wanted is the clock of the resolution that the trace has.
func (w *otf2Writer) wanted() otf2.Clock {
	resolution := uint64(second)
	if r := w.t.Resolution; r > 0 {
		resolution = uint64(r)
	}
	return otf2.NewClock(resolution, 0)
}

// setClock chooses the resolution (that of the trace if its times are whole ticks of it, else
// picoseconds) and the origin: nothing may be before the global offset, from which other programs count the times that they show, and no
// time below 0.
func (w *otf2Writer) setClock() error {
	w.clock = w.wanted()
	exact := w.streams.exact(w.clock)
	for i := range w.surveys {
		exact = exact && w.surveys[i].exact
	}
	if !exact {
		w.clock = otf2.NewClock(second, 0)
	}
	earliest, first, last := int64(0), int64(math.MaxInt64), int64(math.MinInt64)
	for i := range w.surveys {
		s, l := &w.surveys[i], &w.t.Locations[i]
		var offsets []ClockOffset // in ticks
		for k, o := range w.offsets(i) {
			if k > 0 && o.Time <= offsets[k-1].Time {
				return fmt.Errorf("rank %d, thread %d: the offsets of its clock are not in order", l.Rank, l.Thread)
			}
			offsets = append(offsets, o)
			earliest = min(earliest, o.Time)
		}
		if s.events+s.others > 0 {
			begin, _ := w.clock.Ticks(s.first)
			end, _ := w.clock.Ticks(s.last)
			earliest = min(earliest, begin)
			first, last = min(first, corrected(offsets, begin)), max(last, corrected(offsets, end))
		}
	}
	if from, to, some := w.streams.span(w.clock); some {
		earliest, first, last = min(earliest, from), min(first, from), max(last, to)
	}
	if first > last { // no events
		first, last = 0, 0
	}
	if w.t.Format == "" || w.t.startsAtZero || w.streams != nil { // else the run begins with its first event: time 0 may be that of the boot
		first = min(first, 0)
	}
	w.shift = -min(earliest, first)
	w.global = uint64(w.shift + first)
	w.length = uint64(last - first)
	return nil
}

// corrected applies offsets of a clock to a time, as OTF2 does it: linear interpolation, also before the first
// and after the last of them. With less than two offsets times stay as they are.
func corrected(offsets []ClockOffset, time int64) int64 {
	if len(offsets) < 2 {
		return time
	}
	k := 0
	for k+2 < len(offsets) && time > offsets[k+1].Time {
		k++
	}
	a, b := offsets[k], offsets[k+1]
	slope := float64(b.Offset-a.Offset) / float64(b.Time-a.Time)
	return time + a.Offset + int64(math.RoundToEven(slope*float64(time-a.Time)))
}

// offsets returns the offsets of a clock in ticks, before they are shifted. A single one is repeated, because
// OTF2 needs two to correct a clock.
func (w *otf2Writer) offsets(location int) []ClockOffset {
	var list []ClockOffset
	for _, o := range w.measured[location] {
		time, _ := w.clock.Ticks(o.Time)
		offset, _ := w.clock.Ticks(o.Offset)
		list = append(list, ClockOffset{time, offset, o.Deviation * float64(w.clock.Resolution) / second})
	}
	if len(list) == 1 {
		again := list[0]
		again.Time += int64(w.clock.Resolution)
		list = append(list, again)
	}
	return list
}

// ticks returns the time stamp of a time.
func (w *otf2Writer) ticks(ps int64) uint64 {
	n, _ := w.clock.Ticks(ps) // all times have been looked at
	return uint64(n + w.shift)
}

// setContexts gives numbers to calling contexts: the stacks of the trace, then what calls need beyond.
func (w *otf2Writer) setContexts() {
	w.contexts = map[Stack]uint32{}
	for i := len(w.t.Stacks) - 1; i > 0; i-- { // the first of equal ones wins
		w.contexts[w.t.Stacks[i]] = uint32(i - 1)
	}
	for i := range w.surveys {
		for s := range w.surveys[i].contexts {
			if _, ok := w.contexts[s]; !ok {
				w.contexts[s] = 0
				w.extra = append(w.extra, s)
			}
		}
	}
	slices.SortFunc(w.extra, func(a, b Stack) int {
		return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Region, b.Region))
	})
	for i, s := range w.extra {
		w.contexts[s] = uint32(max(len(w.t.Stacks)-1, 0) + i)
	}
}

// setIDs gives ids to the locations: their own if these are unique.
func (w *otf2Writer) setIDs() {
	seen := map[uint64]bool{}
	own := true
	for i := range w.t.Locations {
		id := w.t.Locations[i].ID
		own = own && !seen[id] && id < otf2.Undefined32<<32
		seen[id] = true
	}
	for i := range w.t.Locations {
		l := &w.t.Locations[i]
		id := uint64(l.Thread)<<32 | uint64(l.Rank)
		if own {
			id = l.ID
		}
		w.ids = append(w.ids, id)
	}
}

// writeFile writes one of the files of a trace.
func writeFile(d *atomicfile.Dir, name string, fill func(out io.Writer) error) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	return cmp.Or(fill(f), f.Close())
}

// writeLocation writes the files of location i.
func (w *otf2Writer) writeLocation(i int) error {
	l := &w.t.Locations[i]
	return w.writePair(i, w.ids[i], func(out io.Writer) error {
		e := &otf2EventWriter{w: w, out: otf2.NewWriter(out, otf2EventChunk, false), rank: uint32(l.Rank), epochs: newOTF2Epochs(w),
			lost: w.surveys[i].starts.lost}
		e.launches = w.streams.launchesOf(l)
		damage, err := w.t.eachEvent(i, w.o, e.write)
		if err != nil {
			return err
		}
		if damage != nil {
			w.warnings.add("%v", damage)
		}
		return e.out.Finish()
	}, func(out io.Writer) error { return w.writeLocal(out, i) })
}

// writePair writes the files of location or stream i, events and local definitions, and keeps their checksums.
func (w *otf2Writer) writePair(i int, id uint64, events, local func(out io.Writer) error) error {
	for _, file := range []struct {
		suffix string
		fill   func(out io.Writer) error
	}{{"evt", events}, {"def", local}} {
		err := writeFile(w.d, path.Join(w.name, fmt.Sprintf("%d.%s", id, file.suffix)), func(out io.Writer) error {
			sum := otf2.Checksum{To: out}
			err := file.fill(&sum)
			w.sums[i] = w.sums[i]<<32 | uint64(sum.CRC)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeLocal writes the local definitions of a location: the offsets of its clock.
func (w *otf2Writer) writeLocal(out io.Writer, location int) error {
	c := otf2.NewWriter(out, otf2DefChunk, true)
	var r otf2.Record
	for _, o := range w.offsets(location) {
		r.Reset()
		r.Full64(uint64(o.Time + w.shift))
		r.U64(uint64(o.Offset))
		r.F64(o.Deviation)
		c.Room(len(r.Data) + otf2.Frame)
		c.Record(otf2.LocalClockOffset, &r)
	}
	return c.Finish()
}

// warnOfLoss describes what OTF2 cannot express.
func (w *otf2Writer) warnOfLoss() {
	for _, loss := range []struct {
		of   func(s *otf2Survey) uint64
		text string
	}{
		{func(s *otf2Survey) uint64 { return s.lost }, "OTF2 has no neighborhood collectives: %d were left out, their calls kept"},
		{func(s *otf2Survey) uint64 { return s.channels }, "OTF2 has no channels of partitioned messages: %d are told apart by their tags only"},
		{func(s *otf2Survey) uint64 { return s.flushes }, "OTF2 has no flushes of windows that complete nothing: %d are calls only"},
		{func(s *otf2Survey) uint64 { return s.others }, "%d events that are not understood here were left out"},
		{func(s *otf2Survey) uint64 { return s.counts }, "OTF2 has no sizes by peer: those of %d collectives were left out, their sums kept"},
	} {
		count := uint64(0)
		for i := range w.surveys {
			count += loss.of(&w.surveys[i])
		}
		if count > 0 {
			w.warnings.add(loss.text, count)
		}
	}
}

// identifier is a number that tells archives apart.
func (w *otf2Writer) identifier(definitions []byte) uint64 {
	h := fnv.New64a()
	h.Write(definitions) // never fails
	return h.Sum64()
}
