package simulate

import (
	"context"

	"slackline/internal/fault"
)

// The window engine. A message that is sent at t acts on another host no earlier than t + o + L.
// Time is cut into windows of the smallest o + L; inside a window hosts cannot affect each other
// and are carried out one after the other, in any order, on any thread, with the same result.
//
// Each core owns some of the hosts (partition.go). Messages to hosts of other cores are handed over at the
// end of the window (mail.go), where the threads wait for each other once (roundbarrier.go). A core always
// stays with its thread, so that its hosts stay in the cache there. Only when it has been measured
// that the threads do not gain from each other (pace.go) does the first one carry out all cores, and
// the others sleep. If that stays so, the first core takes all hosts, and is as fast as the core of a run
// with one thread.
//
// Processes share the hosts in the same way: see link.

// windowCore carries out the events of some of the hosts.
type windowCore interface {
	// begin makes the ranks of all hosts ready and wakes the hosts that have something to do.
	begin()
	// beginRound sets the number of the round that starts; messages to other cores go to the
	// lists of that round.
	beginRound(round int)
	// collect takes the messages that another core sent in a round.
	collect(from, round int)
	// takeArrived takes the messages that have come from other processes.
	takeArrived()
	// runWindow carries out the events of the hosts that the calendar names for the present
	// window.
	runWindow()
	// setDirect says whether all cores are carried out by one thread: then messages to other
	// cores are given to them at once.
	setDirect(bool)
	// merge gives the hosts of all cores to this one, the first, or gives them back. It reports whether
	// this core has all hosts now: not every kind of core can do it.
	merge(all bool) bool
	cal() *calendar
	// failed reports whether the run cannot go on.
	failed() bool
	// progress returns the number of messages and the number of visits to hosts so far.
	progress() (messages, visits int64)
	// post returns what was sent to other cores and processes in this round, and where messages to
	// other processes go out and those from them come in.
	post() (*sent, *ports)
}

// windows is one run of the window engine.
type windows struct {
	ctx     context.Context
	cores   []windowCore
	active  []windowCore // those that have hosts
	cals    []*calendar
	link    *link // to other processes; nil: there are none
	ports   []*ports
	tick    func(now, messages int64)
	barrier roundBarrier
	pace    pacer
	look    int // the round in which pace is asked next
	gates   []chan turn
	parked  chan struct{}
	// What all processes have reported of the round together, and why they cannot go on.
	others notice
	err    error
	// The last window that no other process can reach, as far as the last exchange tells.
	horizon int64
}

// turn is the state of a run between two rounds.
type turn struct {
	round  int
	window int64 // the window to carry out; start: begin the run
	way    way
}

// way is how the threads carry out the cores.
type way int8

const (
	together way = iota // each its own
	alone               // the first thread all of them
	merged              // the first thread its own, which has all hosts
)

// Special windows.
const (
	start   = -1
	stopAll = -2
)

func (t turn) over() bool { return t.window == never || t.window == stopAll }

// runWindows runs the cores until no host has anything left to do, also not on other processes.
func (r *run) runWindows(ctx context.Context, cores []windowCore, l *link) error {
	n := len(cores)
	w := &windows{
		ctx: ctx, cores: cores, active: cores, link: l, tick: r.tick(),
		barrier: newRoundBarrier(n),
		pace:    newPace(n), horizon: start,
		gates:  make([]chan turn, n),
		parked: make(chan struct{}, n),
	}
	if r.options.pace != nil {
		w.pace = r.options.pace
	}
	for _, c := range cores {
		_, p := c.post()
		w.ports = append(w.ports, p)
		w.cals = append(w.cals, c.cal())
	}
	return w.run()
}

func (w *windows) run() error {
	helpers := w.gates[1:]
	for i := range helpers {
		helpers[i] = make(chan turn)
		fault.Go(func() { w.helper(i + 1) })
	}
	now := turn{window: start}
	if len(w.cores) == 1 {
		now.way = alone
	}
	for !now.over() {
		if w.setWay(now); now.way != together {
			now = w.alone(now)
			continue
		}
		for _, gate := range helpers {
			gate <- now
		}
		now = w.together(0, now)
		for range helpers {
			<-w.parked
		}
	}
	for _, gate := range helpers {
		close(gate)
	}
	if w.err != nil {
		return w.err
	}
	return w.ctx.Err()
}

// setWay prepares the cores for the way in which they go on.
func (w *windows) setWay(now turn) {
	if now.way != together {
		for t := range w.cores {
			w.collect(t, now.round-1)
		}
		w.barrier.forget()
	}
	if all := now.way == merged; all != (len(w.active) < len(w.cores)) {
		w.active = w.cores
		if w.cores[0].merge(all) {
			w.active = w.cores[:1]
		}
	}
	for _, c := range w.cores {
		c.setDirect(now.way != together)
	}
}

// helper is what the threads but the first do.
func (w *windows) helper(t int) {
	for now := range w.gates[t] {
		w.together(t, now)
		w.parked <- struct{}{}
	}
}

// together carries out rounds of one core beside the other threads, until the run ends or the first
// thread is to go on alone.
func (w *windows) together(t int, now turn) turn {
	core := w.cores[t]
	for {
		core.beginRound(now.round)
		w.collect(t, now.round-1)
		w.carryOut(t, now)
		r := w.barrier.report(t, now.round)
		s, _ := core.post()
		r.next, r.whom = w.cals[t].nextWith(s.acts), s.whom
		r.messages, r.visits = core.progress()
		if core.failed() || w.interrupted(now.round) {
			r.next = stopAll
		}
		if t == 0 {
			r.way = together
			if now.round >= w.look {
				visits, waited := w.barrier.sums(now.round - 1)
				r.way, w.look = w.pace.next(now.round, visits, waited)
			}
		}
		w.barrier.wait(t, now.round)

		then := turn{round: now.round + 1, window: never, way: w.barrier.report(0, now.round).way}
		messages := int64(0)
		for i := range w.cores {
			s := w.barrier.report(i, now.round)
			then.window = min(then.window, s.next)
			messages += s.messages
		}
		if w.link != nil {
			if t == 0 {
				w.exchange(notice{next: then.window, messages: messages})
			}
			w.barrier.follow(t, now.round)
			then.window, messages = w.others.next, w.others.messages
		}
		if now = then; t == 0 {
			w.report(now, messages)
		}
		if now.over() || now.way != together {
			return now
		}
	}
}

// alone carries out rounds of all hosts, until the run ends or goes on in another way.
func (w *windows) alone(now turn) turn {
	for {
		then := turn{round: now.round + 1, window: never, way: now.way}
		if w.link != nil {
			for _, core := range w.cores {
				core.beginRound(now.round)
				core.takeArrived()
			}
		}
		then.window = w.carryOutAll(now)
		for ahead := 0; ahead < farthest && then.window >= 0 && then.window < never && then.window <= w.reached(); ahead++ {
			then.window = w.carryOutAll(then)
		}
		if w.interrupted(now.round) {
			then.window = stopAll
		}
		messages := int64(0)
		switch {
		case w.link != nil:
			w.exchange(w.noticeAlone(then.window))
			then.window, messages = w.others.next, w.others.messages
		case then.round&reportMask == 0:
			messages, _ = w.progress()
		}
		if now.round >= w.look && len(w.cores) > 1 {
			_, visits := w.progress()
			then.way, w.look = w.pace.next(now.round, visits, w.barrier.waited())
		}
		w.report(then, messages)
		if then.over() || then.way != now.way {
			return then
		}
		now = then
	}
}

// collect takes what the other cores have sent to a core in a round, and what has come from other
// processes. It acts after the window of that round, so it does not matter to which window the
// calendar of the core has come.
func (w *windows) collect(t, round int) {
	for from := range w.cores {
		if w.barrier.report(from, round).whom&threadBit(t) != 0 {
			w.cores[t].collect(from, round)
		}
	}
	if w.link != nil {
		w.cores[t].takeArrived()
	}
}

// carryOut carries out one window of a core, if it has something to do in it.
func (w *windows) carryOut(t int, now turn) bool {
	switch {
	case now.window == start:
		w.cores[t].begin()
	case w.cals[t].next() == now.window:
		w.cals[t].advance(now.window)
	default:
		return false
	}
	w.cores[t].runWindow()
	return true
}

// carryOutAll carries out one window of all hosts and returns the next one, or stopAll.
func (w *windows) carryOutAll(now turn) (next int64) {
	next = never
	for t, core := range w.active {
		if w.carryOut(t, now) && core.failed() {
			next = stopAll
		}
	}
	for _, c := range w.cals[:len(w.active)] {
		next = min(next, c.next())
	}
	return next
}

// farthest is how many windows a process goes ahead at most before it listens to the others again.
const farthest = 1024

// reached returns the last window that this process may carry out before the next exchange. The others have nothing to
// do before the window that they have named, or before a message of this process acts; what they send then acts in a
// later window.
func (w *windows) reached() int64 {
	if w.link == nil {
		return stopAll
	}
	last := w.horizon
	for t, core := range w.cores {
		if s, _ := core.post(); s.acts != never {
			last = min(last, s.acts/w.cals[t].width)
		}
	}
	return last
}

// interrupted looks from time to time whether the run was interrupted. With other processes the
// exchange does.
func (w *windows) interrupted(round int) bool {
	return w.link == nil && round&63 == 0 && w.ctx.Err() != nil
}

// noticeAlone is what a process with one thread at work sends to the others.
func (w *windows) noticeAlone(next int64) notice {
	n := notice{next: next}
	for t, core := range w.cores {
		s, _ := core.post()
		n.next = min(n.next, w.cals[t].nextWith(s.acts))
	}
	n.messages, _ = w.progress()
	return n
}

// exchange ends a round of all processes. An interrupt ends it too.
func (w *windows) exchange(mine notice) {
	w.others = notice{next: never}
	all, err := w.link.exchange(mine, w.ports)
	if err != nil {
		w.err = err
		w.others.next = stopAll
		return
	}
	w.horizon = never
	for i := range all {
		w.others.next = min(w.others.next, all[i].next)
		w.others.messages += all[i].messages
		if i != w.link.group.Rank() {
			w.horizon = min(w.horizon, all[i].next)
		}
	}
	w.horizon = w.reached()
}

// progress returns the numbers of messages and visits of all cores so far.
func (w *windows) progress() (messages, visits int64) {
	for _, core := range w.cores {
		m, v := core.progress()
		messages += m
		visits += v
	}
	return messages, visits
}

// reportMask has the bits that are 0 in the number of a round after which progress is shown.
const reportMask = 1<<10 - 1

func (w *windows) report(now turn, messages int64) {
	if now.round&reportMask == 0 {
		w.tick(w.cals[0].end(), messages)
	}
}
