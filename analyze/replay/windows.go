package replay

import (
	"cmp"
	"slices"
	"sort"

	"slackline/model/schedule"
	"slackline/model/timeline"
)

// One-sided communication becomes messages whose receiving half nobody called: operations of the target's agent. They begin with the call
// that exposed the window and are required by the call that ends the exposure. All run on the CPU of the rank, as in a library without
// progress of its own: they wait until the rank's own computation ends.

// requestSize is how many bytes ask for data.
const requestSize = 8

// life is a window from its creation on.
type life struct {
	comm      *timeline.Comm
	member    map[int32]int // by location
	location  []int32       // by rank of the window
	instances []windowOp    // its creation, its fences, that it is freed
	exclusive bool          // some origin locks exclusively
}

// windowOp is a collective operation on a window.
type windowOp struct {
	op      timeline.Op
	members []timeline.Member
	ops     []int32 // by member
}

// windows is the one-sided communication of a run while it becomes operations.
type windows struct {
	*converter
	lives   []*life // by window; nil: its creation was not recorded
	records []timeline.WindowRecord
	first   []int  // by location: its records; one more at the end
	placed  []bool // by record: it belongs to an epoch that became operations
	lockCPU uint8  // where agents serve lock epochs
}

// findWindows turns one-sided communication into inner operations.
func (c *converter) findWindows() {
	if c.options.WithoutCollectives || c.options.WithoutMessages || len(c.t.Windows) == 0 {
		return // their calls take the time that they took
	}
	w := &windows{converter: c, lives: make([]*life, len(c.t.Windows)), records: c.t.Epochs.Records}
	w.placed = make([]bool, len(w.records))
	w.first = make([]int, len(c.t.Locations)+1)
	for l := range c.t.Locations {
		w.first[l+1] = sort.Search(len(w.records), func(i int) bool { return w.records[i].Location > int32(l) })
	}
	w.findLives()
	w.findAccessEpochs()
	w.findLocks()
	w.findFenceAccesses()
	w.tellAll()
}

// findLives turns what is done to windows together into barriers.
func (w *windows) findLives() {
	for k := range w.t.Collectives {
		col := &w.t.Collectives[k]
		if col.Scope != timeline.ByWindow {
			continue
		}
		op, known := operations[col.Op]
		created := known && op == schedule.Barrier && col.Op != timeline.OpBarrier
		v := w.lives[col.Object]
		if v == nil && !created {
			continue // it was made before
		}
		ops := w.barrier(k)
		if ops == nil {
			continue
		}
		w.report.Collectives++
		if v == nil {
			v = &life{comm: &w.t.Comms[col.Comm], member: map[int32]int{}}
			for i, m := range w.membersOf(k) {
				v.member[m.Location] = i
				v.location = append(v.location, m.Location)
			}
			w.lives[col.Object] = v
		}
		v.instances = append(v.instances, windowOp{col.Op, w.membersOf(k), ops})
	}
	for i := range w.records {
		if r := &w.records[i]; w.lifeOf(r.Window) != nil && r.Kind == timeline.WinLock && r.Flag && r.Target >= 0 {
			w.lives[r.Window].exclusive = true
		}
	}
}

func (w *windows) lifeOf(window int32) *life {
	if window < 0 || int(window) >= len(w.lives) {
		return nil
	}
	return w.lives[window]
}

// spans reports whether the window existed at a location from one call to another.
func (v *life) spans(location, from, to int32) bool {
	i, ok := v.member[location]
	if !ok || v.instances[0].members[i].Complete >= from {
		return false
	}
	last := &v.instances[len(v.instances)-1]
	return !isFree(last.op) || last.members[i].Issue > to
}

// targetOf is the location of the target of a record; -1 if it is not known or the origin itself.
func (w *windows) targetOf(r *timeline.WindowRecord) int32 {
	v := w.lifeOf(r.Window)
	if v == nil || r.Target < 0 || int(r.Target) >= len(v.location) || v.location[r.Target] == r.Location {
		return -1
	}
	return v.location[r.Target]
}

// recordsOf returns the numbers of the records of a location in the calls from .. to, both included.
func (w *windows) recordsOf(location, from, to int32) (first, last int) {
	all := w.records[w.first[location]:w.first[location+1]]
	first = sort.Search(len(all), func(i int) bool { return all[i].Call >= from })
	last = sort.Search(len(all), func(i int) bool { return all[i].Call > to })
	return w.first[location] + first, w.first[location] + last
}

// agent is the part of a target in an epoch: its operations begin and end with calls of the target, and require what exposed the window.
type agent struct {
	location int32
	callSpan
	after    []int32
	received []int32 // data that came in
	cpu      uint8
}

// agent returns the agent of a location between two collective operations.
func (v *life) agent(location int32, from, to int) *agent {
	m := &v.instances[from]
	i := v.member[location]
	a := &agent{location: location, callSpan: callSpan{m.members[i].Complete, noCall}, after: m.ops[i : i+1]}
	if to < len(v.instances) {
		a.end = v.instances[to].members[i].Issue
	}
	return a
}

// toAgent adds a message to the agent.
func (w *windows) toAgent(a *agent, origin int32, at callSpan, size int64) int32 {
	sent, received := w.addMessage(origin, at, a.location, a.callSpan, size)
	w.inner[origin].list[sent].op.CPU, w.inner[a.location].list[received].op.CPU = a.cpu, a.cpu
	w.require(a.location, received, a.after...)
	return received
}

// fromAgent adds a message from the agent, which requires other operations of it.
func (w *windows) fromAgent(a *agent, origin int32, at callSpan, size int64, after ...int32) {
	sent, received := w.addMessage(a.location, a.callSpan, origin, at, size)
	w.inner[a.location].list[sent].op.CPU, w.inner[origin].list[received].op.CPU = a.cpu, a.cpu
	w.inner[a.location].list[sent].op.Context = schedule.AgentContext
	w.inner[origin].list[received].op.Context = schedule.AgentContext
	w.require(a.location, sent, after...)
}

// access adds the messages of a put, get or atomic, which the call end completes at the origin.
func (w *windows) access(a *agent, r *timeline.WindowRecord, end int32) {
	at := callSpan{r.Call, end}
	size := cmp.Or(r.Sent, requestSize)
	received := w.toAgent(a, r.Location, at, size)
	a.received = append(a.received, received)
	if r.Received > 0 {
		w.fromAgent(a, r.Location, at, r.Received, received)
	}
}

// findFenceAccesses places the accesses between fences.
func (w *windows) findFenceAccesses() {
	for i := range w.records {
		r := &w.records[i]
		v := w.lifeOf(r.Window)
		if w.placed[i] || r.Kind != timeline.WinAccess || v == nil {
			continue
		}
		me, ok := v.member[r.Location]
		if !ok {
			continue
		}
		next := sort.Search(len(v.instances), func(k int) bool { return v.instances[k].members[me].Issue > r.Call })
		if next == 0 {
			continue
		}
		w.placed[i] = true
		if target := w.targetOf(r); target >= 0 && r.Moves() {
			w.access(v.agent(target, next-1, next), r, v.agent(r.Location, next-1, next).end)
		}
	}
}

// tellAll tells the calls that became operations. The time of the others is kept.
func (w *windows) tellAll() {
	for i := range w.records {
		r := &w.records[i]
		if !w.placed[i] {
			w.report.OneSided++
			continue
		}
		w.tell(r.Location, r.Call, act{What: windowAct, Window: *r})
	}
}

// findAccessEpochs turns the epochs from MPI_Win_start to MPI_Win_complete, and what their targets expose to them, into messages.
func (w *windows) findAccessEpochs() {
	e := &w.t.Epochs
	for i := range e.Accesses {
		x := &e.Accesses[i]
		v := w.lifeOf(x.Window)
		if v == nil || x.Complete.Call < 0 || !v.spans(x.Location, x.Start.Call, x.Complete.Call) {
			continue
		}
		var targets []int32
		for _, k := range x.Exposures {
			if p := &e.Exposures[k]; p.Wait.Call >= 0 && v.spans(p.Location, p.Post.Call, p.Wait.Call) {
				targets = append(targets, p.Location)
				w.accessEpoch(x, p)
				w.placeAll(p.Location, p.Post.Call, p.Wait.Call, func(r *timeline.WindowRecord) bool {
					isPost := r.Kind == timeline.WinPost && r.Call == p.Post.Call
					return r.Window == p.Window && (isPost || r.Kind == timeline.WinWait && r.Call == p.Wait.Call)
				})
			}
		}
		if len(targets) == 0 {
			continue
		}
		w.placeAll(x.Location, x.Start.Call, x.Complete.Call, func(r *timeline.WindowRecord) bool {
			switch r.Kind {
			case timeline.WinStart, timeline.WinComplete:
				return r.Window == x.Window && (r.Call == x.Start.Call || r.Call == x.Complete.Call)
			case timeline.WinAccess:
				return r.Window == x.Window && (!r.Moves() || slices.Contains(targets, w.targetOf(r)))
			}
			return false
		})
	}
}

// placeAll marks records of a location in the calls from .. to that became operations.
func (w *windows) placeAll(location, from, to int32, which func(*timeline.WindowRecord) bool) {
	first, last := w.recordsOf(location, from, to)
	for i := first; i < last; i++ {
		w.placed[i] = w.placed[i] || which(&w.records[i])
	}
}

// accessEpoch adds the messages between an origin and one of its targets.
func (w *windows) accessEpoch(x *timeline.AccessEpoch, p *timeline.ExposureEpoch) {
	origin, target := &w.t.Locations[x.Location].Calls, &w.t.Locations[p.Location].Calls
	posted := target.Enter[p.Post.Call]
	a := &agent{location: p.Location, callSpan: callSpan{p.Post.Call, p.Wait.Call}}
	blocks := noCall // the call that blocked until the target had exposed its window
	if posted < origin.Leave[x.Start.Call] {
		blocks = x.Start.Call
	}
	first, last := w.recordsOf(x.Location, x.Start.Call, x.Complete.Call)
	for i := first; i < last; i++ {
		r := &w.records[i]
		if r.Kind != timeline.WinAccess || r.Window != x.Window || w.targetOf(r) != p.Location || !r.Moves() {
			continue
		}
		if blocks == noCall && posted < origin.Leave[r.Call] {
			blocks = r.Call
		}
		w.access(a, r, x.Complete.Call)
	}
	if blocks == noCall {
		blocks = x.Complete.Call
	}
	post := callSpan{p.Post.Call, p.Post.Call}
	w.addMessage(p.Location, post, x.Location, callSpan{x.Start.Call, blocks}, 0)
	w.addMessage(x.Location, callSpan{x.Complete.Call, x.Complete.Call}, p.Location, callSpan{p.Wait.Call, p.Wait.Call}, 0)
}
