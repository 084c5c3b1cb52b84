package record

import (
	"slackline/model/state"
	"slackline/model/timeline"
)

// state turns what a rank knows by its own numbers into what all of them mean by it.
func (n *rankNow) state(now *clocks, comms []timeline.Comm, windows []timeline.Object) state.Rank {
	head := n.files[0].head
	t := &translation{rankNow: n, all: comms, windows: windows}
	r := state.Rank{Status: n.status, Host: head.host, PID: head.pid, Partial: n.history.partial || n.status == state.Unreadable}
	for i, thread := range n.threads {
		r.Partial = r.Partial || thread.partial
		s := thread.describe(n.history, now.of(head), n.moved[i])
		t.call(s.Call)
		r.Threads = append(r.Threads, s)
	}
	r.Sent, r.Received = t.channels(n.history.sent.of), t.channels(n.history.received.of)
	for _, q := range n.history.requests() {
		if t.request(&q) {
			r.Open = append(r.Open, q)
		}
	}
	r.Collectives = map[uint32]*state.Series{}
	for id, s := range n.history.collectives {
		comm, known := n.numbers[id]
		if !known {
			continue
		}
		for i := range s.Last {
			s.Last[i].Root = t.rank(comm, n.comms[id].rank, s.Last[i].Root, state.NoRoot)
		}
		r.Collectives[comm] = s
	}
	r.OnWindow, r.OnFile = t.ofObjects(n.history.windows), t.ofObjects(n.history.files)
	for _, l := range n.history.locks {
		if o, known := n.objects[l.Window]; known {
			r.Locks = append(r.Locks, state.Lock{Window: o.number, Target: t.onWindow(o.number, l.Target), Shared: l.Shared})
		}
	}
	r.Epochs = map[state.Epoch]*state.Exposure{}
	for e, x := range n.history.epochs {
		if o, known := n.objects[e.Window]; known {
			r.Epochs[state.Epoch{Window: o.number, Peer: t.onWindow(o.number, e.Peer)}] = x
		}
	}
	return r
}

// translation turns ranks in communicators into ranks, and numbers of one rank into those of the run.
type translation struct {
	*rankNow
	all     []timeline.Comm
	windows []timeline.Object
}

// rank is a rank of a communicator of the run as others see it; what is not a rank stays, or becomes otherwise.
func (t *translation) rank(comm uint32, own int, peer, otherwise int32) int32 {
	if peer < 0 {
		return otherwise
	}
	c := &t.all[comm]
	group := c.Members
	if len(c.Remote) > 0 && (own < len(group) && group[own] == int32(t.files[0].rank)) {
		group = c.Remote // messages go to the other group
	}
	if int(peer) >= len(group) {
		return state.Nobody
	}
	return group[peer]
}

func (t *translation) peer(id uint32, peer int32) int32 {
	comm, known := t.numbers[id]
	if !known {
		return state.Nobody
	}
	return t.rank(comm, t.comms[id].rank, peer, max(peer, state.Anybody))
}

func (t *translation) channels(from map[state.Channel]*int64) map[state.Channel]int64 {
	to := make(map[state.Channel]int64, len(from))
	for c, n := range from {
		if peer := t.peer(c.Comm, c.Peer); peer >= 0 {
			to[state.Channel{Peer: peer, Tag: c.Tag, Comm: t.numbers[c.Comm]}] += *n
		}
	}
	return to
}

func (t *translation) request(q *state.Request) (known bool) {
	switch q.Kind {
	case state.OnWindow, state.OnFile:
		o, known := t.objects[q.Comm]
		if q.Kind == state.OnWindow {
			q.Peer = t.onWindow(o.number, q.Peer)
		}
		q.Comm = o.number
		return known
	}
	comm, known := t.numbers[q.Comm]
	q.Peer = t.peer(q.Comm, q.Peer)
	q.Comm = comm
	return known
}

func (t *translation) ofObjects(from map[uint32]*state.Series) map[uint32]*state.Series {
	to := map[uint32]*state.Series{}
	for id, s := range from {
		if o, known := t.objects[id]; known {
			to[o.number] = s
		}
	}
	return to
}

// onWindow is a rank of the group of a window.
func (t *translation) onWindow(window uint32, target int32) int32 {
	if target < 0 || int(window) >= len(t.windows) {
		return target
	}
	members := t.all[t.windows[window].Comm].Members
	if int(target) >= len(members) {
		return state.Nobody
	}
	return members[target]
}

func (t *translation) call(c *state.Call) {
	if c == nil {
		return
	}
	switch c.Kind {
	case state.OnWindow, state.Start, state.Wait, state.Locking, state.OnFile:
		o, known := t.objects[c.Object]
		if !known {
			c.Kind = state.Other
			return
		}
		c.Object = o.number
		if c.Kind == state.OnFile {
			return
		}
		c.Peer = t.onWindow(o.number, c.Peer)
		group := make([]int32, 0, len(c.Group))
		for _, r := range c.Group {
			group = append(group, t.onWindow(o.number, r))
		}
		c.Group = group
		return
	}
	if !c.HasComm {
		return
	}
	comm, known := t.numbers[c.Comm]
	if !known {
		c.Kind, c.HasComm = state.Other, false
		return
	}
	c.Peer, c.Source = t.peer(c.Comm, c.Peer), t.peer(c.Comm, c.Source)
	c.Comm = comm
}
