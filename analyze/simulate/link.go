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
// in one exchange per window, together with what all need to find the next window: exactly one
// exchange, however many messages there are.
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
		n.stopped = &stoppedHost{time: c.Int(), birth: c.Int(), order: uint32(c.Int()), a: int32(c.Int()), b: int32(c.Int()), host: int32(c.Int())}
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
