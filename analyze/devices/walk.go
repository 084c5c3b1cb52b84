package devices

import (
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// hostSpan is a wait of a host thread.
type hostSpan struct {
	from, to unit.Duration
	state    int32 // number that it has for the caller
	on       Op    // what was waited for; None: another process
}

// HostState notes a wait of a host thread: for an activity, or, if that is None, for another process. The waits of a thread are noted
// in the order of their starts, before the first walk.
func (r *Run) HostState(thread int32, from, amount unit.Duration, state int32, on Op) {
	last := from + amount
	if n := len(r.latest[thread]); n > 0 {
		last = max(last, r.latest[thread][n-1])
	}
	r.host[thread] = append(r.host[thread], hostSpan{from, from + amount, state, on})
	r.latest[thread] = append(r.latest[thread], last)
}

// Number gives the waits of kernels that Count got their final numbers.
func (r *Run) Number(waits []KernelWait) {
	for i := range waits {
		r.streams[waits[i].Of.At].state[waits[i].Of.Index] = waits[i].State
	}
}

// Owners gets what every instant of a local path belongs to: a call path, by its number in profile.Paths, or a wait for another process.
// Both report whether the walk goes on.
type Owners interface {
	Path(path int32, from, to unit.Duration) bool
	Wait(state int32, from, to unit.Duration) bool
}

// position is where a walk is: on a thread just before a moment, inside an activity at a moment, or at its start.
type position struct {
	form  uint8
	at    Op // activity; of a thread the location alone
	until unit.Duration
}

const (
	onThread uint8 = iota
	insideActivity
	atStart
)

// Walk is a way back from somewhere in a process.
type Walk struct {
	r     *Run
	place position
}

// FromCall begins on a thread just before a moment.
func (r *Run) FromCall(thread int32, t unit.Duration) Walk {
	return Walk{r, position{onThread, Op{thread, -1}, t}}
}

// FromStart begins at the start of an activity, or before it at a moment.
func (r *Run) FromStart(o Op, t unit.Duration) Walk {
	return Walk{r, position{atStart, o, min(r.streams[o.At].Begin[o.Index], t)}}
}

// FromInside begins inside an activity.
func (r *Run) FromInside(o Op, t unit.Duration) Walk { return Walk{r, position{insideActivity, o, t}} }

// mostSteps is how many steps a walk may make without getting further back; more make only activities that wait for each other.
const mostSteps = 1 << 12

// Back walks back to a moment and tells what every instant on the way belongs to; what has no owner is left out.
func (w Walk) Back(to unit.Duration, owners Owners) {
	p, ok := w.place, true
	for steps := 0; ok && p.until > to && steps < mostSteps; steps++ {
		before := p.until
		switch p.form {
		case onThread:
			p, ok = w.r.thread(p, to, owners)
		case insideActivity:
			p, ok = w.r.inside(p, to, owners)
		case atStart:
			p, ok = w.r.start(p, to, owners)
		}
		if p.until < before {
			steps = 0
		}
	}
}

// inside walks to the start of an activity.
func (r *Run) inside(p position, to unit.Duration, owners Owners) (position, bool) {
	s, i := &r.streams[p.at.At], p.at.Index
	b := s.Begin[i]
	if worked := b + s.fullOf(i); p.until > worked {
		if !owners.Path(r.paths.Of[s.Path[i]], max(worked, to), p.until) {
			return p, false
		}
		p.until = worked
	}
	if p.until > b && p.until > to && !owners.Wait(s.state[i], max(b, to), p.until) {
		return p, false
	}
	return position{atStart, p.at, min(p.until, b)}, true
}

// start finds why an activity did not begin earlier: the end of its predecessor, of what it waited for on another stream, or its
// launch, whatever was last. False if none of them is known.
func (r *Run) start(p position, to unit.Duration, owners Owners) (position, bool) {
	s, i := &r.streams[p.at.At], p.at.Index
	next, came, ok := position{}, unit.Duration(0), false
	take := func(t unit.Duration, q position) {
		if !ok || t > came {
			next, came, ok = q, t, true
		}
	}
	if i > 0 {
		take(s.End[i-1], position{form: insideActivity, at: Op{p.at.At, i - 1}})
	}
	if x := s.event[i]; x != None {
		take(min(r.end(x), s.Begin[i]), position{form: insideActivity, at: x})
	}
	owner := r.paths.Of[s.Path[i]]
	if l := s.Launch[i]; l.Known() {
		take(s.launch(i), position{form: onThread, at: Op{l.Thread, -1}})
		if next.form == onThread {
			owner = r.paths.Of[r.tl.Locations[l.Thread].Calls.Path[l.Call]]
		}
	}
	if !ok {
		return next, false
	}
	came = min(came, p.until)
	if from := max(came, to); from < p.until {
		ok = owners.Path(owner, from, p.until)
	}
	next.until = came
	return next, ok
}

// thread walks back to where a thread last changed: what it was in, or its waiting. A thread that is in no call leaves it to its master.
func (r *Run) thread(p position, to unit.Duration, owners Owners) (position, bool) {
	at := p.at.At
	path, since, some := r.windows.Before(at, p.until)
	if path == 0 {
		master := r.masters[r.tl.Locations[at].Rank]
		gap, open := since, some // its own last call
		if at != master {
			at = master
			if path, since, some = r.windows.Before(at, p.until); open && (!some || gap > since) {
				since, some = gap, true
			}
		}
		if path == 0 {
			p.until = since
			return p, some
		}
	}
	spans, latest := r.host[at], r.latest[at]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].from >= p.until }) - 1
	for ; i >= 0 && latest[i] > since; i-- {
		w := &spans[i]
		switch {
		case w.to < p.until:
			since = max(since, w.to)
		case w.on == None:
			since = max(since, w.from)
			ok := owners.Wait(w.state, max(since, to), p.until)
			p.until = since
			return p, ok
		case w.to == p.until:
			return position{insideActivity, w.on, p.until}, true
		}
	}
	ok := owners.Path(path, max(since, to), p.until)
	p.until = since
	return p, ok
}

// Clip hands on to owners what lies in some disjoint spans in order.
type Clip struct {
	Owners
	Spans []timeline.Span
}

// Path implements Owners.
func (c Clip) Path(path int32, from, to unit.Duration) bool {
	return c.each(from, to, func(from, to unit.Duration) bool { return c.Owners.Path(path, from, to) })
}

// Wait implements Owners.
func (c Clip) Wait(state int32, from, to unit.Duration) bool {
	return c.each(from, to, func(from, to unit.Duration) bool { return c.Owners.Wait(state, from, to) })
}

func (c Clip) each(from, to unit.Duration, visit func(from, to unit.Duration) bool) bool {
	i := sort.Search(len(c.Spans), func(i int) bool { return c.Spans[i].To > from })
	for ; i < len(c.Spans) && c.Spans[i].From < to; i++ {
		if !visit(max(from, c.Spans[i].From), min(to, c.Spans[i].To)) {
			return false
		}
	}
	return true
}
