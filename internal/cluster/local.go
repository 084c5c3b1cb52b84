package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Local returns size groups that are joined in memory, one for each goroutine
// that takes the place of a process. A goroutine that gives up calls its Break, or all
// others would wait forever.
func Local(size int) []*Member {
	hub := &hub{
		parts:  make([][][]byte, size),
		broken: make(chan struct{}),
		inbox:  make([]mailbox, size),
	}
	hub.arrived = sync.NewCond(&hub.mu)
	members := make([]*Member, size)
	for rank := range members {
		hub.inbox[rank].ready = make(chan struct{}, 1)
		members[rank] = &Member{hub: hub, rank: rank}
	}
	return members
}

// Member is one process of a Local group.
type Member struct {
	hub     *hub
	rank    int
	mu      sync.Mutex // guards traffic
	traffic Traffic
}

var _ Group = (*Member)(nil)

// hub is what the members of a Local group share.
type hub struct {
	mu      sync.Mutex
	arrived *sync.Cond
	parts   [][][]byte // by sender, then receiver; of the exchange under way
	waiting int        // members that have given their parts
	taken   int        // members that have yet to take theirs
	round   int64
	down    bool
	broken  chan struct{}
	inbox   []mailbox
}

// mailbox holds the messages to one member.
type mailbox struct {
	mu    sync.Mutex
	mail  []letter
	ready chan struct{} // has an element while there may be mail
}

type letter struct {
	from int
	data []byte
}

// Rank is the number of this member.
func (m *Member) Rank() int { return m.rank }

// Size is the number of members.
func (m *Member) Size() int { return len(m.hub.parts) }

// Traffic is what this member has exchanged so far.
func (m *Member) Traffic() Traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.traffic
}

// count adds to what this member has exchanged.
func (m *Member) count(t Traffic) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.traffic.Exchanges += t.Exchanges
	m.traffic.Messages += t.Messages
	m.traffic.Sent += t.Sent
	m.traffic.Received += t.Received
}

// Break ends the group: what waits or comes returns ErrBroken.
func (m *Member) Break() {
	h := m.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.down {
		h.down = true
		close(h.broken)
		h.arrived.Broadcast()
	}
}

// Exchange is that of Group. An interrupt is seen before it waits and, as in an
// MPI job, breaks the group.
func (m *Member) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	h := m.hub
	if err := checkExchange(out, len(h.parts)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, m.Break)
	defer stop()
	copies := make([][]byte, len(out))
	for p, part := range out {
		copies[p] = slices.Clone(part)
	}
	in, err := h.exchange(m.rank, copies)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	moved := Traffic{Exchanges: 1}
	for p := range in {
		if p != m.rank {
			moved.Sent += int64(len(out[p]))
			moved.Received += int64(len(in[p]))
		}
	}
	m.count(moved)
	return in, nil
}

// exchange puts the parts of a member down, waits for those of the others and
// takes its own.
func (h *hub) exchange(rank int, parts [][]byte) ([][]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.taken > 0 && !h.down { // a member is still in the exchange before
		h.arrived.Wait()
	}
	h.parts[rank] = parts
	h.waiting++
	round := h.round
	if h.waiting == len(h.parts) {
		h.waiting, h.taken = 0, len(h.parts)
		h.round++
		h.arrived.Broadcast()
	}
	for round == h.round && !h.down {
		h.arrived.Wait()
	}
	if h.down {
		return nil, ErrBroken
	}
	in := make([][]byte, len(h.parts))
	for from := range h.parts {
		in[from] = h.parts[from][rank]
	}
	if h.taken--; h.taken == 0 {
		h.arrived.Broadcast()
	}
	return in, nil
}

// Send is that of Group.
func (m *Member) Send(ctx context.Context, to int, data []byte) error {
	h := m.hub
	if to < 0 || to >= len(h.inbox) {
		return fmt.Errorf("message to process %d of %d", to, len(h.inbox))
	}
	if err := h.state(ctx); err != nil {
		return err
	}
	box := &h.inbox[to]
	box.mu.Lock()
	box.mail = append(box.mail, letter{m.rank, slices.Clone(data)})
	box.mu.Unlock()
	select {
	case box.ready <- struct{}{}:
	default:
	}
	moved := Traffic{Messages: 1}
	if to != m.rank {
		moved.Sent = int64(len(data))
	}
	m.count(moved)
	return nil
}

// state is the error of an interrupted or broken group.
func (h *hub) state(ctx context.Context) error {
	select {
	case <-h.broken:
		return ErrBroken
	default:
		return ctx.Err()
	}
}

// Receive is that of Group.
func (m *Member) Receive(ctx context.Context) (int, []byte, error) {
	box := &m.hub.inbox[m.rank]
	for {
		box.mu.Lock()
		if len(box.mail) > 0 {
			first := box.mail[0]
			box.mail = slices.Delete(box.mail, 0, 1)
			box.mu.Unlock()
			if first.from != m.rank {
				m.count(Traffic{Received: int64(len(first.data))})
			}
			return first.from, first.data, nil
		}
		box.mu.Unlock()
		select {
		case <-box.ready:
		case <-m.hub.broken:
			return 0, nil, ErrBroken
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}
