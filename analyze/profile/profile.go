package profile

import (
	"slices"

	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Profile is how often and how long every rank was in every call path, and what it sent and received there.
type Profile struct {
	Timeline *timeline.Timeline
	Paths    *Paths
	Entries  []Entry // by rank, then call path
	ByPath   []Entry // summed over ranks, by call path; Rank is -1
	Windows  *Windows
	// By rank, summed over its threads: time when recording was off. The entries do not include it.
	Unrecorded []unit.Sum
	threads    int
	gathered   *traffic // of a run that several processes share, at process 0
}

// Entry is the profile of a call path on a rank, summed over its threads.
type Entry struct {
	Path        int32
	Rank        int
	Visits      int64    // calls, as far as they are counted
	Pieces      int64    // times in which samples saw it; its calls are not counted then
	Samples     int64    // that saw it, and nothing that it called
	Exclusive   unit.Sum // in it
	Inclusive   unit.Sum // in it and in what it called
	Sent        Traffic  // messages
	Received    Traffic
	Collective  Traffic // collectives: calls, and bytes sent and received
	Transferred int64   // bytes received in messages and collectives
	Counts      []int64 // by metric: in it, and in nothing that it called; nil: nothing was counted
}

// Counted reports whether the calls of an entry were counted. Those of functions that samples found were not.
func (p *Profile) Counted(e *Entry) bool { return e.Pieces == 0 && p.kindOf(e.Path) != NoCPU }

// Traffic counts messages or collectives and their bytes.
type Traffic struct {
	Count int64 `json:"messages"`
	Bytes int64 `json:"bytes"`
}

func (t *Traffic) add(count, bytes int64) {
	t.Count += count
	t.Bytes += bytes
}

// Options of a profile; the zero value works.
type Options struct {
	Threads int // 0: one
}

// New makes the profile of a run.
func New(tl *timeline.Timeline, o Options) (*Profile, error) {
	paths, err := NewPaths(tl)
	if err != nil {
		return nil, err
	}
	return With(tl, paths, NewWindows(tl, paths, max(o.Threads, 1)), o), nil
}

// With makes the profile of a run whose paths are known. That of a part of a run has the entries of its own ranks; see
// Gather.
func With(tl *timeline.Timeline, paths *Paths, windows *Windows, o Options) *Profile {
	p := &Profile{Timeline: tl, Paths: paths, Windows: windows, threads: max(o.Threads, 1), Unrecorded: make([]unit.Sum, tl.Ranks)}
	columns := make([][]Entry, tl.Ranks)
	ranks := locationsByRank(tl)
	scratch := make([]*counters, p.threads)
	first := messagesByReceiver(tl)
	sends := byRank(tl, len(tl.Messages), func(i int) int32 { return tl.Messages[i].From })
	members := byRank(tl, len(tl.Members), func(i int) int32 { return tl.Members[i].Location })
	begin, end := ownRanks(tl)
	parallel.EachWorker(end-begin, p.threads, func(worker, rank int) {
		rank += begin
		if scratch[worker] == nil {
			scratch[worker] = &counters{entries: make([]Entry, paths.Len()), sums: NewSums(paths)}
		}
		c := scratch[worker]
		for _, l := range ranks[rank] {
			c.addCalls(p, l)
			c.addCounts(p, l)
			for i := first[l]; i < first[l+1]; i++ {
				m := &tl.Messages[i]
				c.at(paths.Of[tl.Locations[l].Calls.Path[m.Recv]]).Received.add(1, m.Size)
			}
		}
		for _, i := range sends[rank] {
			m := &tl.Messages[i]
			c.at(paths.Of[tl.Locations[m.From].Calls.Path[m.Send]]).Sent.add(1, m.Size)
		}
		for _, i := range members[rank] {
			m := &tl.Members[i]
			c.at(paths.Of[tl.Locations[m.Location].Calls.Path[m.Complete]]).Collective.add(1, m.Sent+m.Received)
		}
		columns[rank] = c.take(paths, rank)
	})
	p.Entries = slices.Concat(columns...)
	p.sumByPath()
	return p
}

// counters are the entries of one rank while they are counted.
type counters struct {
	entries []Entry
	used    []int32
	sums    *Sums
}

// at returns the entry of a path.
func (c *counters) at(path int32) *Entry {
	e := &c.entries[path]
	if e.Rank == 0 {
		e.Rank = 1 // in use
		c.used = append(c.used, path)
	}
	return e
}

// addCalls counts the calls of a location and their time.
func (c *counters) addCalls(p *Profile, location int32) {
	for _, id := range p.Timeline.Locations[location].Calls.Path {
		if path := p.Paths.Of[id]; !p.Paths.Unrecorded(path) {
			c.at(path).Visits++
		}
	}
	for _, s := range p.Timeline.Locations[location].Sampled {
		e := c.at(p.Paths.Of[p.Timeline.Locations[location].Calls.Path[s.Call]])
		e.Visits--
		e.Pieces++
		e.Samples += int64(s.Samples)
	}
	for _, poll := range p.Timeline.Locations[location].Polls {
		c.at(p.Paths.Of[p.Timeline.Locations[location].Calls.Path[poll.Call]]).Visits += poll.Count - 1
	}
	c.sums.Clear()
	p.Windows.Whole(c.sums, location)
	for _, path := range c.sums.Touched {
		if p.Paths.Unrecorded(path) {
			p.Unrecorded[p.Timeline.Locations[location].Rank].Add(c.sums.First(path))
		} else if path != 0 {
			c.at(path).Exclusive.Add(c.sums.First(path))
		}
	}
}

// take returns the entries, with inclusive times, and clears them.
func (c *counters) take(paths *Paths, rank int) []Entry {
	for i := 0; i < len(c.used); i++ { // callers count too
		if up := paths.Parent[c.used[i]]; up != 0 {
			c.at(up)
		}
	}
	slices.Sort(c.used)
	for i := len(c.used) - 1; i >= 0; i-- { // callers have lower numbers
		e := &c.entries[c.used[i]]
		e.Inclusive.AddSum(e.Exclusive)
		e.Transferred = e.Received.Bytes + e.Collective.Bytes
		if up := paths.Parent[c.used[i]]; up != 0 {
			c.entries[up].Inclusive.AddSum(e.Inclusive)
		}
	}
	list := make([]Entry, 0, len(c.used))
	for _, path := range c.used {
		e := c.entries[path]
		e.Path, e.Rank = path, rank
		list = append(list, e)
		c.entries[path] = Entry{}
	}
	c.used = c.used[:0]
	return list
}

// sumByPath sums the entries over ranks.
func (p *Profile) sumByPath() {
	sums := make([]Entry, p.Paths.Len())
	for i := range p.Entries {
		e := &p.Entries[i]
		s := &sums[e.Path]
		s.Path, s.Rank = e.Path, -1
		s.Visits += e.Visits
		s.Pieces += e.Pieces
		s.Samples += e.Samples
		s.Exclusive.AddSum(e.Exclusive)
		s.Inclusive.AddSum(e.Inclusive)
		s.Sent.add(e.Sent.Count, e.Sent.Bytes)
		s.Received.add(e.Received.Count, e.Received.Bytes)
		s.Collective.add(e.Collective.Count, e.Collective.Bytes)
		s.Transferred += e.Transferred
		for m, v := range e.Counts {
			s.count(len(e.Counts), m, v)
		}
	}
	for i := range sums {
		if sums[i].Rank == -1 {
			p.ByPath = append(p.ByPath, sums[i])
		}
	}
}

// RunTime is the time from the first to the last event of the run.
func (p *Profile) RunTime() unit.Duration { return p.Timeline.End - p.Timeline.Start }

// ownRanks returns the ranks that are here, begin .. end-1.
func ownRanks(tl *timeline.Timeline) (begin, end int) {
	if tl.Part == nil {
		return 0, tl.Ranks
	}
	p := tl.Part.Group.Rank()
	return min(tl.Part.Ranks[p], tl.Ranks), min(tl.Part.Ranks[p+1], tl.Ranks)
}

func locationsByRank(tl *timeline.Timeline) [][]int32 {
	ranks := make([][]int32, tl.Ranks)
	for l := range tl.Locations {
		r := tl.Locations[l].Rank
		ranks[r] = append(ranks[r], int32(l))
	}
	return ranks
}

// messagesByReceiver returns where the messages of each location begin; one more at the end.
func messagesByReceiver(tl *timeline.Timeline) []int {
	first := make([]int, len(tl.Locations)+1)
	for i := range tl.Messages {
		first[tl.Messages[i].To+1]++
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	return first
}

// byRank sorts n things by the rank of their location.
func byRank(tl *timeline.Timeline, n int, location func(i int) int32) [][]int32 {
	counts := make([]int, tl.Ranks)
	for i := range n {
		counts[tl.Locations[location(i)].Rank]++
	}
	all := spill.Make[int32](tl.Space, 0, n)
	lists := make([][]int32, tl.Ranks)
	at := 0
	for r, c := range counts {
		lists[r] = all[at : at : at+c]
		at += c
	}
	for i := range n {
		r := tl.Locations[location(i)].Rank
		lists[r] = append(lists[r], int32(i))
	}
	return lists
}

// PathTime is a call path with the rank that spends the most time in it.
type PathTime struct {
	Entry
	Worst int
	Most  unit.Sum
}

// Longest returns the call paths by the time that they take themselves, the longest first.
func (p *Profile) Longest() []PathTime {
	worst := map[int32]*Entry{}
	for i := range p.Entries {
		e := &p.Entries[i]
		if w := worst[e.Path]; w == nil || e.Exclusive.Cmp(w.Exclusive) > 0 {
			worst[e.Path] = e
		}
	}
	list := make([]PathTime, len(p.ByPath))
	for i, e := range p.ByPath {
		list[i] = PathTime{Entry: e}
		if w := worst[e.Path]; w != nil {
			list[i].Worst, list[i].Most = w.Rank, w.Exclusive
		}
	}
	slices.SortStableFunc(list, func(x, y PathTime) int { return y.Exclusive.Cmp(x.Exclusive) })
	return list
}
