package simulate

// mail is what the core of a thread sends to those of other threads, in lists that are kept twice by
// round, so that the receivers can read one while the sender writes the other.
type mail[T any] struct {
	sent
	// direct: one thread carries out all cores and gives messages to their receivers itself.
	direct bool
	side   int
	out    [2][][]T  // by round and thread
	filled [2]uint64 // by round: the threads whose lists are not empty, as in sent.whom
}

// sent is what a core has sent to others in a round.
type sent struct {
	acts int64  // the earliest time at which it acts; never: nothing was sent
	whom uint64 // the threads that get something: bit thread % 64
}

func threadBit(thread int) uint64 { return 1 << (thread % 64) }

// open makes lists for the threads, those of each round on cache lines of their own.
func (m *mail[T]) open(threads int) {
	const apart = 8
	m.acts = never
	for side := range m.out {
		m.out[side] = make([][]T, threads+apart)[:threads]
	}
}

// begin begins a round.
func (m *mail[T]) begin(round int) {
	m.side = round & 1
	m.sent = sent{acts: never}
	if m.filled[m.side] != 0 {
		m.filled[m.side] = 0
		for t := range m.out[m.side] {
			m.out[m.side][t] = m.out[m.side][t][:0]
		}
	}
}

// add sends something that acts at the given time to a thread.
func (m *mail[T]) add(thread int, v *T, acts int64) {
	list := &m.out[m.side][thread]
	*list = append(*list, *v)
	m.acts = min(m.acts, acts)
	m.whom |= threadBit(thread)
	m.filled[m.side] |= threadBit(thread)
}

// to returns what was sent to a thread in a round.
func (m *mail[T]) to(thread, round int) []T { return m.out[round&1][thread] }
