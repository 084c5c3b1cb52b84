package tolerance

import (
	"slices"
	"sort"

	"slackline/model/schedule"
)

// decisions are what decided every point in a pass: a few bytes per operation, from which critical paths are traced back.
type decisions struct{ ranks []rankDecisions }

type rankDecisions struct {
	start []uint32 // by operation: the tail of its start, the lower half of a file number: it is on the same rank
	end   []uint32 // of receives and rendezvous sends: the other end of the message, by its index there, and whether that decided the end
	marks []mark
}

// mark is where a block begins in the stream; there is one about every markEvery operations.
type mark struct {
	first  uint32
	cursor schedule.Cursor
}

const markEvery = 256

// extend makes room for n operations.
func (r *rankDecisions) extend(n int) {
	r.start = slices.Grow(r.start, n)[:len(r.start)+n]
	r.end = slices.Grow(r.end, n)[:len(r.end)+n]
}

// mark notes where the block with a first operation begins, if the last mark is long before it.
func (r *rankDecisions) mark(first uint32, cursor schedule.Cursor) {
	if k := len(r.marks); k == 0 || first-r.marks[k-1].first >= markEvery {
		r.marks = append(r.marks, mark{first, cursor})
	}
}

// tracker traces a critical path back. It reads the operations on it from the stream again.
type tracker struct {
	e     *Evaluation
	block schedule.Block
	rank  int // whose block it is
	first uint32
	after schedule.Cursor
	kept  map[int]keptBlock
}

// keptBlock is the last large block of a rank that was read: the life of a window is one, and a path that goes to and fro between the
// ranks would read it again for each of its operations.
type keptBlock struct {
	first uint32
	ops   []schedule.Op
}

// keepFrom is the number of operations from which on a block is kept. The pass before had such blocks of all ranks in memory, too.
const keepFrom = 4 * markEvery

// stop is a point on a path.
type stop struct {
	rank  int
	index uint32
	isEnd bool
	op    schedule.Op
}

// last returns the end of the path.
func (t *tracker) last() stop {
	rank := int(t.e.last >> 32)
	if places := t.e.s.place; places != nil {
		rank = slices.Index(places, int32(rank))
	}
	return t.at(rank, uint32(t.e.last)>>2, true)
}

// at reads an operation.
func (t *tracker) at(rank int, index uint32, isEnd bool) stop {
	if t.rank != rank || index < t.first {
		if k := t.kept[rank]; index >= k.first && index-k.first < uint32(len(k.ops)) {
			return stop{rank, index, isEnd, k.ops[index-k.first]}
		}
		marks := t.e.paths.ranks[rank].marks
		m := marks[sort.Search(len(marks), func(i int) bool { return marks[i].first > index })-1]
		t.rank, t.first, t.after = rank, m.first, m.cursor
		t.after, _ = t.e.s.stream.Next(rank, t.after, &t.block)
	}
	for index-t.first >= uint32(len(t.block.Ops)) {
		t.first += uint32(len(t.block.Ops))
		t.after, _ = t.e.s.stream.Next(rank, t.after, &t.block)
	}
	if len(t.block.Ops) >= keepFrom {
		if k := t.kept[rank]; k.ops == nil || k.first != t.first {
			t.kept[rank] = keptBlock{t.first, append(k.ops[:0], t.block.Ops...)}
		}
	}
	return stop{rank, index, isEnd, t.block.Ops[index-t.first]}
}

// before returns the point before another one, and how the path gets from there; ok is false if there is none.
func (t *tracker) before(at *stop) (tail stop, w way, ok bool) {
	r := &t.e.paths.ranks[at.rank]
	if !at.isEnd {
		word := r.start[at.index]
		if word == uint32(noTail&(1<<32-1)) {
			return tail, waitFor, false
		}
		if word&numberGap != 0 {
			w = gap
		}
		return t.at(at.rank, word>>2, word&numberEnd != 0), w, true
	}
	byMessage := r.end[at.index]&1 != 0
	switch {
	case byMessage && at.op.Kind == schedule.Recv:
		return t.other(at, true), carry, true
	case byMessage:
		return t.other(at, false), granting, true
	case at.op.Kind == schedule.Send && r.end[at.index] != 0: // it waits for its receive: only then its other end is known
		w = request
	default:
		w = own
	}
	tail = *at
	tail.isEnd = false
	return tail, w, true
}

// other returns the other end of the message of a receive, or of a rendezvous send.
func (t *tracker) other(at *stop, isEnd bool) stop {
	rank := int(at.op.Peer)
	if s := t.e.s; at.op.Peer < 0 {
		rank, _ = s.graph.Find(int(s.matched.Partner[s.graph.FirstOp(at.rank)+int(at.index)]))
	}
	return t.at(rank, (t.e.paths.ranks[at.rank].end[at.index]-decided)>>1, isEnd)
}

// decided is the smallest entry of rankDecisions.end that is one.
const decided = 2

// sendOf returns the send whose message is on an edge, and its rank.
func (t *tracker) sendOf(w way, head, tail *stop) (from int, send schedule.Op) {
	switch {
	case w == gap || w == carry:
		return tail.rank, tail.op
	case head.op.Kind == schedule.Recv:
		other := t.other(head, true)
		return other.rank, other.op
	}
	return head.rank, head.op
}
