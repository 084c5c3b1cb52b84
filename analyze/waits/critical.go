package waits

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"slackline/analyze/devices"
	"slackline/analyze/profile"
	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// CriticalPath is the sequence of activities that the run time consists of: whoever waits was not
// critical before, the one that it waited for was. It is that of the timeline as recorded; it does not
// predict what would happen if something took less time.
type CriticalPath struct {
	Length   unit.Duration   `json:"length_s"`  // sum of the segments, without time when recording was off
	Missing  unit.Duration   `json:"missing_s"` // run time before the first segment: its location began later than others
	Shares   []CriticalShare `json:"profile"`   // by rank and call path
	Paths    []CriticalTime  `json:"callpaths"` // by call path
	Segments []Segment       `json:"segments"`  // by time
}

// Segment is a part of the critical path at one location.
type Segment struct {
	Location int32         `json:"-"`
	Rank     int           `json:"rank"`
	Thread   int           `json:"thread"`
	From     unit.Duration `json:"from_s"`
	To       unit.Duration `json:"to_s"`
	Metric   Metric        `json:"after,omitzero"` // the wait state that the segment before ended; None if it started the thread
}

// CriticalShare is the time of a rank and call path on the critical path.
type CriticalShare struct {
	profile.Place
	Time unit.Duration `json:"seconds"`
}

// CriticalTime compares the time of a call path on the critical path with what it takes on average.
type CriticalTime struct {
	Path      int32         `json:"-"`
	CallPath  string        `json:"callpath"`
	Time      unit.Duration `json:"seconds"`
	Worst     int           `json:"-"`           // the rank with the largest share of it
	Most      unit.Duration `json:"-"`           // that share
	Average   unit.Sum      `json:"average_s"`   // over locations, without waiting time
	Imbalance unit.Duration `json:"imbalance_s"` // what the critical path has more
}

// CriticalPath walks back from the last event of the run. It is found anew with every call.
func (r *Result) CriticalPath() *CriticalPath {
	if r.a.devices != nil {
		segments, shares := r.a.walkDevices()
		return r.criticalPath(segments, shares, r.a.averages(r.a.workByPath()))
	}
	w := r.a.newWalker()
	if at, ok := r.a.walkFrom(); ok {
		w.walk(at)
	}
	return r.criticalPath(w.segments, w.shareList(), r.a.averages(r.a.workByPath()))
}

// criticalPath makes a critical path out of its segments, the last one first, its shares, and what call paths take on
// average.
func (r *Result) criticalPath(segments []Segment, shares []CriticalShare, average []unit.Sum) *CriticalPath {
	c := &CriticalPath{Segments: append([]Segment{}, segments...), Shares: append([]CriticalShare{}, shares...)}
	for i := range c.Shares {
		c.Length += c.Shares[i].Time
		c.Shares[i].Name(r.Paths)
	}
	slices.Reverse(c.Segments)
	for i := range c.Segments {
		s := &c.Segments[i]
		s.Rank, s.Thread = r.Timeline.Locations[s.Location].Rank, r.Timeline.Locations[s.Location].Thread
	}
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
func (r *Result) criticalTimes(shares []CriticalShare, average []unit.Sum) []CriticalTime {
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
		t.CallPath = r.Paths.Names[t.Path]
		t.Average = average[t.Path]
		if more := unit.SumOf(t.Time).Minus(t.Average); more.Sign() > 0 {
			t.Imbalance = more.Duration()
		}
	}
	return times
}

// workByPath is the time over locations that call paths take without waiting, of the locations that are here.
func (a *analysis) workByPath() []unit.Sum {
	total := make([]unit.Sum, a.paths.Len())
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
			if !a.isInner(i) || l < a.hosts { // devices wait before their activities begin
				sums.Subtract(a.statePath(i), a.states[i].amount)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for _, path := range sums.Touched {
			total[path].Add(sums.First(path))
		}
	})
	return total
}

// averages divides sums over all locations by their number; with streams by that of ranks.
func (a *analysis) averages(total []unit.Sum) []unit.Sum {
	n := len(a.tl.Locations)
	if a.devices != nil {
		n = len(a.tl.RanksRead())
	}
	for i := range total {
		total[i] = total[i].Mean(max(n, 1))
	}
	return total
}

// place is where the critical path is: at a location, at a moment, before a call.
type place struct {
	at     int32
	now    unit.Duration
	before int32
}

// walkFrom is where the critical path ends; false if there is none. A location that began when the part of the run ended has none of it.
// The call is not right if the location is that of another process.
func (a *analysis) walkFrom() (place, bool) {
	if len(a.tl.Locations) == 0 {
		return place{}, false
	}
	at := int32(0)
	for l := range a.tl.Locations {
		x, y := &a.tl.Locations[l], &a.tl.Locations[at]
		if x.First < x.Last && (y.First == y.Last || x.Last > y.Last) {
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
	shares   map[profile.Place]unit.Duration
	segments []Segment // the last one first
}

func (a *analysis) newWalker() *walker {
	return &walker{a: a, teams: a.teamsByLocation(), used: map[int]bool{}, sums: profile.NewSums(a.paths),
		shares: map[profile.Place]unit.Duration{}}
}

// walk goes back as far as the critical path stays with the locations that are here; it returns where it leaves
// them, false if it ends here.
func (w *walker) walk(p place) (place, bool) {
	for w.a.isHere(p.at) {
		next, metric, ok := w.a.reason(p, w.used, w.teams)
		if next.now < p.now {
			w.visit(Segment{Location: p.at, From: next.now, To: p.now, Metric: metric}, p.before)
		}
		if !ok {
			return p, false
		}
		p = next
	}
	return p, true
}

// visit takes a segment; of the location's calls those before number before belong to it.
func (w *walker) visit(s Segment, before int32) {
	w.segments = spill.Append(w.a.tl.Space, w.segments, s)
	w.sums.Clear()
	w.a.windows.Add(w.sums, s.Location, s.From, s.To, before)
	left := s.To - s.From
	for _, path := range w.sums.Touched {
		if t := w.sums.First(path); path != 0 && t > 0 {
			if !w.a.paths.Unrecorded(path) {
				w.shares[profile.Place{Rank: w.a.rankOf(s.Location), Path: path}] += t
			}
			left -= t
		}
	}
	if left > 0 {
		w.shares[profile.Place{Rank: w.a.rankOf(s.Location)}] += left
	}
}

// shareList lists the shares, in no order.
func (w *walker) shareList() []CriticalShare {
	var list []CriticalShare
	for place, t := range w.shares {
		list = append(list, CriticalShare{place, t})
	}
	return list
}

// reason finds why a location was not earlier at a place: where and when another one let it go on, by the end of which wait state; the
// metric is None if another one started its thread then. Not ok: none did, and the path begins here.
func (a *analysis) reason(p place, used map[int]bool, teams map[int32][]teamPart) (from place, metric Metric, ok bool) {
	at, now, before := p.at, p.now, p.before
	born, master := a.tl.Locations[at].Born(now), a.masters[a.rankOf(at)]
	started := at != master
	states := a.states[a.first[at]:a.first[at+1]]
	i := sort.Search(len(states), func(i int) bool { return states[i].call >= before }) - 1
	for i >= 0 && (used[a.first[at]+i] || states[i].enter >= now) {
		i--
	}
	if t := lastTeam(teams[at], before, now); t != nil && (i < 0 || states[i].call < t.member.BeginPlace.Next) && born <= t.member.Begin {
		return place{t.team.Master, min(t.team.Fork, now), t.team.ForkPlace.Next}, openMPIdle.metric, true
	}
	if i < 0 || started && states[i].end() <= born {
		if enter := a.calls(master).Enter; started {
			return place{master, min(born, now), int32(sort.Search(len(enter), func(i int) bool { return enter[i] >= born }))}, None, true
		}
		return place{at, min(a.tl.Locations[at].First, now), before}, None, false
	}
	s := &states[i]
	used[a.first[at]+i] = true
	came := min(a.calls(s.cause).Enter[s.causeCall], a.calls(at).Leave[s.call], now)
	return place{s.cause, came, s.causeCall}, s.metric, true
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

// devicePath follows the critical path of a run with streams: local paths, from one process to the next where one waited for another.
type devicePath struct {
	a        *analysis
	rank     int
	shares   map[profile.Place]unit.Duration
	segments []Segment // the last one first
	owned    unit.Duration
	next     int           // wait state where the path changes to another process, -1: none
	met      unit.Duration // when the path came to it
}

// Path implements devices.Owners.
func (p *devicePath) Path(path int32, from, to unit.Duration) bool {
	p.shares[profile.Place{Rank: p.rank, Path: path}] += to - from
	p.owned += to - from
	return true
}

// Wait implements devices.Owners.
func (p *devicePath) Wait(state int32, _, to unit.Duration) bool {
	p.next, p.met = int(state), to
	return false
}

// walkDevices walks back from the last event of the run.
func (a *analysis) walkDevices() ([]Segment, []CriticalShare) {
	p := &devicePath{a: a, shares: map[profile.Place]unit.Duration{}}
	at, now := int32(0), unit.Duration(0)
	for l := range a.tl.Locations {
		if last := a.tl.Locations[l].Last; l == 0 || last > now {
			at, now = int32(l), last
		}
	}
	walk := a.devices.run.FromCall(at, now)
	if s := a.streamOf(at); s >= 0 {
		walk = a.devices.run.FromInside(devices.Op{At: s, Index: int32(a.calls(at).Len() - 1)}, now)
	}
	used := map[int]bool{}
	for {
		p.rank, p.next, p.owned = a.rankOf(at), -1, 0
		walk.Back(a.devices.starts[p.rank], p)
		came, metric := min(a.devices.starts[p.rank], now), None
		if p.next >= 0 {
			s := &a.states[p.next]
			came, metric = min(a.calls(s.cause).Enter[s.causeCall], p.met), s.metric
		}
		if came < now {
			p.segments = append(p.segments, Segment{Location: a.masters[p.rank], From: came, To: now, Metric: metric})
			if rest := now - came - p.owned; rest > 0 {
				p.shares[profile.Place{Rank: p.rank}] += rest
			}
		}
		if p.next < 0 || used[p.next] {
			break
		}
		used[p.next] = true
		s := &a.states[p.next]
		at, now = s.cause, came
		if stream := a.streamOf(at); stream >= 0 {
			walk = a.devices.run.FromStart(devices.Op{At: stream, Index: s.causeCall}, now)
		} else {
			walk = a.devices.run.FromCall(at, now)
		}
	}
	var list []CriticalShare
	for place, t := range p.shares {
		list = append(list, CriticalShare{place, t})
	}
	return p.segments, list
}
