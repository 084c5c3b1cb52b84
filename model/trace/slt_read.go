package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"slices"

	"slackline/internal/chunk"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
)

// openSLTEvents opens the events of location i.
func openSLTEvents(src source, t *Trace, i int) (EventReader, error) {
	name := sltFile(&t.Locations[i])
	show := src.showBeside(name)
	file, err := src.open(name)
	if err != nil {
		return nil, damage.At(show, -1, "the events are missing: %v", err)
	}
	r, err := chunk.NewReader(file, &sltEventLayout, sltIndex)
	if err != nil {
		file.Close()
		return nil, damage.At(show, 0, "%v", err)
	}
	return &sltReader{file: file, chunks: r, show: show, limits: limitsOf(&t.Definitions)}, nil
}

// sltReader reads the events of one location.
type sltReader struct {
	file   fs.File
	chunks *chunk.Reader
	show   string
	limits limits
	first  int64 // time of the first event of the current chunk
	last   int64 // time of the last event of the chunk before it
	begun  bool
	index  []byte // what the index must be
	blocks uint64
	from   bool  // it says whose it is
	err    error // after the last event
	sltDecoder
}

// Read implements EventReader.
func (r *sltReader) Read(events []Event) (int, error) {
	for r.left == 0 {
		if r.err == nil {
			r.err = r.nextBlock()
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n, err := r.decode(events[:min(len(events), r.left)])
	if err != nil {
		r.left, r.err = 0, r.fail(err)
		if n == 0 {
			return 0, r.err
		}
	} else if r.left == 0 {
		r.endBlock()
	}
	return n, nil
}

// Close implements EventReader.
func (r *sltReader) Close() error {
	r.chunks.Close()
	return r.file.Close()
}

// fail gives an error the name of the file and the position of the current chunk.
func (r *sltReader) fail(err error) error { return damage.At(r.show, r.chunks.Offset(), "%v", err) }

// nextBlock moves to the next chunk; io.EOF if there is none.
func (r *sltReader) nextBlock() error {
	kind, raw, err := r.chunks.Next()
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	switch {
	case err != nil:
	case kind == sltIndex:
		index := append(binary.AppendUvarint(nil, r.blocks), r.index...)
		if r.from {
			index = binary.LittleEndian.AppendUint32(index, r.chunks.Sum())
		}
		if !slices.Equal(raw, index) {
			err = errors.New("the index does not agree with the events")
		}
	case kind == sltFrom && r.chunks.Offset() == chunk.HeaderLen: // it has been looked at
		r.from = true
	case kind == sltEvts:
		err = r.begin(raw, r.limits)
		if err == nil && r.begun && r.time < r.last {
			err = fmt.Errorf("the events begin at %d ps, before the end of those before them, %d ps", r.time, r.last)
		}
		r.first, r.begun = r.time, true
	default:
		err = fmt.Errorf("there are no chunks of kind %q", kind)
	}
	if err != nil {
		r.left = 0
		return r.fail(err)
	}
	return nil
}

// endBlock keeps what the index must say about the current chunk, which has been read.
func (r *sltReader) endBlock() {
	r.last = r.time
	r.blocks++
	r.index = binary.AppendUvarint(r.index, uint64(r.chunks.Stored()))
	r.index = binary.AppendUvarint(r.index, uint64(r.at))
	r.index = chunk.AppendInt(chunk.AppendInt(r.index, r.first), r.last)
}

// sltDecoder turns the columns of a chunk into events.
type sltDecoder struct {
	left    int   // events that have not been decoded
	at      int   // those that have
	time    int64 // of the event before
	grain   uint64
	shapes  []Event
	counts  []int64
	ends    []int // where the lists end in counts
	wide    bool  // numbers of shapes take two bytes
	numbers []byte
	lengths []byte
	times   []byte
	timesAt int
	handle  uint64 // request before

	requests chunk.Column
}

// begin takes in a chunk.
func (d *sltDecoder) begin(raw []byte, l limits) error {
	head := chunk.Column{B: raw}
	events, first, grain := head.Uint(), head.Int(), head.Uint()
	lists, shapes := head.Uint(), head.Uint()
	var lengths [sltColumns]uint64
	for i := range lengths {
		lengths[i] = head.Uint()
	}
	var columns [sltColumns]chunk.Column
	for i, n := range lengths {
		columns[i].B = head.Bytes(n)
	}
	if head.Bad || head.Left() > 0 {
		return errors.New("the lengths of the columns do not add up")
	}
	width := uint64(1)
	if shapes > 256 {
		width = 2
	}
	if events == 0 || events > sltBlock || shapes > events || lists > shapes || grain == 0 || grain > math.MaxInt64 ||
		lengths[sltEvents] != events*width || lengths[sltLengths] != (events+3)/4 {
		return fmt.Errorf("%d events of %d shapes with %d lists and grain %d do not fit their columns", events, shapes, lists, grain)
	}
	if err := d.readLists(&columns[sltLists], lists); err != nil {
		return err
	}
	if err := d.readShapes(&columns[sltShapes], shapes, l); err != nil {
		return err
	}
	d.left, d.at, d.time, d.grain, d.wide, d.handle = int(events), 0, first, grain, width == 2, 0
	d.numbers, d.lengths = columns[sltEvents].B, columns[sltLengths].B
	d.requests = columns[sltRequests]
	return d.setTimes(columns[sltTimes].B)
}

// readLists reads the lists of counts.
func (d *sltDecoder) readLists(c *chunk.Column, n uint64) error {
	d.counts, d.ends = d.counts[:0], d.ends[:0]
	for range n {
		last := int64(0)
		for k := min(c.Uint(), uint64(c.Left())+1); k > 0 && !c.Bad; k-- {
			last += c.Int()
			d.counts = append(d.counts, last)
		}
		d.ends = append(d.ends, len(d.counts))
	}
	if c.Bad || c.Left() > 0 {
		return errors.New("the lists of counts do not fit their column")
	}
	return nil
}

// readShapes reads the shapes.
func (d *sltDecoder) readShapes(c *chunk.Column, n uint64, l limits) error {
	d.shapes = slices.Grow(d.shapes[:0], int(n))[:n]
	for i := range d.shapes {
		e := &d.shapes[i]
		kind := Kind(c.Byte())
		if kind >= numKinds {
			return fmt.Errorf("there is no kind %d of events", kind)
		}
		*e = Event{Kind: kind}
		f := fieldsOf[kind]
		wide := uint64(0) // bits of numbers that are too large
		if f&useRegion != 0 {
			e.Region = narrow(c.Uint(), &wide)
		}
		if f&useStack != 0 {
			e.Stack = narrow(c.Uint(), &wide)
		}
		if f&usePeer != 0 {
			e.Peer = narrowInt(c.Int(), &wide)
		}
		if f&useComm != 0 {
			e.Comm = narrow(c.Uint(), &wide)
		}
		if f&useTag != 0 {
			e.Tag = narrowInt(c.Int(), &wide)
		}
		if f&useSize != 0 {
			e.Size = c.Int()
		}
		if f&useOp != 0 {
			op := narrow(c.Uint(), &wide)
			e.Op = timeline.Op(min(op, math.MaxUint8))
		}
		if f&useRoot != 0 {
			e.Root = narrowInt(c.Int(), &wide)
		}
		if f&useSent != 0 {
			e.Sent, e.Received = c.Int(), c.Int()
		}
		if f&useCounts != 0 {
			list := c.Uint()
			if list > uint64(len(d.ends)) {
				return fmt.Errorf("list %d of counts is not there", list)
			}
			if list > 0 {
				e.Counts = d.list(int(list) - 1)
			}
		}
		if f&useObject != 0 {
			e.Object = narrow(c.Uint(), &wide)
		}
		if f&useFlag != 0 {
			e.Flag = c.Byte() != 0
		}
		if err := l.check(e); err != nil {
			return err
		}
		if wide != 0 || c.Bad {
			return errors.New("a shape is cut off or has a number that is too large")
		}
	}
	if c.Left() > 0 {
		return errors.New("the shapes are shorter than their column")
	}
	return nil
}

// narrow returns a number of 32 bits; what does not fit is noted.
func narrow(v uint64, wide *uint64) uint32 {
	*wide |= v >> 32
	return uint32(v)
}

// narrowInt is narrow for numbers that may be negative.
func narrowInt(v int64, wide *uint64) int32 {
	*wide |= uint64(v-math.MinInt32) >> 32
	return int32(v)
}

// list returns a list of counts.
func (d *sltDecoder) list(i int) []int64 {
	begin := 0
	if i > 0 {
		begin = d.ends[i-1]
	}
	return d.counts[begin:d.ends[i]:d.ends[i]]
}

// Lengths and masks of differences of times, by code.
var (
	sltLength = [4]int{1, 2, 3, 8}
	sltMask   = [4]uint64{1<<8 - 1, 1<<16 - 1, 1<<24 - 1, math.MaxUint64}
)

// sltBytes is the number of bytes of four differences, by their byte of codes.
var sltBytes = func() (sums [256]uint8) {
	for i := range sums {
		for k := range 4 {
			sums[i] += uint8(sltLength[i>>(2*k)&3])
		}
	}
	return sums
}()

// setTimes checks that all differences are there, so that decoding need not look. Some bytes after
// them are read and not used.
func (d *sltDecoder) setTimes(times []byte) error {
	total := 0
	for _, code := range d.lengths {
		total += int(sltBytes[code])
	}
	if rest := d.left % 4; rest != 0 { // codes of events that are not there
		if d.lengths[len(d.lengths)-1]>>(2*rest) != 0 {
			return errors.New("there is a time too many")
		}
		total -= (4 - rest) * sltLength[0]
	}
	if total != len(times) {
		return fmt.Errorf("the times take %d bytes, but there are %d", total, len(times))
	}
	d.times = append(append(d.times[:0], times...), make([]byte, 8)...)
	d.timesAt = 0
	return nil
}

// decode turns the next events of the chunk into Events, len(events) of them, and returns how many could
// be decoded.
func (d *sltDecoder) decode(events []Event) (int, error) {
	time, at, times := d.time, d.timesAt, d.times
	for i := range events {
		k := d.at + i
		var number int
		if d.wide {
			number = int(d.numbers[2*k]) | int(d.numbers[2*k+1])<<8
		} else {
			number = int(d.numbers[k])
		}
		if number >= len(d.shapes) {
			return i, fmt.Errorf("shape %d is not there", number)
		}
		code := d.lengths[k/4] >> (2 * (k % 4)) & 3
		delta := binary.LittleEndian.Uint64(times[at:]) & sltMask[code]
		at += sltLength[code]
		over, step := bits.Mul64(delta, d.grain)
		next := time + int64(step)
		if over != 0 || step > math.MaxInt64 || next < time {
			return i, errors.New("a time is too large")
		}
		time = next
		e := &events[i]
		*e = d.shapes[number]
		e.Time = time
		if fieldsOf[e.Kind&63]&useRequest != 0 {
			d.handle += uint64(d.requests.Int())
			e.Request = d.handle
		}
	}
	if d.requests.Bad {
		return 0, errors.New("requests are missing")
	}
	d.time, d.timesAt = time, at
	d.at += len(events)
	d.left -= len(events)
	if d.left == 0 && d.requests.Left() > 0 {
		return len(events), errors.New("there are requests that no event has")
	}
	return len(events), nil
}
