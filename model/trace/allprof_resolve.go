package trace

import (
	"cmp"
	"fmt"
	"slices"

	"slackline/model/timeline"
	"slackline/model/trace/allprof"
)

// allprofComms finds out what the handles of communicators mean. A handle tells nothing but the own rank in it and
// its size, so the ranks are followed from one making of a communicator to the next, as MPI does it: all
// members of a communicator take part in each MPI_Comm_split and MPI_Comm_dup of it, in the same order. A
// handle that comes up later is the oldest one made that has no handle yet and fits.
type allprofComms struct {
	list     []timeline.Comm
	bindings [][]allprofBinding // by rank
	ranks    []allprofRankComms
	pending  map[int32]map[int32]allprofCommUse // by communicator and member: who waits for the others
	copies   []int32                            // communicators of all ranks whose making is not recorded
	selves   map[int]int32
}

// allprofRankComms is how far a rank has come.
type allprofRankComms struct {
	uses    []allprofCommUse // that are still to come
	handles map[int64]int32
	unnamed []int32 // made, without a handle yet
	copies  int
	waits   bool // for the other members
	world   bool // has a handle
}

// resolveComms finds out what all handles mean.
func resolveComms(a *allprofTrace) *allprofComms {
	n := a.trace.Ranks
	c := &allprofComms{
		bindings: make([][]allprofBinding, n), ranks: make([]allprofRankComms, n),
		pending: map[int32]map[int32]allprofCommUse{}, selves: map[int]int32{},
	}
	world := make([]int32, n)
	for r := range world {
		world[r] = int32(r)
		c.ranks[r].handles = map[int64]int32{}
		if scan := a.scans[r]; scan != nil {
			c.ranks[r].uses = scan.comms
		}
	}
	c.add("MPI_COMM_WORLD", world)
	for {
		moved := false
		for r := range c.ranks {
			moved = c.advance(r) || moved
		}
		if !moved && !c.giveUp() {
			break
		}
	}
	c.warn(a)
	return c
}

func (c *allprofComms) add(name string, members []int32) int32 {
	c.list = append(c.list, timeline.Comm{Name: name, Members: members})
	return int32(len(c.list) - 1)
}

// advance follows a rank as far as it does not wait for others. It reports whether it moved.
func (c *allprofComms) advance(rank int) bool {
	r := &c.ranks[rank]
	moved := false
	for len(r.uses) > 0 && !r.waits {
		u := r.uses[0]
		moved = true
		if comm, ok := r.handles[u.Handle]; u.action != allprof.DoNothing && ok && comm >= 0 {
			r.waits = true
			c.take(comm, rank, u) // goes on when all have come
			continue
		}
		if u.action == allprof.DoNothing {
			c.bind(rank, &u)
		}
		r.uses = r.uses[1:]
	}
	return moved
}

// bind finds out what a handle means.
func (c *allprofComms) bind(rank int, u *allprofCommUse) {
	r := &c.ranks[rank]
	comm := int32(-1)
	fits := func(made int32) bool {
		members := c.list[made].Members
		return len(members) == u.Size && (u.Rank < 0 || members[u.Rank] == int32(rank))
	}
	at := slices.IndexFunc(r.unnamed, fits)
	switch {
	case u.Size == len(c.ranks) && !r.world:
		comm, r.world = 0, true
	case at >= 0:
		comm = r.unnamed[at]
		r.unnamed = slices.Delete(r.unnamed, at, at+1)
	case u.Size == len(c.ranks):
		for len(c.copies) <= r.copies {
			c.copies = append(c.copies, c.add(fmt.Sprintf("copy of MPI_COMM_WORLD %d", len(c.copies)+1), c.list[0].Members))
		}
		comm = c.copies[r.copies]
		r.copies++
	case u.Size == 1:
		if _, ok := c.selves[rank]; !ok {
			c.selves[rank] = c.add("MPI_COMM_SELF", []int32{int32(rank)})
		}
		comm = c.selves[rank]
	}
	r.handles[u.Handle] = comm
	c.bindings[rank] = append(c.bindings[rank], allprofBinding{u.line, u.Handle, comm})
}

// take lets a member take part in the making of communicators. When all have come they are made.
func (c *allprofComms) take(comm int32, rank int, u allprofCommUse) {
	if c.pending[comm] == nil {
		c.pending[comm] = map[int32]allprofCommUse{}
	}
	all := c.pending[comm]
	all[int32(rank)] = u
	members := c.list[comm].Members
	if len(all) < len(members) {
		return
	}
	delete(c.pending, comm)
	groups := map[int64][]int32{}
	var colors []int64
	for _, m := range members {
		use := all[m]
		if use.action == allprof.DoDup {
			use.color, use.key = 0, 0
		}
		if use.color >= 0 { // else it takes no part
			if groups[use.color] == nil {
				colors = append(colors, use.color)
			}
			groups[use.color] = append(groups[use.color], m)
		}
	}
	slices.Sort(colors)
	for _, color := range colors {
		group := groups[color]
		slices.SortStableFunc(group, func(x, y int32) int {
			if all[x].action == allprof.DoDup {
				return 0
			}
			return cmp.Compare(all[x].key, all[y].key)
		})
		made := c.add(fmt.Sprintf("communicator %d", len(c.list)), group)
		for _, m := range group {
			c.ranks[m].unnamed = append(c.ranks[m].unnamed, made)
		}
	}
	for _, m := range members {
		c.ranks[m].waits = false
		c.ranks[m].uses = c.ranks[m].uses[1:]
	}
}

// giveUp lets those that wait go on without a communicator. It reports whether a rank waited.
func (c *allprofComms) giveUp() bool {
	waited := false
	for r := range c.ranks {
		if c.ranks[r].waits {
			c.ranks[r].waits, c.ranks[r].uses = false, c.ranks[r].uses[1:]
			waited = true
		}
	}
	clear(c.pending)
	return waited
}

// warn reports handles that mean nothing.
func (c *allprofComms) warn(a *allprofTrace) {
	listed := 0
	for rank, list := range c.bindings {
		for _, b := range list {
			if b.comm >= 0 {
				continue
			}
			if listed++; listed <= maxListed {
				a.warn("%s:%d: the members of communicator %d are unknown; messages in it are left out", a.scans[rank].show, b.line, b.handle)
			}
		}
	}
	if listed > maxListed {
		a.warn("%s: there are %d more communicators with unknown members", a.src.show, listed-maxListed)
	}
}

// allprofInbox is what is sent to a rank that receives from any source, and what it posts.
type allprofInbox struct {
	posts []allprofMessage
	sends [][]allprofMessage // by sender, in order; peer is the sender's rank in the communicator
}

// matchWildcards finds the messages of receives without a known message: of all that fit, the one that was sent first.
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
