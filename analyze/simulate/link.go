package simulate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
)

// link joins the engines of the processes that simulate together. Every process has the hosts of its
// share, cut into shards, one for each of its threads. What crosses from one process to another goes
// in one exchange per window, together with what all need to find the next window: at most one
// exchange, however many messages there are. Windows in which no other process can have anything to
// do need none (windows.reached).
type link struct {
	ctx     context.Context
	group   cluster.Group
	first   []int                // by process: its first shard; one more than there are processes
	shardOf func(host int32) int // of a host of the whole
	parts   [][]byte
	rounds  int64 // exchanges that ended a round
	crossed int64 // messages and releases sent to other processes
}

// ports are the ends of a link at a core.
type ports struct {
	link *link    // nil: there are no other processes
	out  []packer // by shard of the whole
	in   [][]byte // streams that have come and have not been taken
	err  error
}

// open gives the ports of a core their packers.
func (p *ports) open(l *link) {
	p.link = l
	if l != nil {
		p.out = make([]packer, l.first[len(l.first)-1])
	}
}

// reset begins new streams.
func (p *ports) reset() {
	for i := range p.out {
		if q := &p.out[i]; q.count > 0 {
			q.reset()
		}
	}
}

// send takes an envelope to a host of another process.
func (p *ports) send(host int32, n *envelope) { p.out[p.link.shardOf(host)].add(n) }

// take calls f for every envelope that has come.
func (p *ports) take(f func(n *envelope)) {
	for _, stream := range p.in {
		if err := unpack(stream, f); err != nil {
			p.err = err
		}
	}
	p.in = p.in[:0]
}

// openLink joins the processes of a group. Each reports how many threads it has, and what it is
// going to simulate, so that processes that were given different things notice it.
func openLink(ctx context.Context, g cluster.Group, p *problem, threads int) (*link, error) {
	l := &link{ctx: ctx, group: g, parts: make([][]byte, g.Size())}
	hosts := p.layout.Hosts()
	same := binary.AppendUvarint(nil, uint64(p.layout.Ranks))
	same = binary.AppendUvarint(same, uint64(hosts))
	same = binary.AppendUvarint(same, uint64(p.window))
	mine := chunk.AppendString(nil, string(same))
	mine = binary.AppendUvarint(mine, uint64(dealHosts(p.hosts, threads).threads))
	all, err := cluster.AllGather(ctx, g, mine)
	if err != nil {
		return nil, err
	}
	deals := make([]deal, len(all))
	starts := make([]int32, len(all))
	l.first = []int{0}
	for q, data := range all {
		c := chunk.Column{B: data}
		if c.String() != string(same) {
			return nil, fmt.Errorf("process %d simulates another program or machine than process %d; "+
				"give all the same input", q, g.Rank())
		}
		n := c.Uint()
		if c.Bad || n > uint64(hosts)+1 {
			return nil, errEnvelopes
		}
		first, last := cluster.Share(hosts, q, g.Size())
		deals[q], starts[q] = dealHosts(last-first, int(n)), int32(first)
		l.first = append(l.first, l.first[q]+deals[q].threads)
	}
	l.shardOf = func(host int32) int {
		q := cluster.Owner(hosts, int(host), len(deals))
		return l.first[q] + deals[q].owner(host-starts[q])
	}
	return l, nil
}

// notice is what a process sends to all others at the end of a round.
type notice struct {
	next     int64 // first window in which one of its hosts or receivers has work
	messages int64 // so far
	// Of large messages: releases were sent in this round, and the key of the first stopped host.
	released bool
	stopped  *stoppedHost
}

func (n *notice) append(b []byte) []byte {
	b = chunk.AppendInt(b, n.next)
	b = binary.AppendUvarint(b, uint64(n.messages))
	flags := byte(0)
	if n.released {
		flags |= 1
	}
	if n.stopped != nil {
		flags |= 2
	}
	b = append(b, flags)
	if s := n.stopped; s != nil {
		for _, v := range [...]int64{s.time, s.birth, int64(s.order), int64(s.a), int64(s.b), int64(s.host)} {
			b = chunk.AppendInt(b, v)
		}
	}
	return b
}

func readNotice(c *chunk.Column) (n notice) {
	n.next, n.messages = c.Int(), int64(c.Uint())
	flags := c.Byte()
	n.released = flags&1 != 0
	if flags&2 != 0 {
		n.stopped = &stoppedHost{time: c.Int(), birth: c.Int(), order: uint32(c.Int()), a: int32(c.Int()), b: int32(c.Int()),
			host: int32(c.Int())}
	}
	return n
}

// exchange gives the envelopes of all cores of this process to the others, takes theirs, and returns
// what every process has reported. The streams that have come are in the ports of the cores until the
// next exchange.
func (l *link) exchange(mine notice, ports []*ports) ([]notice, error) {
	for _, p := range ports {
		if p.err != nil {
			return nil, p.err
		}
	}
	l.rounds++
	head := mine.append(nil)
	for q := range l.parts {
		b := append(l.parts[q][:0], head...)
		if q != l.group.Rank() {
			b = l.appendStreams(b, q, ports)
		}
		l.parts[q] = b
	}
	in, err := l.group.Exchange(l.ctx, l.parts)
	if err != nil {
		return nil, err
	}
	notices := make([]notice, len(in))
	for q, data := range in {
		c := chunk.Column{B: data}
		notices[q] = readNotice(&c)
		for t := 0; c.Left() > 0 && !c.Bad; t++ {
			for range c.Uint() {
				if t >= len(ports) {
					return nil, errEnvelopes
				}
				if stream := c.Bytes(c.Uint()); len(stream) > 0 {
					ports[t].in = append(ports[t].in, stream)
				}
			}
		}
		if c.Bad {
			return nil, errEnvelopes
		}
	}
	return notices, nil
}

// appendStreams appends what the cores have for process q, by shard of q, or nothing at all.
func (l *link) appendStreams(b []byte, q int, from []*ports) []byte {
	crossed := int64(0)
	for s := l.first[q]; s < l.first[q+1]; s++ {
		for _, p := range from {
			crossed += p.out[s].count
		}
	}
	if crossed == 0 {
		return b
	}
	l.crossed += crossed
	for s := l.first[q]; s < l.first[q+1]; s++ {
		b = binary.AppendUvarint(b, uint64(len(from)))
		for _, p := range from {
			stream := p.out[s].end()
			b = binary.AppendUvarint(b, uint64(len(stream)))
			b = append(b, stream...)
		}
	}
	return b
}

// agree sends some bits to all processes and returns those that any of them has set.
func (l *link) agree(bits uint8) (uint8, error) {
	all, err := cluster.AllGather(l.ctx, l.group, []byte{bits})
	if err != nil {
		return 0, err
	}
	for _, data := range all {
		if len(data) != 1 {
			return 0, errEnvelopes
		}
		bits |= data[0]
	}
	return bits, nil
}

// firstError returns the error of the first process that has one, on all of them.
func (l *link) firstError(mine error) error {
	text := ""
	if mine != nil {
		text = mine.Error()
	}
	all, err := cluster.AllGather(l.ctx, l.group, []byte(text))
	if err != nil {
		return err
	}
	for _, data := range all {
		if len(data) > 0 {
			return &sharedError{string(data)}
		}
	}
	return errEnvelopes
}

// sharedError is an error that all processes have.
type sharedError struct{ text string }

func (e *sharedError) Error() string { return e.text }

// OnAllProcesses reports whether an error of Run is that of all processes of the group, so that one of
// them can report it.
func OnAllProcesses(err error) bool {
	var unfinished *UnfinishedError
	var shared *sharedError
	return errors.Is(err, ErrOverflow) || errors.As(err, &unfinished) || errors.As(err, &shared)
}

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
