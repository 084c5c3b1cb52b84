package timeline

import (
	"encoding/binary"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// processesOf lists the processes that get the collectives of each communicator: those with members, and the
// one that answers for it.
func (x *partExchange) processesOf() [][]int {
	lists := make([][]int, len(x.t.Comms))
	for c := range lists {
		list := []int{x.t.CommOwner(c)}
		for _, rank := range x.t.Comms[c].Members {
			if rank < 0 || int(rank) >= x.t.Ranks {
				continue
			}
			if p := x.Owner(int(rank)); p != list[len(list)-1] && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
		lists[c] = list
	}
	return lists
}

// shareCollectives sends the other members what the ranks here did, and matches all of it.
func (x *partExchange) shareCollectives() error {
	processes := x.processesOf()
	out := make([][]byte, x.Group.Size())
	for i := x.First; i < x.Last; i++ {
		x.appendCollectives(out, int32(i), processes)
	}
	in, err := x.exchange(x.ctx, out)
	if err != nil {
		return err
	}
	for p := range in {
		if p != x.Group.Rank() && !x.takeCollectives(in[p]) {
			return cluster.ErrGarbled
		}
	}
	x.matchCollectives()
	for _, l := range x.locations {
		l.collectives = nil
	}
	return nil
}

// appendCollectives appends the collectives of a location to what goes to the processes that need them.
func (x *partExchange) appendCollectives(out [][]byte, location int32, processes [][]int) {
	l := x.locations[location]
	last := make([]member, len(out))
	for p := range last {
		last[p].comm = -1
	}
	for i := range l.collectives {
		m := &l.collectives[i]
		if m.state != done && m.state != skipped || m.comm < 0 || int(m.comm) >= len(processes) {
			continue
		}
		for _, p := range processes[m.comm] {
			if p == x.Group.Rank() {
				continue
			}
			b := out[p]
			if last[p].comm < 0 {
				b = append(b, 1)
				b = binary.AppendUvarint(b, uint64(location))
				last[p] = member{}
			}
			of := &last[p]
			b = append(b, 2, byte(m.state), byte(m.op))
			b = chunk.AppendInt(b, int64(m.issued-of.issued))
			b = chunk.AppendInt(chunk.AppendInt(b, m.sent), m.received)
			b = binary.AppendUvarint(b, uint64(m.comm))
			b = chunk.AppendInt(b, int64(m.root))
			b = chunk.AppendInt(b, int64(m.issue-of.issue))
			b = chunk.AppendInt(b, int64(m.complete-m.issue))
			b = chunk.AppendInt(b, int64(m.seq-of.seq))
			path := PathID(0)
			if m.complete >= 0 {
				path = l.calls.Path[m.complete]
			}
			out[p] = binary.AppendUvarint(b, uint64(path))
			last[p] = *m
		}
	}
}

// takeCollectives gives the locations of another process their collectives.
func (x *partExchange) takeCollectives(b []byte) bool {
	c := chunk.Column{B: b}
	var l *LocationBuilder
	last := member{}
	for c.Left() > 0 && !c.Bad {
		if c.Byte() == 1 {
			location := c.Uint()
			if location >= uint64(len(x.locations)) || x.here(int32(location)) {
				return false
			}
			l, last = x.locations[location], member{}
			continue
		}
		m := member{state: state(c.Byte()), op: Op(c.Byte()), counts: -1}
		m.issued = last.issued + unit.Duration(c.Int())
		m.sent, m.received = c.Int(), c.Int()
		m.comm, m.root = int32(c.Uint()), int32(c.Int())
		m.issue = last.issue + int32(c.Int())
		m.complete = m.issue + int32(c.Int())
		m.seq = last.seq + int32(c.Int())
		m.path = PathID(c.Uint())
		if l == nil || int(m.path) >= len(x.t.Paths) || m.state != done && m.state != skipped {
			return false
		}
		l.collectives = append(l.collectives, m)
		last = m
	}
	return !c.Bad
}

// memberCall is the name of the call in which a member completed its part.
func (f *finisher) memberCall(r ref) string {
	m, l := f.member(r), f.locations[r.location]
	if f.here(r.location) {
		return f.callName(l, m.complete)
	}
	if m.complete < 0 {
		return f.callName(l, -1)
	}
	return f.pathName(m.path)
}
