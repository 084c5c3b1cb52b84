package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/unit"
)

// fields defines which fields of an event its kind uses, beside Time.
type fields uint32

const (
	useRegion fields = 1 << iota
	useStack
	usePeer
	useComm
	useTag
	useSize
	useOp
	useRoot
	useSent     // and Received
	useCounts   //
	useRequest  //
	useWindow   // Object
	useFile     // Object
	useChannel  // Object
	useMetric   // Object
	useFlag     //
	useObject   = useWindow | useFile | useChannel | useMetric
	useMessage  = usePeer | useComm | useTag | useSize
	useCollects = useOp | useComm | useRoot | useSent | useCounts
)

// fieldsOf are the fields by kind.
var fieldsOf = [64]fields{
	Enter: useRegion | useStack, Leave: useRegion,
	Send: useMessage, Isend: useMessage | useRequest, IsendDone: useRequest, IrecvPost: useRequest,
	Recv: useMessage, IrecvDone: useMessage | useRequest, RequestTest: useRequest, RequestCancelled: useRequest,
	CollectiveBegin: 0, CollectiveEnd: useCollects, CollectiveIssue: useRequest, CollectiveDone: useCollects | useRequest,
	Fork: useSize, Join: 0, TeamBegin: 0, TeamEnd: 0, Sample: useStack, Polls: useSize,
	RecordingOff: 0, RecordingOn: 0, CommCreate: useComm, CommDestroy: useComm,
	ProgramBegin: 0, ProgramEnd: useSize, Other: 0, NoCPU: useSize, ThreadBegin: 0, ThreadEnd: 0,
	SkippedSends: useMessage, SkippedReceives: useMessage, SkippedCollectives: useComm | useSize,
	WinCollective: useOp | useWindow, WinPost: useWindow | useCounts, WinStart: useWindow | useCounts,
	WinComplete: useWindow, WinWait: useWindow, WinLock: useWindow | usePeer | useFlag, WinUnlock: useWindow | usePeer,
	WinFlush: useWindow | usePeer | useFlag, WinSync: useWindow,
	Put: useWindow | usePeer | useSize, Get: useWindow | usePeer | useSize, Atomic: useWindow | usePeer | useSent,
	FileOpen: useFile, FileClose: useFile, FileBegin: useFile | useRequest | useSize, FileEnd: useFile | useRequest,
	PartitionedSend: useMessage | useRequest | useChannel, PartitionedDone: useMessage | useRequest | useChannel,
	Count: useMetric | useRequest,
}

// numKinds is the number of kinds of events, numOps that of collective operations.
const (
	numKinds = Count + 1
	numOps   = timeline.OpNeighborAlltoallw + 1
)

// limits are how many definitions there are that events refer to.
type limits struct{ regions, stacks, comms, windows, files, metrics uint32 }

func limitsOf(d *Definitions) limits {
	return limits{uint32(len(d.Regions)), uint32(max(len(d.Stacks), 1)), uint32(len(d.Comms)), uint32(len(d.Windows)), uint32(len(d.Files)),
		uint32(len(d.Metrics))}
}

// check reports what is wrong with an event: a reference to nothing.
func (l limits) check(e *Event) error {
	if e.Kind >= numKinds {
		return fmt.Errorf("there is no kind %d of events", e.Kind)
	}
	f := fieldsOf[e.Kind]
	switch {
	case f&useRegion != 0 && e.Region >= l.regions:
		return fmt.Errorf("region %d is not defined", e.Region)
	case f&useStack != 0 && e.Stack >= l.stacks:
		return fmt.Errorf("stack %d is not defined", e.Stack)
	case f&useComm != 0 && e.Comm >= l.comms:
		return fmt.Errorf("communicator %d is not defined", e.Comm)
	case f&useOp != 0 && e.Op >= numOps:
		return fmt.Errorf("there is no collective operation %d", e.Op)
	case f&useWindow != 0 && e.Object >= l.windows:
		return fmt.Errorf("window %d is not defined", e.Object)
	case f&useFile != 0 && e.Object >= l.files:
		return fmt.Errorf("file %d is not defined", e.Object)
	case f&useMetric != 0 && e.Object >= l.metrics:
		return fmt.Errorf("metric %d is not defined", e.Object)
	}
	return nil
}

// newMemory returns a trace whose events are in memory, by location.
func newMemory(d Definitions, events [][]Event) *Trace {
	return &Trace{
		Definitions: d,
		Open: func(i int) (EventReader, error) {
			return &memoryReader{events[i]}, nil
		},
	}
}

// memoryReader reads events from memory.
type memoryReader struct{ rest []Event }

func (r *memoryReader) Read(events []Event) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(events, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *memoryReader) Close() error { return nil }

// timelineReader makes the events of a location.
type timelineReader struct {
	tl      *timeline.Timeline
	calls   *timeline.Calls
	records []timelineRecord
	regions []uint32 // their numbers in the trace
	at      []int    // by place in open: the next record of the call
	open    []int32  // open calls, below all of them -1
	next    int32    // call
	end     int64    // of what has been said
}

func newTimelineReader(tl *timeline.Timeline, location int, records []timelineRecord, regions []uint32) *timelineReader {
	r := &timelineReader{tl: tl, calls: &tl.Locations[location].Calls, records: records, regions: regions, end: math.MinInt64}
	r.push(-1)
	return r
}

// push opens a call.
func (r *timelineReader) push(call int32) {
	r.open = append(r.open, call)
	at, _ := slices.BinarySearchFunc(r.records, call, func(x timelineRecord, c int32) int { return cmp.Compare(x.call, c) })
	r.at = append(r.at, at)
}

// Close implements EventReader.
func (r *timelineReader) Close() error { return nil }

// Read implements EventReader.
func (r *timelineReader) Read(events []Event) (int, error) {
	for i := range events {
		if !r.event(&events[i]) {
			if i == 0 {
				return 0, io.EOF
			}
			return i, nil
		}
	}
	return len(events), nil
}

// event makes the next event; false: there is none.
func (r *timelineReader) event(e *Event) bool {
	if len(r.open) == 0 {
		return false
	}
	top := len(r.open) - 1
	call := r.open[top]
	inside := int(r.next) < r.calls.Len() && (call < 0 || r.next < r.calls.Skip[call]) // the next call is in this one
	if at := r.at[top]; at < len(r.records) && r.records[at].call == call {
		record := &r.records[at]
		first := !inside || record.e.Time <= int64(r.calls.Enter[r.next])
		if inside && record.next >= 0 {
			first = record.next <= r.next
		}
		if first {
			r.at[top]++
			*e = record.e
			e.Time = max(e.Time, r.end)
			r.end = e.Time
			return true
		}
	}
	if inside {
		*e = r.half(r.next, r.calls.Enter, Enter, RecordingOff)
		r.push(r.next)
		r.next++
	} else {
		r.open, r.at = r.open[:top], r.at[:top]
		if call < 0 {
			return false
		}
		*e = r.half(call, r.calls.Leave, Leave, RecordingOn)
	}
	r.end = max(r.end, e.Time)
	return true
}

// half is the beginning or the end of a call, or of a time when recording was off.
func (r *timelineReader) half(call int32, times []unit.Duration, kind, off Kind) Event {
	e := Event{Time: int64(times[call]), Kind: kind, Region: r.regions[r.tl.Paths[r.calls.Path[call]].Region]}
	if e.Region == noRegion {
		e.Kind, e.Region = off, 0
	}
	return e
}

// batch is how many events are read at a time: enough to make calls cheap, few enough for the
// cache.
const batch = 1024

// refuse is the error of a location whose file cannot be read; nil if it never had one, or if the rest is enough.
func (l *Location) refuse(o *WriteOptions) error {
	if l.Unreadable == "" || o.Partial {
		return nil
	}
	return fmt.Errorf("%s %s", l.Unreadable, partialHint)
}

// eachEvent calls f with the events of a location in order. Damage is returned apart from other
// errors: the events before it have been seen.
func (t *Trace) eachEvent(i int, o *WriteOptions, f func(e *Event) error) (loss, err error) {
	if t.Locations[i].Missing {
		return nil, t.Locations[i].refuse(o)
	}
	r, err := t.Open(i)
	if err == nil {
		defer r.Close()
	}
	return t.readBatches(r, err, o.Strict, o.Partial, func(events []Event) error {
		for k := range events {
			if err := f(&events[k]); err != nil {
				return err
			}
		}
		return o.interrupted()
	})
}

// readBatches calls apply with the events of a reader, many at a time; err is that of its opening. Damage is returned apart from other
// errors, unless nothing was read or all of it is wanted.
func (t *Trace) readBatches(r EventReader, err error, strict, partial bool, apply func([]Event) error) (loss, failed error) {
	events, read := make([]Event, batch), 0
	for err == nil {
		var n int
		n, err = r.Read(events)
		read += n
		if failed := apply(events[:n]); failed != nil {
			return nil, failed
		}
	}
	switch isDamage := errors.Is(err, damage.Err); {
	case t.unread() != nil && !partial: // whatever the reader made of it
		return nil, fmt.Errorf("%w %s", t.unread(), partialHint)
	case errors.Is(err, io.EOF):
		return nil, nil
	case isDamage && strict:
		return nil, fmt.Errorf("%w (without --strict the rest is read)", err)
	case isDamage && read == 0 && !partial:
		return nil, fmt.Errorf("%w; no event can be read %s", err, partialHint)
	case isDamage:
		return err, nil
	}
	return nil, err
}

// unread is the error of a disk that did not give all of a trace; nil: it did.
func (t *Trace) unread() error {
	if t.disk == nil {
		return nil
	}
	return t.disk.Failure()
}

// eachChecked is eachEvent for events that are written: their times must not decrease, and they must refer to what there is. It counts
// them.
func (t *Trace) eachChecked(i int, o *WriteOptions, f func(e *Event) error) (count uint64, loss, err error) {
	l, limits, last := &t.Locations[i], limitsOf(&t.Definitions), int64(math.MinInt64)
	loss, err = t.eachEvent(i, o, func(e *Event) error {
		err := limits.check(e)
		if err == nil && e.Time < last {
			err = fmt.Errorf("its time %d ps is before that of the event before it, %d ps", e.Time, last)
		}
		if err != nil {
			return fmt.Errorf("rank %d, thread %d, event %d: %w", l.Rank, l.Thread, count, err)
		}
		last = e.Time
		count++
		return f(e)
	})
	return count, loss, err
}

// partialHint ends the error of a trace that cannot be read as a whole.
const partialHint = "(--partial reads the rest)"

// warningList collects warnings from several goroutines.
type warningList struct {
	mu   sync.Mutex
	list []string
}

func (w *warningList) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

// maxListed is how many of many like things a message names.
const maxListed = 10
