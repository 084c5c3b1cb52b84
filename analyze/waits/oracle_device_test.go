package waits

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// deviceOracle follows the definitions of waits in runs with streams literally. All times are multiples of a tick, so sets of instants are
// sets of ticks, each known by its start; local paths are walked tick by tick. It shares nothing with package devices. Waits for another
// process come from the oracle of runs without streams, to which streams are locations and activities calls.
type deviceOracle struct {
	*oracle
	tick  unit.Duration
	plain *timeline.Timeline
	acts  []*oracleAct // by stream, then order there
	all   []*literalWait
}

// oracleAct is an activity.
type oracleAct struct {
	rank, device, stream, index int
	b, e                        unit.Duration
	path                        string
	kind                        timeline.ActivityKind
	launch                      timeline.Launch
	enter                       unit.Duration // of the launching call, if that is known
	before                      *oracleAct    // on the stream
	on                          *oracleAct    // of those that it waited for on other streams the one that ended last
	wait                        *literalWait  // for another process
}

// instants is a set of ticks.
type instants map[unit.Duration]bool

// literalWait is a wait state of a run with streams. What counts of it is a set of instants.
type literalWait struct {
	of       *oracleWait // of waits for another process
	metric   Metric
	location int32
	path     string
	begin    unit.Duration
	full     unit.Duration // of a kernel: what it waited, whether that counts or not
	counts   instants
	first    unit.Duration // of late_contributor: what counts before the first contributor
	walk     wayBack       // of waits inside a process: where the walk begins
	from     unit.Duration
	leave    unit.Duration // of host_wait: its end

	long, indirect, propagating int64
	done                        bool
}

// wayBack is where a walk is: inside an activity, at its start, or on a thread; and when.
type wayBack struct {
	act    *oracleAct
	inside bool
	thread int32
	t      unit.Duration
}

// owner is what an instant of a local path belongs to.
type owner struct {
	path string
	wait *literalWait
}

func newDeviceOracle(tl *timeline.Timeline, tick unit.Duration) *deviceOracle {
	o := &deviceOracle{oracle: findLiterally(tl.WithStreams()), tick: tick, plain: tl}
	for i := range tl.Devices.Streams {
		s := &tl.Devices.Streams[i]
		var before *oracleAct
		for j := range s.Len() {
			a := &oracleAct{rank: s.Rank, device: s.Device, stream: i, index: j, b: s.Begin[j], e: s.End[j], path: tl.PathName(s.Path[j]),
				kind: s.Kind[j], launch: s.Launch[j], before: before}
			if a.launch.Known() {
				a.enter = tl.Locations[a.launch.Thread].Calls.Enter[a.launch.Call]
			}
			o.acts = append(o.acts, a)
			before = a
		}
	}
	o.findEvents()
	o.takeWaits()
	o.findHostWaits()
	for _, on := range o.devices() {
		o.countKernels(on)
		o.findIdleDevice(on)
		o.findHeldBack(on)
	}
	o.processAll()
	return o
}

// span is the ticks of an interval.
func (o *deviceOracle) span(from, to unit.Duration) instants {
	s := instants{}
	for t := from; t < to; t += o.tick {
		s[t] = true
	}
	return s
}

// launched is min(enter(L(a)), b(a)).
func (a *oracleAct) launched() unit.Duration { return min(a.enter, a.b) }

// launchedBefore reports whether an activity was launched before t; without launch, whether it began before.
func (a *oracleAct) launchedBefore(t unit.Duration) bool {
	if a.launch.Known() {
		return a.enter < t
	}
	return a.b < t
}

// ready is r0, if it is defined.
func (a *oracleAct) ready() (unit.Duration, bool) {
	switch {
	case a.before != nil && a.launch.Known():
		return max(a.before.e, a.launched()), true
	case a.before != nil:
		return a.before.e, true
	}
	return a.launched(), a.launch.Known()
}

// endedLast is, of some activities, the one that ended last; ties: the first stream, then the first on it.
func endedLast(list []*oracleAct) *oracleAct {
	var best *oracleAct
	for _, a := range list {
		if best == nil || a.e > best.e || a.e == best.e && (a.stream < best.stream || a.stream == best.stream && a.index < best.index) {
			best = a
		}
	}
	return best
}

// those returns the activities that fulfil a condition.
func (o *deviceOracle) those(is func(a *oracleAct) bool) []*oracleAct {
	var list []*oracleAct
	for _, a := range o.acts {
		if is(a) {
			list = append(list, a)
		}
	}
	return list
}

// lastOn is the last activity of a stream that was launched before t.
func (o *deviceOracle) lastOn(stream int, t unit.Duration) *oracleAct {
	list := o.those(func(a *oracleAct) bool { return a.stream == stream && a.launchedBefore(t) })
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// reference is what the trace says about a call.
func (o *deviceOracle) reference(location, call int32) *timeline.Reference {
	for i := range o.plain.Devices.References {
		if r := &o.plain.Devices.References[i]; r.Location == location && r.Call == call {
			return r
		}
	}
	return nil
}

// findEvents finds E(a), known or inferred.
func (o *deviceOracle) findEvents() {
	known := map[*oracleAct][]*oracleAct{}
	for l := range o.plain.Locations {
		for call := range int32(o.plain.Locations[l].Calls.Len()) {
			switch o.name(int32(l), call) {
			case "cudaStreamWaitEvent", "cuStreamWaitEvent", "hipStreamWaitEvent":
			default:
				continue
			}
			r := o.reference(int32(l), call)
			if r == nil || r.Stream < 0 || r.Event < 0 || r.Stream == r.Event {
				continue
			}
			wait := o.op(int32(l), call).enter
			after := o.those(func(a *oracleAct) bool {
				return a.stream == int(r.Stream) && a.launch.Known() && !a.launchedBefore(wait)
			})
			if x := o.lastOn(int(r.Event), r.Recorded); x != nil && len(after) > 0 {
				known[after[0]] = append(known[after[0]], x)
			}
		}
	}
	for _, a := range o.acts {
		if a.on = endedLast(known[a]); a.on != nil {
			continue
		}
		r0, ok := a.ready()
		if !ok || a.b-r0 <= 20*unit.Microsecond {
			continue
		}
		a.on = endedLast(o.those(func(x *oracleAct) bool {
			before := x.b < a.b
			if x.launch.Known() && a.launch.Known() {
				before = x.enter < a.enter
			}
			return x.rank == a.rank && x.stream != a.stream && before && x.e > r0 && x.e <= a.b
		}))
	}
}

// takeWaits takes the waits for other processes; those of kernels get what counts later.
func (o *deviceOracle) takeWaits() {
	hosts := len(o.plain.Locations)
	for _, w := range o.waits {
		l := &literalWait{of: w, metric: w.metric, location: w.location, path: w.path, begin: w.enter, full: w.amount, first: w.first}
		if int(w.location) < hosts {
			l.counts = o.span(w.enter, w.enter+w.amount)
		} else {
			o.those(func(a *oracleAct) bool { return a.stream == int(w.location)-hosts })[w.call].wait = l
		}
		o.all = append(o.all, l)
	}
}

// devices lists the activities of each device.
func (o *deviceOracle) devices() [][]*oracleAct {
	var list [][]*oracleAct
	seen := map[[2]int]bool{}
	for _, a := range o.acts {
		if !seen[[2]int{a.rank, a.device}] {
			seen[[2]int{a.rank, a.device}] = true
			list = append(list, o.those(func(x *oracleAct) bool { return x.rank == a.rank && x.device == a.device }))
		}
	}
	return list
}

// inOrderOf sorts activities by a time, ties: first stream, then the first on it.
func inOrderOf(list []*oracleAct, time func(a *oracleAct) unit.Duration) []*oracleAct {
	return slices.SortedFunc(slices.Values(list), func(x, y *oracleAct) int {
		return cmp.Or(cmp.Compare(time(x), time(y)), cmp.Compare(x.stream, y.stream), cmp.Compare(x.index, y.index))
	})
}

func beginOf(a *oracleAct) unit.Duration { return a.b }

// countKernels counts where a device does nothing else while a communication kernel waits.
func (o *deviceOracle) countKernels(on []*oracleAct) {
	working, counted := instants{}, instants{}
	for _, a := range on {
		from := a.b
		if a.wait != nil {
			from += a.wait.full
		}
		maps.Copy(working, o.span(from, a.e))
	}
	for _, a := range inOrderOf(on, beginOf) {
		if a.wait == nil {
			continue
		}
		a.wait.counts = instants{}
		before := a.b + a.wait.first
		a.wait.first = 0
		for t := range o.span(a.b, a.b+a.wait.full) {
			if !working[t] && !counted[t] {
				counted[t], a.wait.counts[t] = true, true
				if t < before {
					a.wait.first += o.tick
				}
			}
		}
	}
}

// findIdleDevice finds the gaps in the union of all activities of a device that end with a late launch.
func (o *deviceOracle) findIdleDevice(on []*oracleAct) {
	last := unit.Duration(-1)
	for _, a := range inOrderOf(on, beginOf) {
		if last >= 0 && a.b > last && a.launch.Known() && a.launched() > last {
			o.all = append(o.all, &literalWait{metric: deviceIdle.metric, location: o.locationOf(a), path: a.path, begin: last, from: last,
				counts: o.span(last, a.launched()), walk: wayBack{thread: a.launch.Thread, t: a.launched()}})
		}
		last = max(last, a.e)
	}
}

func (o *deviceOracle) locationOf(a *oracleAct) int32 {
	return int32(len(o.plain.Locations) + a.stream)
}

// findHeldBack finds the compute kernels of a device that something else than computation on it held back.
func (o *deviceOracle) findHeldBack(on []*oracleAct) {
	taken := instants{}
	for _, a := range on {
		if a.kind == timeline.ComputeKernel {
			maps.Copy(taken, o.span(a.b, a.e))
		}
		if a.wait != nil {
			maps.Copy(taken, a.wait.counts)
		}
		for _, w := range o.all {
			if w.metric == deviceIdle.metric && w.location == o.locationOf(a) {
				maps.Copy(taken, w.counts)
			}
		}
	}
	held := slices.DeleteFunc(slices.Clone(on), func(a *oracleAct) bool {
		_, ok := a.ready()
		return a.kind != timeline.ComputeKernel || a.on == nil || !ok
	})
	for _, a := range inOrderOf(held, func(a *oracleAct) unit.Duration { r0, _ := a.ready(); return r0 }) {
		r0, _ := a.ready()
		until := min(a.on.e, a.b)
		w := &literalWait{metric: streamWait.metric, location: o.locationOf(a), path: a.path, begin: r0, from: r0, counts: instants{},
			walk: wayBack{act: a.on, inside: true, t: until}}
		for t := range o.span(r0, until) {
			if !taken[t] {
				taken[t], w.counts[t] = true, true
			}
		}
		if len(w.counts) > 0 {
			o.all = append(o.all, w)
		}
	}
}

// findHostWaits finds the calls of host threads that wait for activities.
func (o *deviceOracle) findHostWaits() {
	for l := range o.plain.Locations {
		calls := &o.plain.Locations[l].Calls
		for call := range int32(calls.Len()) {
			sync, x := o.awaited(int32(l), call)
			if !sync || x == nil {
				continue
			}
			innermost := true
			for inner := call + 1; inner < calls.Skip[call]; inner++ {
				also, _ := o.awaited(int32(l), inner)
				innermost = innermost && !also
			}
			enter, until := calls.Enter[call], min(x.e, calls.Leave[call])
			if innermost && until > enter {
				o.all = append(o.all, &literalWait{metric: hostWait.metric, location: int32(l), path: o.oracle.tl.PathName(calls.Path[call]),
					begin: enter, from: enter, leave: until, counts: o.span(enter, until), walk: wayBack{act: x, inside: true, t: until}})
			}
		}
	}
}

// awaited reports whether a call synchronizes with a device, and with what.
func (o *deviceOracle) awaited(l, call int32) (bool, *oracleAct) {
	rank := o.plain.Locations[l].Rank
	mine := o.those(func(a *oracleAct) bool { return a.rank == rank })
	if len(mine) == 0 {
		return false, nil
	}
	c, ref := o.op(l, call), o.reference(l, call)
	ended := endedLast(slices.DeleteFunc(slices.Clone(mine), func(a *oracleAct) bool { return !a.launchedBefore(c.enter) || a.e > c.leave }))
	name, _, _ := strings.Cut(o.name(l, call), "_v")
	switch name {
	case "cudaStreamSynchronize", "cuStreamSynchronize", "hipStreamSynchronize", "clFinish":
		switch {
		case ref != nil && ref.Stream == timeline.NoStream:
			return true, nil
		case ref != nil && ref.Stream >= 0:
			return true, o.lastOn(int(ref.Stream), c.enter)
		}
		return true, ended
	case "cudaDeviceSynchronize", "cuCtxSynchronize", "cudaThreadSynchronize",
		"hipDeviceSynchronize", "hipCtxSynchronize", "DEVICE SYNCHRONIZE":
		var lasts []*oracleAct
		for _, a := range mine {
			if a == o.lastOn(a.stream, c.enter) && (ref == nil || ref.Device < 0 || int(ref.Device) == a.device) {
				lasts = append(lasts, a)
			}
		}
		return true, endedLast(lasts)
	case "cudaEventSynchronize", "cuEventSynchronize", "hipEventSynchronize", "clWaitForEvents":
		if ref != nil && ref.Event >= 0 {
			return true, o.lastOn(int(ref.Event), ref.Recorded)
		}
		return true, ended
	}
	if strings.HasPrefix(name, "cudaMemcpy") || strings.HasPrefix(name, "cuMemcpy") || strings.HasPrefix(name, "hipMemcpy") {
		x := endedLast(slices.DeleteFunc(mine, func(a *oracleAct) bool {
			return a.kind != timeline.Copy || a.launch != timeline.Launch{Thread: l, Call: call}
		}))
		return x != nil && (!strings.Contains(name, "Async") || c.leave >= x.e), x
	}
	return false, nil
}

// walk goes back from a place to a time; it tells the owner of every instant that has one.
func (o *deviceOracle) walk(p wayBack, to unit.Duration, visit func(t unit.Duration, by owner)) {
	give := func(from unit.Duration, by owner) {
		for t := max(from, to); t < p.t; t += o.tick {
			visit(t, by)
		}
		p.t = min(p.t, from)
	}
	for still, last := 0, p.t; p.t > to && still < 1000; still++ {
		if p.t < last {
			still, last = 0, p.t
		}
		switch a := p.act; {
		case a != nil && p.inside:
			if a.wait != nil {
				give(a.b+a.wait.full, owner{path: a.path})
				give(a.b, owner{wait: a.wait})
			} else {
				give(a.b, owner{path: a.path})
			}
			p.inside = false
		case a != nil:
			next, r, by := wayBack{}, unit.Duration(-1), owner{path: a.path}
			if a.before != nil {
				next, r = wayBack{act: a.before, inside: true}, a.before.e
			}
			if a.on != nil && min(a.on.e, a.b) > r {
				next, r = wayBack{act: a.on, inside: true}, min(a.on.e, a.b)
			}
			if a.launch.Known() && a.launched() > r {
				next, r = wayBack{thread: a.launch.Thread}, a.launched()
				by = owner{path: o.plain.PathName(o.plain.Locations[a.launch.Thread].Calls.Path[a.launch.Call])}
			}
			if r < 0 {
				return
			}
			give(r, by)
			p.act, p.inside, p.thread = next.act, next.inside, next.thread
		default:
			o.step(&p, give)
		}
	}
}

// step is one tick back on a thread, or into the activity that it waited for.
func (o *deviceOracle) step(p *wayBack, give func(from unit.Duration, by owner)) {
	at := p.thread
	path, open := o.openBefore(at, p.t)
	if !open {
		at = o.masters[o.plain.Locations[at].Rank]
		path, open = o.openBefore(at, p.t)
	}
	if !open {
		p.t -= o.tick
		return
	}
	by := owner{path: path}
	for _, w := range o.all {
		switch {
		case w.location != at:
		case w.metric == hostWait.metric && w.leave == p.t:
			p.act, p.inside = w.walk.act, true
			return
		case w.of != nil && w.counts[p.t-o.tick] && (by.wait == nil || by.wait.begin <= w.begin):
			by = owner{wait: w}
		}
	}
	give(p.t-o.tick, by)
}

// openBefore is the call path of a location just before t.
func (o *deviceOracle) openBefore(l int32, t unit.Duration) (string, bool) {
	for _, s := range o.segments[l] {
		if s.from < t && t <= s.to && !s.none {
			return s.path, true
		}
	}
	return "", false
}

// name of the stream of a location; empty if it is a thread.
func (o *deviceOracle) streamName(l int32) string {
	if int(l) < len(o.plain.Locations) {
		return ""
	}
	return o.plain.Devices.Streams[int(l)-len(o.plain.Locations)].Name
}

func (w *literalWait) amount(tick unit.Duration) unit.Duration {
	return unit.Duration(len(w.counts)) * tick
}

// summary is what the definitions say, in the form of that of a result.
func (o *deviceOracle) summary() map[string]string {
	waits := map[string]*Split{}
	add := func(m Metric, w *literalWait, from, to unit.Duration) {
		if from == to {
			return
		}
		key := fmt.Sprintf("wait %s %d %s %s", m, o.rank(w.location), w.path, o.streamName(w.location))
		if waits[key] == nil {
			waits[key] = &Split{}
		}
		amount := w.amount(o.tick)
		share := func(of int64) unit.Duration { return roundedShare(of, to, amount) - roundedShare(of, from, amount) }
		waits[key].add(unit.SumOf(to-from), unit.SumOf(share(w.indirect)), unit.SumOf(share(w.propagating)))
	}
	for _, w := range o.all {
		amount := w.amount(o.tick)
		if w.metric == lateContributor.metric {
			add(earlyReduce.metric, w, 0, w.first)
		}
		add(w.metric, w, w.first, amount)
		if w.of != nil && w.of.wrong && int(w.location) < len(o.plain.Locations) { // the text names no such part of kernels
			add(wrongOrder.metric, w, 0, amount)
		}
	}
	s := o.oracle.costs()
	for key, w := range waits {
		s[key] = fmt.Sprint(*w)
	}
	return s
}

func (o *deviceOracle) rank(l int32) int { return o.oracle.tl.Locations[l].Rank }
