package hang

import (
	"fmt"
	"slices"

	"slackline/model/state"
)

// mismatch looks for a message that a waiting rank did not receive although it nearly fits.
func (a *analysis) mismatch(f *Finding, rank int, w *wanted) bool {
	var best *state.Channel
	score := func(c state.Channel) int { // lower is nearer
		switch {
		case c.Peer == w.peer && c.Comm == w.comm:
			return 0 // another tag
		case c.Peer == w.peer && c.Tag == w.tag:
			return 1 // another communicator
		case c.Comm == w.comm && c.Tag == w.tag:
			return 2 // another sender
		case c.Peer == w.peer:
			return 3
		}
		return 4
	}
	for c, n := range a.inboxes[rank].left {
		if n <= 0 || !a.counted(int32(rank), c.Peer) || score(c) > 3 || score(c) == 2 && f.Kind != &finishedRank {
			continue
		}
		if best == nil || score(c) < score(*best) || score(c) == score(*best) && compare(c, *best) < 0 {
			best = &c
		}
	}
	if best == nil {
		return false
	}
	f.Kind = &mismatchedMessage
	f.Mistake = fmt.Sprintf("Rank %d has sent rank %d a message with tag %d on %s that no rank receives: %s.",
		best.Peer, rank, best.Tag, a.comm(best.Comm), a.wrong(*best, w))
	f.add(int(best.Peer), rank)
	return true
}

// wrong says in what a message differs from what is waited for.
func (a *analysis) wrong(c state.Channel, w *wanted) string {
	switch {
	case c.Peer != w.peer && w.peer >= 0:
		return fmt.Sprintf("the receive names rank %d as the source", w.peer)
	case c.Tag != w.tag && w.tag != state.AnyTag && c.Comm != w.comm:
		return fmt.Sprintf("the receive has tag %d on %s", w.tag, a.comm(w.comm))
	case c.Tag != w.tag && w.tag != state.AnyTag:
		return fmt.Sprintf("the receive has tag %d", w.tag)
	}
	return fmt.Sprintf("the receive is on %s", a.comm(w.comm))
}

// receiver looks for a receive that nearly fits a message which nobody receives.
func (a *analysis) receiver(f *Finding, rank int, sent *wanted) bool {
	to := int(sent.peer)
	if to < 0 || to >= len(a.ranks) || !a.counted(int32(rank), sent.peer) {
		return false
	}
	check := func(w wanted) bool {
		near := (w.peer == int32(rank) || w.peer == state.Anybody) && !w.fits(state.Channel{Peer: int32(rank), Tag: sent.tag, Comm: sent.comm})
		if near {
			f.Kind = &mismatchedMessage
			f.Mistake = fmt.Sprintf("Rank %d sends with tag %d on %s, and rank %d receives with %s on %s.",
				rank, sent.tag, a.comm(sent.comm), to, tagName(w.tag), a.comm(w.comm))
			f.add(rank, to)
		}
		return near
	}
	for i, t := range a.run.Ranks[to].Threads {
		if w, takes, _ := received(t.Call); takes && !a.inboxes[to].current[i] && check(w) {
			return true
		}
	}
	for _, q := range a.run.Ranks[to].Open {
		if q.Kind == state.Receive && !a.inboxes[to].done[q.ID] && check(wanted{q.Peer, q.Tag, q.Comm}) {
			return true
		}
	}
	return false
}

func tagName(tag int32) string {
	if tag == state.AnyTag {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", tag)
}

// add takes ranks among the culprits.
func (f *Finding) add(ranks ...int) {
	for _, r := range ranks {
		if !slices.Contains(f.Culprits, r) {
			f.Culprits = append(f.Culprits, r)
		}
	}
	slices.Sort(f.Culprits)
}

// collectiveMistake finds collectives that do not fit, or are on different communicators.
func (a *analysis) collectiveMistake(f *Finding) bool {
	comms := map[uint32][]int{}
	for _, r := range f.Culprits {
		for _, x := range a.unmet(r) {
			if x.why != forCollective {
				continue
			}
			if x.never {
				a.explainMismatch(f, x)
				return true
			}
			if x.instance.of == ofComm {
				comms[x.instance.object] = append(comms[x.instance.object], r)
			}
			break // all needs of a rank are of one collective
		}
	}
	in := 0
	for _, list := range comms {
		in += len(list)
	}
	if len(comms) < 2 || in < len(f.Culprits) {
		return false
	}
	f.Kind = &otherCommunicator
	f.Sentence = a.circle(f.Cycle)
	f.Mistake = "The ranks call collectives on different communicators: in different orders, or one of them on the wrong one."
	return true
}

// explainMismatch names those who came to a collective with other arguments than most.
func (a *analysis) explainMismatch(f *Finding, x need) {
	ranks, where := a.ranksOf(*x.instance)
	type group struct {
		call  state.Collective
		ranks []int
	}
	var groups []*group
	for _, m := range ranks {
		c := a.seriesOf(int(m), *x.instance).At(x.instance.number)
		if c == nil {
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return differ(&g.call, c, 0, a.between(*x.instance)) == "" })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{call: *c})
		}
		groups[i].ranks = append(groups[i].ranks, int(m))
	}
	slices.SortStableFunc(groups, func(x, y *group) int { return len(y.ranks) - len(x.ranks) })
	if len(groups) < 2 {
		return
	}
	most, other := groups[0], groups[1]
	f.Culprits = nil
	for _, g := range groups[1:] {
		f.Culprits = append(f.Culprits, g.ranks...)
	}
	if len(most.ranks) == len(other.ranks) {
		f.Culprits = append(f.Culprits, most.ranks...)
	}
	slices.Sort(f.Culprits)
	number := x.instance.number + 1
	one, two := most.call, other.call
	switch {
	case one.Name != two.Name:
		f.Kind = &mismatchedCollective
		f.Sentence = fmt.Sprintf("Call number %d on %s is %s on %s and %s on %s.",
			number, where, one.Name, lower(Ranks(most.ranks)), two.Name, lower(Ranks(other.ranks)))
		f.Mistake = "A collective stands in a branch that depends on the rank, or two of them in another order."
	case one.Root != two.Root:
		f.Kind = &mismatchedRoot
		f.Sentence = fmt.Sprintf("In %s on %s (call number %d), the root is rank %d on %s and rank %d on %s.",
			one.Name, where, number, one.Root, lower(Ranks(most.ranks)), two.Root, lower(Ranks(other.ranks)))
		f.Mistake = "The root is computed from something that differs between the ranks."
	default:
		f.Kind = &mismatchedSize
		f.Sentence = fmt.Sprintf("In %s on %s (call number %d), the sizes differ: %s (%s).",
			one.Name, where, number, x.differs, lower(Ranks(other.ranks)))
		f.Mistake = "The count or the type differs between the ranks."
	}
}

// lockMistake finds a lock whose holder waits for something else.
func (a *analysis) lockMistake(f *Finding) bool {
	for _, e := range f.Cycle {
		x := a.needFor(e.From, []int{e.To})
		if x.why != forLock {
			continue
		}
		f.Kind = &heldLock
		f.Sentence = a.circle(f.Cycle)
		f.Mistake = fmt.Sprintf("Rank %d holds the lock while it waits in %s: it must call MPI_Win_unlock before.", e.To, a.callName(e.To))
		return true
	}
	return false
}
