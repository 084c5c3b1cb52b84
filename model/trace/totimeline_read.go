package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/unit"
)

// locationReader turns the events of one location into calls.
type locationReader struct {
	c     *conversion
	l     *timeline.LocationBuilder
	at    *Location
	clock locationClock
	made  *synthesis // makes functions out of samples; nil: there are none

	open        []openCall
	first, last int64 // times on the location's own clock
	started     bool
	count       int64
	bytes       uint64 // sizes, added up
	unbalanced  int64
	off         bool // recording is off: what is entered and left then is not shown
}

// readLocation reads the events of a location into the builder.
func (c *conversion) readLocation(i int, l *timeline.LocationBuilder) error {
	r := &locationReader{c: c, l: l, at: &c.Locations[i], clock: c.clocks.of(i)}
	if c.stacks != nil {
		survey, err := c.survey(i)
		if err != nil {
			return fmt.Errorf("%s: %w", r.at.describe(), err)
		}
		r.made = newSynthesis(survey, l)
	}
	loss, err := c.readEvents(i, r.apply, func(read int64) { r.reserve(read) })
	if err != nil {
		return fmt.Errorf("%s: %w", r.at.describe(), err)
	}
	if loss != nil {
		c.lost[i] = damage.Loss(loss)
	} else if r.at.Truncated {
		c.lost[i] = "its end is missing"
	}
	if loss != nil || r.at.Truncated || r.at.Doubtful {
		l.SetTruncated()
	}
	if r.started {
		c.begun.Store(true)
	}
	r.finish(i)
	if total := c.bytes.Add(int64(r.bytes)); total > mostBytes || total < 0 {
		c.bytes.Store(mostBytes + 1)
	}
	return nil
}

// readEvents calls apply with the events of a location, many at a time, and progress now and then with their
// number so far. Damage is returned apart from other errors: the events before it have been seen.
func (c *conversion) readEvents(i int, apply func([]Event) error, progress func(read int64)) (loss, err error) {
	reader, err := c.Open(i)
	if err == nil {
		defer reader.Close()
		c.keepCalls(i, reader)
	}
	read := int64(0)
	loss, err = c.readBatches(reader, err, c.Strict, c.Partial, func(events []Event) error {
		if err := apply(events); err != nil {
			return err
		}
		read += int64(len(events))
		progress(read)
		switch {
		case c.failed.Load():
			return errElsewhere
		case c.Interrupt != nil:
			return c.Interrupt()
		}
		return nil
	})
	if errors.Is(err, errElsewhere) {
		return nil, nil
	}
	return loss, err
}

// errElsewhere ends the reading of a location because another one failed, which says why.
var errElsewhere = errors.New("another location failed")

// reserve makes room for the calls to come, as far as what was read makes the announced number credible.
func (r *locationReader) reserve(read int64) {
	if r.count == 0 || read >= 4*r.count {
		r.count = max(read, batch)
		r.l.Reserve(int(min(r.at.Events, uint64(4*r.count)) / 2))
	}
}

// apply takes the next events.
func (r *locationReader) apply(events []Event) error {
	if len(events) == 0 {
		return nil
	}
	if !r.started {
		r.first, r.started = events[0].Time, true
	}
	r.last = events[len(events)-1].Time
	for k := range events {
		e := &events[k]
		t, fits := r.clock.correct(e.Time)
		if !fits {
			return r.wrong(e, errFarClock)
		}
		switch e.Kind {
		case Enter:
			if int(e.Region) >= len(r.c.Regions) {
				return fmt.Errorf("region %d is not defined", e.Region)
			}
			r.open = append(r.open, openCall{e.Region, e.Stack, !r.off})
			r.enter(t, e)
		case Leave:
			if n := len(r.open) - 1; n >= 0 && r.open[n].region == e.Region {
				r.open = r.open[:n]
				r.leave(t)
			} else {
				r.leaveOther(t, e.Region)
			}
		default:
			if err := r.checkSize(e); err != nil {
				return r.wrong(e, err)
			}
			r.record(t, e)
		}
	}
	return nil
}

// wrong says which event an error is of.
func (r *locationReader) wrong(e *Event, err error) error {
	return fmt.Errorf("%s: at %v: %w", cmp.Or(r.c.Trace.Name, "the trace"), unit.Duration(e.Time), err)
}

// mostBytes is what all sizes of a trace may add up to: no sum of some of them overflows.
const mostBytes = 1 << 62

// checkSize refuses sizes that are none, and those that are too large to be added up.
func (r *locationReader) checkSize(e *Event) error {
	var own [3]int64
	sizes := own[:1]
	switch e.Kind {
	case Send, Isend, Recv, IrecvDone, PartitionedSend, PartitionedDone, Put, Get, FileBegin, Polls:
		sizes[0] = e.Size
	case NoCPU: // overlaps are cut later
		sizes[0] = min(e.Size, 0)
	case CollectiveEnd, CollectiveDone, Atomic:
		sizes = append(own[:0], e.Sent, e.Received)
		for _, v := range e.Counts {
			if v < 0 || v > mostBytes {
				sizes[0] = v
			}
		}
	case SkippedSends, SkippedReceives, SkippedCollectives:
		if e.Size > mostBytes || e.Size < -mostBytes {
			return fmt.Errorf("%d messages or collectives that were not recorded are too many", e.Size)
		}
		return nil
	case WinPost, WinStart:
		if len(e.Counts) > 0 && (slices.Min(e.Counts) < 0 || slices.Max(e.Counts) > math.MaxInt32) {
			return errors.New("a group of a window has a rank that is none")
		}
		return nil
	default:
		return nil
	}
	for _, v := range sizes {
		if v < 0 {
			return errors.New("the size of a message, a transfer or a wait is below 0")
		}
		if r.bytes += uint64(v); r.bytes > mostBytes {
			return fmt.Errorf("with %d, the sizes of messages and transfers are more than 2^62 together", v)
		}
	}
	return nil
}

// openCall is a call that is open.
type openCall struct {
	region, stack uint32
	recorded      bool // a part of it
}

// enter enters a call, leave leaves the innermost open one.
func (r *locationReader) enter(t unit.Duration, e *Event) {
	switch {
	case r.off:
		r.l.Event(t)
	case r.made != nil:
		r.made.enterCall(t, e)
	default:
		r.l.Enter(t, timeline.RegionID(e.Region))
	}
}

func (r *locationReader) leave(t unit.Duration) {
	switch {
	case r.off:
		r.l.Event(t)
	case r.made != nil:
		r.made.leaveCall(t)
	default:
		r.l.Leave(t)
	}
}

// leaveOther leaves a region that is not the innermost open one: those inside of it were left unseen. A
// region that is not open at all was entered unseen.
func (r *locationReader) leaveOther(t unit.Duration, region uint32) {
	r.unbalanced++
	if !slices.ContainsFunc(r.open, func(c openCall) bool { return c.region == region }) {
		r.l.Event(t)
		return
	}
	r.unbalanced--
	for {
		n := len(r.open) - 1
		innermost := r.open[n].region
		r.open = r.open[:n]
		r.leave(t)
		if innermost == region {
			return
		}
		r.unbalanced++
	}
}

// record takes an event that is not the start or end of a call.
func (r *locationReader) record(t unit.Duration, e *Event) {
	if e.Kind == RecordingOff || e.Kind == RecordingOn {
		r.recording(t, e.Kind == RecordingOn)
		return
	}
	if e.Kind == ThreadBegin || e.Kind == ThreadEnd {
		r.thread(t, e)
		return
	}
	if r.off && !numbers(e.Kind) {
		r.l.Event(t)
		return
	}
	if r.made != nil && !r.off && r.made.takes(t, e) {
		return
	}
	if r.c.comms != nil && r.foreign(t, e) {
		return
	}
	l := r.l
	switch e.Kind {
	case Send:
		l.Send(t, e.Peer, int32(e.Comm), e.Tag, e.Size)
	case Isend:
		l.Isend(t, e.Peer, int32(e.Comm), e.Tag, e.Size, e.Request)
	case IsendDone:
		l.IsendDone(t, e.Request)
	case IrecvPost:
		l.Post(t, e.Request)
	case Recv:
		l.Recv(t, e.Peer, int32(e.Comm), e.Tag, e.Size)
	case IrecvDone:
		l.IrecvDone(t, e.Peer, int32(e.Comm), e.Tag, e.Size, e.Request)
	case RequestCancelled:
		l.Cancel(t, e.Request)
	case CollectiveEnd:
		l.Collective(t, e.Op, int32(e.Comm), e.Root, e.Sent, e.Received, e.Counts)
	case CollectiveIssue:
		l.Issue(t, e.Request)
	case CollectiveDone:
		l.Complete(t, e.Op, int32(e.Comm), e.Root, e.Sent, e.Received, e.Counts, e.Request)
	case Fork:
		l.Fork(t)
	case Join:
		l.Join(t)
	case TeamBegin:
		l.TeamBegin(t)
	case TeamEnd:
		l.TeamEnd(t)
	case Polls:
		l.Event(t)
		l.Polls(e.Size)
	case SkippedSends:
		l.SkipSends(t, e.Peer, int32(e.Comm), e.Tag, e.Size)
	case SkippedReceives:
		l.SkipReceives(t, e.Peer, int32(e.Comm), e.Tag, e.Size)
	case SkippedCollectives:
		l.SkipCollectives(t, int32(e.Comm), e.Size)
	case NoCPU:
		l.NoCPU(t, unit.Duration(e.Size))
	case Count:
		l.Count(t, int32(e.Object), e.Request)
	case CommCreate:
		l.CommCreate(t, int32(e.Comm))
	case PartitionedSend:
		l.PartitionedSend(t, e.Peer, int32(e.Comm), e.Tag, int32(e.Object), e.Size, e.Request)
	case PartitionedDone:
		l.PartitionedDone(t, e.Peer, int32(e.Comm), e.Tag, int32(e.Object), e.Request)
	default:
		r.object(t, e)
	}
}

// object takes a record about a window or a file.
func (r *locationReader) object(t unit.Duration, e *Event) {
	l, object := r.l, int32(e.Object)
	switch e.Kind {
	case WinCollective:
		l.WinCollective(t, e.Op, object)
	case WinPost:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinPost, Window: object, Group: ranksOf(e.Counts)})
	case WinStart:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinStart, Window: object, Group: ranksOf(e.Counts)})
	case WinComplete:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinComplete, Window: object})
	case WinWait:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinWait, Window: object})
	case WinLock:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinLock, Window: object, Target: e.Peer, Flag: !e.Flag})
	case WinUnlock:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinUnlock, Window: object, Target: e.Peer})
	case WinFlush:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinFlush, Window: object, Target: e.Peer, Flag: e.Flag})
	case Put:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinAccess, Window: object, Target: e.Peer, Sent: e.Size})
	case Get:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinAccess, Window: object, Target: e.Peer, Received: e.Size})
	case Atomic:
		l.OneSided(t, timeline.WindowRecord{Kind: timeline.WinAccess, Window: object, Target: e.Peer, Sent: e.Sent, Received: e.Received})
	case FileOpen:
		l.FileOpen(t, object)
	case FileClose:
		l.FileClose(t, object)
	case FileBegin:
		l.FileBegin(t, object, e.Request, e.Size)
	case FileEnd:
		l.FileEnd(t, object, e.Request)
	default:
		l.Event(t)
	}
}

// ranksOf are the ranks of a group.
func ranksOf(counts []int64) []int32 {
	ranks := make([]int32, len(counts))
	for i, v := range counts {
		ranks[i] = int32(v)
	}
	return ranks
}

// thread takes the start or the end of a thread. Where there is none, nothing can be recorded: time when recording was off
// ends with a thread, and begins with the next one if it is still off.
func (r *locationReader) thread(t unit.Duration, e *Event) {
	if r.off {
		r.l.On(t)
	} else if r.made != nil {
		r.made.thread(t, e.Kind)
	}
	r.open = r.open[:0]
	if e.Kind == ThreadEnd {
		r.l.ThreadEnd(t)
		return
	}
	r.l.ThreadBegin(t)
	if r.off {
		r.l.Off(t, r.c.unrecorded)
	}
}

// numbers reports whether an event says, while recording is off, what was begun or ended unseen.
func numbers(k Kind) bool {
	switch k {
	case IrecvPost, IrecvDone, PartitionedDone, IsendDone, RequestCancelled, CollectiveIssue, CollectiveDone, SkippedSends, SkippedReceives,
		SkippedCollectives:
		return true
	}
	return false
}

// recording notes that recording was switched on or off. Time when it is off belongs to no call: those that are open are
// left then, and entered again, which is no further visit.
func (r *locationReader) recording(t unit.Duration, on bool) {
	if on != r.off {
		if r.l.Event(t); r.off {
			r.l.OffAgain(t)
		}
		return
	}
	if on {
		r.off = false
		r.l.On(t)
		r.l.MissCounts()
		if r.made != nil {
			r.made.on(t)
		}
		for i := range r.open {
			c := &r.open[i]
			r.enter(t, &Event{Kind: Enter, Region: c.region, Stack: c.stack})
			if c.recorded {
				r.l.Continues()
			}
			c.recorded = true
		}
		return
	}
	for range r.open {
		r.leave(t)
	}
	if r.made != nil {
		r.made.off(t)
	}
	r.off = true
	r.l.Off(t, r.c.unrecorded)
}

// finish ends what is still open and says what is known of the location as a whole.
func (r *locationReader) finish(i int) {
	if r.made != nil {
		unclosed := r.made.finish()
		if !r.at.Truncated && r.c.lost[i] == "" {
			r.unbalanced += int64(unclosed)
		}
	}
	r.l.Unbalanced(r.unbalanced)
	r.l.SetClockError(r.c.clocks.error(i, unit.Duration(r.first), unit.Duration(r.last)))
}

// selectComms finds out which communicators can be kept, if only some ranks are read or some processes were not recorded.
func (c *conversion) selectComms() {
	for _, comm := range c.Comms {
		if slices.ContainsFunc(slices.Concat(comm.Members, comm.Remote), func(rank int32) bool { return rank < 0 }) {
			c.incomplete++
		}
	}
	if c.selected == nil && c.incomplete == 0 {
		return
	}
	c.comms = make([]bool, len(c.Comms))
	for i, comm := range c.Comms {
		all := slices.Concat(comm.Members, comm.Remote)
		c.comms[i] = !slices.ContainsFunc(all, func(r int32) bool { return !c.wanted(int(r)) })
	}
}

// foreign takes records that have to do with ranks that are not read; it reports whether this is one.
func (r *locationReader) foreign(t unit.Duration, e *Event) bool {
	switch e.Kind {
	case Send, Isend, Recv, IrecvDone, SkippedSends, SkippedReceives, PartitionedSend, PartitionedDone:
		if r.known(e) {
			return false
		}
	case CollectiveEnd, CollectiveDone, SkippedCollectives, CommCreate:
		if int(e.Comm) < len(r.c.comms) && r.c.comms[e.Comm] {
			return false
		}
	default:
		list := r.c.Windows
		if fieldsOf[e.Kind]&useFile != 0 {
			list = r.c.Files
		} else if fieldsOf[e.Kind]&useWindow == 0 {
			return false
		}
		if int(e.Object) < len(list) && int(list[e.Object].Comm) < len(r.c.comms) && r.c.comms[list[e.Object].Comm] {
			return false
		}
	}
	switch e.Kind {
	case Isend, PartitionedSend:
		r.l.IsendElsewhere(t, e.Request)
	case IrecvDone, PartitionedDone, CollectiveDone:
		r.l.Cancel(t, e.Request)
	}
	r.l.Event(t)
	return true
}

// known reports whether the peer of a message is read, too.
func (r *locationReader) known(e *Event) bool {
	if int(e.Comm) >= len(r.c.Comms) || e.Peer < 0 {
		return false
	}
	comm := &r.c.Comms[e.Comm]
	members := comm.Members
	if len(comm.Remote) > 0 && slices.Contains(comm.Members, int32(r.at.Rank)) {
		members = comm.Remote
	}
	return int(e.Peer) < len(members) && r.c.wanted(int(members[e.Peer]))
}
