package schedule

import (
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"slackline/internal/parallel"
)

// PackOptions are how a file is packed.
type PackOptions struct {
	Threads int   // at most so many; 0 counts as 1
	Memory  int64 // refuse a program that needs more bytes; 0: there is no limit

	used *atomic.Int64 // bytes of all packers so far
}

// partsPerThread is into how many parts the ranks are cut for each thread, so that none waits long for the last one.
const partsPerThread = 4

// parts is into how many parts the ranks of a file should be cut.
func (o *PackOptions) parts() int {
	if o.Threads <= 1 {
		return 1
	}
	return partsPerThread * o.Threads
}

// pack packs parts of the ranks, which are given by their ends, at the same time. It returns the packers in the
// order of the ranks, or the error of the first part that has one.
func (o *PackOptions) pack(ends []int, read func(k *packer, from, to int) error) ([]*packer, error) {
	o.used = new(atomic.Int64)
	packers, errs := make([]*packer, len(ends)), make([]error, len(ends))
	var failed atomic.Int64 // the number of parts before the first one that is wrong, as far as it is known
	failed.Store(int64(len(ends)))
	parallel.Each(len(ends), o.Threads, func(i int) {
		if int64(i) > failed.Load() {
			return
		}
		from := 0
		if i > 0 {
			from = ends[i-1]
		}
		packers[i] = &packer{}
		if errs[i] = read(packers[i], from, ends[i]); errs[i] != nil {
			for first := failed.Load(); int64(i) < first && !failed.CompareAndSwap(first, int64(i)); first = failed.Load() {
			}
		}
	})
	if i := failed.Load(); i < int64(len(ends)) {
		return nil, errs[i]
	}
	return packers, nil
}

// check adds what a packer has taken since the last time, and returns an error if that is too much in all.
func (o *PackOptions) check(name string, k *packer) error {
	bytes := k.bytes()
	if used := o.used.Add(bytes - k.counted); o.Memory > 0 && used > o.Memory {
		return o.tooLarge(name)
	}
	k.counted = bytes
	return nil
}

func (o *PackOptions) tooLarge(name string) error {
	return &FileError{File: name, What: fmt.Sprintf("the schedule needs more than %d MiB, half of the free memory; cut it into "+
		"parts, or write it as slk",
		o.Memory>>20)}
}

// packGraph is the Pack of a format of which a file must be in memory as a whole.
func packGraph(read func(name string, data []byte) (*Graph, error)) func(string, io.ReaderAt, int64, PackOptions) (*Packed, error) {
	return func(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error) {
		data, err := o.readWhole(name, file, size)
		if err != nil {
			return nil, err
		}
		g, err := read(name, data)
		if err != nil {
			return nil, err
		}
		return Pack(g), nil
	}
}

// readWhole reads a file that must be in memory as a whole.
func (o *PackOptions) readWhole(name string, file io.ReaderAt, size int64) ([]byte, error) {
	if o.Memory > 0 && size > o.Memory {
		return nil, o.tooLarge(name)
	}
	data := make([]byte, size)
	if err := readFull(file, data, 0); err != nil {
		return nil, &FileError{File: name, What: err.Error()}
	}
	return data, nil
}

// Pack returns a graph in the form in which it is run.
func Pack(g *Graph) *Packed {
	k := &packer{blockStore: blockStore{names: g.Names}}
	for rank := range g.Ranks() {
		k.begin(rank)
		for block := g.steps[rank]; block < g.steps[rank+1]; block++ {
			from, to := g.BlockOps(block)
			first, dependents := g.Links(block)
			k.add(g.ops[from:to], first, dependents)
		}
	}
	p := &Packed{calls: g.calls, groups: g.groups, origins: g.origins, shape: g.shape, part: g.part}
	if g.Names != nil {
		p.file = g.Names.File
	}
	p.take(g.Ranks(), []*packer{k})
	return p
}

// packer fills a store with the blocks of ranks, one rank after the other.
type packer struct {
	blockStore
	ranks   []begunRank
	shape   Shape
	counted int64 // bytes; see PackOptions.check
	recent  [1 << recentBits]uint32
	cutter  cutter

	// The dependencies of the present piece of a block.
	pieceFirst      []uint32
	pieceDependents []Dependent
}

// bytes is how much memory the store has.
func (k *packer) bytes() int64 {
	const perOp, perCalc, perNumber, perRank = 24, 8, 4, 16
	return int64(cap(k.ops))*perOp + int64(cap(k.calcs))*perCalc + int64(cap(k.steps)+cap(k.first)+cap(k.dependents))*perNumber +
		int64(cap(k.ranks))*perRank
}

// begunRank is a rank and where it begins in the steps.
type begunRank struct{ rank, at int }

// begin begins a rank, which is a new one.
func (k *packer) begin(rank int) { k.ranks = append(k.ranks, begunRank{rank, len(k.steps)}) }

// take gives the program of so many ranks what packers have packed. Whether there are graphs follows from that; what else
// the shape has is a bound already.
func (p *Packed) take(ranks int, packers []*packer) {
	p.ranks = make([]packedRank, ranks)
	p.shape.Graphs = false
	for i, k := range packers {
		p.stores = append(p.stores, &k.blockStore)
		p.shape = p.shape.union(k.shape)
		end := len(k.steps)
		for j := len(k.ranks) - 1; j >= 0; j-- {
			begun := k.ranks[j]
			p.ranks[begun.rank] = packedRank{at: begun.at, steps: uint32(end - begun.at), store: uint32(i)}
			end = begun.at
		}
	}
	p.findSame()
}

// recentBits is the size of the table in which equal blocks are found. It has one place for a hash, so
// that it does not grow: a block that is found no more is stored again. The blocks of an iteration and
// of a collective are a few hundred, and the table fits into the cache.
const recentBits = 14

// add appends a block to the present rank, in pieces where it can be cut. Nothing refers to the arguments
// afterwards.
func (k *packer) add(ops []Op, first []uint32, dependents []Dependent) {
	if len(dependents) == 0 {
		k.put(ops, nil, nil)
		return
	}
	begin := 0
	for _, p := range k.cutter.cut(len(ops), first, dependents) {
		if p.linked {
			k.takePiece(begin, p.end, first, dependents)
			k.put(ops[begin:p.end], k.pieceFirst, k.pieceDependents)
		} else {
			k.put(ops[begin:p.end], nil, nil)
		}
		begin = p.end
	}
}

// takePiece takes the dependencies between the operations begin .. end-1 of a block.
func (k *packer) takePiece(begin, end int, first []uint32, dependents []Dependent) {
	inside := k.pieceDependents[:0]
	starts := k.pieceFirst[:0]
	for i := begin; i < end; i++ {
		starts = append(starts, uint32(len(inside)))
		for _, d := range dependents[first[i]:first[i+1]] {
			if v := d.Index(); v < end {
				inside = append(inside, NewDependent(v-begin, d.OnStart()))
			}
		}
	}
	k.pieceFirst, k.pieceDependents = append(starts, uint32(len(inside))), inside
}

// put appends a block to the present rank as it is.
func (k *packer) put(ops []Op, first []uint32, dependents []Dependent) {
	if len(ops) == 1 && ops[0] == (Op{Kind: Calc, Size: ops[0].Size}) {
		k.steps = append(k.steps, loneCalc+k.place(len(k.calcs)))
		k.calcs = append(k.calcs, ops[0].Size)
		k.note(ops, false)
		return
	}
	slot := &k.recent[hashBlock(ops, dependents)>>(64-recentBits)]
	if at := *slot; at > 0 && k.holds(at-1, ops, first, dependents) {
		k.steps = append(k.steps, at-1)
		return
	}
	at := k.place(len(k.ops))
	*slot = at + 1
	k.steps = append(k.steps, at)
	k.ops = append(append(k.ops, blockHead(len(ops), len(dependents), len(k.first))), ops...)
	if len(dependents) > 0 {
		k.first = append(append(k.first, uint32(len(k.dependents)), uint32(len(k.dependents)>>32)), first...)
		k.dependents = append(k.dependents, dependents...)
	}
	k.note(ops, len(dependents) > 0)
}

// place returns a place of a store as it is kept.
func (k *packer) place(at int) uint32 {
	if at >= loneCalc {
		panic("schedule: too many different operations for one store")
	}
	return uint32(at)
}

// note notes what a new block has.
func (k *packer) note(ops []Op, linked bool) {
	if linked {
		k.shape.Graphs, k.linked = true, max(k.linked, len(ops))
	}
	for i := range ops {
		op := &ops[i]
		k.shape.CPUs, k.shape.NICs = max(k.shape.CPUs, int(op.CPU)+1), max(k.shape.NICs, int(op.NIC)+1)
		switch op.Kind {
		case Send:
			if !op.IsBuffered() {
				k.largest = max(k.largest, op.Size)
			}
		case Recv:
			k.shape.Wildcards = k.shape.Wildcards || op.Peer == AnySource || op.Tag == AnyTag
		case Collective:
			k.shape.Collectives = true
			k.shape.Graphs = k.shape.Graphs || len(ops) > 1
		}
	}
}

// holds reports whether the block with its head at a place is equal to the one given.
func (k *packer) holds(at uint32, ops []Op, first []uint32, dependents []Dependent) bool {
	head, here := &k.ops[at], k.ops[at+1:]
	if int(head.Tag) != len(ops) || int(head.Origin) != len(dependents) || !slices.Equal(here[:len(ops)], ops) {
		return false
	}
	hereFirst, hereDependents := k.links(head)
	return slices.Equal(hereFirst, first) && slices.Equal(hereDependents, dependents)
}

// hashBlock returns a number whose high bits differ between most blocks that differ.
func hashBlock(ops []Op, dependents []Dependent) uint64 {
	const odd = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	h := uint64(len(ops))
	for i := range ops {
		op := &ops[i]
		h = (h ^ uint64(op.Size)) * odd
		h = (h ^ h>>32 ^ uint64(uint32(op.Peer)) ^ uint64(op.Tag)<<32) * odd
		h = (h ^ h>>32 ^ uint64(op.Origin)<<32 ^ uint64(op.Kind)<<24 ^ uint64(op.CPU)<<16 ^ uint64(op.NIC)<<8 ^ uint64(op.Context)) * odd
	}
	for _, d := range dependents {
		h = (h ^ h>>32 ^ uint64(d)) * odd
	}
	return h
}
