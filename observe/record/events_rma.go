package record

import (
	"slackline/model/timeline"
	"slackline/model/trace"
)

// windowCall is a function of one-sided communication: the class of its wrapper, as in windows.h, and the event that it is.
type windowCall struct {
	class string
	event trace.Event
}

// windowCalls are the functions of one-sided communication of which more than the time is recorded.
var windowCalls = map[string]windowCall{
	"Win_create":          {"win_new", trace.Event{Kind: trace.WinCollective, Op: timeline.OpCreateHandle}},
	"Win_create_dynamic":  {"win_new", trace.Event{Kind: trace.WinCollective, Op: timeline.OpCreateHandle}},
	"Win_allocate":        {"win_new", trace.Event{Kind: trace.WinCollective, Op: timeline.OpCreateHandleAllocate}},
	"Win_allocate_shared": {"win_new", trace.Event{Kind: trace.WinCollective, Op: timeline.OpCreateHandleAllocate}},
	"Win_free":            {"win_free", trace.Event{Kind: trace.WinCollective, Op: timeline.OpDestroyHandle}},
	"Win_fence":           {"win", trace.Event{Kind: trace.WinCollective, Op: timeline.OpBarrier}},

	"Win_post":     {"win_group", trace.Event{Kind: trace.WinPost}},
	"Win_start":    {"win_group", trace.Event{Kind: trace.WinStart}},
	"Win_complete": {"win", trace.Event{Kind: trace.WinComplete}},
	"Win_wait":     {"win", trace.Event{Kind: trace.WinWait}},
	"Win_test":     {"win_test", trace.Event{Kind: trace.WinWait}},

	"Win_lock":            {"win_lock", trace.Event{Kind: trace.WinLock}},
	"Win_lock_all":        {"win_all", trace.Event{Kind: trace.WinLock, Flag: true}},
	"Win_unlock":          {"win_at", trace.Event{Kind: trace.WinUnlock}},
	"Win_unlock_all":      {"win_all", trace.Event{Kind: trace.WinUnlock}},
	"Win_flush":           {"win_at", trace.Event{Kind: trace.WinFlush}},
	"Win_flush_all":       {"win_all", trace.Event{Kind: trace.WinFlush}},
	"Win_flush_local":     {"win_at", trace.Event{Kind: trace.WinFlush, Flag: true}},
	"Win_flush_local_all": {"win_all", trace.Event{Kind: trace.WinFlush, Flag: true}},

	"Put":              {"access", trace.Event{Kind: trace.Put}},
	"Rput":             {"iaccess", trace.Event{Kind: trace.Put}},
	"Get":              {"access", trace.Event{Kind: trace.Get}},
	"Rget":             {"iaccess", trace.Event{Kind: trace.Get}},
	"Accumulate":       {"accumulate", trace.Event{Kind: trace.Atomic}},
	"Raccumulate":      {"iaccumulate", trace.Event{Kind: trace.Atomic}},
	"Get_accumulate":   {"get_accumulate", trace.Event{Kind: trace.Atomic}},
	"Rget_accumulate":  {"iget_accumulate", trace.Event{Kind: trace.Atomic}},
	"Fetch_and_op":     {"fetch", trace.Event{Kind: trace.Atomic}},
	"Compare_and_swap": {"swap", trace.Event{Kind: trace.Atomic}},
}

// Targets that are not ranks, as in windows.h.
const (
	rawEverybody  = -6
	rawAllTargets = -7
)

// onWindow gives the event of a call on a window. What begins something stands at its start.
func (s *eventStream) onWindow(enter, leave int64, rec *rawRecord, c *mpiCall) {
	window, target := uint32(rec.low(0)), rec.high(0)
	w, known := s.objects[window]
	if !known || !c.onWindow || target == rawEverybody && s.lost[window] {
		return
	}
	e := c.window
	e.Object = w.number
	if e.Peer = max(target, 0); target == rawAllTargets {
		e.Peer = trace.AllRanks
	}
	switch e.Kind {
	case trace.WinLock:
		e.Flag = e.Flag || rec.word(3) != 0
		s.put(enter, e)
		return
	case trace.Put, trace.Get, trace.Atomic:
		if e.Kind == trace.Atomic {
			e.Sent, e.Received = int64(rec.word(1)), int64(rec.word(2))
		} else {
			e.Size = int64(rec.word(1))
		}
		if request := rec.word(3); request != 0 {
			s.began(request)
			s.unnamed(request)
		}
		s.put(enter, e)
		return
	case trace.WinCollective:
		if e.Op == timeline.OpDestroyHandle && w.allocated {
			e.Op = timeline.OpDestroyHandleDeallocate
		}
	case trace.WinPost, trace.WinStart:
		e.Counts = rec.ranks(4, int(rec.word(3)))
	}
	if c.tests && rec.word(3) == 0 || rec.open { // it found nothing, or never came back
		return
	}
	s.put(leave, e)
}

// ranks reads n ranks, two to a word, from word i on.
func (r *rawRecord) ranks(i, n int) []int64 {
	var list []int64
	for k := 0; k < n && i+k/2 < r.words(); k++ {
		list = append(list, int64(int32(uint32(r.word(i+k/2)>>(k%2*32)))))
	}
	return list
}

// accessDone gives the event of a completed request of an operation on a window: here it is complete.
func (s *eventStream) accessDone(leave int64, window uint32, target int32) {
	if w, known := s.objects[window]; known {
		s.put(leave, trace.Event{Kind: trace.WinFlush, Object: w.number, Peer: target, Flag: true})
	}
}

// unnamed notes a request that is in no event, and so in none of a test that finds it incomplete.
func (s *eventStream) unnamed(request uint64) {
	if s.silent == nil {
		s.silent = map[uint64]bool{}
	}
	s.silent[request] = true
}
