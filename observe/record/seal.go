package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Whether raw files are whole, and of the run and thread that they are said to be of. Each has the number of its run, and checksums of
// what does not change any more: the head, chunks that are full, and at the end of a thread the last one. stream.c has the same.

// checksum is that of the words in b.
func checksum(b []byte, from uint64) uint64 {
	const factor = 0x9e3779b97f4a7c15
	le := binary.LittleEndian
	lane := [4]uint64{from, from + 1, from + 2, from + 3}
	for ; len(b) >= 32; b = b[32:] {
		for k := range lane {
			lane[k] = bits.RotateLeft64((lane[k]^le.Uint64(b[8*k:]))*factor, 29)
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		lane[0] = (lane[0] ^ le.Uint64(b)) * factor
	}
	sum := uint64(0)
	for _, l := range lane {
		sum = (sum^l)*factor ^ l>>32
	}
	return sum
}

const rawSealBits = 24 // of the seal of a chunk: the number of words

// sealOfHead is the checksum of a head.
func sealOfHead(page []byte) uint64 {
	le := binary.LittleEndian
	tail := page[rawPage-rawTail:]
	var first []byte
	word := func(w uint64) { first = le.AppendUint64(first, w) }
	word(le.Uint64(page[8:]))
	word(le.Uint64(page[16:]))
	word(uint64(le.Uint32(page[24:])))
	for _, at := range []int{32, 40, 48, 112, 120, 128, 136, 2016, rawPage - 16} {
		word(le.Uint64(page[at:]))
	}
	return checksum(page[144:2000], checksum(first, le.Uint64(tail)^le.Uint64(tail[8:])<<32))
}

// chunkIsWhole compares what was read of a chunk with its seal, if it has one.
func chunkIsWhole(chunk []byte) bool {
	le := binary.LittleEndian
	seal := le.Uint64(chunk[24:])
	n := int(seal & (1<<rawSealBits - 1))
	if seal == 0 {
		return true
	}
	end := rawChunkHead + 8*n
	return end <= len(chunk) && checksum(chunk[rawChunkHead:end], le.Uint64(chunk[8:]))>>rawSealBits == seal>>rawSealBits
}

// Fault is what is wrong with a raw file.
type Fault struct {
	Path string
	Err  error
	// Foreign: the file is not that of its name, or cannot be read. Nothing of it is used.
	Foreign bool
}

func (f Fault) Error() string {
	if text := f.Err.Error(); strings.Contains(text, f.Path) {
		return text
	}
	return fmt.Sprintf("%s: %v", f.Path, f.Err)
}

// foreignFiles returns an error that names the files which cannot be used, or nil.
func foreignFiles(faults []Fault) error {
	var list []error
	for _, f := range faults {
		if f.Foreign {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil
	}
	const most = 5
	text := ""
	for _, err := range list[:min(most, len(list))] {
		text += err.Error() + "; "
	}
	if len(list) > most {
		text += fmt.Sprintf("and %d more; ", len(list)-most)
	}
	return errors.New(text + "put the right files there, or move these away: their ranks are missing in the trace then")
}

// checkWhose returns an error if a file is not that of a thread of a run.
func (h *rawHead) checkWhose(run uint64, rank, thread int, definitions bool) error {
	switch {
	case run != 0 && h.version > 1 && h.run != run:
		return errors.New("is of another run")
	case h.rank != rank || h.version > 1 && h.thread != thread:
		return fmt.Errorf("is that of rank %d, thread %d", h.rank, h.thread)
	case h.definitions != definitions:
		return errors.New("its kind is not that of its name")
	}
	return nil
}

// gaps returns an error if chunks are missing. In a ring that is being written to, any may be.
func (r *rawFile) gaps(live bool) error {
	h := r.head
	if h.version < 2 || live && h.ring > 0 {
		return nil
	}
	for i, p := range r.order[min(1, len(r.order)):] {
		if p.sequence != r.order[i].sequence+1 {
			return fmt.Errorf("chunk %d is missing", r.order[i].sequence+1)
		}
	}
	switch n := len(r.order); {
	case n == 0:
		return errors.New("it has no chunk")
	case r.wrapped && h.ring == 0, r.wrapped && n < h.ring:
		return fmt.Errorf("chunk %d is missing", r.order[0].sequence-1)
	}
	return nil
}

// sealedAtEnd returns an error if the head of a thread that does not run any more says that it has ended, and its last chunk does not. The
// other way round is fine: a program may be killed between two chunks, or before the head is written.
func (r *rawFile) sealedAtEnd() error {
	if r.head.version < 2 || len(r.order) == 0 {
		return nil
	}
	last := make([]byte, rawChunkHead)
	if _, err := r.file.ReadAt(last, r.order[len(r.order)-1].offset); err != nil {
		return err
	}
	now := make([]byte, 8)
	if _, err := r.file.ReadAt(now, rawClosedAt); err != nil || binary.LittleEndian.Uint64(now) != r.head.closed {
		return err // another thread goes on with it
	}
	if r.head.closed != rawOpenEnd && binary.LittleEndian.Uint64(last[24:]) == 0 {
		return errors.New("its head says that the thread has ended, its last chunk does not")
	}
	return nil
}

// rankFaults finds what is wrong with the threads of one rank together: they are those of one process, and all are there.
func rankFaults(list []*threadFiles) []Fault {
	var faults []Fault
	first := list[0]
	for _, f := range list[1:] {
		if f.head.pid != first.head.pid || f.head.host != first.head.host {
			faults = append(faults, Fault{f.events, fmt.Errorf("is of process %d on %s, but %s of process %d on %s", f.head.pid, f.head.host,
				first.events, first.head.pid, first.head.host), true})
		}
	}
	has := func(thread int) bool {
		return slices.ContainsFunc(list, func(f *threadFiles) bool { return f.thread == thread })
	}
	switch want := int(first.head.threads) - int(first.head.refused); {
	case !has(0):
		faults = append(faults, Fault{first.events, fmt.Errorf("the files of thread 0 of rank %d are missing", first.rank), false})
	case first.head.version > 1 && !first.live && len(list) < want:
		err := fmt.Errorf("rank %d had %d threads, the files of %d are missing", first.rank, want, want-len(list))
		faults = append(faults, Fault{first.events, err, false})
	}
	return faults
}

// checkChunk compares the chunk that was read with its seal. Those before the newest one are sealed as a whole.
func (r *rawFile) checkChunk(used int64, p place) {
	if r.head.version < 2 || used < rawChunkHead {
		return
	}
	seal := binary.LittleEndian.Uint64(r.chunk[24:])
	newest := len(r.order) == 1
	whole := int64(seal&(1<<rawSealBits-1))*8+rawChunkHead == used
	now := make([]byte, rawChunkHead)
	if chunkIsWhole(r.chunk[:used]) && (newest || whole) {
		return
	}
	if _, err := r.file.ReadAt(now, p.offset); err == nil && !slices.Equal(now, r.chunk[:rawChunkHead]) {
		return // the program has written to it meanwhile
	}
	r.found(errSeal)
}

// leastWords are the words that records of each kind have at least.
var leastWords = map[uint16]int{
	rawSend: 4, rawRecv: 3, rawPost: 4, rawSendrecv: 5, rawComplete: 1, rawStart: 1, rawCancel: 1, rawCollective: 4, rawNewComm: 1,
	rawFreeComm: 1, rawEnter: 1, rawLeave: 1, rawRegionEnter: 1, rawRegionLeave: 1, rawOMP: 1, rawNoCPU: 1, rawWindow: 4, rawFileOp: 3,
}

// odd returns an error if a record of events makes no sense: in the last chunk of a thread that was killed nothing else tells that it is
// damaged. Calls, functions and regions follow one another; samples, waits in the system and what OpenMP reports may come late.
func (r *rawFile) odd(rec *rawRecord) error {
	known := rec.kind < rawDefPath || rec.kind == rawSkips || rec.kind >= rawNoCPU && rec.kind <= rawThreadEnd || rec.kind == rawWindow ||
		rec.kind == rawFileOp
	if !known || rec.enter <= 0 || rec.enter < r.head.start || rec.leave < rec.enter && rec.leave != 0 || !rec.open &&
		rec.words() < leastWords[rec.kind] {
		return errRecord
	}
	if rec.isCall() || rec.kind >= rawEnter && rec.kind <= rawRegionLeave {
		last, same := max(r.before.enter, r.before.leave), rec.enter == r.before.enter && rec.leave == r.before.leave // a call goes on
		r.before = rawRecord{enter: rec.enter, leave: rec.leave}
		if rec.enter < last && !same {
			return errRecord
		}
	}
	return nil
}
