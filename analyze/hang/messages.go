package hang

import (
	"fmt"
	"slices"

	"slackline/model/state"
)

// inbox is what was sent to a rank and not received: taken by receives that are posted, in the order in which they were, or by none.
type inbox struct {
	left    map[state.Channel]int64 // messages that no receive takes; the peer is the sender
	done    map[uint64]bool         // requests whose message is there
	current []bool                  // by thread: the message of its blocking call is there
}

// inboxes matches, for each rank, what was sent to it with what it has posted.
func inboxes(run *state.Run) []*inbox {
	list := make([]*inbox, len(run.Ranks))
	for r := range list {
		list[r] = &inbox{left: map[state.Channel]int64{}, done: map[uint64]bool{}}
	}
	for src := range run.Ranks {
		for c, n := range run.Ranks[src].Sent {
			if int(c.Peer) < len(list) {
				to := list[c.Peer]
				from := state.Channel{Peer: int32(src), Tag: c.Tag, Comm: c.Comm}
				if n -= run.Ranks[c.Peer].Received[from]; n > 0 {
					to.left[from] = n
				}
			}
		}
	}
	for r := range list {
		list[r].match(&run.Ranks[r])
	}
	return list
}

// match gives messages to receives. Which one a receive from any rank got is not known: it takes what the others leave, so that no rank
// is said to lack a message that may be there.
func (b *inbox) match(rank *state.Rank) {
	b.current = make([]bool, len(rank.Threads))
	for _, exact := range []bool{true, false} {
		for _, q := range rank.Open {
			w := wanted{q.Peer, q.Tag, q.Comm}
			if q.Kind == state.Receive && !q.Parts && w.exact() == exact && b.take(w) {
				b.done[q.ID] = true
			}
		}
		for i := range rank.Threads {
			w, takes, ok := received(rank.Threads[i].Call)
			switch {
			case !ok || w.exact() != exact:
			case takes:
				b.current[i] = b.take(w)
			default:
				_, b.current[i] = b.find(w)
			}
		}
	}
}

// received is what a blocking call receives or looks for, and whether it takes it.
func received(c *state.Call) (w wanted, takes, ok bool) {
	switch {
	case c == nil:
	case c.Kind == state.Receive || c.Kind == state.Probe:
		return wanted{c.Peer, c.Tag, c.Comm}, c.Kind == state.Receive, true
	case c.Kind == state.Exchange && c.Source != state.Nobody:
		return wanted{c.Source, c.SourceTag, c.Comm}, true, true
	}
	return wanted{}, false, false
}

// wanted is what a receive asks for.
type wanted struct {
	peer, tag int32
	comm      uint32
}

func (w wanted) exact() bool { return w.peer != state.Anybody && w.tag != state.AnyTag }

func (w wanted) fits(c state.Channel) bool {
	return c.Comm == w.comm && (w.peer == state.Anybody || w.peer == c.Peer) && (w.tag == state.AnyTag || w.tag == c.Tag)
}

// find returns a channel with a message that fits: the first one, where several do.
func (b *inbox) find(w wanted) (state.Channel, bool) {
	exact := state.Channel{Peer: w.peer, Tag: w.tag, Comm: w.comm}
	if w.exact() {
		return exact, b.left[exact] > 0
	}
	var best *state.Channel
	for c, n := range b.left {
		if n > 0 && w.fits(c) && (best == nil || compare(c, *best) < 0) {
			best = &c
		}
	}
	if best == nil {
		return exact, false
	}
	return *best, true
}

func (b *inbox) take(w wanted) bool {
	c, found := b.find(w)
	if found {
		b.left[c]--
	}
	return found
}

func compare(a, b state.Channel) int {
	return slices.Compare([]int32{a.Peer, int32(a.Comm), a.Tag}, []int32{b.Peer, int32(b.Comm), b.Tag})
}

// unreceived reports whether a message of a rank is one that nobody has posted a receive for: one of the last in its channel. Behind
// are the messages that were sent later through it.
func (a *analysis) unreceived(from int, to, tag int32, comm uint32, behind int64) bool {
	if to < 0 || int(to) >= len(a.inboxes) {
		return false
	}
	return a.inboxes[to].left[state.Channel{Peer: int32(from), Tag: tag, Comm: comm}] > behind
}

// counted reports whether the messages between two ranks are all known; the other one may be any rank.
func (a *analysis) counted(one, other int32) bool {
	if other == state.Anybody {
		other = one
	}
	known := func(r int32) bool { return r >= 0 && int(r) < len(a.run.Ranks) && !a.run.Ranks[r].Partial }
	return known(one) && known(other)
}

// receiveNeed is the need of a receive whose message is not there.
func (a *analysis) receiveNeed(rank int, w wanted) need {
	x := need{why: forMessage, message: &w}
	tag := fmt.Sprintf("tag %d", w.tag)
	if w.tag == state.AnyTag {
		tag = "any tag"
	}
	switch {
	case w.peer == state.Anybody:
		x.any = a.others(rank, w.comm)
		x.what = fmt.Sprintf("a message from any rank (%s, %s)", tag, a.comm(w.comm))
	case w.peer < 0 || int(w.peer) >= len(a.ranks):
		x.unknown = true
	default:
		x.any = []int32{w.peer}
		x.what = fmt.Sprintf("a message from rank %d (%s, %s)", w.peer, tag, a.comm(w.comm))
	}
	return x
}

// sendNeed is the need of a send that nobody receives.
func (a *analysis) sendNeed(to, tag int32, comm uint32, bytes int64) need {
	if to < 0 || int(to) >= len(a.ranks) {
		return need{unknown: true}
	}
	return need{
		any: []int32{to}, why: forReceive, message: &wanted{to, tag, comm},
		what: fmt.Sprintf("rank %d to receive a message of %d bytes (tag %d, %s)", to, bytes, tag, a.comm(comm)),
	}
}

func (a *analysis) comm(number uint32) string {
	if int(number) < len(a.run.Comms) {
		return a.run.Comms[number].Name
	}
	return "an unknown communicator"
}

// members are the ranks of a communicator.
func (a *analysis) members(comm uint32) []int32 {
	if int(comm) >= len(a.run.Comms) {
		return nil
	}
	var list []int32
	for _, m := range slices.Concat(a.run.Comms[comm].Members, a.run.Comms[comm].Remote) {
		if m >= 0 && int(m) < len(a.ranks) {
			list = append(list, m)
		}
	}
	return list
}

// others are the ranks that can send to a rank.
func (a *analysis) others(rank int, comm uint32) []int32 {
	return slices.DeleteFunc(a.members(comm), func(m int32) bool { return int(m) == rank })
}
