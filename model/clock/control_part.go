package clock

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// Shared describes what a part of a run has to do with those of others, if several processes of a job (here: partners) share
// it. The Run of a partner has the moments of its own processes, and none of the others; messages and groups
// are those that its processes take part in, under numbers of its own.
type Shared struct {
	Group cluster.Group // of the partners

	Peer []int32   // by message: the partner that has its other end; -1: both ends are here
	From [][]int32 // by partner: the messages from it to here, in an order that both know
	To   [][]int32 // by partner: the messages from here to it, in that order

	With   [][]int32                   // by group: the other partners that have members of it
	Owner  []int32                     // by group: the partner that looks whether it is violated; one that has members of it
	ID     []uint64                    // by group: what all partners call it
	Lookup func(id uint64) (int, bool) // the group that is called so
}

// ControlTogether is Control of a run that several partners share, each with the moments of its own processes; all of them
// call it. Shifts are those of the moments here, everything else is that of the whole run, and all is as if one
// had all moments.
//
// Going forward, every partner goes on with its processes as far as it can, then they send each other when what concerns
// others happened, until no process can go on: so many rounds as a chain of messages and groups changes from one partner to
// another, at most. If none can go on before the end, those that Control would let go on without what they need do so, one
// after the other. Going backward, one exchange sends when ends are; the rest is local.
//
// Without others, s is nil, it is Control.
func ControlTogether(ctx context.Context, r *Run, s *Shared) (Controlled, error) {
	if s == nil {
		return Control(r), nil
	}
	var out Controlled
	var err error
	if out.Before, err = CheckTogether(ctx, r, nil, s); err != nil {
		return out, err
	}
	f := &forwardTogether{forward: newForward(r), shared: s, ctx: ctx, out: make([][]byte, s.Group.Size())}
	f.tell = f.tellOthers
	f.order = orders(s)
	if err := f.run(); err != nil {
		return out, err
	}
	if err := f.sendEnds(); err != nil {
		return out, err
	}
	f.spread()
	out.Shifts, out.Unresolved = f.shifts, f.unresolved
	if out.After, err = CheckTogether(ctx, r, out.Shifts, s); err != nil {
		return out, err
	}
	type moved struct {
		Moved    int64
		Furthest unit.Duration
	}
	own := moved{}
	own.Moved, own.Furthest = movedBy(out.Shifts)
	all, err := cluster.AllGatherValues(ctx, s.Group, &own)
	for _, m := range all {
		out.Moved += m.Moved
		out.Furthest = max(out.Furthest, m.Furthest)
	}
	return out, err
}

// orders returns by message its number among those to the same partner.
func orders(s *Shared) []int32 {
	order := make([]int32, len(s.Peer))
	for _, list := range s.To {
		for i, join := range list {
			order[join] = int32(i)
		}
	}
	return order
}

// forwardTogether is a forward pass that waits for others.
type forwardTogether struct {
	*forward
	shared *Shared
	ctx    context.Context
	order  []int32 // by message to a partner: its number
	out    [][]byte
}

// What partners send each other.
const (
	toldSent byte = iota + 1
	toldBegin
	toldEnd
)

// tellOthers notes what others must know of a moment.
func (f *forwardTogether) tellOthers(m *Moment, t unit.Duration) {
	s := f.shared
	switch m.Kind {
	case Sent:
		if p := s.Peer[m.Join]; p >= 0 {
			f.out[p] = binary.AppendUvarint(append(f.out[p], toldSent), uint64(f.order[m.Join]))
			f.out[p] = chunk.AppendInt(f.out[p], int64(t))
		}
	case Begin:
		for _, p := range s.With[m.Join] {
			f.out[p] = appendMember(append(f.out[p], toldBegin), s.ID[m.Join], m.Member, t)
		}
	}
}

func appendMember(b []byte, id uint64, member int32, t unit.Duration) []byte {
	b = binary.AppendUvarint(b, id)
	b = binary.AppendUvarint(b, uint64(member))
	return chunk.AppendInt(b, int64(t))
}

// run goes through all processes; see forward.run.
func (f *forwardTogether) run() error {
	for {
		for more := true; more; {
			f.drain()
			var err error
			if more, err = f.exchange(); err != nil {
				return err
			}
		}
		stuck, err := f.stuckTogether()
		if err != nil || len(stuck) == 0 {
			return err
		}
		for _, p := range stuck {
			f.unresolved++
			if f.next[p] < len(f.Moments[p]) {
				f.process(p, true)
			}
			if _, err := f.exchange(); err != nil { // what the next one needs may be known then
				return err
			}
		}
	}
}

// exchange sends and receives what happened; more reports whether any had something to send.
func (f *forwardTogether) exchange() (more bool, err error) {
	busy := byte(0)
	for _, b := range f.out {
		if len(b) > 0 {
			busy = 1
		}
	}
	out := make([][]byte, len(f.out))
	for p, b := range f.out {
		out[p] = append([]byte{busy}, b...)
		f.out[p] = b[:0]
	}
	in, err := f.shared.Group.Exchange(f.ctx, out)
	if err != nil {
		return false, err
	}
	for p := range in {
		c := chunk.Column{B: in[p]}
		more = c.Byte() == 1 || more
		for c.Left() > 0 {
			if !f.receive(p, &c) {
				return false, cluster.ErrGarbled
			}
		}
	}
	return more, nil
}

// receive takes what a partner sends.
func (f *forwardTogether) receive(p int, c *chunk.Column) bool {
	s := f.shared
	if c.Byte() == toldSent {
		i, t := c.Uint(), unit.Duration(c.Int())
		if c.Bad || i >= uint64(len(s.From[p])) {
			return false
		}
		f.happened(&Moment{Join: s.From[p][i], Kind: Sent}, t)
		return true
	}
	join, member, t, ok := s.readMember(c)
	if ok {
		f.happened(&Moment{Join: join, Member: member, Kind: Begin}, t)
	}
	return ok
}

// readMember reads something about a member of a group.
func (s *Shared) readMember(c *chunk.Column) (join, member int32, t unit.Duration, ok bool) {
	id, of, at := c.Uint(), c.Uint(), unit.Duration(c.Int())
	group, found := s.Lookup(id)
	return int32(group), int32(of), at, found && !c.Bad
}

// stuckTogether returns the processes that go on without what they need: the first ones of those of all partners.
func (f *forwardTogether) stuckTogether() ([]int32, error) {
	type waiting struct {
		Time    unit.Duration
		Process int32
	}
	most := 1 + int(f.unresolved)
	var own []waiting
	for _, p := range f.stuck() {
		if len(own) < most {
			own = append(own, waiting{f.Moments[p][f.next[p]].Time, p})
		}
	}
	lists, err := cluster.AllGatherValues(f.ctx, f.shared.Group, &own)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b waiting) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Process, b.Process)) })
	var stuck []int32
	for _, w := range all[:min(len(all), most)] {
		if w.Process < 0 || int(w.Process) >= len(f.Moments) {
			return nil, cluster.ErrGarbled
		}
		stuck = append(stuck, w.Process)
	}
	return stuck, nil
}

// sendEnds sends others when messages from them were received and groups ended, as far as that limits their starts.
func (f *forwardTogether) sendEnds() error {
	s := f.shared
	out := make([][]byte, s.Group.Size())
	for p, list := range s.From {
		for _, join := range list {
			out[p] = chunk.AppendInt(out[p], int64(f.received[join]))
		}
	}
	for i := range f.groups {
		g := &f.groups[i]
		for _, p := range s.With[i] {
			if g.prefix == nil && g.firstEnd != unknown {
				out[p] = appendMember(out[p], s.ID[i], 0, g.firstEnd)
			}
			for member := 0; g.prefix != nil && member < len(g.prefix.ends); member++ {
				if t := g.prefix.ends[member]; t != unknown {
					out[p] = appendMember(out[p], s.ID[i], int32(member), t)
				}
			}
		}
	}
	in, err := s.Group.Exchange(f.ctx, out)
	if err != nil {
		return err
	}
	for p := range in {
		c := chunk.Column{B: in[p]}
		for _, join := range s.To[p] {
			f.received[join] = unit.Duration(c.Int())
		}
		for c.Left() > 0 {
			join, member, t, ok := s.readMember(&c)
			if !ok || int(join) >= len(f.groups) || member >= f.groups[join].Size {
				return cluster.ErrGarbled
			}
			f.groups[join].heardEnd(member, t)
		}
		if c.Bad {
			return cluster.ErrGarbled
		}
	}
	return nil
}

// heardEnd takes the end of a member elsewhere.
func (g *groupState) heardEnd(member int32, t unit.Duration) {
	if g.prefix != nil {
		g.prefix.ends[member] = t
	} else if g.firstEnd == unknown || t < g.firstEnd {
		g.firstEnd = t
	}
}

// CheckTogether is Check of a run that several partners share: it finds the violations of the whole run. Without others s is nil.
func CheckTogether(ctx context.Context, r *Run, shifts [][]unit.Duration, s *Shared) (Violations, error) {
	if s == nil {
		return Check(r, shifts), nil
	}
	own, err := s.check(ctx, r, shifts)
	if err != nil {
		return Violations{}, err
	}
	all, err := cluster.AllGatherValues(ctx, s.Group, &own)
	sum := Violations{}
	for _, v := range all {
		sum.Messages += v.Messages
		sum.Groups += v.Groups
		sum.Worst = max(sum.Worst, v.Worst)
	}
	return sum, err
}

// check finds the violations of the messages that are received here, and of the groups for which this partner answers. It sends others when
// what they look at happened, and receives it.
func (s *Shared) check(ctx context.Context, r *Run, shifts [][]unit.Duration) (Violations, error) {
	x := newSeen(r)
	elsewhere := func(m *Moment) bool {
		return (m.Kind == Begin || m.Kind == End) && int(s.Owner[m.Join]) != s.Group.Rank()
	}
	out := make([][]byte, s.Group.Size())
	members := make([][]byte, s.Group.Size())
	r.each(shifts, func(m *Moment, t unit.Duration) {
		if !elsewhere(m) {
			x.begin(m, t)
			return
		}
		kind, owner := toldEnd, s.Owner[m.Join]
		if m.Kind == Begin {
			kind = toldBegin
		}
		members[owner] = appendMember(append(members[owner], kind), s.ID[m.Join], m.Member, t)
	})
	for p, list := range s.To {
		for _, join := range list {
			out[p] = chunk.AppendInt(out[p], int64(x.sent[join]))
		}
		out[p] = append(out[p], members[p]...)
	}
	in, err := s.Group.Exchange(ctx, out)
	if err != nil {
		return Violations{}, err
	}
	var ends []Moment // of members elsewhere
	for p := range in {
		c := chunk.Column{B: in[p]}
		for _, join := range s.From[p] {
			x.sent[join] = unit.Duration(c.Int())
		}
		for c.Left() > 0 {
			begins := c.Byte() == toldBegin
			join, member, t, ok := s.readMember(&c)
			if !ok || int(join) >= len(x.groups) || member >= x.groups[join].Size {
				return Violations{}, cluster.ErrGarbled
			}
			if begins {
				x.groups[join].begin(member, t)
			} else {
				ends = append(ends, Moment{t, join, member, End})
			}
		}
		if c.Bad {
			return Violations{}, cluster.ErrGarbled
		}
	}
	r.each(shifts, func(m *Moment, t unit.Duration) {
		if !elsewhere(m) {
			x.end(m, t)
		}
	})
	for i := range ends {
		x.end(&ends[i], ends[i].Time)
	}
	return x.Violations, nil
}
