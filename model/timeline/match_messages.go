package timeline

import "slackline/model/unit"

// listed is how many of the things that have no partner are listed; all are counted.
const listed = 20

// channel is what a receive can choose its message by: between the same two ranks, messages with the
// same communicator and tag do not overtake each other.
type channel struct{ from, comm, tag int32 }

// matchMessages finds the send of every receive: on every channel the k-th send belongs to the
// receive that was posted as the k-th.
func (f *finisher) matchMessages() {
	runs := make([][]run, len(f.locations))
	f.each(len(f.locations), func(i int) { runs[i] = f.resolve(int32(i)) })
	to := byKey(runs, f.t.Ranks)
	f.each(f.t.Ranks, func(rank int) { f.receiveAll(rank, to[rank]) })

	counts, first := make([]int, len(f.locations)), 0
	f.each(len(f.locations), func(i int) { counts[i] = f.countMatched(f.locations[i]) })
	for i, n := range counts {
		counts[i], first = first, first+n
	}
	f.t.Messages = make([]Message, first)
	worst := make([]violations, len(f.locations))
	f.each(len(f.locations), func(i int) { worst[i] = f.fillMessages(int32(i), counts[i]) })
	for _, w := range worst {
		f.t.Problems.Violations += w.count
		f.t.Problems.WorstViolation = max(f.t.Problems.WorstViolation, w.worst)
	}
	f.listUnmatched()
}

// resolve replaces the peers of a location's messages by world ranks and groups its sends by them.
func (f *finisher) resolve(location int32) []run {
	l := f.locations[location]
	for i := range l.receives {
		r := &l.receives[i]
		if r.state == done {
			r.peer = f.world(l.rank, r.comm, r.peer)
		}
	}
	for i := range l.sends {
		s := &l.sends[i]
		s.peer = f.world(l.rank, s.comm, s.peer)
	}
	return runsOf(location, len(l.sends), f.t.Ranks, func(i int) int32 {
		if l.sends[i].state == dropped {
			return nobody
		}
		return l.sends[i].peer
	})
}

// receiveAll finds the sends of all receives of a rank among the runs of sends to it.
func (f *finisher) receiveAll(rank int, runs []run) {
	if len(runs) == 0 {
		return
	}
	box := newMailbox()
	var sends []ref
	for len(runs) > 0 {
		n := f.sameRank(runs)
		sends = merge(sends, runs[:n], func(s ref) unit.Duration { return f.send(s).time })
		runs = runs[n:]
	}
	for _, s := range sends {
		send := f.send(s)
		box.count(channel{int32(f.locations[s.location].rank), send.comm, send.tag})
	}
	box.fill(sends)
	f.receivesOf(rank, func(location int32, r *receive) {
		if r.state != done || r.peer == nobody {
			return
		}
		s, ok := box.next(channel{r.peer, r.comm, r.tag})
		if !ok {
			return
		}
		r.from, r.send, r.state = s.location, s.record, matched
		f.send(s).state = matched
	})
}

// receivesOf calls visit for the receives of a rank in the order of their posting.
func (f *finisher) receivesOf(rank int, visit func(location int32, r *receive)) {
	var runs []run
	for _, location := range f.byRank[rank] {
		if n := len(f.locations[location].receives); n > 0 {
			runs = append(runs, run{location: location})
		}
	}
	if len(runs) == 1 {
		l := f.locations[runs[0].location]
		for i := range l.receives {
			visit(runs[0].location, &l.receives[i])
		}
		return
	}
	for j := range runs {
		runs[j].records = make([]int32, len(f.locations[runs[j].location].receives))
		for i := range runs[j].records {
			runs[j].records[i] = int32(i)
		}
	}
	for _, r := range merge(nil, runs, func(r ref) unit.Duration { return f.receive(r).posted }) {
		visit(r.location, f.receive(r))
	}
}

func (f *finisher) send(r ref) *send       { return &f.locations[r.location].sends[r.record] }
func (f *finisher) receive(r ref) *receive { return &f.locations[r.location].receives[r.record] }

// mailbox holds the sends to a rank by channel.
type mailbox struct {
	number  map[channel]int32
	of      []int32 // channel of each send, in the order of count
	starts  []int32 // by channel: its next send
	ends    []int32
	ordered []ref
	last    channel
	lastNo  int32
}

func newMailbox() *mailbox { return &mailbox{number: map[channel]int32{}, lastNo: -1} }

// count announces a send on a channel.
func (m *mailbox) count(c channel) {
	no := m.find(c, true)
	m.of = append(m.of, no)
	m.ends[no]++
}

// fill takes the announced sends, in the same order.
func (m *mailbox) fill(sends []ref) {
	m.ordered = make([]ref, len(sends))
	m.starts = make([]int32, len(m.ends))
	at := int32(0)
	for no, n := range m.ends {
		m.starts[no], m.ends[no] = at, at
		at += n
	}
	for i, s := range sends {
		no := m.of[i]
		m.ordered[m.ends[no]] = s
		m.ends[no]++
	}
}

// next takes the next send of a channel.
func (m *mailbox) next(c channel) (ref, bool) {
	no := m.find(c, false)
	if no < 0 || m.starts[no] == m.ends[no] {
		return ref{}, false
	}
	m.starts[no]++
	return m.ordered[m.starts[no]-1], true
}

// find returns the number of a channel; -1 if there is none and none is to be made.
func (m *mailbox) find(c channel, make bool) int32 {
	if m.lastNo >= 0 && m.last == c {
		return m.lastNo
	}
	no, ok := m.number[c]
	if !ok {
		if !make {
			return -1
		}
		no = int32(len(m.ends))
		m.number[c] = no
		m.ends = append(m.ends, 0)
	}
	m.last, m.lastNo = c, no
	return no
}

// countMatched counts the messages of a receiver that go into the timeline: those whose records are
// all inside of calls.
func (f *finisher) countMatched(l *LocationBuilder) int {
	n := 0
	for i := range l.receives {
		r := &l.receives[i]
		if r.state != matched {
			continue
		}
		if r.post < 0 || r.call < 0 || f.locations[r.from].sends[r.send].call < 0 {
			l.outside++
			continue
		}
		n++
	}
	return n
}

// violations are messages that were received before they were sent.
type violations struct {
	count int64
	worst unit.Duration
}

// fillMessages writes the messages of a receiver into the timeline, beginning at index at.
func (f *finisher) fillMessages(location int32, at int) (v violations) {
	l := f.locations[location]
	for i := range l.receives {
		r := &l.receives[i]
		if r.state != matched {
			continue
		}
		s := &f.locations[r.from].sends[r.send]
		if r.post < 0 || r.call < 0 || s.call < 0 {
			continue
		}
		f.t.Messages[at] = Message{
			From: r.from, To: location,
			Send: s.call, SendDone: s.done, SendDoneSeq: s.doneSeq,
			Post: r.post, Recv: r.call, RecvSeq: r.seq,
			Comm: s.comm, Tag: s.tag, Size: s.size,
			Sent: s.time, Received: r.time,
		}
		at++
		if early := s.time - r.time; early > 0 {
			v.count++
			v.worst = max(v.worst, early)
		}
	}
	return v
}

// listUnmatched counts the sends and receives without partner and lists the first ones.
func (f *finisher) listUnmatched() {
	p := &f.t.Problems
	for _, l := range f.locations {
		for i := range l.sends {
			s := &l.sends[i]
			if s.state != done {
				continue
			}
			if p.UnmatchedSends++; len(p.Sends) < listed {
				p.Sends = append(p.Sends, f.unmatched(l, s.call, s.peer, s.tag, s.comm, s.time))
			}
		}
		for i := range l.receives {
			r := &l.receives[i]
			if r.state != done {
				continue
			}
			if p.UnmatchedReceives++; len(p.Receives) < listed {
				p.Receives = append(p.Receives, f.unmatched(l, r.call, r.peer, r.tag, r.comm, r.time))
			}
		}
	}
}

func (f *finisher) unmatched(l *LocationBuilder, call, peer, tag, comm int32, t unit.Duration) Unmatched {
	return Unmatched{Rank: l.rank, Call: f.callName(l, call), Peer: int(peer), Tag: tag, Comm: comm, Time: t}
}

// callName is the name of the region of a call.
func (f *finisher) callName(l *LocationBuilder, call int32) string {
	if call < 0 {
		return "outside of any call"
	}
	r := f.t.Paths[l.calls.Path[call]].Region
	if int(r) >= len(f.t.Regions) {
		return "unknown region"
	}
	return f.t.Regions[r].Name
}
