package profile

import (
	"sort"
	"sync"

	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Windows answers how long a location was in which call path between two moments.
type Windows struct {
	tl      *timeline.Timeline
	paths   *Paths
	callers [][]int32         // by location and call: the call around it, -1 if there is none
	teams   [][]teamSpan      // by location: when a worker was in a team
	ledgers []ledger          // by location
	lacks   [][]timeline.Lack // by location: times without a CPU that count as such
}

// teamSpan is the time of a worker from the fork to the join of a team, while it lived. Outside of calls of its own it is then in the path
// of its master at the fork.
type teamSpan struct {
	fork, join unit.Duration
	base       int32
}

// NewWindows prepares the answers.
func NewWindows(tl *timeline.Timeline, paths *Paths, threads int) *Windows {
	w := &Windows{
		tl: tl, paths: paths,
		callers: make([][]int32, len(tl.Locations)),
		teams:   make([][]teamSpan, len(tl.Locations)),
		ledgers: make([]ledger, len(tl.Locations)),
		lacks:   make([][]timeline.Lack, len(tl.Locations)),
	}
	for i := range tl.Locations {
		w.lacks[i] = tl.Locations[i].NoCPU
	}
	parallel.Each(len(tl.Locations), threads, func(i int) { w.callers[i] = callersOf(tl.Space, &tl.Locations[i].Calls) })
	for i := range tl.Teams {
		t := &tl.Teams[i]
		for _, m := range t.Members {
			if m.Location == t.Master {
				continue
			}
			if in := tl.Locations[m.Location].During(t, m.Begin); in.From < in.To {
				w.teams[m.Location] = append(w.teams[m.Location], teamSpan{in.From, in.To, paths.Of[t.Base]})
			}
		}
	}
	return w
}

// callersOf finds the call around every call.
func callersOf(s *spill.Space, c *timeline.Calls) []int32 {
	around := spill.Make[int32](s, c.Len(), c.Len())
	open := int32(-1)
	for i := range around {
		for open >= 0 && c.Skip[open] <= int32(i) {
			open = around[open]
		}
		around[i] = open
		if c.Skip[i] > int32(i)+1 {
			open = int32(i)
		}
	}
	return around
}

// Caller returns the call around a call of a location, -1 if there is none.
func (w *Windows) Caller(location, call int32) int32 { return w.callers[location][call] }

// Innermost returns the innermost call that is open at t, of those before call number before; -1 if
// there is none. A call is open from its enter to before its leave.
func (w *Windows) Innermost(location int32, t unit.Duration, before int32) int32 {
	c := &w.tl.Locations[location].Calls
	i := firstAfter(c.Enter, t, before) - 1
	for i >= 0 && c.Leave[i] <= t {
		i = w.callers[location][i]
	}
	return i
}

// Add adds to sums how long the location was in each call path between from and to. No call from
// number before on may begin before to.
func (w *Windows) Add(s *Sums, location int32, from, to unit.Duration, before int32) {
	if to <= from {
		return
	}
	c := &w.tl.Locations[location].Calls
	first := firstAfter(c.Enter, from, before)
	if before-first >= longWindow {
		w.addLong(s, location, from, to, first, before)
	} else {
		w.addShort(s, location, from, to, first, before)
	}
	w.addLacks(s, location, from, to)
}

// addShort goes through the calls of a window; first is the first that begins after from.
func (w *Windows) addShort(s *Sums, location int32, from, to unit.Duration, first, before int32) {
	c := &w.tl.Locations[location].Calls
	around := w.callers[location]
	worker := len(w.teams[location]) > 0
	if worker {
		for _, t := range w.spans(location, from, to) {
			s.add(t.base, min(t.join, to)-max(t.fork, from))
		}
	}
	// Every call owns its time and takes it away from the path around it.
	for i := first - 1; i >= 0; i = around[i] { // those that are open at from
		leave := c.Leave[i]
		if leave <= from {
			continue
		}
		path := w.paths.Of[c.Path[i]]
		if leave >= to && !worker {
			s.add(path, to-from) // and so do those around it, which leaves them nothing
			break
		}
		leave = min(leave, to)
		s.add(path, leave-from)
		w.takeAway(s, location, i, worker, from, leave)
	}
	of := w.paths.Of
	for i := first; i < before; i++ {
		enter, leave := c.Enter[i], min(c.Leave[i], to)
		if leave <= enter {
			continue
		}
		s.add(of[c.Path[i]], leave-enter)
		if outer := around[i]; outer >= 0 {
			s.add(of[c.Path[outer]], enter-leave)
		} else if worker {
			w.takeAway(s, location, i, worker, enter, leave)
		}
	}
}

// takeAway takes the time of a call from the path around it. Around the outermost calls of a worker
// there are the teams.
func (w *Windows) takeAway(s *Sums, location, call int32, worker bool, from, to unit.Duration) {
	if outer := w.callers[location][call]; outer >= 0 {
		s.add(w.paths.Of[w.tl.Locations[location].Calls.Path[outer]], from-to)
		return
	}
	if !worker {
		return
	}
	for _, t := range w.spans(location, from, to) {
		s.add(t.base, max(t.fork, from)-min(t.join, to))
	}
}

// spans returns the teams of a worker that overlap with a window.
func (w *Windows) spans(location int32, from, to unit.Duration) []teamSpan {
	all := w.teams[location]
	a := sort.Search(len(all), func(i int) bool { return all[i].join > from })
	b := a
	for b < len(all) && all[b].fork < to {
		b++
	}
	return all[a:b]
}

// firstAfter returns the first of the calls up to number before that begins after t, looking from the
// end: windows are short.
func firstAfter(enter []unit.Duration, t unit.Duration, before int32) int32 {
	high, step := before, int32(1)
	low := high
	for {
		if low -= step; low < 0 {
			low = -1
			break
		}
		if enter[low] <= t {
			break
		}
		high = low
		step *= 2
	}
	// enter[low] <= t < enter[high], if there are such calls
	for low+1 < high {
		mid := low + (high-low)/2
		if enter[mid] <= t {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// Long windows are added up from sums that were kept at every so many calls.
const (
	longWindow  = 1 << 8
	minDistance = 1 << 6
)

// ledger holds what a location had spent in each of its paths up to certain calls.
type ledger struct {
	once     sync.Once
	distance int32           // calls from one entry to the next
	paths    []int32         // of the location
	entries  []unit.Duration // by entry and path of the location: up to the beginning of call entry*distance
}

// entry returns what the location had spent up to an entry.
func (l *ledger) entry(i int32) []unit.Duration {
	return l.entries[int(i)*len(l.paths) : int(i+1)*len(l.paths)]
}

// addLong adds a window with many calls.
func (w *Windows) addLong(s *Sums, location int32, from, to unit.Duration, first, before int32) {
	l := &w.ledgers[location]
	l.once.Do(func() { w.keepLedger(location) })
	low := (first + l.distance - 1) / l.distance
	high := (before - 1) / l.distance
	if low >= high {
		w.addShort(s, location, from, to, first, before)
		return
	}
	c := &w.tl.Locations[location].Calls
	begin, end := c.Enter[low*l.distance], c.Enter[high*l.distance]
	w.addShort(s, location, from, begin, first, low*l.distance)
	begun, ended := l.entry(low), l.entry(high)
	for i, path := range l.paths {
		s.add(path, ended[i]-begun[i])
	}
	w.addShort(s, location, end, to, firstAfter(c.Enter, end, before), before)
}

// keepLedger fills the ledger of a location.
func (w *Windows) keepLedger(location int32) {
	l := &w.ledgers[location]
	c := &w.tl.Locations[location].Calls
	sums := NewSums(w.paths)
	number := map[int32]int{}
	note := func(path int32) {
		if _, ok := number[path]; !ok {
			number[path] = len(l.paths)
			l.paths = append(l.paths, path)
		}
	}
	for _, t := range w.teams[location] {
		note(t.base)
	}
	for _, id := range c.Path {
		note(w.paths.Of[id])
	}
	l.distance = int32(max(minDistance, len(l.paths)))
	spent := make([]unit.Duration, len(l.paths))
	l.entries = spill.Make[unit.Duration](w.tl.Space, 0, (c.Len()/int(l.distance)+1)*len(l.paths))
	at := c.Enter[0]
	for i := int32(0); i < int32(c.Len()); i += l.distance {
		sums.Clear()
		w.addShort(sums, location, at, c.Enter[i], firstAfter(c.Enter, at, i), i)
		for _, path := range sums.Touched {
			spent[number[path]] += sums.First(path)
		}
		at = c.Enter[i]
		l.entries = append(l.entries, spent...)
	}
}

// Whole adds all the time of a location.
func (w *Windows) Whole(s *Sums, location int32) {
	l := &w.tl.Locations[location]
	from, to := l.First, l.Last
	if teams := w.teams[location]; len(teams) > 0 {
		from, to = min(from, teams[0].fork), max(to, teams[len(teams)-1].join)
	}
	if to > from {
		n := int32(l.Calls.Len())
		w.addShort(s, location, from, to, firstAfter(l.Calls.Enter, from, n), n)
		w.addLacks(s, location, from, to)
	}
}

// Before returns the call path in which a location is just before t, 0 if it is in none, and since when; false if there is nothing
// before. A worker of a team is in the path of its master at the fork when it is in no call of its own.
func (w *Windows) Before(location int32, t unit.Duration) (path int32, since unit.Duration, ok bool) {
	c := &w.tl.Locations[location].Calls
	last := firstAfter(c.Enter, t-1, int32(c.Len())) - 1
	ended := int32(-1) // the call that was left last
	i := last
	for ; i >= 0 && c.Leave[i] < t; i = w.callers[location][i] {
		ended = i
	}
	if i >= 0 {
		since = c.Enter[i]
	}
	if ended >= 0 {
		since = max(since, c.Leave[ended])
		if i < 0 {
			since = c.Leave[ended]
		}
	}
	if i >= 0 {
		return w.paths.Of[c.Path[i]], since, true
	}
	if spans := w.spans(location, t-1, t); len(spans) > 0 {
		if ended < 0 {
			return spans[0].base, spans[0].fork, true
		}
		return spans[0].base, max(since, spans[0].fork), true
	}
	teams := w.teams[location]
	if k := sort.Search(len(teams), func(k int) bool { return teams[k].join >= t }); k > 0 {
		if ended < 0 {
			return 0, teams[k-1].join, true
		}
		since = max(since, teams[k-1].join)
	}
	return 0, since, ended >= 0
}
