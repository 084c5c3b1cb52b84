package record

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"slackline/internal/source"
	"slackline/model/trace"
)

// What the recorder says of records that were not kept, because recording was off or a ring overwrote them: skips.c has
// the layout.

// Kinds of what was skipped, as in skips.h.
const (
	skipSends = iota + 1
	skipReceives
	skipCollectives
	skipPost
	skipFrame
	skipLeft
	skipOff
	skipWindow
	skipFile
)

const (
	skipWords = 3
	skipEntry = 64 // bytes of an entry in a file
	skipMagic = 0x31737069736b6c
)

// skip is an entry: so many of a kind.
type skip struct {
	kind, comm uint32
	peer, tag  int32
	count      int64 // or the number of a request, or the data of the record of a region
}

func skipOf(words []uint64) skip {
	return skip{
		kind: uint32(words[0] >> 32), comm: uint32(words[0]),
		peer: int32(words[1] >> 32), tag: int32(uint32(words[1])), count: int64(words[2]),
	}
}

// dropped is what a ring has overwritten: what was skipped, in order.
type dropped struct {
	skips     []skip
	off       bool   // recording was off at the end of it
	uncounted uint64 // what had no room to be counted
}

// readDropped reads the file of a ring whose oldest chunk is known. If that chunk was being counted when the process ended, what
// was counted before holds.
func readDropped(path string, oldest uint64, events *rawHead) (*dropped, error) {
	data, err := source.ReadKept(path)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if len(data) < skipEntry || le.Uint64(data) != skipMagic {
		return nil, fmt.Errorf("%s: %w", path, errRaw)
	}
	used, epoch := le.Uint64(data[8:]), le.Uint64(data[16:])
	seal := le.Uint64(data[48:])
	switch {
	case used < 1 || used > uint64(len(data)/skipEntry):
		return nil, fmt.Errorf("%s: %w", path, errCut)
	case events.version < 2:
	case le.Uint64(data[32:]) != events.run || le.Uint64(data[40:]) != uint64(events.rank)<<32|uint64(events.thread):
		return nil, fmt.Errorf("%s: %w", path, errForeign)
	case seal != 0 && seal != checksum(data[skipEntry:used*skipEntry], epoch^le.Uint64(data[24:])<<32)|1:
		return nil, fmt.Errorf("%s: does not match its checksum", path)
	}
	d := &dropped{uncounted: le.Uint64(data[24:])}
	type after struct {
		skip
		request uint64 // that it comes after; its own if it is pending
		order   int    // a pending one comes before what comes after it
	}
	var list []after
	for i := uint64(1); i < used; i++ {
		e := data[i*skipEntry:]
		s := after{skip: skip{kind: le.Uint32(e), comm: le.Uint32(e[4:]), peer: int32(le.Uint32(e[8:])), tag: int32(le.Uint32(e[12:]))}}
		s.request = le.Uint64(e[16:])
		s.count = int64(le.Uint64(e[24:]))
		if le.Uint32(e[40:]) == uint32(epoch) && oldest == epoch {
			s.count = int64(le.Uint64(e[32:])) // before it
		}
		if s.count == 0 {
			continue
		}
		switch s.kind {
		case skipSends, skipCollectives, skipWindow, skipFile:
		case skipReceives:
			s.order = 1
		case skipPost:
			s.count = int64(s.request)
		case skipFrame:
			s.count, s.request, s.order = int64(s.request), 0, int(s.tag)
		case skipOff:
			d.off = true
			continue
		default:
			continue
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b after) int {
		return cmp.Or(cmp.Compare(a.request, b.request), cmp.Compare(a.order, b.order), cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.comm, b.comm), cmp.Compare(a.peer, b.peer), cmp.Compare(a.tag, b.tag))
	})
	for _, s := range list {
		d.skips = append(d.skips, s.skip)
	}
	return d, nil
}

// frames calls visit with the records of regions that were entered unseen.
func frames(list []skip, visit func(kind uint16, data uint64)) {
	for _, s := range list {
		if s.kind == skipFrame {
			visit(uint16(s.comm), uint64(s.count))
		}
	}
}

// begin gives the events of what a ring has overwritten, before the first that it kept.
func (s *eventStream) begin(first int64) {
	d := s.dropped
	s.dropped = nil
	start := min(picoseconds(s.file.head.start), first)
	if s.thread > 0 {
		s.put(start, trace.Event{Kind: trace.ThreadBegin})
	}
	s.put(start, trace.Event{Kind: trace.RecordingOff})
	for _, k := range d.skips {
		s.skipped(first, k)
	}
	if !d.off {
		s.put(first, trace.Event{Kind: trace.RecordingOn})
	}
}

// skippedPost gives the event of a receive that was posted unseen and is not complete, unless another thread has completed it since then.
func (s *eventStream) skippedPost(time int64, request uint64) {
	if list := s.late[request]; len(list) == doneWords && list[1]&requestUnseen != 0 {
		rec := rawRecord{data: binary.LittleEndian.AppendUint64(nil, list[2])}
		comm, known := s.comms[uint32(list[1]>>32)]
		if known && list[1]&requestCancelled == 0 && rec.high(0) >= 0 && list[3] == 0 {
			s.put(time, trace.Event{Kind: trace.SkippedReceives, Peer: rec.high(0), Tag: rec.low(0), Comm: comm, Size: 1})
		}
		return
	}
	s.began(request)
	s.put(time, trace.Event{Kind: trace.IrecvPost, Request: request})
}

// off gives the events of recording being switched off: with it comes how those requests ended that were going on.
func (s *eventStream) off(time int64) {
	s.put(time, trace.Event{Kind: trace.RecordingOff})
	var ids []uint64
	for id := range s.begun {
		if s.late[id] != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		rec := rawRecord{}
		for i, w := range s.late[id] {
			if i%doneWords == 1 {
				w &^= requestForeign // this thread began it, whichever completed it
			}
			rec.data = binary.LittleEndian.AppendUint64(rec.data, w)
		}
		for i := 0; i+doneWords <= rec.words(); i += doneWords {
			s.complete(time, &rec, i)
		}
	}
}

// endSeen does so where a thread ends that has not noticed that recording was off, if any thread has completed its requests meanwhile.
func (s *eventStream) endSeen(time int64) {
	for id := range s.begun {
		if s.late[id] != nil {
			s.off(time)
			s.put(time, trace.Event{Kind: trace.RecordingOn})
			return
		}
	}
}

// skipped gives the event of something that was skipped.
func (s *eventStream) skipped(time int64, k skip) {
	comm, known := s.comms[k.comm]
	switch k.kind {
	case skipSends, skipReceives:
		e := trace.Event{Kind: trace.SkippedSends, Peer: k.peer, Tag: k.tag, Comm: comm, Size: k.count}
		if k.kind == skipReceives {
			e.Kind = trace.SkippedReceives
		}
		if known {
			s.put(time, e)
		}
	case skipCollectives:
		if known {
			s.put(time, trace.Event{Kind: trace.SkippedCollectives, Comm: comm, Size: k.count})
		}
	case skipWindow, skipFile:
		s.skippedObject(k.comm)
	case skipPost:
		s.skippedPost(time, uint64(k.count))
	case skipFrame:
		if k.comm == rawEnter {
			s.enter(time, s.code[uint64(k.count)])
		} else {
			s.enter(time, s.names[uint32(k.count)])
		}
	case skipLeft:
		for n := k.count; n > 0 && len(s.open) > 0; n-- {
			s.leave(time, s.open[len(s.open)-1])
		}
	}
}

// began notes that a request was begun.
func (s *eventStream) began(request uint64) {
	if s.cut || len(s.late) > 0 {
		if s.begun == nil {
			s.begun = map[uint64]bool{}
		}
		s.begun[request] = true
	}
}

// ended notes that a request is complete; false if it was begun unseen.
func (s *eventStream) ended(request, what uint64) bool {
	switch {
	case what&requestUnseen != 0:
		return false
	case !s.cut && len(s.late) == 0, what&requestForeign != 0:
		return true
	}
	begun := s.begun[request]
	if what&requestHalf == 0 {
		delete(s.begun, request)
	}
	return begun
}
