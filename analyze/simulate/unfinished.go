package simulate

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/schedule"
)

// UnfinishedError reports why a run came to an end before its program did (rule R12): receives that
// were never matched, messages that were never received, operations that never started.
type UnfinishedError struct {
	File    string   // of the schedule, if it has one
	Reasons []string // the first few
	More    int      // how many more there are
}

// maxReasons is how many reasons an UnfinishedError spells out.
const maxReasons = 8

func (e *UnfinishedError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	b.WriteString("the program cannot finish: ")
	b.WriteString(strings.Join(e.Reasons, "; "))
	if e.More > 0 {
		fmt.Fprintf(&b, "; and %d more", e.More)
	}
	return b.String()
}

// finished reports whether all ranks have come to the end of their programs and no message was left
// over.
func (s *generalState) finished() bool {
	for rank := range s.rank {
		q := &s.rank[rank]
		if q.open != 0 || q.posted.len() != 0 || q.unexpected.len() != 0 {
			return false
		}
	}
	return true
}

// unfinished explains why a run has not come to its end. With several processes all of them explain
// their part, and all come to the same error.
func (r *run) unfinished(s *generalState, parts []*general, link *link) error {
	x := &explainer{run: r, s: s, parts: parts}
	if link != nil && !parts[0].eager { // else there are no large messages
		if err := x.shareLeftovers(link); err != nil {
			return err
		}
	}
	for rank := range s.rank {
		x.receives(rank)
	}
	for rank := range s.rank {
		x.messages(rank)
	}
	for rank := range s.rank {
		x.operations(rank)
	}
	if link != nil {
		if err := x.shareReasons(link); err != nil {
			return err
		}
	}
	e := &UnfinishedError{}
	if p, ok := r.program.(*schedule.Packed); ok {
		e.File = p.File()
	}
	for class, list := range x.Reasons {
		for _, reason := range list {
			if len(e.Reasons) < maxReasons {
				e.Reasons = append(e.Reasons, reason.Text)
			}
		}
		e.More += x.Count[class]
	}
	e.More -= len(e.Reasons)
	return e
}

// explainer words what is left over.
type explainer struct {
	*run
	s     *generalState
	parts []*general
	// The messages that were left over on other processes, by sender.
	elsewhere map[leftover]bool
	leftOver
}

// leftOver is what is left of receives, messages and operations.
type leftOver struct {
	Reasons [3][]reason // the first maxReasons of each
	Count   [3]int      // how many there are
}

// reason is why a rank of the whole could not go on.
type reason struct {
	Rank int
	Text string
}

// sendOf names a send: its rank and its index in the block.
type sendOf struct{ rank, index int32 }

// leftover is a message that was left over at a receiver.
type leftover struct {
	sendOf
	to int32
}

// The classes of reasons, in the order in which they are reported.
const (
	aboutReceives = iota
	aboutMessages
	aboutOperations
)

func (x *explainer) add(class, rank int, format string, args ...any) {
	x.Count[class]++
	if len(x.Reasons[class]) < maxReasons {
		x.Reasons[class] = append(x.Reasons[class], reason{rank, fmt.Sprintf(format, args...)})
	}
}

// name returns what to call operation index of the present block of a rank.
func (x *explainer) name(rank int, index int32) string {
	r := &x.s.rank[rank]
	if p, ok := x.program.(*schedule.Packed); ok && !p.Shape().Collectives {
		return p.Name(x.number(rank), r.base+int(index))
	}
	if o := r.ops[index].Origin; o > 0 && int(o) < len(x.program.Origins()) {
		origin := x.program.Origins()[o]
		return strings.Join(append(origin.Path[:len(origin.Path):len(origin.Path)], origin.Call), "/")
	}
	return fmt.Sprintf("#%d", r.base+int(index))
}

// receives explains the posted receives of a rank that were never matched.
func (x *explainer) receives(rank int) {
	r := &x.s.rank[rank]
	for _, it := range r.posted.list() {
		others := ""
		if tags := x.tagsFrom(rank, it); tags != "" {
			others = ", which sends only " + tags
		}
		from := fmt.Sprintf("rank %d", it.source)
		if it.source == schedule.AnySource {
			from = "any rank"
		}
		x.add(aboutReceives, x.number(rank), "rank %d: receive %s waits for %s from %s%s, and is never matched",
			x.number(rank), x.name(rank, it.id), tagName(it.tag), from, others)
	}
}

// tagsFrom lists the tags of the unexpected messages of a rank that come from where a receive
// waits for something else.
func (x *explainer) tagsFrom(rank int, receive item) string {
	var tags []string
	for _, m := range x.s.rank[rank].unexpected.list() {
		if receive.source != schedule.AnySource && m.source != receive.source {
			continue
		}
		if len(tags) == 4 {
			tags = append(tags, "...")
			break
		}
		tags = append(tags, tagName(m.tag))
	}
	return strings.Join(tags, ", ")
}

func tagName(tag uint32) string {
	if tag == schedule.AnyTag {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", tag)
}

// messages explains the messages that no receive of a rank took.
func (x *explainer) messages(rank int) {
	for _, it := range x.s.rank[rank].unexpected.list() {
		x.add(aboutMessages, x.number(rank), "the message from rank %d (%s) is never received by rank %d",
			it.source, tagName(it.tag), x.number(rank))
	}
}

// operations explains which operations of a rank are left.
func (x *explainer) operations(rank int) {
	r := &x.s.rank[rank]
	waiting := 0
	for index := range r.ops {
		if r.open == 0 {
			break
		}
		op := &r.ops[index]
		if len(r.state) > 0 && r.state[index].missing > 0 {
			waiting++
			continue
		}
		if op.Kind == schedule.Send && x.large(rank, op) && x.unmatched(rank, index) {
			x.add(aboutOperations, x.number(rank), "rank %d: send %s of %d bytes to rank %d (a rendezvous, larger than S) waits for its receive",
				x.number(rank), x.name(rank, int32(index)), op.Size, op.Peer)
		}
	}
	if waiting > 0 {
		x.add(aboutOperations, x.number(rank), "rank %d: no operation can go on; %d wait for others of the rank", x.number(rank), waiting)
	}
}

func (x *explainer) large(rank int, op *schedule.Op) bool {
	class := x.layout.Class(x.number(rank), int(op.Peer))
	return op.Size > x.layout.Machine.Classes[class].Eager && !op.IsBuffered()
}

// unmatched reports whether the message of a send is still unexpected at its receiver.
func (x *explainer) unmatched(rank, index int) bool {
	peer, send := x.s.rank[rank].ops[index].Peer, sendOf{int32(x.number(rank)), int32(index)}
	if h := x.hostOf(peer); uint32(h) >= uint32(x.hosts) {
		return x.elsewhere[leftover{send, peer}]
	}
	g := x.parts[0]
	for _, it := range x.s.rank[x.local(peer)].unexpected.list() {
		if it.source == send.rank && g.nodes[it.id].b() == send.index {
			return true
		}
	}
	return false
}

// number returns the number in the whole of a rank of this process.
func (x *explainer) number(rank int) int { return int(x.global(int32(rank))) }

// shareLeftovers reports to the processes of the senders which messages were left over here.
func (x *explainer) shareLeftovers(l *link) error {
	g := x.parts[0]
	out := make([][]byte, l.group.Size())
	hosts := x.layout.Hosts()
	for rank := range x.s.rank {
		for _, it := range x.s.rank[rank].unexpected.list() {
			p := cluster.Owner(hosts, x.layout.Host(int(it.source)), len(out))
			out[p] = binary.AppendUvarint(out[p], uint64(it.source))
			out[p] = binary.AppendUvarint(out[p], uint64(g.nodes[it.id].b()))
			out[p] = binary.AppendUvarint(out[p], uint64(x.number(rank)))
		}
	}
	in, err := l.group.Exchange(l.ctx, out)
	if err != nil {
		return err
	}
	x.elsewhere = make(map[leftover]bool)
	for p, data := range in {
		c := chunk.Column{B: data}
		for p != l.group.Rank() && c.Left() > 0 && !c.Bad {
			x.elsewhere[leftover{sendOf{int32(c.Uint()), int32(c.Uint())}, int32(c.Uint())}] = true
		}
	}
	return nil
}

// shareReasons puts the reasons of all processes together, in the order of the ranks.
func (x *explainer) shareReasons(l *link) error {
	all, err := cluster.AllGatherValues(l.ctx, l.group, &x.leftOver)
	if err != nil {
		return err
	}
	x.leftOver = leftOver{}
	for _, part := range all {
		for class := range x.Reasons {
			x.Reasons[class] = append(x.Reasons[class], part.Reasons[class]...)
			x.Count[class] += part.Count[class]
		}
	}
	for _, list := range x.Reasons {
		slices.SortStableFunc(list, func(a, b reason) int { return a.Rank - b.Rank })
	}
	return nil
}
