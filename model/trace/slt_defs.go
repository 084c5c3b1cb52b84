package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"slackline/internal/chunk"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
)

// sltDefsWriter writes definitions as records.
type sltDefsWriter struct {
	w       *chunk.Writer
	buf     []byte
	records uint64
}

// writeSLTDefinitions writes the file of definitions.
func writeSLTDefinitions(out io.Writer, d *Definitions, files *sltFiles) error {
	w := &sltDefsWriter{w: chunk.NewWriter(out, &sltDefsLayout)}
	w.properties(d, files.run)
	for i := range d.Locations {
		w.location(&d.Locations[i])
		w.identity('d', files.events[i])
	}
	w.identity('a', files.streams)
	for i := range d.Comms {
		c := &d.Comms[i]
		w.record('c')
		w.strings(c.Name)
		w.list('m', c.Members)
		w.list('n', c.Remote)
	}
	for i := range d.Regions {
		r := &d.Regions[i]
		w.record('r')
		w.uints(uint64(r.Paradigm), uint64(r.Role), uint64(max(r.Line, 0)))
		w.strings(r.Name, r.File)
	}
	for i := 1; i < len(d.Stacks); i++ {
		w.record('s')
		w.uints(uint64(d.Stacks[i].Parent), uint64(d.Stacks[i].Region))
	}
	for i := range d.Carts {
		w.cart(&d.Carts[i])
	}
	w.objects('w', d.Windows)
	w.objects('f', d.Files)
	for _, m := range d.Metrics {
		w.record('k')
		w.strings(m.Name, m.Unit)
	}
	for i := range d.Comms {
		w.neighbors(uint64(i), &d.Comms[i])
	}
	w.flush()
	return w.w.Finish(sltIndex, binary.AppendUvarint(nil, w.records))
}

// record begins a record.
func (w *sltDefsWriter) record(letter byte) {
	if len(w.buf) > sltPiece && w.w != nil {
		w.flush()
	}
	w.buf = append(w.buf, letter)
	w.records++
}

func (w *sltDefsWriter) flush() {
	if len(w.buf) > 0 {
		w.w.Chunk(sltDefs, w.buf)
		w.buf = w.buf[:0]
	}
}

func (w *sltDefsWriter) uints(values ...uint64) {
	for _, v := range values {
		w.buf = binary.AppendUvarint(w.buf, v)
	}
}

func (w *sltDefsWriter) ints(values ...int64) {
	for _, v := range values {
		w.buf = chunk.AppendInt(w.buf, v)
	}
}

func (w *sltDefsWriter) strings(values ...string) {
	for _, v := range values {
		w.buf = chunk.AppendString(w.buf, v)
	}
}

// identity writes what tells a file from others, if there is one.
func (w *sltDefsWriter) identity(letter byte, id chunk.Identity) {
	if id.Length > 0 {
		w.record(letter)
		w.uints(uint64(id.Length))
		w.buf = binary.LittleEndian.AppendUint32(w.buf, id.Sum)
	}
}

func (w *sltDefsWriter) properties(d *Definitions, run uint64) {
	p := &d.Properties
	w.record('p')
	w.uints(uint64(d.Ranks))
	w.ints(p.Created, p.SamplePeriod, p.Resolution)
	w.strings(p.MPI, p.Tool, p.Machine, p.CallPaths)
	for _, list := range [][]string{p.Command, p.Launch} {
		w.uints(uint64(len(list)))
		w.strings(list...)
	}
	if run != 0 {
		w.record('i')
		w.buf = binary.LittleEndian.AppendUint64(w.buf, run)
	}
	for i, word := range []string{p.Yield, p.Recording, p.Missing} {
		if word != "" {
			w.record("yuv"[i])
			w.strings(word)
		}
	}
}

func (w *sltDefsWriter) location(l *Location) {
	flags := uint64(0)
	if l.Truncated {
		flags |= sltTruncated
	}
	if l.Missing {
		flags |= sltMissing
	}
	w.record('l')
	w.uints(l.ID, uint64(l.Rank), uint64(l.Thread), flags, l.Events)
	w.strings(l.Name, l.Host)
	for _, o := range l.Offsets {
		w.record('o')
		w.ints(o.Time, o.Offset)
		w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(o.Deviation))
	}
	for _, r := range l.RoundTrips {
		w.record('t')
		w.uints(uint64(r.Partner))
		w.ints(r.Sent, r.Answered, r.Back)
	}
}

// list writes a list of numbers in pieces.
func (w *sltDefsWriter) list(letter byte, values []int32) {
	const piece = 1 << 16
	last := int64(0)
	for len(values) > 0 {
		n := min(len(values), piece)
		w.record(letter)
		w.uints(uint64(n))
		for _, v := range values[:n] {
			w.ints(int64(v) - last)
			last = int64(v)
		}
		values = values[n:]
	}
}

func (w *sltDefsWriter) cart(c *Cart) {
	w.record('g')
	w.uints(uint64(c.Comm), uint64(len(c.Dims)))
	for i, size := range c.Dims {
		periodic := uint64(0)
		if i < len(c.Periodic) && c.Periodic[i] {
			periodic = 1
		}
		w.uints(uint64(size), periodic)
	}
	for _, coords := range c.Coords {
		w.record('x')
		w.uints(uint64(len(coords)))
		for _, x := range coords {
			w.ints(int64(x))
		}
	}
}

func (w *sltDefsWriter) objects(letter byte, list []timeline.Object) {
	for _, o := range list {
		w.record(letter)
		w.uints(uint64(o.Comm))
		w.strings(o.Name)
	}
}

func (w *sltDefsWriter) neighbors(comm uint64, c *timeline.Comm) {
	for rank := range c.In {
		if rank > 0 && len(c.In[rank])+len(c.Out[rank]) == 0 { // the first one says that there is a graph, even one without edges
			continue
		}
		w.record('e')
		w.uints(comm, uint64(rank))
		for _, list := range [][]int32{c.In[rank], c.Out[rank]} {
			w.uints(uint64(len(list)))
			for _, v := range list {
				w.ints(int64(v))
			}
		}
	}
}

// sltDefsReader reads records of definitions.
type sltDefsReader struct {
	d       *Definitions
	files   *sltFiles
	c       chunk.Column
	records uint64
}

// readSLTDefinitions reads the file of definitions, as far as it is whole. The error reports where and
// why it is not.
func readSLTDefinitions(in io.Reader, d *Definitions, files *sltFiles, show string) error {
	file, err := chunk.NewReader(in, &sltDefsLayout, sltIndex)
	if err != nil {
		return damage.At(show, 0, "%v", err)
	}
	defer file.Close()
	d.Stacks = []Stack{{}}
	r := &sltDefsReader{d: d, files: files}
	if err := r.run(file); err != nil {
		return damage.At(show, file.Offset(), "%v", err)
	}
	return nil
}

// run reads all chunks.
func (r *sltDefsReader) run(file *chunk.Reader) error {
	room := int64(16 << 20) // hostile files unpack to thousands of times their size
	for {
		kind, raw, err := file.Next()
		if errors.Is(err, io.EOF) {
			return r.complete()
		}
		if err != nil {
			return err
		}
		r.c = chunk.Column{B: raw}
		if kind == sltIndex {
			if n := r.c.Uint(); r.c.Bad || r.c.Left() > 0 || n != r.records {
				return fmt.Errorf("the index announces %d definitions, but there are %d", n, r.records)
			}
			continue
		}
		if kind != sltDefs {
			return fmt.Errorf("there are no chunks of kind %q", kind)
		}
		if room += int64(file.Stored())*200 - int64(len(raw)); room < 0 {
			return errors.New("the definitions are too large for so small a file")
		}
		for r.c.Left() > 0 {
			if err := r.record(); err != nil {
				return fmt.Errorf("definition %d: %w", r.records, err)
			}
			r.records++
		}
	}
}

// complete checks what must be there at the end.
func (r *sltDefsReader) complete() error {
	for i := range r.d.Locations {
		for _, trip := range r.d.Locations[i].RoundTrips {
			if trip.Partner >= len(r.d.Locations) {
				return fmt.Errorf("location %d measured its clock against location %d, which is not defined", i, trip.Partner)
			}
		}
	}
	return nil
}

var errShortRecord = errors.New("the record is cut off or has a number that is too large")

// record reads one record.
func (r *sltDefsReader) record() error {
	d, c := r.d, &r.c
	letter := c.Byte()
	if (letter == 'p') != (r.records == 0) {
		return fmt.Errorf("a record %q where it must not be", letter)
	}
	var err error
	switch letter {
	case 'p':
		err = r.properties()
	case 'i':
		r.files.run = c.Uint64()
	case 'a':
		r.files.streams = r.identity()
	case 'y':
		d.Yield = c.String()
	case 'u':
		d.Recording = c.String()
	case 'v':
		d.Missing = c.String()
	case 'l':
		err = r.location()
	case 'd':
		if len(d.Locations) == 0 {
			return fmt.Errorf("a record %q where it must not be", letter)
		}
		r.files.events[len(d.Locations)-1] = r.identity()
	case 'o', 't':
		err = r.clock(letter)
	case 'r':
		g := timeline.Region{Paradigm: timeline.Paradigm(r.number(uint64(timeline.Tool))),
			Role: timeline.Role(r.number(uint64(timeline.Workshare))), Line: int(r.number(math.MaxInt32))}
		g.Name, g.File = c.String(), c.String()
		d.Regions = append(d.Regions, g)
	case 'c':
		d.Comms = append(d.Comms, timeline.Comm{Name: c.String()})
	case 'm', 'n':
		err = r.members(letter)
	case 's':
		s := Stack{uint32(r.number(math.MaxUint32)), uint32(r.number(math.MaxUint32))}
		if int(s.Parent) >= len(d.Stacks) || int(s.Region) >= len(d.Regions) {
			err = fmt.Errorf("stack %d has the parent %d and the region %d, of which one is not defined", len(d.Stacks), s.Parent, s.Region)
		}
		d.Stacks = append(d.Stacks, s)
	case 'g', 'x':
		err = r.cart(letter)
	case 'w':
		err = r.object(&d.Windows)
	case 'f':
		err = r.object(&d.Files)
	case 'k':
		d.Metrics = append(d.Metrics, timeline.Metric{Name: r.c.String(), Unit: r.c.String()})
	case 'e':
		err = r.neighbors()
	default:
		return fmt.Errorf("there is no record %q", letter)
	}
	if c.Bad {
		return errShortRecord
	}
	return err
}

// identity reads what tells a file from others.
func (r *sltDefsReader) identity() chunk.Identity {
	id := chunk.Identity{Length: int64(r.number(math.MaxInt64))}
	if b := r.c.Bytes(4); b != nil {
		id.Sum = binary.LittleEndian.Uint32(b)
	}
	return id
}

// number reads a number that must not be larger than most.
func (r *sltDefsReader) number(most uint64) uint64 {
	v := r.c.Uint()
	if v > most {
		r.c.Bad = true
		return 0
	}
	return v
}

func (r *sltDefsReader) properties() error {
	p, c := &r.d.Properties, &r.c
	ranks := r.number(math.MaxInt32)
	p.Created, p.SamplePeriod, p.Resolution = c.Int(), c.Int(), c.Int()
	p.MPI, p.Tool, p.Machine, p.CallPaths = c.String(), c.String(), c.String(), c.String()
	for _, list := range []*[]string{&p.Command, &p.Launch} {
		for n := r.number(uint64(c.Left())); n > 0 && !c.Bad; n-- {
			*list = append(*list, c.String())
		}
	}
	if !c.Bad && ranks == 0 {
		return errors.New("a trace of 0 ranks")
	}
	if !c.Bad {
		r.d.Ranks = int(ranks)
	}
	return nil
}

func (r *sltDefsReader) location() error {
	c := &r.c
	l := Location{ID: c.Uint(), Rank: int(r.number(math.MaxInt32)), Thread: int(r.number(math.MaxInt32))}
	flags := c.Uint()
	l.Events, l.Name, l.Host = c.Uint(), c.String(), c.String()
	l.Truncated, l.Missing = flags&sltTruncated != 0, flags&sltMissing != 0
	if c.Bad {
		return errShortRecord
	}
	r.d.Locations = append(r.d.Locations, l)
	r.files.events = append(r.files.events, chunk.Identity{})
	err := r.d.checkOrder(len(r.d.Locations) - 1)
	if err != nil {
		r.d.Locations = r.d.Locations[:len(r.d.Locations)-1]
	}
	return err
}

// clock reads a record about the clock of the last location.
func (r *sltDefsReader) clock(letter byte) error {
	if len(r.d.Locations) == 0 {
		return errors.New("a clock of no location")
	}
	l, c := &r.d.Locations[len(r.d.Locations)-1], &r.c
	if letter == 't' {
		l.RoundTrips = append(l.RoundTrips, RoundTrip{int(r.number(math.MaxInt32)), c.Int(), c.Int(), c.Int()})
		return nil
	}
	o := ClockOffset{Time: c.Int(), Offset: c.Int()}
	o.Deviation = math.Float64frombits(c.Uint64())
	l.Offsets = append(l.Offsets, o)
	return nil
}

// members reads a list of ranks of the last communicator.
func (r *sltDefsReader) members(letter byte) error {
	if len(r.d.Comms) == 0 {
		return errors.New("members of no communicator")
	}
	comm := &r.d.Comms[len(r.d.Comms)-1]
	list := &comm.Members
	if letter == 'n' {
		list = &comm.Remote
	}
	rank := int64(0)
	if n := len(*list); n > 0 {
		rank = int64((*list)[n-1])
	}
	for n := r.number(uint64(r.c.Left())); n > 0; n-- {
		rank += r.c.Int()
		if rank < timeline.UnknownRank || rank >= int64(r.d.Ranks) {
			return fmt.Errorf("communicator %d has rank %d, but there are %d ranks", len(r.d.Comms)-1, rank, r.d.Ranks)
		}
		*list = append(*list, int32(rank))
	}
	return nil
}

// object reads a window or a file.
func (r *sltDefsReader) object(to *[]timeline.Object) error {
	comm := r.number(math.MaxInt32)
	*to = append(*to, timeline.Object{Comm: int32(comm), Name: r.c.String()})
	if comm >= uint64(len(r.d.Comms)) {
		return fmt.Errorf("a window or file of communicator %d, which is not defined", comm)
	}
	return nil
}

// neighbors reads the neighbors of a rank of a communicator.
func (r *sltDefsReader) neighbors() error {
	comm, rank := r.number(math.MaxInt32), r.number(math.MaxInt32)
	var lists [2][]int32
	for i := range lists {
		for n := r.number(uint64(r.c.Left())); n > 0 && !r.c.Bad; n-- {
			wide := uint64(0)
			lists[i] = append(lists[i], narrowInt(r.c.Int(), &wide))
			r.c.Bad = r.c.Bad || wide != 0
		}
	}
	if r.c.Bad {
		return errShortRecord
	}
	if comm >= uint64(len(r.d.Comms)) {
		return fmt.Errorf("neighbors in communicator %d, which is not defined", comm)
	}
	return setNeighbors(&r.d.Comms[comm], int(rank), lists[0], lists[1])
}

// maxDims is the largest number of dimensions of a process grid.
const maxDims = 255

// cart reads a process grid or coordinates in the last one.
func (r *sltDefsReader) cart(letter byte) error {
	d, c := r.d, &r.c
	if letter == 'x' {
		if len(d.Carts) == 0 {
			return errors.New("coordinates in no process grid")
		}
		g := &d.Carts[len(d.Carts)-1]
		var coords []int
		for n := r.number(maxDims); n > 0; n-- {
			coords = append(coords, int(c.Int()))
		}
		g.Coords = append(g.Coords, coords)
		return nil
	}
	g := Cart{Comm: uint32(r.number(math.MaxUint32))}
	for n := r.number(maxDims); n > 0; n-- {
		g.Dims = append(g.Dims, int(r.number(math.MaxInt32)))
		g.Periodic = append(g.Periodic, r.number(1) == 1)
	}
	if int(g.Comm) >= len(d.Comms) {
		return fmt.Errorf("a process grid on communicator %d, which is not defined", g.Comm)
	}
	d.Carts = append(d.Carts, g)
	return nil
}
