package trace

import (
	"context"
	"slices"

	"slackline/internal/cluster"
	"slackline/model/clock"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// The controlled logical clock of a run that several processes share: each has the moments of its own ranks, and they
// tell each other what they must know of messages and collectives between them (clock.ControlTogether). If nothing ended
// before it could, which two exchanges find out, that is all. Otherwise each process moves its own calls by
// the shifts, and tells the others the new times of those that they have.

// controlPart is control for a part of a timeline.
func (c *conversion) controlPart(ctx context.Context, tl *timeline.Timeline) error {
	k := c.clocks
	if c.wantsControl(tl) {
		m := newMoments(tl, c.Latency)
		shared := m.shared()
		var err error
		if k.Before, err = clock.CheckTogether(ctx, &m.Run, nil, shared); err != nil {
			return err
		}
		if k.Before.Messages+k.Before.Groups > 0 {
			k.Control = true
			if err := m.controlPart(ctx, shared, &k.ClockReport); err != nil {
				return err
			}
		}
	}
	if c.Clocks != nil {
		*c.Clocks = k.ClockReport
	}
	return nil
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

// shareGroups says who has members of the collectives. These are called by their communicators, and their numbers among those of the
// communicator.
func (m *moments) shareGroups(s *clock.Shared) {
	tl, p := m.tl, m.tl.Part
	first := make([]int, len(tl.Comms)+1) // by communicator; they are in order
	for i := range tl.Collectives {
		first[tl.Collectives[i].Comm+1]++
	}
	for comm := range tl.Comms {
		first[comm+1] += first[comm]
	}
	with := make([][]int32, len(tl.Comms))
	for i := range tl.Collectives {
		comm := tl.Collectives[i].Comm
		if i == first[comm] {
			for _, rank := range tl.Comms[comm].Members {
				if q := int32(p.Owner(int(rank))); int(q) != p.Group.Rank() && !slices.Contains(with[comm], q) {
					with[comm] = append(with[comm], q)
				}
			}
		}
		s.With = append(s.With, with[comm])
		s.Owner = append(s.Owner, int32(tl.CommOwner(int(comm))))
		s.ID = append(s.ID, uint64(comm)<<32|uint64(i-first[comm]))
	}
	s.Lookup = func(id uint64) (int, bool) {
		comm, k := id>>32, int(id&(1<<32-1))
		if comm >= uint64(len(tl.Comms)) || k >= first[comm+1]-first[comm] {
			return 0, false
		}
		return first[comm] + k, true
	}
}

// controlPart moves everything in a part of a timeline, and says so in its problems.
func (m *moments) controlPart(ctx context.Context, s *clock.Shared, report *ClockReport) error {
	done, err := clock.ControlTogether(ctx, &m.Run, s)
	if err != nil {
		return err
	}
	report.After, report.Moved, report.Furthest = done.After, done.Moved, done.Furthest
	m.move(done.Shifts)
	if err := m.tl.RefreshTimes(ctx); err != nil {
		return err
	}
	if err := m.recountPart(ctx); err != nil {
		return err
	}
	m.note(&done)
	return nil
}

// recountPart is recount with what all processes know.
func (m *moments) recountPart(ctx context.Context) error {
	m.recount()
	p := &m.tl.Problems
	type bounds struct {
		Violations        int64
		Worst, Start, End unit.Duration
	}
	all, err := cluster.AllGatherValues(ctx, m.tl.Part.Group, &bounds{p.Violations, p.WorstViolation, m.tl.Start, m.tl.End})
	if err != nil {
		return err
	}
	p.Violations = 0
	for _, b := range all {
		p.Violations += b.Violations
		p.WorstViolation = max(p.WorstViolation, b.Worst)
		m.tl.Start, m.tl.End = min(m.tl.Start, b.Start), max(m.tl.End, b.End)
	}
	return nil
}
