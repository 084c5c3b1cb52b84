package waits

import (
	"cmp"
	"slices"
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

var lockContention = kind{
	Info: Info{
		Name:    "lock_contention",
		Title:   "Lock contention",
		Short:   "waits for a lock that another one holds",
		Because: "%s held the lock",
		Meaning: "Time in MPI_Win_lock, or in the access, flush or unlock in which a lock is asked for, before the last of those that " +
			"held it before entered MPI_Win_unlock. The cause is that holder. Shared locks do not exclude each other.",
		Advice: "Hold locks for a shorter time, use shared locks with MPI_Accumulate or MPI_Fetch_and_op, or spread the data " +
			"over several targets.",
		Color: Color{"#9E2A2B", "#D05A5B"},
	},
	precedence: lockNext,
	epochs:     (*analysis).findLockContention,
}

// holder is a lock epoch with the times that order it among those at the same target.
type holder struct {
	*timeline.LockEpoch
	asked, release, end unit.Duration // enter of the lock, enter and leave of the unlock
	rank                int
}

func (a *analysis) findLockContention(e *epochs) {
	locks := a.tl.Epochs.Locks // by window and target
	for len(locks) > 0 {
		n := sort.Search(len(locks), func(i int) bool {
			return locks[i].Window != locks[0].Window || locks[i].Target != locks[0].Target
		})
		a.findContentionAt(e, locks[:n])
		locks = locks[n:]
	}
}

// findContentionAt finds the contention of the locks at one target. Holding times of epochs that exclude each other are disjoint, so they
// are ordered by their ends.
func (a *analysis) findContentionAt(e *epochs, locks []timeline.LockEpoch) {
	list := make([]holder, len(locks))
	for i := range locks {
		l := &locks[i]
		lock, unlock := a.spanOf(l.Location, l.Calls[0].Call), a.spanOf(l.Location, l.Calls[len(l.Calls)-1].Call)
		list[i] = holder{l, lock.enter, unlock.enter, unlock.leave, a.rankOf(l.Location)}
	}
	slices.SortStableFunc(list, func(x, y holder) int { return cmp.Or(cmp.Compare(x.end, y.end), cmp.Compare(x.rank, y.rank)) })
	latest := make([]unit.Duration, len(list)+1) // by place: the latest release before it
	latest[0] = never
	for i := range list {
		latest[i+1] = max(latest[i], list[i].release)
	}
	for i := range list {
		w := &list[i]
		z := -1
		for k := i - 1; k >= 0 && latest[k+1] > w.asked; k-- {
			f := &list[k]
			if f.Location == w.Location || !f.Exclusive && !w.Exclusive || f.release <= w.asked || f.end == w.end && f.rank == w.rank {
				continue
			}
			unlock := f.Calls[len(f.Calls)-1].Call
			if c := a.callAt(w.LockEpoch, f.release); c >= 0 {
				e.meet(w.Location, w.Calls[c].Call, f.Location, unlock)
			}
			if z < 0 || f.release > list[z].release || f.release == list[z].release && f.rank < list[z].rank {
				z = k
			}
		}
		if z < 0 {
			continue
		}
		if c := a.callAt(w.LockEpoch, list[z].release); c >= 0 {
			call, f := w.Calls[c], &list[z]
			e.wait(w.Location, call, f.Location, f.Calls[len(f.Calls)-1].Call, f.release-a.calls(w.Location).Enter[call.Call], -1)
		}
	}
}

// callAt returns the number of the call of an epoch that goes on at a moment, -1 if there is none.
func (a *analysis) callAt(l *timeline.LockEpoch, at unit.Duration) int {
	calls := a.calls(l.Location)
	i := sort.Search(len(l.Calls), func(i int) bool { return calls.Enter[l.Calls[i].Call] >= at }) - 1
	if i >= 0 && calls.Leave[l.Calls[i].Call] > at {
		return i
	}
	return -1
}

var waitForProgress = kind{
	Info: Info{
		Name:    "wait_for_progress",
		Title:   "Wait for progress",
		Short:   "waits until the target enters MPI",
		Because: "%s, the target, was not in MPI",
		Meaning: "Time in a call of a lock epoch (access, flush, unlock) before the target entered its next communication call, if the " +
			"call had not ended by then: the library made no progress at the target while that computed. The cause is the target.",
		Advice: "Let the target call MPI now and then, or use a library with asynchronous progress or hardware support for " +
			"one-sided communication.",
		Color: Color{"#C9553D", "#E8836B"},
	},
	precedence: progressLast,
	epochs:     (*analysis).findWaitsForProgress,
}

func (a *analysis) findWaitsForProgress(e *epochs) {
	var communicating []bool // by path
	calls := map[int32]*progress{}
	for i := range a.tl.Epochs.Locks {
		l := &a.tl.Epochs.Locks[i]
		if l.Target == l.Location {
			continue
		}
		if communicating == nil {
			communicating = a.tl.Communicating()
		}
		at := calls[l.Target]
		if at == nil {
			at = newProgress(a.calls(l.Target), communicating)
			calls[l.Target] = at
		}
		for k, c := range l.Calls {
			if l.All && (k == 0 || k == len(l.Calls)-1 && !l.Accesses) {
				continue
			}
			call := a.spanOf(l.Location, c.Call)
			m := at.next(call.enter)
			if m < 0 || e.a.isTest(l.Location, c.Call) {
				continue
			}
			if entered := at.calls.Enter[m]; entered < call.leave {
				e.wait(l.Location, c, l.Target, m, entered-call.enter, -1)
				e.meet(l.Location, c.Call, l.Target, m)
			}
		}
	}
}

// progress are the communication calls of a location, in order.
type progress struct {
	calls  *timeline.Calls
	list   []int32
	latest []unit.Duration // by place in the list: the latest leave up to it
}

func newProgress(calls *timeline.Calls, communicating []bool) *progress {
	p := &progress{calls: calls}
	last := never
	for i, path := range calls.Path {
		if communicating[path] {
			last = max(last, calls.Leave[i])
			p.list, p.latest = append(p.list, int32(i)), append(p.latest, last)
		}
	}
	return p
}

// next is the first communication call after a moment, if none goes on then; else -1.
func (p *progress) next(at unit.Duration) int32 {
	i := sort.Search(len(p.list), func(i int) bool { return p.calls.Enter[p.list[i]] > at })
	if i > 0 && p.latest[i-1] > at || i == len(p.list) {
		return -1
	}
	return p.list[i]
}
