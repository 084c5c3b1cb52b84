package replay

import (
	"slices"
	"strings"

	"slackline/model/timeline"
)

// A buffered send copies its message and never waits for the receive, whatever the size: MPI_Bsend, MPI_Ibsend, and what MPI_Start
// begins of MPI_Bsend_init. Our recorder has those completed by MPI_Start itself, which no other send is. Other traces say of MPI_Start
// which message it begins, but not by which call that was prepared: the sends that a rank starts are buffered if it prepared no
// other ones.

// startMode is how the sends that a location starts are sent.
type startMode uint8

const (
	startPlain startMode = iota
	startBuffered
	startMixed // it is not known which of them are buffered
)

// sendModes list which messages are buffered.
type sendModes struct {
	buffered []bool      // by path: what a call of it sends is
	waiting  []bool      // by path: what a call of it sends is synchronous
	starts   []bool      // by path: a call of it starts what was prepared
	prepared []startMode // by location; nil: nothing was prepared as buffered
	marked   bool        // the trace tells which of those that are started are buffered
}

func newSendModes(t *timeline.Timeline) sendModes {
	s := sendModes{buffered: make([]bool, len(t.Paths)), waiting: make([]bool, len(t.Paths)), starts: make([]bool, len(t.Paths))}
	prepares := make([]startMode, len(t.Paths)) // startMixed: nothing
	any := false
	for i := range t.Paths {
		prepares[i] = startMixed
		if i == 0 {
			continue // in no call
		}
		r := &t.Regions[t.Paths[i].Region]
		if r.Paradigm != timeline.MPI {
			continue
		}
		switch strings.TrimSuffix(callName(r), "_c") {
		case "bsend", "ibsend":
			s.buffered[i] = true
		case "ssend", "issend":
			s.waiting[i] = true
		case "start", "startall":
			s.starts[i] = true
		case "bsend_init":
			prepares[i], any = startBuffered, true
		case "send_init", "ssend_init", "rsend_init":
			prepares[i] = startPlain
		}
	}
	if !any {
		return s
	}
	s.marked = slices.ContainsFunc(t.Messages, func(m timeline.Message) bool { return s.isMarked(t, &m) })
	s.prepared = make([]startMode, len(t.Locations))
	for l := range t.Locations {
		var seen [startMixed]bool
		for _, path := range t.Locations[l].Calls.Path {
			if mode := prepares[path]; mode != startMixed {
				seen[mode] = true
			}
		}
		switch {
		case seen[startPlain] && seen[startBuffered]:
			s.prepared[l] = startMixed
		case seen[startBuffered]:
			s.prepared[l] = startBuffered
		}
	}
	return s
}

// isMarked reports whether the call that started a message also completed it.
func (s *sendModes) isMarked(t *timeline.Timeline, m *timeline.Message) bool {
	return m.Send == m.SendDone && m.Send >= 0 && s.starts[t.Locations[m.From].Calls.Path[m.Send]]
}

// of returns how a message is sent.
func (s *sendModes) of(t *timeline.Timeline, m *timeline.Message) startMode {
	path := t.Locations[m.From].Calls.Path[m.Send]
	switch {
	case s.buffered[path] || s.isMarked(t, m):
		return startBuffered
	case s.marked:
		return startPlain
	case s.starts[path] && s.prepared != nil:
		return s.prepared[m.From]
	}
	return startPlain
}
