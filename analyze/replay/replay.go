// Package replay turns a recorded run into a schedule: what the ranks computed between their MPI
// calls, and what the calls send to each other, without the time that they took. That is for the
// simulator to compute, on any machine.
//
// The calls of a rank's master thread become operations in their order. Time outside of MPI is
// computation, by call path; time inside is dropped, unless the call is opaque (independent I/O, local
// calls): then it is kept as computation of that call. Non-blocking operations
// begin where they were begun and are needed where they were completed; between these places the
// rank goes on. Collectives stay symbolic. One-sided communication and others become inner operations
// of their calls (inner.go). The rules, one by one, are in docs/models.md.
//
// The schedule may have more ranks than the run: copies of all ranks beside each other, of which
// only the program for the recorded ranks is in memory. The package reads no files, prints nothing
// and does not depend on a machine.
package replay

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"

	"slackline/internal/parallel"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Options describe what is made of a run; the zero value replays it as it was.
type Options struct {
	// Ranks is the number of ranks of the schedule, a multiple of those of the run; 0: the same.
	// Rank r of copy j becomes r + j times the recorded number. Messages stay inside their copy, as
	// do the collectives of communicators that do not have all ranks; the others get the ranks of
	// all copies.
	Ranks int
	// ScaleCompute multiplies the time of all computation of the program; 0: 1.
	ScaleCompute float64
	// Denoise replaces computations that are repeated by a quantile of their repetitions.
	Denoise bool
	// Quantile is the quantile that Denoise takes, 0 to 1.
	Quantile float64
	// WithoutMessages and WithoutCollectives leave out a kind of communication.
	WithoutMessages, WithoutCollectives bool
	// CutOpen cuts the blocks of ranks that always have requests open, as is done for more ranks
	// than the run has: copies of long blocks need much memory. See docs/models.md for what that
	// means to large messages.
	CutOpen bool
	Threads int // 0: one per core

	// KeepTransfers keeps the time that communication of accelerators took in the run after the last partner had begun. It is meant for a
	// machine on which communication costs nothing.
	KeepTransfers bool
	// NoMachine sets KeepTransfers if nothing but accelerators communicates: the machine is not known, and cannot be estimated from
	// messages of the run.
	NoMachine bool

	blockOps int // from which on blocks are cut; 0: the default
}

// DefaultQuantile is the quantile by which Denoise replaces repetitions if nothing else is wanted.
const DefaultQuantile = 0.1

// New returns the schedule of a run.
func New(t *timeline.Timeline, o Options) (*Program, error) {
	if err := o.check(t); err != nil {
		return nil, err
	}
	ownMachine := t.Devices != nil && len(t.Messages) == 0 && len(t.Collectives) == 0
	o.KeepTransfers = o.KeepTransfers || o.NoMachine && ownMachine
	c := newConverter(t, o)
	c.report.OwnMachine = ownMachine && o.KeepTransfers
	c.report.Missing = t.Missing()
	if err := c.checkCounts(); err != nil {
		return nil, err
	}
	c.findMessages()
	c.findCollectives()
	c.findWindows()
	c.findKernels()
	groups := c.groups // the program must not hold the converter, and with it the recorded run
	p := &Program{
		recorded: t.Ranks, copies: 1,
		programs:      make([]rankProgram, t.Ranks),
		recordedCalls: c.calls.list, table: &groups,
		origins: originsOf(t),
		tales:   Tales{Comms: t.Comms, Windows: t.Windows, Files: t.Files},
		report:  c.report,
		grid:    t.Grid,
	}
	if c.devices != nil {
		p.retiming = &retiming{t, make([]rankTimes, t.Ranks)}
	}
	if err := c.walkAll(p); err != nil {
		return nil, err
	}
	return p.WithRanks(max(o.Ranks, t.Ranks))
}

// check refuses options that cannot be followed.
func (o *Options) check(t *timeline.Timeline) error {
	if t.Ranks < 1 {
		return fmt.Errorf("the run has no ranks")
	}
	if only := t.Missing().Only; only != "" {
		return fmt.Errorf("only ranks %s of %d were read, and messages and collectives with the others would be lost", only, t.Ranks)
	}
	if o.ScaleCompute < 0 || math.IsNaN(o.ScaleCompute) || math.IsInf(o.ScaleCompute, 0) {
		return fmt.Errorf("computation cannot be scaled by %v; give a number above 0", o.ScaleCompute)
	}
	if o.Denoise && !(o.Quantile >= 0 && o.Quantile <= 1) {
		return fmt.Errorf("the quantile %v is not in 0 to 1", o.Quantile)
	}
	if o.Ranks != 0 {
		return checkRanks(o.Ranks, t.Ranks)
	}
	return nil
}

// converter is what the walks through all ranks share. It is not changed by them.
type converter struct {
	t       *timeline.Timeline
	options Options
	threads int
	kinds   []callKind // by path: what a call of it is
	idle    []bool     // by path: its time between polls is waiting
	modes   sendModes
	masters []bool  // by location
	master  []int32 // by rank: its location, -1: none
	scale   float64

	tags   tagCode
	usable []bool // by message: it becomes operations at both ends
	// The messages that a location sent: sends[sendFirst[l]:sendFirst[l+1]]; those that it received
	// are Messages[recvFirst[l]:recvFirst[l+1]].
	sends                []uint32
	sendFirst, recvFirst []int

	off []offSpan // when recording was off at all ranks

	groups groupTable
	calls  callTable
	// The parts of a location in collectives: parts[partFirst[l]:partFirst[l+1]].
	parts     []part
	partFirst []int

	inner    []innerOps // by location
	innerTag uint32     // of the last inner message

	devices *deviceRun // nil: the run has no accelerators

	report Report
}

func newConverter(t *timeline.Timeline, o Options) *converter {
	t = withoutHanded(t)
	c := &converter{t: t, options: o, threads: o.Threads, scale: o.ScaleCompute}
	if c.threads <= 0 {
		c.threads = runtime.GOMAXPROCS(0)
	}
	c.scale = cmp.Or(c.scale, 1)
	c.options.blockOps = cmp.Or(c.options.blockOps, blockOps)
	if !o.CutOpen && o.Ranks <= t.Ranks || t.Devices != nil {
		c.options.blockOps = math.MaxInt
	}
	c.kinds, c.idle = kindsOf(t, o.Denoise)
	c.modes = newSendModes(t)
	c.masters = make([]bool, len(t.Locations))
	c.master = make([]int32, t.Ranks)
	for r := range c.master {
		c.master[r] = -1
	}
	for i := range t.Locations {
		l := &t.Locations[i]
		if c.master[l.Rank] < 0 {
			c.master[l.Rank], c.masters[i] = int32(i), true
		}
		c.report.Calls += int64(l.Calls.Len())
	}
	c.inner = make([]innerOps, len(t.Locations))
	c.devices = newDeviceRun(t, c.threads)
	c.report.Accelerators = t.Devices != nil
	c.report.Recorded, c.report.ForcedYield = t.Ranks, t.ForcedYield
	c.report.UnmatchedSends, c.report.UnmatchedReceives = t.Problems.UnmatchedSends, t.Problems.UnmatchedReceives
	c.report.IncompleteCollectives = t.Problems.IncompleteCollectives
	c.report.CutMessages, c.report.CutCollectives = t.Problems.CutMessages, t.Problems.CutCollectives
	c.findUnrecorded()
	return c
}

// checkCounts refuses what the 32 bits that number messages and collectives cannot hold.
func (c *converter) checkCounts() error {
	if n := max(len(c.t.Messages), len(c.t.Members)); uint64(n) >= math.MaxUint32 {
		return fmt.Errorf("the run has %d messages or parts of collectives; the limit is %d: cut it by time or rank", n, uint32(math.MaxUint32))
	}
	return nil
}

// walkAll turns all ranks into operations, several at a time.
func (c *converter) walkAll(p *Program) error {
	reports := make([]walkReport, c.t.Ranks)
	errs := make([]error, c.t.Ranks)
	walkers := make([]*walker, max(c.threads, 1))
	parallel.EachWorker(c.t.Ranks, c.threads, func(i, rank int) {
		if walkers[i] == nil {
			walkers[i] = newWalker(c)
		}
		p.programs[rank], reports[rank], errs[rank] = walkers[i].walk(rank)
		if d := walkers[i].device; d != nil {
			p.retiming.ranks[rank] = d.times()
		}
	})
	p.shape = schedule.Shape{CPUs: 1, NICs: 1}
	if c.report.Asynchronous {
		p.shape.CPUs, p.shape.Agents = asynchronousCPU+1, true
	}
	for i := range walkers {
		if walkers[i] != nil && walkers[i].cpus > 0 {
			p.shape.CPUs, p.shape.Agents = max(p.shape.CPUs, walkers[i].cpus), false
		}
	}
	for rank := range reports {
		if errs[rank] != nil {
			return fmt.Errorf("rank %d: %w", rank, errs[rank])
		}
		r := &reports[rank]
		p.shape.Graphs = p.shape.Graphs || r.graphs
		p.shape.Collectives = p.shape.Collectives || r.collectives
		p.report.add(r)
		p.report.Ops += int64(len(p.programs[rank].ops))
		p.report.Blocks += int64(p.programs[rank].steps())
		p.takeTales(&p.programs[rank], r.tales)
	}
	if len(p.tales.Calls) == 0 {
		p.tales = Tales{}
	}
	return nil
}

// originsOf makes an origin of every call path, with the same number.
func originsOf(t *timeline.Timeline) []schedule.Origin {
	origins := make([]schedule.Origin, len(t.Paths))
	names := make([][]string, len(t.Paths)) // of user paths
	longer := make([]bool, len(t.Paths))    // the path goes on in its memory
	for i := 1; i < len(t.Paths); i++ {
		p := &t.Paths[i]
		r := &t.Regions[p.Region]
		parent := names[p.Parent]
		if r.Paradigm == timeline.MPI {
			origins[i] = schedule.Origin{Path: parent[:len(parent):len(parent)], Call: r.Name}
			names[i], longer[i] = parent, true
			continue
		}
		if longer[p.Parent] { // the first one that goes on does not copy the path: a recursion would copy it for each of its calls
			parent = slices.Clip(parent)
		}
		longer[p.Parent] = true
		names[i] = append(parent, r.Name)
		origins[i] = schedule.Origin{Path: names[i][:len(names[i]):len(names[i])]}
	}
	return origins
}

// scaled is a time of computation, scaled.
func (c *converter) scaled(d unit.Duration) int64 {
	if c.scale == 1 {
		return int64(d)
	}
	if x := math.Round(float64(d) * c.scale); x < math.MaxInt64/2 {
		return int64(x)
	}
	return math.MaxInt64 / 2 // more than any simulation takes: it will report it
}
