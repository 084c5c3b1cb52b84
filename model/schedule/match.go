package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// NoPartner is the partner of an operation that takes part in no message.
const NoPartner = uint32(math.MaxUint32)

// Matching defines which receive takes which send, from the order in the file alone: times play no
// part in it. See Match.
type Matching struct {
	// Partner gives, for every operation counted over all ranks (see Graph.FirstOp), the
	// receive of a send, the send of a receive, and NoPartner for the others.
	Partner  []uint32
	Messages int
}

// UnmatchedError states that sends or receives are left over.
type UnmatchedError struct {
	Sends, Receives int // how many
	File            string
	Line            int // of the first one; 0 if not known
	Rank, Index     int // the first one in file order
	Name            string
	Op              Op
}

// Error names the first operation that is left over.
func (e *UnmatchedError) Error() string {
	var s strings.Builder
	if e.File != "" {
		s.WriteString(e.File + ":")
		if e.Line > 0 {
			fmt.Fprintf(&s, "%d:", e.Line)
		}
		s.WriteString(" ")
	}
	n, noun := e.Sends+e.Receives, "operations"
	if n == 1 {
		noun = "operation"
	}
	fmt.Fprintf(&s, "unmatched: %d %s left over (%s, %s), the first is rank %d %s: ", n, noun,
		counted(e.Sends, "send"), counted(e.Receives, "receive"), e.Rank, e.Name)
	preposition := "to"
	if e.Op.Kind == Recv {
		preposition = "from"
	}
	fmt.Fprintf(&s, "%s %db %s %d tag ", e.Op.Kind, e.Op.Size, preposition, e.Op.Peer)
	if e.Op.Tag == AnyTag {
		s.WriteString("-1")
	} else {
		fmt.Fprint(&s, e.Op.Tag)
	}
	return s.String()
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Match pairs the sends and receives of a graph statically. First the receives with an explicit
// source and tag: the k-th one of a channel (source, destination, context, tag) takes the k-th send
// of the channel. Then the receives with a wildcard, in file order: each takes the first send in
// file order that is left, goes to this rank and agrees in context and in what is given. Symbolic
// collectives take no part. If anything is left over the error is an *UnmatchedError.
//
// The order of the file is the order of lines where they are known, which matters if the blocks of
// the ranks do not ascend in the file, and the order of ranks otherwise.
func Match(g *Graph) (*Matching, error) {
	if uint64(len(g.ops)) >= uint64(NoPartner) {
		return nil, fmt.Errorf("%d operations are too many to match: the limit is %d", len(g.ops), NoPartner-1)
	}
	m := &Matching{Partner: make([]uint32, len(g.ops))}
	for i := range m.Partner {
		m.Partner[i] = NoPartner
	}
	order := fileOrder(g)
	first, sends := sendsByDestination(g, order)
	var t matcher
	for rank := range g.Ranks() {
		t.matchRank(g, rank, sends[first[rank]:first[rank+1]], m)
	}
	if err := unmatched(g, order, m); err != nil {
		return nil, err
	}
	return m, nil
}

// fileOrder returns the ranks in the order of their blocks in the file.
func fileOrder(g *Graph) []int32 {
	order := make([]int32, g.Ranks())
	for r := range order {
		order[r] = int32(r)
	}
	if g.Names != nil && g.Names.line != nil {
		line := func(rank int32) int {
			if len(g.RankOps(int(rank))) == 0 {
				return 0
			}
			return g.Line(int(rank), 0)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(line(a), line(b)) })
	}
	return order
}

// arrival is a send as its destination sees it.
type arrival struct {
	op      uint32
	source  int32
	tag     uint32
	context uint8
	taken   bool
}

// sendsByDestination sorts the sends by destination and, within one, by file order: those to rank
// r lie at first[r] .. first[r+1]-1. Sends to ranks that do not exist are left out.
func sendsByDestination(g *Graph, order []int32) (first []int, sends []arrival) {
	ranks := g.Ranks()
	first = make([]int, ranks+2)
	for i := range g.ops {
		if op := &g.ops[i]; op.Kind == Send && uint(op.Peer) < uint(ranks) {
			first[op.Peer+2]++
		}
	}
	for r := range ranks {
		first[r+2] += first[r+1]
	}
	sends = make([]arrival, first[ranks+1])
	for _, rank := range order {
		at := g.FirstOp(int(rank))
		for i, op := range g.RankOps(int(rank)) {
			if op.Kind == Send && uint(op.Peer) < uint(ranks) {
				to := &first[op.Peer+1]
				sends[*to] = arrival{op: uint32(at + i), source: rank, tag: op.Tag, context: op.World()}
				*to++
			}
		}
	}
	return first[:ranks+1], sends
}

// matcher finds the sends for the receives of one rank after the other. Its hash table holds
// queues of sends in file order: by channel for explicit receives, then, of what is left, by
// source, by tag and by context for wildcards. A send that one queue has given away stays in the
// others and is skipped there, so that all of it takes linear time.
type matcher struct {
	table []queue
	used  uint32 // generation of the table: slots of another one are free
	shift uint
	next  [numQueueKinds][]uint32 // by send: the one after it in its queue, plus 1
}

// queue is a slot of the hash table. head and tail are positions among the sends of the
// destination, plus 1; 0 is the end.
type queue struct {
	key        channel
	used       uint32
	head, tail uint32
}

// channel is the key of a queue. Fields that the kind does not use are 0.
type channel struct {
	source  int32
	tag     uint32
	context uint8
	kind    queueKind
}

type queueKind uint8

const (
	byChannel queueKind = iota
	bySource
	byTag
	byContext
	numQueueKinds
)

// queueOf returns the queue that serves receives with this source, tag and context.
func queueOf(source int32, tag uint32, context uint8) channel {
	switch {
	case source != AnySource && tag != AnyTag:
		return channel{source, tag, context, byChannel}
	case source != AnySource:
		return channel{source, 0, context, bySource}
	case tag != AnyTag:
		return channel{0, tag, context, byTag}
	}
	return channel{0, 0, context, byContext}
}

// matchRank finds the sends for all receives of a rank.
func (t *matcher) matchRank(g *Graph, rank int, sends []arrival, m *Matching) {
	if len(sends) == 0 {
		return
	}
	t.reset(len(sends))
	for i := range sends {
		s := &sends[i]
		t.push(channel{s.source, s.tag, s.context, byChannel}, uint32(i))
	}
	at := g.FirstOp(rank)
	wildcards := false
	ops := g.RankOps(rank)
	for i := range ops {
		op := &ops[i]
		if op.Kind != Recv {
			continue
		}
		if op.Peer == AnySource || op.Tag == AnyTag {
			wildcards = true
			continue
		}
		t.take(channel{op.Peer, op.Tag, op.Context, byChannel}, at+i, sends, m)
	}
	if wildcards {
		t.matchWildcards(ops, at, sends, m)
	}
}

// matchWildcards gives what is left to the receives with a wildcard.
func (t *matcher) matchWildcards(ops []Op, at int, sends []arrival, m *Matching) {
	t.reset(3 * len(sends))
	for i := range sends {
		if s := &sends[i]; !s.taken {
			t.push(queueOf(s.source, AnyTag, s.context), uint32(i))
			t.push(queueOf(AnySource, s.tag, s.context), uint32(i))
			t.push(queueOf(AnySource, AnyTag, s.context), uint32(i))
		}
	}
	for i := range ops {
		if op := &ops[i]; op.Kind == Recv && (op.Peer == AnySource || op.Tag == AnyTag) {
			t.take(queueOf(op.Peer, op.Tag, op.Context), at+i, sends, m)
		}
	}
}

// reset empties the table and makes it large enough for the given number of queues.
func (t *matcher) reset(queues int) {
	size, shift := 16, uint(60)
	for size < 2*queues {
		size, shift = 2*size, shift-1
	}
	if t.used++; len(t.table) < size || t.used == 0 {
		t.table, t.used = make([]queue, max(size, len(t.table))), 1
	}
	t.shift = shift
}

// find returns the slot of a queue, or the free one where it belongs.
func (t *matcher) find(key channel) *queue {
	h := uint64(uint32(key.source))<<32 | uint64(key.tag)
	h ^= (uint64(key.context)<<8 | uint64(key.kind)) << 17
	mask := uint64(1)<<(64-t.shift) - 1
	for i := (h * 0x9E3779B97F4A7C15) >> t.shift; ; i = (i + 1) & mask {
		if q := &t.table[i]; q.used != t.used || q.key == key {
			return q
		}
	}
}

// push appends send i to a queue.
func (t *matcher) push(key channel, i uint32) {
	next := t.next[key.kind]
	for int(i) >= len(next) {
		next = append(next, 0)
		t.next[key.kind] = next
	}
	next[i] = 0
	q := t.find(key)
	if q.used != t.used {
		*q = queue{key: key, used: t.used, head: i + 1, tail: i + 1}
		return
	}
	if q.head == 0 {
		q.head = i + 1
	} else {
		next[q.tail-1] = i + 1
	}
	q.tail = i + 1
}

// take gives the first send of a queue that is left to a receive, if there is one.
func (t *matcher) take(key channel, receive int, sends []arrival, m *Matching) {
	q := t.find(key)
	if q.used != t.used {
		return
	}
	for q.head != 0 {
		i := q.head - 1
		q.head = t.next[key.kind][i]
		if s := &sends[i]; !s.taken {
			s.taken = true
			m.Partner[receive], m.Partner[s.op] = s.op, uint32(receive)
			m.Messages++
			return
		}
	}
}

// unmatched returns an *UnmatchedError if anything is left over.
func unmatched(g *Graph, order []int32, m *Matching) error {
	communicating := 0
	for i := range g.ops {
		if k := g.ops[i].Kind; k == Send || k == Recv {
			communicating++
		}
	}
	if communicating == 2*m.Messages {
		return nil
	}
	e := &UnmatchedError{Rank: -1}
	for _, rank := range order {
		at := g.FirstOp(int(rank))
		for i, op := range g.RankOps(int(rank)) {
			if op.Kind > Recv || m.Partner[at+i] != NoPartner {
				continue
			}
			if op.Kind == Send {
				e.Sends++
			} else {
				e.Receives++
			}
			if e.Rank < 0 {
				e.Rank, e.Index, e.Op = int(rank), i, op
			}
		}
	}
	e.Name, e.Line = g.Name(e.Rank, e.Index), g.Line(e.Rank, e.Index)
	if g.Names != nil {
		e.File = g.Names.File
	}
	return e
}
