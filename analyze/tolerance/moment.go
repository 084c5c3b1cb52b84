package tolerance

// moment is what a pass knows of a point while it goes on: when it happens, and the critical paths to it.
type moment struct {
	at   int64
	path lengths // of the canonical path
	// The largest numbers on any critical path, each by itself; that of the latencies is path.units.
	size, overheads int64
	leastUnits      int64
	tail            uint64 // file number of the point before it on the canonical path
}

// lengths count what paths have besides time.
type lengths struct{ units, size, overheads int64 }

// less compares lexicographically.
func (a *lengths) less(b *lengths) bool {
	if a.units != b.units {
		return a.units < b.units
	}
	if a.size != b.size {
		return a.size < b.size
	}
	return a.overheads < b.overheads
}

// noTail is the tail of points that wait for nothing. They happen at 0.
const noTail = ^uint64(0)

var (
	atStart = moment{tail: noTail}
	never   = moment{at: -1} // no way is known
)

// edge is what is spent on the way from a point to another one: as a time, in numbers, and as a line over the variable of the pass.
type edge struct {
	length int64
	lengths
	line span
}

// join takes a way to the point: over an edge from another point, whose file number is given.
func (m *moment) join(from *moment, e *edge, tail uint64) {
	at := from.at + e.length
	if at < m.at {
		return
	}
	if at > m.at {
		m.at, m.tail = at, tail
		m.path.units, m.path.size, m.path.overheads = from.path.units+e.units, from.path.size+e.size, from.path.overheads+e.overheads
		m.size, m.overheads, m.leastUnits = from.size+e.size, from.overheads+e.overheads, from.leastUnits+e.units
		return
	}
	path := lengths{from.path.units + e.units, from.path.size + e.size, from.path.overheads + e.overheads}
	if m.path.less(&path) || m.path == path && tail < m.tail {
		m.path, m.tail = path, tail
	}
	m.size, m.overheads = max(m.size, from.size+e.size), max(m.overheads, from.overheads+e.overheads)
	m.leastUnits = min(m.leastUnits, from.leastUnits+e.units)
}

// shift moves the point by what is spent on an edge to the next point.
func (m *moment) shift(e *edge, tail uint64) {
	m.at += e.length
	m.path.units += e.units
	m.path.size += e.size
	m.path.overheads += e.overheads
	m.size += e.size
	m.overheads += e.overheads
	m.leastUnits += e.units
	m.tail = tail
}

// slot collects the ways to a point that is not complete.
type slot struct {
	moment
	lines []line
	next  uint32 // of the free ones
}

// slots are the points that are under way, in memory that is used again. Number 0 is none.
type slots struct {
	list []slot
	free uint32
	used int
}

// new returns a slot to which no way is known.
func (s *slots) new() uint32 {
	n := s.free
	s.used++
	if n == 0 {
		if len(s.list) == 0 {
			s.list = make([]slot, 1, 64)
		}
		s.list = append(s.list, slot{moment: never})
		return uint32(len(s.list) - 1)
	}
	s.free = s.list[n].next
	s.list[n].moment = never
	return n
}

// release frees a slot.
func (s *slots) release(n uint32) {
	s.used--
	at := &s.list[n]
	at.lines = at.lines[:0]
	at.next, s.free = s.free, n
}
