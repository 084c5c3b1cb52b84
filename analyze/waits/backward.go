package waits

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"slackline/analyze/waits/ledger"
	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/unit"
)

// backward charges all waiting time to its causes: later wait states first, so that what they pass on to
// earlier ones is known before these are looked at. Items are wait states, and after them the idle
// phases. The order among independent ones does not matter: whole numbers are added up.
type backward struct {
	a       *analysis
	ctx     context.Context
	workers []*accountant
	order   atomic.Int32

	mu    sync.Mutex
	more  sync.Cond
	ready []int
	idle  atomic.Int32
	over  bool

	foreign   []foreignState // wait states of other processes that were caused here, by process
	foreignOf []int          // by process: its first foreign state; one more at the end
}

// accountant is one worker of the backward pass.
type accountant struct {
	b            *backward
	a            *analysis
	causes       *causes
	apportioner  ledger.Apportioner
	short, long  []unit.Sum
	costs        ledger.Table
	unattributed unit.Sum
	todo         []int
	late         bool       // wait states may already be accounted for
	out          [][]handed // by process: what is to be handed over
}

// account is the outcome of the backward pass.
type account struct {
	costs        ledger.Table
	unattributed unit.Sum
	cyclic       int // wait states that depend on each other in a circle
}

// runBackward charges all waiting time to its causes.
func (a *analysis) runBackward(ctx context.Context) (*account, error) {
	b := &backward{a: a, ctx: ctx}
	b.more.L = &b.mu
	for range max(a.threads, 1) {
		b.workers = append(b.workers, &accountant{b: b, a: a, causes: newCauses(a.paths)})
	}
	b.findSince()
	if a.part != nil {
		return b.runTogether()
	}
	b.countPending()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.collectReady()
	a.meter.begin(messagesDone, 1, len(a.states)+len(a.idle))
	b.drain()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return b.account(b.breakCircles()), nil
}

// runTogether is the backward pass of several processes.
func (b *backward) runTogether() (*account, error) {
	for _, w := range b.workers {
		w.out = make([][]handed, b.a.part.Group.Size())
	}
	if err := b.shareForeign(); err != nil {
		return nil, err
	}
	b.countPending()
	b.collectReady()
	if err := b.rounds(); err != nil {
		return nil, err
	}
	cyclic, err := b.breakCirclesTogether()
	if err != nil {
		return nil, err
	}
	if err := b.returnIndirect(); err != nil {
		return nil, err
	}
	b.a.backward = b
	return b.account(cyclic), nil
}

// drain lets all workers work until there is nothing that can be accounted for.
func (b *backward) drain() {
	b.over = false
	b.idle.Store(0)
	parallel.EachWorker(len(b.workers), len(b.workers), func(_, i int) { b.workers[i].work() })
}

// account adds up what the workers found.
func (b *backward) account(cyclic int) *account {
	result := &account{cyclic: cyclic}
	for _, w := range b.workers {
		result.costs.AddAll(&w.costs)
		result.unattributed.AddSum(w.unattributed)
	}
	return result
}

// stateChunk is how many wait states a worker looks at in one go.
const stateChunk = 1 << 10

// findSince finds when the locations of each wait state last synchronized.
func (b *backward) findSince() {
	parallel.Chunks(len(b.a.states), stateChunk, len(b.workers), func(_, from, to int) {
		if b.ctx.Err() != nil {
			return
		}
		for i := from; i < to; i++ {
			s := &b.a.states[i]
			if b.a.devices != nil {
				b.a.devices.findSince(b.a, i)
				continue
			}
			s.since = b.a.since(s.location, s.call, s.cause, s.causeCall)
			s.before = int32(b.a.statesBefore(s.cause, s.causeCall))
		}
	})
}

// countPending counts for every wait state the later ones that it may be responsible for.
func (b *backward) countPending() {
	count := func(c *causes, of interval) {
		c.states = b.a.statesOf(c.states[:0], of)
		for _, w := range c.states {
			atomic.AddInt32(&b.a.states[w.state].pending, 1)
		}
	}
	parallel.Chunks(len(b.a.states), stateChunk, len(b.workers), func(worker, from, to int) {
		for i := from; i < to && b.ctx.Err() == nil; i++ {
			if !b.a.isHere(b.a.states[i].cause) {
				continue
			}
			if b.a.devices != nil {
				c := b.workers[worker].causes
				c.find(b.a, i)
				for _, w := range c.states {
					atomic.AddInt32(&b.a.states[w.state].pending, 1)
				}
				continue
			}
			of, _ := b.a.intervals(i)
			count(b.workers[worker].causes, of)
		}
	})
	parallel.Chunks(len(b.a.idle), stateChunk, len(b.workers), func(worker, from, to int) {
		for i := from; i < to; i++ {
			count(b.workers[worker].causes, b.a.idle[i].interval())
		}
	})
	parallel.Chunks(len(b.foreign), stateChunk, len(b.workers), func(worker, from, to int) {
		for i := from; i < to && b.ctx.Err() == nil; i++ {
			count(b.workers[worker].causes, b.foreign[i].interval(b.a))
		}
	})
}

// collectReady lists what can be accounted for at once. The latest come last, where work begins.
func (b *backward) collectReady() {
	for i := range b.a.states {
		if b.a.states[i].pending == 0 {
			b.ready = spill.Append(b.a.tl.Space, b.ready, i)
		}
	}
	for i := range b.a.idle {
		b.ready = append(b.ready, len(b.a.states)+i)
	}
}

// batch is how much work is handed over in one go.
const batch = 64

// work accounts for items until there are none.
func (w *accountant) work() {
	for n := 0; ; n++ {
		if len(w.todo) == 0 && !w.b.take(w) {
			return
		}
		if n%stateChunk == 0 {
			if w.b.ctx.Err() != nil {
				w.b.stop()
				return
			}
			w.a.meter.did(min(n, stateChunk))
		}
		last := len(w.todo) - 1
		item := w.todo[last]
		w.todo = w.todo[:last]
		w.accountFor(item)
		if len(w.todo) > batch && w.b.idle.Load() > 0 {
			w.b.give(w)
		}
	}
}

// take moves work from the common list to a worker; false if all is done.
func (b *backward) take(w *accountant) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.ready) == 0 && !b.over {
		if int(b.idle.Add(1)) == len(b.workers) {
			b.over = true
			b.more.Broadcast()
			return false
		}
		b.more.Wait()
		b.idle.Add(-1)
	}
	if b.over {
		return false
	}
	n := max(len(b.ready)-batch, 0)
	w.todo = append(w.todo, b.ready[n:]...)
	b.ready = b.ready[:n]
	return true
}

// give moves half of a worker's work to the common list.
func (b *backward) give(w *accountant) {
	b.mu.Lock()
	half := len(w.todo) / 2
	b.ready = append(b.ready, w.todo[:half]...)
	b.mu.Unlock()
	w.todo = append(w.todo[:0], w.todo[half:]...)
	b.more.Broadcast()
}

// stop ends the work of all.
func (b *backward) stop() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.more.Broadcast()
}

// accountFor charges an item to its causes.
func (w *accountant) accountFor(item int) {
	if item >= len(w.a.states)+len(w.a.idle) {
		w.accountForForeign(&w.b.foreign[item-len(w.a.states)-len(w.a.idle)])
		return
	}
	if item >= len(w.a.states) {
		w.accountForIdle(&w.a.idle[item-len(w.a.states)])
		return
	}
	s := &w.a.states[item]
	s.order = w.b.order.Add(1)
	if !w.a.isHere(s.cause) {
		w.handOver(s)
		return
	}
	w.causes.find(w.a, item)
	short, long := unit.SumOf(s.amount), load(&s.long)
	if w.causes.unseen > 0 {
		short, long = w.leaveOut(s.amount, long)
	}
	w.split(short, long)
	s.indirect = w.charge(w.a.rankOf(s.cause), s.parts(), short, long, 1)
}

// accountForIdle charges the idle threads of a phase to their causes.
func (w *accountant) accountForIdle(p *idlePhase) {
	w.causes.findSerial(w.a, p)
	amount := unit.SumOf(p.to - p.from)
	w.split(amount, unit.Sum{})
	p.indirect = w.charge(w.a.rankOf(p.master), metricParts{metric: openMPIdle.metric}, amount, unit.Sum{}, p.workers)
}

// split gives the causes their shares.
func (w *accountant) split(short, long unit.Sum) {
	n := len(w.causes.weights)
	w.short = slices.Grow(w.short[:0], n)[:n]
	w.long = slices.Grow(w.long[:0], n)[:n]
	if w.causes.total > 0 {
		w.apportioner.Split(w.short, short, w.causes.weights, w.causes.total)
		w.apportioner.Split(w.long, long, w.causes.weights, w.causes.total)
	}
}

// charge adds the shares to the causes, so many times, and returns what went to wait states of the amount.
func (w *accountant) charge(rank int, m metricParts, short, long unit.Sum, times int64) (indirect int64) {
	c := w.causes
	if c.total == 0 {
		w.unattributed.AddSum(short.Plus(long).Times(times))
		return 0
	}
	for i, path := range c.paths {
		w.addCost(rank, path, m, w.short[i].Times(times), w.long[i].Times(times))
	}
	for i, p := range c.states {
		s := &w.a.states[p.state]
		short, long := w.short[len(c.paths)+i], w.long[len(c.paths)+i]
		cost := short.Plus(long).Times(times)
		if w.late && s.order != 0 {
			w.unattributed.AddSum(cost)
			continue
		}
		own := int64(short.Duration()) // of one wait state
		indirect += own
		add(&s.long, cost)
		raise(&s.propagating, min(own, int64(s.amount)))
		if atomic.AddInt32(&s.pending, -1) == 0 {
			w.todo = append(w.todo, p.state)
		}
	}
	return indirect
}

// addCost adds costs to a call path, divided between the metric and the kind before it.
func (w *accountant) addCost(rank int, path int32, m metricParts, short, long unit.Sum) {
	if m.first > 0 {
		firstShort, firstLong := portion(short, m.first, m.amount), portion(long, m.first, m.amount)
		w.costs.Add(ledger.KeyOf(rank, path, uint8(kinds[m.metric].before.metric)), firstShort, firstLong)
		short, long = short.Minus(firstShort), long.Minus(firstLong)
	}
	w.costs.Add(ledger.KeyOf(rank, path, uint8(m.metric)), short, long)
}

// metricParts is the metric of a wait state and how much of its amount belongs to the kind before it.
type metricParts struct {
	metric        Metric
	first, amount unit.Duration
}

func (s *state) parts() metricParts { return metricParts{s.metric, s.first, s.amount} }

// raise sets a value to at least v.
func raise(value *int64, v int64) {
	for old := atomic.LoadInt64(value); old < v; old = atomic.LoadInt64(value) {
		if atomic.CompareAndSwapInt64(value, old, v) {
			return
		}
	}
}

// add adds to a sum that others add to at the same time.
func add(sum *unit.Sum, o unit.Sum) {
	if low := atomic.AddUint64(&sum.Low, o.Low); low < o.Low {
		o.High++
	}
	if o.High != 0 {
		atomic.AddInt64(&sum.High, o.High)
	}
}

// load returns a sum to which nothing is added any more.
func load(sum *unit.Sum) unit.Sum {
	return unit.Sum{High: atomic.LoadInt64(&sum.High), Low: atomic.LoadUint64(&sum.Low)}
}

// breakCircles accounts for the wait states that are left because they depend on each other in circles, as only
// wrong clocks make them: the latest causes first. What would go to one that is already accounted for
// stays without cause. It returns their number.
func (b *backward) breakCircles() int {
	var left []int
	for i := range b.a.states {
		if b.a.states[i].order == 0 {
			left = append(left, i)
		}
	}
	came := func(i int) int64 {
		s := &b.a.states[i]
		return int64(b.a.calls(s.cause).Enter[s.causeCall])
	}
	slices.SortFunc(left, func(x, y int) int {
		return cmp.Or(cmp.Compare(came(y), came(x)), cmp.Compare(x, y))
	})
	w := b.workers[0]
	w.late = true
	for _, i := range left {
		w.accountFor(i)
	}
	return len(left)
}
