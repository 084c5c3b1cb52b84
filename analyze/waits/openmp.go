package waits

import (
	"slices"

	"slackline/model/timeline"
	"slackline/model/unit"
)

var openMPBarrier = kind{
	Info: Info{
		Name:    "omp_barrier",
		Title:   "Wait at OpenMP barrier",
		Short:   "waits at a barrier of its team",
		Who:     "Threads of rank %d waited",
		Because: "another thread came last",
		Meaning: "Time of a thread in an explicit or implicit OpenMP barrier before the last thread of the team entered it. " +
			"The cause is the last to enter.",
		Advice: "Balance the loop (schedule(dynamic), smaller chunks), or join loops with nowait.",
		Color:  Color{"#7A3B12", "#A8663A"},
	},
	precedence: collectiveNext,
	find:       (*analysis).findTeams,
}

// findTeams adds the synchronization points of threads: the forks and the barriers of teams.
func (a *analysis) findTeams(k *kind) {
	isBarrier := make([]bool, len(a.tl.Paths))
	for id := 1; id < len(isBarrier); id++ {
		r := a.tl.Regions[a.tl.Paths[id].Region]
		isBarrier[id] = r.Paradigm == timeline.OpenMP && (r.Role == timeline.Barrier || r.Role == timeline.ImplicitBarrier)
	}
	found := make([][]syncPoint, len(a.tl.Teams))
	a.each(len(found), func(i int) {
		t := &a.tl.Teams[i]
		if len(t.Members) < 2 {
			return
		}
		found[i] = append(a.barriersOf(t, k, isBarrier), syncPoint{form: ofFork, team: t})
	})
	a.points = append(a.points, slices.Concat(found...)...)
}

// barriersOf finds the barriers of a team: the k-th one of every member, as long as all have one.
func (a *analysis) barriersOf(t *timeline.Team, kind *kind, isBarrier []bool) []syncPoint {
	var list []syncPoint
	for i := range t.Members {
		m := &t.Members[i]
		c := a.calls(m.Location)
		k := 0
		for call := m.BeginPlace.Next; call < min(m.EndPlace.Next, int32(c.Len())); call++ {
			if !isBarrier[c.Path[call]] {
				continue
			}
			if i == 0 {
				list = append(list, syncPoint{kind: kind, form: ofThreads, team: t, calls: make([]int32, 0, len(t.Members))})
			} else if k == len(list) {
				break
			}
			list[k].calls = append(list[k].calls, call)
			k++
		}
		list = list[:k]
	}
	return list
}

var openMPIdle = kind{
	Info: Info{
		Name:    "omp_idle",
		Title:   "Idle threads",
		Short:   "is idle while its master works alone",
		Who:     "Threads of rank %d were idle for",
		Because: "%s worked alone",
		Meaning: "Time of the worker threads of a process between its parallel regions. The cause is what the master did, or, " +
			"through its own waits, what made it wait.",
		Advice: "Put more of the serial work into parallel regions, or use more ranks and fewer threads.",
		Color:  Color{"#F2A65A", "#FFC383"},
	},
	precedence: collectiveNext,
}

// idlePhase is a serial phase of a master: as many wait states as it has workers.
type idlePhase struct {
	master   int32
	from, to unit.Duration
	before   int32 // no call of the master from this one on begins before to
	states   int   // number of its wait states before that call
	path     int32
	workers  int64
	who      []int32 // the workers
	indirect int64   // of each worker
}

// interval is what the master does in the phase.
func (p *idlePhase) interval() interval { return interval{p.master, p.from, p.to, p.before, p.states} }

// findIdlePhases lists the serial phases of all masters that have teams and workers.
func (a *analysis) findIdlePhases() {
	teams := a.tl.Teams
	for len(teams) > 0 {
		master, n := teams[0].Master, 1
		for n < len(teams) && teams[n].Master == master {
			n++
		}
		if workers := a.workersOf(master); len(workers) > 0 {
			a.idle = append(a.idle, a.phasesOf(master, workers, teams[:n])...)
		}
		teams = teams[n:]
	}
}

// workersOf are the other threads of a master's process that are workers: that were in a team, or were there all the time and never called
// anything, as those do that no team needed. Others are threads of another kind.
func (a *analysis) workersOf(master int32) []int32 {
	var list []int32
	for i := master + 1; int(i) < a.hosts && a.tl.Locations[i].Rank == a.tl.Locations[master].Rank; i++ {
		if a.inTeam[i] || a.tl.Locations[i].Alive == nil && !slices.ContainsFunc(a.calls(i).Path, a.isRecorded) {
			list = append(list, i)
		}
	}
	return list
}

// isRecorded reports whether a call is not time when recording was off.
func (a *analysis) isRecorded(path timeline.PathID) bool {
	return a.tl.RegionOf(path).Role != timeline.Unrecorded
}

// freeIn is when a worker lives and is in no call, from one moment to another; what it does when recording is off is unknown.
func (a *analysis) freeIn(worker int32, from, to unit.Duration) []span {
	lives := a.tl.Locations[worker].Alive
	if lives == nil {
		lives = []timeline.Span{{From: from, To: to}}
	}
	c := a.calls(worker)
	call, _ := slices.BinarySearch(c.Enter, from)
	if call--; call >= 0 {
		for outer := a.windows.Caller(worker, int32(call)); outer >= 0; outer = a.windows.Caller(worker, outer) {
			call = int(outer)
		}
	}
	var list []span
	for _, life := range lives {
		at, end := max(life.From, from), min(life.To, to)
		for call = max(call, 0); call < c.Len() && c.Enter[call] < end; call = int(c.Skip[call]) {
			if c.Enter[call] > at {
				list = append(list, span{at, c.Enter[call]})
			}
			if at = max(at, c.Leave[call]); at >= end {
				break // it may go on in the next life
			}
		}
		if at < end {
			list = append(list, span{at, end})
		}
	}
	return list
}

// freePieces cuts a time where workers become free or busy, and calls visit with those that are free in each piece.
func (a *analysis) freePieces(workers []int32, from, to unit.Duration, visit func(from, to unit.Duration, free []int32)) {
	lists := make([][]span, len(workers))
	var cuts []unit.Duration
	for i, w := range workers {
		lists[i] = a.freeIn(w, from, to)
		for _, s := range lists[i] {
			cuts = append(cuts, s.enter, s.leave)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := 1; i < len(cuts); i++ {
		var free []int32
		for k, w := range workers {
			for len(lists[k]) > 0 && lists[k][0].leave <= cuts[i-1] {
				lists[k] = lists[k][1:]
			}
			if len(lists[k]) > 0 && lists[k][0].enter <= cuts[i-1] {
				free = append(free, w)
			}
		}
		if len(free) > 0 {
			visit(cuts[i-1], cuts[i], free)
		}
	}
}

// unrecordedOf are the times when recording was off at a location.
func (a *analysis) unrecordedOf(location int32) []span {
	var list []span
	if !a.tl.Locations[location].Cut {
		return nil
	}
	for i, path := range a.calls(location).Path {
		if !a.isRecorded(path) {
			list = append(list, a.spanOf(location, int32(i)))
		}
	}
	return list
}

// phasesOf returns the serial phases around the teams of a master.
func (a *analysis) phasesOf(master int32, workers []int32, teams []timeline.Team) []idlePhase {
	var list []idlePhase
	off := a.unrecordedOf(master)
	var add func(from, to unit.Duration, before, path int32)
	add = func(from, to unit.Duration, before, path int32) {
		for _, s := range off { // whether threads were idle then is unknown
			if s.enter < to && s.leave > from {
				add(from, s.enter, before, path)
				add(s.leave, to, before, path)
				return
			}
		}
		if to <= from {
			return
		}
		a.freePieces(workers, from, to, func(from, to unit.Duration, free []int32) {
			begun, _ := slices.BinarySearch(a.calls(master).Enter, to)
			before := min(before, int32(begun))
			list = append(list, idlePhase{
				master: master, from: from, to: to, before: before, states: a.statesBefore(master, before), path: path,
				workers: int64(len(free)), who: free,
			})
		})
	}
	l := &a.tl.Locations[master]
	from := l.First
	for i := range teams {
		add(from, teams[i].Fork, teams[i].ForkPlace.Next, a.paths.Of[teams[i].Base])
		from = teams[i].Join
	}
	path := int32(0)
	if open := teams[len(teams)-1].JoinPlace.Open; open >= 0 {
		path = a.paths.Of[l.Calls.Path[open]]
	}
	add(from, l.Last, int32(l.Calls.Len()), path)
	return list
}

// EachIdle calls visit for every time in which worker threads were idle, by master, then by time: from when to when, and which ones.
func (r *Result) EachIdle(visit func(master int32, from, to unit.Duration, workers []int32)) {
	for i := range r.a.idle {
		p := &r.a.idle[i]
		visit(p.master, p.from, p.to, p.who)
	}
}
