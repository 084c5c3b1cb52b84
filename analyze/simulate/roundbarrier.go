package simulate

import (
	"sync/atomic"
	"time"

	"slackline/internal/spin"
)

// roundBarrier is where the threads of the window engine wait for each other at the end of a round. Each
// writes its own report, marks it with the number of the round, and waits until those of all others
// are marked: a write and a look for each thread, no lock, nothing that all of them write. Reports are
// kept twice by round: a thread can write that of the next round while others still read this one.
type roundBarrier struct {
	reports [2][]roundReport
	waits   []waiter
	led     atomic.Int64 // the round, plus 1, for which the first thread has done what the others wait for
}

// roundReport is what a thread reports at the end of a round, on cache lines of its own.
type roundReport struct {
	round            atomic.Int64 // plus 1
	next             int64        // first window in which one of its hosts or receivers has work
	messages, visits int64        // so far
	waited           int64        // nanoseconds so far, for others
	whom             uint64       // which threads get messages; see sent
	way              way          // of the first thread: how the threads go on
	_                [72]byte
}

func newRoundBarrier(threads int) roundBarrier {
	return roundBarrier{
		reports: [2][]roundReport{make([]roundReport, threads), make([]roundReport, threads)},
		waits:   make([]waiter, threads),
	}
}

// report returns the report of a thread about a round or, if it has made none, about the last one
// with the same parity.
func (m *roundBarrier) report(t, round int) *roundReport { return &m.reports[round&1][t] }

// sums returns the visits and the waiting time of all threads up to a round that has ended.
func (m *roundBarrier) sums(round int) (visits, waited int64) {
	for i := range m.reports[round&1] {
		r := &m.reports[round&1][i]
		visits += r.visits
		waited += r.waited
	}
	return visits, waited
}

// waited is the waiting time of all threads, for one that is alone.
func (m *roundBarrier) waited() (sum int64) {
	for t := range m.waits {
		sum += m.waits[t].total
	}
	return sum
}

// forget takes back which threads get messages, when they have been collected.
func (m *roundBarrier) forget() {
	for side := range m.reports {
		for t := range m.reports[side] {
			m.reports[side][t].whom = 0
		}
	}
}

// wait ends a round of a thread whose report is complete.
func (m *roundBarrier) wait(t, round int) {
	mine, w := m.report(t, round), &m.waits[t]
	mine.waited = w.total
	mine.round.Store(int64(round) + 1)
	for i := range m.reports[round&1] {
		if r := &m.reports[round&1][i]; r.round.Load() <= int64(round) {
			w.until(&r.round, int64(round)+1)
		}
	}
}

// follow waits until the first thread has done something after a barrier that the others need.
func (m *roundBarrier) follow(t, round int) {
	if t == 0 {
		m.led.Store(int64(round) + 1)
	} else {
		m.waits[t].until(&m.led, int64(round)+1)
	}
}

// waiter is how a thread waits for others, and for how long it has. Windows are short, so it looks
// again and again; when it has waited for long it lets others run.
type waiter struct {
	total int64 // nanoseconds
	_     [120]byte
}

// looks is how often a thread looks before it yields (some tens of microseconds), awake how long it has waited when it sleeps:
// then some other thread has lost its core. To sleep sooner would be expensive, for a nap takes ten times as long as it should: the
// others then wait for the thread that sleeps, sleep in turn, and so on.
const (
	looks = 1500
	awake = time.Millisecond
	nap   = 20 * time.Microsecond
)

// until waits until a mark is set.
func (w *waiter) until(mark *atomic.Int64, value int64) {
	from := time.Now()
	for i := 0; mark.Load() < value; i++ {
		switch {
		case i < looks:
			spin.Pause()
		case time.Since(from) < awake:
			spin.Yield()
		default:
			time.Sleep(nap)
		}
	}
	w.total += int64(time.Since(from))
}
