package timeline

import (
	"encoding/binary"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// remoteChain is a chain of sends that came from another process.
type remoteChain struct {
	location int32
	channel  int32 // of its builder here
}

// matchMessages finds the send of every receive of this process, and the receive of every send.
func (x *partExchange) matchMessages() error {
	x.countUnseen()
	chains, err := x.shareSends()
	if err != nil {
		return err
	}
	x.findSends(x.Ranks[x.Group.Rank()], min(x.Ranks[x.Group.Rank()+1], x.t.Ranks))
	if err := x.answerSends(chains); err != nil {
		return err
	}
	x.collectMessages()
	return nil
}

// eachSend calls visit for the sends of a channel that were not cancelled.
func (l *LocationBuilder) eachSend(channel int32, visit func(number int32, s *send)) int {
	count := 0
	for i := l.sendEnds[channel].first; i >= 0; {
		s := l.sends.at(i)
		if s.state != dropped {
			visit(i, s)
			count++
		}
		i = s.next
	}
	return count
}

// destination is the process that receives on a channel of a location here; -1: this one, or none.
func (x *partExchange) destination(l *LocationBuilder, c channel) int {
	to := x.world(l.rank, c.comm, c.peer)
	if to == noPeer {
		return -1
	}
	if p := x.Owner(int(to)); p != x.Group.Rank() {
		return p
	}
	return -1
}

// shareSends sends other processes what was sent to their ranks.
func (x *partExchange) shareSends() ([][]remoteChain, error) {
	out := make([][]byte, x.Group.Size())
	for i := x.First; i < x.Last; i++ {
		l := x.locations[i]
		for no, c := range l.sendChannels.keys {
			p := x.destination(l, c)
			if p < 0 {
				continue
			}
			n := l.eachSend(int32(no), func(int32, *send) {})
			if n == 0 {
				continue
			}
			b := binary.AppendUvarint(out[p], uint64(i))
			b = chunk.AppendInt(chunk.AppendInt(chunk.AppendInt(b, int64(c.peer)), int64(c.comm)), int64(c.tag))
			b = chunk.AppendInt(b, int64(c.partitioned))
			b = binary.AppendUvarint(b, uint64(n))
			last := send{}
			l.eachSend(int32(no), func(_ int32, s *send) {
				skips := byte(0)
				if s.state == skipped {
					skips = 1
				}
				b = chunk.AppendInt(append(b, skips), int64(s.time-last.time))
				b = chunk.AppendInt(b, s.size)
				b = chunk.AppendInt(b, int64(s.call-last.call))
				b = chunk.AppendInt(b, int64(s.done-s.call))
				b = chunk.AppendInt(b, int64(s.doneSeq-last.doneSeq))
				b = chunk.AppendInt(b, int64(s.by))
				last = *s
			})
			out[p] = b
		}
	}
	chains := make([][]remoteChain, len(out))
	return chains, x.exchange(x.ctx, out, func(from int, b []byte) (ok bool) {
		chains[from], ok = x.takeSends(b)
		return ok
	})
}

// takeSends gives the locations of another process what they sent to this one.
func (x *partExchange) takeSends(b []byte) (chains []remoteChain, ok bool) {
	c := chunk.Column{B: b}
	for c.Left() > 0 {
		location := c.Uint()
		key := channel{int32(c.Int()), int32(c.Int()), int32(c.Int()), int32(c.Int())}
		n := c.Uint()
		if c.Bad || location >= uint64(len(x.locations)) || x.here(int32(location)) || n == 0 || n > uint64(c.Left()) {
			return nil, false
		}
		l := x.locations[location]
		last := send{}
		for range n {
			s := l.addSend(key)
			if c.Byte() == 1 {
				s.state = skipped
			}
			s.time = last.time + unit.Duration(c.Int())
			s.size = c.Int()
			s.call = last.call + int32(c.Int())
			s.done = s.call + int32(c.Int())
			s.doneSeq = last.doneSeq + int32(c.Int())
			s.by = int16(c.Int())
			if c.Bad || !x.sameRank(int32(location), s.by) {
				return nil, false
			}
			last = *s
		}
		chains = append(chains, remoteChain{int32(location), l.sendChannels.number(key)})
	}
	return chains, true
}

// What became of a send at its receiver.
const (
	noReceive uint64 = iota
	received
	leftOut // the message has a record outside of any call
)

// answerSends sends the senders in other processes which receives took their messages.
func (x *partExchange) answerSends(chains [][]remoteChain) error {
	takers := x.takers()
	out := make([][]byte, len(chains))
	for p, list := range chains {
		b := out[p]
		for _, c := range list {
			l := x.locations[c.location]
			last := receive{}
			l.eachSend(c.channel, func(number int32, s *send) {
				t := takers[c.location][number]
				if s.state != matched || t.location < 0 {
					b = binary.AppendUvarint(b, noReceive)
					return
				}
				r := x.locations[t.location].receives.at(t.record)
				if r.state != matched {
					b = binary.AppendUvarint(b, leftOut)
					return
				}
				b = binary.AppendUvarint(b, received)
				b = binary.AppendUvarint(b, uint64(t.location))
				b = binary.AppendUvarint(b, uint64(t.record))
				b = chunk.AppendInt(b, int64(r.time-last.time))
				b = chunk.AppendInt(b, int64(r.post-last.post))
				b = chunk.AppendInt(b, int64(r.call-r.post))
				b = chunk.AppendInt(b, int64(r.seq-last.seq))
				b = chunk.AppendInt(b, int64(r.by))
				last = *r
			})
		}
		out[p] = b
	}
	in, err := x.Group.Exchange(x.ctx, out)
	if err != nil {
		return err
	}
	return x.takeAnswers(in)
}

// takers finds out which receives here took the sends of other processes: by location and number of the send.
func (x *partExchange) takers() [][]ref {
	takers := make([][]ref, len(x.locations))
	for i, l := range x.locations {
		if !x.here(int32(i)) && l.sends.n > 0 {
			takers[i] = make([]ref, l.sends.n)
			for k := range takers[i] {
				takers[i][k].location = -1
			}
		}
	}
	for i := x.First; i < x.Last; i++ {
		number := int32(0)
		x.locations[i].receives.each(func(r *receive) {
			if (r.state == matched || r.state == dropped && r.took) && !x.here(r.from) {
				takers[r.from][r.send] = ref{int32(i), number}
			}
			number++
		})
	}
	return takers
}

// taken is a receive of another process that took a message from here.
type taken struct {
	receive
	location, number int32
}

// takeAnswers notes which messages were received by other processes.
func (x *partExchange) takeAnswers(in [][]byte) error {
	columns := make([]chunk.Column, len(in))
	for p := range in {
		columns[p].B = in[p]
	}
	var all []taken
	for i := x.First; i < x.Last; i++ {
		l := x.locations[i]
		for no, c := range l.sendChannels.keys {
			p := x.destination(l, c)
			if p < 0 {
				continue
			}
			answers, last := &columns[p], receive{}
			l.eachSend(int32(no), func(number int32, s *send) {
				switch answers.Uint() {
				case leftOut:
					s.state = matched
				case received:
					s.state = matched
					t := taken{location: int32(answers.Uint()), number: int32(answers.Uint())}
					t.time = last.time + unit.Duration(answers.Int())
					t.post = last.post + int32(answers.Int())
					t.call = t.post + int32(answers.Int())
					t.seq = last.seq + int32(answers.Int())
					t.by = int16(answers.Int())
					t.from, t.send, t.state = int32(i), number, matched
					last = t.receive
					all = append(all, t)
				}
			})
		}
	}
	for p := range columns {
		if p != x.Group.Rank() && (columns[p].Bad || columns[p].Left() > 0) {
			return cluster.ErrGarbled
		}
	}
	byLocation(all, func(t *taken) (int32, int32) { return t.location, t.number })
	for i := range all {
		t := &all[i]
		if t.location < 0 || int(t.location) >= len(x.locations) || x.here(t.location) || !x.sameRank(t.location, t.by) {
			return cluster.ErrGarbled
		}
		l := x.locations[t.location]
		*l.receives.add(l.space) = t.receive
		l.matched++
	}
	return nil
}
