package simulate

import (
	"math"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
)

// never is the time of what does not happen.
const never = int64(math.MaxInt64)

// problem is what all parts of an engine read and none changes: the stream, the machine with the
// ranks on it, and the noise.
type problem struct {
	stream    schedule.Stream
	layout    *machine.Layout
	noise     *noise.Injection // nil: none
	shape     schedule.Shape
	partition      // of this process; the zero value: all
	ranks     int  // of the partition
	hosts     int  // of the partition; a host is a rank, or a node whose ranks share a NIC
	shared    bool // hosts are nodes
	window    int64

	uniform bool // all messages are of the class below
	class   machine.Class
	// inOrder: messages reach a host in the order of their births (one class, one piece of o, no
	// noise).
	inOrder bool
	// rendezvous: some class has a limit S, so that a message may be larger.
	rendezvous bool
}

func newProblem(s schedule.Stream, layout *machine.Layout, in *noise.Injection) *problem {
	p := &problem{
		stream: s,
		layout: layout,
		noise:  in,
		shape:  s.Shape(),
		ranks:  s.Ranks(),
		hosts:  layout.Hosts(),
		shared: layout.Machine.SharedNIC,
		window: layout.Window(),
	}
	p.class, p.uniform = layout.Uniform()
	p.inOrder = p.uniform && in == nil && len(layout.Machine.Classes[p.class].Overhead) == 1
	for _, c := range layout.Machine.Classes {
		p.rendezvous = p.rendezvous || c.Eager != machine.NoLimit
	}
	return p
}

// restrict leaves of a problem the part of one process.
func (p *problem) restrict(t *part) *problem {
	if t != nil {
		p.partition, p.ranks, p.hosts = t.partition, t.ranks, t.hosts
	}
	return p
}

// host returns the host of a rank, both as numbers of the partition.
func (p *problem) host(rank int32) int32 {
	if !p.shared {
		return rank
	}
	return p.hostOf(p.global(rank))
}

// hostOf returns the host of a rank of the whole. Outside of 0 .. hosts-1 it belongs to another
// process.
func (p *problem) hostOf(rank int32) int32 {
	if !p.shared {
		return rank - p.firstRank
	}
	return int32(p.layout.Host(int(rank))) - p.firstHost
}

// costs computes what messages cost. It remembers the last answers, since programs use few sizes;
// each thread has its own.
type costs struct {
	p       *problem
	entries [64]costEntry
}

type costEntry struct {
	size int64 // plus 1; 0: empty
	cost machine.Cost
	by   machine.Class
}

// class returns the class of a message.
func (c *costs) class(from, to int32) machine.Class {
	if c.p.uniform {
		return c.p.class
	}
	return c.p.layout.Class(int(from), int(to))
}

// of returns the cost of a message. It is valid until the next call.
func (c *costs) of(class machine.Class, size int64) *machine.Cost {
	e := &c.entries[(uint64(size)*0x9E3779B97F4A7C15>>59)|uint64(class&1)<<5]
	if e.size != size+1 || e.by != class {
		e.size, e.by = size+1, class
		e.cost = c.p.layout.Machine.Classes[class].Cost(size)
	}
	return &e.cost
}
