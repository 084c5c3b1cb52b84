package waits

import (
	"cmp"
	"slices"
	"sort"

	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Not all time in MPI is understood. A call is analyzed if a rule reads one of its records and finds the other side: its message was
// matched, its collective has all members and what the rule needs, its epoch has a partner. Calls that only test and calls that need no
// other process never wait. The time of all other calls is neither waiting nor transfer: it was not analyzed.

// Unanalyzed is time in calls of MPI of a rank and call path that was not analyzed.
type Unanalyzed struct {
	profile.Place
	Count int64    `json:"count"` // calls
	Time  unit.Sum `json:"seconds"`
}

// UnanalyzedCall sums it up by the name of the call.
type UnanalyzedCall struct {
	Call  string   `json:"call"`
	Count int64    `json:"count"`
	Time  unit.Sum `json:"seconds"`
}

// UnanalyzedDocument is in JSON how much MPI time was not analyzed.
type UnanalyzedDocument struct {
	Time  unit.Sum         `json:"seconds"`
	Share float64          `json:"share"` // of the recorded time of all threads
	Calls []UnanalyzedCall `json:"calls"` // the longest first
}

// NotAnalyzed sums up the MPI time that was not analyzed.
func (r *Result) NotAnalyzed() UnanalyzedDocument {
	d := UnanalyzedDocument{Calls: []UnanalyzedCall{}}
	sums := map[string]*UnanalyzedCall{}
	for i := range r.Unanalyzed {
		u := &r.Unanalyzed[i]
		name := r.Paths.Region[u.Path].Name
		if sums[name] == nil {
			sums[name] = &UnanalyzedCall{Call: name}
		}
		sums[name].Count += u.Count
		sums[name].Time.AddSum(u.Time)
		d.Time.AddSum(u.Time)
	}
	for _, c := range sums {
		d.Calls = append(d.Calls, *c)
	}
	slices.SortFunc(d.Calls, func(x, y UnanalyzedCall) int { return cmp.Or(y.Time.Cmp(x.Time), cmp.Compare(x.Call, y.Call)) })
	if all := r.Timeline.Lifetimes().Minus(r.Timeline.Unrecorded()); all.Sign() > 0 {
		d.Share = d.Time.Over(all)
	}
	return d
}

// callSet is a set of calls of a location.
type callSet []uint64

func (s callSet) add(call int32) {
	if call >= 0 {
		s[call/64] |= 1 << (call % 64)
	}
}

func (s callSet) has(call int) bool { return s[call/64]>>(call%64)&1 == 1 }

// unanalyzed sums up the time of the calls that no rule understands.
func (a *analysis) unanalyzed() []Unanalyzed {
	suspect := make([]bool, len(a.tl.Paths)) // calls that can wait
	for id := 1; id < len(suspect); id++ {
		r := &a.tl.Regions[a.tl.Paths[id].Region]
		suspect[id] = r.Paradigm == timeline.MPI && !r.IsLocal()
	}
	if !slices.Contains(suspect, true) {
		return nil
	}
	read := a.readCalls()
	found := make([][]Unanalyzed, len(a.tl.Locations))
	a.each(len(found), func(l int) {
		if a.isHere(int32(l)) {
			found[l] = a.unanalyzedOf(int32(l), read[l], suspect)
		}
	})
	list := slices.Concat(found...)
	order := func(x, y Unanalyzed) int { return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Path, y.Path)) }
	slices.SortStableFunc(list, order)
	n := 0
	for i := range list { // the threads of a rank together
		if n > 0 && list[n-1].Place == list[i].Place {
			list[n-1].Count += list[i].Count
			list[n-1].Time.AddSum(list[i].Time)
			continue
		}
		list[n] = list[i]
		n++
	}
	return list[:n]
}

// unanalyzedOf sums up the calls of a location that were not read.
func (a *analysis) unanalyzedOf(location int32, read callSet, suspect []bool) []Unanalyzed {
	c := a.calls(location)
	sums := map[int32]*Unanalyzed{}
	for i, id := range c.Path {
		if !suspect[id] || read.has(i) || a.isTest(location, int32(i)) {
			continue
		}
		path := a.paths.Of[id]
		if sums[path] == nil {
			sums[path] = &Unanalyzed{Place: profile.Place{Rank: a.rankOf(location), Path: path}}
		}
		sums[path].Count++
		sums[path].Time.Add(a.ownTime(location, int32(i)))
	}
	var list []Unanalyzed
	for _, u := range sums {
		list = append(list, *u)
	}
	return list
}

// ownTime is the time of a call without those inside of it and without the time that it had no CPU.
func (a *analysis) ownTime(location, call int32) unit.Duration {
	l := &a.tl.Locations[location]
	c := &l.Calls
	d := c.Leave[call] - c.Enter[call]
	for i := call + 1; i < c.Skip[call]; i = c.Skip[i] {
		d -= c.Leave[i] - c.Enter[i]
	}
	lacks := l.NoCPU[sort.Search(len(l.NoCPU), func(i int) bool { return l.NoCPU[i].To > c.Enter[call] }):]
	for i := 0; i < len(lacks) && lacks[i].From < c.Leave[call]; i++ {
		if a.tl.Paths[lacks[i].Path].Parent == c.Path[call] {
			d -= lacks[i].To - lacks[i].From
		}
	}
	return d
}

// readCalls finds the calls of each location that some rule understands.
func (a *analysis) readCalls() []callSet {
	read := make([]callSet, len(a.tl.Locations))
	for l := range read {
		read[l] = make(callSet, (a.calls(int32(l)).Len()+63)/64)
		for _, call := range a.tl.Locations[l].Alone {
			read[l].add(call)
		}
	}
	probes := a.tl.Probes()
	for i := range a.tl.Messages {
		m := &a.tl.Messages[i]
		read[m.From].add(m.Send)
		read[m.Completer()].add(m.SendDone)
		read[m.Poster()].add(m.Post)
		read[m.To].add(m.Recv)
		if probe, _, ok := a.probeOf(probes, m); ok {
			read[m.Poster()].add(probe)
		}
	}
	for i := range a.tl.Collectives {
		a.readMembers(i, read)
	}
	for i := range a.points {
		p := &a.points[i]
		for member, call := range p.calls {
			read[a.locationIn(p, int32(member))].add(call)
		}
	}
	a.readWindows(read)
	for i := range a.states {
		read[a.states[i].location].add(a.states[i].call)
	}
	return read
}

// readMembers adds the calls of a collective. One that counts only if it kept its members together is understood also if it did not.
func (a *analysis) readMembers(i int, read []callSet) {
	c := &a.tl.Collectives[i]
	rule := rules[ruleOf[c.Scope][c.Op]]
	if rule == nil || a.rules[i] == 0 && !rule.whole {
		return
	}
	v := view{a.tl, c}
	for k, m := range a.tl.MembersOf(c) {
		if !c.Op.IsNeighbor() || v.eachSource(k, func(int) {}) {
			read[m.Issuer()].add(m.Issue)
			read[m.Location].add(m.Complete)
		}
	}
}

// readWindows adds the calls of one-sided communication: those of epochs with a partner, released locks, accesses and flushes.
func (a *analysis) readWindows(read []callSet) {
	e := &a.tl.Epochs
	for i := range e.Accesses {
		if x := &e.Accesses[i]; len(x.Exposures) > 0 {
			read[x.Location].add(x.Start.Call)
			read[x.Location].add(x.Complete.Call)
		}
	}
	for i := range e.Exposures {
		if x := &e.Exposures[i]; len(x.Accesses) > 0 {
			read[x.Location].add(x.Post.Call)
			read[x.Location].add(x.Wait.Call)
		}
	}
	type lock struct{ location, window, target int32 }
	open := map[lock]int32{}
	for i := range e.Records {
		r := &e.Records[i]
		at := lock{r.Location, r.Window, r.Target}
		switch r.Kind {
		case timeline.WinLock:
			open[at] = r.Call
		case timeline.WinUnlock:
			if call, locked := open[at]; locked {
				read[r.Location].add(call)
				read[r.Location].add(r.Call)
				delete(open, at)
			}
		case timeline.WinAccess, timeline.WinFlush:
			read[r.Location].add(r.Call)
		}
	}
}
