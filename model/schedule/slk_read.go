package schedule

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"slackline/internal/chunk"
	"slackline/internal/plain"
)

// ReadSLK reads an slk file into memory. The name is for messages. A truncated file is an error; see
// ReadSLKPrefix.
func ReadSLK(name string, data []byte) (*Graph, error) {
	r, err := readSLK(name, data, nil, nil)
	if err != nil {
		return nil, err
	}
	return r.finish(), nil
}

// readSLK reads an slk file. Ranks that are whole are packed, if a packer is given, and then dropped from the graph; room
// refuses those that need too much memory.
func readSLK(name string, data []byte, k *packer, room func() error) (*slkReader, error) {
	r, err := newSLKReader(data)
	if err == nil {
		r.pack, r.room = k, room
		err = r.run()
	}
	if err == nil {
		return r, nil
	}
	if wrong := (&FileError{}); errors.As(err, &wrong) {
		return nil, err
	}
	if errors.Is(err, chunk.ErrTruncated) && r != nil && r.g != nil {
		err = fmt.Errorf("%w: %s", err, r.missing())
	}
	return nil, r.wrap(name, err)
}

// slkReader is the state of reading a file.
type slkReader struct {
	data   []byte
	at     int // where the current chunk begins
	unzip  *chunk.Unzip
	raw    []byte
	chunks []slkChunkInfo
	pack   *packer // nil: the graph keeps all
	room   func() error
	packed int       // ranks that are packed and dropped
	gone   blockInfo // how much of the graph that was,
	blocks int       // and how many blocks
	slkDecoder
}

// slkChunkInfo is what the index says of a chunk.
type slkChunkInfo struct {
	kind               string
	length, ranks, ops uint64
}

// wrap gives an error the name of the file and the position of the current chunk.
func (r *slkReader) wrap(name string, err error) error {
	at := 0
	if r != nil {
		at = r.at
	}
	return &FileError{File: name, What: fmt.Sprintf("byte %d: %v", at, err)}
}

// missing names the ranks that are whole.
func (r *slkReader) missing() string {
	whole := r.packed + len(r.g.steps) - 1
	switch whole {
	case 0:
		return fmt.Sprintf("none of the %d ranks is whole", r.table.ranks)
	case 1:
		return fmt.Sprintf("only rank 0 of the %d ranks is whole", r.table.ranks)
	}
	return fmt.Sprintf("only ranks 0 to %d of the %d ranks are whole", whole-1, r.table.ranks)
}

// newSLKReader reads the header.
func newSLKReader(data []byte) (*slkReader, error) {
	if err := slkLayout.CheckHeader(data); err != nil {
		return nil, err
	}
	unzip, err := chunk.NewUnzip()
	if err != nil {
		return nil, err
	}
	return &slkReader{data: data, at: chunk.HeaderLen, unzip: unzip}, nil
}

// run reads all chunks and checks the index and the trailer.
func (r *slkReader) run() error {
	defer r.unzip.Close()
	for first := true; ; first = false {
		kind, raw, length, err := r.chunk()
		if err != nil {
			return err
		}
		if first != (kind == slkMeta) {
			return fmt.Errorf("a chunk %s where it must not be", kind)
		}
		info := slkChunkInfo{kind: kind, length: uint64(length)}
		switch kind {
		case slkMeta:
			err = r.readMeta(raw)
		case slkDefs:
			err = r.table.read(raw)
		case slkOps, slkRank:
			info.ranks, info.ops, err = r.readOperations(kind, raw)
		case slkIndex:
			if err = r.end(); err == nil {
				err = r.checkIndex(raw)
			}
			if err != nil {
				return err
			}
			return r.checkTrailer(length)
		default:
			err = fmt.Errorf("there are no chunks of kind %q", kind)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if err = r.packWhole(); err != nil {
			return err
		}
		r.chunks = append(r.chunks, info)
		r.at += length
	}
}

// readOperations takes in a chunk of operations.
func (r *slkReader) readOperations(kind string, raw []byte) (ranks, ops uint64, err error) {
	if !r.table.complete() {
		return 0, 0, errors.New("operations before the groups and origins")
	}
	if kind == slkRank && r.inRank() {
		return 0, 0, errors.New("the rank before has not ended")
	}
	return r.slkDecoder.read(raw)
}

// chunk checks and unpacks the current chunk. The content is valid until the next call; length is
// that of the whole chunk.
func (r *slkReader) chunk() (kind string, raw []byte, length int, err error) {
	rest := r.data[r.at:]
	if len(rest) < chunk.FrameLen {
		return "", nil, 0, chunk.ErrTruncated
	}
	frame := chunk.ParseFrame(rest)
	if frame.Stored > len(rest)-chunk.FrameLen {
		return "", nil, 0, chunk.ErrTruncated
	}
	length = chunk.FrameLen + frame.Stored
	if r.raw, err = r.unzip.Content(rest[:length], r.raw[:0]); err != nil {
		return "", nil, 0, err
	}
	return frame.Kind, r.raw, length, nil
}

// readMeta takes in META and makes room for what the index announces, if there is one.
func (r *slkReader) readMeta(raw []byte) error {
	c := chunk.Column{B: raw}
	var v [7]uint64
	for i := range v {
		v[i] = c.Uint()
	}
	ranks, cpus, nics, may, groups, origins, names := v[0], v[1], v[2], v[3], v[4], v[5], v[6]
	file := ""
	if names&hasFile != 0 {
		file = plain.Name(c.String())
	}
	if c.Bad || c.Left() > 0 {
		return errors.New("too short or too long")
	}
	if ranks < 1 || ranks > math.MaxInt32 || cpus > 255 || nics > 255 || max(may, names) > 7 ||
		names&(hasLabels|hasLines) != 0 && names&hasFile == 0 || max(groups, origins) > math.MaxUint32 {
		return fmt.Errorf("%d ranks, %d cpus, %d nics, %d groups, %d origins, bits %d and %d: out of range",
			ranks, cpus, nics, groups, origins, may, names)
	}
	g := &Graph{steps: []int{0}, blocks: []blockInfo{{}}}
	g.shape = Shape{
		CPUs: max(int(cpus), 1), NICs: max(int(nics), 1), Wildcards: may&mayWildcards != 0,
		Graphs: may&mayGraphs != 0, Collectives: may&mayCollectives != 0,
	}
	if names&hasFile != 0 {
		g.Names = &Names{File: file}
	}
	table := &slkTable{ranks: int(ranks), wantGroups: groups, wantOrigins: origins}
	r.slkDecoder = slkDecoder{g: g, ranks: int64(ranks), origins: max(origins, 1), table: table, names: names}
	if r.pack == nil {
		r.reserve()
	}
	return nil
}

// reserve makes room for the operations, blocks and dependents that the index announces. The index
// has not been checked against the rest of the file yet, so large numbers in it are believed only
// as far as the columns are long enough. Memory that is reserved and never used is address space.
func (r *slkReader) reserve() {
	at, n := r.at, len(r.data)
	defer func() { r.at = at }()
	if n < chunk.TrailerLen+chunk.FrameLen+chunk.HeaderLen {
		return
	}
	offset, err := slkLayout.CheckTrailer(r.data[n-chunk.TrailerLen:])
	if err != nil || offset > uint64(n-chunk.TrailerLen-chunk.FrameLen) {
		return
	}
	r.at = int(offset)
	kind, raw, _, err := r.chunk()
	if err != nil || kind != slkIndex {
		return
	}
	c := chunk.Column{B: raw}
	ops, blocks, dependents, ranks := c.Uint(), c.Uint(), c.Uint(), uint64(r.ranks)
	if max(ops, blocks, dependents, ranks) > slkReserve {
		r.at = at
		lengths := r.columnLengths()
		ops, blocks = min(ops, lengths[colFlags]), min(blocks, lengths[colStructure])
		dependents, ranks = min(dependents, lengths[colDependents]), min(ranks, lengths[colStructure])
	}
	g := r.g
	g.ops = make([]Op, 0, ops)
	g.blocks = append(make([]blockInfo, 0, blocks+1), g.blocks...)
	g.steps = append(make([]int, 0, ranks+1), g.steps...)
	if dependents > 0 {
		g.first = make([]uint32, 0, ops+blocks)
		g.dependents = make([]Dependent, 0, dependents)
	}
}

// columnLengths returns the sums of the lengths of the columns in all chunks from the current one
// on, up to the first fault.
func (r *slkReader) columnLengths() (sums [numColumns]uint64) {
	for {
		kind, raw, length, err := r.chunk()
		if err != nil || kind == slkIndex {
			return sums
		}
		if kind == slkOps || kind == slkRank {
			head := chunk.Column{B: raw}
			head.Uint() // ranks
			head.Uint() // operations
			for i := range sums {
				sums[i] += min(head.Uint(), uint64(len(raw)))
			}
		}
		r.at += length
	}
}

// readIndex returns what an index announces: how many operations, blocks, dependents and chunks, and the chunks.
func readIndex(raw []byte) (totals [4]uint64, chunks []slkChunkInfo, err error) {
	c := chunk.Column{B: raw}
	for i := range totals {
		totals[i] = c.Uint()
	}
	for n := totals[3]; n > 0 && !c.Bad; n-- {
		chunks = append(chunks, slkChunkInfo{string(c.Bytes(4)), c.Uint(), c.Uint(), c.Uint()})
	}
	if c.Bad || c.Left() > 0 {
		err = errors.New("the index is too short or too long")
	}
	return totals, chunks, err
}

// checkIndex holds the index against the chunks.
func (r *slkReader) checkIndex(raw []byte) error {
	totals, chunks, err := readIndex(raw)
	for i, total := range []struct {
		what string
		is   int
	}{
		{"operations", r.gone.ops + len(r.g.ops)}, {"blocks", r.blocks + len(r.g.blocks) - 1},
		{"dependents", r.gone.dependents + len(r.g.dependents)}, {"chunks", len(r.chunks)},
	} {
		if totals[i] != uint64(total.is) {
			return fmt.Errorf("the index announces %d %s, but there are %d", totals[i], total.what, total.is)
		}
	}
	for i, is := range r.chunks {
		if i >= len(chunks) || chunks[i] != is {
			return fmt.Errorf("the index does not agree with chunk %d", i)
		}
	}
	return err
}

// checkTrailer checks what is after the index, a chunk of the given length.
func (r *slkReader) checkTrailer(length int) error {
	index := r.at
	r.at += length
	rest := r.data[r.at:]
	offset, err := slkLayout.CheckTrailer(rest)
	if err != nil {
		return err
	}
	if offset != uint64(index) {
		return errors.New("the trailer is wrong: the file is damaged")
	}
	if len(rest) > chunk.TrailerLen {
		r.at += chunk.TrailerLen
		return fmt.Errorf("%d bytes follow where the file should end", len(rest)-chunk.TrailerLen)
	}
	return nil
}

// finish returns the graph of all ranks that are whole.
func (r *slkReader) finish() *Graph {
	g := r.g
	whole := len(g.steps) - 1
	g.blocks = g.blocks[:g.steps[whole]+1]
	end := g.blocks[len(g.blocks)-1]
	g.ops, g.first, g.dependents = g.ops[:end.ops], g.first[:end.first], g.dependents[:end.dependents]
	if n := g.Names; n != nil {
		n.label, n.line = n.label[:min(end.ops, len(n.label))], n.line[:min(end.ops, len(n.line))]
	}
	g.steps = slices.Grow(g.steps, r.table.ranks-whole)
	for len(g.steps) <= r.table.ranks {
		g.steps = append(g.steps, g.steps[whole])
	}
	g.calls, g.groups, g.origins = r.table.calls, r.table.groups, r.table.origins
	return g
}

// packSLK is ReadSLK for a program that is only run. The operations of a chunk are in memory at a time, or of a rank if that
// is longer.
func packSLK(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error) {
	data, err := o.readWhole(name, file, size)
	if err != nil {
		return nil, err
	}
	o.used = new(atomic.Int64)
	k := &packer{}
	r, err := readSLK(name, data, k, func() error { return o.check(name, k) })
	if err != nil {
		return nil, err
	}
	if err := r.packWhole(); err != nil {
		return nil, err
	}
	k.names = r.g.Names
	p := &Packed{calls: r.table.calls, groups: r.table.groups, origins: r.table.origins, shape: r.g.shape}
	if k.names != nil {
		p.file = k.names.File
	}
	p.take(r.table.ranks, []*packer{k})
	return p, nil
}

// packWhole packs the ranks of the graph that are whole, if they are to be packed, and drops them.
func (r *slkReader) packWhole() error {
	if r.pack == nil || r.g == nil {
		return nil
	}
	g, whole := r.g, len(r.g.steps)-1
	r.pack.total = int32(r.ranks)
	for i := range whole {
		r.pack.addRank(r.packed+i, g, i)
	}
	end := g.blocks[g.steps[whole]]
	g.ops = dropFront(g.ops, end.ops)
	g.first = dropFront(g.first, end.first)
	g.dependents = dropFront(g.dependents, end.dependents)
	g.blocks = dropFront(g.blocks, g.steps[whole])
	for i := range g.blocks {
		b := &g.blocks[i]
		b.ops, b.first, b.dependents = b.ops-end.ops, b.first-end.first, b.dependents-end.dependents
	}
	r.packed += whole
	r.blocks += g.steps[whole]
	r.gone.ops += end.ops
	r.gone.dependents += end.dependents
	r.dependents -= end.dependents
	g.steps = g.steps[:1]
	return r.room()
}

// dropFront drops the first n elements of a list.
func dropFront[T any](list []T, n int) []T { return list[:copy(list, list[n:])] }
