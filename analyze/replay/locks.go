package replay

import (
	"cmp"
	"slices"
	"strings"

	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Locks are granted by the agent of the target in the order of the recorded run: a grant requires the releases of all epochs that came
// before it and conflict with it.

// lockHistory is what later grants at a target require.
type lockHistory struct {
	lastExclusive []int32 // the release of the last exclusive epoch
	shared        []int32 // the releases of the shared epochs since then
	own           int32   // the last call of the target that released a lock of its own; noCall: none
	released      unit.Duration
	sharedUntil   unit.Duration // when the last of them began to be released
}

// findLocks turns lock epochs into messages.
func (w *windows) findLocks() {
	locks := w.t.Epochs.Locks
	w.lockCPU = w.progressCPU()
	for from := 0; from < len(locks); {
		to := from
		for to < len(locks) && locks[to].Window == locks[from].Window && locks[to].Target == locks[from].Target {
			to++
		}
		if v := w.lifeOf(locks[from].Window); v != nil {
			if _, known := v.member[locks[from].Target]; known {
				w.locksAt(v, locks[from:to])
			}
		}
		from = to
	}
	w.placeLockCalls()
}

// locksAt turns the lock epochs at a target into messages.
func (w *windows) locksAt(v *life, epochs []timeline.LockEpoch) {
	released := func(e *timeline.LockEpoch) unit.Duration {
		return w.t.Locations[e.Location].Calls.Leave[e.Calls[len(e.Calls)-1].Call]
	}
	order := make([]*timeline.LockEpoch, len(epochs))
	for i := range epochs {
		order[i] = &epochs[i]
	}
	slices.SortStableFunc(order, func(x, y *timeline.LockEpoch) int {
		return cmp.Or(cmp.Compare(released(x), released(y)), cmp.Compare(w.t.Locations[x.Location].Rank, w.t.Locations[y.Location].Rank))
	})
	h := &lockHistory{own: noCall}
	for _, e := range order {
		if v.spans(e.Location, e.Calls[0].Call, e.Calls[len(e.Calls)-1].Call) {
			w.lockEpoch(v, e, h)
		}
	}
}

// lockEpoch adds the messages of a lock epoch.
func (w *windows) lockEpoch(v *life, e *timeline.LockEpoch, h *lockHistory) {
	calls := &w.t.Locations[e.Location].Calls
	lock, unlock := e.Calls[0].Call, e.Calls[len(e.Calls)-1].Call
	locks := !e.All || v.exclusive
	required, until := h.lastExclusive, h.released
	if e.Exclusive {
		required = append(slices.Clone(h.lastExclusive), h.shared...)
		until = max(until, h.sharedUntil)
	}
	granted := lock
	if until >= calls.Leave[lock] && len(required) > 0 { // it was asked for when it was needed
		granted = e.Calls[1].Call
	}
	var release int32
	switch {
	case e.Location == e.Target:
		if len(required) > 0 {
			w.addInner(e.Location, inner{op: schedule.Op{Kind: schedule.Calc}, begin: granted, end: granted, after: required})
		}
		release = w.addInner(e.Location, inner{op: schedule.Op{Kind: schedule.Calc}, begin: unlock, end: unlock})
		h.own = unlock
	default:
		release = w.remoteEpoch(v, e, h, locks, granted, required)
	}
	if !locks {
		return
	}
	if e.Exclusive {
		h.lastExclusive, h.shared, h.released = []int32{release}, nil, calls.Enter[unlock]
	} else {
		h.shared, h.sharedUntil = append(h.shared, release), max(h.sharedUntil, calls.Enter[unlock])
	}
}

// remoteEpoch adds the messages of a lock epoch at another rank; it returns the operation that receives its release there.
func (w *windows) remoteEpoch(v *life, e *timeline.LockEpoch, h *lockHistory, locks bool, granted int32, required []int32) (release int32) {
	lock, unlock := e.Calls[0].Call, e.Calls[len(e.Calls)-1].Call
	a := v.agent(e.Target, 0, len(v.instances)-1)
	if last := len(v.instances) - 1; last == 0 || !isFree(v.instances[last].op) {
		a.end = noCall
	}
	if a.cpu = w.lockCPU; a.cpu > 0 {
		w.report.Asynchronous = true
	}
	if locks {
		asked := w.toAgent(a, e.Location, callSpan{lock, lock}, 0)
		grants := *a
		if len(required) > 0 && h.own != noCall {
			grants.begin = h.own // the target had the lock itself
		}
		w.fromAgent(&grants, e.Location, callSpan{lock, granted}, 0, append([]int32{asked}, required...)...)
	}
	rank := int32(v.member[e.Target])
	first, last := w.recordsOf(e.Location, lock, unlock)
	concerns := func(i int) bool {
		r := &w.records[i]
		return r.Window == e.Window && (r.Target == rank || r.Target == timeline.AllTargets)
	}
	completes := func(i int) bool {
		kind := w.records[i].Kind
		return concerns(i) && (kind == timeline.WinFlush || kind == timeline.WinUnlock)
	}
	pending, next := false, first // next: the first record from here on that completes accesses
	for i := first; i < last; i++ {
		r := &w.records[i]
		switch {
		case !concerns(i) || w.placed[i] && r.Kind == timeline.WinAccess:
		case r.Kind == timeline.WinAccess:
			w.placed[i] = true
			if !r.Moves() {
				continue
			}
			end := unlock
			for next = max(next, i+1); next < last && !completes(next); {
				next++
			}
			if next < last {
				end = w.records[next].Call
			}
			w.access(a, r, end)
			pending = true
		case r.Kind == timeline.WinFlush && pending && !r.Flag && w.isFlush(r), r.Kind == timeline.WinUnlock && pending && !locks:
			w.ask(a, e.Location, r.Call)
			pending = false
		}
	}
	if locks {
		release = w.ask(a, e.Location, unlock)
	}
	return release
}

// ask adds a message to the agent and its answer, which requires everything that came in so far. What the origin sends later comes in
// after that, because it waits for the answer.
func (w *windows) ask(a *agent, origin, call int32) (asked int32) {
	at := callSpan{call, call}
	asked = w.toAgent(a, origin, at, 0)
	w.fromAgent(a, origin, at, 0, append([]int32{asked}, a.received...)...)
	a.received = nil
	return asked
}

// isFlush reports whether a record is one of MPI_Win_flush, not of a wait for a request or, in OTF2, of an unlock, which asks by itself.
func (w *windows) isFlush(r *timeline.WindowRecord) bool {
	path := w.t.Locations[r.Location].Calls.Path[r.Call]
	return strings.HasPrefix(callName(&w.t.Regions[w.t.Paths[path].Region]), "win_flush")
}

func isFree(op timeline.Op) bool {
	return op == timeline.OpDestroyHandle || op == timeline.OpDeallocate || op == timeline.OpDestroyHandleDeallocate
}

// placeLockCalls marks the records of locks that are released, and flushes: also those that become nothing.
func (w *windows) placeLockCalls() {
	type lock struct{ location, window, target int32 }
	open := map[lock]int{}
	for i := range w.records {
		r := &w.records[i]
		at := lock{r.Location, r.Window, r.Target}
		switch {
		case w.lifeOf(r.Window) == nil || !w.lives[r.Window].spans(r.Location, r.Call, r.Call):
		case r.Kind == timeline.WinLock:
			open[at] = i
		case r.Kind == timeline.WinUnlock:
			if begun, ok := open[at]; ok {
				w.placed[begun], w.placed[i] = true, true
				delete(open, at)
			}
		case r.Kind == timeline.WinFlush:
			w.placed[i] = true
		}
	}
}
