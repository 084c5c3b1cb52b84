package waits

import (
	"cmp"
	"slices"

	"slackline/analyze/devices"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// # Runs with streams
//
// Streams are locations after the host threads, activities their calls; so communication kernels find their wait states and their causes
// by the rules of MPI. What is different is here: a wait of a kernel counts only where its device does nothing else; hosts and devices
// wait inside of their process, too, which is charged to what went on meanwhile; and what a process did before an operation is its local
// path, over threads and streams (package devices), since the two processes last met anywhere.

// deviceStates is what only runs with streams have.
type deviceStates struct {
	run     *devices.Run
	plain   *timeline.Timeline // the run without streams as locations
	details []stateDetail      // by wait state
	starts  []unit.Duration    // by rank: first event of the process
	syncs   rankSyncs
}

// stateDetail is what is known of a wait state beside its place and amount.
type stateDetail struct {
	form  stateForm
	on    devices.Op      // what is waited for, of waits inside a process
	spans []timeline.Span // what counts; nil: from the start on, without a gap
}

type stateForm uint8

const (
	betweenProcesses stateForm = iota
	hostForDevice
	deviceForHost
	streamForStream
)

// run is the timeline as it was given.
func (a *analysis) run() *timeline.Timeline {
	if a.devices != nil {
		return a.devices.plain
	}
	return a.tl
}

// streamOf is the number of the stream of a location, -1 if that is a thread.
func (a *analysis) streamOf(location int32) int32 { return max(location-int32(a.hosts), -1) }

// isInner reports whether a wait state is one inside of its process, to which no costs are passed on.
func (a *analysis) isInner(i int) bool {
	return a.devices != nil && a.devices.details[i].form != betweenProcesses
}

// reported is the number of wait states without those that are hidden.
func (a *analysis) reported() int {
	if a.devices == nil {
		return len(a.states)
	}
	n := 0
	for i := range a.states {
		if a.states[i].amount > 0 {
			n++
		}
	}
	return n
}

// addDevices adds the waits of hosts and devices, and finds what those of kernels cost.
func (a *analysis) addDevices(tl *timeline.Timeline) {
	d := &deviceStates{run: devices.New(tl, a.paths, a.windows, a.threads), plain: tl}
	a.devices = d
	d.starts = startsOf(a.tl)
	type entry struct {
		state
		stateDetail
		kernel int // number of the wait of a kernel, -1: it is none
	}
	var all []entry
	var kernels []devices.KernelWait
	for i := range a.states {
		s := a.states[i]
		e := entry{state: s, kernel: -1}
		if at := a.streamOf(s.location); at >= 0 {
			e.kernel = len(kernels)
			kernels = append(kernels, devices.KernelWait{Of: devices.Op{At: at, Index: s.call}, Full: s.amount})
		}
		all = append(all, e)
	}
	d.run.Count(kernels)
	for i := range all {
		if e := &all[i]; e.kernel >= 0 {
			e.spans = kernels[e.kernel].Spans
			e.amount, e.first = lengthBefore(e.spans, unit.Duration(1<<62)), lengthBefore(e.spans, e.enter+e.first)
			e.uncertain = e.uncertain && e.amount > 0
		}
	}
	add := func(k *kind, form stateForm, location, call int32, from, amount unit.Duration, cause, causeCall int32, on devices.Op,
		spans []timeline.Span) {
		all = append(all, entry{kernel: -1, stateDetail: stateDetail{form, on, spans}, state: state{
			enter: from, amount: amount, since: never, sub: None, location: location, call: call, cause: cause, causeCall: causeCall,
			reference: -1, metric: k.metric,
		}})
	}
	streams := int32(a.hosts)
	for _, w := range d.run.HostWaits() {
		from := a.calls(w.Thread).Enter[w.Call]
		add(&hostWait, hostForDevice, w.Thread, w.Call, from, w.Amount, streams+w.For.At, w.For.Index, w.For, nil)
	}
	for _, w := range d.run.Idles() {
		l := tl.Devices.Streams[w.Of.At].Launch[w.Of.Index]
		add(&deviceIdle, deviceForHost, streams+w.Of.At, w.Of.Index, w.From, w.Amount, l.Thread, l.Call, w.Of, nil)
	}
	for _, w := range d.run.Helds() {
		amount := lengthBefore(w.Spans, unit.Duration(1<<62))
		add(&streamWait, streamForStream, streams+w.Of.At, w.Of.Index, w.Spans[0].From, amount, streams+w.For.At, w.For.Index, w.For, w.Spans)
	}
	slices.SortStableFunc(all, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.location, y.location), cmp.Compare(x.call, y.call), cmp.Compare(x.enter, y.enter),
			cmp.Compare(x.form, y.form))
	})
	a.states, d.details = make([]state, len(all)), make([]stateDetail, len(all))
	clear(a.first)
	for i := range all {
		e := &all[i]
		a.states[i], d.details[i] = e.state, e.stateDetail
		a.first[e.location+1]++
		if e.kernel >= 0 {
			kernels[e.kernel].State = int32(i)
		} else if e.location < streams {
			on := devices.None
			if e.form == hostForDevice {
				on = e.on
			}
			d.run.HostState(e.location, e.enter, e.amount, int32(i), on)
		}
	}
	for l := range a.ends {
		a.first[l+1] += a.first[l]
		a.ends[l] = endsOf(a.tl.Space, a.states[a.first[l]:a.first[l+1]])
	}
	d.run.Number(kernels)
	if !a.causeless {
		d.syncs = a.findSyncs()
	}
}

// lengthBefore is how long spans are before a moment.
func lengthBefore(spans []timeline.Span, t unit.Duration) unit.Duration {
	sum := unit.Duration(0)
	for _, s := range spans {
		sum += max(min(s.To, t)-s.From, 0)
	}
	return sum
}

// startsOf finds the first event of each process.
func startsOf(tl *timeline.Timeline) []unit.Duration {
	starts := make([]unit.Duration, tl.Ranks)
	for i := range starts {
		starts[i] = tl.End
	}
	for i := range tl.Locations {
		l := &tl.Locations[i]
		if l.Calls.Len() > 0 {
			starts[l.Rank] = min(starts[l.Rank], l.Calls.Enter[0])
		}
	}
	return starts
}

// local reports whether the causes of a wait state are looked for on local paths: all but those between threads of a process.
func (d *deviceStates) local(a *analysis, i int) bool {
	return d.details[i].form != betweenProcesses || a.rankOf(a.states[i].location) != a.rankOf(a.states[i].cause)
}

// findSince finds when the two processes of a wait state last met.
func (d *deviceStates) findSince(a *analysis, i int) {
	s := &a.states[i]
	switch {
	case !d.local(a, i):
		s.since = a.since(s.location, s.call, s.cause, s.causeCall)
	case d.details[i].form == betweenProcesses:
		s.since = d.syncs.last(a, s)
	default:
		return
	}
	if int(s.cause) < a.hosts {
		s.before = int32(a.statesBefore(s.cause, s.causeCall))
	}
}

// interval is the time of the cause that a wait state is charged to.
func (d *deviceStates) interval(a *analysis, i int) (from, to unit.Duration) {
	s := &a.states[i]
	switch {
	case d.details[i].form == streamForStream: // what counts may end before
		return s.enter, min(a.calls(s.cause).Leave[s.causeCall], a.calls(s.location).Enter[s.call])
	case d.details[i].form != betweenProcesses:
		return s.enter, s.end()
	case s.since != never:
		return s.since, a.calls(s.cause).Enter[s.causeCall]
	}
	from = max(d.starts[a.rankOf(s.location)], d.starts[a.rankOf(s.cause)])
	return from, a.calls(s.cause).Enter[s.causeCall]
}

// find finds the causes of a wait state.
func (d *deviceStates) find(a *analysis, c *causes, i int) {
	s, detail := &a.states[i], &d.details[i]
	from, to := d.interval(a, i)
	c.sums.Clear()
	c.states, c.unseen = c.states[:0], 0
	o := owners{c, a}
	switch detail.form {
	case hostForDevice:
		d.run.FromInside(detail.on, to).Back(from, o)
	case deviceForHost:
		d.run.FromCall(s.cause, to).Back(from, o)
	case streamForStream:
		d.run.FromInside(detail.on, to).Back(from, devices.Clip{Owners: o, Spans: detail.spans})
	default:
		d.addPath(a, c, s.cause, s.causeCall, from, int(s.before))
		d.sortStates(a, c)
		c.sums.Second()
		first := c.states
		c.states = c.waiting[:0]
		d.addPath(a, c, s.location, s.call, from, i-a.first[s.location])
		c.states, c.waiting = first, c.states[:0]
		if s.since == never {
			c.unseen = int64(d.countedBefore(a, i, from))
		}
		c.finish()
		return
	}
	d.sortStates(a, c)
	c.finish()
}

// countedBefore is how much of a wait state counts before a moment.
func (d *deviceStates) countedBefore(a *analysis, i int, t unit.Duration) unit.Duration {
	s := &a.states[i]
	if int(s.location) < a.hosts {
		return min(max(t-s.enter, 0), s.amount)
	}
	return lengthBefore(d.details[i].spans, t)
}

// addPath adds what a process did before an operation: its local path, or, without streams, what the location did.
func (d *deviceStates) addPath(a *analysis, c *causes, location, call int32, from unit.Duration, states int) {
	switch enter := a.calls(location).Enter[call]; {
	case int(location) >= a.hosts:
		d.run.FromStart(devices.Op{At: a.streamOf(location), Index: call}, enter).Back(from, owners{c, a})
	case d.run.HasStreams(a.rankOf(location)):
		d.run.FromCall(location, enter).Back(from, owners{c, a})
	default:
		a.windows.Add(c.sums, location, from, enter, call)
		c.states = a.statesIn(c.states, location, from, enter, states)
		for _, w := range c.states {
			c.sums.Subtract(a.statePath(w.state), w.part)
		}
	}
}

// owners takes a local path as causes.
type owners struct {
	*causes
	a *analysis
}

// Path implements devices.Owners.
func (o owners) Path(path int32, from, to unit.Duration) bool {
	o.sums.Add(path, to-from)
	return true
}

// Wait implements devices.Owners.
func (o owners) Wait(state int32, from, to unit.Duration) bool {
	if n := len(o.states); n > 0 && o.states[n-1].state == int(state) {
		o.states[n-1].part += to - from
		return true
	}
	o.states = append(o.states, propagation{int(state), to - from})
	return true
}

// sortStates puts wait states on a local path in the order of entries, each once.
func (d *deviceStates) sortStates(a *analysis, c *causes) {
	slices.SortFunc(c.states, func(x, y propagation) int {
		return cmp.Or(cmp.Compare(a.states[x.state].enter, a.states[y.state].enter), cmp.Compare(x.state, y.state))
	})
	n := 0
	for _, w := range c.states {
		if n > 0 && c.states[n-1].state == w.state {
			c.states[n-1].part += w.part
			continue
		}
		c.states[n] = w
		n++
	}
	c.states = c.states[:n]
}

// leaveOut takes from the costs of a wait state what lies before the recorded time of its cause: that has none.
func (w *accountant) leaveOut(amount unit.Duration, long unit.Sum) (shortLeft, longLeft unit.Sum) {
	parts, shares := []int64{w.causes.unseen, int64(amount) - w.causes.unseen}, [2]unit.Sum{}
	if parts[1] == 0 {
		w.unattributed.AddSum(long)
		w.unattributed.Add(amount)
		return unit.Sum{}, unit.Sum{}
	}
	w.apportioner.Split(shares[:], long, parts, int64(amount))
	w.unattributed.AddSum(shares[0])
	w.unattributed.Add(unit.Duration(parts[0]))
	return unit.SumOf(unit.Duration(parts[1])), shares[1]
}
