package schedule

import (
	"bytes"
	"io"
	"slices"
	"sync/atomic"

	"slackline/internal/parallel"
)

// packGOAL is ReadGOAL for a program that is only run. Each block is packed when it ends, so that the operations of one
// rank are in memory at a time, and a few MiB of the text on each thread. Threads read parts of the file, which are cut where a
// line begins with the word rank; whether a block begins there turns out when what is before it has been read. If it does not, if
// the ranks are not in ascending order, or if anything is wrong, one thread reads the whole file again, and finds the first error.
func packGOAL(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error) {
	head := make([]byte, min(size, goalHead))
	if err := readFull(file, head, 0); err != nil {
		return nil, &FileError{File: name, What: err.Error()}
	}
	r := newGOALReader(name, head)
	if !r.header() || r.at == len(head) && size > goalHead {
		return packGOALInOrder(name, file, size, o)
	}
	ends := cutGOAL(file, int64(r.at), size, o.parts())
	o.used = new(atomic.Int64)
	parts, fine := make([]*goalReader, len(ends)), make([]bool, len(ends))
	parallel.Each(len(ends), o.Threads, func(i int) {
		part, from := newGOALReader(name, nil), int64(r.at)
		if part.line = r.line; i > 0 {
			from, part.line = ends[i-1], 0
		}
		part.ranks, part.pack = r.ranks, &packer{total: int32(r.ranks)}
		parts[i], fine[i] = part, part.readRange(file, from, ends[i], o.buffer()) && o.check(name, part.pack) == nil
	})
	last, line := int32(-1), 0 // rank, and lines before the part
	for i, part := range parts {
		n := len(part.blockRanks)
		if !fine[i] || len(parts) > 1 && (part.descending || n > 0 && part.blockRanks[0] <= last) {
			return packGOALInOrder(name, file, size, o)
		}
		if n > 0 {
			last = part.blockRanks[n-1]
		}
		if i > 0 {
			for at := range part.names.line {
				part.names.line[at] = lineNumber(int(part.names.line[at]) + line)
			}
		}
		line += part.line
	}
	return packedGOAL(name, r.ranks, parts), nil
}

const (
	goalHead   = 1 << 16 // the number of ranks is expected in so many bytes
	goalBuffer = 8 << 20 // of the text on each thread; more for a longer rank
)

// buffer is how many bytes of a text a thread has in memory.
func (o *PackOptions) buffer() int {
	if o.text > 0 {
		return o.text
	}
	return goalBuffer
}

// beginOfRank is where a text is cut, after its first byte.
var beginOfRank = []byte("\nrank ")

// cutGOAL cuts a part of a file into parts of about the same size, and returns their ends.
func cutGOAL(file io.ReaderAt, from, size int64, parts int) (ends []int64) {
	window := make([]byte, goalHead)
	for i := 1; i < parts; i++ {
		for at := from + (size-from)/int64(parts)*int64(i); at < size; at += int64(len(window) - len(beginOfRank)) {
			n, _ := file.ReadAt(window, at)
			if found := bytes.Index(window[:n], beginOfRank); found >= 0 {
				if end := at + int64(found) + 1; len(ends) == 0 || end > ends[len(ends)-1] {
					ends = append(ends, end)
				}
				break
			}
		}
	}
	return append(ends, size)
}

// readRange reads the blocks of a part of a file, with so many bytes of it in memory at a time, or as many as a rank has.
func (r *goalReader) readRange(file io.ReaderAt, from, to int64, room int) bool {
	r.total = int(to - from)
	text := make([]byte, 0, min(int64(room), to-from))
	for {
		have := len(text)
		text = text[:min(int64(cap(text)), int64(have)+to-from)]
		if readFull(file, text[have:], from) != nil {
			return false
		}
		from += int64(len(text) - have)
		r.data, r.at = text, 0
		if from < to {
			end := bytes.LastIndex(text, beginOfRank) + 1
			if end == 0 {
				text = slices.Grow(text, cap(text))
				continue
			}
			r.data = text[:end]
		}
		if !r.readBlocks() || from == to {
			return from == to && r.err == nil
		}
		r.before += len(r.data)
		text = text[:copy(text, text[len(r.data):])]
	}
}

// packGOALInOrder reads a file from beginning to end.
func packGOALInOrder(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error) {
	data, err := o.readWhole(name, file, size)
	if err != nil {
		return nil, err
	}
	r := newGOALReader(name, data)
	if !r.header() {
		return nil, r.err
	}
	if r.pack = (&packer{total: int32(r.ranks)}); !r.readBlocks() {
		return nil, r.err
	}
	o.used = new(atomic.Int64)
	if err := o.check(name, r.pack); err != nil {
		return nil, err
	}
	return packedGOAL(name, r.ranks, []*goalReader{r}), nil
}

// packedGOAL puts what readers have packed together.
func packedGOAL(name string, ranks int, parts []*goalReader) *Packed {
	packers := make([]*packer, len(parts))
	for i, r := range parts {
		r.dropEmptyLabels()
		packers[i] = r.pack
		packers[i].names = r.names
	}
	p := &Packed{file: name, shape: Shape{CPUs: 1, NICs: 1}}
	p.take(ranks, packers)
	return p
}

// packBlock gives the block that ends to the packer, and forgets it.
func (r *goalReader) packBlock(first []uint32, dependents []Dependent) {
	r.pack.begin(r.rank)
	if len(r.ops) > 0 {
		r.pack.add(r.ops, first, dependents)
	}
	r.ops, r.first, r.dependents = r.ops[:0], r.first[:0], r.dependents[:0]
}
