package trace

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"slackline/model/trace/allprof"
)

// allprofWalker goes through the lines of a file and makes events of them. It is used three times: to look
// through a file, to find partners of receives from any source, and to read.
type allprofWalker struct {
	scan        *allprofScan
	requestSize uint64 // 0: found out
	regions     map[string]uint32
	emit        func(e Event)

	number   int // of the line
	now      int64
	back     int // calls that begin before the end of the one before
	call     allprof.Call
	requests map[uint64]*allprofRequest

	planning *allprofPlanner         // what tests complete is being found out
	plan     map[int][]uint64        // what tests complete, by line
	bindings []allprofBinding        // what handles mean from which line on; nil: everything is the world
	comms    map[int64]int32         // by handle; -1: not known
	matches  []allprofMatch          // of receives from any source, in order of posting
	observe  func(m *allprofMessage) // called with messages as they are sent and posted
	using    func(m allprof.Comm)    // called with communicators that are used
	creating func(c *allprof.Call)   // called with communicators that are made
	comment  func(text []byte)       // called with comments
}

// allprofRequest is what an address of a request stands for.
type allprofRequest struct {
	done       Event // the record of completion
	begin      Event // and of the start, of a persistent one
	message    allprofMessage
	persistent bool
	active     bool
}

// allprofMessage is one side of a message.
type allprofMessage struct {
	send      bool
	peer, tag int32 // -1 of a receive: any
	comm      int32
	time      int64
	world     int32 // of a receive whose message is looked for: the sender; -1: any
}

// wildcard reports whether a receive does not name its message.
func (m *allprofMessage) wildcard() bool {
	return !m.send && (m.peer == anySource || m.tag == anyTag)
}

// What liballprof writes for any source and any tag.
const (
	anySource = -1
	anyTag    = -1
)

// allprofMatch is the message that a receive from any source got; source -1: none.
type allprofMatch struct{ source, tag int32 }

// allprofBinding describes what a handle means from a line on.
type allprofBinding struct {
	line   int
	handle int64
	comm   int32
}

func newAllprofWalker(scan *allprofScan, requestSize int) *allprofWalker {
	return &allprofWalker{
		scan: scan, requestSize: uint64(requestSize), requests: map[uint64]*allprofRequest{}, comms: map[int64]int32{},
		emit: func(Event) {}, now: math.MinInt64,
	}
}

// line takes in a line.
func (w *allprofWalker) line(line []byte) error {
	w.number++
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if line[0] == '#' {
		if w.comment != nil {
			w.comment(line[1:])
		}
		return nil
	}
	c := &w.call
	if err := c.Parse(line); err != nil {
		return err
	}
	begin, end, err := w.times(c)
	if err != nil {
		return err
	}
	for len(w.bindings) > 0 && w.bindings[0].line <= w.number {
		w.comms[w.bindings[0].handle] = w.bindings[0].comm
		w.bindings = w.bindings[1:]
	}
	region := w.regions[c.Name]
	w.emit(Event{Time: begin, Kind: Enter, Region: region})
	if c.Whole {
		w.act(c, begin, end)
	}
	w.emit(Event{Time: end, Kind: Leave, Region: region})
	w.now = end
	return nil
}

// times returns start and end of a call on the clock of the rank.
func (w *allprofWalker) times(c *allprof.Call) (begin, end int64, err error) {
	s := w.scan
	switch {
	case c.NoBegin && c.NoEnd:
		return w.now, w.now, fmt.Errorf("%s has no time", c.Name)
	case c.NoBegin:
		c.Begin = c.End
	case c.NoEnd:
		c.End = c.Begin
	}
	if !s.hasBase {
		s.base, s.hasBase = c.Begin, true
		if c.Action == allprof.DoInit {
			s.base = c.End
		}
	}
	begin, ok := c.Begin.Since(s.base)
	end, fits := c.End.Since(s.base)
	if !ok || !fits {
		return 0, 0, fmt.Errorf("%s: its time is too far from the start", c.Name)
	}
	if begin < w.now || end < begin {
		w.back++
		begin = max(begin, w.now)
		end = max(end, begin)
	}
	return begin, end, nil
}

// act makes the records of a call.
func (w *allprofWalker) act(c *allprof.Call, begin, end int64) {
	if c.Comm.Size > 0 && w.using != nil {
		w.using(c.Comm)
	}
	switch c.Action {
	case allprof.DoSend:
		w.send(c, begin)
	case allprof.DoRecv:
		w.recv(c, 0, end)
	case allprof.DoSendrecv:
		w.send(c, begin)
		w.recv(c, 1, end)
	case allprof.DoIsend, allprof.DoInitSend:
		w.request(c, begin, allprofMessage{send: true, peer: c.Peers[0], tag: c.Tags[0]}, Isend, IsendDone)
	case allprof.DoIrecv, allprof.DoInitRecv:
		w.request(c, begin, allprofMessage{peer: c.Peers[0], tag: c.Tags[0]}, IrecvPost, IrecvDone)
	case allprof.DoStart:
		w.eachRequest(c, func(address uint64, r *allprofRequest) {
			if r.persistent && !r.active {
				w.start(r, begin)
			}
		})
	case allprof.DoWait:
		w.eachRequest(c, func(address uint64, r *allprofRequest) { w.complete(address, r, end) })
	case allprof.DoTest:
		if w.planning != nil {
			w.eachRequest(c, func(address uint64, r *allprofRequest) { w.planning.covered[address] = w.number })
		}
		for _, address := range w.plan[w.number] {
			if r := w.requests[address]; r != nil && r.active {
				w.complete(address, r, end)
			}
		}
	case allprof.DoFree, allprof.DoCancel:
		if r := w.requests[c.Request]; r != nil {
			if c.Action == allprof.DoCancel && r.active {
				w.emit(Event{Time: end, Kind: RequestCancelled, Request: c.Request})
			}
			delete(w.requests, c.Request)
		}
	case allprof.DoCollect:
		w.collective(c, begin, end)
	case allprof.DoSplit, allprof.DoDup:
		if w.creating != nil {
			w.creating(c)
		}
	}
}

// commOf returns the index of the communicator of a call; -1 if it is not known.
func (w *allprofWalker) commOf(c *allprof.Call) int32 {
	if index, ok := w.comms[c.Comm.Handle]; ok {
		return index
	}
	return 0
}

// put emits a record, or one of no meaning if its communicator is not known.
func (w *allprofWalker) put(e Event, comm int32) {
	if comm < 0 {
		e = Event{Time: e.Time, Kind: Other}
	}
	w.emit(e)
}

// send makes the record of a blocking send, unless it has no receiver.
func (w *allprofWalker) send(c *allprof.Call, begin int64) {
	if c.Peers[0] < 0 {
		return
	}
	comm := w.commOf(c)
	w.tell(&allprofMessage{send: true, peer: c.Peers[0], tag: c.Tags[0], comm: comm, time: begin})
	w.put(Event{Time: begin, Kind: Send, Peer: c.Peers[0], Comm: uint32(comm), Tag: c.Tags[0], Size: c.BytesOf(0)}, comm)
}

// recv makes the record of a blocking receive, unless it has no sender. i says which of the arguments are its.
func (w *allprofWalker) recv(c *allprof.Call, i int, end int64) {
	if c.Peers[i] < anySource {
		return
	}
	comm := w.commOf(c)
	m := allprofMessage{peer: c.Peers[i], tag: c.Tags[i], comm: comm, time: end}
	w.tell(&m)
	w.put(Event{Time: end, Kind: Recv, Peer: m.peer, Comm: uint32(comm), Tag: m.tag, Size: c.BytesOf(i)}, m.commIfMatched())
}

// tell reports a message, and gives a receive from any source its partner.
func (w *allprofWalker) tell(m *allprofMessage) {
	if w.observe != nil {
		w.observe(m)
	}
	if m.wildcard() && len(w.matches) > 0 {
		if match := w.matches[0]; match.source >= 0 {
			m.peer, m.tag = match.source, match.tag
		}
		w.matches = w.matches[1:]
	}
}

// commIfMatched returns the communicator of a message; -1 if it has no partner.
func (m *allprofMessage) commIfMatched() int32 {
	if m.wildcard() {
		return -1
	}
	return m.comm
}

// request notes a request for a message, and begins it unless it is persistent.
func (w *allprofWalker) request(c *allprof.Call, begin int64, m allprofMessage, first, last Kind) {
	w.reuse(c.Request)
	if m.peer < anySource || m.send && m.peer < 0 { // from or to no rank
		delete(w.requests, c.Request)
		return
	}
	m.comm = w.commOf(c)
	r := &allprofRequest{message: m, persistent: c.Action == allprof.DoInitSend || c.Action == allprof.DoInitRecv}
	e := Event{Peer: m.peer, Comm: uint32(m.comm), Tag: m.tag, Size: c.BytesOf(0), Request: c.Request}
	if m.send {
		r.begin, r.done = e, Event{Kind: last, Request: c.Request}
		r.begin.Kind = first
	} else {
		r.begin, r.done = Event{Kind: first, Request: c.Request}, e
		r.done.Kind = last
	}
	w.requests[c.Request] = r
	if !r.persistent {
		w.start(r, begin)
	}
}

// start begins the message of a request.
func (w *allprofWalker) start(r *allprofRequest, begin int64) {
	r.active = true
	m := r.message
	m.time = begin
	w.tell(&m)
	if !m.send && r.done.Kind == IrecvDone {
		r.done.Peer, r.done.Tag = m.peer, m.tag
	}
	e := r.begin
	e.Time = begin
	w.put(e, m.comm)
}

// reuse notes that an address gets another request.
func (w *allprofWalker) reuse(address uint64) {
	if r := w.requests[address]; r != nil && r.active && w.planning != nil {
		w.planning.settle(address)
	}
}

// complete makes the record of completion of a request.
func (w *allprofWalker) complete(address uint64, r *allprofRequest, end int64) {
	if !r.active {
		return
	}
	comm := r.message.comm
	if r.done.Kind == IrecvDone {
		m := allprofMessage{peer: r.done.Peer, tag: r.done.Tag, comm: comm}
		comm = m.commIfMatched()
	}
	e := r.done
	e.Time = end
	w.put(e, comm)
	r.active = false
	if w.planning != nil {
		delete(w.planning.covered, address)
	}
	if !r.persistent {
		delete(w.requests, address)
	}
}

// eachRequest calls f for the requests in use that a call names, in the order of their addresses.
func (w *allprofWalker) eachRequest(c *allprof.Call, f func(address uint64, r *allprofRequest)) {
	if c.Requests == 0 && c.Number == 0 {
		if r := w.requests[c.Request]; r != nil {
			f(c.Request, r)
		}
		return
	}
	var list []uint64
	if w.requestSize != 0 {
		list = w.named(c, w.requestSize)
	} else {
		list = w.named(c, 8)
		if len(list) < int(min(c.Number, math.MaxInt32)) {
			if other := w.named(c, 4); len(other) > len(list) {
				list = other
			}
		}
	}
	for _, address := range list {
		f(address, w.requests[address])
	}
}

// named returns the addresses in use among those that a call names, if requests have so many bytes.
func (w *allprofWalker) named(c *allprof.Call, size uint64) []uint64 {
	var list []uint64
	if c.Number <= int64(len(w.requests)) {
		for i := range max(c.Number, 0) {
			if address := c.Requests + uint64(i)*size; w.requests[address] != nil {
				list = append(list, address)
			}
		}
		return list
	}
	for address := range w.requests {
		if gap := address - c.Requests; gap%size == 0 && gap/size < uint64(c.Number) {
			list = append(list, address)
		}
	}
	slices.Sort(list)
	return list
}

// collective makes the records of a collective.
func (w *allprofWalker) collective(c *allprof.Call, begin, end int64) {
	comm := w.commOf(c)
	e := Event{Time: end, Kind: CollectiveEnd, Op: c.Op, Comm: uint32(comm), Root: NoRoot}
	e.Sent, e.Received, e.Counts = c.Volumes()
	if c.Op.Rooted() {
		e.Root = c.Root
	}
	if c.Arguments[len(c.Arguments)-1] != 'q' {
		w.emit(Event{Time: begin, Kind: CollectiveBegin})
		w.put(e, comm)
		return
	}
	w.reuse(c.Request)
	e.Kind, e.Request, e.Counts = CollectiveDone, c.Request, slices.Clone(e.Counts)
	w.requests[c.Request] = &allprofRequest{done: e, message: allprofMessage{comm: comm}, active: true}
	w.put(Event{Time: begin, Kind: CollectiveIssue, Request: c.Request}, comm)
}
