package simulate

import (
	"context"
	"sync"
	"sync/atomic"
)

// The window engine. A message that is sent at t acts on another host no earlier than t + o + L.
// Time is cut into windows of the smallest o + L; inside a window hosts cannot affect each other
// and are carried out one after the other, in any order, on any thread, with the same result.
//
// Each thread owns a stretch of hosts. Messages to hosts of other threads are handed over at the
// end of the window; there is one barrier per window.

// windowCore carries out the events of the hosts of one thread.
type windowCore interface {
	// begin makes the ranks of all hosts ready and wakes the hosts that have something to do.
	begin()
	// runWindow carries out the events of the hosts that the calendar names for the present
	// window.
	runWindow()
	// sent returns the earliest time at which a message acts that was sent to another thread in
	// this round (never if there is none).
	sent() int64
	// collect takes the messages that the other threads sent in the round before.
	collect(round int)
	// setRound tells the number of the round that begins; messages to other threads go to the
	// buffers of that round.
	setRound(round int)
	cal() *calendar
	// failed reports whether the run cannot go on.
	failed() bool
	// progress returns the number of messages so far.
	progress() int64
}

// runWindows runs the cores, one thread each, until no host has anything left to do.
func runWindows(ctx context.Context, cores []windowCore, tick func(now, messages int64)) error {
	shared := &windowsShared{
		next:  [2][]paddedInt{make([]paddedInt, len(cores)), make([]paddedInt, len(cores))},
		count: make([]paddedInt, len(cores)),
	}
	shared.barrier.threads = int32(len(cores))
	var wait sync.WaitGroup
	for t := range cores {
		if t == 0 {
			continue
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			shared.work(ctx, cores[t], t, nil)
		}()
	}
	shared.work(ctx, cores[0], 0, tick)
	wait.Wait()
	return ctx.Err()
}

// windowsShared is what the threads of a run share. The next windows are kept twice, by round, so
// that one barrier per window is enough.
type windowsShared struct {
	barrier barrier
	next    [2][]paddedInt // by thread
	count   []paddedInt    // messages so far, by thread
}

// stopAll in the place of a next window ends the run for all threads, in the same round.
const stopAll = -1

// paddedInt is an int64 on a cache line of its own.
type paddedInt struct {
	v int64
	_ [56]byte
}

// work is what one thread does.
func (s *windowsShared) work(ctx context.Context, core windowCore, thread int, tick func(now, messages int64)) {
	c := core.cal()
	core.setRound(0)
	core.begin()
	for round := 1; ; round++ {
		core.runWindow()
		next := c.next()
		if at := core.sent(); at != never {
			next = min(next, at/c.width)
		}
		if core.failed() || ctx.Err() != nil {
			next = stopAll
		}
		side := s.next[round&1]
		side[thread].v = next
		atomic.StoreInt64(&s.count[thread].v, core.progress())
		s.barrier.wait()
		for i := range side {
			next = min(next, side[i].v)
		}
		if next == never || next == stopAll {
			return
		}
		if tick != nil && round&1023 == 0 {
			messages := int64(0)
			for i := range s.count {
				messages += atomic.LoadInt64(&s.count[i].v)
			}
			tick(c.end(), messages)
		}
		c.advance(next)
		core.setRound(round)
		core.collect(round - 1)
	}
}
