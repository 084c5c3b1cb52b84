package trace

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// textWriter is the state of writing a text.
type textWriter struct {
	w       io.Writer
	d       *Definitions
	regions []string // keys
	comms   []string
	windows []string
	files   []string
	unit    uint64 // of times, in ps
	b       []byte
	err     error

	open    []uint32 // calls whose begin stands above
	pending *Event   // a call that may fit into one line
	records []Event  // in it
}

// writeText writes a trace as text.
func writeText(out io.Writer, t *Trace, o WriteOptions) ([]string, error) {
	w := &textWriter{w: out, d: &t.Definitions, unit: uint64(unit.Nanosecond)}
	w.definitions()
	var warnings []string
	for i := range t.Locations {
		l := &t.Locations[i]
		if i > 0 && !before(&t.Locations[i-1], l) || l.Rank >= t.Ranks {
			return warnings, fmt.Errorf("thread %d of rank %d is not in order or not in range", l.Thread, l.Rank)
		}
		w.location(l)
		check := monotone{limits: limitsOf(w.d)}
		damage, err := t.eachEvent(i, &o, func(e *Event) error {
			if err := check.check(l, e); err != nil {
				return err
			}
			w.event(e)
			return w.err
		})
		if err != nil {
			return warnings, err
		}
		if damage != nil {
			warnings = append(warnings, damage.Error())
			w.print("# the trace was damaged here\n")
		}
		w.flush()
		if len(w.open) > 0 {
			w.print("...\n")
			w.open = w.open[:0]
		}
	}
	w.drain(0)
	return warnings, w.err
}

// print appends to the text.
func (w *textWriter) print(format string, args ...any) {
	w.b = fmt.Appendf(w.b, format, args...)
	w.drain(1 << 16)
}

// drain writes the text if there is more than so much of it.
func (w *textWriter) drain(most int) {
	if len(w.b) > most && w.err == nil {
		_, w.err = w.w.Write(w.b)
		w.b = w.b[:0]
	}
}

// quoted is a word in quotes if it needs them.
func quoted(s string) string { return string(appendWord(nil, s)) }

// keysOf returns keys for names: the names themselves, with a number where they are not unique.
func keysOf(names []string) []string {
	keys := make([]string, len(names))
	seen := map[string]bool{}
	for i, name := range names {
		key := name
		for k := 2; seen[key] || key == ""; k++ {
			key = name + "#" + strconv.Itoa(k)
		}
		seen[key] = true
		keys[i] = key
	}
	return keys
}

// definitions writes what comes before the locations.
func (w *textWriter) definitions() {
	d := w.d
	w.print("%s %s\n", textMagic, textVersion)
	w.chooseUnit()
	w.properties()
	if len(d.Locations) == 0 || d.Locations[len(d.Locations)-1].Rank != d.Ranks-1 {
		w.print("ranks %d\n", d.Ranks)
	}
	var names []string
	for i := range d.Comms {
		names = append(names, d.Comms[i].Name)
	}
	w.comms = keysOf(names)
	for i := range d.Comms {
		c := &d.Comms[i]
		w.print("comm %s%s%s", quoted(w.comms[i]), nameUnless(c.Name, w.comms[i]), ranges(c.Members))
		if c.Remote != nil {
			w.print(" remote%s", ranges(c.Remote))
		}
		w.print("\n")
	}
	names = nil
	for i := range d.Regions {
		names = append(names, d.Regions[i].Name)
	}
	w.regions = keysOf(names)
	for i := range d.Regions {
		w.region(w.regions[i], &d.Regions[i])
	}
	for i := 1; i < len(d.Stacks); i++ {
		w.print("stack %d %s", i, quoted(w.regions[d.Stacks[i].Region]))
		if parent := d.Stacks[i].Parent; parent != 0 {
			w.print(" in %d", parent)
		}
		w.print("\n")
	}
	for i := range d.Carts {
		w.cart(&d.Carts[i])
	}
	for i := range d.Comms {
		w.neighbors(w.comms[i], &d.Comms[i])
	}
	w.windows = w.objects("window", d.Windows)
	w.files = w.objects("file", d.Files)
}

// objects writes windows or files and returns their keys.
func (w *textWriter) objects(keyword string, list []timeline.Object) []string {
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	keys := keysOf(names)
	for i := range list {
		w.print("%s %s%s comm %s\n", keyword, quoted(keys[i]), nameUnless(list[i].Name, keys[i]), quoted(w.comms[list[i].Comm]))
	}
	return keys
}

// neighbors writes the neighbors of the ranks of a communicator.
func (w *textWriter) neighbors(key string, c *timeline.Comm) {
	for rank := range c.In {
		if len(c.In[rank])+len(c.Out[rank]) == 0 {
			continue
		}
		w.print("neighbors %s %d from", quoted(key), rank)
		for i, list := range [][]int32{c.In[rank], c.Out[rank]} {
			if i == 1 {
				w.print(" to")
			}
			for _, n := range list {
				if n == timeline.NoNeighbor {
					w.print(" -")
				} else {
					w.print(" %d", n)
				}
			}
		}
		w.print("\n")
	}
}

// chooseUnit makes times short: they are written in microseconds if the clock ticks no faster.
func (w *textWriter) chooseUnit() {
	for _, u := range []struct {
		name string
		size unit.Duration
	}{{"s", unit.Second}, {"ms", unit.Millisecond}, {"us", unit.Microsecond}} {
		if r := w.d.Resolution; r > 0 && r <= int64(unit.Second/u.size) {
			w.unit = uint64(u.size)
			w.print("unit %s\n", u.name)
			return
		}
	}
}

// nameUnless gives the name of a definition if its key is another one.
func nameUnless(name, key string) string {
	if name == key {
		return ""
	}
	return " name " + quoted(name)
}

func (w *textWriter) properties() {
	p := &w.d.Properties
	for _, f := range []struct {
		keyword string
		words   []string
	}{
		{"command", p.Command}, {"launch", p.Launch}, {"mpi", nonEmpty(p.MPI)}, {"tool", nonEmpty(p.Tool)},
		{"machine", nonEmpty(p.Machine)}, {"callpaths", nonEmpty(p.CallPaths)}, {"yield", nonEmpty(p.Yield)},
	} {
		if len(f.words) > 0 {
			var list []string
			for _, word := range f.words {
				list = append(list, quoted(word))
			}
			w.print("%s %s\n", f.keyword, strings.Join(list, " "))
		}
	}
	if p.Created != 0 {
		w.print("created %d\n", p.Created)
	}
	if p.SamplePeriod != 0 {
		w.print("sample-period %s\n", w.time(nil, p.SamplePeriod))
	}
	if p.Resolution != 0 {
		w.print("resolution %d\n", p.Resolution)
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// ranges are ranks as numbers and ranges.
func ranges(ranks []int32) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		if ranks[i] == timeline.UnknownRank {
			b.WriteString(" ?")
			i++
			continue
		}
		n := 1
		for i+n < len(ranks) && ranks[i+n] == ranks[i]+int32(n) {
			n++
		}
		if n > 2 {
			fmt.Fprintf(&b, " %d-%d", ranks[i], ranks[i+n-1])
		} else {
			n = 1
			fmt.Fprintf(&b, " %d", ranks[i])
		}
		i += n
	}
	return b.String()
}

func (w *textWriter) region(key string, g *timeline.Region) {
	w.print("region %s%s", quoted(key), nameUnless(g.Name, key))
	usual := timeline.RegionNamed(g.Name)
	if g.Paradigm != usual.Paradigm {
		w.print(" %s", textParadigms[g.Paradigm])
	}
	if g.Role != usual.Role {
		w.print(" %s", textRoles[g.Role])
	}
	if g.File != "" || g.Line != 0 {
		w.print(" at %s %d", quoted(g.File), g.Line)
	}
	w.print("\n")
}

func (w *textWriter) cart(c *Cart) {
	w.print("cart %s", quoted(w.comms[c.Comm]))
	for i, size := range c.Dims {
		w.print(" %d", size)
		if i < len(c.Periodic) && c.Periodic[i] {
			w.print("p")
		}
	}
	w.print("\n")
	usual := true
	for rank, at := range c.Coords {
		usual = usual && slices.Equal(at, rowMajor(c.Dims, rank))
	}
	if usual {
		return
	}
	for rank, at := range c.Coords {
		if len(at) == len(c.Dims) {
			w.print("coordinates %d %s\n", rank, strings.Trim(fmt.Sprint(at), "[]"))
		}
	}
}

func (w *textWriter) location(l *Location) {
	w.print("\nrank %d", l.Rank)
	if l.Thread != 0 {
		w.print(" thread %d", l.Thread)
	}
	for _, f := range []struct{ keyword, value string }{{"name", l.Name}, {"host", l.Host}} {
		if f.value != "" {
			w.print(" %s %s", f.keyword, quoted(f.value))
		}
	}
	if l.ID != uint64(l.Thread)<<32|uint64(l.Rank) {
		w.print(" id %d", l.ID)
	}
	if l.Truncated {
		w.print(" truncated")
	}
	if l.Missing {
		w.print(" missing")
	}
	w.print("\n")
	for _, o := range l.Offsets {
		w.print("offset %s %s", w.time(nil, o.Time), w.time(nil, o.Offset))
		if o.Deviation != 0 {
			w.print(" deviation %s", strconv.FormatFloat(o.Deviation, 'g', -1, 64))
		}
		w.print("\n")
	}
	for _, r := range l.RoundTrips {
		p := &w.d.Locations[r.Partner]
		w.print("trip %d.%d %s %s %s\n", p.Rank, p.Thread, w.time(nil, r.Sent), w.time(nil, r.Answered), w.time(nil, r.Back))
	}
}

// appendTime appends a time in ns.
func appendTime(b []byte, ps int64) []byte { return unit.Duration(ps).AppendNS(b) }

// time appends a time in the unit of the text.
func (w *textWriter) time(b []byte, ps int64) []byte {
	magnitude := uint64(ps)
	if ps < 0 {
		b, magnitude = append(b, '-'), -magnitude
	}
	b = strconv.AppendUint(b, magnitude/w.unit, 10)
	rest := magnitude % w.unit
	for place, first := w.unit, true; rest > 0; first = false {
		if first {
			b = append(b, '.')
		}
		place /= 10
		b = append(b, byte('0'+rest/place))
		rest %= place
	}
	return b
}

// mostRecords is how many records stand in a line with their call.
const mostRecords = 8

// event writes an event, or keeps it until it is clear how.
func (w *textWriter) event(e *Event) {
	switch {
	case e.Kind == Enter:
		w.flush()
		kept := *e
		w.pending = &kept
	case e.Kind == Leave && w.pending != nil && w.pending.Region == e.Region:
		w.line(e.Time)
	case e.Kind == Leave:
		w.flush()
		if n := len(w.open); n > 0 && w.open[n-1] == e.Region {
			w.open = w.open[:n-1]
			w.indent()
			w.b = append(w.time(append(w.b, "} "...), e.Time), '\n')
		} else {
			w.indent()
			w.b = append(w.time(append(w.b, "leave "...), e.Time), ' ')
			w.b = append(appendWord(w.b, w.regions[e.Region]), '\n')
		}
	case w.pending != nil && len(w.records) < mostRecords:
		kept := *e
		kept.Counts = slices.Clone(e.Counts)
		w.records = append(w.records, kept)
	default:
		w.flush()
		w.recordLine(e)
	}
	w.drain(1 << 16)
}

func (w *textWriter) indent() {
	for range len(w.open) {
		w.b = append(w.b, "  "...)
	}
}

// line writes the pending call in one line.
func (w *textWriter) line(end int64) {
	w.indent()
	w.b = append(w.time(w.b, w.pending.Time), ".."...)
	w.b = append(w.time(w.b, end), ' ')
	w.callName()
	for i := range w.records {
		e := &w.records[i]
		sign := "; "
		if i == 0 {
			sign = ": "
		}
		w.b = append(w.b, sign...)
		usual := end
		if begins(e.Kind) {
			usual = w.pending.Time
		}
		if e.Time != usual {
			w.b = append(w.time(append(w.b, '@'), e.Time), ' ')
		}
		w.record(e)
	}
	w.b = append(w.b, '\n')
	w.pending, w.records = nil, w.records[:0]
}

// callName writes name and stack of the pending call.
func (w *textWriter) callName() {
	w.b = appendWord(w.b, w.regions[w.pending.Region])
	if w.pending.Stack != 0 {
		w.b = strconv.AppendUint(append(w.b, " stack "...), uint64(w.pending.Stack), 10)
	}
}

// flush writes the start of the pending call and its records, because it does not fit into one line.
func (w *textWriter) flush() {
	if w.pending == nil {
		return
	}
	w.indent()
	w.b = append(w.time(w.b, w.pending.Time), ' ')
	w.callName()
	w.b = append(w.b, " {\n"...)
	w.open = append(w.open, w.pending.Region)
	w.pending = nil
	for i := range w.records {
		w.recordLine(&w.records[i])
	}
	w.records = w.records[:0]
}

// recordLine writes a record in a line of its own.
func (w *textWriter) recordLine(e *Event) {
	w.indent()
	w.b = append(w.time(append(w.b, '@'), e.Time), ' ')
	w.record(e)
	w.b = append(w.b, '\n')
}

// record writes what happened.
func (w *textWriter) record(e *Event) {
	b := w.b
	switch e.Kind {
	case Send, Isend, PartitionedSend:
		b = fmt.Appendf(b, "send to %d", e.Peer)
	case Recv, IrecvDone, PartitionedDone:
		b = fmt.Appendf(b, "recv from %d", e.Peer)
	case CollectiveEnd, CollectiveDone:
		b = append(b, e.Op.String()...)
	case Sample:
		b = fmt.Appendf(b, "sample %d", e.Stack)
	case NoCPU:
		w.b = w.time(append(b, "no-cpu "...), e.Size)
		return
	case RecordingOn:
		b = append(b, "recording on"...)
	case RecordingOff:
		b = append(b, "recording off"...)
	case SkippedSends:
		b = fmt.Appendf(b, "skipped %d sends to %d", e.Size, e.Peer)
	case SkippedReceives:
		b = fmt.Appendf(b, "skipped %d receives from %d", e.Size, e.Peer)
	case SkippedCollectives:
		b = fmt.Appendf(b, "skipped %d collectives", e.Size)
	case CommCreate:
		b = appendWord(append(b, "comm-create "...), w.comms[e.Comm])
	case CommDestroy:
		b = appendWord(append(b, "comm-destroy "...), w.comms[e.Comm])
	default:
		w.b = b
		if fieldsOf[e.Kind]&useObject != 0 {
			w.object(e)
		} else {
			w.plain(e)
		}
		return
	}
	f := fieldsOf[e.Kind]
	if f&usePeer != 0 {
		if e.Kind < SkippedSends || f&useChannel != 0 {
			b = appendIf(b, " size ", e.Size, 0)
		}
		b = appendIf(b, " tag ", int64(e.Tag), 0)
	}
	if f&useOp != 0 {
		switch e.Root {
		case timeline.RootSelf:
			b = append(b, " root self"...)
		case timeline.RootGroup:
			b = append(b, " root group"...)
		default:
			b = appendIf(b, " root ", int64(e.Root), NoRoot)
		}
		b = appendIf(b, " sent ", e.Sent, 0)
		b = appendIf(b, " received ", e.Received, 0)
		for i, v := range e.Counts {
			sign := ","
			if i == 0 {
				sign = " counts "
			}
			b = strconv.AppendInt(append(b, sign...), v, 10)
		}
	}
	if (f&(usePeer|useOp) != 0 || e.Kind == SkippedCollectives) && e.Comm != 0 {
		b = appendWord(append(b, " comm "...), w.comms[e.Comm])
	}
	if f&useRequest != 0 {
		b = strconv.AppendUint(append(b, " request "...), e.Request, 10)
	}
	if f&useChannel != 0 {
		b = strconv.AppendUint(append(b, " channel "...), uint64(e.Object), 10)
	}
	w.b = b
}

// appendIf appends a value that is not the usual one.
func appendIf(b []byte, keyword string, v, usual int64) []byte {
	if v == usual {
		return b
	}
	return strconv.AppendInt(append(b, keyword...), v, 10)
}

// plain writes a record of a word and perhaps a number.
func (w *textWriter) plain(e *Event) {
	for _, words := range []map[string]Kind{textPlain, textRequests, textNumbers} {
		for name, kind := range words {
			if kind == e.Kind {
				w.b = append(w.b, name...)
			}
		}
	}
	switch f := fieldsOf[e.Kind]; {
	case f&useRequest != 0:
		w.b = strconv.AppendUint(append(w.b, ' '), e.Request, 10)
	case f&useSize != 0:
		w.b = strconv.AppendInt(append(w.b, ' '), e.Size, 10)
	}
}
