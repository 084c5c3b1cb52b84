package replay

import (
	"cmp"
	"slices"
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// The agents of targets serve lock epochs on the CPU of their rank, or on one of their own if the library of the recorded run made progress
// while the target computed.

// asynchronousCPU is the CPU of agents that do not wait for their rank.
const asynchronousCPU = 1

// progressCPU decides where agents serve locks: on a CPU of their own if some flush or unlock ended before its target, which was not in MPI
// when it began, came to MPI, and no access, flush or unlock lasted until then but those that waited for another holder of the lock.
func (w *windows) progressCPU() uint8 {
	served := false
	targets := map[int32]*mpiCalls{}
	var releases []release // of the epochs at the same target
	locks := w.t.Epochs.Locks
	for i := range locks {
		e := &locks[i]
		if i == 0 || locks[i-1].Window != e.Window || locks[i-1].Target != e.Target {
			releases = w.releasesAt(releases[:0], locks[i:])
		}
		if e.Location == e.Target || e.All && !e.Accesses {
			continue
		}
		if targets[e.Target] == nil {
			targets[e.Target] = w.communicationOf(e.Target)
		}
		calls := &w.t.Locations[e.Location].Calls
		for _, c := range e.Calls[1:] {
			enter, leave := calls.Enter[c.Call], calls.Leave[c.Call]
			next, ok := targets[e.Target].next(enter)
			switch {
			case !ok:
			case next >= leave:
				served = served || !w.isAccess(e.Location, c.Call) // which may end early without any progress
			case !conflicts(releases, e, enter, leave):
				return 0
			}
		}
	}
	if served {
		return asynchronousCPU
	}
	return 0
}

// release is when an epoch began to be released.
type release struct {
	at    unit.Duration
	epoch *timeline.LockEpoch
}

// releasesAt lists the releases of the epochs at the target of the first one.
func (w *windows) releasesAt(list []release, epochs []timeline.LockEpoch) []release {
	for i := range epochs {
		e := &epochs[i]
		if e.Window != epochs[0].Window || e.Target != epochs[0].Target {
			break
		}
		list = append(list, release{w.t.Locations[e.Location].Calls.Enter[e.Calls[len(e.Calls)-1].Call], e})
	}
	slices.SortStableFunc(list, func(x, y release) int { return cmp.Compare(x.at, y.at) })
	return list
}

// conflicts reports whether an epoch that conflicts with another one was released between two moments.
func conflicts(list []release, e *timeline.LockEpoch, from, to unit.Duration) bool {
	for i := sort.Search(len(list), func(i int) bool { return list[i].at > from }); i < len(list) && list[i].at < to; i++ {
		if f := list[i].epoch; f.Location != e.Location && (f.Exclusive || e.Exclusive) {
			return true
		}
	}
	return false
}

// isAccess reports whether a call accesses a window.
func (w *windows) isAccess(location, call int32) bool {
	first, last := w.recordsOf(location, call, call)
	return slices.ContainsFunc(w.records[first:last], func(r timeline.WindowRecord) bool { return r.Kind == timeline.WinAccess })
}

// mpiCalls are when the communication calls of a location began, and when the last one up to each had ended.
type mpiCalls struct{ enter, left []unit.Duration }

func (w *windows) communicationOf(location int32) *mpiCalls {
	m := &mpiCalls{}
	calls := &w.t.Locations[location].Calls
	last := unit.Duration(0)
	for i, path := range calls.Path {
		if w.t.Regions[w.t.Paths[path].Region].Communicates() {
			last = max(last, calls.Leave[i])
			m.enter, m.left = append(m.enter, calls.Enter[i]), append(m.left, last)
		}
	}
	return m
}

// next is when the location came to MPI after t; not ok if it was in MPI then.
func (m *mpiCalls) next(t unit.Duration) (at unit.Duration, ok bool) {
	i := sort.Search(len(m.enter), func(i int) bool { return m.enter[i] > t })
	if i > 0 && m.left[i-1] > t || i == len(m.enter) {
		return 0, false
	}
	return m.enter[i], true
}
