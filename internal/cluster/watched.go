package cluster

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// Whether going in lockstep pays. Processes that do so exchange something at the end of every step. If a step holds
// little work, or the network is slow, that takes longer than the work that the others save: one process would be
// faster. Process 0 finds out while they run. It knows how long each step took, and all report how long they
// worked in it; one process would have needed the sum, with as many threads. When the processes have lost more than
// one would have needed for all of it, and still lose, process 0 stops all, in an exchange, so that all know it
// at the same moment. What has been done is dropped: process 0 can start again, alone. Work that has short steps at first
// and longer ones later loses little until then, for short steps pass quickly.
//
// Where processes have cores of their own, each works all of the time between two exchanges. Where they share cores, a
// process also waits for its turn while another one works, and that must not count twice: there CPU time is work.

// losable is how long processes may lose time before they stop: long enough for a disturbance, and short for a user
// who waits.
const losable = 250 * time.Millisecond

// SlowerError is what Exchange of a watched group returns, on all processes, when one would be faster. Its numbers are
// those of process 0.
type SlowerError struct {
	Exchanges int64
	Took      time.Duration // what they took, with the work before each of them
	Alone     time.Duration // what one process would have needed for the work
}

func (e *SlowerError) Error() string {
	return fmt.Sprintf("%d steps took %s, but one process would have needed %s for them", e.Exchanges, e.Took, e.Alone)
}

// Watched is a group whose exchanges are watched. Between them its processes work; they do not wait for anything else.
type Watched struct {
	Group
	balance
	out   [][]byte // with what this process reports first
	now   func() time.Time
	cpu   func() time.Duration // that this process has used; nil: its cores are its own
	begun time.Time
	used  time.Duration // CPU time at that moment
}

// Watch watches the exchanges of a group from now on. All processes do; one that shares its cores with others of the
// group tells how much CPU time it has used. Process 0 asks leave, once, before it stops them: whether it can do without
// the others.
func Watch(g Group, cpu func() time.Duration, leave func() bool) *Watched {
	w := &Watched{Group: g, balance: balance{leave: leave}, out: make([][]byte, g.Size()), now: time.Now, cpu: cpu}
	w.begin(w.now())
	return w
}

// begin begins a step.
func (w *Watched) begin(now time.Time) {
	w.begun = now
	if w.cpu != nil {
		w.used = w.cpu()
	}
}

// worked is how long this process has worked in this step; threads of one process work at the same time.
func (w *Watched) worked() time.Duration {
	all := w.now().Sub(w.begun)
	if w.cpu != nil {
		all = min(all, w.cpu()-w.used)
	}
	return max(all, 0)
}

// Exchange is that of Group. Every part for process 0 starts with how long its sender has worked, every part that process
// 0 gives to others with whether they stop.
func (w *Watched) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if err := checkExchange(out, w.Size()); err != nil {
		return nil, err
	}
	worked, first := w.worked(), w.Rank() == 0
	for p, part := range out {
		switch {
		case p == 0:
			part = append(binary.AppendUvarint(w.out[p][:0], uint64(worked)), part...)
		case first && w.stop:
			part = append(append(w.out[p][:0], 1), part...)
		case first:
			part = append(append(w.out[p][:0], 0), part...)
		}
		w.out[p] = part
	}
	in, err := w.Group.Exchange(ctx, w.out)
	if !first {
		clear(w.out[1:]) // these are the caller's
	}
	if err != nil {
		return nil, err
	}
	stop, all := w.stop, time.Duration(0)
	for p, part := range in {
		n := 0
		switch {
		case first:
			var worked uint64
			worked, n = binary.Uvarint(part)
			all += time.Duration(worked)
		case p == 0 && len(part) > 0:
			stop, n = part[0] == 1, 1
		case p > 0:
			continue
		}
		if n <= 0 {
			return nil, ErrGarbled
		}
		in[p] = part[n:]
	}
	if stop {
		return nil, &SlowerError{w.steps, w.took, w.alone}
	}
	now := w.now()
	if first {
		w.add(now.Sub(w.begun), all)
	}
	w.begin(now)
	return in, nil
}

// balance is what working together costs and saves.
type balance struct {
	leave func() bool // nil: it has been asked
	stop  bool

	steps       int64
	took, alone time.Duration // so far
	// The same when steps was the last power of two.
	tookBefore, aloneBefore time.Duration
}

// add takes in a step, and decides whether to stop.
func (b *balance) add(took, alone time.Duration) {
	b.steps++
	b.took += took
	b.alone += alone
	if b.leave != nil && b.took-b.alone > losable+b.alone && b.took-b.tookBefore > b.alone-b.aloneBefore {
		b.stop = b.leave()
		b.leave = nil
	}
	if b.steps&(b.steps-1) == 0 {
		b.tookBefore, b.aloneBefore = b.took, b.alone
	}
}
