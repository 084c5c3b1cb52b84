package hang

import (
	"fmt"
	"slices"

	"slackline/model/state"
	"slackline/model/timeline"
)

// needsOf returns what the call of a thread needs; nothing: it goes on by itself.
func (a *analysis) needsOf(rank int, t *state.Thread) []need {
	c, box := t.Call, a.inboxes[rank]
	here := box.current[slices.IndexFunc(a.run.Ranks[rank].Threads, func(o state.Thread) bool { return o.Number == t.Number })]
	switch c.Kind {
	case state.Receive, state.Probe:
		if here && a.counted(int32(rank), c.Peer) {
			return nil
		}
		return []need{a.receiveNeed(rank, wanted{c.Peer, c.Tag, c.Comm})}
	case state.Send:
		if a.counted(int32(rank), c.Peer) && !a.unreceived(rank, c.Peer, c.Tag, c.Comm, 0) {
			return nil
		}
		return []need{a.sendNeed(c.Peer, c.Tag, c.Comm, c.Bytes)}
	case state.Exchange:
		return a.exchange(rank, c, here)
	case state.WaitAll, state.WaitAny:
		return a.waits(rank, c)
	case state.Together:
		return a.collective(rank, instance{ofComm, c.Comm, c.Number}, c.Name)
	case state.OnWindow:
		return a.collective(rank, instance{ofWindow, c.Object, c.Number}, c.Name)
	case state.OnFile:
		return a.collective(rank, instance{ofFile, c.Object, c.Number}, c.Name)
	case state.Locking:
		return a.locking(rank, c)
	case state.Start, state.Wait:
		return a.epochs(rank, c)
	case state.Finalize:
		return a.finalize()
	case state.Local:
		return nil
	}
	return []need{{unknown: true}}
}

// exchange is the needs of MPI_Sendrecv: which of its halves is done is known from the messages alone.
func (a *analysis) exchange(rank int, c *state.Call, here bool) []need {
	var list []need
	if c.Source != state.Nobody && !(here && a.counted(int32(rank), c.Source)) {
		list = append(list, a.receiveNeed(rank, wanted{c.Source, c.SourceTag, c.Comm}))
	}
	if len(list) == 0 && c.Peer >= 0 && a.unreceived(rank, c.Peer, c.Tag, c.Comm, 0) {
		list = append(list, a.sendNeed(c.Peer, c.Tag, c.Comm, c.Bytes))
	}
	return list
}

// waits is the needs of a wait for requests. A receive without its message is one, a collective that somebody has not begun, too.
// Sends may be complete, because the library keeps small messages: they count if there is nothing else.
func (a *analysis) waits(rank int, c *state.Call) []need {
	open := a.run.Ranks[rank].Open
	var sure, perhaps []need
	complete := 0
	known := 0
	for _, id := range c.Requests {
		i := slices.IndexFunc(open, func(q state.Request) bool { return q.ID == id })
		if i < 0 {
			continue
		}
		known++
		list, certain := a.request(rank, &open[i], open[i+1:])
		switch {
		case len(list) == 0:
			complete++
		case certain || len(c.Requests) == 1 && c.Total <= 1:
			sure = append(sure, list...)
		default:
			perhaps = append(perhaps, list...)
		}
	}
	missing := int64(known) < max(c.Total, int64(len(c.Requests)))
	if c.Kind == state.WaitAll && len(sure) > 0 {
		return sure
	}
	if missing {
		return []need{{unknown: true}}
	}
	if c.Kind == state.WaitAny {
		if complete > 0 {
			return nil
		}
		perhaps = append(perhaps, sure...)
	}
	return anyOf(perhaps)
}

// anyOf makes one need of several, one of which is enough.
func anyOf(list []need) []need {
	if len(list) < 2 {
		return list
	}
	x := list[0]
	x.any = nil
	for i, other := range list {
		if other.unknown {
			return []need{other}
		}
		x.never = x.never && other.never
		for _, m := range other.any {
			if !slices.Contains(x.any, m) {
				x.any = append(x.any, m)
			}
		}
		if i > 0 && i < 3 {
			x.what += ", or " + other.what
		}
	}
	if len(list) > 3 {
		x.what += ", or others"
	}
	return []need{x}
}

// request is the needs of a request, given those that began after it, and whether it is certain that it is not complete.
func (a *analysis) request(rank int, q *state.Request, later []state.Request) (list []need, certain bool) {
	switch q.Kind {
	case state.Receive:
		if q.Peer == state.Nobody {
			return nil, true
		}
		counted := a.counted(int32(rank), q.Peer)
		if a.inboxes[rank].done[q.ID] && counted && !q.Parts {
			return nil, true
		}
		return []need{a.receiveNeed(rank, wanted{q.Peer, q.Tag, q.Comm})}, counted && !q.Parts
	case state.Send:
		behind := int64(0)
		for _, o := range later {
			if o.Kind == state.Send && o.Peer == q.Peer && o.Tag == q.Tag && o.Comm == q.Comm {
				behind++
			}
		}
		if q.Peer < 0 || a.counted(int32(rank), q.Peer) && !a.unreceived(rank, q.Peer, q.Tag, q.Comm, behind) {
			return nil, true
		}
		return []need{a.sendNeed(q.Peer, q.Tag, q.Comm, q.Bytes)}, false
	case state.Together:
		return a.collective(rank, instance{ofComm, q.Comm, q.Number}, q.Name), true
	case state.OnFile:
		return a.collective(rank, instance{ofFile, q.Comm, q.Number}, q.Name), true
	case state.OnWindow:
		if q.Peer >= 0 && int(q.Peer) < len(a.ranks) {
			return a.targetNeed(q.Peer), false
		}
	}
	return []need{{unknown: true}}, false
}

// targetNeed is the need of a one-sided operation that its target makes progress: it does so inside of MPI, whatever it waits for.
func (a *analysis) targetNeed(target int32) []need {
	r := &a.run.Ranks[target]
	inMPI := slices.ContainsFunc(r.Threads, func(t state.Thread) bool { return t.Call != nil })
	if inMPI && r.Status == state.Running {
		return nil
	}
	return []need{{any: []int32{target}, why: forTarget, what: fmt.Sprintf("rank %d to make progress as a target", target)}}
}

// finalize needs all other ranks.
func (a *analysis) finalize() []need {
	at := instance{of: ofEnd}
	if list, ok := a.instances[at]; ok {
		return list
	}
	var list []need
	for r := range a.run.Ranks {
		if !a.ends(r) {
			list = append(list, need{any: []int32{int32(r)}, why: forEnd, what: fmt.Sprintf("rank %d to come to MPI_Finalize", r)})
		}
	}
	a.instances[at] = list
	return list
}

// ends reports whether a rank has come to MPI_Finalize.
func (a *analysis) ends(rank int) bool {
	r := &a.run.Ranks[rank]
	return r.Status == state.Finished || slices.ContainsFunc(r.Threads, func(t state.Thread) bool {
		return t.Call != nil && t.Call.Kind == state.Finalize
	})
}

// locking is the needs of a call that needs a lock: those who hold it. A library may ask for the lock only when it is needed, so
// that the call which waits is any of the later ones.
func (a *analysis) locking(rank int, c *state.Call) []need {
	shared := c.Shared
	if c.Name != "MPI_Win_lock" && c.Name != "MPI_Win_lock_all" {
		shared = a.holds(rank, c.Object, c.Peer, true) && !a.holds(rank, c.Object, c.Peer, false)
	}
	var list []need
	for r := range a.run.Ranks {
		for _, l := range a.run.Ranks[r].Locks {
			meets := l.Target == c.Peer || l.Target == state.All || c.Peer == state.All
			if r == rank || l.Window != c.Object || !meets || shared && l.Shared || a.locks(r, c) {
				continue
			}
			list = append(list, need{
				any: []int32{int32(r)}, why: forLock,
				what: fmt.Sprintf("the lock of window %s at %s, which rank %d holds", a.window(c.Object), target(l.Target), r),
			})
			break
		}
	}
	if len(list) == 0 && c.Peer >= 0 && int(c.Peer) != rank && int(c.Peer) < len(a.ranks) {
		return a.targetNeed(c.Peer)
	}
	if len(list) == 0 {
		return []need{{unknown: true}}
	}
	return list
}

// holds reports whether a rank has asked for a lock of a kind.
func (a *analysis) holds(rank int, window uint32, target int32, shared bool) bool {
	return slices.ContainsFunc(a.run.Ranks[rank].Locks, func(l state.Lock) bool {
		return l.Window == window && l.Shared == shared && (l.Target == target || l.Target == state.All)
	})
}

// locks reports whether a rank waits for the same lock itself.
func (a *analysis) locks(rank int, c *state.Call) bool {
	return slices.ContainsFunc(a.run.Ranks[rank].Threads, func(t state.Thread) bool {
		return t.Call != nil && t.Call.Kind == state.Locking && t.Call.Object == c.Object && t.Call.Peer == c.Peer
	})
}

func target(rank int32) string {
	if rank == state.All {
		return "all ranks"
	}
	return fmt.Sprintf("rank %d", rank)
}

func (a *analysis) window(number uint32) string { return objectName(a.run.Windows, number) }

// objectName is the name of a window or a file.
func objectName(list []timeline.Object, number uint32) string {
	if int(number) < len(list) {
		return list[number].Name
	}
	return "?"
}

// epochs is the needs of general active target synchronization: targets that have not posted, or origins that have not completed.
func (a *analysis) epochs(rank int, c *state.Call) []need {
	var list []need
	for _, m := range c.Group {
		if m < 0 || int(m) >= len(a.ranks) || int(m) == rank {
			continue
		}
		mine, theirs := a.exposure(rank, c.Object, m), a.exposure(int(m), c.Object, int32(rank))
		verb, call := "post", "MPI_Win_post"
		behind := theirs.Posted < mine.Started
		if c.Kind == state.Wait {
			verb, call = "complete", "MPI_Win_complete"
			behind = theirs.Completed < mine.Posted
		}
		if behind {
			list = append(list, need{
				any: []int32{m}, why: forTarget,
				what: fmt.Sprintf("rank %d to %s its epoch on window %s (%s)", m, verb, a.window(c.Object), call),
			})
		}
	}
	return list
}

func (a *analysis) exposure(rank int, window uint32, peer int32) state.Exposure {
	if e := a.run.Ranks[rank].Epochs[state.Epoch{Window: window, Peer: peer}]; e != nil {
		return *e
	}
	return state.Exposure{}
}
