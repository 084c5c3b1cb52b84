package record

import (
	"io"
	"slices"

	"slackline/model/state"
)

// threadNow is what a thread does now, and what of its past tells whether it goes on.
type threadNow struct {
	number         int
	call           *rawRecord  // that it is inside; nil: none
	polls          []rawRecord // the calls of a run of tests that found nothing; empty: there is none
	pollsFrom      int64       // when that run began, ns
	asleep         bool
	mark           int64 // when the last call began; that of a run of tests if it is one
	ended          int64 // when the last call ended
	last           int64 // time of the last record
	calls, samples int64
	longest        int64 // time between two calls
	path           uint32
	paths          map[uint32]int // of samples since the last call
	partial        bool
	damage         error
}

// mostPolls is the number of different tests of a run that are looked at.
const mostPolls = 16

// readThread reads what a thread recorded into the history of its rank; of a thread that does not call MPI nothing is known.
func readThread(f *threadFiles, h *history) (*threadNow, error) {
	raw, file, err := openRaw(f.events)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &threadNow{number: f.thread, paths: map[uint32]int{}}
	t.partial = raw.wrapped || raw.head.full() || raw.head.lost > 0
	var rec rawRecord
	for {
		switch err := raw.next(&rec); {
		case err == io.EOF:
			if u := raw.head.unkept; u != nil && u.enter > t.mark && t.call == nil {
				t.takes(u, h)
				h.add(u)
			}
			t.damage = raw.damage
			return t, nil
		case err != nil:
			return nil, err
		}
		if rec.isCall() && (rec.function == 0 || int(rec.function) >= len(h.kinds)) {
			raw.found(errRecord)
		}
		t.takes(&rec, h)
		h.add(&rec)
	}
}

// isCall reports whether a record is that of a call of MPI.
func (r *rawRecord) isCall() bool {
	return r.kind <= rawFreeComm || r.kind == rawWindow || r.kind == rawFileOp
}

// takes follows the thread by one record.
func (t *threadNow) takes(rec *rawRecord, h *history) {
	t.last = max(t.last, rec.enter, rec.leave)
	switch {
	case rec.kind == rawSample:
		t.samples++
		if len(t.paths) < mostPolls || t.paths[rec.path] > 0 {
			t.paths[rec.path]++
		}
		return
	case rec.kind == rawSpan:
		t.asleep = rec.open
		t.path = rec.path
		return
	case !rec.isCall():
		return
	}
	if t.ended > 0 && rec.enter > t.ended {
		t.longest = max(t.longest, rec.enter-t.ended)
	}
	t.ended, t.asleep = rec.leave, false
	t.calls += int64(rec.count) + 1
	clear(t.paths)
	t.path = rec.path
	if int(rec.function) < len(h.kinds) && h.kinds[rec.function].tests && foundNothing(rec) {
		if len(t.polls) == 0 {
			t.pollsFrom, t.mark = rec.enter, rec.enter
		}
		t.addPoll(rec)
	} else {
		t.polls, t.mark = t.polls[:0], rec.enter
	}
	if rec.open {
		own := *rec
		own.data = slices.Clone(rec.data)
		t.call = &own
	}
}

// addPoll keeps a test of a run, once.
func (t *threadNow) addPoll(rec *rawRecord) {
	same := func(p rawRecord) bool {
		return p.function == rec.function && p.word(0) == rec.word(0) && p.word(1) == rec.word(1) && p.word(2) == rec.word(2)
	}
	if len(t.polls) >= mostPolls || slices.ContainsFunc(t.polls, same) {
		return
	}
	own := *rec
	own.data = slices.Clone(rec.data)
	t.polls = append(t.polls, own)
}

// foundNothing reports whether a record of a test or probe is one without success, or one that goes on.
func foundNothing(rec *rawRecord) bool {
	switch rec.kind {
	case rawComplete:
		return rec.words() < 1+doneWords
	case rawCall:
		return rec.words() > 0 && rec.word(0) == 0
	case rawWindow:
		return rec.word(3) == 0
	}
	return false
}

// stillPolls is the time after which a thread that tested for something does something else, ns.
const stillPolls = 100e6

// describe gives the thread at a time on its clock; moved: since an earlier look. Its call has the numbers of its rank.
func (t *threadNow) describe(h *history, now int64, moved bool) state.Thread {
	s := state.Thread{Number: t.number, Asleep: t.asleep, Moved: moved, Calls: t.calls, Samples: t.samples, Longest: t.longest, Path: t.path}
	switch {
	case len(t.polls) > 0 && (t.call != nil || now-t.ended < stillPolls):
		s.Polls, s.Since, s.Call = true, now-t.pollsFrom, h.polled(t.polls)
		s.Path = t.polls[0].path
	case t.call != nil:
		s.Since, s.Call = now-t.call.enter, h.callOf(t.call)
	default:
		s.Since = now - t.ended
		most := 0
		for path, n := range t.paths {
			if n > most || n == most && path < s.Path {
				most, s.Path = n, path
			}
		}
	}
	s.Since = max(s.Since, 0)
	return s
}

// callOf describes a call that has not come back.
func (h *history) callOf(rec *rawRecord) *state.Call {
	c := &state.Call{Name: "a call of MPI", Peer: state.Nobody}
	if int(rec.function) >= len(h.kinds) {
		return c
	}
	k := &h.kinds[rec.function]
	c.Name, c.Kind = k.name, k.kind
	message := func(i int) {
		c.Peer, c.Tag, c.Bytes = rec.high(i+1), rec.low(i+1), int64(rec.word(i))
		c.Comm, c.HasComm = uint32(rec.word(2)), true
	}
	switch {
	case rec.kind == rawSend || rec.kind == rawRecv || k.kind == state.Probe:
		message(0)
		if k.class == "mrecv" { // the message is there
			c.Kind = state.Local
		}
	case rec.kind == rawSendrecv && k.kind == state.Exchange:
		message(0)
		c.Source, c.SourceTag = rec.high(4), rec.low(4)
	case rec.kind == rawComplete && !k.tests:
		c.Total = int64(rec.word(0))
		c.Requests = rec.list(1, max(rec.words()-1, 0))
	case rec.kind == rawCollective || rec.kind == rawNewComm || rec.kind == rawFreeComm:
		comm := map[uint16]uint32{rawCollective: uint32(rec.low(2)), rawNewComm: uint32(rec.high(0)), rawFreeComm: uint32(rec.word(0))}[rec.kind]
		h.together(c, comm)
	case k.class == "win_new" || k.class == "file_open":
		h.together(c, uint32(rec.word(1)))
	case rec.kind == rawWindow:
		h.windowCall(c, rec)
	case rec.kind == rawFileOp:
		c.Object = uint32(rec.word(0))
		if s := h.files[c.Object]; s != nil {
			c.Number = s.Count - 1
		}
	}
	return c
}

// together fills in the last collective call on a communicator; without one, it is unknown whom it waits for.
func (h *history) together(c *state.Call, comm uint32) {
	s := h.collectives[comm]
	if s == nil {
		c.Kind = state.Other
		return
	}
	c.Comm, c.HasComm, c.Number = comm, true, s.Count-1
}

func (h *history) windowCall(c *state.Call, rec *rawRecord) {
	c.Object, c.Peer = uint32(rec.low(0)), rec.high(0)
	switch c.Kind {
	case state.OnWindow:
		if s := h.windows[c.Object]; s != nil {
			c.Number = s.Count - 1
		}
	case state.Start:
		c.Group = h.startGroups[c.Object]
	case state.Wait:
		c.Group = h.postGroups[c.Object]
	case state.Locking:
		c.Shared = c.Name == "MPI_Win_lock_all" || c.Name == "MPI_Win_lock" && rec.word(3) != 0
		if c.Peer == rawAllTargets {
			c.Peer = state.All
		}
	}
}

// polled describes a run of tests as one call: it goes on with any of them. Whom a run of different kinds waits for is unknown.
func (h *history) polled(polls []rawRecord) *state.Call {
	c := h.callOf(&polls[0])
	tests := 0
	for i := range polls {
		if polls[i].kind != rawComplete {
			continue
		}
		tests++
		if id := polls[i].word(0); h.kinds[polls[i].function].class == "test" && id != 0 {
			c.Requests = append(c.Requests, id)
			continue
		}
		for _, r := range h.requests() { // which ones it tests is not recorded
			c.Requests = append(c.Requests, r.ID)
		}
	}
	slices.Sort(c.Requests)
	c.Requests = slices.Compact(c.Requests)
	c.Total = int64(len(c.Requests))
	switch {
	case tests == 0 && len(polls) == 1: // MPI_Win_test, or as below
	case tests == 0 && c.Kind == state.Probe:
		h.widen(c, polls[1:])
	case tests < len(polls) || len(c.Requests) == 0:
		c.Kind = state.Other
	case len(c.Requests) == 1:
		c.Kind = state.WaitAll
	default:
		c.Kind = state.WaitAny
	}
	return c
}

// widen lets a probe stand for others, too: for a message from any rank if they look for different ones.
func (h *history) widen(c *state.Call, others []rawRecord) {
	for i := range others {
		o := h.callOf(&others[i])
		if o.Kind != state.Probe || o.Comm != c.Comm {
			c.Kind = state.Other
			return
		}
		if o.Peer != c.Peer || o.Tag != c.Tag {
			c.Peer, c.Tag = state.Anybody, state.AnyTag
		}
	}
}
