package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"slackline/internal/chunk"
	"slackline/model/trace/damage"
	"slackline/model/trace/streams"
)

// The format *.slt holds a trace as it is, nothing lost. It is a directory: the definitions, and one
// file for each location that left something. It is small, it is read at tens of millions of events a
// second on a core, and every byte of it is covered by a checksum.
//
//	NAME.slt/definitions.slt   what events refer to, the locations, where the trace comes from
//	NAME.slt/R-T.slt           the events of thread T of rank R
//	NAME.slt/streams.slt       what ran on accelerators, if something did: the records of trace-text.md, see below
//
// # Grammar
//
// Files are sequences of chunks as package internal/chunk has them. In their contents, uint is an
// unsigned LEB128 number of up to 64 bits, int is one in zigzag form (0, -1, 1, -2, ...), string is a
// uint with the length and the bytes. Times are in picoseconds.
//
//	definitions = header("SLTTRACE") DEFS* INDX trailer("SLTD")
//	events      = header("SLTEVENT") FROM EVTS* INDX trailer("SLTE")
//
//	FROM = run:8 bytes rank:uint thread:uint          whose events these are; since version 5
//
// A chunk DEFS is a sequence of records, each of which begins with a letter:
//
//	"p" ranks:uint created:int period:int resolution:int mpi:string tool:string machine:string
//	    callpaths:string count:uint count*string(command) count:uint count*string(launch)
//	"y" yield:string                                  the recorder made MPI give up the CPU while it waits; since version 2
//	"u" recording:string                              what chose when recording was on: window FROM..TO, or ring; since version 5
//	"v" missing:string                                JSON: what is missing of the run beside what its locations say; since version 6
//	"l" id:uint rank:uint thread:uint flags:uint events:uint name:string host:string
//	"o" time:int offset:int deviation:8 bytes         of the location before it; little-endian float64
//	"t" partner:uint sent:int answered:int back:int   of the location before it; partner by number
//	"r" paradigm:uint role:uint line:uint name:string file:string
//	"c" name:string                                   a communicator
//	"m" count:uint count*int                          members of the communicator before it; differences; -1: not recorded
//	"n" count:uint count*int                          of its remote group; differences
//	"s" parent:uint region:uint                       a stack; the first one, the empty stack, is left out
//	"g" comm:uint dims:uint dims*(size:uint periodic:uint)   a process grid
//	"x" count:uint count*int                          coordinates of the next rank in the grid before it
//	"w" comm:uint name:string                         a window; since version 3
//	"f" comm:uint name:string                         a file; since version 3
//	"k" name:string unit:string                       a metric that locations count; since version 4
//	"e" comm:uint rank:uint count:uint count*int count:uint count*int
//	                                                  neighbors of a rank of a communicator: in, out; -1: MPI_PROC_NULL; since version 3
//	"i" run:8 bytes                                   which run it is, the second record; since version 5
//	"d" length:uint sum:4 bytes                       the file of the location before it; since version 5
//	"a" length:uint sum:4 bytes                       the file of streams; without it there is none; since version 5
//
// The first record is "p". Locations, regions, communicators, stacks and grids are numbered in the
// order of their records. The flags of a location: 1 truncated, 2 missing: it has no file.
//
//	INDX of definitions = records:uint
//
// A chunk EVTS is up to 65,536 events as columns, independent of other chunks:
//
//	EVTS = events:uint time:int grain:uint lists:uint shapes:uint 6*length:uint columns
//
// time is that of the first event; all differences of times are multiples of grain. Events differ from
// each other in little but their time: a shape is everything else (without the request), and each shape
// is stored only once in a chunk. The columns are:
//
//	lists     counts by peer, each list once: count:uint count*int (differences)
//	shapes    the kind, a byte, and the fields that this kind uses, in this order: region:uint stack:uint
//	          peer:int comm:uint tag:int size:int op:uint root:int sent:int received:int list:uint
//	          (0: none, else the number of the list, from 1) object:uint (window, file, channel or metric) flag:byte
//	events    the number of the shape of each event: a byte if there are at most 256 shapes, else two
//	lengths   for every four events a byte: two bits each, from the lowest, with the length of the
//	          difference of their time from the event before: 1, 2, 3 or 8 bytes
//	times     the differences, divided by grain, in so many bytes, little-endian
//	requests  int for each event that has one: the difference from the request before it (from 0); the values of metrics are requests
//
//	INDX of events = count:uint count*(length:uint events:uint first:int last:int) sum:4 bytes
//
// The index names the chunks of events before it: length with its frame, number of events, first and last time. Its sum, since
// version 5, is the CRC of the CRCs of all chunks before it.
//
// The file of streams has chunks of records: a byte (0 host, 1 stream, 2 activity, 3 reference, 4 group, 5 collective, 6 member, 7 message,
// 8 overlaps), the numbers of the record, and a name, which is empty where the text has none:
//
//	streams = header("SLTSTRMS") STRM* INDX trailer("SLTS")
//	STRM    = (word:byte count:uint count*int name:string)*
//	INDX of streams = records:uint sum:4 bytes        sum: as that of events; since version 2 of streams
//
// # Which files belong together
//
// The number of the run is the FNV-1a hash (64 bits, little-endian) of the records "p", "y", "u", "v", "l", "o" and "t" as they were
// before the events were written: it depends on nothing but the trace, so that the same trace gives the same files. The definitions
// have the length of each other file and the CRC of its index, which stands for all of the file. A reader compares them before it reads
// any event. If they differ, or if the end of a file is lost, FROM tells whose file it is. Definitions without "i" are of a slackline
// before version 5, whose files have no FROM: they are read as they are.
//
// Version 2 of events has the kinds 27 to 29, what was skipped while recording was off; version 3 those of windows, files and
// partitioned messages; version 4 the values of metrics; version 5 says which files belong together.
//
// # What a reader rejects
//
// Another magic; a newer version (it names the version); a checksum that does not agree; lengths that do not
// add up; numbers out of range; references to what is not defined; times that decrease; an index
// that does not agree with the chunks; anything after the trailer. What came before is valid. A file
// without its end is a truncated one. A file of events or streams of another run, or of another location, is not read at all; nor
// is a file of streams that the definitions do not know.
const (
	sltDefinitions = "definitions.slt"
	sltSuffix      = ".slt"

	sltFrom  = "FROM"
	sltDefs  = "DEFS"
	sltEvts  = "EVTS"
	sltIndex = "INDX"

	sltBlock = 1 << 16 // events in a chunk
	sltPiece = 1 << 20 // the writer ends a chunk of definitions beyond this many bytes
)

var (
	sltDefsLayout  = chunk.Layout{Magic: "SLTTRACE", End: "SLTD", Version: 6, What: "slackline trace"}
	sltEventLayout = chunk.Layout{Magic: "SLTEVENT", End: "SLTE", Version: 5, What: "file of events of a slackline trace"}
)

// The columns of a chunk of events.
const (
	sltLists = iota
	sltShapes
	sltEvents
	sltLengths
	sltTimes
	sltRequests
	sltColumns
)

// The flags of a location.
const (
	sltTruncated = 1 << iota
	sltMissing
)

var sltFormat = Format{
	Name: "slt", Noun: "a slackline trace", Info: "slackline trace", Suffixes: []string{sltSuffix},
	Sniff: func(head []byte) bool { return sltDefsLayout.Is(head) },
	Main: func(names []string) string {
		first := sltFile(&Location{}) // of a trace without definitions, whose loss reading it will say
		if slices.Contains(names, sltDefinitions) || slices.Contains(names, first) {
			return sltDefinitions
		}
		return ""
	},
	parts: true, keepsStreams: true,
	read:   readSLT,
	Beside: func(_, other string) bool { return strings.HasSuffix(other, ".slt") },
	group:  &fileGroup{names: func(base string) []string { return []string{base} }, write: writeSLT},
}

// sltFile is the name of the file of a location.
func sltFile(l *Location) string { return fmt.Sprintf("%d-%d%s", l.Rank, l.Thread, sltSuffix) }

// readSLT opens a trace by its definitions.
func readSLT(src source, _ Options) (*Trace, error) {
	file, err := src.openShared(src.main)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: the definitions of the trace are missing, and its events are nothing without them; record it again", src.show)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &Trace{}
	var files sltFiles
	damage := readSLTDefinitions(file, &t.Definitions, &files, src.show)
	if damage != nil {
		if t.Ranks == 0 { // not even the first record
			return nil, damage
		}
		t.Warnings = append(t.Warnings, damage.Error()+"; definitions after it are lost")
	}
	if _, err := src.checkFiles(t, func(i int) fileCheck { return checkSLTFile(&src, &t.Locations[i], files.of(i)) }); err != nil {
		return nil, err
	}
	t.Open = func(i int) (EventReader, error) { return openSLTEvents(src, t, i) }
	if err := src.attachStreams(t, streams.Name, files.checkStreams); err != nil {
		return nil, err
	}
	return t, nil
}

// sltFiles are the files that belong to definitions.
type sltFiles struct {
	run     uint64 // 0: not known
	events  []chunk.Identity
	streams chunk.Identity // zero: there is none
}

// of returns what is known of the file of location i.
func (f *sltFiles) of(i int) sltOrigin {
	return sltOrigin{f.run, f.events[i]}
}

// checkStreams refuses a file of streams that is not the one of these definitions; nil: there is none.
func (f *sltFiles) checkStreams(file fs.File) error {
	switch none := f.streams.Length == 0; {
	case f.run == 0 || file == nil && none:
		return nil
	case file == nil:
		return errors.New("the file is missing; put the one of this run back")
	case none:
		return errors.New("the run has no streams of accelerators: the file is of another run; remove it")
	}
	at, ok := file.(io.ReaderAt)
	info, err := file.Stat()
	if !ok || err != nil {
		return err
	}
	id, err := streams.Identify(at, info.Size())
	if err == nil && id != f.streams {
		return errors.New("the file is of another run; put the one of this run back")
	}
	return nil // what is damaged turns out while reading
}

// sltOrigin is what tells the file of a location from others.
type sltOrigin struct {
	run uint64 // 0: not known
	chunk.Identity
}

// foreign reports why a file is not that of a location; empty if it is, or if that cannot be known. The error is that of its end.
func (o sltOrigin) foreign(file fs.File, at io.ReaderAt, size int64, l *Location) (why string, end error) {
	id, end := sltEventLayout.Identify(at, size)
	if end == nil && o.run != 0 && id == o.Identity {
		return "", nil
	}
	chunks, err := chunk.NewReader(file, &sltEventLayout, sltIndex)
	if err != nil {
		return "", end
	}
	defer chunks.Close()
	kind, raw, err := chunks.Next()
	if err != nil {
		return "", end
	}
	if kind != sltFrom {
		raw = nil
	}
	if why = o.differs(raw, l); why == "" && end == nil && o.Length != 0 {
		why = "it is of another version of this trace"
	}
	return why, end
}

// differs reports what the first chunk of a file, nil if it has none, says against its being that of a location.
func (o sltOrigin) differs(from []byte, l *Location) string {
	if (o.run == 0) != (from == nil) {
		return "it is of another run"
	}
	if from == nil {
		return ""
	}
	c := chunk.Column{B: from}
	run, rank, thread := c.Uint64(), c.Uint(), c.Uint()
	switch {
	case c.Bad || run != o.run:
		return "it is of another run"
	case rank != uint64(l.Rank) || thread != uint64(l.Thread):
		return fmt.Sprintf("it has those of %s", (&Location{Rank: int(rank), Thread: int(thread)}).describe())
	}
	return ""
}

// checkSLTFile finds out early that the file of a location is missing, truncated, or that of another one.
func checkSLTFile(src *source, l *Location, origin sltOrigin) (c fileCheck) {
	warn := func(format string, args ...any) fileCheck {
		c.Warnings = []string{fmt.Sprintf(format, args...)}
		return c
	}
	if l.Missing {
		return warn("%s: rank %d, thread %d left no events", src.show, l.Rank, l.Thread)
	}
	name := sltFile(l)
	file, err := src.open(name)
	if err != nil {
		c.Unreadable = fmt.Sprintf("%s: the events of %s cannot be read: %v", src.showBeside(name), l.describe(), damage.Reason(err))
		return c
	}
	defer file.Close()
	at, ok := file.(io.ReaderAt)
	info, err := file.Stat()
	if !ok || err != nil {
		return c // it will turn out while reading
	}
	if info.Size() == 0 {
		c.Unreadable = fmt.Sprintf("%s: the events of %s cannot be read: the file is empty", src.showBeside(name), l.describe())
		return c
	}
	why, err := origin.foreign(file, at, info.Size(), l)
	if why != "" {
		c.Unreadable = fmt.Sprintf("%s: this is not the file of %s of the run in %s: %s; put the right file back",
			src.showBeside(name), l.describe(), path.Base(src.show), why)
		return c
	}
	if err == nil {
		return c
	}
	c.Truncated = true
	return warn("%s: byte %d: the file is truncated or damaged; the events of rank %d, thread %d are read as far as they are whole",
		src.showBeside(name), info.Size(), l.Rank, l.Thread)
}

// unfinishedFormat is not a format of traces: it recognizes the raw files of a recorded run that was not completed, to report
// what to do with them.
var unfinishedFormat = Format{
	Name:  "raw",
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("slraw1\x00\x00")) },
	Main: func(names []string) string {
		for _, name := range names {
			var rank, thread int
			if n, _ := fmt.Sscanf(name, "r%d-t%d", &rank, &thread); n == 2 && strings.HasSuffix(name, ".evt") {
				return name
			}
		}
		return ""
	},
	Beside: func(_, other string) bool { return strings.HasSuffix(other, ".evt") },
	read: func(src source, _ Options) (*Trace, error) {
		return nil, &damage.Error{File: src.show, Offset: -1, What: fmt.Sprintf(
			"this is of a recorded run that was not completed; 'slackline record --recover %s' makes a trace of it", shellWord(path.Dir(src.show)))}
	},
}

// shellWord is a word as a shell reads it.
func shellWord(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:@%,") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
