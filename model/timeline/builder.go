package timeline

import (
	"cmp"
	"slices"
	"sync"

	"slackline/internal/parallel"
	"slackline/internal/plain"
	"slackline/internal/spill"
	"slackline/model/unit"
)

// Builder makes a Timeline from what happened at each location. Regions, communicators and
// locations are made with its own methods; what happened goes to the LocationBuilders, each of
// which belongs to one goroutine. Finish finds out what belongs together.
type Builder struct {
	mu        sync.Mutex
	ranks     int
	regions   []Region
	comms     []Comm
	windows   []Object
	files     []Object
	metrics   []Metric
	locations []*LocationBuilder
	grid      *Grid
	simulated bool
	space     *spill.Space
}

// NewBuilder returns a Builder of a run with ranks 0 .. ranks-1.
func NewBuilder(ranks int) *Builder { return &Builder{ranks: ranks} }

// Region adds a region and returns its id. Ids count from 0; equal regions get different ones.
func (b *Builder) Region(r Region) RegionID {
	r.Name, r.File = plain.Name(r.Name), plain.Name(r.File) // others wrote them
	return RegionID(add(b, &b.regions, r))
}

// Comm adds a communicator and returns its number; numbers count from 0.
func (b *Builder) Comm(c Comm) int32 {
	c.Name = plain.Name(c.Name)
	return add(b, &b.comms, c)
}

// SetNeighbors gives the members of a communicator their neighbors, those that each receives from and those that it sends to.
func (b *Builder) SetNeighbors(comm int32, in, out [][]int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.comms[comm].In, b.comms[comm].Out = in, out
}

// Window adds a window of one-sided communication and returns its number; numbers count from 0.
func (b *Builder) Window(o Object) int32 {
	o.Name = plain.Name(o.Name)
	return add(b, &b.windows, o)
}

// File adds a file of collective I/O and returns its number; numbers count from 0.
func (b *Builder) File(o Object) int32 {
	o.Name = plain.Name(o.Name)
	return add(b, &b.files, o)
}

// Metric adds a metric that threads count and returns its number; numbers count from 0.
func (b *Builder) Metric(m Metric) int32 {
	m.Name, m.Unit = plain.Name(m.Name), plain.Name(m.Unit)
	return add(b, &b.metrics, m)
}

// add adds something to one of the lists of a builder and returns its number.
func add[T any](b *Builder, list *[]T, v T) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	*list = append(*list, v)
	return int32(len(*list) - 1)
}

// SetGrid gives the run a process grid.
func (b *Builder) SetGrid(g *Grid) { b.grid = g }

// SetSpace gives the run a space for its long lists, before there is a location. The timeline is void when the space is closed.
func (b *Builder) SetSpace(s *spill.Space) { b.space = s }

// SetSimulated records that the run was simulated: its times are exact.
func (b *Builder) SetSimulated() { b.simulated = true }

// Location adds a thread of a rank. Locations may be added in any order: those of the timeline are
// sorted by rank and thread.
func (b *Builder) Location(rank, thread int, name, host string) *LocationBuilder {
	l := &LocationBuilder{
		rank: rank, thread: thread, name: plain.Name(name), host: plain.Name(host), space: b.space,
		last: never, clockError: unknownClock,
	}
	add(b, &b.locations, l)
	return l
}

// Finish returns the timeline: messages and collectives have found their partners, the call paths of
// all locations are those of one tree, calls that are still open are closed. It uses so many threads;
// their number does not change the result. What does not fit together is in its Problems. The
// Builder must not be used afterwards.
func (b *Builder) Finish(threads int) *Timeline {
	f := b.finisher(threads)
	f.begin()
	f.findCut()
	f.joinPaths()
	f.matchMessages()
	f.matchCollectives()
	f.matchEpochs()
	f.countEarly()
	f.countOdds()
	f.end()
	return f.t
}

// finisher puts the locations in order and begins the timeline.
func (b *Builder) finisher(threads int) *finisher {
	slices.SortStableFunc(b.locations, func(x, y *LocationBuilder) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.thread, y.thread),
			cmp.Compare(x.name, y.name), cmp.Compare(x.host, y.host))
	})
	for _, l := range b.locations {
		b.ranks = max(b.ranks, l.rank+1)
	}
	t := &Timeline{
		Ranks: b.ranks, Regions: b.regions, Comms: b.comms, Windows: b.windows, Files: b.files, Metrics: b.metrics, Grid: b.grid,
		Simulated: b.simulated,
		Space:     b.space,
		Locations: make([]Location, len(b.locations)),
	}
	return &finisher{t: t, locations: b.locations, threads: max(threads, 1)}
}

// finisher holds what Finish needs beside the timeline.
type finisher struct {
	t         *Timeline
	locations []*LocationBuilder
	threads   int
	byRank    [][]int32 // locations of each rank, the master first
	groups    []group   // of the communicators
	reports   []commReport
	cutRanks  []bool // by rank: recording was off for a time
}

// begin does what needs the locations of this process alone.
func (f *finisher) begin() {
	f.each(len(f.locations), func(i int) { f.locations[i].close() })
	f.findRanks()
	f.matchRequests()
	f.countPending()
	f.groups = groupsOf(f.t.Comms)
	f.matchTeams()
	f.each(len(f.byRank), func(rank int) {
		for _, i := range f.byRank[rank] {
			f.findAlone(i)
		}
	})
}

// countEarly counts the collectives that ended before they could, for which it needs the calls of all their members.
func (f *finisher) countEarly() {
	for i, l := range f.locations {
		f.t.Locations[i].Calls, f.t.Locations[i].Polls = l.calls, l.polls
	}
	f.t.CountEarlyCollectives(f.threads)
}

// end puts the locations into the timeline, when all is known of them.
func (f *finisher) end() {
	for i, l := range f.locations {
		f.t.Locations[i] = l.location(f.t.Simulated)
	}
	f.bounds()
	f.boundCut()
}

// findRanks sorts the locations to their ranks.
func (f *finisher) findRanks() {
	f.byRank = make([][]int32, f.t.Ranks)
	for i, l := range f.locations {
		f.byRank[l.rank] = append(f.byRank[l.rank], int32(i))
	}
	for r, locations := range f.byRank {
		if len(locations) == 0 {
			f.t.Problems.MissingRanks = append(f.t.Problems.MissingRanks, r)
		}
	}
}

// countPending counts the requests that were never completed.
func (f *finisher) countPending() {
	for _, l := range f.locations {
		if !l.cut { // else they may have been completed unseen
			l.pending += l.requests.pending()
		}
		l.requests = requestTable{}
	}
}

// bounds finds the first and the last event of the run.
func (f *finisher) bounds() {
	none := true
	for i, l := range f.locations {
		if l.last == never {
			continue
		}
		first, last := f.t.Locations[i].First, f.t.Locations[i].Last
		if none {
			f.t.Start, f.t.End, none = first, last, false
		}
		f.t.Start, f.t.End = min(f.t.Start, first), max(f.t.End, last)
	}
	f.t.endThreads()
}

// each calls work for 0 .. n-1, with up to f.threads of them at the same time.
func (f *finisher) each(n int, work func(i int)) { parallel.Each(n, f.threads, work) }

// location is what the timeline keeps of a location.
func (l *LocationBuilder) location(simulated bool) Location {
	out := Location{
		Rank: l.rank, Thread: l.thread, Name: l.name, Host: l.host,
		Calls: l.calls, First: l.first, Last: l.last,
		ClockError: l.clockError, Truncated: l.truncated, Polls: l.polls, Alone: l.alone, Cut: l.cut, Unrecorded: l.offTime,
		Sampled: l.sampled, Alive: l.alive, NoCPU: l.lacks, Lacked: lackOf(l.lacks) + l.lack,
		Counts: l.counting.list,
	}
	if l.last == never {
		out.Last = 0
	}
	if simulated && out.ClockError == unknownClock {
		out.ClockError = 0
	}
	return out
}

// unknownClock is the clock error of a location that was not measured.
const unknownClock = unit.Duration(-1)
