package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/timeline"
)

// errNoRank says that an event stands before the first location.
var errNoRank = errors.New("which rank? Begin one with rank 0")

// add adds an event to the location in hand.
func (r *textReader) add(e Event) error {
	if r.at < 0 {
		return errNoRank
	}
	if e.Time < r.now {
		return fmt.Errorf("time goes back: %s is before the event before it", r.timeName(e.Time))
	}
	r.now = e.Time
	r.events[r.at] = append(r.events[r.at], e)
	return nil
}

func (r *textReader) timeName(ps int64) string {
	return string(appendTime(nil, ps)) + " ns"
}

// call reads a call: as a whole, or its begin.
func (r *textReader) call() error {
	w, err := r.take("the time")
	if err != nil {
		return err
	}
	first, last, whole := strings.Cut(w, "..")
	e := Event{Kind: Enter}
	if e.Time, err = r.parseTime(first); err != nil {
		return err
	}
	end := e.Time
	if whole {
		if end, err = r.parseTime(last); err != nil {
			return err
		}
		if end < e.Time {
			return fmt.Errorf("the call ends at %s, before it begins", r.timeName(end))
		}
	}
	if e.Region, err = r.region("the name of the call"); err != nil {
		return err
	}
	if err := optional(r, "stack", &e.Stack, r.stack); err != nil {
		return err
	}
	if err := r.add(e); err != nil {
		return err
	}
	if !whole {
		if !r.skip("{") {
			return errors.New("a call with its begin alone needs { behind it; a call as a whole begins with two times such as 5..7")
		}
		r.open = append(r.open, e.Region)
		return nil
	}
	if r.skip(":") {
		if err := r.records(&[2]int64{e.Time, end}); err != nil {
			return err
		}
	}
	return r.add(Event{Time: end, Kind: Leave, Region: e.Region})
}

// closeCall reads the end of a call.
func (r *textReader) closeCall() error {
	r.words = r.words[1:]
	when, err := r.time("the time")
	if err != nil {
		return err
	}
	n := len(r.open)
	if n == 0 {
		return errors.New("no call is open")
	}
	region := r.open[n-1]
	r.open = r.open[:n-1]
	return r.add(Event{Time: when, Kind: Leave, Region: region})
}

// bareCall reads one end of a call that may lack the other.
func (r *textReader) bareCall(keyword string) error {
	e := Event{Kind: Leave}
	var err error
	if e.Time, err = r.time("the time"); err != nil {
		return err
	}
	if e.Region, err = r.region("the name of the call"); err != nil {
		return err
	}
	if keyword == "enter" {
		e.Kind = Enter
		if err := optional(r, "stack", &e.Stack, r.stack); err != nil {
			return err
		}
	}
	return r.add(e)
}

// records reads the records of a line. Those of a call, given by its begin and end, need no time.
func (r *textReader) records(call *[2]int64) error {
	for {
		e := Event{}
		timed := false
		if len(r.words) > 0 && !r.words[0].quoted && strings.HasPrefix(r.words[0].text, "@") {
			var err error
			if e.Time, err = r.parseTime(r.words[0].text[1:]); err != nil {
				return err
			}
			r.words, timed = r.words[1:], true
		}
		if err := r.record(&e); err != nil {
			return err
		}
		switch {
		case timed:
		case call == nil:
			return errors.New("a record outside of a line with its call needs its time, such as @5.2")
		default:
			e.Time = call[1]
			if begins(e.Kind) {
				e.Time = call[0]
			}
		}
		if err := r.add(e); err != nil {
			return err
		}
		if !r.skip(";") {
			return nil
		}
	}
}

// begins reports whether a record stands at the begin of its call by itself.
func begins(k Kind) bool {
	switch k {
	case Send, Isend, IrecvPost, CollectiveBegin, CollectiveIssue, CommDestroy, ProgramBegin:
		return true
	}
	return false
}

// Words that begin a record, with kinds that have no or one plain value.
var (
	textPlain = map[string]Kind{
		"begin": CollectiveBegin, "join": Join, "team-begin": TeamBegin, "team-end": TeamEnd, "program-begin": ProgramBegin, "other": Other,
		"thread-begin": ThreadBegin, "thread-end": ThreadEnd,
	}
	textRequests = map[string]Kind{
		"sent": IsendDone, "post": IrecvPost, "test": RequestTest, "cancel": RequestCancelled, "issue": CollectiveIssue,
	}
	textNumbers = map[string]Kind{"fork": Fork, "polls": Polls, "program-end": ProgramEnd}
)

// record reads what happened.
func (r *textReader) record(e *Event) error {
	w, err := r.take("what happens")
	if err != nil {
		return err
	}
	if kind, ok := textPlain[w]; ok {
		e.Kind = kind
		return nil
	}
	if kind, ok := textRequests[w]; ok {
		e.Kind = kind
		e.Request, err = r.uint64("the request")
		return err
	}
	if kind, ok := textNumbers[w]; ok {
		e.Kind = kind
		e.Size, err = r.integer("the number", math.MinInt64, math.MaxInt64)
		return err
	}
	switch w {
	case "send", "recv":
		return r.message(w, e)
	case "sample":
		e.Kind = Sample
		if r.skip("0") { // the empty stack
			return nil
		}
		e.Stack, err = r.stack("the stack")
		return err
	case "no-cpu":
		e.Kind = NoCPU
		e.Size, err = r.time("how long")
		return err
	case "recording":
		e.Kind = RecordingOn
		if !r.skip("on") {
			e.Kind = RecordingOff
			if !r.skip("off") {
				return errors.New("recording is on or off")
			}
		}
		return nil
	case "comm-create", "comm-destroy":
		e.Kind = CommCreate
		if w == "comm-destroy" {
			e.Kind = CommDestroy
		}
		e.Comm, err = r.comm("the communicator")
		return err
	case "skipped":
		return r.skipped(e)
	}
	if op, ok := timeline.OpNamed(w); ok {
		e.Op = op
		return r.collective(e)
	}
	known := []string{"send", "recv", "sample", "no-cpu", "recording", "comm-create", "comm-destroy", "skipped"}
	for _, m := range []map[string]Kind{textPlain, textRequests, textNumbers} {
		for name := range m {
			known = append(known, name)
		}
	}
	for op := range numOps {
		known = append(known, op.String())
	}
	slices.Sort(known)
	return fmt.Errorf("there is no record %q%s", w, suggest.Phrase(w, known))
}

// message reads the rest of a send or a receive.
func (r *textReader) message(w string, e *Event) (err error) {
	kinds, side := [2]Kind{Send, Isend}, "to"
	if w == "recv" {
		kinds, side = [2]Kind{Recv, IrecvDone}, "from"
	}
	if !r.skip(side) {
		return fmt.Errorf("a %s needs the word %s and a rank", w, side)
	}
	if e.Peer, err = r.int32("the rank"); err != nil {
		return err
	}
	e.Kind = kinds[0]
	for r.inRecord() {
		switch {
		case r.skip("size"):
			e.Size, err = r.size("the size")
		case r.skip("tag"):
			e.Tag, err = r.int32("the tag")
		case r.skip("comm"):
			e.Comm, err = r.comm("the communicator")
		case r.skip("request"):
			e.Kind = kinds[1]
			e.Request, err = r.uint64("the request")
		default:
			known := []string{"size", "tag", "comm", "request"}
			err = fmt.Errorf("a %s has no %q%s", w, r.words[0].text, suggest.Phrase(r.words[0].text, known))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skipped reads what was not recorded.
func (r *textReader) skipped(e *Event) (err error) {
	if e.Size, err = r.integer("the number", math.MinInt64, math.MaxInt64); err != nil {
		return err
	}
	switch {
	case r.skip("sends"):
		e.Kind, err = SkippedSends, r.skippedPeer(e, "to")
	case r.skip("receives"):
		e.Kind, err = SkippedReceives, r.skippedPeer(e, "from")
	case r.skip("collectives"):
		e.Kind = SkippedCollectives
	default:
		return errors.New("expected sends, receives or collectives that were skipped, such as skipped 3 sends to 1")
	}
	if err == nil && e.Kind != SkippedCollectives && r.skip("tag") {
		e.Tag, err = r.int32("the tag")
	}
	if err == nil && r.skip("comm") {
		e.Comm, err = r.comm("the communicator")
	}
	return err
}

func (r *textReader) skippedPeer(e *Event, side string) (err error) {
	if !r.skip(side) {
		return fmt.Errorf("expected the word %s and a rank", side)
	}
	e.Peer, err = r.int32("the rank")
	return err
}

// inRecord reports whether the record in hand goes on.
func (r *textReader) inRecord() bool { return len(r.words) > 0 && !r.words[0].is(";") }

// collective reads the rest of a collective operation.
func (r *textReader) collective(e *Event) (err error) {
	e.Kind, e.Root = CollectiveEnd, NoRoot
	for r.inRecord() {
		switch {
		case r.skip("root"):
			e.Root, err = r.int32("the root")
		case r.skip("sent"):
			e.Sent, err = r.size("the size")
		case r.skip("received"):
			e.Received, err = r.size("the size")
		case r.skip("comm"):
			e.Comm, err = r.comm("the communicator")
		case r.skip("counts"):
			e.Counts, err = r.counts()
		case r.skip("request"):
			e.Kind = CollectiveDone
			e.Request, err = r.uint64("the request")
		default:
			known := []string{"root", "sent", "received", "comm", "counts", "request"}
			err = fmt.Errorf("a collective has no %q%s", r.words[0].text, suggest.Phrase(r.words[0].text, known))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// counts reads sizes by peer.
func (r *textReader) counts() ([]int64, error) {
	w, err := r.take("the counts")
	if err != nil {
		return nil, err
	}
	var list []int64
	for text := range strings.SplitSeq(w, ",") {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no count; write them as 8,0,16", text)
		}
		list = append(list, v)
	}
	return list, nil
}
