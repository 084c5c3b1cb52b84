package record

import (
	"strings"

	"slackline/model/trace"
)

// fileCall says what a function does with a file.
type fileCall uint8

const (
	_ fileCall = iota
	opensFile
	closesFile
	wholeFileOp  // a collective operation that ends with its call
	beginsFileOp // one that another call ends: MPI_File_write_all_end, or one that completes its request
	endsFileOp
)

// fileCallOf tells what a function does with a file, and the class of its wrapper, as in files.h; false if it is no collective operation.
func fileCallOf(name string) (fileCall, string, bool) {
	name, isFile := strings.CutPrefix(strings.TrimSuffix(name, "_c"), "File_")
	if !isFile {
		return 0, "", false
	}
	switch name {
	case "open":
		return opensFile, "file_open", true
	case "close":
		return closesFile, "file_close", true
	case "set_view", "set_size", "preallocate", "sync", "seek_shared", "set_atomicity":
		return wholeFileOp, "file", true
	}
	operation, ends := strings.CutSuffix(name, "_end")
	operation, begins := strings.CutSuffix(operation, "_begin")
	if !strings.HasSuffix(operation, "_all") && !strings.HasSuffix(operation, "_ordered") {
		return 0, "", false
	}
	switch {
	case ends:
		return endsFileOp, "file", true
	case begins:
		return beginsFileOp, "file_data", true
	case operation[0] == 'i':
		return beginsFileOp, "ifile_data", true
	}
	return wholeFileOp, "file_data", true
}

// fileOp is a collective operation on a file that was begun and not ended.
type fileOp struct {
	file   uint32 // in the trace
	number uint64
}

// fileState is what is known of the operations of a location on files.
type fileState struct {
	count    map[uint32]uint64 // operations so far, by file
	split    map[uint32]uint64 // number of the one that a call ..._end ends, by file
	requests map[uint64]fileOp
	atBegin  bool // split operations end in the calls that begin them
}

// splitsAtBegin reports whether an MPI library does all of a split operation in the call that begins it, as ROMIO does in MPICH and the
// libraries made from it. The call that ends it then waits for no other rank.
func splitsAtBegin(library string) bool {
	return strings.Contains(library, "MPICH") || strings.Contains(library, "Intel(R) MPI")
}

// onFile gives the events of a call on a file.
func (s *eventStream) onFile(enter, leave int64, rec *rawRecord, c *mpiCall) {
	id := uint32(rec.word(0))
	f, known := s.objects[id]
	if !known || s.lost[id] {
		return
	}
	e := trace.Event{Object: f.number}
	switch c.file {
	case wholeFileOp, beginsFileOp:
		s.files.count[f.number]++
		e.Kind, e.Request, e.Size = trace.FileBegin, s.files.count[f.number], int64(rec.word(1))
		s.put(enter, e)
		e.Size = 0
	case endsFileOp:
		number, begun := s.files.split[f.number]
		if !begun {
			return
		}
		delete(s.files.split, f.number)
		e.Request = number
	}
	request := rec.word(2)
	switch {
	case rec.open:
		return
	case c.file == opensFile:
		e.Kind = trace.FileOpen
	case c.file == closesFile:
		e.Kind = trace.FileClose
	case c.file == beginsFileOp && request == 0 && !s.files.atBegin:
		s.files.split[f.number] = e.Request
		return
	case c.file == beginsFileOp && request != 0:
		s.began(request)
		s.unnamed(request)
		s.files.requests[request] = fileOp{f.number, e.Request}
		return
	default:
		e.Kind = trace.FileEnd
	}
	s.put(leave, e)
}

// fileDone gives the event of a completed request of an operation on a file. If another thread began it, its end is not known there.
func (s *eventStream) fileDone(leave int64, request uint64) {
	if op, ok := s.files.requests[request]; ok {
		delete(s.files.requests, request)
		s.put(leave, trace.Event{Kind: trace.FileEnd, Object: op.file, Request: op.number})
	}
}
