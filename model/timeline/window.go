package timeline

import (
	"context"
	"slices"

	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/unit"
)

// Origin is the start of the run, from which moments count that are shown or given.
func (t *Timeline) Origin() unit.Duration { return t.Start - t.Before }

// Shift adds d to all times.
func (t *Timeline) Shift(d unit.Duration, threads int) {
	t.move(func(int) unit.Duration { return d }, threads)
	t.Start, t.End = t.Start+d, t.End+d
}

// MoveRanks adds to the times of each rank what its entry says.
func (t *Timeline) MoveRanks(by []unit.Duration) {
	t.move(func(rank int) unit.Duration { return by[rank] }, 1)
	some := false
	note := func(first, last unit.Duration) {
		if !some {
			t.Start, t.End, some = first, last, true
		}
		t.Start, t.End = min(t.Start, first), max(t.End, last)
	}
	for i := range t.Locations {
		note(t.Locations[i].First, t.Locations[i].Last)
	}
	if t.Devices != nil {
		if first, last, ok := t.Devices.bounds(); ok {
			note(first, last)
		}
	}
}

// move adds to all times but those of the run as a whole what is given for their rank.
func (t *Timeline) move(by func(rank int) unit.Duration, threads int) {
	of := func(location int32) unit.Duration { return by(t.Locations[location].Rank) }
	parallel.Each(len(t.Locations), threads, func(i int) { t.Locations[i].shift(of(int32(i))) })
	for i := range t.Messages {
		m := &t.Messages[i]
		m.Sent, m.Received = m.Sent+of(m.From), m.Received+of(m.To)
	}
	for i := range t.Teams {
		t.Teams[i].shift(of(t.Teams[i].Master))
	}
	for _, list := range [][]Unmatched{t.Problems.Sends, t.Problems.Receives} {
		for i := range list {
			list[i].Time += by(list[i].Rank)
		}
	}
	if t.Devices == nil {
		return
	}
	streams := t.Devices.Streams
	for i := range streams {
		s, d := &streams[i], by(streams[i].Rank)
		for j := range s.Begin {
			s.Begin[j] += d
			s.End[j] += d
		}
	}
	for i := range t.Devices.References {
		r := &t.Devices.References[i]
		r.Recorded += of(r.Location)
	}
	for i := range t.Devices.Messages {
		m := &t.Devices.Messages[i]
		m.Sent, m.Received = m.Sent+by(streams[m.From].Rank), m.Received+by(streams[m.To].Rank)
	}
}

// shift adds d to the times of a location.
func (l *Location) shift(d unit.Duration) {
	l.First, l.Last = l.First+d, l.Last+d
	for j := range l.Calls.Enter {
		l.Calls.Enter[j] += d
		l.Calls.Leave[j] += d
	}
	for j := range l.Alive {
		l.Alive[j].From += d
		l.Alive[j].To += d
	}
	for j := range l.NoCPU {
		l.NoCPU[j].From += d
		l.NoCPU[j].To += d
	}
	for j := range l.Counts {
		l.Counts[j].From += d
		l.Counts[j].To += d
	}
}

// shift adds d to the times of a team.
func (t *Team) shift(d unit.Duration) {
	t.Fork, t.Join = t.Fork+d, t.Join+d
	for j := range t.Members {
		t.Members[j].Begin += d
		t.Members[j].End += d
	}
}

// Window returns what happened from start to end: calls and teams that are open then, cut at the edges, calls without length also at
// the edges themselves, with those around them, and messages and collectives that lie inside as a whole. Problems are
// those of the whole run.
func (t *Timeline) Window(begin, end unit.Duration, threads int) *Timeline {
	t.alone("WindowTogether")
	return t.window(begin, end, threads)
}

// WindowTogether is Window also of a run that several processes share. All of them call it.
func (t *Timeline) WindowTogether(ctx context.Context, begin, end unit.Duration, threads int) (*Timeline, error) {
	w := t.window(begin, end, threads)
	return w, w.shareSums(ctx)
}

func (t *Timeline) window(begin, end unit.Duration, threads int) *Timeline {
	w := (&cutter{begin: begin, end: end}).cut(t, threads)
	if begin > t.Start {
		w.Chosen.Begin = unit.SumOf(begin - t.Origin()).InSeconds()
	}
	if end < t.End {
		w.Chosen.End = unit.SumOf(end - t.Origin()).InSeconds()
	}
	return w
}

// alone panics if several processes share the run: what is cut out of it misses sums that only they know.
func (t *Timeline) alone(instead string) {
	if t.Part != nil {
		panic("timeline: a part of a run that several processes share is cut by " + instead)
	}
}

// cutter cuts a timeline at two moments.
type cutter struct {
	begin, end unit.Duration
	touching   []bool // by path: also calls with a length that only touch the edge; nil: of none
	reuse      bool   // the memory of what is cut, which is void then
	space      *spill.Space
}

func (c *cutter) cut(t *Timeline, threads int) *Timeline {
	w := *t
	c.space = t.Space
	w.Start, w.End = max(t.Start, c.begin), min(t.End, c.end)
	if w.End < w.Start {
		w.End = w.Start
	}
	w.Before += w.Start - t.Start
	kept := make([]keptCalls, len(t.Locations))
	parallel.Each(len(t.Locations), threads, func(i int) { kept[i] = c.keep(&t.Locations[i].Calls) })
	inside := func(location, first, last int32) bool {
		calls := &t.Locations[location].Calls
		return calls.Enter[first] >= c.begin && calls.Leave[last] <= c.end && kept[location].has(first) && kept[location].has(last)
	}
	c.cutMessages(t, &w, inside, kept)
	w.Collectives, w.Members = keepCollectives(t.Collectives, t.Members, t.Comms,
		func(m *Member) bool {
			return inside(m.Issuer(), m.Issue, m.Issue) && inside(m.Location, m.Complete, m.Complete)
		}, kept, c.reuse)
	w.Epochs = t.Epochs.window(inside, kept)
	if t.Devices != nil {
		w.Devices = t.Devices.window(c.begin, c.end, kept)
	}
	w.Part = c.cutPart(t, kept)
	w.Teams = nil
	for _, team := range t.Teams {
		if team.Fork < c.end && team.Join > c.begin {
			w.Teams = append(w.Teams, team.renumber(kept).cut(c.begin, c.end))
		}
	}
	w.Locations = make([]Location, len(t.Locations))
	parallel.Each(len(t.Locations), threads, func(i int) {
		w.Locations[i] = c.cutLocation(&t.Locations[i], &kept[i])
		w.SumUnrecorded(int32(i))
	})
	return &w
}

// emptied is an empty list for what is kept of another one.
func emptied[T any](list []T, reuse bool) []T {
	if reuse {
		return list[:0]
	}
	return nil
}

func (c *cutter) cutMessages(t, w *Timeline, inside func(location, first, last int32) bool, kept []keptCalls) {
	w.Messages = emptied(t.Messages, c.reuse)
	for _, m := range t.Messages {
		poster, completer := m.Poster(), m.Completer()
		if !inside(m.From, m.Send, m.Send) || !inside(poster, m.Post, m.Post) || !inside(m.To, m.Recv, m.Recv) {
			continue
		}
		if m.SendDone >= 0 && !inside(completer, m.SendDone, m.SendDone) {
			m.SendDone, m.SendDoneSeq, m.DoneBy = -1, -1, 0
		}
		m.Send, m.Post, m.Recv = kept[m.From].number(m.Send), kept[poster].number(m.Post), kept[m.To].number(m.Recv)
		if m.SendDone >= 0 {
			m.SendDone = kept[completer].number(m.SendDone)
		}
		w.Messages = append(w.Messages, m)
	}
}

// keepCollectives returns those collectives, with their members, all of whose members are kept, under the new numbers of their calls. With
// reuse the lists are void afterwards.
func keepCollectives(list []Collective, members []Member, comms []Comm, inside func(m *Member) bool, kept []keptCalls,
	reuse bool) ([]Collective, []Member) {
	collectives, all := emptied(list, reuse), emptied(members, reuse)
	for _, c := range list {
		of := members[c.First:][:comms[c.Comm].Size()]
		if slices.ContainsFunc(of, func(m Member) bool { return !inside(&m) }) {
			continue
		}
		c.First = len(all)
		collectives = append(collectives, c)
		for _, m := range of {
			m.Issue, m.Complete = kept[m.Issuer()].number(m.Issue), kept[m.Location].number(m.Complete)
			all = append(all, m)
		}
	}
	return collectives, all
}

// keptCalls defines which calls of a location are kept: before[i] of the first i.
type keptCalls struct{ before []int32 }

func (k *keptCalls) has(call int32) bool     { return k.before[call+1] > k.before[call] }
func (k *keptCalls) number(call int32) int32 { return k.before[call] }

// hasBefore reports whether the part of a call is kept that was before its rest.
func (k *keptCalls) hasBefore(c *Calls, rest int32) bool {
	for i := rest - 1; i >= 0; i-- {
		if c.Path[i] == c.Path[rest] {
			return k.has(i)
		}
	}
	return false
}

// place is the new name of a place.
func (k *keptCalls) place(p Place) Place {
	p.Next = k.before[p.Next]
	if p.Open >= 0 && k.has(p.Open) {
		p.Open = k.number(p.Open)
	} else {
		p.Open = -1
	}
	return p
}

// renumber gives a team the new numbers of calls.
func (t Team) renumber(kept []keptCalls) Team {
	t.ForkPlace, t.JoinPlace = kept[t.Master].place(t.ForkPlace), kept[t.Master].place(t.JoinPlace)
	members := make([]TeamMember, len(t.Members))
	for i, m := range t.Members {
		m.BeginPlace, m.EndPlace = kept[m.Location].place(m.BeginPlace), kept[m.Location].place(m.EndPlace)
		members[i] = m
	}
	t.Members = members
	return t
}

// cut returns the part of a team from start to end. Of a team that was cut it is unknown which barriers of its
// members belong together, so its members have no place for any.
func (t Team) cut(begin, end unit.Duration) Team {
	if t.Fork >= begin && t.Join <= end {
		return t
	}
	inside := func(at unit.Duration) unit.Duration { return min(max(at, begin), end) }
	t.Fork, t.Join = inside(t.Fork), inside(t.Join)
	for i := range t.Members {
		m := &t.Members[i]
		m.Begin, m.End = inside(m.Begin), inside(m.End)
		m.EndPlace = m.BeginPlace
	}
	return t
}

// keep decides which calls of a location are kept: those that are open from start to end or only touch that time, and those around
// them. So it does not matter for a call which of those around it are known: several processes keep the same.
func (c *cutter) keep(calls *Calls) keptCalls {
	n := calls.Len()
	k := keptCalls{before: spill.Make[int32](c.space, n+1, n+1)}
	next := int32(n)
	for i := int32(n) - 1; i >= 0; i-- {
		if c.stays(calls, i, next) {
			k.before[i+1], next = 1, i
		}
	}
	for i := range n {
		k.before[i+1] += k.before[i]
	}
	return k
}

// stays decides whether a call is kept; next is the first one after it that is.
func (c *cutter) stays(calls *Calls, i, next int32) bool {
	enter, leave := calls.Enter[i], calls.Leave[i]
	touches := enter <= c.end && leave >= c.begin && (enter == leave || c.touching != nil && c.touching[calls.Path[i]])
	return enter < c.end && leave > c.begin || touches || next < calls.Skip[i]
}

// cutLocation returns the part of a location from start to end.
func (c *cutter) cutLocation(l *Location, k *keptCalls) Location {
	begin, end := c.begin, c.end
	out, n := *l, l.Calls.Len()
	out.First, out.Last = min(max(l.First, begin), end), max(min(l.Last, end), begin)
	out.Calls = Calls{}
	if c.reuse {
		out.Calls = Calls{Enter: l.Calls.Enter[:0], Leave: l.Calls.Leave[:0], Path: l.Calls.Path[:0], Skip: l.Calls.Skip[:0]}
	} else {
		out.Calls.resize(c.space, int(k.before[n]))
	}
	for i := range n {
		if k.has(int32(i)) {
			out.Calls.Enter = append(out.Calls.Enter, max(l.Calls.Enter[i], begin))
			out.Calls.Leave = append(out.Calls.Leave, min(l.Calls.Leave[i], end))
			out.Calls.Path = append(out.Calls.Path, l.Calls.Path[i])
			out.Calls.Skip = append(out.Calls.Skip, k.before[l.Calls.Skip[i]])
		}
	}
	out.Alive, out.NoCPU, out.Lacked = cutSpans(l.Alive, begin, end), nil, 0
	for _, s := range l.NoCPU {
		if s.From < end && s.To > begin {
			s.From, s.To = max(s.From, begin), min(s.To, end)
			out.NoCPU = append(out.NoCPU, s)
			out.Lacked += s.To - s.From
		}
	}
	out.Counts = cutCounts(l.Counts, begin, end)
	out.Sampled = nil
	for _, s := range l.Sampled {
		if k.has(s.Call) {
			s.Call = k.number(s.Call)
			out.Sampled = append(out.Sampled, s)
		}
	}
	out.Polls = nil
	for _, p := range l.Polls {
		if k.has(p.Call) && (p.Count > 0 || k.hasBefore(&l.Calls, p.Call)) {
			p.Call = k.number(p.Call)
			out.Polls = append(out.Polls, p)
		}
	}
	out.Alone = nil
	for _, call := range l.Alone {
		if k.has(call) {
			out.Alone = append(out.Alone, k.number(call))
		}
	}
	return out
}
