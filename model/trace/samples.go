package trace

import (
	"math/bits"

	"slackline/model/unit"
)

// Functions are made out of stacks like this.
//
// The stack is known exactly at the start and end of each call that was recorded (where it was called from) and
// at each sample. What goes on in between, in a gap, samples tell. They are taken at times that have nothing to do
// with the program, and so in the long run each function has the share of the samples that it has of the
// time. Where every instant gets the stack of the sample next to it, the sum of the time of a function is right
// on average: a sample gets half the time to its neighbors, and that does not depend on what it sees.
//
// Two things would spoil this. The starts and ends of calls are not taken at random: if they were treated like
// samples, the function that calls MPI would get half the time to the first sample although it may have ended at
// once. So they only say what is open when the call is made. And there are no samples inside of MPI: what the
// first and the last sample of a gap get would depend on how near to a call they are, so that what is done just
// before or after a call would get too little; and most gaps may be shorter than the time between samples: then
// few have a sample, and if these got what their samples see and the others nothing, most time would be lost.
// So gaps of the same kind (after the same call from the same place, before the same call from the same place,
// of about the same length) are put together, end to end, to a pool. Between two samples of one gap each gets half
// the time; the time at the ends of gaps and that of gaps without samples is given to the first and last
// samples of gaps in equal parts. Then each sample has the stack, in the order of time, for as long as it has got.
// So a long gap gets what was seen in it, and in a loop of short ones each gets what was seen in one of the same
// kind not long before or after it. A gap in a pool without samples changes from the one stack to the other
// in its middle.
//
// What is done only at a certain distance from a call, that of the period of the samples, comes out up to
// 4 % wrong if the times between samples vary as much as those of our recorder; everything else does not.
//
// Recorded calls of functions are kept as they are: stacks then tell what goes on inside of them, if they go
// deeper.

// boundary is one end of a gap: a recorded call begins or ends there.
type boundary struct {
	stack  uint32 // that the call is made from; 0: not known
	region uint32
	kind   Kind // Enter, Leave, or what else ends a gap
}

// gapKey describes what kind a gap is of.
type gapKey struct {
	inside      uint32 // region of the recorded call around it, +1
	left, right boundary
	octave      uint8 // of its length
}

// sample is a sample in a gap.
type sample struct {
	time  unit.Duration
	stack uint32
}

// gap is a piece of time between recorded calls.
type gap struct {
	gapKey
	begin, end unit.Duration
	samples    []sample
}

// frame is a recorded call that is open; the outermost one stands for the program.
type frame struct {
	region    uint32 // +1; 0: the program
	quiet     bool
	caller    uint32 // stack that it was called from; 0: not known
	outermost bool   // no other recorded call is around it
}

// gaps goes through the events of a location and finds the gaps between recorded calls.
type gaps struct {
	tree   *stackTree
	frames []frame
	now    gap // that is going on
	open   bool
	last   unit.Duration
	held   []heldRecord
	idle   bool // nothing is worth knowing outside of recorded calls

	to gapVisitor
}

// gapVisitor takes what gaps finds, in order.
type gapVisitor interface {
	gap(g *gap)                        // a gap has ended
	call(t unit.Duration, f *frame)    // a recorded call is about to begin, for which records may be held
	stack(t unit.Duration, n uint32)   // a stack is known to be open
	enter(t unit.Duration, f *frame)   // it begins
	leave(t unit.Duration)             // a recorded call ends
	record(t unit.Duration, kind Kind) // a record of a team of threads
}

// heldRecord is a record of a team of threads that comes before the call of the parallel region: where that is
// called from will only be known then.
type heldRecord struct {
	time unit.Duration
	kind Kind
}

// newGaps returns the gaps of a location. Idle threads of a team do nothing worth knowing outside of it.
func newGaps(tree *stackTree, to gapVisitor, idle bool) *gaps {
	return &gaps{tree: tree, frames: []frame{{quiet: idle}}, to: to, idle: idle}
}

func (g *gaps) top() *frame { return &g.frames[len(g.frames)-1] }

// start begins a gap, or the first one if nothing happened yet.
func (g *gaps) start(t unit.Duration, left boundary) {
	f := g.top()
	g.open = !f.quiet
	g.now = gap{gapKey: gapKey{inside: f.region, left: left}, begin: t, samples: g.now.samples[:0]}
}

// begin makes sure that there is a gap if there should be one.
func (g *gaps) begin(t unit.Duration) {
	if !g.open && !g.top().quiet {
		g.start(t, boundary{kind: ProgramBegin})
	}
	g.last = t
}

// close ends the gap that is going on.
func (g *gaps) close(t unit.Duration, right boundary) {
	if g.open {
		g.now.end, g.now.right = t, right
		g.now.octave = uint8(bits.Len64(uint64(g.now.end - g.now.begin)))
		g.to.gap(&g.now)
	}
	g.open = false
}

// enterCall takes the start of a recorded call.
func (g *gaps) enterCall(t unit.Duration, e *Event) {
	g.begin(t)
	still := g.tree.kinds[e.Region]&quiet != 0 || len(g.frames) > 1 && g.top().quiet
	g.frames = append(g.frames, frame{region: e.Region + 1, quiet: still, caller: g.tree.find(e.Stack), outermost: len(g.frames) == 1})
	f := g.top()
	at := t
	if len(g.held) > 0 {
		at = g.held[0].time
	}
	g.close(at, boundary{f.caller, e.Region, Enter})
	g.to.call(at, f)
	g.flush()
	g.to.enter(t, f)
	g.start(t, boundary{region: e.Region, kind: Enter})
}

// leaveCall takes the end of the innermost recorded call.
func (g *gaps) leaveCall(t unit.Duration) {
	g.begin(t)
	if len(g.frames) == 1 {
		return
	}
	g.release(0)
	f := *g.top()
	g.close(t, boundary{region: f.region - 1, kind: Leave})
	g.to.leave(t)
	g.frames = g.frames[:len(g.frames)-1]
	g.start(t, boundary{f.caller, f.region - 1, Leave})
}

// sample takes a sample.
func (g *gaps) sample(t unit.Duration, stack uint32) {
	g.begin(t)
	if node := g.tree.find(stack); g.open && node != 0 {
		g.release(node)
		g.now.samples = append(g.now.samples, sample{t, node})
	}
}

// record takes a record of a team of threads. A Join or the end of a part comes after what it ends: the stack is
// still that of the call before it. A Fork or the start of a part comes before what it begins.
func (g *gaps) record(t unit.Duration, kind Kind) {
	g.begin(t)
	if !g.open {
		g.to.record(t, kind)
		return
	}
	if kind == Fork || kind == TeamBegin {
		g.held = append(g.held, heldRecord{t, kind})
		return
	}
	g.release(0)
	left := g.now.left
	if len(g.now.samples) > 0 {
		left = boundary{kind: kind}
		g.close(t, left)
	}
	g.to.record(t, kind)
	g.start(t, left)
}

// release lets records go that were held, if no call of a parallel region follows them; next is the stack that follows,
// 0 if it is not known. What it has in common with the last one before them is open when they come.
func (g *gaps) release(next uint32) {
	if len(g.held) == 0 {
		return
	}
	before := g.now.left.stack
	if n := len(g.now.samples); n > 0 {
		before = g.now.samples[n-1].stack
	}
	first, last := g.held[0].time, g.held[len(g.held)-1].time
	g.close(first, boundary{kind: Fork})
	if next != 0 && before != 0 {
		next = g.tree.common(before, next)
	}
	if next != 0 {
		g.to.stack(first, next)
	}
	g.flush()
	g.start(last, boundary{kind: Fork})
}

// flush hands out the records that were held.
func (g *gaps) flush() {
	for _, h := range g.held {
		g.to.record(h.time, h.kind)
	}
	g.held = g.held[:0]
}

// off ends the gap that is going on: recording is switched off. Samples and calls follow when it is on again.
func (g *gaps) off(t unit.Duration) {
	g.begin(t)
	g.release(0)
	g.close(t, boundary{kind: RecordingOff})
}

// on begins a gap when recording is switched on.
func (g *gaps) on(t unit.Duration) {
	g.start(t, boundary{kind: RecordingOn})
	g.last = t
}

// thread takes the start or the end of a thread: nothing goes on in between.
func (g *gaps) thread(t unit.Duration, kind Kind) {
	for len(g.frames) > 1 {
		g.leaveCall(t)
	}
	g.begin(t)
	g.release(0)
	g.close(t, boundary{kind: kind})
	g.to.stack(t, 0)
	if f := g.top(); kind == ThreadEnd || g.idle {
		f.quiet = true
	} else {
		f.quiet = false
		g.start(t, boundary{kind: kind})
	}
}

// end ends the last gap.
func (g *gaps) end() {
	g.release(0)
	g.close(g.last, boundary{kind: ProgramEnd})
}

// takes takes an event that is not the start or end of a call; it reports whether nothing else needs it.
func (g *gaps) takes(t unit.Duration, e *Event) bool {
	switch e.Kind {
	case Sample:
		g.sample(t, e.Stack)
	case Fork, Join, TeamBegin, TeamEnd:
		g.record(t, e.Kind)
	case NoCPU, Count:
		return false
	case ProgramBegin, ProgramEnd, CommCreate, CommDestroy, RequestTest, CollectiveBegin, Other:
		g.begin(t)
		return g.open
	default:
		g.begin(t)
		if g.open { // not inside of a call of MPI; the calls before it must be there
			g.release(0)
			g.close(t, boundary{kind: e.Kind})
			g.start(t, boundary{kind: e.Kind})
		}
		return false
	}
	return true
}
