package record

import (
	"slackline/model/timeline"
	"slackline/model/trace"
)

// Peers and roots that are not ranks, as in calls.h and collectives.h.
const (
	rawNobody  = -1
	rawAnybody = -2
	rawRoot    = -3

	rawThere = -2 // the parent of a communicator that nobody in this world made
)

// Kinds of requests, as in requests.h.
const (
	requestOther = iota
	requestSend
	requestRecv
	requestCollective
	requestWindow
	requestFile
)

const (
	requestOfBoth = 5 // the word of a send and receive where its request stands, if it has one

	doneWords = 5
	moreFlag  = 1 << 63

	requestCancelled = 1 << 8  // flags beside the kind
	requestUnseen    = 1 << 9  // begun while recording was off, and counted there
	requestForeign   = 1 << 10 // another thread began it
	requestHalf      = 1 << 11 // the other half of the same request follows
)

// call turns the record of an MPI call into its events.
func (s *eventStream) call(rec *rawRecord, enter, leave int64) {
	if int(rec.function) >= len(s.calls) || rec.function == 0 {
		return
	}
	c := &s.calls[rec.function]
	s.before = s.stack(rec.path)
	if !s.more {
		s.count(enter, rec.countedAt(0))
		s.put(enter, trace.Event{Kind: trace.Enter, Region: c.region, Stack: s.stack(rec.path)})
	}
	s.more = false
	if rec.open { // it never came back
		s.beginning(rec, enter)
		switch rec.kind {
		case rawWindow:
			s.onWindow(enter, leave, rec, c)
		case rawFileOp:
			s.onFile(enter, leave, rec, c)
		}
		return
	}
	if polls := s.polls; polls > 0 {
		s.polls = 0
		s.put(enter, trace.Event{Kind: trace.Polls, Size: polls})
	} else if rec.count > 0 {
		s.put(enter, trace.Event{Kind: trace.Polls, Size: int64(rec.count) + 1})
	}
	switch rec.kind {
	case rawSend, rawSendrecv, rawPost:
		s.beginning(rec, enter)
	}
	switch rec.kind {
	case rawRecv:
		s.received(leave, rec, 0)
	case rawSendrecv:
		if rec.words() <= requestOfBoth {
			s.received(leave, rec, 3)
		}
	case rawComplete:
		s.completed(leave, rec)
	case rawStart:
		s.started(enter, rec)
	case rawCollective:
		s.collective(enter, leave, rec, c)
	case rawNewComm:
		s.newComm(enter, leave, rec)
	case rawWindow:
		s.onWindow(enter, leave, rec, c)
	case rawFileOp:
		s.onFile(enter, leave, rec, c)
	case rawFreeComm:
		if comm, ok := s.comms[uint32(rec.word(0))]; ok {
			s.put(leave, trace.Event{Kind: trace.CommDestroy, Comm: comm})
		}
	}
	if !s.more {
		s.count(leave, rec.countedAt(1))
		s.put(leave, trace.Event{Kind: trace.Leave, Region: c.region})
	}
}

// beginning gives the events at the start of a call.
func (s *eventStream) beginning(rec *rawRecord, enter int64) {
	comm, ok := s.comms[uint32(rec.word(2))]
	peer := rec.high(1)
	switch rec.kind {
	case rawSend:
		e := trace.Event{Kind: trace.Send, Peer: peer, Tag: rec.low(1), Comm: comm, Size: int64(rec.word(0))}
		channel := uint32(rec.word(4))
		if channel != 0 && s.cut {
			return // those that were not recorded are not counted
		}
		if request := rec.word(3); request != 0 {
			e.Kind, e.Request = trace.Isend, request
			if channel != 0 {
				e.Kind, e.Object = trace.PartitionedSend, channel
			}
			s.began(request)
		} else if rec.open {
			e.Kind = trace.Send // an MPI_Isend that never came back is not told apart
		}
		if ok && peer >= 0 {
			s.put(enter, e)
		}
	case rawSendrecv:
		e := trace.Event{Kind: trace.Send, Peer: peer, Tag: rec.low(1), Comm: comm, Size: int64(rec.word(0))}
		request := rec.word(requestOfBoth)
		if request != 0 {
			e.Kind, e.Request = trace.Isend, request
			s.began(request)
		}
		if ok && peer >= 0 {
			s.put(enter, e)
		}
		if request != 0 && rec.high(4) != rawNobody {
			s.put(enter, trace.Event{Kind: trace.IrecvPost, Request: request})
		}
	case rawPost:
		if request := rec.word(3); request != 0 {
			s.began(request)
			s.put(enter, trace.Event{Kind: trace.IrecvPost, Request: request})
		}
	case rawCollective:
		s.put(enter, trace.Event{Kind: trace.CollectiveBegin})
	}
}

// received gives the event of a blocking receive, whose size and source stand at word i.
func (s *eventStream) received(leave int64, rec *rawRecord, i int) {
	comm, ok := s.comms[uint32(rec.word(2))]
	if peer := rec.high(i + 1); ok && peer >= 0 {
		s.put(leave, trace.Event{Kind: trace.Recv, Peer: peer, Tag: rec.low(i + 1), Comm: comm, Size: int64(rec.word(i))})
	}
}

// completed gives the events of requests that a call found complete, or of the one it found incomplete.
func (s *eventStream) completed(leave int64, rec *rawRecord) {
	head := rec.word(0)
	s.more = head&moreFlag != 0
	request := head &^ moreFlag
	if rec.words() < 1+doneWords {
		if request != 0 && !s.silent[request] {
			s.put(leave, trace.Event{Kind: trace.RequestTest, Request: request})
		}
		return
	}
	for i := 1; i+doneWords <= rec.words(); i += doneWords {
		s.complete(leave, rec, i)
	}
}

func (s *eventStream) complete(leave int64, rec *rawRecord, i int) {
	id, what := rec.word(i), rec.word(i+1)
	comm, known := s.comms[uint32(what>>32)]
	if !s.ended(id, what) {
		if what&requestCancelled != 0 && what&0xff == requestSend && known { // it counts among those that were not recorded
			s.put(leave, trace.Event{Kind: trace.SkippedSends, Peer: rec.high(i + 2), Tag: rec.low(i + 2), Comm: comm, Size: -1})
		}
		return
	}
	switch {
	case s.isBuffered(what): // it was complete when it was started
	case what&requestCancelled != 0:
		s.put(leave, trace.Event{Kind: trace.RequestCancelled, Request: id})
	case what&0xff == requestSend:
		if rec.high(i+2) >= 0 {
			s.put(leave, trace.Event{Kind: trace.IsendDone, Request: id})
		}
	case what&0xff == requestRecv && known && rec.high(i+2) >= 0:
		e := trace.Event{
			Kind: trace.IrecvDone, Peer: rec.high(i + 2), Tag: rec.low(i + 2), Comm: comm, Size: int64(rec.word(i + 4)), Request: id,
		}
		if channel := uint32(rec.word(i + 3)); channel != 0 {
			e.Kind, e.Object = trace.PartitionedDone, channel
		}
		s.put(leave, e)
	case what&0xff == requestWindow:
		delete(s.silent, id)
		s.accessDone(leave, uint32(what>>32), rec.high(i+2))
	case what&0xff == requestFile:
		delete(s.silent, id)
		s.fileDone(leave, uint32(what>>32), id)
	case what&0xff == requestCollective:
		e, ok := s.issued[id]
		delete(s.issued, id)
		if !ok { // issued by another thread, or started
			function := int(what >> 16 & 0xffff)
			if !known || function >= len(s.calls) || !s.calls[function].collective {
				return
			}
			e = trace.Event{
				Op: s.calls[function].op, Comm: comm, Root: rootOf(rec.high(i + 2)), Sent: int64(rec.word(i + 3)), Received: int64(rec.word(i + 4)),
				Counts: s.counts[uint32(rec.low(i+2))],
			}
		}
		e.Kind, e.Request = trace.CollectiveDone, id
		if e.Op == timeline.OpCreateHandle {
			e.Sent = 0
			if made, ok := s.comms[uint32(rec.word(i+3))-1]; ok {
				s.put(leave, trace.Event{Kind: trace.CommCreate, Comm: made})
			}
		}
		s.put(leave, e)
	}
}

// isBuffered reports whether a request is a persistent buffered send, by what a record says of it.
func (s *eventStream) isBuffered(what uint64) bool {
	function := int(what >> 16 & 0xffff)
	return what&0xff == requestSend && function < len(s.calls) && s.calls[function].buffered
}

// started gives the events of persistent requests that became active. A buffered send is complete at once, whatever is done with
// its request later: this tells it from the others.
func (s *eventStream) started(enter int64, rec *rawRecord) {
	s.more = rec.word(0)&moreFlag != 0
	for i := 1; i+doneWords <= rec.words(); i += doneWords {
		id, what := rec.word(i), rec.word(i+1)
		comm, known := s.comms[uint32(what>>32)]
		switch what & 0xff {
		case requestSend:
			if peer := rec.high(i + 2); known && peer >= 0 {
				s.began(id)
				s.put(enter, trace.Event{Kind: trace.Isend, Peer: peer, Tag: rec.low(i + 2), Comm: comm, Size: int64(rec.word(i + 3)), Request: id})
				if s.isBuffered(what) {
					s.put(enter, trace.Event{Kind: trace.IsendDone, Request: id})
				}
			}
		case requestRecv:
			if partitioned := rec.word(i+3) != 0; rec.high(i+2) != rawNobody && !(partitioned && s.cut) {
				s.began(id)
				s.put(enter, trace.Event{Kind: trace.IrecvPost, Request: id})
			}
		case requestCollective:
			if function := int(what >> 16 & 0xffff); function < len(s.calls) && s.calls[function].collective {
				s.began(id)
				s.put(enter, trace.Event{Kind: trace.CollectiveIssue, Request: id})
			}
		}
	}
}

// rootOf is the root of a collective in a trace.
func rootOf(root int32) int32 {
	switch {
	case root >= 0:
		return root
	case root == rawRoot:
		return timeline.RootSelf
	case root == rawNobody:
		return timeline.RootGroup
	}
	return trace.NoRoot
}

func (s *eventStream) collective(enter, leave int64, rec *rawRecord, c *mpiCall) {
	comm, ok := s.comms[uint32(rec.low(2))]
	if !ok || !c.collective {
		return
	}
	e := trace.Event{Op: c.op, Comm: comm, Root: rootOf(rec.high(2)), Sent: int64(rec.word(0)), Received: int64(rec.word(1))}
	e.Counts = rec.bytes(4)
	if request := rec.word(3); request != 0 {
		s.began(request)
		s.issued[request] = e
		s.put(enter, trace.Event{Kind: trace.CollectiveIssue, Request: request})
		return
	}
	s.put(enter, trace.Event{Kind: trace.CollectiveBegin})
	e.Kind = trace.CollectiveEnd
	s.put(leave, e)
}

// newComm gives the events of a call that makes a communicator, which is a collective operation of its parent, or of its own members.
func (s *eventStream) newComm(enter, leave int64, rec *rawRecord) {
	parent, ok := s.comms[uint32(rec.high(0))]
	comm, known := s.comms[uint32(rec.low(0))]
	if !ok && known && rec.high(0) != rawThere { // only its members make it
		parent, ok = comm, true
	}
	if ok {
		s.put(enter, trace.Event{Kind: trace.CollectiveBegin})
	}
	if known {
		s.put(leave, trace.Event{Kind: trace.CommCreate, Comm: comm})
	}
	if ok {
		s.put(leave, trace.Event{Kind: trace.CollectiveEnd, Op: timeline.OpCreateHandle, Comm: parent, Root: trace.NoRoot})
	}
}
