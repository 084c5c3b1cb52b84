package timeline

import (
	"slices"

	"slackline/internal/cluster"
	"slackline/internal/spill"
	"slackline/model/missing"
	"slackline/model/unit"
)

// Recording may be off for a time, at each location from and to another moment. What happens then is known by its number
// only: how many messages went over each channel, and how many collectives were issued on each communicator. So what
// was recorded keeps its number among all, and finds the partner that it had.

// NotRecorded is the region of times when recording was off. They are calls outside of all others.
var NotRecorded = Region{Name: "not recorded", Paradigm: Tool, Role: Unrecorded}

// Off states that recording stops at t; r is the region NotRecorded. No call may be open. Records that come before On lie
// outside of any call: they only say what began or ended unseen.
func (l *LocationBuilder) Off(t unit.Duration, r RegionID) {
	if l.off || l.dead() {
		l.at(t)
		return
	}
	l.bornOff = l.bornOff || l.calls.Len() == 0 && l.alive == nil && (l.last == never || t <= l.first)
	if len(l.teams) > 0 {
		l.mark(t, teamsOff)
	}
	l.Enter(t, r)
	l.off, l.cut, l.offSince = true, true, l.last
	l.offs = append(l.offs, l.last)
	l.offPath = l.tree.child(0, r)
}

// OffAgain states that recording was on meanwhile, and is off again, without anything that happened here.
func (l *LocationBuilder) OffAgain(t unit.Duration) {
	if t = l.at(t); l.off {
		l.offs = append(l.offs, t)
	}
}

// On states that recording goes on at t.
func (l *LocationBuilder) On(t unit.Duration) {
	if !l.off {
		l.at(t)
		return
	}
	l.off = false
	l.Leave(t)
	l.offTime += l.last - l.offSince
}

// SkipSends states that so many sends on a channel were not recorded. A negative number takes back some that
// were said to be skipped: they were cancelled.
func (l *LocationBuilder) SkipSends(t unit.Duration, peer, comm, tag int32, count int64) {
	t = l.at(t)
	l.cut = true
	c := channel{peer: peer, comm: comm, tag: tag}
	if count < 0 {
		l.unskip(c, -count)
		return
	}
	if count > 0 && l.sends.n < maxNodes {
		s := l.addSend(c)
		s.time, s.size, s.state = t, count, skipped
		s.call, s.done, s.doneSeq = l.noCall(), -1, -1
	}
}

// maxNodes is how many sends and receives of a location can be numbered.
const maxNodes = 1<<31 - 2

// unskip takes back skipped sends of a channel.
func (l *LocationBuilder) unskip(c channel, count int64) {
	no := l.sendChannels.lookup(c)
	if no < 0 {
		return
	}
	var last *send
	for i := l.sendEnds[no].first; i >= 0; i = l.sends.at(i).next {
		if s := l.sends.at(i); s.state == skipped && s.size >= count {
			last = s
		}
	}
	if last != nil {
		last.size -= count
	}
}

// SkipReceives states that so many receives of a channel were not recorded. They were posted before those that follow.
func (l *LocationBuilder) SkipReceives(t unit.Duration, peer, comm, tag int32, count int64) {
	t = l.at(t)
	l.cut = true
	if count > 0 && l.receives.n < maxNodes {
		r := l.receives.add(l.space)
		r.posted, r.time, r.channel = t, t, l.receiveChannels.number(channel{peer: peer, comm: comm, tag: tag})
		r.post, r.call, r.size, r.state = l.noCall(), -1, count, skipped
	}
}

// SkipCollectives states that so many collectives of a communicator were not recorded. They were issued before those that follow.
func (l *LocationBuilder) SkipCollectives(t unit.Duration, comm int32, count int64) {
	t = l.at(t)
	l.cut = true
	if count > 0 {
		m := member{issued: t, comm: comm, sent: count, issue: l.noCall(), complete: -1, counts: -1, state: skipped}
		l.collectives = spill.Append(l.space, l.collectives, m)
	}
}

// boundCut lets locations at which recording was off first be so from the start of the run, whenever they began, and
// those whose recording ended early up to its end.
func (f *finisher) boundCut() {
	for i, l := range f.locations {
		out := &f.t.Locations[i]
		if l.bornOff {
			out.Unrecorded += out.First - f.t.Start
			out.First = f.t.Start
			if f.here(int32(i)) {
				out.Calls.Enter[0] = out.First
			}
		}
		if !l.off {
			continue
		}
		out.Last = max(out.Last, f.t.End)
		out.Unrecorded += out.Last - l.offSince
		if n := out.Calls.Len(); n > 0 && f.here(int32(i)) {
			out.Calls.Leave[n-1] = out.Last
		}
	}
}

// Unrecorded is how long recording was off, summed over locations.
func (t *Timeline) Unrecorded() (sum unit.Sum) {
	for i := range t.Locations {
		sum.Add(t.Locations[i].Unrecorded)
	}
	return sum
}

// SumUnrecorded finds how long recording was off at a location of this process whose calls were changed.
func (t *Timeline) SumUnrecorded(location int32) {
	l := &t.Locations[location]
	if !l.Cut || !t.Part.Here(location) {
		return
	}
	l.Unrecorded = 0
	for i, path := range l.Calls.Path {
		if t.RegionOf(path).Role == Unrecorded {
			l.Unrecorded += l.Calls.Leave[i] - l.Calls.Enter[i]
		}
	}
}

// isCut reports whether a location of a rank was not recorded for a time.
func (f *finisher) isCut(rank int32) bool {
	return rank >= 0 && int(rank) < len(f.cutRanks) && f.cutRanks[rank]
}

// findCut finds the ranks that are not recorded as a whole.
func (f *finisher) findCut() {
	f.cutRanks = make([]bool, f.t.Ranks)
	for _, l := range f.locations {
		f.cutRanks[l.rank] = f.cutRanks[l.rank] || l.cut
	}
}

// shareCut sends all processes which ranks were not recorded as a whole.
func (x *partExchange) shareCut() error {
	x.findCut()
	all, err := cluster.AllGatherValues(x.ctx, x.Group, &x.cutRanks)
	if err != nil {
		return err
	}
	for _, cut := range all {
		if len(cut) != len(x.cutRanks) {
			return cluster.ErrGarbled
		}
		for rank := range cut {
			x.cutRanks[rank] = x.cutRanks[rank] || cut[rank]
		}
	}
	return nil
}

// align leaves of the collectives of a communicator those that every member has recorded, by their numbers among all.
func (f *finisher) align(s *series) {
	numbers := make([][]int64, len(s.of))
	have := map[int64]int{} // by number: how many members recorded it
	for i, of := range s.of {
		next := int64(0)
		kept := of[:0]
		for _, r := range of {
			m := f.member(r)
			if m.state == skipped {
				next += m.sent
				continue
			}
			have[next] += 0
			if m.issue >= 0 && m.complete >= 0 { // else its start or its end was not recorded
				kept, numbers[i] = append(kept, r), append(numbers[i], next)
				have[next]++
			}
			next++
		}
		s.of[i] = kept
	}
	for i, of := range s.of {
		k := -1
		s.of[i] = slices.DeleteFunc(of, func(ref) bool {
			k++
			return have[numbers[i][k]] < len(s.of)
		})
	}
	for _, n := range have {
		if n < len(s.of) {
			s.cut++
		}
	}
}

// Missing is what is missing of the run, or of the recorded one that it was simulated from.
func (t *Timeline) Missing() missing.Parts {
	m := t.Chosen
	p := &t.Problems
	m.Unmatched = p.Unmatched()
	if m.Simulated = t.Simulated; t.Source != nil {
		s := t.Source
		m.Unmatched += s.Unmatched
		m.Off, m.How, m.Ranks, m.Files = s.Off, s.How, s.Ranks, s.Files+p.LostFiles
		m.Profiled, m.Only, m.Guessed = s.Profiled, s.Only, s.Guessed
		return m
	}
	m.Off, m.Ranks, m.Files = t.Unrecorded().Over(t.Lifetimes()), len(p.LostThreads), p.LostFiles
	if m.Profiled == "" {
		m.Ranks += len(p.MissingRanks)
	}
	for i := range t.Locations {
		if l := &t.Locations[i]; l.Truncated && (i == 0 || t.Locations[i-1].Rank != l.Rank) && !slices.Contains(p.LostThreads, l.Rank) {
			m.Ranks++
		}
	}
	return m
}

// RanksRead are the ranks of which something was read.
func (t *Timeline) RanksRead() (list []int) {
	for i := range t.Locations {
		if rank := t.Locations[i].Rank; i == 0 || rank != t.Locations[i-1].Rank {
			list = append(list, rank)
		}
	}
	return list
}
