package timeline

import (
	"encoding/binary"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/spill"
	"slackline/model/unit"
)

// processesOf lists the processes that get the collectives of each communicator: those with members, and the
// one that answers for it.
func (x *partExchange) processesOf() [][]int {
	lists := make([][]int, len(x.t.Comms))
	for c := range lists {
		list := []int{x.t.CommOwner(c)}
		for i := range x.t.Comms[c].Size() {
			rank := x.t.Comms[c].Rank(i)
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
	if err := x.exchange(x.ctx, out, x.takeCollectives); err != nil {
		return err
	}
	x.matchCollectives()
	for _, l := range x.locations {
		l.collectives, l.completedIn = nil, nil
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
		series := x.seriesOfMember(m)
		if series < 0 {
			continue
		}
		_, _, comm := x.t.scopeOf(int(series))
		if comm < 0 || int(comm) >= len(processes) {
			continue
		}
		for _, p := range processes[comm] {
			if p == x.Group.Rank() {
				continue
			}
			b := out[p]
			if last[p].comm < 0 {
				b = append(b, 1)
				b = binary.AppendUvarint(b, uint64(location))
				last[p] = member{counts: -1}
			}
			of := &last[p]
			b = append(b, 2, byte(m.state), byte(m.op), byte(m.scope))
			b = chunk.AppendInt(b, int64(m.by))
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
			b = binary.AppendUvarint(b, uint64(path))
			out[p] = l.appendCounts(b, m, of)
			last[p] = *m
		}
	}
}

// takeCollectives gives the locations of another process their collectives.
func (x *partExchange) takeCollectives(_ int, b []byte) bool {
	c := chunk.Column{B: b}
	var l *LocationBuilder
	location, last := int32(0), member{counts: -1}
	for c.Left() > 0 && !c.Bad {
		if c.Byte() == 1 {
			number := c.Uint()
			if number >= uint64(len(x.locations)) || x.here(int32(number)) {
				return false
			}
			location, last = int32(number), member{counts: -1}
			l = x.locations[location]
			continue
		}
		m := member{state: state(c.Byte()), op: Op(c.Byte()), scope: Scope(c.Byte()), counts: -1}
		m.by = int16(c.Int())
		m.issued = last.issued + unit.Duration(c.Int())
		m.sent, m.received = c.Int(), c.Int()
		m.comm, m.root = int32(c.Uint()), int32(c.Int())
		m.issue = last.issue + int32(c.Int())
		m.complete = m.issue + int32(c.Int())
		m.seq = last.seq + int32(c.Int())
		path := PathID(c.Uint())
		if l == nil || int(path) >= len(x.t.Paths) || !x.sameRank(location, m.by) || m.state != done && m.state != skipped ||
			m.scope > ByConnection {
			return false
		}
		l.takeCounts(&c, &m, &last)
		l.collectives, l.completedIn = spill.Append(l.space, l.collectives, m), append(l.completedIn, path)
		last = m
	}
	return !c.Bad
}

// appendCounts writes the sizes by peer of a member: how many, and if they are not those of the last one, which.
func (l *LocationBuilder) appendCounts(b []byte, m, last *member) []byte {
	if m.counts < 0 {
		return append(b, 0)
	}
	if m.counts == last.counts {
		return append(b, 1)
	}
	list := l.counts[m.counts:][:l.counts[m.counts-1]]
	b = binary.AppendUvarint(append(b, 2), uint64(len(list)))
	for _, n := range list {
		b = chunk.AppendInt(b, n)
	}
	return b
}

// takeCounts reads what appendCounts wrote.
func (l *LocationBuilder) takeCounts(c *chunk.Column, m, last *member) {
	switch c.Byte() {
	case 1:
		m.counts = last.counts
	case 2:
		n := c.Uint()
		if n > uint64(c.Left()) {
			c.Bad = true
			return
		}
		list := make([]int64, n)
		for i := range list {
			list[i] = c.Int()
		}
		m.counts = l.keepCounts(list)
	}
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
	return f.pathName(l.completedIn[r.record])
}
