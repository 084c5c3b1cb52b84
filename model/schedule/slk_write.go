package schedule

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"slackline/internal/chunk"
)

// WriteSLK writes a program as an slk file, rank by rank, without holding it in memory. Equal
// programs give equal bytes. Names are kept if the program is a Graph that has them.
func WriteSLK(w io.Writer, p Program) error {
	if n := p.Ranks(); n < 1 || n > math.MaxInt32 {
		return fmt.Errorf("a schedule of %d ranks cannot be written: there must be 1 to %d", n, math.MaxInt32)
	}
	s := newSLKWriter(w, p)
	s.writeMeta()
	s.writeDefinitions()
	for rank := 0; rank < p.Ranks() && s.err == nil; rank++ {
		s.writeRank(rank)
	}
	s.flushOps()
	return s.finish()
}

// slkWriter is the state of WriteSLK. After an error it writes nothing more.
type slkWriter struct {
	file    *chunk.Writer
	p       Program
	graph   *Graph // where labels and lines come from, or nil
	ranks   int64
	origins int
	err     error // in the program

	defs  *slkDefinitions
	block Block

	columns [numColumns][]byte
	last    [flagKind + 1]Op     // by kind: the operation before
	lastGap [flagKind + 1]uint64 // its peer as written in the column
	line    int64                // of the operation before
	begun   int                  // ranks begun before this chunk
	rank    int                  // ranks begun
	ops     int                  // operations in this chunk
	whole   bool                 // this chunk begins with a rank

	totalOps, totalBlocks, totalDependents int64

	index  []byte
	chunks int
	raw    []byte
}

func newSLKWriter(w io.Writer, p Program) *slkWriter {
	s := &slkWriter{file: chunk.NewWriter(w, &slkLayout), p: p, ranks: int64(p.Ranks()), origins: max(len(p.Origins()), 1)}
	s.defs = newSLKDefinitions(p.Groups(), p.Ranks(), func(raw []byte) { s.writeChunk(slkDefs, raw, 0, 0) })
	if g, ok := p.(*Graph); ok && g.Names != nil {
		s.graph = g
	}
	return s
}

// writeChunk writes a chunk and notes it in the index.
func (s *slkWriter) writeChunk(kind string, raw []byte, ranks, ops int) {
	if s.err != nil {
		return
	}
	length := s.file.Chunk(kind, raw)
	s.err = s.file.Err()
	s.index = append(s.index, kind...)
	for _, v := range []int{length, ranks, ops} {
		s.index = binary.AppendUvarint(s.index, uint64(v))
	}
	s.chunks++
}

func (s *slkWriter) writeMeta() {
	shape := s.p.Shape()
	may, names := 0, 0
	for _, bit := range []struct {
		set bool
		bit int
	}{{shape.Wildcards, mayWildcards}, {shape.Graphs, mayGraphs}, {shape.Collectives, mayCollectives}} {
		if bit.set {
			may |= bit.bit
		}
	}
	if s.graph != nil {
		names = hasFile
		if len(s.graph.Names.label) > 0 {
			names |= hasLabels
		}
		if len(s.graph.Names.line) > 0 {
			names |= hasLines
		}
	}
	var b []byte
	for _, v := range []int{int(s.ranks), min(shape.CPUs, 255), min(shape.NICs, 255), may, len(s.defs.groups), len(s.p.Origins()), names} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	if s.graph != nil {
		b = chunk.AppendString(b, s.graph.Names.File)
	}
	s.writeChunk(slkMeta, b, 0, 0)
}

// writeDefinitions writes the groups and origins.
func (s *slkWriter) writeDefinitions() {
	for i := range s.defs.groups {
		if err := s.defs.addGroup(&s.defs.groups[i]); err != nil {
			s.fail(fmt.Errorf("group %d: %w", i, err))
			return
		}
	}
	for i, o := range s.p.Origins() {
		if err := s.defs.addOrigin(o); err != nil {
			s.fail(fmt.Errorf("origin %d: %w", i, err))
			return
		}
	}
	s.defs.flush()
}

func (s *slkWriter) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// writeRank adds the blocks of a rank to the columns.
func (s *slkWriter) writeRank(rank int) {
	if s.ops == 0 && len(s.columns[colStructure]) == 0 {
		s.whole = true
	}
	steps := s.p.Steps(rank)
	s.columns[colStructure] = binary.AppendUvarint(s.columns[colStructure], uint64(steps))
	s.rank++
	position := 0
	if s.graph != nil {
		position = s.graph.FirstOp(rank)
	}
	for step := range steps {
		b := &s.block
		s.p.Block(rank, step, b)
		if err := s.writeBlock(rank, position, b); err != nil {
			s.fail(fmt.Errorf("rank %d, block %d: %w", rank, step, err))
		}
		if s.err != nil {
			return
		}
		position += len(b.Ops)
	}
	if s.ops >= slkChunkOp/2 { // better here than in the middle of the next rank
		s.flushOps()
	}
	s.flushIfFull() // also for ranks without operations
}

// writeBlock adds a block to the columns, and writes chunks when these are full. position is that
// of its first operation in the graph.
func (s *slkWriter) writeBlock(rank, position int, b *Block) error {
	if len(b.Ops) > MaxBlockOps {
		return fmt.Errorf("%d operations in one block; the limit is %d", len(b.Ops), MaxBlockOps)
	}
	token := uint64(len(b.Ops)) << 1
	linked := !b.IsPhase()
	if linked {
		token |= 1
	}
	s.columns[colStructure] = binary.AppendUvarint(s.columns[colStructure], token)
	s.totalBlocks++
	for i := range b.Ops {
		op := &b.Ops[i]
		if err := s.addOp(rank, op, b.Calls); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if s.graph != nil {
			s.addName(position + i)
		}
		if linked {
			if err := s.addDependents(i, len(b.Ops), b.Dependents[b.First[i]:b.First[i+1]]); err != nil {
				return fmt.Errorf("operation %d: %w", i, err)
			}
		}
		s.flushIfFull()
	}
	return s.err
}

// addOp adds an operation to the columns.
func (s *slkWriter) addOp(rank int, op *Op, calls []Call) error {
	kind := op.Kind
	if kind > Collective {
		return fmt.Errorf("there is no %s", kind)
	}
	flags := uint8(kind)
	last := &s.last[kind]
	size, gap := op.Size, uint64(0)
	switch kind {
	case Send, Recv:
		if op.Peer >= 0 && int64(op.Peer) < s.ranks {
			gap = 1 + chunk.Zigzag(distance(int64(op.Peer), int64(rank), s.ranks))
		} else if op.Peer != AnySource || kind == Send {
			return fmt.Errorf("%s: peer %d, but there are %d ranks", kind, op.Peer, s.ranks)
		}
		if gap != s.lastGap[kind] {
			flags |= flagPeer
			s.lastGap[kind] = gap
			s.columns[colPeers] = binary.AppendUvarint(s.columns[colPeers], gap)
		}
	case Collective:
		if uint64(size) >= uint64(len(calls)) {
			return fmt.Errorf("call %d of %d", size, len(calls))
		}
		id, err := s.defs.call(&calls[size])
		if err != nil {
			return err
		}
		if err := checkMember(&calls[op.Size], s.defs.groups, rank); err != nil {
			return err
		}
		size = id
	}
	if size < 0 || op.CPU == 255 || op.NIC == 255 || kind == Send && op.Tag == AnyTag || int64(op.Origin) >= int64(s.origins) {
		return fmt.Errorf("%s of size %d with tag %d, cpu %d, nic %d, origin %d of %d: out of range",
			kind, size, op.Tag, op.CPU, op.NIC, op.Origin, s.origins)
	}
	if size != last.Size {
		flags |= flagSize
		last.Size = size
		s.columns[colSizes] = binary.AppendUvarint(s.columns[colSizes], uint64(size))
	}
	if op.Tag != last.Tag {
		flags |= flagTag
		last.Tag = op.Tag
		s.columns[colTags] = binary.AppendUvarint(s.columns[colTags], uint64(op.Tag))
	}
	if op.CPU != last.CPU || op.NIC != last.NIC || op.Context != last.Context {
		flags |= flagPlace
		last.CPU, last.NIC, last.Context = op.CPU, op.NIC, op.Context
		s.columns[colPlaces] = append(s.columns[colPlaces], op.CPU, op.NIC, op.Context)
	}
	if op.Origin != last.Origin {
		flags |= flagOrigin
		last.Origin = op.Origin
		s.columns[colOrigins] = binary.AppendUvarint(s.columns[colOrigins], uint64(op.Origin))
	}
	s.columns[colFlags] = append(s.columns[colFlags], flags)
	s.ops++
	s.totalOps++
	return nil
}

// addName adds label and line of an operation of the graph.
func (s *slkWriter) addName(position int) {
	n := s.graph.Names
	if len(n.line) > 0 {
		line := int64(n.line[position])
		s.columns[colLines] = binary.AppendUvarint(s.columns[colLines], chunk.Zigzag(line-s.line))
		s.line = line
	}
	if len(n.label) > 0 {
		s.columns[colLabels] = append(n.appendLabel(s.columns[colLabels], position), 0)
	}
}

// addDependents adds the dependents of operation i of a block of n.
func (s *slkWriter) addDependents(i, n int, dependents []Dependent) error {
	c := binary.AppendUvarint(s.columns[colDependents], uint64(len(dependents)))
	for _, d := range dependents {
		if d.Index() >= n || d.Index() == i {
			return fmt.Errorf("operation %d of a block of %d cannot wait for it", d.Index(), n)
		}
		v := chunk.Zigzag(int64(d.Index())-int64(i)) << 1
		if d.OnStart() {
			v |= 1
		}
		c = binary.AppendUvarint(c, v)
		if len(c) > slkChunk {
			s.columns[colDependents] = c
			s.flushOps()
			c = s.columns[colDependents]
		}
	}
	s.columns[colDependents] = c
	s.totalDependents += int64(len(dependents))
	return nil
}

// flushIfFull writes the columns as a chunk if they are long enough.
func (s *slkWriter) flushIfFull() {
	if s.ops >= slkChunkOp || len(s.columns[colStructure]) > slkChunk/4 || len(s.columns[colDependents]) > slkChunk/2 ||
		len(s.columns[colLabels]) > slkChunk/2 {
		s.flushOps()
	}
}

// flushOps writes the columns as a chunk and the definitions before it.
func (s *slkWriter) flushOps() {
	s.defs.flush()
	b := s.raw[:0]
	for _, v := range []int{s.begun, s.ops} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	total := 0
	for _, c := range s.columns {
		b = binary.AppendUvarint(b, uint64(len(c)))
		total += len(c)
	}
	if total == 0 {
		return
	}
	for i, c := range s.columns {
		b = append(b, c...)
		s.columns[i] = c[:0]
	}
	s.raw = b
	kind := slkOps
	if s.whole {
		kind = slkRank
	}
	s.whole = false
	s.writeChunk(kind, b, s.begun, s.ops)
	s.last, s.lastGap, s.line = [flagKind + 1]Op{}, [flagKind + 1]uint64{}, 0
	s.begun, s.ops = s.rank, 0
}

// finish writes the index and the trailer, unless something went wrong.
func (s *slkWriter) finish() error {
	if s.err != nil {
		return s.err
	}
	var b []byte
	for _, v := range []int64{s.totalOps, s.totalBlocks, s.totalDependents, int64(s.chunks)} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return s.file.Finish(slkIndex, append(b, s.index...))
}
