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

// Numbers of the collective operations on a file. No two that are under way have the same, on any thread.
const (
	wholeNumber   = iota // it ends in the call that begins it
	splitNumber          // a file has one that another call ends, at most
	requestNumber        // and more, by its request: one that the completion of the request ends
)

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
	request, number := rec.word(2), uint64(wholeNumber)
	switch {
	case c.file == beginsFileOp && request != 0:
		number = requestNumber + request
	case c.file == beginsFileOp || c.file == endsFileOp:
		number = splitNumber
	}
	e := trace.Event{Object: f.number}
	switch c.file {
	case wholeFileOp, beginsFileOp:
		begin := e
		begin.Kind, begin.Request, begin.Size = trace.FileBegin, number, int64(rec.word(1))
		s.put(enter, begin)
	}
	switch {
	case rec.open:
		return
	case c.file == opensFile:
		e.Kind = trace.FileOpen
	case c.file == closesFile:
		e.Kind = trace.FileClose
	case number >= requestNumber:
		s.began(request)
		s.unnamed(request)
		return
	case c.file == beginsFileOp && !s.splitsAtBegin || c.file == endsFileOp && s.splitsAtBegin:
		return
	default:
		e.Kind, e.Request = trace.FileEnd, number
	}
	s.put(leave, e)
}

// fileDone gives the event of a completed request of an operation on a file, which another thread may have begun.
func (s *eventStream) fileDone(leave int64, file uint32, request uint64) {
	if f, known := s.objects[file]; known && !s.lost[file] {
		s.put(leave, trace.Event{Kind: trace.FileEnd, Object: f.number, Request: requestNumber + request})
	}
}
