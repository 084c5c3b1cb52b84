package simulate

// How processes go through a window together when there are large messages. A release acts on its
// sender at once, so a window is a number of rounds with an exchange each:
//
//   - Every process lets its hosts go on as far as they may (lean_rendezvous.go). If no process has sent
//     a release to another process and no host has stopped, the window is done: one exchange, as
//     without large messages.
//   - If releases were sent, they are delivered and all go on in the same window.
//   - Else only stopped hosts are left, and the one with the smallest next key of all may go on.
//     Its process goes on alone, with the next one and the one after that, for as long as their
//     keys are smaller than those of all other processes and it sends no release to another.

// runLargeWindows is runWindows for a core with large messages, one for each process.
func runLargeWindows(l *lean, link *link, tick func(now, messages int64)) error {
	l.beginRound(0)
	l.begin()
	l.runUnstopped(l.calendar.end())
	for round := 1; ; round++ {
		notices, err := link.exchange(l.notice(), []*ports{&l.ports})
		if err != nil {
			return err
		}
		next, first, second, released, messages := summary(notices)
		if next == stopAll {
			return nil
		}
		l.beginRound(round)
		l.ports.take(l.arrive)
		switch {
		case released:
			l.runUnstopped(l.calendar.end())
		case first >= 0:
			if first == link.group.Rank() {
				l.runStopped(second)
			}
		case next == never:
			return nil
		default:
			l.calendar.advance(next)
			l.runUnstopped(l.calendar.end())
		}
		if round&1023 == 0 {
			tick(l.calendar.end(), messages)
		}
	}
}

// notice is what the core sends to the others when its hosts cannot go on by themselves.
func (l *lean) notice() notice {
	n := notice{next: l.calendar.next(), released: l.large.released}
	l.large.released = false
	if l.mail.acts != never {
		n.next = min(n.next, l.mail.acts/l.calendar.width)
	}
	if l.failed() {
		n.next = stopAll
	}
	n.messages, _ = l.progress()
	if s := l.large.firstStopped(); s != nil {
		key := *s
		key.host += l.firstHost
		n.stopped = &key
	}
	return n
}

// summary returns from what all processes have reported: the next window, which process has the stopped
// host with the smallest key (-1: none), the smallest key of the others, whether releases are under
// way, and the number of messages.
func summary(notices []notice) (next int64, first int, second *stoppedHost, released bool, messages int64) {
	next, first = never, -1
	for i := range notices {
		n := &notices[i]
		next = min(next, n.next)
		released = released || n.released
		messages += n.messages
		switch {
		case n.stopped == nil:
		case first < 0:
			first = i
		case stoppedBefore(n.stopped, notices[first].stopped):
			first, second = i, notices[first].stopped
		case second == nil || stoppedBefore(n.stopped, second):
			second = n.stopped
		}
	}
	return next, first, second, released, messages
}

// runStopped lets the stopped hosts go on in the order of their keys, up to the first one of another
// process and until a release goes to another process.
func (l *lean) runStopped(others *stoppedHost) {
	end := l.calendar.end()
	for !l.large.released && !l.failed() {
		top := l.large.firstStopped()
		if top == nil {
			return
		}
		key := *top
		key.host += l.firstHost
		if others != nil && !stoppedBefore(&key, others) {
			return
		}
		l.visitLarge(l.large.stopped.pop().host, end, true)
		l.runUnstopped(end)
	}
}
