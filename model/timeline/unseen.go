package timeline

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// What a thread of a rank did while its recording was off has a place among what the other threads recorded: it is known to have happened
// between the moment when the thread noticed that recording was off and that of the last thing that it did unseen, which it reports. What
// another thread recorded in between has no number that is known. That is rare where recording of the rank is switched, which all of its
// threads notice; a ring, however, drops what each thread did until another moment.

// unseen stands for the call of something that happened while recording was off. Elsewhere, -1 is a call that is not known.
const unseen int32 = -2

// noCall stands for the call of something that is outside of all calls.
func (l *LocationBuilder) noCall() int32 {
	if l.off {
		return unseen
	}
	return -1
}

// unseenAt is a time at the end of which a location did something unseen.
type unseenAt struct {
	Span
	location    int32
	last, other unseenEnd // of these and those that start before: the last end, and that of the other locations
}

type unseenEnd struct {
	time     unit.Duration
	location int32
}

// unseenOn is these times by channel, or by communicator.
type unseenOn map[channel][]unseenAt

// put notes that a location did something unseen, the last of it at t.
func (u unseenOn) put(f *finisher, c channel, location int32, t unit.Duration) {
	offs := f.locations[location].offs
	if n, _ := slices.BinarySearch(offs, t+1); n > 0 {
		u[c] = append(u[c], unseenAt{Span: Span{offs[n-1], t}, location: location})
	}
}

// sort makes ready for has.
func (u unseenOn) sort() {
	for _, list := range u {
		slices.SortFunc(list, func(a, b unseenAt) int { return cmp.Compare(a.From, b.From) })
		last, other := unseenEnd{never, -1}, unseenEnd{never, -1}
		for i := range list {
			a := &list[i]
			switch {
			case a.location == last.location:
				last.time = max(last.time, a.To)
			case a.To > last.time:
				last, other = unseenEnd{a.To, a.location}, last
			case a.To > other.time:
				other = unseenEnd{a.To, a.location}
			}
			a.last, a.other = last, other
		}
	}
}

// has reports whether another location did something unseen and it is not known whether that was before or after t.
func (u unseenOn) has(c channel, location int32, t unit.Duration) bool {
	list := u[c]
	n, _ := slices.BinarySearchFunc(list, t, func(a unseenAt, t unit.Duration) int { return cmp.Compare(a.From, t) })
	if n == 0 {
		return false
	}
	end := list[n-1].last
	if end.location == location {
		end = list[n-1].other
	}
	return t <= end.time
}

// countUnseen lets what was recorded of ranks count as not recorded where its number is not known, for what another thread did unseen.
func (f *finisher) countUnseen() {
	probes := f.t.Probes()
	f.each(len(f.byRank), func(rank int) {
		of := f.byRank[rank]
		if len(of) < 2 || !slices.ContainsFunc(of, func(i int32) bool { return len(f.locations[i].offs) > 0 }) {
			return
		}
		sends, receives, collectives := unseenOn{}, unseenOn{}, unseenOn{}
		for _, i := range of {
			f.findUnseen(i, sends, receives, collectives)
		}
		sends.sort()
		receives.sort()
		collectives.sort()
		for _, i := range of {
			f.hide(i, probes, sends, receives, collectives)
		}
	})
}

// findUnseen finds what a location did unseen.
func (f *finisher) findUnseen(i int32, sends, receives, collectives unseenOn) {
	l := f.locations[i]
	l.sends.each(func(s *send) {
		if s.state == skipped && s.call == unseen {
			sends.put(f, l.sendChannels.keys[s.channel], i, s.time)
		}
	})
	l.receives.each(func(r *receive) {
		if (r.state == skipped || r.state == done) && r.post == unseen {
			receives.put(f, l.receiveChannels.keys[r.channel], i+int32(r.by), r.posted)
		}
	})
	for k := range l.collectives {
		if m := &l.collectives[k]; m.state == skipped && m.issue == unseen {
			collectives.put(f, channel{comm: m.comm}, i, m.issued)
		}
	}
}

// hide lets what a location recorded count as not recorded where its number is not known.
func (f *finisher) hide(i int32, probes *Probes, sends, receives, collectives unseenOn) {
	l := f.locations[i]
	l.sends.each(func(s *send) {
		if s.state == done && sends.has(l.sendChannels.keys[s.channel], i, s.time) {
			s.state, s.size = skipped, 1
			l.unrecorded++
		}
	})
	l.receives.each(func(r *receive) {
		if r.state == done && (r.post == unseen ||
			receives.has(l.receiveChannels.keys[r.channel], i+int32(r.by), f.postedAt(r, 0, i, probes).begin)) {
			r.state, r.size = skipped, 1
			l.unrecorded++
		}
	})
	for k := range l.collectives {
		if m := &l.collectives[k]; m.state == done && m.scope == ByComm && collectives.has(channel{comm: m.comm}, i+int32(m.by), m.issued) {
			m.state, m.sent = skipped, 1
		}
	}
}
