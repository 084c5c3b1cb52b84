package replay

import (
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// act is what a composed call did, for a timeline of the simulated run.
type act struct {
	What           actKind
	Scope          timeline.Scope
	Op             timeline.Op
	Object         int32 // communicator, window or file of the recorded run
	Root           int32
	Sent, Received int64
	Counts         []int64
	Request        uint64
	Window         timeline.WindowRecord
}

type actKind uint8

const (
	beginAct  actKind = iota // of a collective that another call completes
	endAct                   // of such a one
	wholeAct                 // a collective of one call
	windowAct                // another call of one-sided communication
)

// Tales are what the composed calls of a run did, and what they did it to.
type Tales struct {
	Comms          []timeline.Comm
	Windows, Files []timeline.Object
	Calls          [][]act // by number, from 1 on
}

// tell notes what a call did.
func (c *converter) tell(location, call int32, a act) {
	x := c.composedCall(location, call)
	x.acts = append(x.acts, a)
}

// tellMember notes what a member of a collective did.
func (c *converter) tellMember(col *timeline.Collective, members []timeline.Member, i int) {
	m := &members[i]
	a := act{
		What: wholeAct, Scope: col.Scope, Op: col.Op, Object: col.Comm, Root: c.t.RootWord(col, i), Sent: m.Sent, Received: m.Received,
		Counts: c.t.CountsOf(m), Request: innerRequests + uint64(m.Seq),
	}
	if col.Scope == timeline.ByWindow || col.Scope == timeline.ByFile {
		a.Object = col.Object
	}
	if m.Issue == m.Complete {
		c.tell(m.Location, m.Issue, a)
		return
	}
	a.What = beginAct
	c.tell(m.Location, m.Issue, a)
	a.What = endAct
	c.tell(m.Location, m.Complete, a)
}

// innerRequests is from where on requests of composed calls are numbered.
const innerRequests = 1 << 40

// Tales declares in a timeline that is being built what the composed calls of the program work on. The function that it returns adds
// what call number note of a rank did, at its start or at its end.
func (p *Program) Tales(b *timeline.Builder) func(l *timeline.LocationBuilder, rank int, note uint32, t unit.Duration, end bool) {
	if len(p.tales.Calls) == 0 {
		return nil
	}
	first := make([]copyOf, p.copies)
	for j := range first {
		shift := int32(j * p.recorded)
		declare := func(objects []timeline.Object, add func(timeline.Object) int32) int32 {
			at := int32(0)
			for i, o := range objects {
				if id := add(timeline.Object{Name: o.Name, Comm: first[j].comm + o.Comm}); i == 0 {
					at = id
				}
			}
			return at
		}
		for i, c := range p.tales.Comms {
			c.Members, c.Remote = appendShifted(nil, c.Members, int(shift)), appendShifted(nil, c.Remote, int(shift))
			if id := b.Comm(c); i == 0 {
				first[j].comm = id
			}
		}
		first[j].window, first[j].file = declare(p.tales.Windows, b.Window), declare(p.tales.Files, b.File)
	}
	return func(l *timeline.LocationBuilder, rank int, note uint32, t unit.Duration, end bool) {
		if note == 0 || int(note) > len(p.tales.Calls) {
			return
		}
		for i := range p.tales.Calls[note-1] {
			p.tales.Calls[note-1][i].add(l, &first[rank/p.recorded], t, end)
		}
	}
}

// copyOf is from which numbers on the communicators, windows and files of a copy of the run are declared.
type copyOf struct{ comm, window, file int32 }

// add adds the act at the start or the end of its call, whichever it belongs to.
func (a *act) add(l *timeline.LocationBuilder, at *copyOf, t unit.Duration, end bool) {
	starts := a.What == beginAct
	if a.What == windowAct {
		starts = a.Window.Kind == timeline.WinAccess || a.Window.Kind == timeline.WinLock
	}
	isFile := a.Scope == timeline.ByFile && a.Op == timeline.OpBarrier
	if isFile && a.What == wholeAct && !end {
		l.FileBegin(t, at.file+a.Object, a.Request, a.Sent)
	}
	if starts == end {
		return
	}
	switch {
	case a.What == windowAct:
		r := a.Window
		r.Window += at.window
		l.OneSided(t, r)
	case a.Scope == timeline.ByWindow:
		l.WinCollective(t, a.Op, at.window+a.Object)
	case isFile && a.What == beginAct:
		l.FileBegin(t, at.file+a.Object, a.Request, a.Sent)
	case isFile:
		l.FileEnd(t, at.file+a.Object, a.Request)
	case a.Scope == timeline.ByFile && a.Op == timeline.OpCreateHandle:
		l.FileOpen(t, at.file+a.Object)
	case a.Scope == timeline.ByFile:
		l.FileClose(t, at.file+a.Object)
	case a.Scope == timeline.ByConnection:
		l.CommCreate(t, at.comm+a.Object)
	case a.What == wholeAct:
		l.Collective(t, a.Op, at.comm+a.Object, a.Root, a.Sent, a.Received, a.Counts)
	case a.What == beginAct:
		l.Issue(t, a.Request)
	default:
		l.Complete(t, a.Op, at.comm+a.Object, a.Root, a.Sent, a.Received, a.Counts, a.Request)
	}
}

// takeTales appends what the calls of a rank did; its operations name them by their number among all.
func (p *Program) takeTales(r *rankProgram, calls [][]act) {
	if len(calls) == 0 {
		return
	}
	first := uint32(len(p.tales.Calls))
	p.tales.Calls = append(p.tales.Calls, calls...)
	for i := range r.ops {
		if op := &r.ops[i]; op.Kind == schedule.Calc && op.Tag > 0 {
			op.Tag += first
		}
	}
}
