package simulate

import (
	"fmt"
	"strings"

	"slackline/model/schedule"
)

// UnfinishedError says why a run came to an end before its program did (rule R12): receives that
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

func (e *UnfinishedError) add(format string, args ...any) {
	if len(e.Reasons) == maxReasons {
		e.More++
		return
	}
	e.Reasons = append(e.Reasons, fmt.Sprintf(format, args...))
}

// checkFinished returns an UnfinishedError if a rank has not come to the end of its program or a
// message was left over.
func (r *run) checkFinished(s *generalState, parts []*general) error {
	var e *UnfinishedError
	for rank := range s.rank {
		q := &s.rank[rank]
		if q.open == 0 && q.posted.len() == 0 && q.unexpected.len() == 0 {
			continue
		}
		if e == nil {
			e = &UnfinishedError{}
			if g, ok := r.program.(*schedule.Graph); ok && g.Names != nil {
				e.File = g.Names.File
			}
		}
	}
	if e == nil {
		return nil
	}
	x := explainer{r, s, parts, e}
	for rank := range s.rank {
		x.receives(rank)
	}
	for rank := range s.rank {
		x.messages(rank)
	}
	for rank := range s.rank {
		x.operations(rank)
	}
	return e
}

// explainer finds the words for what is left over.
type explainer struct {
	*run
	s     *generalState
	parts []*general
	e     *UnfinishedError
}

// name returns what to call operation index of the present block of a rank.
func (x *explainer) name(rank int, index int32) string {
	r := &x.s.rank[rank]
	if g, ok := x.program.(*schedule.Graph); ok && !g.Shape().Collectives {
		at := r.base + int(index)
		if line := g.Line(rank, at); line > 0 {
			return fmt.Sprintf("%s (line %d)", g.Name(rank, at), line)
		}
		return g.Name(rank, at)
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
		x.e.add("rank %d: receive %s waits for %s from %s%s, and is never matched",
			rank, x.name(rank, it.id), tagName(it.tag), from, others)
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
		x.e.add("the message from rank %d (%s) is never received by rank %d", it.source, tagName(it.tag), rank)
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
			x.e.add("rank %d: send %s of %d bytes to rank %d (a rendezvous, larger than S) waits for its receive",
				rank, x.name(rank, int32(index)), op.Size, op.Peer)
		}
	}
	if waiting > 0 {
		x.e.add("rank %d: no operation can go on; %d wait for others of the rank", rank, waiting)
	}
}

func (x *explainer) large(rank int, op *schedule.Op) bool {
	class := x.layout.Class(rank, int(op.Peer))
	return op.Size > x.layout.Machine.Classes[class].Eager
}

// unmatched reports whether the message of a send is still unexpected at its receiver.
func (x *explainer) unmatched(rank, index int) bool {
	peer := x.s.rank[rank].ops[index].Peer
	g := x.parts[0]
	for _, it := range x.s.rank[peer].unexpected.list() {
		if it.source == int32(rank) && g.nodes[it.id].b() == int32(index) {
			return true
		}
	}
	return false
}
