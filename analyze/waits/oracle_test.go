package waits

import (
	"math/big"
	"slices"
	"sort"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// oracle follows the definitions literally: all wait states, all pairs of operations that synchronise, a list of
// who is in which call path when. It is slow and simple.
type oracle struct {
	tl       *timeline.Timeline
	waits    []*oracleWait
	pairs    []oraclePair
	segments [][]segment // by location
	masters  []int32

	short, long  map[rankPath]int64
	unattributed int64
	cyclic       bool
}

type rankPath struct {
	rank int
	path string
}

type oracleOp struct {
	location     int32
	enter, leave unit.Duration
	end          int32 // it precedes the calls from this number on
}

type oraclePair struct{ x, y oracleOp }

type segment struct {
	from, to unit.Duration
	path     string
	none     bool
}

type oracleWait struct {
	metric         Metric
	location, call int32 // call -1: idle
	enter, amount  unit.Duration
	cause          int32
	causeCall      int32
	path           string
	from, to       unit.Duration // of an idle phase
	wrong          bool
	sent           unit.Duration
	class, seq     int
	first          unit.Duration // of late_contributor: the part before the first contributor
	after          unit.Duration // of early_wait: the part after the last access

	long, indirect, propagating int64
	done                        bool
}

func newOracle(tl *timeline.Timeline) *oracle {
	o := findLiterally(tl)
	o.process()
	return o
}

// findLiterally finds all wait states.
func findLiterally(tl *timeline.Timeline) *oracle {
	o := &oracle{tl: tl, short: map[rankPath]int64{}, long: map[rankPath]int64{}}
	o.masters = make([]int32, tl.Ranks)
	for i := range o.masters {
		o.masters[i] = int32(slices.IndexFunc(tl.Locations, func(l timeline.Location) bool { return l.Rank == i }))
	}
	for l := range tl.Locations {
		o.segments = append(o.segments, o.segmentsOf(int32(l)))
	}
	o.findMessages()
	o.findCollectives()
	o.findHeld()
	o.findSparse()
	o.findEpochs()
	o.findLocks()
	o.findEveryone("MPI_Finalize")
	o.findSessions()
	o.findEveryone("MPI_Init", "MPI_Init_thread")
	o.findTeams()
	o.chooseOnePerCall()
	o.findWrongOrder()
	o.findIdle()
	return o
}

func (o *oracle) name(l, call int32) string {
	return o.tl.RegionOf(o.tl.Locations[l].Calls.Path[call]).Name
}

func (o *oracle) isTest(l, call int32) bool {
	for _, p := range o.tl.Locations[l].Polls {
		if p.Call == call {
			return false
		}
	}
	return slices.Contains([]string{"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Win_test", "MPI_Iprobe", "MPI_Improbe"},
		o.name(l, call))
}

// probeOf is the call that found a message: the last communication call before the one that posted its receive, if that looks for messages;
// -1 if there is none.
func (o *oracle) probeOf(m *timeline.Message) int32 {
	at := m.Poster()
	calls := &o.tl.Locations[at].Calls
	last := int32(-1)
	for c := range m.Post {
		if o.tl.RegionOf(calls.Path[c]).Communicates() && calls.Precedes(c, m.Post) {
			last = c
		}
	}
	if last < 0 || !strings.HasSuffix(o.name(at, last), "probe") && !strings.HasSuffix(o.name(at, last), "Probe") {
		return -1
	}
	return last
}

func (o *oracle) op(l, call int32) oracleOp {
	c := &o.tl.Locations[l].Calls
	return oracleOp{l, c.Enter[call], c.Leave[call], c.Skip[call]}
}

func (o *oracle) pair(x, y oracleOp) { o.pairs = append(o.pairs, oraclePair{x, y}) }

// wait adds a candidate.
func (o *oracle) wait(metric Metric, amount unit.Duration, l, call, cause, causeCall int32, class, seq int, sent unit.Duration) {
	if amount <= 0 || o.isTest(l, call) || l == cause {
		return
	}
	o.waits = append(o.waits, &oracleWait{
		metric: metric, location: l, call: call, enter: o.op(l, call).enter, amount: amount, cause: cause, causeCall: causeCall,
		path: o.tl.PathName(o.tl.Locations[l].Calls.Path[call]), class: class, seq: seq, sent: sent,
	})
}

func (o *oracle) findMessages() {
	for i := range o.tl.Messages {
		m := &o.tl.Messages[i]
		s, r, rp := o.op(m.From, m.Send), o.op(m.To, m.Recv), o.op(m.Poster(), m.Post)
		o.wait(lateSender.metric, min(s.enter, r.leave)-r.enter, m.To, m.Recv, m.From, m.Send, 0, int(m.RecvSeq), m.Sent)
		if !o.isTest(m.To, m.Recv) {
			o.pair(s, r)
		}
		if c := o.probeOf(m); c >= 0 && !o.isTest(m.Poster(), c) {
			p := o.op(m.Poster(), c)
			o.wait(lateSender.metric, min(s.enter, p.leave)-p.enter, m.Poster(), c, m.From, m.Send, 0, int(m.RecvSeq), m.Sent)
			o.pair(s, p)
		}
		if m.SendDone < 0 {
			continue
		}
		sc := o.op(m.Completer(), m.SendDone)
		if rp.enter < sc.leave {
			o.wait(lateReceiver.metric, rp.enter-sc.enter, m.Completer(), m.SendDone, m.Poster(), m.Post, 2, int(m.SendDoneSeq), 0)
		}
		if !o.isTest(m.Completer(), m.SendDone) && !(m.SendBlocks() && m.RecvBlocks()) {
			o.pair(sc, rp)
		}
	}
}

func (o *oracle) findCollectives() {
	for i := range o.tl.Collectives {
		c := &o.tl.Collectives[i]
		if !o.isCollectiveOfRanks(c) {
			continue
		}
		members := o.tl.MembersOf(c)
		issue := func(i int) oracleOp { return o.op(members[i].Issuer(), members[i].Issue) }
		done := func(i int) oracleOp { return o.op(members[i].Location, members[i].Complete) }
		rank := func(i int) int { return o.tl.Locations[members[i].Location].Rank }
		last := func(of func(i int) bool) int {
			z := -1
			for i := range members {
				if of(i) && (z < 0 || issue(i).enter > issue(z).enter || issue(i).enter == issue(z).enter && rank(i) < rank(z)) {
					z = i
				}
			}
			return z
		}
		wait := func(m Metric, i, z int, until unit.Duration) {
			o.wait(m, min(until, done(i).leave)-done(i).enter, members[i].Location, members[i].Complete,
				members[z].Issuer(), members[z].Issue, 1, int(members[i].Seq), 0)
		}
		pair := func(i, j int) {
			if !o.isTest(members[i].Location, members[i].Complete) {
				o.pair(done(i), issue(j))
			}
		}
		root := int(c.Root)
		switch c.Op {
		case timeline.OpBarrier, timeline.OpAllgather, timeline.OpAllgatherv, timeline.OpAlltoall, timeline.OpAllreduce, timeline.OpReduceScatter,
			timeline.OpReduceScatterBlock:
			metric := nxn.metric
			if c.Op == timeline.OpBarrier {
				metric = barrier.metric
			}
			for i := range members {
				z := last(func(j int) bool {
					return o.betweenGroups(c, i, j) && (metric == barrier.metric || members[j].Sent > 0)
				})
				if z >= 0 && i != z && (metric == barrier.metric || members[i].Received > 0) {
					wait(metric, i, z, issue(z).enter)
				}
				for j := range members {
					if i != j && o.betweenGroups(c, i, j) {
						pair(i, j)
					}
				}
			}
		case timeline.OpBcast, timeline.OpScatter, timeline.OpScatterv:
			for i := range members {
				if i != root && root >= 0 && root < len(members) && o.betweenGroups(c, i, root) {
					if members[i].Received > 0 {
						wait(lateBroadcast.metric, i, root, issue(root).enter)
					}
					pair(i, root)
				}
			}
		case timeline.OpGather, timeline.OpGatherv, timeline.OpReduce:
			if root < 0 || root >= len(members) {
				continue
			}
			sends := func(i int) bool { return i != root && o.betweenGroups(c, i, root) && members[i].Sent > 0 }
			z := last(sends)
			if z >= 0 && members[root].Received > 0 {
				first := issue(z).enter
				for i := range members {
					if sends(i) {
						first = min(first, issue(i).enter)
					}
				}
				n := len(o.waits)
				wait(lateContributor.metric, root, z, issue(z).enter)
				if len(o.waits) > n {
					o.waits[n].first = max(0, min(first, done(root).leave)-done(root).enter)
				}
			}
			for i := range members {
				if i != root && o.betweenGroups(c, i, root) {
					pair(root, i)
				}
			}
		case timeline.OpScan, timeline.OpExscan:
			for i := range members {
				if i > 0 && (members[i].Sent > 0 || members[i].Received > 0) {
					z := last(func(j int) bool { return j < i })
					wait(earlyScan.metric, i, z, issue(z).enter)
				}
				for j := range i {
					pair(i, j)
				}
			}
		}
	}
}

func (o *oracle) findEveryone(names ...string) {
	var calls []int32
	for _, l := range o.masters {
		found := int32(-1)
		if l >= 0 {
			for i := range int32(o.tl.Locations[l].Calls.Len()) {
				if slices.Contains(names, o.name(l, i)) {
					found = i
					break
				}
			}
		}
		if found < 0 {
			return
		}
		calls = append(calls, found)
	}
	if len(calls) < 2 {
		return
	}
	metric := finalize.metric
	if names[0] != "MPI_Finalize" {
		metric = None
	}
	o.allOf(metric, o.masters, calls)
}

// allOf is a synchronization of all of some locations.
func (o *oracle) allOf(metric Metric, locations, calls []int32) {
	z := 0
	for i := range calls {
		if o.op(locations[i], calls[i]).enter > o.op(locations[z], calls[z]).enter {
			z = i
		}
	}
	for i := range calls {
		mine := o.op(locations[i], calls[i])
		if i != z && metric != None {
			o.wait(metric, min(o.op(locations[z], calls[z]).enter, mine.leave)-mine.enter, locations[i], calls[i], locations[z], calls[z], 1, -1, 0)
		}
		for j := range i {
			o.pair(mine, o.op(locations[j], calls[j]))
		}
	}
}

func (o *oracle) findTeams() {
	for i := range o.tl.Teams {
		t := &o.tl.Teams[i]
		fork := func(i int) oracleOp {
			m := &t.Members[i]
			return oracleOp{m.Location, t.Fork, m.Begin, m.BeginPlace.Next}
		}
		var locations []int32
		var barriers [][]int32
		for i := range t.Members {
			m := &t.Members[i]
			for j := range i {
				o.pair(fork(i), fork(j))
			}
			var list []int32
			for c := m.BeginPlace.Next; c < m.EndPlace.Next; c++ {
				r := o.tl.RegionOf(o.tl.Locations[m.Location].Calls.Path[c])
				if r.Role == timeline.Barrier || r.Role == timeline.ImplicitBarrier {
					list = append(list, c)
				}
			}
			locations = append(locations, m.Location)
			barriers = append(barriers, list)
		}
		for k := 0; len(barriers) > 1; k++ {
			var calls []int32
			for _, list := range barriers {
				if k < len(list) {
					calls = append(calls, list[k])
				}
			}
			if len(calls) < len(barriers) {
				break
			}
			o.allOf(openMPBarrier.metric, locations, calls)
		}
	}
}

// settle leaves of a wait what its call spent in no call in it, or moves it into a call of MPI in it if that is more, again and again.
func (o *oracle) settle(w *oracleWait) {
	c := &o.tl.Locations[w.location].Calls
	for moved := true; moved; {
		moved = false
		whole, end := *w, w.enter+w.amount
		own := func(end unit.Duration) unit.Duration { // what the call spent in no other before end
			outside := end - whole.enter
			for i := whole.call + 1; i < c.Skip[whole.call]; i = c.Skip[i] {
				outside -= max(min(end, c.Leave[i])-c.Enter[i], 0)
			}
			return outside
		}
		w.amount, w.first = own(end), own(whole.enter+whole.first)
		for i := whole.call + 1; i < c.Skip[whole.call]; i++ {
			outer := false // it lies in another call in it
			for j := whole.call + 1; j < i; j++ {
				outer = outer || c.Skip[j] > i
			}
			part := min(end, c.Leave[i]) - c.Enter[i]
			if outer || part <= w.amount || o.tl.RegionOf(c.Path[i]).Paradigm != timeline.MPI || o.isTest(w.location, i) {
				continue
			}
			w.call, w.enter, w.amount, moved = i, c.Enter[i], part, true
			w.first = min(max(whole.enter+whole.first-c.Enter[i], 0), part)
			w.path = o.tl.PathName(c.Path[i])
		}
		if w.first >= w.amount && w.first > 0 {
			w.metric, w.first = kinds[w.metric].before.metric, 0
		}
	}
}

func (o *oracle) chooseOnePerCall() {
	for _, w := range o.waits {
		o.settle(w)
	}
	o.waits = slices.DeleteFunc(o.waits, func(w *oracleWait) bool { return w.amount <= 0 })
	rank := func(l int32) int { return o.tl.Locations[l].Rank }
	sort.SliceStable(o.waits, func(i, j int) bool {
		a, b := o.waits[i], o.waits[j]
		switch {
		case a.location != b.location:
			return a.location < b.location
		case a.call != b.call:
			return a.call < b.call
		case a.amount != b.amount:
			return a.amount > b.amount
		case a.class != b.class:
			return a.class < b.class
		case rank(a.cause) != rank(b.cause):
			return rank(a.cause) < rank(b.cause)
		}
		return a.seq < b.seq
	})
	o.waits = slices.CompactFunc(o.waits, func(a, b *oracleWait) bool { return a.location == b.location && a.call == b.call })
}

func (o *oracle) findWrongOrder() {
	for _, w := range o.waits {
		if w.metric != lateSender.metric {
			continue
		}
		for i := range o.tl.Messages {
			m := &o.tl.Messages[i]
			if m.To == w.location && o.tl.Locations[m.To].Calls.Precedes(w.call, m.Recv) && m.Sent < w.sent {
				w.wrong = true
			}
		}
	}
}

// isWorker reports whether a thread was in a team, or was there all the time and never called anything.
func (o *oracle) isWorker(l int32) bool {
	inTeam := slices.ContainsFunc(o.tl.Teams, func(t timeline.Team) bool {
		return slices.ContainsFunc(t.Members, func(m timeline.TeamMember) bool { return m.Location == l })
	})
	return inTeam || o.tl.Locations[l].Alive == nil && o.tl.Locations[l].Calls.Len() == 0
}

// isFree reports whether a thread lives and is in no call between two moments, between which nothing begins or ends.
func (o *oracle) isFree(l int32, from, to unit.Duration) bool {
	loc := &o.tl.Locations[l]
	for i := range loc.Calls.Len() {
		if loc.Calls.Enter[i] < to && loc.Calls.Leave[i] > from {
			return false
		}
	}
	return loc.Alive == nil || slices.ContainsFunc(loc.Alive, func(s timeline.Span) bool { return s.From <= from && to <= s.To })
}

// idleIn visits the pieces of a time into which workers cut it that become free or busy.
func (o *oracle) idleIn(workers []int32, from, to unit.Duration, visit func(l int32, from, to unit.Duration)) {
	edges := make([][]unit.Duration, len(workers))
	cuts := []unit.Duration{from, to}
	for i, w := range workers {
		c := &o.tl.Locations[w].Calls
		for k := range c.Len() {
			edges[i] = append(edges[i], c.Enter[k], c.Leave[k])
		}
		for _, s := range o.tl.Locations[w].Alive {
			edges[i] = append(edges[i], s.From, s.To)
		}
		edges[i] = slices.DeleteFunc(edges[i], func(t unit.Duration) bool { return t <= from || t >= to })
		cuts = append(cuts, edges[i]...)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	begin := from
	for i := 1; i < len(cuts); i++ {
		changes := i == len(cuts)-1
		for k, w := range workers {
			changes = changes || slices.Contains(edges[k], cuts[i]) && (o.isFree(w, cuts[i-1], cuts[i]) || o.isFree(w, cuts[i], cuts[i+1]))
		}
		if !changes {
			continue
		}
		for _, w := range workers {
			if o.isFree(w, cuts[i-1], cuts[i]) {
				visit(w, begin, cuts[i])
			}
		}
		begin = cuts[i]
	}
}

// findIdle finds when workers are in no call while their masters are in no team.
func (o *oracle) findIdle() {
	for _, master := range o.masters {
		var workers []int32
		for l := range o.tl.Locations {
			if o.tl.Locations[l].Rank == o.rank(master) && int32(l) != master && o.isWorker(int32(l)) {
				workers = append(workers, int32(l))
			}
		}
		from := o.tl.Locations[master].First
		var last *timeline.Team
		add := func(to unit.Duration, path timeline.PathID) {
			o.idleIn(workers, from, max(from, to), func(l int32, from, to unit.Duration) {
				o.waits = append(o.waits, &oracleWait{
					metric: openMPIdle.metric, location: l, call: -1, cause: master, amount: to - from, from: from, to: to,
					path: o.tl.PathName(path),
				})
			})
		}
		for i := range o.tl.Teams {
			if t := &o.tl.Teams[i]; t.Master == master {
				add(t.Fork, t.Base)
				from, last = t.Join, t
			}
		}
		if last == nil {
			continue
		}
		path := timeline.PathID(0)
		if last.JoinPlace.Open >= 0 {
			path = o.tl.Locations[master].Calls.Path[last.JoinPlace.Open]
		}
		add(o.tl.Locations[master].Last, path)
	}
}

// segmentsOf lists in which call path a location is when.
func (o *oracle) segmentsOf(l int32) []segment {
	c := &o.tl.Locations[l].Calls
	var list []segment
	now := unit.Duration(-1 << 40)
	var stack []int32
	until := func(t unit.Duration) {
		s := segment{from: now, to: t, none: true}
		if len(stack) > 0 {
			s.none, s.path = false, o.tl.PathName(c.Path[stack[len(stack)-1]])
		}
		list = append(list, s)
		now = t
	}
	for i := range int32(c.Len() + 1) {
		for len(stack) > 0 && (i == int32(c.Len()) || c.Skip[stack[len(stack)-1]] <= i) {
			until(c.Leave[stack[len(stack)-1]])
			stack = stack[:len(stack)-1]
		}
		if i < int32(c.Len()) {
			until(c.Enter[i])
			stack = append(stack, i)
		}
	}
	until(1 << 40)
	for i := range o.tl.Teams {
		t := &o.tl.Teams[i]
		if t.Master == l || t.Base == 0 || !slices.ContainsFunc(t.Members, func(m timeline.TeamMember) bool { return m.Location == l }) {
			continue
		}
		var cut []segment
		for _, s := range list {
			a, b := max(s.from, t.Fork), min(s.to, t.Join)
			if !s.none || a >= b {
				cut = append(cut, s)
				continue
			}
			cut = append(cut, segment{from: s.from, to: a, none: true}, segment{from: a, to: b, path: o.tl.PathName(t.Base)},
				segment{from: b, to: s.to, none: true})
		}
		list = cut
	}
	return list
}

// within returns the part of a wait inside an interval.
func (w *oracleWait) within(from, to unit.Duration) unit.Duration {
	return max(0, min(w.enter+w.amount, to)-max(w.enter, from))
}

// profileOf returns the exclusive times of an interval without waits, and the waits.
func (o *oracle) profileOf(l int32, from, to unit.Duration) (map[string]unit.Duration, []*oracleWait) {
	p := map[string]unit.Duration{}
	for _, s := range o.segments[l] {
		if d := min(s.to, to) - max(s.from, from); d > 0 && !s.none {
			p[s.path] += d
		}
	}
	var inside []*oracleWait
	for _, w := range o.waits {
		if w.location == l && w.call >= 0 && w.within(from, to) > 0 {
			inside = append(inside, w)
			p[w.path] -= w.within(from, to)
		}
	}
	return p, inside
}

// period is a time of a location.
type period struct {
	location int32
	from, to unit.Duration
	ended    bool // waits that go on afterwards are no causes
}

// intervals returns the interval of a wait state on the cause, and on the one that waits. That of a thread which began within it goes on at
// the master that started it.
func (o *oracle) intervals(w *oracleWait) (cause []period, waiter period) {
	if w.call < 0 {
		return []period{{w.cause, w.from, w.to, false}}, period{}
	}
	od, ow := o.op(w.cause, w.causeCall), o.op(w.location, w.call)
	since, met := o.lastSync(w, w.cause, func(y oracleOp, _ unit.Duration) bool { return y.end <= w.causeCall })
	later := func(t unit.Duration, ok bool) {
		if ok && (!met || t > since) {
			since, met = t, true
		}
	}
	began, begins := o.born(w.location, ow.enter)
	later(began, begins)
	born, starts := o.born(w.cause, od.enter)
	master, first := o.masters[o.rank(w.cause)], o.tl.Locations[w.cause].First
	switch {
	case !starts || met && since >= born:
		cause = []period{{location: w.cause, to: od.enter}}
	case master == w.cause || o.rank(w.cause) == o.rank(w.location):
		since, met = born, true
		cause = []period{{location: w.cause, to: od.enter}}
	default:
		since, met = o.lastSync(w, master, func(_ oracleOp, instant unit.Duration) bool { return instant <= born })
		later(began, begins)
		first = o.tl.Locations[master].First
		cause = []period{{location: master, to: born, ended: true}, {location: w.cause, from: born, to: od.enter}}
	}
	waiter = period{location: w.location, from: since, to: ow.enter}
	if cause[0].from = since; !met {
		cause[0].from, waiter.from = first, o.tl.Locations[w.location].First
	}
	return cause, waiter
}

// lastSync is the latest instant at which the one that waits, before it did, synchronized with a location; false if it never did.
func (o *oracle) lastSync(w *oracleWait, with int32, counts func(oracleOp, unit.Duration) bool) (since unit.Duration, met bool) {
	for _, p := range o.pairs {
		x, y := p.x, p.y
		if x.location != w.location {
			x, y = y, x
		}
		instant := min(x.leave, y.leave)
		if x.location == w.location && y.location == with && x.end <= w.call && max(x.enter, y.enter) <= instant && counts(y, instant) &&
			(!met || instant > since) {
			since, met = instant, true
		}
	}
	return since, met
}

// born is when the thread of a location began that it has at a moment; false if it is not known.
func (o *oracle) born(l int32, at unit.Duration) (unit.Duration, bool) {
	born := o.tl.Locations[l].First
	for _, s := range o.tl.Locations[l].Alive {
		if s.From <= at {
			born = s.From
		}
	}
	return born, o.tl.Locations[l].Alive != nil
}

// did returns the exclusive times of periods without waits, and the waits with how much of each lies there.
func (o *oracle) did(periods ...period) (map[string]unit.Duration, []*oracleWait, []unit.Duration) {
	sum := map[string]unit.Duration{}
	var inside []*oracleWait
	var parts []unit.Duration
	for _, q := range periods {
		p, waits := o.profileOf(q.location, q.from, q.to)
		for path, d := range p {
			sum[path] += d
		}
		sort.SliceStable(waits, func(i, j int) bool { return waits[i].call < waits[j].call })
		for _, v := range waits {
			if !q.ended || v.enter+v.amount <= q.to {
				inside, parts = append(inside, v), append(parts, v.within(q.from, q.to))
			}
		}
	}
	return sum, inside, parts
}

// process charges all wait states, each after those that have it in their interval.
func (o *oracle) process() {
	needs := map[*oracleWait][]*oracleWait{}
	for _, w := range o.waits {
		of, _ := o.intervals(w)
		_, inside, _ := o.did(of...)
		for _, v := range inside {
			needs[v] = append(needs[v], w)
		}
	}
	for left := len(o.waits); left > 0; {
		before := left
		for _, w := range o.waits {
			if w.done || slices.ContainsFunc(needs[w], func(x *oracleWait) bool { return !x.done }) {
				continue
			}
			o.charge(w)
			w.done = true
			left--
		}
		if left == before {
			o.cyclic = true
			return
		}
	}
}

func (o *oracle) charge(w *oracleWait) {
	of, by := o.intervals(w)
	cause, inside, parts := o.did(of...)
	waiter := map[string]unit.Duration{}
	if w.call >= 0 {
		waiter, _, _ = o.did(by)
	}
	var paths []string
	for c, d := range cause {
		if d > 0 && d > waiter[c] {
			paths = append(paths, c)
		}
	}
	slices.SortFunc(paths, strings.Compare)
	var weights []int64
	for _, c := range paths {
		weights = append(weights, int64(cause[c]-waiter[c]))
	}
	for _, part := range parts {
		weights = append(weights, int64(part))
	}
	if len(weights) == 0 {
		o.unattributed += int64(w.amount) + w.long
		return
	}
	short, long := splitLiterally(int64(w.amount), weights), splitLiterally(w.long, weights)
	for k, c := range paths {
		key := rankPath{o.tl.Locations[w.cause].Rank, c}
		o.short[key] += short[k]
		o.long[key] += long[k]
	}
	for k, v := range inside {
		k += len(paths)
		v.long += short[k] + long[k]
		w.indirect += short[k]
		v.propagating = max(v.propagating, min(short[k], int64(v.amount)))
	}
}

// splitLiterally apportions by largest remainder.
func splitLiterally(g int64, weights []int64) []int64 {
	total := new(big.Int)
	for _, w := range weights {
		total.Add(total, big.NewInt(w))
	}
	shares, rests := make([]int64, len(weights)), make([]*big.Int, len(weights))
	left := g
	for i, w := range weights {
		product := new(big.Int).Mul(big.NewInt(g), big.NewInt(w))
		q, r := new(big.Int).QuoRem(product, total, new(big.Int))
		shares[i], rests[i] = q.Int64(), r
		left -= q.Int64()
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rests {
			if rests[i].Cmp(rests[best]) > 0 {
				best = i
			}
		}
		shares[best]++
		rests[best] = big.NewInt(-1)
	}
	return shares
}
