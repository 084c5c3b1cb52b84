package trace

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"io"
	"runtime"
	"sync/atomic"

	"slackline/internal/atomicfile"
	"slackline/internal/chunk"
	"slackline/internal/parallel"
	"slackline/model/trace/streams"
)

// writeSLT writes a trace into a directory, several locations at the same time.
func writeSLT(d *atomicfile.Dir, _ string, t *Trace, o WriteOptions) ([]string, error) {
	t, devices, err := t.accelerators(&o)
	if err != nil {
		return nil, err
	}
	defs := t.Definitions
	defs.Locations = append([]Location(nil), defs.Locations...)
	files := sltFiles{run: runOf(&defs), events: make([]chunk.Identity, len(defs.Locations))}
	var warnings warningList
	err = eachLocation(len(defs.Locations), o.Threads, func(i int) error {
		l := &defs.Locations[i]
		if err := defs.checkOrder(i); err != nil {
			return err
		}
		if l.Missing {
			return l.refuse(&o)
		}
		var damage, err error
		files.events[i], damage, err = writeSLTEvents(d, t, i, l, files.run, &o)
		if damage != nil {
			l.Truncated = true
			warnings.add("%v", damage)
		}
		return err
	})
	if err != nil {
		return warnings.list, err
	}
	if devices != nil {
		err = writeFile(d, streams.Name, func(out io.Writer) (err error) {
			files.streams, err = streams.Write(out, devices)
			return err
		})
	}
	if err == nil {
		err = writeFile(d, sltDefinitions, func(out io.Writer) error { return writeSLTDefinitions(out, &defs, &files) })
	}
	return warnings.list, err
}

// runOf numbers a run by what is known of it before its events are written.
func runOf(d *Definitions) uint64 {
	w := &sltDefsWriter{}
	w.properties(d, 0)
	for i := range d.Locations {
		w.location(&d.Locations[i])
	}
	hash := fnv.New64a()
	hash.Write(w.buf)
	return max(hash.Sum64(), 1) // 0 would be none
}

// eachLocation calls f for the numbers 0 to n-1 from several goroutines and returns the error of the
// smallest number that has one.
func eachLocation(n, threads int, f func(i int) error) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, n)
	var failed atomic.Bool
	parallel.Each(n, threads, func(i int) {
		if failed.Load() {
			return
		}
		if errs[i] = f(i); errs[i] != nil {
			failed.Store(true)
		}
	})
	return cmp.Or(errs...)
}

// writeSLTEvents writes the file of location i and counts its events.
func writeSLTEvents(d *atomicfile.Dir, t *Trace, i int, l *Location, run uint64, o *WriteOptions) (id chunk.Identity, damage, err error) {
	f, err := d.Create(sltFile(l))
	if err != nil {
		return id, nil, err
	}
	w := newSLTWriter(chunk.NewWriter(f, &sltEventLayout))
	from := binary.AppendUvarint(binary.LittleEndian.AppendUint64(nil, run), uint64(l.Rank))
	w.file.Chunk(sltFrom, binary.AppendUvarint(from, uint64(l.Thread)))
	l.Events, damage, err = t.eachChecked(i, o, func(e *Event) error {
		w.add(e)
		return w.file.Err()
	})
	finish := w.finish()
	return w.file.Identity(), damage, cmp.Or(err, finish, f.Close())
}

// sltWriter collects events to chunks.
type sltWriter struct {
	file    *chunk.Writer
	columns [sltColumns][]byte
	shapes  map[string]uint32
	lists   map[string]uint32
	numbers []uint32 // shapes of the events
	times   []int64
	request uint64
	list    []byte
	shape   []byte
	raw     []byte
	index   []byte
	blocks  uint64
}

func newSLTWriter(file *chunk.Writer) *sltWriter {
	return &sltWriter{file: file, shapes: make(map[string]uint32), lists: make(map[string]uint32)}
}

// add adds an event.
func (w *sltWriter) add(e *Event) {
	f := fieldsOf[e.Kind]
	w.shape = w.appendShape(w.shape[:0], e, f)
	number, ok := w.shapes[string(w.shape)]
	if !ok {
		number = uint32(len(w.shapes))
		w.shapes[string(w.shape)] = number
		w.columns[sltShapes] = append(w.columns[sltShapes], w.shape...)
	}
	if f&useRequest != 0 {
		w.columns[sltRequests] = chunk.AppendInt(w.columns[sltRequests], int64(e.Request-w.request))
		w.request = e.Request
	}
	w.numbers = append(w.numbers, number)
	w.times = append(w.times, e.Time)
	if len(w.times) == sltBlock || len(w.columns[sltLists])+len(w.columns[sltRequests]) > chunk.MaxRaw/2 {
		w.flush()
	}
}

// addList adds counts by peer and returns their number.
func (w *sltWriter) addList(counts []int64) uint32 {
	if len(counts) == 0 {
		return 0
	}
	b := binary.AppendUvarint(w.list[:0], uint64(len(counts)))
	last := int64(0)
	for _, v := range counts {
		b = chunk.AppendInt(b, v-last)
		last = v
	}
	w.list = b
	number, ok := w.lists[string(b)]
	if !ok {
		number = uint32(len(w.lists)) + 1
		w.lists[string(b)] = number
		w.columns[sltLists] = append(w.columns[sltLists], b...)
	}
	return number
}

// appendShape appends everything of an event but its time and request.
func (w *sltWriter) appendShape(b []byte, e *Event, f fields) []byte {
	b = append(b, byte(e.Kind))
	if f&useRegion != 0 {
		b = binary.AppendUvarint(b, uint64(e.Region))
	}
	if f&useStack != 0 {
		b = binary.AppendUvarint(b, uint64(e.Stack))
	}
	if f&usePeer != 0 {
		b = chunk.AppendInt(b, int64(e.Peer))
	}
	if f&useComm != 0 {
		b = binary.AppendUvarint(b, uint64(e.Comm))
	}
	if f&useTag != 0 {
		b = chunk.AppendInt(b, int64(e.Tag))
	}
	if f&useSize != 0 {
		b = chunk.AppendInt(b, e.Size)
	}
	if f&useOp != 0 {
		b = binary.AppendUvarint(b, uint64(e.Op))
	}
	if f&useRoot != 0 {
		b = chunk.AppendInt(b, int64(e.Root))
	}
	if f&useSent != 0 {
		b = chunk.AppendInt(b, e.Sent)
		b = chunk.AppendInt(b, e.Received)
	}
	if f&useCounts != 0 {
		b = binary.AppendUvarint(b, uint64(w.addList(e.Counts)))
	}
	if f&useObject != 0 {
		b = binary.AppendUvarint(b, uint64(e.Object))
	}
	if f&useFlag != 0 {
		b = append(b, oneIf(e.Flag))
	}
	return b
}

// addTimes fills the columns of times from the times of the events and returns their grain.
func (w *sltWriter) addTimes() (grain uint64) {
	for i := 1; i < len(w.times) && grain != 1; i++ {
		grain = gcd(grain, uint64(w.times[i])-uint64(w.times[i-1]))
	}
	grain = max(grain, 1)
	lengths, times := w.columns[sltLengths], w.columns[sltTimes]
	last := w.times[0]
	for i, t := range w.times {
		delta := (uint64(t) - uint64(last)) / grain
		last = t
		code, n := uint8(3), 8
		if delta < 1<<24 {
			code = 0
			for delta>>(8*(code+1)) > 0 {
				code++
			}
			n = int(code) + 1
		}
		if i%4 == 0 {
			lengths = append(lengths, 0)
		}
		lengths[len(lengths)-1] |= code << (2 * (i % 4))
		for range n {
			times = append(times, byte(delta))
			delta >>= 8
		}
	}
	w.columns[sltLengths], w.columns[sltTimes] = lengths, times
	return grain
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// flush writes the events that have come together as a chunk.
func (w *sltWriter) flush() {
	if len(w.times) == 0 {
		return
	}
	grain := w.addTimes()
	for _, n := range w.numbers {
		w.columns[sltEvents] = append(w.columns[sltEvents], byte(n))
		if len(w.shapes) > 256 {
			w.columns[sltEvents] = append(w.columns[sltEvents], byte(n>>8))
		}
	}
	first, last := w.times[0], w.times[len(w.times)-1]
	b := binary.AppendUvarint(w.raw[:0], uint64(len(w.times)))
	b = chunk.AppendInt(b, first)
	for _, v := range []uint64{grain, uint64(len(w.lists)), uint64(len(w.shapes))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, c := range w.columns {
		b = binary.AppendUvarint(b, uint64(len(c)))
	}
	for i, c := range w.columns {
		b = append(b, c...)
		w.columns[i] = c[:0]
	}
	w.raw = b
	length := w.file.Chunk(sltEvts, b)
	w.index = binary.AppendUvarint(w.index, uint64(length))
	w.index = binary.AppendUvarint(w.index, uint64(len(w.times)))
	w.index = chunk.AppendInt(chunk.AppendInt(w.index, first), last)
	w.blocks++
	clear(w.shapes)
	clear(w.lists)
	w.numbers, w.times, w.request = w.numbers[:0], w.times[:0], 0
}

// finish writes what is left, and the index.
func (w *sltWriter) finish() error {
	w.flush()
	index := append(binary.AppendUvarint(nil, w.blocks), w.index...)
	return w.file.Finish(sltIndex, binary.LittleEndian.AppendUint32(index, w.file.Sum()))
}
