// Package control lets the controlled logical clock (model/clock) remove what is impossible in a timeline: messages and collectives that
// end before they can. It moves times only; where a timeline comes from it does not know.
package control

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"slackline/internal/cluster"
	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Outcome describes what was done to a timeline.
type Outcome struct {
	Control  bool             // something was impossible
	Before   clock.Violations // what
	After    clock.Violations // what could not be removed
	Moved    int64            // starts and ends of messages and collectives that were moved
	Furthest unit.Duration    // how far at most
}

// Apply removes what is impossible if every message takes at least the latency. If several processes share the run, all of them call
// it: each has the moments of its own ranks, and they tell each other what they must know of messages and collectives between them
// (clock.ControlTogether). If nothing ended before it could, which two exchanges find out, that is all. Otherwise each process moves its
// own calls by the shifts, and tells the others the new times of those that they have.
func Apply(ctx context.Context, tl *timeline.Timeline, latency unit.Duration) (o Outcome, err error) {
	m := newMoments(tl, latency)
	var shared *clock.Shared
	if tl.Part != nil {
		shared = m.shared()
	}
	if o.Before, err = clock.CheckTogether(ctx, &m.Run, nil, shared); err != nil {
		return o, err
	}
	if o.Before.Messages+o.Before.Groups > 0 {
		err = m.control(ctx, shared, &o)
	}
	return o, err
}

// position is a point in the events of a rank. Of several at the same time, those of a location with a smaller
// number come first, then those of calls that began before, then the start of a call before what happens in it
// and that before its end.
type position struct {
	time     unit.Duration
	location int32
	call     int32
	step     int8
}

// The steps of a call.
const (
	atEnter int8 = iota
	atSend
	atReceive
	atLeave
)

func (a position) compare(b position) int {
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.location, b.location), cmp.Compare(a.call, b.call), cmp.Compare(a.step, b.step))
}

// moments is a timeline as the controlled logical clock sees it: the processes are the ranks, for all threads of
// one have its clock.
type moments struct {
	clock.Run
	tl *timeline.Timeline
	at [][]position // by rank and moment
}

// newMoments finds the moments of a timeline. Of the ranks of other processes, it has those that concern this one.
func newMoments(tl *timeline.Timeline, latency unit.Duration) *moments {
	m := &moments{tl: tl, Run: clock.Run{Moments: make([][]clock.Moment, tl.Ranks), Messages: len(tl.Messages), Latency: latency}}
	m.at = make([][]position, tl.Ranks)
	add := func(p position, x clock.Moment) {
		x.Time = p.time
		rank := tl.Locations[p.location].Rank
		m.at[rank] = append(m.at[rank], p)
		m.Moments[rank] = append(m.Moments[rank], x)
	}
	for i := range tl.Messages {
		s := &tl.Messages[i]
		if tl.Locations[s.From].Rank == tl.Locations[s.To].Rank {
			continue
		}
		add(position{s.Sent, s.From, s.Send, atSend}, clock.Moment{Join: int32(i), Kind: clock.Sent})
		add(position{s.Received, s.To, s.Recv, atReceive}, clock.Moment{Join: int32(i), Kind: clock.Received})
	}
	for i := range tl.Collectives {
		c := &tl.Collectives[i]
		members := tl.MembersOf(c)
		g := clock.Group{Kind: orders[tl.OrderOf(c)], Size: int32(len(members)), Root: c.Root}
		for j, member := range members {
			if g.Kind == clock.Loose {
				break
			}
			x := clock.Moment{Join: int32(i), Member: int32(j), Kind: clock.Begin}
			add(m.enter(member.Issuer(), member.Issue), x)
			x.Kind = clock.End
			add(m.leave(member.Location, member.Complete), x)
		}
		m.Groups = append(m.Groups, g)
	}
	for rank := range m.at {
		m.sort(rank)
	}
	return m
}

// enter is the position of the start of a call, leave that of its end.
func (m *moments) enter(location, call int32) position {
	return position{m.tl.Locations[location].Calls.Enter[call], location, call, atEnter}
}

func (m *moments) leave(location, call int32) position {
	c := &m.tl.Locations[location].Calls
	return position{c.Leave[call], location, c.Skip[call] - 1, atLeave}
}

// sort puts the moments of a rank in order.
func (m *moments) sort(rank int) {
	order := make([]int32, len(m.at[rank]))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return m.at[rank][a].compare(m.at[rank][b]) })
	at, list := make([]position, len(order)), make([]clock.Moment, len(order))
	for i, from := range order {
		at[i], list[i] = m.at[rank][from], m.Moments[rank][from]
	}
	m.at[rank], m.Moments[rank] = at, list
}

// orders are the kinds of groups by the order of their members.
var orders = map[timeline.Order]clock.GroupKind{
	timeline.Unordered: clock.Loose, timeline.AllToAll: clock.AllToAll, timeline.OneToAll: clock.OneToAll, timeline.AllToOne: clock.AllToOne,
	timeline.Prefix: clock.Prefix,
}

// control moves everything in the timeline, and says so in its problems.
func (m *moments) control(ctx context.Context, s *clock.Shared, o *Outcome) error {
	done, err := clock.ControlTogether(ctx, &m.Run, s)
	if err != nil {
		return err
	}
	o.Control, o.After, o.Moved, o.Furthest = true, done.After, done.Moved, done.Furthest
	m.move(done.Shifts)
	if s == nil {
		m.recount()
	} else if err := m.recountTogether(ctx); err != nil {
		return err
	}
	m.note(&done)
	return nil
}

// move moves everything that is here.
func (m *moments) move(shifts [][]unit.Duration) {
	first, last := m.tl.Whole()
	for i := first; i < last; i++ {
		m.moveLocation(int32(i), shifts[m.tl.Locations[i].Rank])
	}
	m.moveTeams(shifts)
	for rank, list := range m.Moments {
		for i, x := range list {
			switch x.Kind {
			case clock.Sent:
				m.tl.Messages[x.Join].Sent += shifts[rank][i]
			case clock.Received:
				m.tl.Messages[x.Join].Received += shifts[rank][i]
			}
		}
	}
	m.moveWithin(shifts)
}

// note says in the problems of the timeline what was done to the clocks.
func (m *moments) note(done *clock.Controlled) {
	p := &m.tl.Problems
	p.Notes = append(p.Notes, fmt.Sprintf("clocks: %d messages and %d collectives ended up to %v before they could; %d starts and ends "+
		"were moved by up to %v",
		done.Before.Messages, done.Before.Groups, done.Before.Worst, done.Moved, done.Furthest))
	if done.Unresolved > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("clocks: %d messages and collectives still end before they can, because what they wait "+
			"for contradicts itself", done.Unresolved))
	}
}

// recount finds the messages and collectives that still end before they can.
func (m *moments) recount() {
	p := &m.tl.Problems
	p.Violations, p.EarlyCollectives, p.WorstViolation = 0, 0, 0
	m.tl.CountEarlyCollectives(1)
	m.tl.Start, m.tl.End = unit.Duration(math.MaxInt64), unit.Duration(math.MinInt64)
	for i := range m.tl.Messages {
		if !m.tl.Part.Here(m.tl.Messages[i].To) {
			continue
		}
		if early := m.tl.Messages[i].Sent - m.tl.Messages[i].Received; early > 0 {
			p.Violations++
			p.WorstViolation = max(p.WorstViolation, early)
		}
	}
	first, last := m.tl.Whole()
	for i := first; i < last; i++ {
		if l := &m.tl.Locations[i]; !isEmpty(l) {
			m.tl.Start, m.tl.End = min(m.tl.Start, l.First), max(m.tl.End, l.Last)
		}
	}
}

// shift returns what is to be added to the time of a position.
func (m *moments) shift(shifts []unit.Duration, p position) unit.Duration {
	at := m.at[m.tl.Locations[p.location].Rank]
	next, found := slices.BinarySearchFunc(at, p, position.compare)
	for found && next < len(at) && at[next] == p {
		next++ // after all that are here
	}
	switch {
	case len(at) == 0:
		return 0
	case next == 0:
		return clock.Ahead(at[0].time, shifts[0], p.time)
	case at[next-1].time == p.time:
		return shifts[next-1]
	case next == len(at):
		return clock.After(at[next-1].time, shifts[next-1], p.time)
	}
	return clock.Between(at[next-1].time, shifts[next-1], at[next].time, shifts[next], p.time)
}

// moveLocation moves the calls of a location.
func (m *moments) moveLocation(location int32, shifts []unit.Duration) {
	l := &m.tl.Locations[location]
	if isEmpty(l) || !slices.ContainsFunc(shifts, func(s unit.Duration) bool { return s > 0 }) {
		return
	}
	c := &l.Calls
	enter, leave := slices.Clone(c.Enter), slices.Clone(c.Leave)
	for i := range c.Enter {
		enter[i] += m.shift(shifts, m.enter(location, int32(i)))
		leave[i] += m.shift(shifts, m.leave(location, int32(i)))
	}
	before := func(t *unit.Duration) { *t += m.shift(shifts, position{*t, location, -1, atEnter}) }
	after := func(t *unit.Duration) { *t += m.shift(shifts, position{*t, location, math.MaxInt32, atLeave}) }
	before(&l.First)
	after(&l.Last)
	for i := range l.Alive {
		before(&l.Alive[i].From)
		after(&l.Alive[i].To)
	}
	l.Lacked = 0
	for i := range l.NoCPU { // inside of its call, which may begin or end at the same time
		after(&l.NoCPU[i].From)
		before(&l.NoCPU[i].To)
		l.Lacked += l.NoCPU[i].To - l.NoCPU[i].From
	}
	for i := range l.Counts {
		after(&l.Counts[i].From)
		before(&l.Counts[i].To)
	}
	c.Enter, c.Leave = enter, leave
	m.tl.SumUnrecorded(location)
}

// isEmpty reports whether nothing happened at a location.
func isEmpty(l *timeline.Location) bool { return l.First == 0 && l.Last == 0 && l.Calls.Len() == 0 }

// moveWithin moves the messages of ranks to themselves.
func (m *moments) moveWithin(shifts [][]unit.Duration) {
	for i := range m.tl.Messages {
		s := &m.tl.Messages[i]
		if rank := m.tl.Locations[s.From].Rank; rank == m.tl.Locations[s.To].Rank {
			s.Sent += m.shift(shifts[rank], position{s.Sent, s.From, s.Send, atSend})
			s.Received += m.shift(shifts[rank], position{s.Received, s.To, s.Recv, atReceive})
		}
	}
}

// moveTeams moves the records of teams of threads.
func (m *moments) moveTeams(shifts [][]unit.Duration) {
	move := func(t *unit.Duration, location int32, place timeline.Place) {
		*t += m.shift(shifts[m.tl.Locations[location].Rank], position{*t, location, place.Next - 1, atLeave})
	}
	for i := range m.tl.Teams {
		team := &m.tl.Teams[i]
		move(&team.Fork, team.Master, team.ForkPlace)
		move(&team.Join, team.Master, team.JoinPlace)
		for j := range team.Members {
			member := &team.Members[j]
			move(&member.Begin, member.Location, member.BeginPlace)
			move(&member.End, member.Location, member.EndPlace)
		}
	}
}

// shared leaves the moments of other processes out and says what they have to do with those here.
func (m *moments) shared() *clock.Shared {
	tl, p := m.tl, m.tl.Part
	size := p.Group.Size()
	s := &clock.Shared{Group: p.Group, Peer: make([]int32, len(tl.Messages)), From: make([][]int32, size), To: make([][]int32, size)}
	for rank := range m.Moments {
		if p.Owner(rank) != p.Group.Rank() {
			m.Moments[rank], m.at[rank] = nil, nil
		}
	}
	for i := range tl.Messages { // those between two processes are in the same order in both
		from, to := tl.Messages[i].From, tl.Messages[i].To
		switch {
		case !p.Here(to):
			s.Peer[i] = int32(p.Owner(tl.Locations[to].Rank))
			s.To[s.Peer[i]] = append(s.To[s.Peer[i]], int32(i))
		case !p.Here(from):
			s.Peer[i] = int32(p.Owner(tl.Locations[from].Rank))
			s.From[s.Peer[i]] = append(s.From[s.Peer[i]], int32(i))
		default:
			s.Peer[i] = -1
		}
	}
	m.shareGroups(s)
	return s
}

// shareGroups defines who has members of the collectives. These are called by their communicators, and their numbers among those of the
// communicator.
func (m *moments) shareGroups(s *clock.Shared) {
	tl, p := m.tl, m.tl.Part
	first := make([]int, tl.Series()+1) // by series; they are in order
	for i := range tl.Collectives {
		first[tl.SeriesOf(&tl.Collectives[i])+1]++
	}
	for series := range tl.Series() {
		first[series+1] += first[series]
	}
	with := make([][]int32, tl.Series())
	for i := range tl.Collectives {
		series, comm := tl.SeriesOf(&tl.Collectives[i]), tl.Collectives[i].Comm
		if i == first[series] {
			for member := range tl.Comms[comm].Size() {
				q := int32(p.Owner(int(tl.Comms[comm].Rank(member))))
				if int(q) != p.Group.Rank() && !slices.Contains(with[series], q) {
					with[series] = append(with[series], q)
				}
			}
		}
		s.With = append(s.With, with[series])
		s.Owner = append(s.Owner, int32(tl.CommOwner(int(comm))))
		s.ID = append(s.ID, uint64(series)<<32|uint64(i-first[series]))
	}
	s.Lookup = func(id uint64) (int, bool) {
		series, k := id>>32, int(id&(1<<32-1))
		if series >= uint64(tl.Series()) || k >= first[series+1]-first[series] {
			return 0, false
		}
		return first[series] + k, true
	}
}

// recountTogether is recount with what all processes know.
func (m *moments) recountTogether(ctx context.Context) error {
	if err := m.tl.RefreshTimes(ctx); err != nil {
		return err
	}
	m.recount()
	p := &m.tl.Problems
	type bounds struct {
		Messages, Collectives int64
		Worst, Start, End     unit.Duration
	}
	own := bounds{p.Violations, p.EarlyCollectives, p.WorstViolation, m.tl.Start, m.tl.End}
	all, err := cluster.AllGatherValues(ctx, m.tl.Part.Group, &own)
	if err != nil {
		return err
	}
	p.Violations, p.EarlyCollectives = 0, 0
	for _, b := range all {
		p.Violations += b.Messages
		p.EarlyCollectives += b.Collectives
		p.WorstViolation = max(p.WorstViolation, b.Worst)
		m.tl.Start, m.tl.End = min(m.tl.Start, b.Start), max(m.tl.End, b.End)
	}
	return nil
}
