package replay

import (
	"fmt"
	"slices"
	"sort"

	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// pollGap is the time between two polls below which a program only waits. Between polls that are
// farther apart it works.
const pollGap = 20 * unit.Microsecond

// walker goes through the calls of a rank and writes down its operations. It keeps its memory for
// the next rank.
type walker struct {
	*converter
	location int32
	calls    *timeline.Calls
	records  recordTable
	open     []int32 // calls that are open

	now   unit.Duration // up to here the time is accounted for
	gap   gap           // computation since the last MPI call
	last  lastCall
	noise denoiser
	block blockWriter

	out        walkReport
	begin, end unit.Duration // of what becomes the schedule
	omitted    unit.Duration // of that: recording was off at all ranks
	ended      bool
	device     *deviceWalk // of a run with accelerators; nil: it has none
	cpus       int         // that all ranks so far needed, if there are accelerators
	final      int32       // the last MPI_Session_finalize of a rank without MPI_Finalize; -1: none
}

// lastCall is the MPI call before the present one.
type lastCall struct {
	path       timeline.PathID
	failedPoll bool // a poll that found nothing
}

// walkReport is what one rank adds to the report.
type walkReport struct {
	graphs, collectives         bool
	span, compute, opaque, idle unit.Duration
	noCPU                       unit.Duration
	polls, denoised             int64
	neighborhoods               int64
	tales                       [][]act // of the composed calls
	before, after               unit.Duration
}

func newWalker(c *converter) *walker {
	w := &walker{converter: c}
	w.gap.slots = make([]gapSlot, len(c.t.Paths))
	return w
}

// walk returns the program of a rank.
func (w *walker) walk(rank int) (rankProgram, walkReport, error) {
	w.out = walkReport{}
	if w.devices != nil {
		w.device = newDeviceWalk(w, rank)
	}
	if w.master[rank] < 0 {
		if w.device == nil {
			return rankProgram{}, w.out, nil
		}
		w.block.empty(w.converter)
		w.begin, w.end = w.t.Start, w.t.Start
		return w.finish()
	}
	w.start(w.master[rank])
	n := int32(w.calls.Len())
	for i := int32(0); i < n && !w.ended; {
		w.leaveUntil(i)
		path := w.calls.Path[i]
		w.compute(w.calls.Enter[i])
		kind := w.kinds[path]
		if w.device != nil && kind != toolCall && kind != offCall {
			w.device.enter(w.device.chains[0], i, w.calls.Enter[i], w.calls.Leave[i])
			w.now = w.device.chains[0].now
		}
		if kind == userCall {
			w.open = append(w.open, i)
			i++
			continue
		}
		if kind == offCall {
			w.unrecorded(i)
		} else if kind != toolCall {
			w.call(i, kind)
			if w.device != nil {
				w.device.called(i)
			}
		}
		w.now = max(w.now, w.calls.Leave[i])
		if w.device != nil {
			w.device.leave(path, w.now)
		}
		i = w.calls.Skip[i]
	}
	if !w.ended {
		w.leaveUntil(n)
		w.compute(w.t.Locations[w.location].Last)
		w.flush(0)
		w.end = w.now
	}
	return w.finish()
}

// finish ends the program of the rank.
func (w *walker) finish() (rankProgram, walkReport, error) {
	if w.device != nil {
		w.device.keepOrder()
		w.device.threads()
		w.device.activities()
		w.device.sortSends()
		w.cpus = max(w.cpus, min(w.device.cpus, lastCPU+1))
	}
	w.out.span = max(w.end-w.begin-w.omitted, 0)
	w.out.noCPU = w.lacked(w.begin, w.end)
	program, err := w.block.finish()
	if err != nil {
		return rankProgram{}, w.out, err
	}
	if w.options.Denoise {
		w.noise.replace(program.ops, w.options.Quantile, &w.out)
	}
	w.out.graphs, w.out.collectives = w.block.graphs, w.block.collectives
	w.scaleAll(program.ops)
	return program, w.out, nil
}

// start prepares the walk through the calls of a location. A run that was recorded from its middle
// begins for all ranks at the same time.
func (w *walker) start(location int32) {
	l := &w.t.Locations[location]
	w.location, w.calls = location, &l.Calls
	w.records.fill(w.converter, location)
	w.open = w.open[:0]
	w.now, w.begin = w.t.Start, w.t.Start
	w.last, w.ended, w.omitted = lastCall{}, false, 0
	w.final = w.lastSession(w.calls.Path)
	w.gap.clear()
	w.noise.clear()
	w.block.begin(w.converter, location)
	if w.device != nil {
		w.device.restart(w.now)
	}
}

// lastSession is the last call that ends a session; -1 if MPI_Finalize ends the program.
func (w *walker) lastSession(paths []timeline.PathID) int32 {
	last := int32(-1)
	if !slices.Contains(w.kinds, sessionEnd) {
		return last
	}
	for i, path := range paths {
		switch w.kinds[path] {
		case finalizeCall:
			return -1
		case sessionEnd:
			last = int32(i)
		}
	}
	return last
}

// leaveUntil leaves the open calls that call i is not inside of.
func (w *walker) leaveUntil(i int32) {
	for n := len(w.open); n > 0 && w.calls.Skip[w.open[n-1]] <= i; n-- {
		w.compute(w.calls.Leave[w.open[n-1]])
		if w.device != nil {
			w.device.chains[0].leaves(w.open[n-1])
		}
		w.open = w.open[:n-1]
	}
}

// compute accounts for the time up to t: it belongs to the innermost open call.
func (w *walker) compute(t unit.Duration) {
	if t <= w.now {
		return
	}
	path := timeline.PathID(0)
	if n := len(w.open); n > 0 {
		path = w.calls.Path[w.open[n-1]]
	}
	if w.device != nil {
		w.device.compute(w.device.chains[0], path, t)
		w.now = t
		return
	}
	if d := t - w.now - w.lacked(w.now, t); d > 0 {
		w.gap.add(path, d)
	}
	w.now = t
}

// lacked is how long the rank had no CPU between two moments: on the simulated machine it has one.
func (w *walker) lacked(from, to unit.Duration) (sum unit.Duration) {
	all := w.t.Locations[w.location].NoCPU
	for i := sort.Search(len(all), func(i int) bool { return all[i].To > from }); i < len(all) && all[i].From < to; i++ {
		sum += min(all[i].To, to) - max(all[i].From, from)
	}
	return sum
}

// call turns MPI call i into operations.
func (w *walker) call(i int32, kind callKind) {
	path := w.calls.Path[i]
	records := w.records.of(i, w.calls.Skip[i])
	inner := w.composedOf(i, w.calls.Skip[i])
	switch {
	case kind == initCall:
		w.restart(w.calls.Leave[i])
		if inner != nil {
			w.compose(path, nil, inner)
		}
		return
	case kind == finalizeCall || i == w.final:
		w.flush(path)
		w.block.then(schedule.Op{Kind: schedule.Calc, Origin: uint32(path)})
		w.end, w.ended = w.calls.Enter[i], true
		return
	case kind == pollCall:
		w.dropPollGap(path)
	}
	w.flush(path)
	w.block.reach(w.calls.Enter[i])
	failedPoll := false
	if len(records) > 1 {
		w.sortRecords(records, w.location)
	}
	switch {
	case inner != nil:
		w.compose(path, records, inner)
	case len(records) > 0 && records[0].kind != localMessage:
		w.block.call(uint32(path), records, nil, 0)
	case len(records) > 0 || kind == opaqueCall || kind == sessionEnd:
		if d := w.calls.Leave[i] - w.calls.Enter[i] - w.lacked(w.calls.Enter[i], w.calls.Leave[i]); d > 0 {
			w.out.opaque += d
			w.block.compute(schedule.Op{Kind: schedule.Calc, Size: int64(d), Origin: uint32(path)})
			w.block.cut()
		}
	case kind == neighborhood:
		w.out.neighborhoods++
	case kind == pollCall:
		failedPoll = true
		w.out.polls++
	}
	w.last = lastCall{path, failedPoll}
}

// compose turns a call that consists of inner operations into them.
func (w *walker) compose(path timeline.PathID, records []record, x *composed) {
	note := uint32(0)
	if len(x.acts) > 0 {
		w.out.tales = append(w.out.tales, x.acts)
		note = uint32(len(w.out.tales))
	}
	w.block.call(uint32(path), records, x, note)
}

// restart forgets everything before t: the schedule begins where MPI_Init ends.
func (w *walker) restart(t unit.Duration) {
	w.gap.clear()
	w.noise.clear()
	w.block.begin(w.converter, w.location)
	polls := w.out.polls
	w.out = walkReport{polls: polls}
	w.now, w.begin, w.omitted = t, t, 0
	w.last = lastCall{}
	if w.device != nil {
		w.device.restart(t)
	}
}

// flush writes down the computation before an MPI call.
func (w *walker) flush(next timeline.PathID) {
	for i, path := range w.gap.paths {
		d := w.gap.times[i]
		w.out.compute += d
		at := w.block.compute(schedule.Op{Kind: schedule.Calc, Size: int64(d), Origin: uint32(path)})
		if w.options.Denoise {
			w.noise.note(at, repetition{path, w.last.path, next})
		}
		w.block.cut() // the next one comes after it, also in a model without CPUs
	}
	w.block.cut()
	w.gap.clear()
}

// dropPollGap drops the time since the poll before, if that is waiting: it found nothing, was called
// from the same place, and is either close or was followed by sleep.
func (w *walker) dropPollGap(path timeline.PathID) {
	if !w.last.failedPoll || w.t.Paths[path].Parent != w.t.Paths[w.last.path].Parent {
		return
	}
	w.out.idle += w.gap.drop(func(p timeline.PathID) bool { return w.idle[p] })
	if total := w.gap.total(); total < pollGap {
		w.out.idle += total
		w.gap.clear()
	}
}

// scaleAll multiplies the computations of the program, but not the time of opaque MPI calls.
func (w *walker) scaleAll(ops []schedule.Op) {
	if w.scale == 1 {
		return
	}
	for i := range ops {
		if op := &ops[i]; op.Kind == schedule.Calc && !w.kinds[op.Origin].isMPI() && w.kinds[op.Origin] != offCall {
			op.Size = w.scaled(unit.Duration(op.Size))
		}
	}
}

// checkSize refuses a rank with more than can be numbered.
func checkSize(what string, n int) error {
	if uint64(n) > maxPerRank {
		return fmt.Errorf("%d %s are too many; the limit is %d: cut the run by time", n, what, uint32(maxPerRank))
	}
	return nil
}
