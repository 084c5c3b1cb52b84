package waits

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"slackline/analyze/profile"
	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// CriticalPath is the sequence of activities that the run time consists of: whoever waits was not
// critical before, the one that it waited for was. It is that of the timeline as it was; what would happen if
// something took less time, it does not know.
type CriticalPath struct {
	Segments []Segment       // by time
	Shares   []CriticalShare // by rank and call path
	Paths    []CriticalTime  // by call path
	Length   unit.Duration   // sum of the segments, without time when recording was off
	Missing  unit.Duration   // run time before the first segment: its location began later than others
}

// Segment is a part of the critical path at one location.
type Segment struct {
	Location int32
	From, To unit.Duration
	Metric   Metric // the wait state that ended here: the segment before this one ended it; None for the first
}

// CriticalShare is the time of a rank and call path on the critical path.
type CriticalShare struct {
	Rank int
	Path int32 // 0: in no call
	Time unit.Duration
}

// CriticalTime compares the time of a call path on the critical path with what it takes on average.
type CriticalTime struct {
	Path      int32
	Time      unit.Duration
	Worst     int           // the rank with the largest share of it
	Most      unit.Duration // that share
	Average   unit.Duration // over locations, without waiting time
	Imbalance unit.Duration // what the critical path has more
}

// CriticalPath walks back from the last event of the run. It is found anew with every call.
func (r *Result) CriticalPath() *CriticalPath {
	w := r.a.newWalker()
	if at, ok := r.a.walkFrom(); ok {
		w.walk(at)
	}
	return r.criticalPath(w.segments, w.shareList(), r.a.averages(r.a.workByPath()))
}

// criticalPath makes a critical path out of its segments, the last one first, its shares, and what call paths take on
// average.
func (r *Result) criticalPath(segments []Segment, shares []CriticalShare, average []unit.Duration) *CriticalPath {
	c := &CriticalPath{Segments: segments, Shares: shares}
	for _, s := range c.Shares {
		c.Length += s.Time
	}
	slices.Reverse(c.Segments)
	if len(c.Segments) > 0 {
		c.Missing = c.Segments[0].From - r.Timeline.Start
	}
	slices.SortFunc(c.Shares, func(x, y CriticalShare) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Path, y.Path))
	})
	c.Paths = r.criticalTimes(c.Shares, average)
	return c
}

// criticalTimes compares the critical path with the average location.
func (r *Result) criticalTimes(shares []CriticalShare, average []unit.Duration) []CriticalTime {
	times := make([]CriticalTime, r.Paths.Len())
	for _, s := range shares {
		t := &times[s.Path]
		t.Path, t.Time = s.Path, t.Time+s.Time
		if s.Time > t.Most {
			t.Worst, t.Most = s.Rank, s.Time
		}
	}
	times = slices.DeleteFunc(times, func(t CriticalTime) bool { return t.Time == 0 })
	for i := range times {
		t := &times[i]
		t.Average, t.Imbalance = average[t.Path], max(0, t.Time-average[t.Path])
	}
	return times
}

// workByPath is the time over locations that call paths take without waiting, of the locations that are here.
func (a *analysis) workByPath() []unit.Duration {
	total := make([]unit.Duration, a.paths.Len())
	var mu sync.Mutex
	workers := make([]*profile.Sums, max(a.threads, 1))
	first, last := a.tl.Whole()
	parallel.EachWorker(last-first, a.threads, func(worker, l int) {
		l += first
		if workers[worker] == nil {
			workers[worker] = profile.NewSums(a.paths)
		}
		sums := workers[worker]
		sums.Clear()
		a.windows.Whole(sums, int32(l))
		for i := a.first[l]; i < a.first[l+1]; i++ {
			sums.Subtract(a.statePath(i), a.states[i].amount)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, path := range sums.Touched {
			total[path] += sums.First(path)
		}
	})
	return total
}

// averages divides sums over all locations by their number.
func (a *analysis) averages(total []unit.Duration) []unit.Duration {
	for i := range total {
		total[i] /= unit.Duration(max(len(a.tl.Locations), 1))
	}
	return total
}

// place is where the critical path is: at a location, at a moment, before a call.
type place struct {
	at     int32
	now    unit.Duration
	before int32
}

// walkFrom is where the critical path ends; false if there is none. The call is not right if the location is
// that of another process.
func (a *analysis) walkFrom() (place, bool) {
	if len(a.tl.Locations) == 0 {
		return place{}, false
	}
	at := int32(0)
	for l := range a.tl.Locations {
		if a.tl.Locations[l].Last > a.tl.Locations[at].Last {
			at = int32(l)
		}
	}
	return place{at, a.tl.Locations[at].Last, int32(a.calls(at).Len())}, true
}

// walker follows the critical path backwards, and keeps what it consists of.
type walker struct {
	a        *analysis
	teams    map[int32][]teamPart
	used     map[int]bool
	sums     *profile.Sums
	shares   map[CriticalShare]unit.Duration
	segments []Segment // the last one first
}

func (a *analysis) newWalker() *walker {
	return &walker{a: a, teams: a.teamsByLocation(), used: map[int]bool{}, sums: profile.NewSums(a.paths), shares: map[CriticalShare]unit.Duration{}}
}

// walk goes back as far as the critical path stays with the locations that are here; it returns where it leaves
// them, false if it ends here.
func (w *walker) walk(p place) (place, bool) {
	for w.a.isHere(p.at) {
		came, next, nextBefore, metric := w.a.reason(p.at, p.now, p.before, w.used, w.teams)
		if came < p.now {
			w.visit(Segment{p.at, came, p.now, metric}, p.before)
		}
		if metric == None {
			return p, false
		}
		p = place{next, came, nextBefore}
	}
	return p, true
}

// visit takes a segment; of the location's calls those before number before belong to it.
func (w *walker) visit(s Segment, before int32) {
	w.segments = append(w.segments, s)
	w.sums.Clear()
	w.a.windows.Add(w.sums, s.Location, s.From, s.To, before)
	left := s.To - s.From
	for _, path := range w.sums.Touched {
		if t := w.sums.First(path); path != 0 && t > 0 {
			if !w.a.paths.Unrecorded(path) {
				w.shares[CriticalShare{Rank: w.a.rankOf(s.Location), Path: path}] += t
			}
			left -= t
		}
	}
	if left > 0 {
		w.shares[CriticalShare{Rank: w.a.rankOf(s.Location)}] += left
	}
}

// shareList lists the shares, in no order.
func (w *walker) shareList() []CriticalShare {
	var list []CriticalShare
	for s, t := range w.shares {
		s.Time = t
		list = append(list, s)
	}
	return list
}

// reason finds why a location was not earlier at a moment before a call: when another one let it go on, and
// which. The metric is None if nobody did.
func (a *analysis) reason(at int32, now unit.Duration, before int32, used map[int]bool, teams map[int32][]teamPart) (came unit.Duration, next, nextBefore int32, metric Metric) {
	states := a.states[a.first[at]:a.first[at+1]]
	i := sort.Search(len(states), func(i int) bool { return states[i].call >= before }) - 1
	for i >= 0 && (used[a.first[at]+i] || states[i].enter >= now) {
		i--
	}
	if t := lastTeam(teams[at], before, now); t != nil && (i < 0 || states[i].call < t.member.BeginPlace.Next) {
		return min(t.team.Fork, now), t.team.Master, t.team.ForkPlace.Next, openMPIdle.metric
	}
	if i < 0 {
		return min(a.tl.Locations[at].First, now), at, before, None
	}
	s := &states[i]
	used[a.first[at]+i] = true
	came = min(a.calls(s.cause).Enter[s.causeCall], a.calls(at).Leave[s.call], now)
	return came, s.cause, s.causeCall, s.metric
}

// teamPart is the part of a worker in a team.
type teamPart struct {
	team   *timeline.Team
	member *timeline.TeamMember
}

func (a *analysis) teamsByLocation() map[int32][]teamPart {
	teams := map[int32][]teamPart{}
	for i := range a.tl.Teams {
		t := &a.tl.Teams[i]
		for j := range t.Members {
			if m := &t.Members[j]; m.Location != t.Master {
				teams[m.Location] = append(teams[m.Location], teamPart{t, m})
			}
		}
	}
	return teams
}

// lastTeam finds the last team that a worker was in before a call and a moment; nil if there is none.
func lastTeam(list []teamPart, before int32, now unit.Duration) *teamPart {
	i := sort.Search(len(list), func(i int) bool {
		return list[i].team.Fork >= now || list[i].member.BeginPlace.Next > before
	}) - 1
	if i < 0 {
		return nil
	}
	return &list[i]
}
