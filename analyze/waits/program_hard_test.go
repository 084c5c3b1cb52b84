package waits

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// hardPlayer plays programs with what recorders know and the definitions leave out: threads that start late and end early, requests that
// other threads complete, times when recording was off, times without a CPU, sampled functions, cancelled, persistent and partitioned
// communication. Several processes must find in it what one finds.
type hardPlayer struct {
	*machine
	alive  map[*timeline.LocationBuilder]bool
	off    timeline.RegionID
	number int32 // of the next partitioned message
}

// hardBuilder makes a random run of such a program.
func hardBuilder(seed uint64) *timeline.Builder {
	m := newMachine(seed, 2+int(seed%5), 1+int(seed/5%3))
	h := &hardPlayer{machine: m, alive: map[*timeline.LocationBuilder]bool{}}
	h.off = h.b.Region(timeline.NotRecorded)
	m.decorate = h.decorate
	if seed%3 == 0 {
		for i := range m.skew {
			m.skew[i] = m.tick(60)
		}
	}
	for _, p := range m.procs {
		for i, l := range p.threads {
			l.SetClockError(h.at(0, h.tick(20)) - h.at(0, 0))
			if i > 0 && h.rnd.IntN(2) == 0 {
				h.begin(p, l)
			}
		}
		m.enter(p.on(), p.rank, p.now, "main")
	}
	if seed%4 > 0 {
		m.everyone("MPI_Init")
	}
	for range 120 {
		h.hardStep()
	}
	m.end()
	if seed%7 > 0 {
		m.everyone("MPI_Finalize")
	}
	for _, p := range m.procs {
		p.on().Leave(m.at(p.rank, p.now))
	}
	return m.b
}

// decorate says more of a call that is about to end.
func (h *hardPlayer) decorate(p *proc, l *timeline.LocationBuilder, name string, enter unit.Duration) {
	if timeline.IsTest(name) && h.rnd.IntN(2) == 0 {
		l.Polls(int64(1 + h.rnd.IntN(5)))
	}
	if d := p.now - enter; d > 0 && h.rnd.IntN(6) == 0 {
		l.NoCPU(h.at(p.rank, p.now-h.tick(int(d))), h.at(0, 1+h.tick(int(d)))-h.at(0, 0))
	}
}

// begin starts the thread of a location unless there is one.
func (h *hardPlayer) begin(p *proc, l *timeline.LocationBuilder) {
	if l != p.threads[0] && !h.alive[l] {
		l.ThreadBegin(h.at(p.rank, p.now))
		h.alive[l] = true
	}
}

// endSome ends some threads that do nothing now.
func (h *hardPlayer) endSome(p *proc) {
	for _, l := range p.threads[1:] {
		if h.alive[l] && h.rnd.IntN(3) == 0 {
			l.ThreadEnd(h.at(p.rank, p.now))
			h.alive[l] = false
		}
	}
}

func (h *hardPlayer) hardStep() {
	n := len(h.procs)
	from := h.rnd.IntN(n)
	to := (from + 1 + h.rnd.IntN(n-1)) % n
	p := h.procs[from]
	switch h.rnd.IntN(12) {
	case 0:
		for _, l := range p.threads {
			h.begin(p, l)
		}
		h.parallel(p)
		h.endSome(p)
	case 1, 2:
		for _, p := range h.procs {
			p.talks = h.rnd.IntN(len(p.threads))
			h.begin(p, p.on())
		}
		for range 1 + h.rnd.IntN(3) {
			p.now = h.compute(p.on(), p.rank, p.now, 1)
			h.message(from, to)
			h.collective()
			if h.rnd.IntN(2) == 0 {
				h.complete(p, true)
			}
		}
		for _, p := range h.procs {
			p.talks = 0
			h.endSome(p)
		}
	case 3:
		h.partitioned(from, to)
	case 4:
		h.cancelled(p)
	case 5:
		h.unrecorded(from, to)
	case 6:
		h.sampled(p)
	default:
		h.step()
	}
}

// partitioned lets a rank send a message in parts, with a persistent receive at the other end.
func (h *hardPlayer) partitioned(from, to int) {
	h.number++
	number, sender, receiver := h.number%3+1, h.procs[from], h.procs[to]
	key := queueKey{int32(from), int32(to), -number, 1}
	q := h.queue(key)
	h.call(receiver, "MPI_Start", func(enter unit.Duration) unit.Duration {
		r, id := h.newRequest(receiver, func(id uint64, t unit.Duration) {
			receiver.on().PartitionedDone(t, int32(from), 0, 1, number, id)
		})
		receiver.on().Post(h.at(to, enter), id)
		offer(&q.receives, &q.sends, &end{enter: enter, meet: func(partner unit.Duration) { r.matched, r.ready = true, max(enter, partner) }})
		return enter + h.tick(3)
	})
	h.call(sender, "MPI_Pready", func(enter unit.Duration) unit.Duration {
		r, id := h.newRequest(sender, func(id uint64, t unit.Duration) { sender.on().IsendDone(t, id) })
		sender.on().PartitionedSend(h.at(from, enter), int32(to), 0, 1, number, 8, id)
		offer(&q.sends, &q.receives, &end{enter: enter, meet: func(partner unit.Duration) { r.matched, r.ready = true, max(enter, partner) }})
		return enter + h.tick(3)
	})
}

// cancelled lets a rank begin something that it cancels.
func (h *hardPlayer) cancelled(p *proc) {
	h.next++
	id, peer := h.next, int32(h.rnd.IntN(len(h.procs)))
	send := h.rnd.IntN(2) == 0
	h.call(p, "MPI_Start", func(enter unit.Duration) unit.Duration {
		if send {
			p.on().Isend(h.at(p.rank, enter), peer, 0, int32(h.rnd.IntN(2)), 8, id)
		} else {
			p.on().Post(h.at(p.rank, enter), id)
		}
		return enter + h.tick(3)
	})
	h.call(p, "MPI_Wait", func(enter unit.Duration) unit.Duration {
		p.on().Cancel(h.at(p.rank, enter), id)
		return enter + h.tick(3)
	})
}

// unrecorded lets a rank go unrecorded for a time in which it sends and makes a collective; or it misses nothing.
func (h *hardPlayer) unrecorded(from, to int) {
	p := h.procs[from]
	l := p.on()
	l.Leave(h.at(from, p.now))
	l.Off(h.at(from, p.now), h.off)
	p.now += h.tick(30)
	if h.rnd.IntN(2) == 0 {
		l.SkipSends(h.at(from, p.now), int32(to), 0, 7, 1)
		h.call(h.procs[to], "MPI_Recv", func(enter unit.Duration) unit.Duration {
			h.procs[to].on().Recv(h.at(to, enter+1), int32(from), 0, 7, 8)
			return enter + 1
		})
		l.SkipCollectives(h.at(from, p.now), 0, 1)
		for _, other := range h.procs {
			if other != p {
				h.call(other, "MPI_Barrier", func(enter unit.Duration) unit.Duration {
					other.on().Collective(h.at(other.rank, enter+2), timeline.OpBarrier, 0, -1, 0, 0, nil)
					return enter + 2
				})
			}
		}
	}
	l.On(h.at(from, p.now))
	h.entered[l]++ // the time when it was off is a call, too
	h.enter(l, from, p.now, "main")
}

// sampled lets a rank work in a function that samples saw.
func (h *hardPlayer) sampled(p *proc) {
	l := p.on()
	l.EnterSampled(h.at(p.rank, p.now), h.region("g"))
	h.entered[l]++
	l.Seen(1 + h.rnd.IntN(4))
	p.now = h.compute(l, p.rank, p.now, 1)
	l.Leave(h.at(p.rank, p.now))
}

// sharedBuilder makes a random run for tests of several processes: every other one is hard.
func sharedBuilder(seed uint64) *timeline.Builder {
	if seed%2 == 1 {
		return hardBuilder(seed / 2)
	}
	return randomBuilder(seed / 2)
}
