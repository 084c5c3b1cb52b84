package trace

import (
	"strconv"

	"slackline/model/timeline"
)

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
