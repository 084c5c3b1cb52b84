package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"slackline/internal/cluster"
	"slackline/internal/parallel"
	"slackline/internal/plain"
	"slackline/internal/spill"
	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/streams"
	"slackline/model/unit"
)

// TimelineOptions set how a trace becomes a timeline. The zero value is fine.
type TimelineOptions struct {
	Clock   Clock         // how clocks are brought together
	Latency unit.Duration // that the controlled logical clock lets every message take at least
	Clocks  *ClockReport  // filled with what was done to the clocks, if not nil

	Ranks      []int         // those that are read; nil: all. What they have to do with others is left out
	Begin, End unit.Duration // since the start of the run: what is kept; End 0: to the end of the run

	NoSamples bool         // functions are not made out of samples
	Strict    bool         // refuse a trace of which something is missing or damaged
	Partial   bool         // leave out locations whose events cannot be read
	Threads   int          // that read at the same time; 0: as many as make sense
	Space     *spill.Space // that the long lists of the timeline are in, which is void when it is closed; nil: they are on the heap
	Interrupt func() error // asked now and then; an error ends the reading. nil: never
}

// ToTimeline reads a trace and makes a timeline of it: all times on one clock, functions made out of
// samples where the trace has them, partners of messages and members of collectives found. What is
// missing or does not fit together is in the Problems of the timeline, beside what the Warnings of the trace say.
func ToTimeline(t *Trace, o TimelineOptions) (*timeline.Timeline, error) {
	if o.Ranks != nil && t.recorded != nil {
		t = t.recorded()
	}
	c, err := newConversion(t, o)
	if err != nil {
		return nil, err
	}
	if t.timeline != nil {
		tl := t.timeline()
		tl.Problems.Notes = append(tl.Problems.Notes, t.Notes...)
		c.explainMissing(tl)
		return c.cut(context.Background(), tl)
	}
	if err := c.read(); err != nil {
		return nil, err
	}
	if !c.begun.Load() {
		return nil, c.nothingRead()
	}
	tl := c.builder.Finish(c.threads)
	if t.attach != nil {
		if err := t.attach(c, tl); err != nil {
			return nil, err
		}
		tl.Problems.Notes = append(tl.Problems.Notes, c.warnings...)
	}
	if err := c.checkSpan(tl.Start, tl.End); err != nil {
		return nil, err
	}
	c.explainMissing(tl)
	if tl.Devices == nil { // devices would not be moved with their hosts
		if err := c.control(context.Background(), tl); err != nil {
			return nil, err
		}
	}
	return c.cut(context.Background(), tl)
}

// cut moves the start of the run to 0 and leaves out what is not wanted of the run.
func (c *conversion) cut(ctx context.Context, tl *timeline.Timeline) (*timeline.Timeline, error) {
	if tl.Missing().Everything() {
		return nil, fmt.Errorf("%s: recording was off from the start of the run to its end; record it again with another --window, or without "+
			"--start-off if the program does not call MPI_Pcontrol", cmp.Or(c.Trace.Name, "the trace"))
	}
	if missing := tl.Problems.MissingRanks; c.Strict && c.selected == nil && len(missing) > 0 {
		return nil, fmt.Errorf("%s: rank %d left nothing (--strict)", cmp.Or(c.Trace.Name, "the trace"), missing[0])
	}
	others, err := c.beginOfOthers(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.checkSpan(min(tl.Origin(), others), tl.End); err != nil {
		return nil, err
	}
	tl.Before = tl.Start - min(tl.Start, others)
	if c.Format != "" {
		tl.Shift(-tl.Origin(), c.threads)
	}
	if c.Begin > 0 || c.End > 0 {
		end := tl.End
		if c.End > 0 {
			end = min(end, tl.Origin()+c.End)
		}
		if tl, err = tl.WindowTogether(ctx, tl.Origin()+c.Begin, end, c.threads); err != nil {
			return nil, err
		}
		if tl.Missing().Everything() {
			return nil, fmt.Errorf("%s: recording was off from --begin to --end", cmp.Or(c.Trace.Name, "the trace"))
		}
	}
	return tl, nil
}

// checkSpan refuses a run whose times cannot be counted from its start.
func (c *conversion) checkSpan(start, end unit.Duration) error {
	if start < 0 && end > math.MaxInt64+start {
		return fmt.Errorf("%s: the run lasts from %v to %v, longer than times can be (106 days): its times or clocks are damaged",
			cmp.Or(c.Trace.Name, "the trace"), start, end)
	}
	return nil
}

// beginOfOthers is when the first of the ranks that are not read begins: the run, from whose start all moments count, may begin with it.
func (c *conversion) beginOfOthers(ctx context.Context) (unit.Duration, error) {
	begins := []unit.Duration{math.MaxInt64}
	if c.selected == nil {
		return begins[0], nil
	}
	firsts := make([]unit.Duration, len(c.Locations))
	c.each(len(firsts), func(i int) { firsts[i] = c.firstEvent(i) })
	begins[0] = slices.Min(append(firsts, begins[0]))
	if c.group != nil {
		var err error
		if begins, err = cluster.AllGatherValues(ctx, c.group, &begins[0]); err != nil {
			return 0, err
		}
	}
	return slices.Min(begins), nil
}

// firstEvent is when the first event of a location is whose events are not read otherwise; never if there is none.
func (c *conversion) firstEvent(i int) unit.Duration {
	l, none := &c.Locations[i], unit.Duration(math.MaxInt64)
	if c.wanted(l.Rank) || l.Missing || c.Trace.Open == nil || !c.reads(l.Rank) {
		return none
	}
	r, err := c.Open(i)
	if err != nil {
		return none
	}
	defer r.Close()
	var event [1]Event
	if n, _ := r.Read(event[:]); n == 0 {
		return none
	}
	clock := c.clocks.of(i)
	if begin, fits := clock.correct(event[0].Time); fits {
		return begin
	}
	return none
}

// conversion is a trace on its way to a timeline.
type conversion struct {
	*Trace
	TimelineOptions
	threads  int
	builder  *timeline.Builder
	clocks   *clocks
	selected []bool       // by rank; nil: all
	comms    []bool       // by communicator: all of its members are read; nil: of all of them
	stacks   *stackTree   // nil: there are none
	regions  []regionKind // by region

	incomplete int               // communicators with processes that were not recorded
	unrecorded timeline.RegionID // of times when recording was off
	lost       []string          // by location: what is missing; empty: nothing
	failed     atomic.Bool       // some location could not be read
	begun      atomic.Bool       // some location has an event
	bytes      atomic.Int64      // sizes that were read, added up
	warnings   []string          // what was found wrong while the timeline was made

	deviceCalls []*otf2Calls // by location; nil: there are none

	group  cluster.Group // of processes that read together; nil: there is one
	bounds []int         // where the ranks of each process begin
}

func newConversion(t *Trace, o TimelineOptions) (*conversion, error) {
	c := &conversion{Trace: t, TimelineOptions: o, threads: o.Threads, lost: make([]string, len(t.Locations)),
		deviceCalls: make([]*otf2Calls, len(t.Locations))}
	if c.threads <= 0 {
		c.threads = runtime.GOMAXPROCS(0)
	}
	if err := c.checkOptions(); err != nil {
		return nil, err
	}
	if err := c.checkWhole(); err != nil {
		return nil, err
	}
	if err := cmp.Or(checkComms(t), checkGrids(t)); err != nil {
		return nil, err
	}
	if _, err := t.missing(); err != nil {
		return nil, fmt.Errorf("%s: %w: its definitions are damaged", cmp.Or(t.Name, "the trace"), err)
	}
	c.builder = timeline.NewBuilder(t.Ranks)
	c.builder.SetSpace(o.Space)
	if t.Tool == simulator {
		c.builder.SetSimulated()
	}
	for _, r := range t.Regions {
		c.builder.Region(r)
		c.regions = append(c.regions, kindOf(&r))
	}
	c.unrecorded = c.builder.Region(timeline.NotRecorded)
	for i := range t.Comms {
		c.builder.Comm(t.withNeighbors(i))
	}
	for _, w := range t.Windows {
		c.builder.Window(w)
	}
	for _, f := range t.Files {
		c.builder.File(f)
	}
	for _, m := range t.Metrics {
		c.builder.Metric(m)
	}
	c.builder.SetGrid(gridOf(&t.Definitions))
	if len(t.Stacks) > 1 && !o.NoSamples {
		c.stacks = newStackTree(t.Stacks, c.regions)
	}
	c.selectComms()
	c.clocks = c.findClocks()
	return c, nil
}

// checkComms refuses communicators that have a rank twice: no program can make them.
func checkComms(t *Trace) error {
	seen := make([]int, t.Ranks) // number of the list that had the rank last
	list := 0
	for i := range t.Comms {
		for _, ranks := range [][]int32{t.Comms[i].Members, t.Comms[i].Remote} {
			list++
			for _, rank := range ranks {
				if rank < 0 || int(rank) >= len(seen) {
					continue
				}
				if seen[rank] == list {
					return fmt.Errorf("%s: the communicator %s has rank %d twice: its definitions are damaged", t.Name,
						plain.Name(t.Comms[i].Name), rank)
				}
				seen[rank] = list
			}
		}
	}
	return nil
}

func (c *conversion) checkOptions() error {
	if c.Begin < 0 || c.End < 0 || c.End > 0 && c.End <= c.Begin {
		return fmt.Errorf("the time from %v to %v is empty", c.Begin, c.End)
	}
	if c.Ranks == nil {
		return nil
	}
	c.selected = make([]bool, c.Trace.Ranks)
	for _, r := range c.Ranks {
		if r < 0 || r >= c.Trace.Ranks {
			return fmt.Errorf("rank %d does not exist; the trace has ranks 0 to %d", r, c.Trace.Ranks-1)
		}
		c.selected[r] = true
	}
	return nil
}

// wanted reports whether the events of a rank are read.
func (c *conversion) wanted(rank int) bool {
	return rank >= 0 && (c.selected == nil || rank < len(c.selected) && c.selected[rank])
}

// checkWhole refuses a trace of which something is missing, if that is asked for.
func (c *conversion) checkWhole() error {
	for i := range c.Locations {
		l := &c.Locations[i]
		switch {
		case l.Rank < 0 || l.Rank >= max(c.Trace.Ranks, 1) || l.Thread < 0:
			return fmt.Errorf("location %d is thread %d of rank %d; the trace has ranks 0 to %d", i, l.Thread, l.Rank, c.Trace.Ranks-1)
		case l.Unreadable != "" && !c.Partial && c.wanted(l.Rank):
			return fmt.Errorf("%s %s", l.Unreadable, partialHint)
		case !c.Strict || !c.wanted(l.Rank):
		case l.Missing:
			return fmt.Errorf("%s is missing (without --strict the rest is read)", l.describe())
		case l.Truncated:
			return fmt.Errorf("%s: its end is missing (without --strict the rest is read)", l.describe())
		}
	}
	return nil
}

// each calls work for 0 .. n-1, several at the same time.
func (c *conversion) each(n int, work func(i int)) { parallel.Each(n, c.threads, work) }

// nothingRead is the error of a trace that says nothing of the run.
func (c *conversion) nothingRead() error {
	return &damage.Error{File: cmp.Or(c.Trace.Name, "the trace"), Offset: -1, What: "there is no event that can be read; record the run again"}
}

// describe names a location.
func (l *Location) describe() string {
	if l.Thread == 0 {
		return fmt.Sprintf("rank %d", l.Rank)
	}
	return fmt.Sprintf("rank %d, thread %d", l.Rank, l.Thread)
}

// read reads all locations, several at the same time.
func (c *conversion) read() error {
	errs := make([]error, len(c.Locations))
	builders := make([]*timeline.LocationBuilder, len(c.Locations))
	for i := range c.Locations {
		if l := &c.Locations[i]; c.wanted(l.Rank) && !l.Missing {
			builders[i] = c.builder.Location(l.Rank, l.Thread, l.Name, l.Host)
		}
	}
	parallel.Each(len(errs), c.threads, func(i int) {
		if builders[i] == nil || c.failed.Load() || !c.reads(c.Locations[i].Rank) {
			return
		}
		if errs[i] = c.readLocation(i, builders[i]); errs[i] != nil {
			c.failed.Store(true)
		}
	})
	if err := errors.Join(errs...); err != nil || c.bytes.Load() <= mostBytes {
		return err
	}
	return fmt.Errorf("%s: the sizes of messages and transfers of all ranks are more than 2^62 together", cmp.Or(c.Trace.Name, "the trace"))
}

// explainMissing puts what is missing of the locations into the problems of the timeline.
func (c *conversion) explainMissing(tl *timeline.Timeline) {
	p := &tl.Problems
	if c.selected != nil {
		var missing []int
		for _, r := range p.MissingRanks {
			if c.wanted(r) {
				missing = append(missing, r)
			}
		}
		p.MissingRanks = missing
	}
	if c.Ranks != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("only %d of %d ranks were read", len(c.Ranks), c.Trace.Ranks))
		if sorted := slices.Compact(slices.Sorted(slices.Values(c.Ranks))); len(sorted) < c.Trace.Ranks {
			tl.Chosen.Only = missing.Ranks(sorted)
		}
	}
	tl.ForcedYield, tl.Chosen.How = c.Yield != "", c.Recording
	c.addMissing(tl)
	if n := c.incomplete; n > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d communicators have processes that were not recorded, such as those that MPI_Comm_spawn "+
			"starts: collectives and messages with them are left out", n))
	}
	listed := 0
	for i, what := range c.lost {
		if l := &c.Locations[i]; l.Missing && l.Thread > 0 && c.wanted(l.Rank) {
			what = "left nothing"
		}
		if what == "" {
			continue
		}
		if listed++; listed <= maxListed {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %s", c.Locations[i].describe(), what))
		}
	}
	if listed > maxListed {
		p.Notes = append(p.Notes, fmt.Sprintf("of %d further locations something is missing, too", listed-maxListed))
	}
}

// addMissing adds what the trace says is missing to its timeline.
func (c *conversion) addMissing(tl *timeline.Timeline) {
	switch p, _ := c.Trace.missing(); { // it was checked before
	case p == (missing.Parts{}), c.Trace.timeline != nil: // which has it
	case tl.Simulated:
		tl.Source = &p
	default:
		tl.Problems.LostFiles, tl.Problems.LeftOut = tl.Problems.LostFiles+p.Files, p.Unmatched
		tl.Chosen.Profiled, tl.Chosen.Guessed = cmp.Or(tl.Chosen.Profiled, p.Profiled), p.Guessed
	}
	left := map[int]bool{}
	for _, rank := range tl.Problems.MissingRanks {
		left[rank] = true
	}
	for i := range c.Locations {
		if l := &c.Locations[i]; l.Missing && c.wanted(l.Rank) && !left[l.Rank] {
			left[l.Rank] = true
			tl.Problems.LostThreads = append(tl.Problems.LostThreads, l.Rank)
		}
	}
}

// checkGrids refuses process grids that no ranks can be in.
func checkGrids(t *Trace) error {
	for i := range t.Carts {
		g := &t.Carts[i]
		places := 1
		for _, size := range g.Dims {
			if size < 1 || size > math.MaxInt32/places {
				return fmt.Errorf("%s: there is no process grid of %v ranks: its definitions are damaged", t.Name, g.Dims)
			}
			places *= size
		}
		for place, coords := range g.Coords {
			fits := coords == nil || len(coords) == len(g.Dims)
			for k := 0; k < len(coords) && fits; k++ {
				fits = coords[k] >= 0 && coords[k] < g.Dims[k]
			}
			if !fits {
				return fmt.Errorf("%s: place %d of a process grid of %v ranks has the coordinates %v: its definitions are damaged", t.Name, place,
					g.Dims, coords)
			}
		}
	}
	return nil
}

// gridOf returns the process grid of the largest communicator that has one, the first of several.
func gridOf(d *Definitions) *timeline.Grid {
	var best *Cart
	for i := range d.Carts {
		cart := &d.Carts[i]
		if int(cart.Comm) >= len(d.Comms) || len(cart.Dims) == 0 || len(cart.Coords) == 0 {
			continue
		}
		if best == nil || len(cart.Coords) > len(best.Coords) {
			best = cart
		}
	}
	if best == nil {
		return nil
	}
	g := &timeline.Grid{Dims: best.Dims, Periodic: best.Periodic, Coords: make([][]int, d.Ranks)}
	members := d.Comms[best.Comm].Members
	for i, coords := range best.Coords {
		if i < len(members) && int(members[i]) < d.Ranks && members[i] >= 0 {
			g.Coords[members[i]] = coords
		}
	}
	return g
}

// attachRecords makes the devices of a timeline out of records, as far as these can be read.
func attachRecords(c *conversion, tl *timeline.Timeline, show string, read func(visit func(*streams.Record) error) error) error {
	b := streams.NewBuilder(tl, c.wanted)
	stopped := error(nil)
	err := read(func(r *streams.Record) error {
		if c.Interrupt != nil {
			if stopped = c.Interrupt(); stopped != nil {
				return stopped
			}
		}
		return b.Add(r)
	})
	if err == nil {
		err = b.Finish()
	} else if stopped == nil && !c.Strict && (c.unread() == nil || c.Partial) {
		c.warnings = append(c.warnings, fmt.Sprintf("%s: %v; the streams of accelerators are read as far as they are whole", show, err))
		tl.Problems.LostFiles++
		err = b.Cut()
	}
	if err != nil && stopped == nil {
		err = damage.At(show, -1, "%v", err)
	}
	return err
}
