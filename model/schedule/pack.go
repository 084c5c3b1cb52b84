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
	text int           // bytes of a text in memory on each thread; 0: goalBuffer
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

// pack packs parts of so many ranks, which are given by their ends, at the same time. It returns the packers in the
// order of the ranks, or the error of the first part that has one.
func (o *PackOptions) pack(ranks int, ends []int, read func(k *packer, from, to int) error) ([]*packer, error) {
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
		packers[i] = &packer{total: int32(ranks)}
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
	k := &packer{blockStore: blockStore{names: g.Names}, total: int32(g.Ranks())}
	for rank := range g.Ranks() {
		k.addRank(rank, g, rank)
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
	total   int32 // ranks of the program
	begun   bool  // the last one of ranks has not ended
	shape   Shape
	counted int64 // bytes; see PackOptions.check
	recent  [1 << recentBits]uint32
	lists   map[uint64]int // by hash: the last rank that has such a list of steps, as a place in ranks
	cutter  cutter

	// The present block: its operations as they are kept, and the dependencies of its present piece.
	kept            []Op
	pieceFirst      []uint32
	pieceDependents []Dependent
}

// bytes is how much memory the store has.
func (k *packer) bytes() int64 {
	const perOp, perCalc, perNumber, perRank = 24, 8, 4, 32
	numbers := cap(k.steps) + cap(k.origins) + cap(k.first) + cap(k.dependents)
	return int64(cap(k.ops))*perOp + int64(cap(k.calcs))*perCalc + int64(numbers)*perNumber + int64(cap(k.ranks))*perRank
}

// begin begins a rank, which is a new one.
func (k *packer) begin(rank int) {
	k.end()
	k.begun = true
	k.ranks = append(k.ranks, begunRank{int32(rank), packedRank{at: len(k.steps), calcs: len(k.calcs)}})
}

// addRank takes a rank, which has the blocks of rank from of a graph.
func (k *packer) addRank(rank int, g *Graph, from int) {
	k.begin(rank)
	for block := g.steps[from]; block < g.steps[from+1]; block++ {
		begin, end := g.BlockOps(block)
		first, dependents := g.Links(block)
		k.add(g.ops[begin:end], first, dependents)
	}
}

// repeat takes a rank that has the steps of an earlier one, given by its place in ranks, and computations that have been added.
func (k *packer) repeat(rank, like, calcs int) {
	k.end()
	same := k.ranks[like].packedRank
	same.calcs = calcs
	k.ranks = append(k.ranks, begunRank{int32(rank), same})
}

// end ends the present rank, if there is one. Ranks with equal lists of steps share one: mostly they do the same, for other
// durations.
func (k *packer) end() {
	if !k.begun {
		return
	}
	k.begun = false
	last := len(k.ranks) - 1
	r := &k.ranks[last]
	list := k.steps[r.at:]
	r.steps = uint32(len(list))
	h := uint64(0)
	for _, step := range list {
		h = (h ^ h>>32 ^ uint64(step)) * oddFactor
	}
	if before, ok := k.lists[h]; ok && before < last {
		if same := &k.ranks[before]; slices.Equal(k.steps[same.at:same.at+int(same.steps)], list) {
			r.at, k.steps = same.at, k.steps[:r.at]
			return
		}
	}
	if k.lists == nil {
		k.lists = make(map[uint64]int)
	}
	k.lists[h] = last
}

// take gives the program of so many ranks what packers have packed. Whether there are graphs follows from that; what else
// the shape has is a bound already.
func (p *Packed) take(ranks int, packers []*packer) {
	p.ranks = make([]packedRank, ranks)
	p.shape.Graphs = false
	for i, k := range packers {
		k.end()
		p.stores = append(p.stores, &k.blockStore)
		p.shape = p.shape.union(k.shape)
		for j := range k.ranks {
			begun := &k.ranks[j]
			begun.store = uint32(i)
			p.ranks[begun.rank] = begun.packedRank
		}
		if k.names == nil {
			k.ranks = nil
		}
	}
	p.findSame()
}

// recentBits is the size of the table in which equal blocks are found. It has two places for a hash, so
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
	if len(ops) == 1 && ops[0] == (Op{Kind: Calc, Size: ops[0].Size, Origin: ops[0].Origin}) {
		k.putCalc(&ops[0])
		return
	}
	head := blockHead(len(ops), len(dependents), len(k.first))
	if len(ops) <= maxDistances {
		if kept, ok := k.distances(ops); ok {
			ops, head.Peer = kept, asDistance
		}
	}
	if len(ops) == 2 && len(dependents) == 0 && isExchange(&ops[0], &ops[1]) {
		head.Context = anExchange
	}
	slot := hashBlock(ops, dependents) >> (64 - recentBits)
	newest, older := &k.recent[slot], &k.recent[slot^1]
	if at := *newest; at > 0 && k.holds(at-1, &head, ops, first, dependents) {
		k.steps = append(k.steps, at-1)
		return
	}
	if at := *older; at > 0 && k.holds(at-1, &head, ops, first, dependents) {
		k.steps = append(k.steps, at-1)
		return
	}
	at := k.place(len(k.ops))
	*older, *newest = *newest, at+1
	k.steps = append(k.steps, at)
	k.ops = append(append(k.ops, head), ops...)
	if len(dependents) > 0 {
		k.first = append(append(k.first, uint32(len(k.dependents)), uint32(len(k.dependents)>>32)), first...)
		k.dependents = append(k.dependents, dependents...)
	}
	k.note(ops, len(dependents) > 0)
}

// putCalc is put for a computation and nothing else.
func (k *packer) putCalc(op *Op) {
	k.steps = append(k.steps, loneCalc+k.place(len(k.calcs)-k.ranks[len(k.ranks)-1].calcs))
	k.calcs = append(k.calcs, op.Size)
	if op.Origin != 0 {
		for len(k.origins) < len(k.calcs)-1 {
			k.origins = append(k.origins, 0)
		}
		k.origins = append(k.origins, op.Origin)
	}
}

// distances returns the operations with the distances of their peers from the present rank in place of these. It is of no use
// if there are no messages, or also collectives, whose calls would have to be copied, too; nor if a peer is not a rank.
func (k *packer) distances(ops []Op) (_ []Op, useful bool) {
	k.kept = append(k.kept[:0], ops...)
	rank := k.ranks[len(k.ranks)-1].rank
	for i := range k.kept {
		op := &k.kept[i]
		if op.Kind > Recv || op.Peer == AnySource {
			if op.Kind == Collective {
				return nil, false
			}
			continue
		}
		if uint32(op.Peer) >= uint32(k.total) {
			return nil, false
		}
		if op.Peer -= rank; op.Peer < 0 {
			op.Peer += k.total
		}
		useful = true
	}
	return k.kept, useful
}

// isExchange reports whether two operations are what NextExchange is for.
func isExchange(a, b *Op) bool {
	return a.Kind == Send && b.Kind == Recv && a.Tag == b.Tag && a.Context == b.Context && b.Peer != AnySource &&
		a.CPU|b.CPU|a.NIC|b.NIC == 0
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

// holds reports whether the block with its head at a place is equal to the one given, with a head like that.
func (k *packer) holds(at uint32, like *Op, ops []Op, first []uint32, dependents []Dependent) bool {
	head, here := &k.ops[at], k.ops[at+1:]
	if head.Tag != like.Tag || head.Origin != like.Origin || head.Peer != like.Peer || !slices.Equal(here[:len(ops)], ops) {
		return false
	}
	hereFirst, hereDependents := k.links(head)
	return slices.Equal(hereFirst, first) && slices.Equal(hereDependents, dependents)
}

const oddFactor = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio

// hashBlock returns a number whose high bits differ between most blocks that differ.
func hashBlock(ops []Op, dependents []Dependent) uint64 {
	h := uint64(len(ops))
	for i := range ops {
		op := &ops[i]
		h = (h ^ uint64(op.Size)) * oddFactor
		h = (h ^ h>>32 ^ uint64(uint32(op.Peer)) ^ uint64(op.Tag)<<32) * oddFactor
		h = (h ^ h>>32 ^ uint64(op.Origin)<<32 ^ uint64(op.Kind)<<24 ^ uint64(op.CPU)<<16 ^ uint64(op.NIC)<<8 ^ uint64(op.Context)) * oddFactor
	}
	for _, d := range dependents {
		h = (h ^ h>>32 ^ uint64(d)) * oddFactor
	}
	return h
}
