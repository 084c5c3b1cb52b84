package replay

import (
	"cmp"
	"slices"
	"sort"

	"slackline/analyze/devices"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// A run with accelerators becomes one block for each rank. Its threads and streams are chains of operations on CPUs of their own: time in
// a call path, kernels, copies. A thread that launches an activity is required by it; so are the activity before it on its stream and the
// one on another stream that it waited for (package devices says which). A call that waits for an activity requires that. What lies between
// the last of what an activity requires and its start is kept: latency of the launch, or of the device. The rules are in
// docs/accelerators.md.

// deviceRun is what the walks through the ranks of such a run share.
type deviceRun struct {
	*devices.Run
	streams []timeline.Stream
	syncs   [][]devices.HostWait       // by location, by call
	work    map[devices.Op]*kernelWork // of communication kernels
	relays  [][]relay                  // by rank
	begun   []unit.Duration            // by part of a location in a collective: when the last member began, if the part had not ended
}

// The CPUs of a rank: of its first thread, of all communication of kernels, of the rest. Messages occupy the CPU of their receiver that
// has the number of the sender's.
const (
	hostCPU  = 0
	commCPU  = 1
	firstCPU = 2
	lastCPU  = 254
)

// mark says that a thread has come to a moment of the run when an operation of the rank is done.
type mark struct {
	at unit.Duration
	op uint32
}

// noOp is no operation.
const noOp = ^uint32(0)

// chain is a thread or what becomes of it: operations one after the other.
type chain struct {
	location int32
	cpu      uint8
	lead     lead   // for the first thread
	last     uint32 // noOp: none
	now      unit.Duration
	marks    []mark
	entered  []int32 // by call: the mark of its beginning; -1: none
	left     []int32 // by call: the mark of its end
	open     []int32
	syncs    []devices.HostWait // those of calls that have not begun
}

// deviceWalk is what is known of a rank with accelerators while it becomes operations.
type deviceWalk struct {
	w       *walker
	run     *deviceRun
	rank    int
	chains  []*chain // the first is the master's; nil: the rank has no thread
	cpus    int      // given out
	handed  []handOver
	ends    [][]uint32 // by stream of the rank, activity: the operation that ends it
	begins  [][]uint32 // and the one at whose start it begins
	pending []pendingEdge
	noted   int       // operations that were looked at for
	sends   []sending // these
}

// pendingEdge says that an operation requires an activity that may have none yet.
type pendingEdge struct {
	on devices.Op
	op uint32
}

// handOver is a time in which the first thread did nothing that was recorded while others worked: it waited for them.
type handOver struct {
	from, to unit.Duration
	bursts   []burst
	op       uint32 // that requires them; noOp: none does
}

// burst is an outermost call of a thread that is not the first.
type burst struct {
	thread   int // chain
	call     int32
	from, to unit.Duration
}

// newDeviceRun prepares the replay of a run with accelerators; nil: it has none.
func newDeviceRun(t *timeline.Timeline, threads int) *deviceRun {
	if t.Devices == nil {
		return nil
	}
	run := devices.New(t, nil, nil, threads)
	return &deviceRun{Run: run, streams: t.Devices.Streams, syncs: run.Syncs(), work: map[devices.Op]*kernelWork{}, relays: make([][]relay,
		t.Ranks)}
}

// newDeviceWalk begins the walk through a rank.
func newDeviceWalk(w *walker, rank int) *deviceWalk {
	d := &deviceWalk{w: w, run: w.devices, rank: rank, cpus: firstCPU}
	for i := range w.t.Locations {
		if w.t.Locations[i].Rank != rank {
			continue
		}
		n := w.t.Locations[i].Calls.Len()
		c := &chain{location: int32(i), cpu: hostCPU, last: noOp, syncs: d.run.syncs[i], entered: make([]int32, n), left: make([]int32, n)}
		if len(d.chains) > 0 {
			c.cpu, c.lead.cpu = d.nextCPU(), d.nextCPU()
		}
		d.chains = append(d.chains, c)
	}
	d.findHandOvers()
	return d
}

// nextCPU gives out a CPU. Chains are in order without that; if there are too many, some share one.
func (d *deviceWalk) nextCPU() uint8 {
	d.cpus++
	return uint8(firstCPU + (d.cpus-1-firstCPU)%(lastCPU+1-firstCPU))
}

// restart forgets what a rank did before t.
func (d *deviceWalk) restart(t unit.Duration) {
	d.w.block.open = 1 // so that it is one block
	for _, c := range d.chains {
		c.now, c.last, c.marks = t, noOp, nil
		for i := range c.entered {
			c.entered[i], c.left[i] = -1, -1
		}
	}
	d.pending, d.sends, d.noted = nil, nil, 0
}

// findHandOvers finds the times in which the first thread waited for others: it neither entered nor left a call while they worked.
func (d *deviceWalk) findHandOvers() {
	var all []burst
	for k := 1; k < len(d.chains); k++ {
		c := &d.w.t.Locations[d.chains[k].location].Calls
		for i := int32(0); int(i) < c.Len(); i = c.Skip[i] {
			if c.Leave[i] > c.Enter[i] {
				all = append(all, burst{k, i, c.Enter[i], c.Leave[i]})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(x, y burst) int { return cmp.Compare(x.from, y.from) })
	calls := &d.w.t.Locations[d.chains[0].location].Calls
	moments := slices.Concat(calls.Enter, calls.Leave)
	slices.Sort(moments)
	for _, b := range all {
		if n := len(d.handed); n > 0 && b.from < d.handed[n-1].to {
			h := &d.handed[n-1]
			h.to, h.bursts = max(h.to, b.to), append(h.bursts, b)
			continue
		}
		d.handed = append(d.handed, handOver{b.from, b.to, []burst{b}, noOp})
	}
	d.handed = slices.DeleteFunc(d.handed, func(h handOver) bool {
		i := sort.Search(len(moments), func(i int) bool { return moments[i] > h.from })
		return i < len(moments) && moments[i] < h.to
	})
}

// add appends an operation that requires others, noOp among them being none.
func (d *deviceWalk) add(op schedule.Op, on ...uint32) uint32 {
	b := &d.w.block
	i := uint32(len(b.out.ops) - b.start)
	b.out.ops = append(b.out.ops, op)
	for _, o := range on {
		if o != noOp {
			b.edges = append(b.edges, edge{o, schedule.NewDependent(int(i), false)})
		}
	}
	return i
}

// calc appends time in a call path.
func (d *deviceWalk) calc(cpu uint8, path timeline.PathID, size unit.Duration, on ...uint32) uint32 {
	i := d.add(schedule.Op{Kind: schedule.Calc, Size: int64(size), Origin: uint32(path), CPU: cpu}, on...)
	if size > 0 && d.w.kinds[path] == userCall {
		d.w.out.compute += size
		if d.w.options.Denoise {
			d.w.noise.note(uint32(d.w.block.start)+i, repetition{path: path})
		}
	}
	return i
}

// then appends time of a thread. The first one goes on from the front of the block, where MPI calls may have left requests.
func (d *deviceWalk) then(c *chain, path timeline.PathID, size unit.Duration) {
	if c.cpu != hostCPU {
		c.last = d.calc(c.cpu, path, size, c.last)
		return
	}
	b := &d.w.block
	c.last = d.calc(c.cpu, path, size)
	for _, f := range b.front {
		b.edges = append(b.edges, edge{f.op, schedule.NewDependent(int(c.last), f.onStart)})
	}
	b.front = append(b.front[:0], front{c.last, false})
}

// reached notes that a thread has come to a moment.
func (c *chain) reached(t unit.Duration) {
	c.now = t
	c.marks = append(c.marks, mark{t, c.last})
}

// leaves notes that a thread has come out of a call.
func (c *chain) leaves(call int32) { c.left[call] = int32(len(c.marks)) - 1 }

// compute accounts for the time of a thread in a call path up to t.
func (d *deviceWalk) compute(c *chain, path timeline.PathID, t unit.Duration) {
	if t <= c.now {
		return
	}
	for i := range d.handed {
		h := &d.handed[i]
		if c != d.chains[0] || h.from < c.now || h.to > t {
			continue
		}
		d.spend(c, path, h.from)
		d.then(c, path, 0)
		h.op = c.last
		c.reached(h.to)
	}
	d.spend(c, path, t)
}

func (d *deviceWalk) spend(c *chain, path timeline.PathID, t unit.Duration) {
	if t <= c.now && len(c.marks) > 0 {
		return
	}
	d.then(c, path, t-c.now)
	c.reached(t)
}

// enter notes that a thread begins a call, and lets it wait for the activity whose end the call requires.
func (d *deviceWalk) enter(c *chain, call int32, enter, leave unit.Duration) {
	if len(c.marks) == 0 {
		d.spend(c, 0, c.now)
	}
	c.entered[call] = int32(len(c.marks)) - 1
	for len(c.syncs) > 0 && c.syncs[0].Call < call {
		c.syncs = c.syncs[1:]
	}
	if len(c.syncs) == 0 || c.syncs[0].Call != call {
		return
	}
	on := c.syncs[0].For
	end := d.run.streams[on.At].End[on.Index]
	if end > leave {
		return // it cannot have waited to the end
	}
	d.then(c, d.w.t.Locations[c.location].Calls.Path[call], 0)
	d.pending = append(d.pending, pendingEdge{on, c.last})
	c.reached(max(enter, end))
}

// leave notes that the first thread has come out of a call of MPI.
func (d *deviceWalk) leave(path timeline.PathID, t unit.Duration) {
	c := d.chains[0]
	if t > c.now || len(c.marks) == 0 {
		d.then(c, path, 0)
		c.reached(t)
	}
}

// threads turns the threads that are not the first into operations. Each of their outermost calls begins when the first thread has come
// there.
func (d *deviceWalk) threads() {
	for k := 1; k < len(d.chains); k++ {
		c := d.chains[k]
		calls := &d.w.t.Locations[c.location].Calls
		leave := func(until int32) {
			for n := len(c.open); n > 0 && calls.Skip[c.open[n-1]] <= until; n-- {
				d.compute(c, calls.Path[c.open[n-1]], calls.Leave[c.open[n-1]])
				c.leaves(c.open[n-1])
				c.open = c.open[:n-1]
			}
		}
		for i := range int32(calls.Len()) {
			leave(i)
			if n := len(c.open); n > 0 {
				d.compute(c, calls.Path[c.open[n-1]], calls.Enter[i])
			} else {
				at := max(calls.Enter[i], c.now, d.w.begin)
				c.last = d.calc(c.cpu, 0, 0, c.last, d.await(&c.lead, d.chains[0], at))
				c.reached(at)
			}
			d.enter(c, i, calls.Enter[i], calls.Leave[i])
			c.open = append(c.open, i)
		}
		leave(int32(calls.Len()))
	}
	for _, h := range d.handed {
		for _, b := range h.bursts {
			c := d.chains[b.thread]
			if m := c.left[b.call]; h.op != noOp && m >= 0 {
				d.w.block.edges = append(d.w.block.edges, edge{c.marks[m].op, schedule.NewDependent(int(h.op), false)})
			}
		}
	}
}

// lead lets something wait until a thread has come to a moment, on a CPU of its own. The moments come in order.
type lead struct {
	cpu  uint8
	some bool
	from uint32 // the last known operation before the last moment; noOp: none
	to   mark   // that moment
}

// await returns an operation that is done when a thread has come to a moment: the last one that is known, and what is missing after it.
func (d *deviceWalk) await(l *lead, c *chain, t unit.Duration) uint32 {
	known := mark{d.w.begin, noOp}
	if i := sort.Search(len(c.marks), func(i int) bool { return c.marks[i].at > t }) - 1; i >= 0 {
		known = c.marks[i]
	}
	if known.at == t && known.op != noOp {
		return known.op
	}
	if l.some && l.from == known.op && l.to.at <= t {
		l.to = mark{t, d.calc(l.cpu, 0, t-l.to.at, l.to.op)}
	} else {
		*l = lead{l.cpu, true, known.op, mark{t, d.calc(l.cpu, 0, max(t-known.at, 0), known.op)}}
	}
	return l.to.op
}
