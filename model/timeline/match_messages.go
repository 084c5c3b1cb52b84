package timeline

import (
	"slackline/internal/spill"
	"slackline/model/unit"
)

// listed is how many of the things that have no partner are listed; all are counted.
const listed = 20

// matchMessages finds the send of every receive: on every channel the k-th send belongs to the
// receive that was posted as the k-th. Those that were not recorded count.
func (f *finisher) matchMessages() {
	f.countUnseen()
	f.findSends(0, f.t.Ranks)
	f.collectMessages()
}

// findSends finds the send of every receive of the ranks first .. last-1.
func (f *finisher) findSends(first, last int) {
	sends := make([][]chain, len(f.locations))
	f.each(len(f.locations), func(i int) { sends[i] = f.chainsOf(int32(i)) })
	to := chainsTo(sends, f.t.Ranks)
	f.each(max(last-first, 0), func(i int) { f.receiveAll(first+i, to[first+i]) })
}

// collectMessages writes what was matched into the timeline, and says what was not.
func (f *finisher) collectMessages() {
	first, total := make([]int, len(f.locations)), 0
	for i, l := range f.locations {
		first[i], total = total, total+l.matched
	}
	f.t.Messages = spill.Make[Message](f.t.Space, total, total)
	worst := make([]violations, len(f.locations))
	f.each(len(f.locations), func(i int) { worst[i] = f.fillMessages(int32(i), first[i]) })
	for i, w := range worst {
		if !f.here(int32(i)) {
			continue
		}
		f.t.Problems.Violations += w.count
		f.t.Problems.WorstViolation = max(f.t.Problems.WorstViolation, w.worst)
	}
	f.listUnmatched()
	for _, l := range f.locations {
		l.sends.free(l.space)
		l.receives.free(l.space)
		l.sendChannels, l.receiveChannels, l.sendEnds = channelTable{}, channelTable{}, nil
	}
}

// chain is the sends of a location on a channel, of which the next one is send.
type chain struct {
	location, send int32
	to, comm, tag  int32 // to is a world rank
	partitioned    int32 // as in channel
}

// chainsOf returns the channels that a location sends on, those to a peer that does not exist left out.
func (f *finisher) chainsOf(location int32) []chain {
	l := f.locations[location]
	chains := make([]chain, 0, len(l.sendEnds))
	for no, c := range l.sendChannels.keys {
		if to := f.world(l.rank, c.comm, c.peer); to != noPeer {
			chains = append(chains, chain{location, l.sendEnds[no].first, to, c.comm, c.tag, c.partitioned})
		}
	}
	return chains
}

// chainsTo sorts chains by the rank that they go to, keeping the order of the locations.
func chainsTo(chains [][]chain, ranks int) [][]chain {
	ends := make([]int, ranks)
	total := 0
	for _, of := range chains {
		for i := range of {
			ends[of[i].to]++
		}
		total += len(of)
	}
	all, at, out := make([]chain, total), 0, make([][]chain, ranks)
	for rank, n := range ends {
		out[rank] = all[at : at : at+n]
		at += n
	}
	for _, of := range chains {
		for _, c := range of {
			out[c.to] = append(out[c.to], c)
		}
	}
	return out
}

// receiveAll finds the sends of all receives of a rank among the chains of sends to it.
func (f *finisher) receiveAll(rank int, chains []chain) {
	if len(chains) == 0 {
		return
	}
	var box mailbox
	mail := make([][]int32, len(f.byRank[rank])) // by location and channel of its receives
	for i, location := range f.byRank[rank] {
		keys := f.locations[location].receiveChannels.keys
		mail[i] = make([]int32, len(keys))
		for no, c := range keys {
			mail[i][no] = box.number(channel{f.world(rank, c.comm, c.peer), c.comm, c.tag, c.partitioned})
		}
	}
	box.sort(f, chains)
	if len(mail) == 1 {
		l := f.locations[f.byRank[rank][0]]
		l.receives.each(func(r *receive) {
			if r.state == done || r.state == skipped {
				f.take(l, r, box.partner(f, mail[0][r.channel], r))
			}
		})
		return
	}
	posts := f.postsOf(f.byRank[rank])
	for i := range posts {
		p := &posts[i]
		p.number = mail[p.index][p.channel]
		f.give(p.receive, box.partner(f, p.number, p.receive))
	}
	f.reorder(posts)
	for _, p := range posts {
		f.settle(f.locations[f.byRank[rank][p.index]], p.receive)
	}
}

// take gives a receive of a location the next send of a chain, if there is one.
func (f *finisher) take(l *LocationBuilder, r *receive, c *chain) {
	f.give(r, c)
	f.settle(l, r)
}

// give gives a receive the next send of a chain, if there is one; settle completes that.
func (f *finisher) give(r *receive, c *chain) {
	if c != nil {
		r.from, r.send, r.took = c.location, c.send, true
		c.send = f.locations[c.location].sends.at(c.send).next
	}
}

// settle makes a message of a receive of a location and the send that it was given. The message is left out
// if one of its records is outside of any call, or in a time when recording was off.
func (f *finisher) settle(l *LocationBuilder, r *receive) {
	if !r.took {
		return
	}
	s := f.locations[r.from].sends.at(r.send)
	s.state, r.state = matched, matched
	if s.size > r.size {
		l.tooLarge++
	}
	if r.post < 0 || r.call < 0 || s.call < 0 {
		r.state = dropped
		if f.isCut(int32(l.rank)) || f.isCut(int32(f.locations[r.from].rank)) {
			l.unrecorded++
		} else {
			l.outside++
		}
	} else {
		l.matched++
	}
}

// mailbox holds the sends to a rank by channel, whose peers are world ranks.
type mailbox struct {
	channelTable
	starts []int32 // by channel: where its chains begin; one for each sending location
	chains []chain
	// By channel: the number among all that the next send and the next receive have, recorded or not.
	sends, receives []int64
}

// sort puts the chains of the known channels together; the others are not received.
func (m *mailbox) sort(f *finisher, chains []chain) {
	numbers := make([]int32, len(chains))
	m.starts = make([]int32, len(m.keys)+1)
	m.sends, m.receives = make([]int64, len(m.keys)), make([]int64, len(m.keys))
	for i, c := range chains {
		numbers[i] = m.lookup(channel{int32(f.locations[c.location].rank), c.comm, c.tag, c.partitioned})
		if numbers[i] >= 0 {
			m.starts[numbers[i]]++
		}
	}
	total := int32(0)
	for no, n := range m.starts {
		total += n
		m.starts[no] = total
	}
	m.chains = make([]chain, total)
	for i := len(chains) - 1; i >= 0; i-- {
		if no := numbers[i]; no >= 0 {
			m.starts[no]--
			m.chains[m.starts[no]] = chains[i]
		}
	}
}

// partner returns the chain whose next send belongs to the next receive of a channel; nil if it was not recorded, or
// if the receive stands for some that were not.
func (m *mailbox) partner(f *finisher, number int32, r *receive) *chain {
	wanted := m.receives[number]
	if r.state == skipped {
		m.receives[number] += r.size
		return nil
	}
	m.receives[number]++
	for {
		c := m.next(f, number)
		at := m.sends[number]
		if c == nil || at > wanted {
			return nil
		}
		s := f.locations[c.location].sends.at(c.send)
		if s.state != skipped {
			if m.sends[number]++; at == wanted {
				return c
			}
		} else if at+s.size > wanted {
			return nil // one of those
		} else {
			m.sends[number] += s.size
		}
		c.send = s.next // its receive was not recorded
	}
}

// next returns the chain that the next send of a channel is on; nil if there is none. Of several
// locations the one that sent first comes first.
func (m *mailbox) next(f *finisher, number int32) *chain {
	var first *chain
	var earliest unit.Duration
	chains := m.chains[m.starts[number]:m.starts[number+1]]
	for i := range chains {
		c := &chains[i]
		f.skipDropped(c)
		if c.send < 0 {
			continue
		}
		if len(chains) == 1 {
			return c
		}
		if t := f.locations[c.location].sends.at(c.send).time; first == nil || t < earliest {
			first, earliest = c, t
		}
	}
	return first
}

// skipDropped leaves out sends that were cancelled.
func (f *finisher) skipDropped(c *chain) {
	sends := &f.locations[c.location].sends
	for c.send >= 0 && sends.at(c.send).state == dropped {
		c.send = sends.at(c.send).next
	}
}

// fillMessages writes the messages of a receiver into the timeline, beginning at index at.
func (f *finisher) fillMessages(location int32, at int) (v violations) {
	f.locations[location].receives.each(func(r *receive) {
		if r.state != matched {
			return
		}
		l := f.locations[r.from]
		s := l.sends.at(r.send)
		c := l.sendChannels.keys[s.channel]
		f.t.Messages[at] = Message{
			From: r.from, To: location,
			Send: s.call, SendDone: s.done, SendDoneSeq: s.doneSeq, DoneBy: s.by,
			Post: r.post, Recv: r.call, RecvSeq: r.seq, PostedBy: r.by,
			Comm: c.comm, Tag: c.tag, Channel: c.partitioned, Size: s.size,
			Sent: s.time, Received: r.time,
		}
		at++
		v.note(s.time - r.time)
	})
	return v
}

// listUnmatched counts the sends and receives without partner and lists the first ones.
func (f *finisher) listUnmatched() {
	p := &f.t.Problems
	first, last := f.t.Whole()
	for _, l := range f.locations[first:last] {
		p.CutMessages += l.unrecorded
		note := func(c channel, call int32, at unit.Duration, count *int64, list *[]Unmatched) {
			if f.isCut(f.world(l.rank, c.comm, c.peer)) {
				p.CutMessages++
			} else if *count++; len(*list) < listed {
				*list = append(*list, f.unmatched(l, c, call, at))
			}
		}
		l.sends.each(func(s *send) {
			if s.state == done {
				note(l.sendChannels.keys[s.channel], s.call, s.time, &p.UnmatchedSends, &p.Sends)
			}
		})
		l.receives.each(func(r *receive) {
			if r.state == done {
				note(l.receiveChannels.keys[r.channel], r.call, r.time, &p.UnmatchedReceives, &p.Receives)
			}
		})
	}
}

func (f *finisher) unmatched(l *LocationBuilder, c channel, call int32, t unit.Duration) Unmatched {
	peer := f.world(l.rank, c.comm, c.peer)
	return Unmatched{Rank: l.rank, Call: f.callName(l, call), Peer: int(peer), Tag: c.tag, Comm: c.comm, Time: t}
}

// callName is the name of the region of a call.
func (f *finisher) callName(l *LocationBuilder, call int32) string {
	if call < 0 {
		return "outside of any call"
	}
	return f.pathName(l.calls.Path[call])
}

// pathName is the name of the region that a path ends in.
func (f *finisher) pathName(p PathID) string {
	r := f.t.Paths[p].Region
	if int(r) >= len(f.t.Regions) {
		return "unknown region"
	}
	return f.t.Regions[r].Name
}
