package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"slackline/internal/chunk"
	"slackline/internal/plain"
)

// slkDecoder turns chunks of operations into a graph. What it knows at the end of a chunk it goes
// on with in the next one.
type slkDecoder struct {
	g       *Graph
	ranks   int64
	origins uint64
	table   *slkTable
	names   uint64

	begun      int64  // ranks begun
	blocksLeft uint64 // blocks of the rank that have not begun
	open       bool   // a block has begun and is not closed
	linked     bool   // it has dependencies
	blockOps   int64  // operations in it
	opsLeft    uint64 // of which so many have not come yet
	dependents int    // dependents in the graph before it
	listLeft   uint64 // dependents of the last operation that have not come yet
	backward   bool   // an operation of the block waits for a later one
	cycles     cycleFinder

	columns [numColumns]chunk.Column
	last    [flagKind + 1]Op
	lastGap [flagKind + 1]int64
}

// anyGap stands for AnySource in lastGap. It is no distance of two ranks.
const anyGap = math.MaxInt64

// read takes in a chunk and returns the two numbers that the index repeats.
func (d *slkDecoder) read(raw []byte) (ranks, ops uint64, err error) {
	head := chunk.Column{B: raw}
	ranks, ops = head.Uint(), head.Uint()
	for i := range d.columns {
		d.columns[i] = chunk.Column{At: int(min(head.Uint(), uint64(len(raw))))}
	}
	for i := range d.columns {
		d.columns[i] = chunk.Column{B: head.Bytes(uint64(d.columns[i].At))}
	}
	if head.Bad || head.Left() > 0 {
		return 0, 0, errors.New("the lengths of the columns do not add up")
	}
	if ops != uint64(len(d.columns[colFlags].B)) {
		return 0, 0, fmt.Errorf("%d operations, but %d flags", ops, len(d.columns[colFlags].B))
	}
	if ranks != uint64(d.begun) {
		return 0, 0, fmt.Errorf("the chunk goes on after %d ranks, but %d have begun", ranks, d.begun)
	}
	d.last, d.lastGap = [flagKind + 1]Op{}, [flagKind + 1]int64{}
	for k := range d.last {
		d.last[k].Kind, d.lastGap[k] = Kind(k), anyGap
	}
	if err := d.readStructure(int(ops)); err != nil {
		return 0, 0, err
	}
	if err := d.readNames(int(ops)); err != nil {
		return 0, 0, err
	}
	for i := range d.columns {
		if c := &d.columns[i]; i != colFlags && (c.Bad || c.Left() > 0) {
			return 0, 0, fmt.Errorf("column %d is too long or too short, or has a number that is too large", i)
		}
	}
	return ranks, ops, nil
}

// readStructure follows the structure through the operations of the chunk, all of them of one rank
// at a time.
func (d *slkDecoder) readStructure(n int) error {
	g := d.g
	base := len(g.ops)
	g.ops = growOps(g.ops, n)
	seen, decoded := 0, 0
	if d.listLeft > 0 {
		if err := d.readLinks(0); err != nil {
			return err
		}
	}
	structure := &d.columns[colStructure]
	for {
		if d.opsLeft > 0 {
			take := min(d.opsLeft, uint64(n-seen))
			if d.linked {
				if err := d.readLinks(take); err != nil {
					return err
				}
			}
			d.opsLeft -= take
			seen += int(take)
		}
		if d.opsLeft > 0 || structure.Left() == 0 {
			break
		}
		if err := d.closeBlock(base + seen); err != nil {
			return err
		}
		token := structure.Uint()
		if d.blocksLeft > 0 {
			if err := d.openBlock(token); err != nil {
				return err
			}
			continue
		}
		if err := d.readOps(g.ops[base+decoded : base+seen]); err != nil {
			return err
		}
		decoded = seen
		if err := d.nextRank(token); err != nil {
			return err
		}
	}
	if seen != n || structure.Left() > 0 {
		return fmt.Errorf("the structure does not fit the %d operations", n)
	}
	return d.readOps(g.ops[base+decoded:])
}

// growOps makes a slice longer by n operations.
func growOps(ops []Op, n int) []Op {
	if cap(ops)-len(ops) >= n {
		return ops[:len(ops)+n]
	}
	return append(ops, make([]Op, n)...)
}

// nextRank ends the current rank and begins the next one, of the given number of blocks.
func (d *slkDecoder) nextRank(blocks uint64) error {
	if d.begun == d.ranks {
		return fmt.Errorf("more than the %d ranks announced", d.ranks)
	}
	if blocks > math.MaxInt64 {
		return fmt.Errorf("rank %d: %d blocks", d.begun, blocks)
	}
	if d.begun > 0 {
		d.g.steps = append(d.g.steps, len(d.g.blocks)-1)
	}
	d.begun++
	d.blocksLeft = blocks
	return nil
}

// openBlock begins a block.
func (d *slkDecoder) openBlock(token uint64) error {
	ops := token >> 1
	if ops > MaxBlockOps {
		return fmt.Errorf("rank %d: a block of %d operations; the limit is %d", d.begun-1, ops, MaxBlockOps)
	}
	d.open, d.linked = true, token&1 != 0
	d.blockOps, d.opsLeft = int64(ops), ops
	d.dependents, d.backward = len(d.g.dependents), false
	d.blocksLeft--
	return nil
}

// closeBlock ends the current block, if there is one, before operation at of the graph.
func (d *slkDecoder) closeBlock(at int) error {
	if !d.open {
		return nil
	}
	g := d.g
	if d.listLeft > 0 {
		return errors.New("a list of dependents is not ended")
	}
	if d.linked {
		n := len(g.dependents) - d.dependents
		if n == 0 || n > math.MaxUint32 {
			return fmt.Errorf("rank %d: a block announces dependencies and has %d", d.begun-1, n)
		}
		g.first = append(g.first, uint32(n))
		g.shape.Graphs = true
		if d.backward {
			first := g.first[len(g.first)-int(d.blockOps)-1:]
			if cycle := d.cycles.find(int(d.blockOps), first, g.dependents[d.dependents:]); cycle != nil {
				base := at - int(d.blockOps) - g.blocks[g.steps[len(g.steps)-1]].ops
				return errors.New(cycleText(int(d.begun-1), cycle, func(i int) string { return fmt.Sprintf("#%d", base+i) }))
			}
		}
	}
	g.blocks = append(g.blocks, blockInfo{at, len(g.first), len(g.dependents)})
	d.open = false
	return nil
}

// inRank reports whether something of the current rank is missing.
func (d *slkDecoder) inRank() bool { return d.blocksLeft > 0 || d.opsLeft > 0 || d.listLeft > 0 }

// end checks that nothing is missing after the last chunk.
func (d *slkDecoder) end() error {
	if d.begun != d.ranks {
		return fmt.Errorf("the operations end in rank %d of %d", max(d.begun-1, 0), d.ranks)
	}
	return d.endRank()
}

// endRank ends the current rank, of which nothing may be missing.
func (d *slkDecoder) endRank() error {
	if d.blocksLeft > 0 || d.opsLeft > 0 {
		return fmt.Errorf("the operations end in rank %d of %d", max(d.begun-1, 0), d.ranks)
	}
	if err := d.closeBlock(len(d.g.ops)); err != nil {
		return err
	}
	d.g.steps = append(d.g.steps, len(d.g.blocks)-1)
	return nil
}

// readLinks reads the dependents of the next n operations of the current block; before them what is
// left of the list of the operation before, if that has been cut by the end of a chunk.
func (d *slkDecoder) readLinks(n uint64) error {
	c := d.columns[colDependents]
	next := d.blockOps - int64(d.opsLeft)
	end := next + int64(n)
	first, dependents, left := d.g.first, d.g.dependents, d.listLeft
	for {
		i := next - 1 // the operation whose list is read
		for ; left > 0 && c.At < len(c.B); left-- {
			v := uint64(c.B[c.At])
			if v < 0x80 { // Column.Uint, for speed
				c.At++
			} else {
				v = c.LongUint()
			}
			index := i + chunk.Unzigzag(v>>1)
			if uint64(index) >= uint64(d.blockOps) || index == i {
				return fmt.Errorf("rank %d: operation %d of a block of %d waits for operation %d", d.begun-1, index, d.blockOps, i)
			}
			if index < i {
				d.backward = true
			}
			dependents = append(dependents, NewDependent(int(index), v&1 != 0))
		}
		if next == end {
			break
		}
		if left > 0 {
			return errors.New("the dependents of an operation are missing")
		}
		if len(dependents)-d.dependents > math.MaxUint32 {
			return fmt.Errorf("rank %d: more than %d dependencies in one block", d.begun-1, uint32(math.MaxUint32))
		}
		first = append(first, uint32(len(dependents)-d.dependents))
		left = c.Uint()
		next++
	}
	d.g.first, d.g.dependents, d.listLeft = first, dependents, left
	d.columns[colDependents] = c
	return nil
}

// readOps reads the next operations, all of the current rank.
func (d *slkDecoder) readOps(ops []Op) error {
	if len(ops) == 0 {
		return nil
	}
	rank, ranks := d.begun-1, d.ranks
	sizes, peers := d.columns[colSizes], d.columns[colPeers] // copies, which can live in registers
	flags := d.columns[colFlags].Bytes(uint64(len(ops)))
	for i, f := range flags {
		kind := f & flagKind
		op := &d.last[kind]
		if f&flagSize != 0 {
			size := sizes.Uint()
			if size > math.MaxInt64 {
				return fmt.Errorf("rank %d: size %d is too large", rank, size)
			}
			op.Size = int64(size)
		}
		if f&flagPeer != 0 {
			var gap uint64
			if at := peers.At; at < len(peers.B) && peers.B[at] < 0x80 { // as above
				gap = uint64(peers.B[at])
				peers.At++
			} else {
				gap = peers.LongUint()
			}
			if gap > uint64(ranks)+1 || kind > uint8(Recv) {
				return fmt.Errorf("rank %d: a peer %d away, but there are %d ranks", rank, gap, ranks)
			}
			d.lastGap[kind] = anyGap
			if gap > 0 {
				d.lastGap[kind] = chunk.Unzigzag(gap - 1)
			}
		}
		if f&^(flagKind|flagSize|flagPeer) != 0 {
			if err := d.readRare(f, op); err != nil {
				return err
			}
		}
		peer := int64(0)
		switch Kind(kind) {
		case Send, Recv:
			peer = rank + d.lastGap[kind]
			if d.lastGap[kind] == anyGap {
				if Kind(kind) == Send {
					return fmt.Errorf("rank %d: a send without destination", rank)
				}
				d.g.shape.Wildcards = true
				peer = int64(AnySource)
			} else if peer < 0 {
				peer += ranks
			} else if peer >= ranks {
				peer -= ranks
			}
		case Collective:
			if op.Size >= int64(len(d.table.calls)) {
				return fmt.Errorf("rank %d: call %d is not defined", rank, op.Size)
			}
			if err := checkMember(&d.table.calls[op.Size], d.table.groups, int(rank)); err != nil {
				return fmt.Errorf("rank %d: %w", rank, err)
			}
			d.g.shape.Collectives = true
		}
		if op.Context&Buffered != 0 && op.Kind != Send {
			return fmt.Errorf("rank %d: only a send can be buffered", rank)
		}
		// Field by field: a copy of the whole would wait for the narrow stores above.
		to := &ops[i]
		to.Size, to.Peer, to.Tag, to.Origin = op.Size, int32(peer), op.Tag, op.Origin
		to.Kind, to.CPU, to.NIC, to.Context = op.Kind, op.CPU, op.NIC, op.Context
	}
	d.columns[colSizes], d.columns[colPeers] = sizes, peers
	return nil
}

// readRare reads the values that seldom change: tag, place and origin.
func (d *slkDecoder) readRare(flags uint8, op *Op) error {
	shape := &d.g.shape
	if flags&flagTag != 0 {
		tag := d.columns[colTags].Uint()
		if tag > math.MaxUint32 || tag == uint64(AnyTag) && op.Kind == Send {
			return fmt.Errorf("rank %d: tag %d is too large", d.begun-1, tag)
		}
		if op.Tag = uint32(tag); op.Tag == AnyTag && op.Kind == Recv {
			shape.Wildcards = true
		}
	}
	if flags&flagPlace != 0 {
		if place := d.columns[colPlaces].Bytes(3); place != nil {
			op.CPU, op.NIC, op.Context = place[0], place[1], place[2]
		}
		if op.CPU == 255 || op.NIC == 255 {
			return fmt.Errorf("rank %d: cpu %d, nic %d: the limit is 254", d.begun-1, op.CPU, op.NIC)
		}
		shape.CPUs, shape.NICs = max(shape.CPUs, int(op.CPU)+1), max(shape.NICs, int(op.NIC)+1)
	}
	if flags&flagOrigin != 0 {
		origin := d.columns[colOrigins].Uint()
		if origin >= d.origins {
			return fmt.Errorf("rank %d: origin %d, but there are %d", d.begun-1, origin, d.origins)
		}
		op.Origin = uint32(origin)
	}
	if flags&^(flagKind|flagSize|flagPeer|flagTag|flagPlace|flagOrigin) != 0 {
		return fmt.Errorf("rank %d: flags %#x are not known", d.begun-1, flags)
	}
	return nil
}

// plainLabel is a label of visible characters. Nearly all are, and there are millions.
func plainLabel(label []byte) []byte {
	for _, c := range label {
		if c <= ' ' || c > '~' {
			return []byte(plain.Name(string(label)))
		}
	}
	return label
}

// readNames reads labels and lines of n operations.
func (d *slkDecoder) readNames(n int) error {
	if d.names&(hasLines|hasLabels) == 0 {
		return nil
	}
	lines, labels := &d.columns[colLines], &d.columns[colLabels]
	line := int64(0)
	var label []byte
	for range n {
		if d.names&hasLines != 0 {
			line += chunk.Unzigzag(lines.Uint())
			if line < 0 || line > math.MaxUint32 {
				return fmt.Errorf("line %d is out of range", line)
			}
		}
		if d.names&hasLabels != 0 {
			end := bytes.IndexByte(labels.B[labels.At:], 0)
			if end < 0 {
				return errors.New("a label is cut off")
			}
			label = plainLabel(labels.Bytes(uint64(end) + 1)[:end])
		}
		d.g.Names.add(label, int(line))
	}
	return nil
}
