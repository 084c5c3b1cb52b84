package trace

import "slices"

// allprofInbox is what is sent to a rank that receives from any source, and what it posts.
type allprofInbox struct {
	posts []allprofMessage
	sends [][]allprofMessage // by sender, in order; peer is the sender's rank in the communicator
}

// matchWildcards finds the messages of receives that do not tell them: of all that fit, the one that was sent first.
func (a *allprofTrace) matchWildcards() {
	inboxes := map[int]*allprofInbox{}
	receives := 0
	for rank, scan := range a.scans {
		if scan != nil && scan.wildcards > 0 {
			inboxes[rank] = &allprofInbox{sends: make([][]allprofMessage, a.trace.Ranks)}
			receives += scan.wildcards
		}
	}
	if receives == 0 {
		return
	}
	for rank, scan := range a.scans {
		if scan != nil {
			a.collectMessages(rank, scan, inboxes)
		}
	}
	a.wildcard = make([][]allprofMatch, a.trace.Ranks)
	lost := 0
	for rank, box := range inboxes {
		a.wildcard[rank] = box.match()
		for _, m := range a.wildcard[rank] {
			if m.source < 0 {
				lost++
			}
		}
	}
	if lost > 0 {
		a.warn("%s: for %d receives from any source, or with any tag, no message was found; they are left out", a.src.show, lost)
	}
}

// collectMessages goes through the file of a rank for what it sends to some ranks and for what it posts, if it
// is one of these.
func (a *allprofTrace) collectMessages(rank int, scan *allprofScan, inboxes map[int]*allprofInbox) {
	file, err := a.src.open(scan.name)
	if err != nil {
		return // reading the events reports it
	}
	defer file.Close()
	offset := int64(0)
	if o := a.trace.Locations[rank].Offsets; len(o) > 0 {
		offset = o[0].Offset
	}
	w := newAllprofWalker(scan, a.o.RequestSize)
	w.bindings, w.plan = a.comms.bindings[rank], scan.plan
	own := inboxes[rank]
	w.observe = func(m *allprofMessage) {
		if m.comm < 0 {
			if !m.send && own != nil && m.wildcard() {
				own.posts = append(own.posts, *m) // so that numbers agree
			}
			return
		}
		members := a.trace.Comms[m.comm].Members
		if !m.send {
			if own != nil {
				post := *m
				post.world = anySource
				if m.peer >= 0 && int(m.peer) < len(members) {
					post.world = members[m.peer]
				}
				own.posts = append(own.posts, post)
			}
			return
		}
		if int(m.peer) >= len(members) {
			return
		}
		if box := inboxes[int(members[m.peer])]; box != nil {
			sent := *m
			sent.time += offset
			sent.peer = rankIn(members, rank)
			box.sends[rank] = append(box.sends[rank], sent)
		}
	}
	_, _ = walkLines(file, w) // reading the events reports errors
}

// rankIn returns the place of a world rank in a communicator.
func rankIn(members []int32, rank int) int32 {
	if rank < len(members) && members[rank] == int32(rank) {
		return int32(rank)
	}
	if i := slices.Index(members, int32(rank)); i >= 0 {
		return int32(i)
	}
	return -2
}

// match gives messages to the posts, in the order of posting, and returns those of the wildcards.
func (b *allprofInbox) match() []allprofMatch {
	var matches []allprofMatch
	heads := make([]int, len(b.sends)) // before them all are taken
	taken := make([][]bool, len(b.sends))
	for s := range taken {
		taken[s] = make([]bool, len(b.sends[s]))
	}
	for i := range b.posts {
		p := &b.posts[i]
		from, at := -1, 0
		senders := len(b.sends)
		if p.world >= 0 {
			senders = 1
		}
		for s := range senders {
			if p.world >= 0 {
				s = int(p.world)
			}
			k := b.first(s, heads, taken[s], p)
			if k >= 0 && (from < 0 || b.sends[s][k].time < b.sends[from][at].time) {
				from, at = s, k
			}
		}
		match := allprofMatch{source: -1}
		if from >= 0 {
			taken[from][at] = true
			match = allprofMatch{b.sends[from][at].peer, b.sends[from][at].tag}
		}
		if p.wildcard() {
			matches = append(matches, match)
		}
	}
	return matches
}

// first returns the first message of a sender that a post can take; -1 if there is none.
func (b *allprofInbox) first(sender int, heads []int, taken []bool, p *allprofMessage) int {
	list := b.sends[sender]
	for heads[sender] < len(list) && taken[heads[sender]] {
		heads[sender]++
	}
	for k := heads[sender]; k < len(list); k++ {
		m := &list[k]
		if !taken[k] && m.comm == p.comm && (p.peer == anySource || p.peer == m.peer) && (p.tag == anyTag || p.tag == m.tag) {
			return k
		}
	}
	return -1
}
