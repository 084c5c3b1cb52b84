package trace

import (
	"bytes"
	"strconv"
	"strings"
)

// A trace as text, for cases that people write and read. Everything that a Trace holds can be said.
//
// # Grammar
//
// A text is a sequence of lines; # begins a comment at the start of a line or after a blank. Words are
// separated by blanks; a word that has blanks or one of " ; # { } in it, or ends in a colon, stands in
// quotes, as in Go. Times are numbers with a unit (2.5us) or without (in the unit that the line "unit"
// names, or in ns); they may be negative. Sizes are in bytes or with a unit (64KiB).
//
//	file       = "slackline trace 1" line*
//	line       = definition | location | event
//
//	definition = "unit" UNIT                                 of times without a unit: ps, ns, us, ms or s
//	           | "ranks" N                                   if ranks without a location follow the last one
//	           | "comm" KEY ["name" NAME] RANKS ["remote" RANKS]
//	           | "region" KEY ["name" NAME] [PARADIGM] [ROLE] ["at" FILE LINE]
//	           | "stack" KEY REGION ["in" KEY]
//	           | "cart" COMM (SIZE | SIZE"p")*               a process grid; p: periodic
//	           | "coordinates" RANK N*                       in the grid before; else the last one varies fastest
//	           | "neighbors" COMM RANK "from" NEIGHBOR* "to" NEIGHBOR*   of a rank of the communicator, in MPI's order; -: MPI_PROC_NULL
//	           | "window" KEY ["name" NAME] "comm" COMM      of one-sided communication
//	           | "file" KEY ["name" NAME] "comm" COMM        of collective I/O
//	           | "metric" KEY ["name" NAME] ["unit" UNIT]    that locations count
//	           | "command" WORD* | "launch" WORD* | "mpi" WORD | "tool" WORD | "machine" WORD
//	           | "created" NANOSECONDS | "sample-period" TIME | "callpaths" WORD | "resolution" N
//	           | "yield" "forced"                            the recorder made MPI give up the CPU while it waits
//	           | "recording" WORD                            what chose when recording was on: window FROM..TO, or ring
//	           | "missing" WORD                              JSON: what is missing of the run beside what its locations say
//	           | "device" record                             what ran on accelerators, after all locations
//
// RANKS are numbers and ranges such as 0-3 in any order, and ? for processes that are not recorded. Without a communicator there is
// MPI_COMM_WORLD. A region that is not defined is known by its name: MPI_Send is a call of MPI, main is a function.
// Paradigms are user, mpi, openmp, noise, tool; roles function, p2p, collective, io, rma, parallel,
// barrier, implicit-barrier, workshare.
//
//	location   = "rank" N ["thread" N] ["name" NAME] ["host" NAME] ["id" N] ["truncated"] ["missing"]
//	           | "offset" TIME TIME ["deviation" X]          of its clock: when, and what is to be added
//	           | "trip" RANK[.THREAD] TIME TIME TIME         an exchange with another one: sent, answered, back
//
//	event      = TIME".."TIME REGION ["stack" KEY] [":" records]     a call without calls in it
//	           | TIME REGION ["stack" KEY] "{"                       a call with calls in it
//	           | "}" TIME                                            its end
//	           | records                                             each with its time
//	           | "enter" TIME REGION ["stack" KEY] | "leave" TIME REGION
//	           | "..."                                               open calls stay open; the location ends
//	records    = record (";" record)*
//	record     = ["@"TIME] what
//
// Events belong to the location before them. A record in a line with its call needs no time: what begins
// something happens when the call begins, all else when it ends.
//
//	what       = "send" "to" RANK message | "recv" "from" RANK message
//	           | "sent" REQUEST | "post" REQUEST | "test" REQUEST | "cancel" REQUEST
//	           | "begin" | OPERATION ["root" (RANK | "self" | "group")] ["sent" SIZE] ["received" SIZE] ["counts" N,N,...]
//	             ["comm" KEY] ["request" REQUEST] | "issue" REQUEST
//	           | "fork" N | "join" | "team-begin" | "team-end" | "sample" KEY | "polls" N
//	           | "no-cpu" TIME                               so long until then it could have run but had no CPU
//	           | "thread-begin" | "thread-end"               of a thread that does not live for the whole run
//	           | "recording" ("on" | "off") | "comm-create" KEY | "comm-destroy" KEY
//	           | "skipped" N ("sends" "to" RANK | "receives" "from" RANK) ["tag" N] ["comm" KEY]
//	           | "skipped" N "collectives" ["comm" KEY]      while recording was off, until then
//	           | "win-create" WINDOW | "win-free" WINDOW | "win-fence" WINDOW
//	           | "win-post" WINDOW RANKS | "win-start" WINDOW RANKS      origins, targets: ranks of the window
//	           | "win-complete" WINDOW | "win-wait" WINDOW | "win-sync" WINDOW
//	           | "win-lock" WINDOW (RANK | "all") ("exclusive" | "shared") | "win-unlock" WINDOW (RANK | "all")
//	           | "win-flush" WINDOW (RANK | "all") ["local"]  also of a request that is completed
//	           | "put" WINDOW "to" RANK "size" SIZE | "get" WINDOW "from" RANK "size" SIZE
//	           | "atomic" WINDOW "at" RANK ["sent" SIZE] ["received" SIZE]
//	           | "file-open" FILE | "file-close" FILE
//	           | "file-begin" FILE NUMBER ["size" SIZE] | "file-end" FILE NUMBER
//	           | "count" METRIC VALUE                        since the start; what it grew by belongs to the call open until then
//	           | "program-begin" | "program-end" STATUS | "other"
//	message    = ["size" SIZE] ["tag" N] ["comm" KEY] ["request" REQUEST] ["channel" N]
//
// A send, recv or operation with a request is a non-blocking one: the send begins, the others are
// complete. Operations are barrier, bcast, allreduce ... Without "comm" it is the first communicator. On an intercommunicator, "root self"
// is MPI_ROOT and "root group" MPI_PROC_NULL. A message with a channel is a partitioned one: the k-th send of a channel belongs
// with the k-th receive of it.
//
// What ran on accelerators are records of numbers. Streams, groups, and the activities of a stream are numbered in their order, from 0;
// times are in ps; -1 is what is not known. The file streams.slt of other formats has the same records.
//
//	record     = "host" RANK START                           its first call: if that is at another time, all times here are moved
//	           | "stream" RANK DEVICE NAME
//	           | "activity" KIND START END THREAD CALL NAME  of the stream before: 0 computes, 1 communicates, 2 copies, 3 sets memory; and
//	                                                         the call that launched it, by its number among those of the thread
//	           | "reference" RANK THREAD CALL STREAM DEVICE EVENT RECORDED   what a call concerns: a stream (-2: without activities),
//	                                                         a device, the stream of an event and when that was recorded
//	           | "group" RANK* NAME
//	           | "collective" OPERATION GROUP ROOT           operations are numbered as in OTF2; its members follow, by rank in the group
//	           | "member" STREAM ACTIVITY SENT RECEIVED PLACE
//	           | "message" STREAM ACTIVITY PLACE STREAM ACTIVITY PLACE GROUP TAG SIZE SENT RECEIVED
//	           | "overlaps" N                                activities that began before the one before them had ended
//
// # Example
//
//	slackline trace 1
//	unit us
//	rank 0
//	0 main {
//	  0..30  compute
//	  30..32 MPI_Send: send to 1 size 8
//	  32..40 MPI_Barrier: barrier
//	} 40
//	rank 1
//	0 main {
//	  0..10  compute
//	  10..33 MPI_Recv: recv from 0 size 8    # waits for 20 us
//	  33..40 MPI_Barrier: barrier
//	} 40
//
// # What a reader rejects
//
// Anything else, with the line. A text has no valid part: whoever wrote it wants to know of the mistake.
const (
	textMagic   = "slackline trace"
	textVersion = "1"
)

var textFormat = Format{
	Name: "trace-text", Noun: "a trace as text", Info: "trace as text", Suffixes: []string{".trace"}, Text: true,
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(textMagic)) },
	read:  readText, keepsStreams: true,
	Stream: writeText,
}

// The words of the text, by their values.
var (
	textParadigms = []string{"user", "mpi", "openmp", "noise", "tool"}
	textRoles     = []string{"function", "p2p", "collective", "io", "rma", "parallel", "barrier", "implicit-barrier", "workshare"}
)

// splitWords cuts a line into words. Quotes are taken off; a colon at the end of a word and a semicolon are words
// of their own. Quoted words are marked, so that they are never taken for something else.
func splitWords(line string) (words []word, ok bool) {
	for {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" || line[0] == '#' {
			return words, true
		}
		if line[0] == ';' || line[0] == ':' {
			words = append(words, word{text: line[:1]})
			line = line[1:]
			continue
		}
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, false
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, false
			}
			words = append(words, word{text, true})
			line = line[len(quoted):]
			continue
		}
		end := strings.IndexAny(line, " \t\r;")
		if end < 0 {
			end = len(line)
		}
		if end > 1 && line[end-1] == ':' {
			end--
		}
		words = append(words, word{text: line[:end]})
		line = line[end:]
	}
}

// word is a word of a line.
type word struct {
	text   string
	quoted bool
}

// is reports whether a word is a keyword or a sign.
func (w word) is(text string) bool { return !w.quoted && w.text == text }

// appendWord appends a word, in quotes where that is needed.
func appendWord(b []byte, s string) []byte {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`";#{}`, r) }) ||
		s[len(s)-1] == ':' || s[0] == '@' || s[0] == ':' || s == "..." {
		return strconv.AppendQuote(b, s)
	}
	return append(b, s...)
}
