package trace

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"slackline/model/timeline"
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
	call     allprofCall
	requests map[uint64]*allprofRequest

	planning *allprofPlanner         // what tests complete is being found out
	plan     map[int][]uint64        // what tests complete, by line
	bindings []allprofBinding        // what handles mean from which line on; nil: everything is the world
	comms    map[int64]int32         // by handle; -1: not known
	matches  []allprofMatch          // of receives from any source, in order of posting
	observe  func(m *allprofMessage) // called with messages as they are sent and posted
	using    func(m allprofComm)     // called with communicators that are used
	creating func(c *allprofCall)    // called with communicators that are made
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
	if err := c.parse(line); err != nil {
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
	region := w.regions[c.name]
	w.emit(Event{Time: begin, Kind: Enter, Region: region})
	if c.whole {
		w.act(c, begin, end)
	}
	w.emit(Event{Time: end, Kind: Leave, Region: region})
	w.now = end
	return nil
}

// times returns start and end of a call on the clock of the rank.
func (w *allprofWalker) times(c *allprofCall) (begin, end int64, err error) {
	s := w.scan
	switch {
	case c.noBegin && c.noEnd:
		return w.now, w.now, fmt.Errorf("%s has no time", c.name)
	case c.noBegin:
		c.begin = c.end
	case c.noEnd:
		c.end = c.begin
	}
	if !s.hasBase {
		s.base, s.hasBase = c.begin, true
		if c.action == doInit {
			s.base = c.end
		}
	}
	begin, ok := c.begin.since(s.base)
	end, fits := c.end.since(s.base)
	if !ok || !fits {
		return 0, 0, fmt.Errorf("%s: its time is too far from the start", c.name)
	}
	if begin < w.now || end < begin {
		w.back++
		begin = max(begin, w.now)
		end = max(end, begin)
	}
	return begin, end, nil
}

// act makes the records of a call.
func (w *allprofWalker) act(c *allprofCall, begin, end int64) {
	if c.comm.size > 0 && w.using != nil {
		w.using(c.comm)
	}
	switch c.action {
	case doSend:
		w.send(c, begin)
	case doRecv:
		w.recv(c, 0, end)
	case doSendrecv:
		w.send(c, begin)
		w.recv(c, 1, end)
	case doIsend, doInitSend:
		w.request(c, begin, allprofMessage{send: true, peer: c.peers[0], tag: c.tags[0]}, Isend, IsendDone)
	case doIrecv, doInitRecv:
		w.request(c, begin, allprofMessage{peer: c.peers[0], tag: c.tags[0]}, IrecvPost, IrecvDone)
	case doStart:
		w.eachRequest(c, func(address uint64, r *allprofRequest) {
			if r.persistent && !r.active {
				w.start(r, begin)
			}
		})
	case doWait:
		w.eachRequest(c, func(address uint64, r *allprofRequest) { w.complete(address, r, end) })
	case doTest:
		if w.planning != nil {
			w.eachRequest(c, func(address uint64, r *allprofRequest) { w.planning.covered[address] = w.number })
		}
		for _, address := range w.plan[w.number] {
			if r := w.requests[address]; r != nil && r.active {
				w.complete(address, r, end)
			}
		}
	case doFree, doCancel:
		if r := w.requests[c.request]; r != nil {
			if c.action == doCancel && r.active {
				w.emit(Event{Time: end, Kind: RequestCancelled, Request: c.request})
			}
			delete(w.requests, c.request)
		}
	case doCollect:
		w.collective(c, begin, end)
	case doSplit, doDup:
		if w.creating != nil {
			w.creating(c)
		}
	}
}

// commOf returns the index of the communicator of a call; -1 if it is not known.
func (w *allprofWalker) commOf(c *allprofCall) int32 {
	if index, ok := w.comms[c.comm.handle]; ok {
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
func (w *allprofWalker) send(c *allprofCall, begin int64) {
	if c.peers[0] < 0 {
		return
	}
	comm := w.commOf(c)
	w.tell(&allprofMessage{send: true, peer: c.peers[0], tag: c.tags[0], comm: comm, time: begin})
	w.put(Event{Time: begin, Kind: Send, Peer: c.peers[0], Comm: uint32(comm), Tag: c.tags[0], Size: c.bytesOf(0)}, comm)
}

// recv makes the record of a blocking receive, unless it has no sender. i says which of the arguments are its.
func (w *allprofWalker) recv(c *allprofCall, i int, end int64) {
	if c.peers[i] < anySource {
		return
	}
	comm := w.commOf(c)
	m := allprofMessage{peer: c.peers[i], tag: c.tags[i], comm: comm, time: end}
	w.tell(&m)
	w.put(Event{Time: end, Kind: Recv, Peer: m.peer, Comm: uint32(comm), Tag: m.tag, Size: c.bytesOf(i)}, m.commIfMatched())
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
func (w *allprofWalker) request(c *allprofCall, begin int64, m allprofMessage, first, last Kind) {
	w.reuse(c.request)
	if m.peer < anySource || m.send && m.peer < 0 { // from or to no rank
		delete(w.requests, c.request)
		return
	}
	m.comm = w.commOf(c)
	r := &allprofRequest{message: m, persistent: c.action == doInitSend || c.action == doInitRecv}
	e := Event{Peer: m.peer, Comm: uint32(m.comm), Tag: m.tag, Size: c.bytesOf(0), Request: c.request}
	if m.send {
		r.begin, r.done = e, Event{Kind: last, Request: c.request}
		r.begin.Kind = first
	} else {
		r.begin, r.done = Event{Kind: first, Request: c.request}, e
		r.done.Kind = last
	}
	w.requests[c.request] = r
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
func (w *allprofWalker) eachRequest(c *allprofCall, f func(address uint64, r *allprofRequest)) {
	if c.requests == 0 && c.number == 0 {
		if r := w.requests[c.request]; r != nil {
			f(c.request, r)
		}
		return
	}
	var list []uint64
	if w.requestSize != 0 {
		list = w.named(c, w.requestSize)
	} else {
		list = w.named(c, 8)
		if len(list) < int(min(c.number, math.MaxInt32)) {
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
func (w *allprofWalker) named(c *allprofCall, size uint64) []uint64 {
	var list []uint64
	if c.number <= int64(len(w.requests)) {
		for i := range max(c.number, 0) {
			if address := c.requests + uint64(i)*size; w.requests[address] != nil {
				list = append(list, address)
			}
		}
		return list
	}
	for address := range w.requests {
		if gap := address - c.requests; gap%size == 0 && gap/size < uint64(c.number) {
			list = append(list, address)
		}
	}
	slices.Sort(list)
	return list
}

// collective makes the records of a collective.
func (w *allprofWalker) collective(c *allprofCall, begin, end int64) {
	comm := w.commOf(c)
	e := Event{Time: end, Kind: CollectiveEnd, Op: c.op, Comm: uint32(comm), Root: NoRoot}
	e.Sent, e.Received, e.Counts = c.volumes()
	switch c.op {
	case timeline.OpBcast, timeline.OpReduce, timeline.OpGather, timeline.OpGatherv, timeline.OpScatter, timeline.OpScatterv:
		e.Root = c.root
	}
	if c.arguments[len(c.arguments)-1] != 'q' {
		w.emit(Event{Time: begin, Kind: CollectiveBegin})
		w.put(e, comm)
		return
	}
	w.reuse(c.request)
	e.Kind, e.Request, e.Counts = CollectiveDone, c.request, slices.Clone(e.Counts)
	w.requests[c.request] = &allprofRequest{done: e, message: allprofMessage{comm: comm}, active: true}
	w.put(Event{Time: begin, Kind: CollectiveIssue, Request: c.request}, comm)
}

// volumes returns the bytes of the send and of the receive buffer, and bytes by peer where they differ.
func (c *allprofCall) volumes() (sent, received int64, counts []int64) {
	n := int64(c.comm.size)
	root := int(c.root) == c.comm.rank
	first, second := c.bytesOf(0), c.bytesOf(1)
	ownPart := first
	if c.inPlace() {
		ownPart = second
	}
	switch c.op {
	case timeline.OpBcast:
		if root {
			return first, 0, nil
		}
		return 0, first, nil
	case timeline.OpReduce:
		if root {
			return first, first, nil
		}
		return first, 0, nil
	case timeline.OpAllreduce, timeline.OpScan, timeline.OpExscan:
		return first, first, nil
	case timeline.OpReduceScatterBlock:
		return first * n, first, nil
	case timeline.OpGather:
		if !root {
			return first, 0, nil
		}
		return ownPart, second * n, nil
	case timeline.OpAllgather:
		return ownPart, second * n, nil
	case timeline.OpAlltoall:
		return ownPart * n, second * n, nil
	case timeline.OpScatter:
		if !root {
			return 0, second, nil
		}
		return first * n, second, nil
	}
	return c.listVolumes(first, root)
}

// listVolumes is volumes for operations with lists of counts.
func (c *allprofCall) listVolumes(first int64, root bool) (sent, received int64, counts []int64) {
	switch c.op {
	case timeline.OpGatherv:
		if root {
			counts, received = scaled(c.lists[0], c.sizes[1])
		}
		return first, received, counts
	case timeline.OpScatterv:
		received = c.counts[0] * c.sizes[1]
		if root {
			counts, sent = scaled(c.lists[0], c.sizes[0])
		}
		return sent, received, counts
	case timeline.OpAllgatherv:
		counts, received = scaled(c.lists[0], c.sizes[1])
		return first, received, counts
	case timeline.OpReduceScatter:
		counts, sent = scaled(c.lists[0], c.sizes[0])
		if c.comm.rank >= 0 && c.comm.rank < len(counts) {
			received = counts[c.comm.rank]
		}
		return sent, received, counts
	case timeline.OpAlltoallv:
		to, sent := scaled(c.lists[0], c.sizes[0])
		from, received := scaled(c.lists[1], c.sizes[1])
		if c.inPlace() {
			to, sent = from, received
		}
		return sent, received, slices.Concat(to, from)
	}
	return 0, 0, nil
}

// scaled returns counts in bytes, and their sum.
func scaled(counts []int64, size int64) (list []int64, sum int64) {
	list = make([]int64, len(counts))
	for i, n := range counts {
		list[i] = n * size
		sum += list[i]
	}
	return list, sum
}
