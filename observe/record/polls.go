package record

import (
	"slices"

	"slackline/model/trace"
)

// Programs wait by calling MPI_Test or MPI_Iprobe until it finds something, with nothing but sleep in between. Those calls become
// one, from the start of the first that found nothing to the end of the one that found something: it
// stands for the others, and took as long as the program waited.

// mostSleeps is the number of system calls between two calls of a run that is taken for waiting.
const mostSleeps = 16

// pollRun is a run of calls that found nothing and may go on.
type pollRun struct {
	calls int64       // that found nothing; 0: there is no run
	call  rawRecord   // all of them
	noCPU int64       // time without a CPU in them, ps
	since []rawRecord // samples and system calls since the last one
}

// take decodes a record, or adds it to a run of polls.
func (s *eventStream) take(rec *rawRecord) {
	r := &s.run
	switch {
	case r.calls == 0:
	case rec.kind == rawSample && rec.enter < r.call.leave:
		return // between two calls of the run
	case rec.kind == rawNoCPU:
		r.noCPU += picoseconds(int64(rec.word(0)))
		return // while it waited
	case len(r.since) < mostSleeps && (rec.kind == rawSample || rec.kind == rawSpan) && s.stack(rec.path) == s.stack(r.call.path):
		r.since = append(r.since, *rec)
		r.since[len(r.since)-1].counted = slices.Clone(rec.counted)
		return
	case s.goesOn(rec):
		if s.foundNothing(rec) {
			r.calls += int64(rec.count) + 1
			r.call.leave, r.since = rec.leave, r.since[:0]
			copy(r.call.countedAt(1), rec.countedAt(1))
			return
		}
		rec.enter, s.polls = r.call.enter, r.calls+1
		copy(rec.countedAt(0), r.call.countedAt(0))
		r.calls = 0
		s.decode(rec)
		s.endNoCPU()
		return
	default:
		s.endRun()
	}
	if s.foundNothing(rec) {
		*r = pollRun{calls: int64(rec.count) + 1, call: *rec, since: r.since[:0]}
		r.call.data, r.call.counted = slices.Clone(rec.data), slices.Clone(rec.counted)
		return
	}
	s.decode(rec)
}

// endRun decodes a run of polls that nothing came of.
func (s *eventStream) endRun() {
	r := &s.run
	if r.calls == 0 {
		return
	}
	if r.calls > 1 {
		s.polls = r.calls
	}
	r.calls = 0
	s.decode(&r.call)
	s.endNoCPU()
	for i := range r.since {
		s.decode(&r.since[i])
	}
	r.since = r.since[:0]
}

// endNoCPU tells the time without a CPU of a run of polls, after its call.
func (s *eventStream) endNoCPU() {
	if s.run.noCPU > 0 {
		s.put(s.last, trace.Event{Kind: trace.NoCPU, Size: s.run.noCPU})
	}
	s.run.noCPU = 0
}

// goesOn reports whether a record belongs to the run of polls.
func (s *eventStream) goesOn(rec *rawRecord) bool {
	c := &s.run.call
	return rec.kind == c.kind && rec.function == c.function && rec.again && !rec.open &&
		(rec.path == c.path || s.stack(rec.path) == s.stack(c.path))
}

// foundNothing reports whether a record is that of tests or probes without success.
func (s *eventStream) foundNothing(rec *rawRecord) bool {
	if rec.open || s.more || int(rec.function) >= len(s.calls) || !s.calls[rec.function].tests {
		return false
	}
	switch rec.kind {
	case rawComplete:
		return rec.words() < 1+doneWords
	case rawCall: // a probe
		return rec.words() > 0 && rec.word(0) == 0
	case rawWindow:
		return rec.word(3) == 0
	}
	return false
}
