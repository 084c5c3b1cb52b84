package record

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"syscall"

	"slackline/internal/source"
	"slackline/observe/counters"
)

// The recorder writes, for each thread, a file of events and one of definitions. Both are a head of one page and
// chunks of records in the byte order of the machine (little-endian); core.h has the layout.

// The kinds of records, as in core.h.
const (
	rawCall = iota + 1
	rawSend
	rawRecv
	rawPost
	rawSendrecv
	rawComplete
	rawStart
	rawCancel
	rawCollective
	rawNewComm
	rawFreeComm
	rawSample
	rawSpan
	rawEnter
	rawLeave
	rawRegionEnter
	rawRegionLeave
	rawOMP
	rawPing
	rawOff
	rawOn
	rawProgramBegin
	rawProgramEnd
	rawDefPath
	rawDefComm
	rawDefCart
	rawDefName
	rawDefModules
	rawSkips
	rawLate
	rawDefCode
)

// Facts about a thread.
const (
	rawNoCPU = iota + 40
	rawThreadBegin
	rawThreadEnd
)

// Windows and files.
const (
	rawWindow = iota + 50
	rawFileOp
	rawDefWindow
	rawDefFile
)

// Further definitions.
const (
	rawDefNeighbors = iota + 60
	rawDefCounts
)

const (
	rawMagic      = 0x317761726c73
	rawChunkMagic = 0x6b6e756863736c
	rawVersion    = 2
	rawPage       = 4096
	rawChunkHead  = 32
	rawHeadWords  = 4
	rawClosedAt   = 64 // where the head says how the thread ended
	rawTail       = 48 // bytes at the end of the page of the head; version 1 had the last 24 of them
	rawUnkept     = 2048
	rawLeastChunk = 1 << 10
	rawMostChunk  = 1 << 26
)

// rawHead is the head of a raw file.
type rawHead struct {
	version, rank, ranks         int
	thread, threads              int    // threads: of its process so far, of thread 0
	run                          uint64 // the number of the run
	ring                         int    // chunks of a ring; 0: it is none
	base                         int    // the first rank of its world
	chunkSize                    int
	definitions                  bool
	start, wall                  int64 // ns; wall is the time of day of the head's writing
	period                       int64 // ns
	closed                       uint64
	lost, bytes, samples         uint64
	self                         uint64
	yields                       bool   // MPICH was made to yield
	waited                       int64  // ns without a CPU
	refused                      uint64 // threads that could not be recorded
	host, boot, library, program string
	clockCost                    int64         // ns between two readings of the clock
	failure                      syscall.Errno // why there was no room; 0: the limit of size
	pid                          int
	exited                       bool            // by itself, without MPI_Finalize
	unkept                       *rawRecord      // the last one that was not kept, if its call goes on
	counters                     []syscall.Errno // by event that is to be counted: why it is not; 0: it is
	countingEnded                bool            // they were not counted all of the time
}

// How a thread's file was closed.
const (
	rawOpenEnd = iota // not at all
	rawClosed
	rawFull // there was no room
)

// full reports whether recording stopped because there was no room.
func (h *rawHead) full() bool { return h.closed == rawFull || h.closed == rawOpenEnd && h.lost > 0 }

var (
	errRaw    = errors.New("not a file of the recorder")
	errBegun  = errors.New("has no head yet: its rank is just beginning, ended at that, or the file is damaged")
	errCut    = errors.New("is cut off")
	errRecord = errors.New("has a damaged record; what follows it in its chunk is lost")
	errSeal   = errors.New("has a chunk that does not match its checksum")
)

// found keeps the first thing that is wrong.
func (r *rawFile) found(err error) {
	if r.damage == nil {
		r.damage = err
	}
}

func parseRawHead(b []byte) (*rawHead, error) {
	le := binary.LittleEndian
	switch {
	case len(b) < rawPage || le.Uint64(b) != rawMagic && le.Uint64(b) != 0:
		return nil, errRaw
	case le.Uint64(b) == 0:
		return nil, errBegun
	}
	version, tail := le.Uint64(b[8:]), rawTail
	switch {
	case version == 1:
		tail = 24
	case version != rawVersion:
		return nil, fmt.Errorf("%w of this version (%d, want %d)", errRaw, version, rawVersion)
	case sealOfHead(b) != le.Uint64(b[rawPage-rawTail+16:]):
		return nil, fmt.Errorf("%w: its head does not match its checksum", errRaw)
	}
	h := &rawHead{
		version: int(version), thread: int(le.Uint32(b[24:])), threads: int(le.Uint32(b[28:])),
		rank: int(le.Uint32(b[16:])), ranks: int(le.Uint32(b[20:])),
		chunkSize: int(le.Uint32(b[32:])), definitions: le.Uint32(b[36:]) != 0,
		start: int64(le.Uint64(b[40:])), wall: int64(le.Uint64(b[48:])), period: int64(le.Uint64(b[56:])),
		closed: le.Uint64(b[rawClosedAt:]), lost: le.Uint64(b[72:]), bytes: le.Uint64(b[80:]), samples: le.Uint64(b[96:]),
		yields: le.Uint64(b[128:]) != 0, waited: int64(le.Uint64(b[2000:])), refused: le.Uint64(b[2008:]), base: int(le.Uint64(b[2016:])),
		pid: int(le.Uint64(b[112:])), self: le.Uint64(b[136:]),
		exited: le.Uint64(b[rawPage-24:]) != 0, clockCost: int64(le.Uint64(b[rawPage-16:])), failure: syscall.Errno(le.Uint64(b[rawPage-8:])),
	}
	for _, why := range b[2024 : 2024+min(le.Uint32(b[2040:]), counters.Most)] {
		h.counters = append(h.counters, syscall.Errno(why))
	}
	h.countingEnded = le.Uint32(b[2044:]) != 0
	text := b[144:]
	for _, field := range []struct {
		to   *string
		size int
	}{{&h.host, 256}, {&h.boot, 64}, {&h.library, 512}, {&h.program, 1024}} {
		*field.to = cString(text[:field.size])
		text = text[field.size:]
	}
	if version > 1 {
		h.run, h.ring = le.Uint64(b[rawPage-rawTail:]), int(le.Uint64(b[rawPage-rawTail+8:]))
	}
	var unkept rawRecord
	if from := b[rawUnkept : rawPage-tail]; parseRecord(&from, &unkept) && unkept.leave == 0 && unkept.enter != 0 {
		unkept.open = true
		h.unkept = &unkept
	}
	if h.chunkSize < rawLeastChunk || h.chunkSize > rawMostChunk || h.ranks < 1 || h.rank < 0 || h.rank >= h.ranks || h.period < 0 ||
		h.closed > rawFull {
		return nil, fmt.Errorf("%w: its head makes no sense", errRaw)
	}
	return h, nil
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// rawRecord is a record. Its data are valid until the next one is read.
type rawRecord struct {
	kind, function uint16
	path, count    uint32
	enter, leave   int64 // ns
	data           []byte
	counted        []byte // what was counted: of a call, at its begin and at its end
	open           bool   // it was begun and not finished
	again          bool   // a test or probe after an unsuccessful one, and nothing was done since
}

// subtract takes the cost of reading the clock from the duration of a call of MPI.
func (r *rawRecord) subtract(cost int64) {
	if (r.kind <= rawFreeComm || r.kind == rawWindow || r.kind == rawFileOp) && r.leave > r.enter && cost > 0 {
		r.enter += min(cost, r.leave-r.enter)
	}
}

func (r *rawRecord) words() int { return len(r.data) / 8 }

// word returns word i of the data, 0 if there are fewer.
func (r *rawRecord) word(i int) uint64 {
	if i < 0 || 8*i+8 > len(r.data) {
		return 0
	}
	return binary.LittleEndian.Uint64(r.data[8*i:])
}

// countedAt are the values at the start (0) or the end (1) of a call; of anything else, those at its time.
func (r *rawRecord) countedAt(end int) []byte {
	if !r.isCall() {
		return r.counted
	}
	half := len(r.counted) / 16 * 8
	return r.counted[end*half : (end+1)*half]
}

// list returns n words from word i on.
func (r *rawRecord) list(i, n int) []uint64 {
	list := make([]uint64, n)
	for k := range list {
		list[k] = r.word(i + k)
	}
	return list
}

// bytes returns the sizes from word i on; nil if there are none.
func (r *rawRecord) bytes(i int) []int64 {
	var list []int64
	for ; i < r.words(); i++ {
		list = append(list, int64(r.word(i)))
	}
	return list
}

func (r *rawRecord) high(i int) int32 { return int32(r.word(i) >> 32) }
func (r *rawRecord) low(i int) int32  { return int32(uint32(r.word(i))) }

// place is where a chunk lies.
type place struct {
	sequence uint64
	offset   int64
}

// rawFile reads the records of a raw file in order.
type rawFile struct {
	head    *rawHead
	file    io.ReaderAt
	order   []place // of the chunks, oldest first
	chunk   []byte
	rest    []byte    // of the valid part of the chunk
	behind  []byte    // what follows the valid part
	wrapped bool      // older chunks were overwritten
	oldest  uint64    // number of the oldest chunk, + 1; 0: it is empty
	damage  error     // what is wrong with it, if that was found; what can be read is
	before  rawRecord // the last record of those whose times are in order
}

func openRaw(path string) (*rawFile, io.Closer, error) {
	f, err := source.Kept(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	r, err := newRawFile(f, info.Size())
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, f, nil
}

func newRawFile(file io.ReaderAt, size int64) (*rawFile, error) {
	page := make([]byte, rawPage)
	switch n, err := file.ReadAt(page, 0); {
	case n == 0 && err == io.EOF:
		return nil, errBegun
	case err == io.EOF:
		return nil, fmt.Errorf("%w: its head is cut off", errRaw)
	case err != nil:
		return nil, err
	}
	head, err := parseRawHead(page)
	if err != nil {
		return nil, err
	}
	r := &rawFile{head: head, file: file}
	var places []place
	begin := make([]byte, rawChunkHead)
	for at := int64(rawPage); at+rawChunkHead <= size; at += int64(head.chunkSize) {
		if _, err := file.ReadAt(begin, at); err == io.EOF { // it is shorter now
			break
		} else if err != nil {
			return nil, err
		}
		if binary.LittleEndian.Uint64(begin) == rawChunkMagic {
			places = append(places, place{binary.LittleEndian.Uint64(begin[8:]), at})
		}
	}
	// The chunk that is written to is at the first place until it is full; then a copy of it goes behind the others. For a moment
	// there are both.
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.sequence, b.sequence), cmp.Compare(b.offset, a.offset))
	})
	places = slices.CompactFunc(places, func(a, b place) bool { return a.sequence == b.sequence })
	r.order = places
	if size < rawPage+int64(head.chunkSize) {
		r.damage = errCut
	}
	if len(places) > 0 {
		r.wrapped = places[0].sequence > 0
		if _, err := file.ReadAt(begin, places[0].offset); err == nil && binary.LittleEndian.Uint64(begin[16:]) > rawChunkHead {
			r.oldest = places[0].sequence + 1
		}
	}
	return r, nil
}

// next reads the next record; io.EOF at the end. A record that makes no sense ends its chunk.
func (r *rawFile) next(rec *rawRecord) error {
	for {
		left := len(r.rest)
		if parseRecord(&r.rest, rec) {
			if !r.head.definitions {
				r.found(r.odd(rec))
			}
			rec.subtract(r.head.clockCost)
			return nil
		}
		if left > 0 {
			r.found(errRecord)
		}
		if len(r.order) == 0 {
			behind := r.behind
			r.behind = nil
			if parseRecord(&behind, rec) && rec.leave == 0 && rec.enter != 0 {
				rec.open = true
				return nil
			}
			return io.EOF
		}
		if err := r.nextChunk(); err != nil {
			return err
		}
	}
}

// mostBehind is how much of what follows the valid part of the last chunk is read: a record that was begun.
const mostBehind = 1 << 16

func (r *rawFile) nextChunk() error {
	p := r.order[0]
	used, n, err := r.readChunk(p.offset)
	if err != nil {
		return err
	}
	// The program may have filled the chunk meanwhile: then it is written to anew, and its copy is there.
	copied := int64(rawPage) + int64(p.sequence+1)*int64(r.head.chunkSize)
	if r.sequenceAt(p.offset) != p.sequence && r.sequenceAt(copied) == p.sequence {
		if used, n, err = r.readChunk(copied); err != nil {
			return err
		}
	}
	r.checkChunk(used, p)
	r.order = r.order[1:]
	r.rest, r.behind = r.chunk[min(rawChunkHead, used):used], r.chunk[used:n]
	return nil
}

// sequenceAt is the number of the chunk at an offset.
func (r *rawFile) sequenceAt(offset int64) uint64 {
	begin := make([]byte, rawChunkHead)
	if _, err := r.file.ReadAt(begin, offset); err != nil || binary.LittleEndian.Uint64(begin) != rawChunkMagic {
		return math.MaxUint64
	}
	return binary.LittleEndian.Uint64(begin[8:])
}

// readChunk reads the chunk at an offset; it returns how many bytes of it are valid, and how many were read.
func (r *rawFile) readChunk(offset int64) (used, n int64, err error) {
	begin := make([]byte, rawChunkHead)
	if _, err := r.file.ReadAt(begin, offset); err != nil && err != io.EOF {
		return 0, 0, err
	}
	used = int64(binary.LittleEndian.Uint64(begin[16:]))
	most := int64(r.head.chunkSize)
	if used < rawChunkHead || used > most {
		if used != 0 { // it is just being begun
			r.found(errRecord)
		}
		used = rawChunkHead
	}
	length := used
	if len(r.order) == 1 {
		length = min(used+mostBehind, most)
	}
	if int64(cap(r.chunk)) < length {
		r.chunk = make([]byte, max(length, min(2*length, most)))
	}
	read, err := r.file.ReadAt(r.chunk[:length], offset)
	if err != nil && err != io.EOF {
		return 0, 0, err
	}
	if int64(read) < used {
		r.found(errCut)
	}
	return min(used, int64(read)), int64(read), nil
}

func parseRecord(from *[]byte, rec *rawRecord) bool {
	b := *from
	if len(b) < rawHeadWords*8 {
		return false
	}
	le := binary.LittleEndian
	const lengthBits = 24
	words := uint64(le.Uint32(b[4:])) & (1<<lengthBits - 1)
	kind, counted := le.Uint16(b), uint64(le.Uint32(b[4:]))>>lengthBits
	if kind == 0 || words < rawHeadWords+counted || words*8 > uint64(len(b)) {
		*from = nil
		return false
	}
	*rec = rawRecord{
		kind: kind, function: le.Uint16(b[2:]), path: le.Uint32(b[8:]), count: le.Uint32(b[12:]),
		enter: int64(le.Uint64(b[16:])), leave: int64(le.Uint64(b[24:])), data: b[rawHeadWords*8 : (words-counted)*8],
		counted: b[(words-counted)*8 : words*8],
	}
	const again = 1 << 31
	switch kind {
	case rawComplete, rawCall, rawWindow:
		rec.again, rec.count = rec.count&again != 0, rec.count&^again
	}
	*from = b[words*8:]
	return true
}
