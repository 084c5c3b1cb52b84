package timeline

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// joinsAll are the regions whose calls join all ranks though they leave no record of it.
var joinsAll = []string{"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Session_finalize"}

// shareCalls sends other processes the calls that their messages and collectives have to do with, and
// gives what is known here of calls elsewhere its numbers.
func (x *partExchange) shareCalls() error {
	x.findShared()
	out := make([][]byte, x.Group.Size())
	for p := range out {
		if p != x.Group.Rank() {
			out[p] = x.appendCalls(p)
		}
	}
	numbers := make([][]int32, len(x.locations))
	if err := x.exchange(x.ctx, out, func(_ int, b []byte) bool { return x.takeCalls(b, numbers) }); err != nil {
		return err
	}
	if !x.renumber(numbers) {
		return cluster.ErrGarbled
	}
	return nil
}

// findShared finds out which calls of the locations here other processes need.
func (x *partExchange) findShared() {
	x.shared = make([][][]int32, x.Group.Size())
	for p := range x.shared {
		x.shared[p] = make([][]int32, x.Last-x.First)
	}
	share := func(p int, location int32, calls ...int32) {
		list := &x.shared[p][int(location)-x.First]
		for _, c := range calls {
			if n := len(*list); c >= 0 && (n == 0 || (*list)[n-1] != c) {
				*list = append(*list, c)
			}
		}
	}
	probes := x.t.Probes()
	for i := range x.t.Messages {
		m := &x.t.Messages[i]
		switch from, to := x.Here(m.From), x.Here(m.To); {
		case !to:
			share(x.ownerOf(m.To), m.From, m.Send)
			share(x.ownerOf(m.To), m.Completer(), m.SendDone)
		case !from:
			share(x.ownerOf(m.From), m.Poster(), m.Post)
			share(x.ownerOf(m.From), m.To, m.Recv)
			if probes != nil { // whether or not it is a probe: else an earlier one would seem to be the last call
				share(x.ownerOf(m.From), m.Poster(), probes.last(&x.locations[m.Poster()].calls, m.Post))
			}
		}
	}
	processes := x.processesOf()
	for i := range x.t.Collectives {
		c := &x.t.Collectives[i]
		for _, m := range x.t.MembersOf(c) {
			if !x.Here(m.Location) {
				continue
			}
			for _, p := range processes[c.Comm] {
				if p != x.Group.Rank() {
					share(p, m.Issuer(), m.Issue)
					share(p, m.Location, m.Complete)
				}
			}
		}
	}
	x.shareEpochCalls(share)
	x.shareJoinsAll(share)
	x.each(x.Last-x.First, func(i int) {
		for p := range x.shared {
			list := x.shared[p][i]
			if !slices.IsSorted(list) {
				slices.Sort(list)
			}
			x.shared[p][i] = slices.Clip(slices.Compact(list))
		}
	})
}

// shareJoinsAll sends all processes the calls that join all ranks.
func (x *partExchange) shareJoinsAll(share func(p int, location int32, calls ...int32)) {
	wanted := make([]bool, len(x.t.Paths))
	some := false
	for id := 1; id < len(wanted); id++ {
		r := x.t.Paths[id].Region
		wanted[id] = int(r) < len(x.t.Regions) && slices.Contains(joinsAll, x.t.Regions[r].Name)
		some = some || wanted[id]
	}
	if !some {
		return
	}
	for i := x.First; i < x.Last; i++ {
		if i > x.First && x.locations[i-1].rank == x.locations[i].rank {
			continue // not the master
		}
		for call, path := range x.locations[i].calls.Path {
			if !wanted[path] {
				continue
			}
			for p := range x.shared {
				if p != x.Group.Rank() {
					share(p, int32(i), int32(call))
				}
			}
		}
	}
}

// appendCalls writes the calls that a process needs.
func (x *partExchange) appendCalls(p int) []byte {
	var b []byte
	for i, list := range x.shared[p] {
		if len(list) == 0 {
			continue
		}
		l := x.locations[x.First+i]
		b = binary.AppendUvarint(b, uint64(x.First+i))
		b = binary.AppendUvarint(b, uint64(len(list)))
		last, before := int32(0), unit.Duration(0)
		for k, call := range list {
			c := &l.calls
			b = binary.AppendUvarint(b, uint64(call-last))
			b = chunk.AppendInt(b, int64(c.Enter[call]-before))
			b = chunk.AppendInt(b, int64(c.Leave[call]-c.Enter[call]))
			b = binary.AppendUvarint(b, uint64(c.Path[call]))
			inside := k + 1
			for inside < len(list) && list[inside] < c.Skip[call] {
				inside++
			}
			b = binary.AppendUvarint(b, uint64(inside-k))
			last, before = call, c.Enter[call]
		}
		b = appendPolls(b, l.polls, list)
	}
	return b
}

// appendPolls writes which of the calls stand for several.
func appendPolls(b []byte, polls []Poll, list []int32) []byte {
	var shared []Poll
	for _, p := range polls {
		if k, found := slices.BinarySearch(list, p.Call); found {
			shared = append(shared, Poll{int32(k), p.Count})
		}
	}
	b = binary.AppendUvarint(b, uint64(len(shared)))
	for _, p := range shared {
		b = binary.AppendUvarint(b, uint64(p.Call))
		b = chunk.AppendInt(b, p.Count)
	}
	return b
}

// takeCalls gives the locations of another process their calls, and notes their numbers there.
func (x *partExchange) takeCalls(b []byte, numbers [][]int32) bool {
	c := chunk.Column{B: b}
	for c.Left() > 0 {
		location, n := c.Uint(), c.Uint()
		if c.Bad || location >= uint64(len(x.locations)) || x.here(int32(location)) || n > uint64(c.Left()) {
			return false
		}
		l := x.locations[location]
		l.calls = Calls{make([]unit.Duration, n), make([]unit.Duration, n), make([]PathID, n), make([]int32, n)}
		numbers[location] = make([]int32, n)
		last, before := int32(0), unit.Duration(0)
		for k := range int32(n) {
			last += int32(c.Uint())
			before += unit.Duration(c.Int())
			numbers[location][k] = last
			l.calls.Enter[k] = before
			l.calls.Leave[k] = before + unit.Duration(c.Int())
			path, inside := c.Uint(), c.Uint()
			if path >= uint64(len(x.t.Paths)) || inside > n-uint64(k) {
				return false
			}
			l.calls.Path[k], l.calls.Skip[k] = PathID(path), k+int32(inside)
		}
		for range min(c.Uint(), uint64(c.Left())) {
			l.polls = append(l.polls, Poll{int32(c.Uint()), c.Int()})
		}
	}
	return !c.Bad
}

// renumber gives messages and members the numbers that calls of other processes have here.
func (x *partExchange) renumber(numbers [][]int32) bool {
	ok := true
	number := func(location int32, call *int32) {
		if *call < 0 {
			return
		}
		k, found := slices.BinarySearch(numbers[location], *call)
		ok = ok && found
		*call = int32(k)
	}
	for i := range x.t.Messages {
		m := &x.t.Messages[i]
		if !x.Here(m.From) {
			number(m.From, &m.Send)
			number(m.Completer(), &m.SendDone)
		}
		if !x.Here(m.To) {
			number(m.Poster(), &m.Post)
			number(m.To, &m.Recv)
		}
	}
	for i := range x.t.Members {
		if m := &x.t.Members[i]; !x.Here(m.Location) {
			number(m.Issuer(), &m.Issue)
			number(m.Location, &m.Complete)
		}
	}
	x.t.Epochs.eachCall(func(location int32, c *EpochCall) {
		if !x.Here(location) {
			number(location, &c.Call)
		}
	})
	return ok
}

// cutPart is the part of a run that a timeline is after the cut. Another process that lacks a call at the edge also drops the one around
// it, if that is kept for nothing else.
func (c *cutter) cutPart(t *Timeline, kept []keptCalls) *Part {
	if t.Part == nil {
		return nil
	}
	w := *t.Part
	w.shared = make([][][]int32, len(t.Part.shared))
	for process, locations := range t.Part.shared {
		w.shared[process] = make([][]int32, len(locations))
		for i, list := range locations {
			calls, next := &t.Locations[w.First+i].Calls, int32(math.MaxInt32)
			var own []int32
			for _, call := range slices.Backward(list) {
				if c.stays(calls, call, next) {
					own, next = append(own, kept[w.First+i].number(call)), call
				}
			}
			slices.Reverse(own)
			w.shared[process][i] = own
		}
	}
	return &w
}

// RefreshTimes sends other processes what the calls and messages here are like after their times were changed,
// and takes over what they say of theirs: of calls, messages, and of the locations as a whole.
func (t *Timeline) RefreshTimes(ctx context.Context) error {
	p := t.Part
	out := make([][]byte, p.Group.Size())
	for q := range out {
		if q != p.Group.Rank() {
			out[q] = t.appendTimes(q)
		}
	}
	if err := p.exchange(ctx, out, t.takeTimes); err != nil {
		return err
	}
	return t.shareSums(ctx)
}

// shareSums tells all processes how long recording was off at the locations here, and how long they had no CPU, after a part of
// the run was cut out or times were changed. Without other processes there is nothing to tell.
func (t *Timeline) shareSums(ctx context.Context) error {
	p := t.Part
	if p == nil {
		return nil
	}
	var own [][2]unit.Duration
	for i := p.First; i < p.Last; i++ {
		own = append(own, [2]unit.Duration{t.Locations[i].Unrecorded, t.Locations[i].Lacked})
	}
	all, err := cluster.AllGatherValues(ctx, p.Group, &own)
	if err != nil {
		return err
	}
	sums := slices.Concat(all...)
	if len(sums) != len(t.Locations) {
		return cluster.ErrGarbled
	}
	for i, s := range sums {
		t.Locations[i].Unrecorded, t.Locations[i].Lacked = s[0], s[1]
	}
	return nil
}

// appendTimes writes the times that a process has of this one.
func (t *Timeline) appendTimes(q int) []byte {
	p, b := t.Part, []byte(nil)
	for i := p.First; i < p.Last; i++ {
		l := &t.Locations[i]
		b = chunk.AppendInt(chunk.AppendInt(b, int64(l.First)), int64(l.Last-l.First))
		for _, s := range l.Alive {
			b = chunk.AppendInt(chunk.AppendInt(b, int64(s.From-l.First)), int64(s.To-s.From))
		}
		last := l.First
		for _, call := range p.shared[q][i-p.First] {
			b = chunk.AppendInt(b, int64(l.Calls.Enter[call]-last))
			b = chunk.AppendInt(b, int64(l.Calls.Leave[call]-l.Calls.Enter[call]))
			last = l.Calls.Enter[call]
		}
	}
	last := unit.Duration(0)
	for i := range t.Messages {
		m := &t.Messages[i]
		switch {
		case !p.Here(m.To) && p.Owner(t.Locations[m.To].Rank) == q:
			b = chunk.AppendInt(b, int64(m.Sent-last))
			last = m.Sent
		case !p.Here(m.From) && p.Owner(t.Locations[m.From].Rank) == q:
			b = chunk.AppendInt(b, int64(m.Received-last))
			last = m.Received
		}
	}
	return b
}

// takeTimes takes over the times of another process. Messages between two processes are in the same order in both.
func (t *Timeline) takeTimes(q int, b []byte) bool {
	p, c := t.Part, chunk.Column{B: b}
	for i := range t.Locations {
		l := &t.Locations[i]
		if p.Owner(l.Rank) != q {
			continue
		}
		l.First = unit.Duration(c.Int())
		l.Last = l.First + unit.Duration(c.Int())
		for k := range l.Alive {
			from := l.First + unit.Duration(c.Int())
			l.Alive[k] = Span{from, from + unit.Duration(c.Int())}
		}
		last := l.First
		for k := range l.Calls.Enter {
			last += unit.Duration(c.Int())
			l.Calls.Enter[k] = last
			l.Calls.Leave[k] = last + unit.Duration(c.Int())
		}
	}
	last := unit.Duration(0)
	for i := range t.Messages {
		m := &t.Messages[i]
		switch {
		case !p.Here(m.From) && p.Owner(t.Locations[m.From].Rank) == q:
			last += unit.Duration(c.Int())
			m.Sent = last
		case !p.Here(m.To) && p.Owner(t.Locations[m.To].Rank) == q:
			last += unit.Duration(c.Int())
			m.Received = last
		}
	}
	return !c.Bad && c.Left() == 0
}
