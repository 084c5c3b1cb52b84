package simulate

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"slackline/internal/fault"
)

// The window engine. A message that is sent at t acts on another host no earlier than t + o + L.
// Time is cut into windows of the smallest o + L; inside a window hosts cannot affect each other
// and are carried out one after the other, in any order, on any thread, with the same result.
//
// Each core owns a partition of hosts. Messages to hosts of other cores are handed over at the end
// of the window; there is one barrier per window. While windows hold little work, the barrier
// would cost more than the threads gain: then one thread carries out all cores and the others
// sleep.
//
// Processes share the hosts in the same way: see link.

// windowCore carries out the events of a partition of hosts.
type windowCore interface {
	// begin makes the ranks of all hosts ready and wakes the hosts that have something to do.
	begin()
	// runWindow carries out the events of the hosts that the calendar names for the present
	// window.
	runWindow()
	// sent returns the earliest time at which a message acts that was sent to another core in
	// this round (never if there is none).
	sent() int64
	// setRound sets the number of the round that starts; messages to other cores go to the
	// buffers of that round.
	setRound(round int)
	// collect takes the messages that the other cores sent in a round.
	collect(round int)
	cal() *calendar
	// failed reports whether the run cannot go on.
	failed() bool
	// progress returns the number of messages and the number of visits to hosts so far.
	progress() (messages, visits int64)
	// post returns where messages to other processes go out and those from them come in.
	post() *ports
}

// Windows with fewer visits than this are carried out by one thread. A visit takes about a tenth
// of a microsecond, a barrier some tenths and, on a busy machine, far more.
const soloBelow = 400

// soloAfter is how many windows in a row must be small before the other threads go to sleep, or
// large before they are woken.
const soloAfter = 8

// windows is one run of the window engine.
type windows struct {
	ctx     context.Context
	cores   []windowCore
	link    *link // to other processes; nil: there are none
	ports   []*ports
	tick    func(now, messages int64)
	barrier barrier
	// What each thread reports at the end of a round, kept twice by round, so that one barrier per
	// window is enough.
	reports [2][]roundReport
	gates   []chan turn
	parked  chan struct{}
	// What all processes have reported of the round together, and why they cannot go on.
	others roundReport
	err    error
}

// roundReport is what a thread reports at the end of a round, on a cache line of its own.
type roundReport struct {
	next             int64 // first window in which one of its hosts or receivers has work
	messages, visits int64 // so far
	_                [40]byte
}

// turn is the state of a run between two rounds.
type turn struct {
	round  int
	window int64 // the window to carry out; start: begin the run
	visits int64 // in all rounds before
	small  int   // how many of the last windows were small, in a row; negative: large
}

// Special windows.
const (
	start   = -1
	stopAll = -2
)

// runWindows runs the cores until no host has anything left to do, also not on other processes.
func runWindows(ctx context.Context, cores []windowCore, l *link, tick func(now, messages int64)) error {
	n := len(cores)
	w := &windows{
		ctx: ctx, cores: cores, link: l, tick: tick,
		reports: [2][]roundReport{make([]roundReport, n), make([]roundReport, n)},
		gates:   make([]chan turn, n),
		parked:  make(chan struct{}, n),
	}
	for _, c := range cores {
		w.ports = append(w.ports, c.post())
	}
	w.barrier.threads = int32(n)
	for t := 1; t < n; t++ {
		w.gates[t] = make(chan turn)
		fault.Go(func() { w.helper(t) })
	}
	for now := (turn{window: start}); now.window != never && now.window != stopAll; {
		if n > 1 && now.small <= 0 {
			for t := 1; t < n; t++ {
				w.gates[t] <- now
			}
			now = w.together(0, now)
			for t := 1; t < n; t++ {
				<-w.parked
			}
		} else {
			now = w.alone(now)
		}
	}
	for t := 1; t < n; t++ {
		close(w.gates[t])
	}
	if w.err != nil {
		return w.err
	}
	return ctx.Err()
}

// helper is what the threads but the first do.
func (w *windows) helper(t int) {
	for now := range w.gates[t] {
		w.together(t, now)
		w.parked <- struct{}{}
	}
}

// together carries out rounds of one core beside the other threads, until the run ends or its
// windows have become small.
func (w *windows) together(t int, now turn) turn {
	for {
		w.reports[now.round&1][t] = w.carryOut(t, now)
		w.barrier.wait()
		if w.link != nil {
			if t == 0 {
				w.exchange(now)
			}
			w.barrier.wait()
		}
		now = w.next(now, t == 0)
		if now.window == never || now.window == stopAll || now.small >= soloAfter {
			return now
		}
	}
}

// alone carries out rounds of all cores, until the run ends or there is enough work for all
// threads.
func (w *windows) alone(now turn) turn {
	for {
		for t := range w.cores {
			w.reports[now.round&1][t] = w.carryOut(t, now)
		}
		if w.link != nil {
			w.exchange(now)
		}
		now = w.next(now, true)
		if now.window == never || now.window == stopAll || len(w.cores) > 1 && now.small <= -soloAfter {
			return now
		}
	}
}

// carryOut carries out one window of one core.
func (w *windows) carryOut(t int, now turn) roundReport {
	core := w.cores[t]
	c := core.cal()
	core.setRound(now.round)
	if now.window == start {
		core.begin()
	} else {
		c.advance(now.window)
		core.collect(now.round - 1)
	}
	core.runWindow()
	next := c.next()
	if at := core.sent(); at != never {
		next = min(next, at/c.width)
	}
	if core.failed() || w.link == nil && now.round&63 == 0 && w.ctx.Err() != nil {
		next = stopAll
	}
	messages, visits := core.progress()
	return roundReport{next: next, messages: messages, visits: visits}
}

// exchange ends a round of all processes. An interrupt ends it too.
func (w *windows) exchange(now turn) {
	mine := notice{next: never}
	for i := range w.reports[now.round&1] {
		s := &w.reports[now.round&1][i]
		mine.next = min(mine.next, s.next)
		mine.messages += s.messages
	}
	w.others = roundReport{next: never}
	all, err := w.link.exchange(mine, w.ports)
	if err != nil {
		w.err = err
		w.others.next = stopAll
		return
	}
	for i := range all {
		w.others.next = min(w.others.next, all[i].next)
		w.others.messages += all[i].messages
	}
}

// next finds out from the reports of the threads what comes next. All threads come to the same result.
func (w *windows) next(now turn, first bool) turn {
	then := turn{round: now.round + 1, window: never, small: now.small}
	messages := int64(0)
	for i := range w.reports[now.round&1] {
		s := &w.reports[now.round&1][i]
		then.window = min(then.window, s.next)
		then.visits += s.visits
		messages += s.messages
	}
	if w.link != nil {
		then.window, messages = w.others.next, w.others.messages
	}
	if then.visits-now.visits < soloBelow {
		then.small = max(then.small, 0) + 1
	} else {
		then.small = min(then.small, 0) - 1
	}
	if first && then.round&1023 == 0 {
		w.tick(w.cores[0].cal().end(), messages)
	}
	return then
}

// barrier lets a fixed number of threads wait for each other. Windows are short, so it spins; a
// thread that waits for long lets others run.
type barrier struct {
	threads int32
	arrived atomic.Int32
	phase   atomic.Uint32
}

// spins is how often a thread looks before it yields (some microseconds), yields how often it
// yields before it sleeps: then some other thread has lost its core.
const (
	spins  = 4000
	yields = 64
	nap    = 20 * time.Microsecond
)

func (b *barrier) wait() {
	if b.threads == 1 {
		return
	}
	phase := b.phase.Load()
	if b.arrived.Add(1) == b.threads {
		b.arrived.Store(0)
		b.phase.Add(1)
		return
	}
	for i := 0; b.phase.Load() == phase; i++ {
		switch {
		case i < spins:
		case i < spins+yields:
			runtime.Gosched()
		default:
			time.Sleep(nap)
		}
	}
}
