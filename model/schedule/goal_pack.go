package schedule

import (
	"bytes"
	"io"
	"sync/atomic"

	"slackline/internal/parallel"
)

// packGOAL is ReadGOAL for a program that is only run. Each block is packed when it ends, so that the operations of one
// rank are in memory at a time. Threads read parts of the file, which are cut where a line begins with the word rank;
// whether a block begins there turns out when the part before it has been read. If it does not, if the ranks are not in
// ascending order, or if anything is wrong, one thread reads the file again, and finds the first error.
func packGOAL(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error) {
	data, err := o.readWhole(name, file, size)
	if err != nil {
		return nil, err
	}
	head := newGOALReader(name, data)
	if !head.header() {
		return nil, head.err
	}
	o.used = new(atomic.Int64)
	parts := head.cut(o.parts())
	fine := make([]bool, len(parts))
	parallel.Each(len(parts), o.Threads, func(i int) {
		fine[i] = parts[i].readBlocks() && o.check(name, parts[i].pack) == nil
	})
	last := int32(-1) // rank
	for i, r := range parts {
		n := len(r.blockRanks)
		if !fine[i] || len(parts) > 1 && (r.descending || n > 0 && r.blockRanks[0] <= last) {
			return packGOALInOrder(name, data, o)
		}
		if n > 0 {
			last = r.blockRanks[n-1]
		}
	}
	return packedGOAL(name, head.ranks, parts), nil
}

// packGOALInOrder reads a file from beginning to end.
func packGOALInOrder(name string, data []byte, o PackOptions) (*Packed, error) {
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

// cut cuts what follows the header into parts of about the same size, for a reader each.
func (r *goalReader) cut(parts int) (readers []*goalReader) {
	line := r.line
	for from, i := r.at, 1; from < len(r.data) || i == 1; i++ {
		to := max(from, r.at+(len(r.data)-r.at)/parts*i)
		if at := bytes.Index(r.data[to:], []byte("\nrank ")); at >= 0 && i < parts {
			to += at + 1
		} else {
			to = len(r.data)
		}
		part := newGOALReader(r.names.File, r.data[from:to])
		part.line, part.ranks, part.pack = line, r.ranks, &packer{total: int32(r.ranks)}
		readers = append(readers, part)
		line += bytes.Count(r.data[from:to], []byte{'\n'})
		from = to
	}
	return readers
}

// packBlock gives the block that ends to the packer, and forgets it.
func (r *goalReader) packBlock(first []uint32, dependents []Dependent) {
	r.pack.begin(r.rank)
	if len(r.ops) > 0 {
		r.pack.add(r.ops, first, dependents)
	}
	r.ops, r.first, r.dependents = r.ops[:0], r.first[:0], r.dependents[:0]
}
