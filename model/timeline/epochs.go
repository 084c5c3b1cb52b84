package timeline

import (
	"cmp"
	"slices"
)

// Epochs holds the epochs of one-sided communication: the calls in which a location could wait for another one, with what
// tells for whom. Windows that are created, fenced and freed are collectives.
type Epochs struct {
	Accesses  []AccessEpoch   // by location, then by order
	Exposures []ExposureEpoch // by location, then by order
	Locks     []LockEpoch     // by window, target, origin, then by order
	Records   []WindowRecord  // all calls of masters, by location, then by order; of a part those of its own locations
}

// AccessEpoch is the time from MPI_Win_start to MPI_Win_complete of an origin.
type AccessEpoch struct {
	Location, Window int32
	Start, Complete  EpochCall
	Operations       []Operation // that move data
	Exposures        []int32     // of its targets, by their order in the group; those without partner are left out
}

// ExposureEpoch is the time from MPI_Win_post to MPI_Win_wait of a target.
type ExposureEpoch struct {
	Location, Window int32
	Post, Wait       EpochCall
	Accesses         []int32 // of its origins, by their locations; those without partner are left out
}

// LockEpoch is the time from MPI_Win_lock to MPI_Win_unlock of an origin at one target. Of MPI_Win_lock_all there is one at every
// target that it accesses or that some origin locks exclusively.
type LockEpoch struct {
	Location, Window int32
	Target           int32 // location: the master of the target
	Exclusive, All   bool
	Accesses         bool        // it moves data
	Calls            []EpochCall // the lock, then accesses and flushes in their order, then the unlock; each call once
}

// EpochCall is a call of an epoch and the number of its record among the records of the location.
type EpochCall struct{ Call, Seq int32 }

// Operation is a one-sided operation that moves at least one byte.
type Operation struct {
	EpochCall
	Target int32 // location: the master of the target
}

// matchEpochs finds the epochs of all locations and which of them belong together.
func (f *finisher) matchEpochs() {
	if !slices.ContainsFunc(f.locations, func(l *LocationBuilder) bool { return len(l.epochs) > 0 }) {
		return
	}
	m := &epochMatcher{finisher: f, out: &f.t.Epochs, exclusive: map[windowRank]bool{}}
	for i, l := range f.locations {
		if f.byRank[l.rank][0] == int32(i) { // the master: windows of other threads are left out
			m.readLocation(int32(i), l.epochs)
		}
		l.epochs = nil
	}
	m.joinEpochs()
	m.spreadLocks()
}

// windowRank is a rank of a window.
type windowRank struct{ window, rank int32 }

// epochMatcher finds epochs.
type epochMatcher struct {
	*finisher
	out       *Epochs
	groups    [][]int32           // by access epoch: its targets as locations
	origins   [][]int32           // by exposure epoch: its origins as locations
	exclusive map[windowRank]bool // some origin locks the rank exclusively
	locks     []openLock
}

// openLock is a lock epoch, of lock_all at all targets together.
type openLock struct {
	location, window int32
	rank             int32 // of the window; AllTargets
	exclusive        bool
	released         bool
	calls            []lockCall
}

// lockCall is a call of a lock epoch that concerns a target, or all of them.
type lockCall struct {
	EpochCall
	target int32
	access bool
}

// masterOf is the location of a rank of a window, -1 if there is none.
func (m *epochMatcher) masterOf(window, rank int32) int32 {
	if rank < 0 || window < 0 || int(window) >= len(m.t.Windows) {
		return -1
	}
	c := m.t.Windows[window].Comm
	if c < 0 || int(c) >= len(m.t.Comms) || int(rank) >= len(m.t.Comms[c].Members) {
		return -1
	}
	world := m.t.Comms[c].Members[rank]
	if world < 0 || int(world) >= len(m.byRank) || len(m.byRank[world]) == 0 {
		return -1
	}
	return m.byRank[world][0]
}

func (m *epochMatcher) masters(window int32, ranks []int32) []int32 {
	var list []int32
	for _, r := range ranks {
		if l := m.masterOf(window, r); l >= 0 && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// readLocation finds the epochs of a location.
func (m *epochMatcher) readLocation(location int32, records []WindowRecord) {
	access, exposure := map[int32]int{}, map[int32]int{} // by window: the open epoch
	locks := map[windowRank]int{}                        // open lock epochs
	pending := map[windowRank]bool{}                     // operations to a rank that no flush has completed
	for i := range records {
		r := &records[i]
		if r.Location = location; m.t.Part.Here(location) {
			m.out.Records = append(m.out.Records, *r)
		}
		call := r.EpochCall
		switch r.Kind {
		case WinStart:
			access[r.Window] = len(m.out.Accesses)
			m.out.Accesses = append(m.out.Accesses, AccessEpoch{Location: location, Window: r.Window, Start: call, Complete: EpochCall{-1, -1}})
			m.groups = append(m.groups, m.masters(r.Window, r.Group))
		case WinComplete:
			if e, open := access[r.Window]; open {
				m.out.Accesses[e].Complete = call
				delete(access, r.Window)
			}
		case WinPost:
			exposure[r.Window] = len(m.out.Exposures)
			m.out.Exposures = append(m.out.Exposures, ExposureEpoch{Location: location, Window: r.Window, Post: call, Wait: EpochCall{-1, -1}})
			m.origins = append(m.origins, m.masters(r.Window, r.Group))
		case WinWait:
			if e, open := exposure[r.Window]; open {
				m.out.Exposures[e].Wait = call
				delete(exposure, r.Window)
			}
		case WinLock:
			if r.Flag && r.Target >= 0 {
				m.exclusive[windowRank{r.Window, r.Target}] = true
			}
			locks[windowRank{r.Window, r.Target}] = len(m.locks)
			m.locks = append(m.locks, openLock{
				location: location, window: r.Window, rank: r.Target, exclusive: r.Flag && r.Target >= 0, calls: []lockCall{{call, AllTargets, false}},
			})
		case WinUnlock:
			at := windowRank{r.Window, r.Target}
			if e, open := locks[at]; open {
				m.locks[e].calls = append(m.locks[e].calls, lockCall{call, AllTargets, false})
				m.locks[e].released = true
				delete(locks, at)
			}
			for p := range pending {
				if p == at || r.Target == AllTargets && p.window == r.Window {
					delete(pending, p)
				}
			}
		case WinAccess:
			if !r.Moves() {
				continue
			}
			if e, open := access[r.Window]; open {
				if target := m.masterOf(r.Window, r.Target); target >= 0 {
					m.out.Accesses[e].Operations = append(m.out.Accesses[e].Operations, Operation{call, target})
				}
			}
			if m.addLockCall(locks, r, lockCall{call, r.Target, true}) { // else a fence or MPI_Win_complete completes it
				pending[windowRank{r.Window, r.Target}] = true
			}
		case WinFlush:
			m.flush(locks, pending, r, call)
		}
	}
}

// addLockCall adds a call to the epochs in which the rank is locked, and reports whether there is one.
func (m *epochMatcher) addLockCall(locks map[windowRank]int, r *WindowRecord, c lockCall) (locked bool) {
	for _, peer := range []int32{c.target, AllTargets} {
		if e, open := locks[windowRank{r.Window, peer}]; open {
			m.locks[e].calls = append(m.locks[e].calls, c)
			locked = true
		}
	}
	return locked
}

// flush adds a flush to the epochs of the ranks that have something pending.
func (m *epochMatcher) flush(locks map[windowRank]int, pending map[windowRank]bool, r *WindowRecord, call EpochCall) {
	var ranks []int32
	for p := range pending {
		if p.window == r.Window && (r.Target == AllTargets || r.Target == p.rank) {
			ranks = append(ranks, p.rank)
		}
	}
	slices.Sort(ranks)
	for _, rank := range ranks {
		m.addLockCall(locks, r, lockCall{call, rank, false})
		if !r.Flag {
			delete(pending, windowRank{r.Window, rank})
		}
	}
}

// joinEpochs matches the k-th access epoch of an origin to a target with the k-th exposure epoch of the target to the origin.
func (m *epochMatcher) joinEpochs() {
	type pair struct{ window, origin, target int32 }
	exposed := map[pair][]int32{}
	for i, origins := range m.origins {
		e := &m.out.Exposures[i]
		for _, o := range origins {
			p := pair{e.Window, o, e.Location}
			exposed[p] = append(exposed[p], int32(i))
		}
	}
	next := map[pair]int{}
	for i, targets := range m.groups {
		a := &m.out.Accesses[i]
		for _, target := range targets {
			p := pair{a.Window, a.Location, target}
			k := next[p]
			if next[p]++; k < len(exposed[p]) && target != a.Location {
				x := exposed[p][k]
				a.Exposures = append(a.Exposures, x)
				e := &m.out.Exposures[x]
				e.Accesses = append(e.Accesses, int32(i))
			}
		}
	}
}

// spreadLocks makes an epoch at each target of the locks.
func (m *epochMatcher) spreadLocks() {
	exclusive := map[int32][]int32{} // by window: ranks
	for at := range m.exclusive {
		exclusive[at.window] = append(exclusive[at.window], at.rank)
	}
	for i := range m.locks {
		l := &m.locks[i]
		if !l.released {
			continue
		}
		ranks := []int32{l.rank}
		if l.rank == AllTargets {
			ranks = slices.Clone(exclusive[l.window])
			for _, c := range l.calls {
				if c.access {
					ranks = append(ranks, c.target)
				}
			}
			slices.Sort(ranks)
			ranks = slices.Compact(ranks)
		}
		for _, rank := range ranks {
			m.addLock(l, rank)
		}
	}
	slices.SortStableFunc(m.out.Locks, func(x, y LockEpoch) int {
		return cmp.Or(cmp.Compare(x.Window, y.Window), cmp.Compare(x.Target, y.Target), cmp.Compare(x.Location, y.Location))
	})
}

func (m *epochMatcher) addLock(l *openLock, rank int32) {
	target := m.masterOf(l.window, rank)
	if target < 0 {
		return
	}
	e := LockEpoch{Location: l.location, Window: l.window, Target: target, Exclusive: l.exclusive, All: l.rank == AllTargets}
	for _, c := range l.calls {
		if c.target != AllTargets && c.target != rank {
			continue
		}
		e.Accesses = e.Accesses || c.access
		if n := len(e.Calls); n == 0 || e.Calls[n-1].Call != c.Call {
			e.Calls = append(e.Calls, c.EpochCall)
		}
	}
	m.out.Locks = append(m.out.Locks, e)
}

// window keeps the epochs whose calls are kept as a whole, under their new numbers.
func (o *Epochs) window(inside func(location, first, last int32) bool, kept []keptCalls) Epochs {
	var w Epochs
	number := func(location int32, c *EpochCall) { c.Call = kept[location].number(c.Call) }
	whole := func(location int32, calls ...EpochCall) bool {
		for _, c := range calls {
			if c.Call >= 0 && !inside(location, c.Call, c.Call) {
				return false
			}
		}
		return true
	}
	accesses, exposures := make([]int32, len(o.Accesses)), make([]int32, len(o.Exposures))
	for i, e := range o.Accesses {
		if accesses[i] = -1; whole(e.Location, e.Start, e.Complete) {
			accesses[i] = int32(len(w.Accesses))
			w.Accesses = append(w.Accesses, e)
		}
	}
	for i, e := range o.Exposures {
		if exposures[i] = -1; whole(e.Location, e.Post, e.Wait) {
			exposures[i] = int32(len(w.Exposures))
			w.Exposures = append(w.Exposures, e)
		}
	}
	partners := func(list []int32, names []int32) (out []int32) {
		for _, i := range list {
			if names[i] >= 0 {
				out = append(out, names[i])
			}
		}
		return out
	}
	for i := range w.Accesses {
		e := &w.Accesses[i]
		e.Operations = slices.DeleteFunc(slices.Clone(e.Operations), func(op Operation) bool { return !whole(e.Location, op.EpochCall) })
		e.Exposures = partners(e.Exposures, exposures)
	}
	for i := range w.Exposures {
		w.Exposures[i].Accesses = partners(w.Exposures[i].Accesses, accesses)
	}
	for _, e := range o.Locks {
		if whole(e.Location, e.Calls...) {
			e.Calls = slices.Clone(e.Calls)
			w.Locks = append(w.Locks, e)
		}
	}
	for _, r := range o.Records {
		if whole(r.Location, r.EpochCall) {
			w.Records = append(w.Records, r)
		}
	}
	w.eachCall(func(location int32, c *EpochCall) {
		if c.Call >= 0 {
			number(location, c)
		}
	})
	return w
}

// eachCall visits every mention of a call.
func (o *Epochs) eachCall(visit func(location int32, c *EpochCall)) {
	for i := range o.Accesses {
		e := &o.Accesses[i]
		visit(e.Location, &e.Start)
		visit(e.Location, &e.Complete)
		for k := range e.Operations {
			visit(e.Location, &e.Operations[k].EpochCall)
		}
	}
	for i := range o.Exposures {
		e := &o.Exposures[i]
		visit(e.Location, &e.Post)
		visit(e.Location, &e.Wait)
	}
	for i := range o.Locks {
		e := &o.Locks[i]
		for k := range e.Calls {
			visit(e.Location, &e.Calls[k])
		}
	}
	for i := range o.Records {
		visit(o.Records[i].Location, &o.Records[i].EpochCall)
	}
}
