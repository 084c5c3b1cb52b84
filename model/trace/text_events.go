package trace

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/timeline"
)

// noRank is the mistake of an event before the first location.
const noRank = "which rank? Begin one with rank 0"

// add adds an event to the location being read.
func (r *textReader) add(e Event) {
	switch {
	case r.at < 0:
		r.fail(noRank)
		return
	case e.Time < r.now:
		r.fail("time goes back: %s is before the event before it", r.timeName(e.Time))
	}
	r.now = e.Time
	r.events[r.at] = append(r.events[r.at], e)
}

func (r *textReader) timeName(ps int64) string {
	return string(appendTime(nil, ps)) + " ns"
}

// call reads a call: as a whole, or its start.
func (r *textReader) call() {
	first, last, whole := strings.Cut(r.take("the time"), "..")
	e := Event{Kind: Enter, Time: r.parseTime(first)}
	end := e.Time
	if whole {
		if end = r.parseTime(last); end < e.Time {
			r.fail("the call ends at %s, before it begins", r.timeName(end))
		}
	}
	e.Region = r.region("the name of the call")
	optional(r, "stack", &e.Stack, r.stack)
	r.add(e)
	if !whole {
		if !r.skip("{") {
			r.fail("a call with its start alone needs { after it; a call as a whole begins with two times such as 5..7")
		}
		r.open = append(r.open, e.Region)
		return
	}
	if r.skip(":") {
		r.records(&[2]int64{e.Time, end})
	}
	r.add(Event{Time: end, Kind: Leave, Region: e.Region})
}

// closeCall reads the end of a call.
func (r *textReader) closeCall() {
	r.words = r.words[1:]
	when := r.time("the time")
	n := len(r.open)
	if n == 0 {
		r.fail("no call is open")
		return
	}
	region := r.open[n-1]
	r.open = r.open[:n-1]
	r.add(Event{Time: when, Kind: Leave, Region: region})
}

// bareEnter reads the start of a call that may lack its end, bareLeave the other one.
func (r *textReader) bareEnter() {
	e := Event{Kind: Enter, Time: r.time("the time"), Region: r.region("the name of the call")}
	optional(r, "stack", &e.Stack, r.stack)
	r.add(e)
}

func (r *textReader) bareLeave() {
	r.add(Event{Kind: Leave, Time: r.time("the time"), Region: r.region("the name of the call")})
}

// records reads the records of a line. Those of a call, given by its start and end, need no time.
func (r *textReader) records(call *[2]int64) {
	for {
		e := Event{}
		timed := len(r.words) > 0 && !r.words[0].quoted && strings.HasPrefix(r.words[0].text, "@")
		if timed {
			e.Time = r.parseTime(r.take("")[1:])
		}
		r.record(&e)
		switch {
		case timed:
		case call == nil:
			r.fail("a record outside of a line with its call needs its time, such as @5.2")
		case begins(e.Kind):
			e.Time = call[0]
		default:
			e.Time = call[1]
		}
		if r.add(e); !r.skip(";") {
			return
		}
	}
}

// begins reports whether a record without a time happens at the start of its call.
func begins(k Kind) bool {
	switch k {
	case Send, Isend, PartitionedSend, IrecvPost, CollectiveBegin, CollectiveIssue, CommDestroy, ProgramBegin, Put, Get, Atomic, WinLock,
		FileBegin:
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
	textWindows = map[string]Kind{
		"win-create": WinCollective, "win-free": WinCollective, "win-fence": WinCollective, "win-post": WinPost, "win-start": WinStart,
		"win-complete": WinComplete, "win-wait": WinWait, "win-lock": WinLock, "win-unlock": WinUnlock, "win-flush": WinFlush,
		"win-sync": WinSync, "put": Put, "get": Get, "atomic": Atomic,
	}
	textFiles = map[string]Kind{"file-open": FileOpen, "file-close": FileClose, "file-begin": FileBegin, "file-end": FileEnd}
)

// record reads what happened.
func (r *textReader) record(e *Event) {
	w := r.take("what happens")
	op, isOp := timeline.OpNamed(w)
	if kind, ok := textPlain[w]; ok {
		e.Kind = kind
	} else if kind, ok := textRequests[w]; ok {
		e.Kind, e.Request = kind, r.uint64("the request")
	} else if kind, ok := textNumbers[w]; ok {
		e.Kind, e.Size = kind, r.integer("the number", math.MinInt64, math.MaxInt64)
	} else if isOp {
		e.Op = op
		r.collective(e)
	} else if kind, ok := textWindows[w]; ok {
		e.Kind, e.Object = kind, r.window("the window")
		r.windowRecord(w, e)
	} else if kind, ok := textFiles[w]; ok {
		e.Kind, e.Object = kind, r.key("the file", "file", r.files)
		r.fileRecord(e)
	} else {
		r.otherRecord(w, e)
	}
}

// otherRecord reads a record that has fields of its own.
func (r *textReader) otherRecord(w string, e *Event) {
	switch w {
	case "send", "recv":
		r.message(w, e)
	case "sample":
		if e.Kind = Sample; !r.skip("0") { // else the empty stack
			e.Stack = r.stack("the stack")
		}
	case "no-cpu":
		e.Kind, e.Size = NoCPU, r.time("how long")
	case "recording":
		e.Kind = RecordingOn
		if !r.skip("on") {
			if e.Kind = RecordingOff; !r.skip("off") {
				r.fail("recording is on or off")
			}
		}
	case "comm-create":
		e.Kind, e.Comm = CommCreate, r.comm("the communicator")
	case "comm-destroy":
		e.Kind, e.Comm = CommDestroy, r.comm("the communicator")
	case "skipped":
		r.skipped(e)
	case "count":
		e.Kind, e.Object, e.Request = Count, r.key("the metric", "metric", r.metrics), r.uint64("the value")
	default:
		known := []string{"send", "recv", "sample", "no-cpu", "recording", "comm-create", "comm-destroy", "skipped", "count"}
		for _, m := range []map[string]Kind{textPlain, textRequests, textNumbers, textWindows, textFiles} {
			known = slices.AppendSeq(known, maps.Keys(m))
		}
		for op := range numOps {
			known = append(known, op.String())
		}
		slices.Sort(known)
		r.fail("there is no record %q%s", w, suggest.Phrase(w, known))
	}
}

// message reads the rest of a send or a receive.
func (r *textReader) message(w string, e *Event) {
	kinds, side := [2]Kind{Send, Isend}, "to"
	if w == "recv" {
		kinds, side = [2]Kind{Recv, IrecvDone}, "from"
	}
	if !r.skip(side) {
		r.fail("a %s needs the word %s and a rank", w, side)
	}
	e.Kind, e.Peer = kinds[0], r.int32("the rank")
	r.fields("a "+w, []textField{
		{"size", func() { e.Size = r.size("the size") }},
		{"tag", func() { e.Tag = r.int32("the tag") }},
		{"comm", func() { e.Comm = r.comm("the communicator") }},
		{"request", func() { e.Kind, e.Request = kinds[1], r.uint64("the request") }},
		{"channel", func() { e.Object = uint32(r.integer("the channel", 1, math.MaxInt32)) }},
	})
	switch {
	case e.Object == 0:
	case e.Kind == Isend:
		e.Kind = PartitionedSend
	case e.Kind == IrecvDone:
		e.Kind = PartitionedDone
	default:
		r.fail("a %s with a channel is a partitioned one and needs its request", w)
	}
}

// skipped reads what was not recorded.
func (r *textReader) skipped(e *Event) {
	e.Size = r.integer("the number", math.MinInt64, math.MaxInt64)
	side := ""
	switch {
	case r.skip("sends"):
		e.Kind, side = SkippedSends, "to"
	case r.skip("receives"):
		e.Kind, side = SkippedReceives, "from"
	case r.skip("collectives"):
		e.Kind = SkippedCollectives
	default:
		r.fail("expected sends, receives or collectives that were skipped, such as skipped 3 sends to 1")
	}
	if side != "" {
		if !r.skip(side) {
			r.fail("expected the word %s and a rank", side)
		}
		e.Peer = r.int32("the rank")
		optional(r, "tag", &e.Tag, r.int32)
	}
	optional(r, "comm", &e.Comm, r.comm)
}

// collective reads the rest of a collective operation.
func (r *textReader) collective(e *Event) {
	e.Kind, e.Root = CollectiveEnd, NoRoot
	r.fields("a collective", []textField{
		{"root", func() { e.Root = r.root() }},
		{"sent", func() { e.Sent = r.size("the size") }},
		{"received", func() { e.Received = r.size("the size") }},
		{"comm", func() { e.Comm = r.comm("the communicator") }},
		{"counts", func() { e.Counts = r.counts() }},
		{"request", func() { e.Kind, e.Request = CollectiveDone, r.uint64("the request") }},
	})
}

// counts reads sizes by peer.
func (r *textReader) counts() []int64 {
	var list []int64
	for text := range strings.SplitSeq(r.take("the counts"), ",") {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 {
			r.fail("expected counts such as 8,0,16, got %q", text)
		}
		list = append(list, v)
	}
	return list
}

// textWinOps are the collective operations on windows, by their words.
var textWinOps = map[string]timeline.Op{
	"win-create": timeline.OpCreateHandle, "win-free": timeline.OpDestroyHandle, "win-fence": timeline.OpBarrier,
}

// root reads the root of a collective.
func (r *textReader) root() int32 {
	switch {
	case r.skip("self"):
		return timeline.RootSelf
	case r.skip("group"):
		return timeline.RootGroup
	}
	return r.int32("the root")
}

// windowRecord reads the rest of a record about a window.
func (r *textReader) windowRecord(w string, e *Event) {
	side := func(word string) {
		if !r.skip(word) {
			r.fail("%s needs the word %s and a rank", w, word)
		}
		e.Peer = int32(r.rank("the rank"))
	}
	switch e.Kind {
	case WinCollective:
		e.Op = textWinOps[w]
	case WinPost, WinStart:
		for _, rank := range r.rankList() {
			e.Counts = append(e.Counts, int64(rank))
		}
	case WinLock:
		e.Peer = r.target()
		if e.Flag = r.skip("shared"); !e.Flag && !r.skip("exclusive") {
			r.fail("a lock is exclusive or shared")
		}
	case WinUnlock:
		e.Peer = r.target()
	case WinFlush:
		e.Peer = r.target()
		e.Flag = r.skip("local")
	case Put:
		side("to")
		optional(r, "size", &e.Size, r.size)
	case Get:
		side("from")
		optional(r, "size", &e.Size, r.size)
	case Atomic:
		side("at")
		optional(r, "sent", &e.Sent, r.size)
		optional(r, "received", &e.Received, r.size)
	}
}

// target reads a rank of a window, or all.
func (r *textReader) target() int32 {
	if r.skip("all") {
		return AllRanks
	}
	return int32(r.rank("the rank, or all"))
}

// fileRecord reads the rest of a record about a file.
func (r *textReader) fileRecord(e *Event) {
	if e.Kind == FileBegin || e.Kind == FileEnd {
		e.Request = r.uint64("the number of the operation")
	}
	if e.Kind == FileBegin {
		optional(r, "size", &e.Size, r.size)
	}
}

// object writes a record about a window or a file.
func (w *textWriter) object(e *Event) {
	f := fieldsOf[e.Kind]
	words, keys := textWindows, w.windows
	if f&useFile != 0 {
		words, keys = textFiles, w.files
	}
	b := append(w.b, textObjectWord(words, e)...)
	b = appendWord(append(b, ' '), keys[e.Object])
	if f&useCounts != 0 {
		b = append(b, ranges(ranksOf(e.Counts))...)
	}
	if f&usePeer != 0 {
		b = append(b, map[Kind]string{Put: " to", Get: " from", Atomic: " at"}[e.Kind]...)
		if e.Peer == AllRanks {
			b = append(b, " all"...)
		} else {
			b = appendIf(b, " ", int64(e.Peer), AllRanks)
		}
	}
	switch {
	case e.Kind == WinLock && e.Flag:
		b = append(b, " shared"...)
	case e.Kind == WinLock:
		b = append(b, " exclusive"...)
	case e.Kind == WinFlush && e.Flag:
		b = append(b, " local"...)
	}
	if f&useRequest != 0 {
		b = strconv.AppendUint(append(b, ' '), e.Request, 10)
	}
	if f&useSize != 0 {
		b = appendIf(b, " size ", e.Size, 0)
	}
	if f&useSent != 0 {
		b = appendIf(b, " sent ", e.Sent, 0)
		b = appendIf(b, " received ", e.Received, 0)
	}
	w.b = b
}

// textObjectWord is the word of a record. Windows are made and freed in several ways, which have one word each.
func textObjectWord(words map[string]Kind, e *Event) string {
	if e.Kind == WinCollective {
		switch e.Op {
		case timeline.OpBarrier:
			return "win-fence"
		case timeline.OpDestroyHandle, timeline.OpDeallocate, timeline.OpDestroyHandleDeallocate:
			return "win-free"
		}
		return "win-create"
	}
	for word, kind := range words {
		if kind == e.Kind {
			return word
		}
	}
	return "other"
}
