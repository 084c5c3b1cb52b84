package simulate

import (
	"errors"
	"fmt"

	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// callRecorder writes a run down as the calls of its ranks, as a recorder of the real program would.
//
// A computation is time in its call path. A send or receive is a call; one that is not blocking, by
// the name of its call or because the next operation does not wait for it, is a call that begins it
// and one that waits for it, where an operation requires it or its block ends. A computation of
// length 0 with the name of an MPI call, as replayed runs have them, is such a wait. A collective is
// one call, from where its first operation is ready to where its last one is done; its messages are
// not recorded. CPU time that noise took is a call [noise] at the end of the call in which it struck.
//
// Every moment of a rank up to its finish is in a call. MPI_Finalize ends for all when the last one
// has come to it.
type callRecorder struct {
	build     *timeline.Builder
	program   schedule.Program
	expansion *collective.Expansion
	groups    []schedule.Group
	regions   callRegions
	contexts  map[uint8]int32         // communicators of messages that are not the user's
	neighbors map[int32]*neighborhood // by group; nil: nobody asked yet
	ranks     []callRank
	last      int64 // when the last rank came to MPI_Finalize
	tale      tale  // nil: the program has none
	overlap   bool  // operations of a rank may: the model has no CPU that they compete for

	block schedule.Block // of the program, for questions
	emit  blockCalls
}

// callRank is what is kept of a rank: the block under way.
type callRank struct {
	*timeline.LocationBuilder
	now      int64      // up to here calls have been written
	open     []regionID // functions that are open, outermost first
	requests uint64     // so far
	begun    []request  // that have not been completed
	noise    []lostTime // that no call has taken yet, by end
	final    uint32     // origin of MPI_Finalize, which the rank is in; 0: it is not

	step  int32 // of the program, to which the block belongs
	alone bool  // it is part of a collective that is alone in its block
	ends  int64 // the latest end of a part of that
	ops   []opTimes
	order []int32 // operations in the order in which they started
	parts []int32 // of a spliced block: by operation, the one of the program
}

// opTimes is when an operation of a block did what. Of a receive also what came.
type opTimes struct {
	start, end int64 // end of its CPU time
	finish     int64
	size       int64
	source     int32
	tag        uint32
}

// lostTime is CPU time that noise took from work between start and end.
type lostTime struct{ start, end, amount int64 }

// ErrNoTimeline is in errors of programs whose calls cannot be shown one after the other.
var ErrNoTimeline = errors.New("have no timeline of calls")

// checkCalls refuses what has no timeline of calls.
func checkCalls(o *Options, p schedule.Program, shape schedule.Shape) error {
	if !o.Calls || retimerOf(p) != nil {
		return nil
	}
	if _, ok := p.(Retimer); ok && shape.CPUs > 1 && !shape.Agents {
		return fmt.Errorf("copies of a run with accelerators %w; simulate it with the number of ranks that it has, "+
			"or ask 'slackline simulate' or 'slackline tolerance' for the run time with more", ErrNoTimeline)
	}
	if shape.CPUs > 1 && !shape.Agents {
		return fmt.Errorf("schedules with %d CPUs per rank %w: they would overlap; use cpu 0 only", shape.CPUs, ErrNoTimeline)
	}
	return nil
}

// Teller is a program with calls that are more than messages and collectives. Each consists of operations of schedule.InnerContext, which
// are not calls of their own, and of a computation of length 0 whose tag is the number of a note. Tales declares in a timeline what these
// calls work on, and returns a function that adds what the call with a note did, at its start or at its end; nil: there are none.
type Teller interface {
	Tales(b *timeline.Builder) func(l *timeline.LocationBuilder, rank int, note uint32, t unit.Duration, end bool)
}

type tale = func(l *timeline.LocationBuilder, rank int, note uint32, t unit.Duration, end bool)

func newCallRecorder(r *run) *callRecorder {
	c := &callRecorder{
		build: timeline.NewBuilder(r.ranks), program: r.program, expansion: r.expansion,
		groups: r.program.Groups(), ranks: make([]callRank, r.ranks), contexts: map[uint8]int32{},
	}
	if len(c.groups) == 0 {
		c.groups = []schedule.Group{schedule.World(r.ranks)}
	}
	c.build.SetSimulated()
	for i := range c.groups {
		name := ""
		if i == 0 {
			name = "MPI_COMM_WORLD"
		}
		c.build.Comm(timeline.Comm{Name: name, Members: membersOf(&c.groups[i])})
	}
	c.regions.fill(c.build, r.program.Origins())
	if t, ok := r.program.(Teller); ok {
		c.tale = t.Tales(c.build)
	}
	if p, ok := r.program.(schedule.Gridded); ok {
		c.build.SetGrid(gridOf(p, r.ranks))
	}
	for rank := range c.ranks {
		q := &c.ranks[rank]
		q.LocationBuilder = c.build.Location(rank, 0, fmt.Sprintf("rank %d", rank), fmt.Sprintf("node %d", r.layout.Node(rank)))
		q.step = -1
	}
	return c
}

// gridOf is the process grid of a program; nil: it has none.
func gridOf(p schedule.Gridded, ranks int) *timeline.Grid {
	sides, periodic, at := p.Grid()
	if len(sides) == 0 {
		return nil
	}
	g := &timeline.Grid{Dims: sides, Periodic: periodic, Coords: make([][]int, ranks)}
	for rank := range g.Coords {
		g.Coords[rank] = at(rank)
	}
	return g
}

// membersOf lists the ranks of a group.
func membersOf(g *schedule.Group) []int32 {
	members := make([]int32, g.Len())
	for k := range members {
		members[k] = int32(g.Rank(k))
	}
	return members
}

// comm returns the communicator of the messages of a context: the world for those of the user.
func (c *callRecorder) comm(context uint8) int32 {
	if context == schedule.UserContext {
		return 0
	}
	comm, ok := c.contexts[context]
	if !ok {
		world := schedule.World(len(c.ranks))
		comm = c.build.Comm(timeline.Comm{Name: fmt.Sprintf("context %d", context), Members: membersOf(&world)})
		c.contexts[context] = comm
	}
	return comm
}

// loaded records that a rank goes on to a block; at is the cursor after it.
func (c *callRecorder) loaded(rank int32, at schedule.Cursor, b *schedule.Block) {
	q := &c.ranks[rank]
	step, alone := at.Step-1, at.Sub > 0
	if alone {
		step = at.Step
	}
	if q.alone && step != q.step {
		c.endCollective(rank)
	}
	if alone || int(step) > int(q.step)+1 {
		c.settle(rank)
	}
	c.skipped(rank, int(q.step)+1, int(step))
	q.step, q.alone = step, alone
	if alone {
		return
	}
	n := len(b.Ops)
	if cap(q.ops) < n {
		q.ops = make([]opTimes, n)
	}
	q.ops, q.order = q.ops[:n], q.order[:0]
	for i := range q.ops {
		q.ops[i] = opTimes{source: -1}
	}
	q.parts = q.parts[:0]
	if c.expansion != nil {
		q.parts = append(q.parts, c.expansion.Spliced(int(rank), int(step), b)...)
	}
}

// skipped writes down the collectives in steps from .. to-1 in which a rank does nothing.
func (c *callRecorder) skipped(rank int32, from, to int) {
	if !c.program.Shape().Collectives {
		return
	}
	for step := from; step < to; step++ {
		c.program.Block(int(rank), step, &c.block)
		for i := range c.block.Ops {
			if op := &c.block.Ops[i]; op.Kind == schedule.Collective {
				c.collective(rank, op, &c.block.Calls[op.Size], c.ranks[rank].now)
			}
		}
	}
}

// started records that an operation started; end is when its CPU time ends.
func (c *callRecorder) started(rank, index int32, start, end int64) {
	q := &c.ranks[rank]
	if q.alone {
		return
	}
	q.ops[index].start, q.ops[index].end = start, end
	q.order = append(q.order, index)
}

// lost records that work took longer than it needs. Calls are those of CPU 0.
func (c *callRecorder) lost(rank int32, cpu uint8, start, end, needs int64) {
	if amount := end - start - needs; amount > 0 && cpu == 0 {
		q := &c.ranks[rank]
		q.noise = append(q.noise, lostTime{start, end, amount})
	}
}

// match records what a receive got.
func (c *callRecorder) match(rank, index, source int32, tag uint32, size int64) {
	q := &c.ranks[rank]
	if !q.alone {
		op := &q.ops[index]
		op.source, op.tag, op.size = source, tag, size
	}
}

func (c *callRecorder) finished(rank, index int32, at int64) {
	if q := &c.ranks[rank]; !q.alone {
		q.ops[index].finish = at
	}
}

// ended records that a rank has done its block.
func (c *callRecorder) ended(rank int32, r *rankState) {
	q := &c.ranks[rank]
	switch {
	case len(r.ops) == 0:
	case q.alone:
		q.ends = max(q.ends, r.finish)
	default:
		c.endBlock(rank, r)
	}
}

// endCollective writes down the collective that the rank has come out of.
func (c *callRecorder) endCollective(rank int32) {
	q := &c.ranks[rank]
	c.program.Block(int(rank), int(q.step), &c.block)
	op := &c.block.Ops[0]
	c.collective(rank, op, &c.block.Calls[op.Size], max(q.now, q.ends))
	q.alone, q.ends = false, 0
}

// collect ends all ranks and returns the timeline.
func (c *callRecorder) collect() *timeline.Timeline {
	for rank := range c.ranks {
		q := &c.ranks[rank]
		if q.alone {
			c.endCollective(int32(rank))
		}
		c.settle(int32(rank))
		c.skipped(int32(rank), int(q.step)+1, c.program.Steps(rank))
	}
	for rank := range c.ranks {
		q := &c.ranks[rank]
		if q.final > 0 {
			c.call(q, q.final, c.regions.of(q.final).call, max(q.now, c.last), nil, nil)
		}
		c.enterPath(q, nil)
	}
	return c.build.Finish(1)
}

// call writes down a call from now until the given end, from the path of its origin. What it begins is
// given by begins, up to the given time; what it completes, by completes, at its end.
func (c *callRecorder) call(q *callRank, origin uint32, region regionID, end int64, begins func(until int64), completes func()) {
	c.enterPath(q, c.regions.of(origin).path)
	q.Enter(unit.Duration(q.now), region)
	if c.regions.of(origin).tests {
		q.Polls(1)
	}
	lost := q.lostUntil(end)
	if begins != nil {
		begins(end - lost)
	}
	c.noise(q, lost, end)
	if completes != nil {
		completes()
	}
	q.Leave(unit.Duration(end))
	q.now = end
}

// work writes down time in a call path until the given end.
func (c *callRecorder) work(q *callRank, origin uint32, end int64) {
	if end <= q.now {
		return
	}
	path := c.regions.of(origin).path
	if len(path) == 0 {
		path = c.regions.compute[:]
	}
	c.enterPath(q, path)
	c.noise(q, q.lostUntil(end), end)
	q.now = end
}

// noise writes down that the last part of the call up to end was lost.
func (c *callRecorder) noise(q *callRank, lost, end int64) {
	if lost > 0 {
		q.Enter(unit.Duration(end-lost), c.regions.noise)
		q.Leave(unit.Duration(end))
	}
}

// lostUntil takes the time that was lost up to then. Of work that goes on as much as possible counts as
// lost by then, so that the rest was lost in what remains.
func (q *callRank) lostUntil(end int64) int64 {
	sum, n := int64(0), 0
	for ; n < len(q.noise) && q.noise[n].end <= end; n++ {
		sum += q.noise[n].amount
	}
	q.noise = append(q.noise[:0], q.noise[n:]...)
	if len(q.noise) > 0 && q.noise[0].start < end {
		first := &q.noise[0]
		part := min(first.amount, end-first.start)
		first.start, first.amount = end, first.amount-part
		sum += part
	}
	return sum
}

// enterPath leaves the functions that are open and enters others, but for those that both begin with.
func (c *callRecorder) enterPath(q *callRank, path []regionID) {
	same := 0
	for same < len(q.open) && same < len(path) && q.open[same] == path[same] {
		same++
	}
	now := unit.Duration(q.now)
	for i := len(q.open); i > same; i-- {
		q.Leave(now)
	}
	for _, region := range path[same:] {
		q.Enter(now, region)
	}
	q.open = append(q.open[:same], path[same:]...)
}
