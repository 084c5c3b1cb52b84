package collective

import (
	"fmt"
	"math/bits"
	"testing"

	"slackline/internal/needed"
	"slackline/model/schedule"
)

// maxTracked is the number of blocks that one run follows: their sizes are powers of two, and the
// sum of all must fit into a size.
const maxTracked = 60

// batch is the blocks first .. first+n-1 of a partition, which a run follows.
type batch struct{ first, n int }

// batches splits blocks into those of several runs. If there are more runs than most, it takes the
// first, the last and some in between.
func batches(blocks, most int) []batch {
	runs := (blocks + maxTracked - 1) / maxTracked
	var list []batch
	for i := range min(runs, most) {
		run := i
		if runs > most && most > 1 {
			run = i * (runs - 1) / (most - 1)
		}
		first := run * maxTracked
		list = append(list, batch{first, min(maxTracked, blocks-first)})
	}
	return list
}

// sizes returns the sizes of n blocks: powers of two for those of the batch, 0 for the others.
func (b batch) sizes(n int) []int64 {
	list := make([]int64, n)
	for i := range b.n {
		list[b.first+i] = 1 << i
	}
	return list
}

// bit returns the set with block i, or the empty set if the batch does not have it.
func (b batch) bit(i int) uint64 {
	if i < b.first || i >= b.first+b.n {
		return 0
	}
	return 1 << (i - b.first)
}

func (b batch) all() uint64 { return 1<<b.n - 1 }

// trackVector makes the partition of an instance that of the batch.
func (in *Instance) trackVector(parts int, b batch) {
	ends := make([]int64, parts+1)
	for i, size := range b.sizes(parts) {
		ends[i+1] = ends[i] + size
	}
	in.Size = ends[parts]
	in.partition = partition{parts: parts, ends: ends}
}

// prove runs an algorithm on p ranks with a root, following at most the given number of batches.
func prove(f *flow, a *Algorithm, p, root, radix, mostBatches int, free bool) error {
	instance := func(call schedule.Call) (*Instance, error) {
		call.Op, call.Root = a.Op, int32(root)
		in, err := newInstance(&call, p, a, -1, radix)
		if err == nil {
			in.FreeReduce = free
		}
		return in, err
	}
	blocks := p
	if a.Op == schedule.Alltoall {
		blocks = p * p
	}
	if !byRank(a.Op) && a.Op != schedule.Alltoall {
		in, err := instance(schedule.Call{})
		if err != nil {
			return err
		}
		if blocks = in.parts; a.Segmented {
			blocks = 1 + (p+root)%4 // segments
		}
	}
	for _, b := range batches(blocks, mostBatches) {
		var call schedule.Call
		if byRank(a.Op) || a.Op == schedule.Alltoall {
			call.Sizes = b.sizes(blocks)
		}
		in, err := instance(call)
		if err != nil {
			return err
		}
		if call.Sizes == nil {
			in.trackVector(blocks, b)
		}
		if err := f.run(p, func(int) *Instance { return in }, trackerFor(in, b)); err != nil {
			return fmt.Errorf("%s %s, P = %d, root %d, radix %d, blocks from %d, free %v: %w",
				a.Op, a.Name, p, root, in.Radix, b.first, free, err)
		}
	}
	return nil
}

// trackerFor returns the tracker that knows what the operation must do.
func trackerFor(in *Instance, b batch) tracker {
	p, root := in.Ranks, int(in.Root)
	have, want := make([]uint64, p), make([]uint64, p)
	moved := &holdings{have: have, want: want}
	switch in.Op {
	case schedule.Barrier:
		return newEntered(p)
	case schedule.Bcast:
		have[root], moved.again = b.all(), true
		for r := range p {
			want[r] = b.all()
		}
		return moved
	case schedule.Gather:
		for r := range p {
			have[r] = b.bit(r)
		}
		want[root] = b.all()
		return moved
	case schedule.Scatter:
		have[root] = b.all()
		for r := range p {
			want[r] = b.bit(r)
		}
		return moved
	case schedule.Allgather:
		for r := range p {
			have[r], want[r] = b.bit(r), b.all()
		}
		return moved
	case schedule.Alltoall:
		for i := range b.n {
			pair := b.first + i
			have[pair/p] |= 1 << i
			want[pair%p] |= 1 << i
		}
		return moved
	case schedule.Reduce:
		return newContributions(p, b.n, in, func(r int) uint64 {
			if r == root {
				return b.all()
			}
			return 0
		})
	case schedule.Allreduce:
		return newContributions(p, b.n, in, func(int) uint64 { return b.all() })
	case schedule.ReduceScatter:
		return newContributions(p, b.n, in, b.bit)
	case schedule.Scan, schedule.Exscan:
		return newPrefixes(p, in)
	}
	return sizesOnly{}
}

// radixes returns the radixes to try, 0 if there is none.
func radixes(a *Algorithm, p int) []int {
	switch {
	case a.Radix == 0:
		return []int{0}
	case p <= 40:
		return []int{2, 3, 4, 5, 7, 64}
	}
	return []int{3, 4, 8}
}

// reduces reports whether an operation combines data.
func reduces(op schedule.Operation) bool {
	switch op {
	case schedule.Reduce, schedule.Allreduce, schedule.ReduceScatter, schedule.Scan, schedule.Exscan:
		return true
	}
	return false
}

// TestEveryAlgorithm proves all algorithms for all P up to 70 and all roots.
func TestEveryAlgorithm(t *testing.T) {
	for _, a := range All() {
		if a.Op.IsNeighbor() {
			continue // TestNeighborhoods
		}
		t.Run(a.Op.String()+"/"+a.Name, func(t *testing.T) {
			t.Parallel()
			var f flow
			for p := 1; p <= 70; p++ {
				if testing.Short() && p > 17 && p != 32 && p != 33 {
					continue
				}
				roots := 1
				if rooted(a.Op) {
					roots = p
				}
				for root := range roots {
					for _, radix := range radixes(a, p) {
						if err := prove(&f, a, p, root, radix, 1000, false); err != nil {
							t.Fatal(err)
						}
						if root > 1 || !reduces(a.Op) {
							continue
						}
						if err := prove(&f, a, p, root, radix, 1000, true); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		})
	}
}

// TestManyRanks proves all algorithms for some larger P and some roots. Algorithms with many
// blocks are followed for some of the blocks.
func TestManyRanks(t *testing.T) {
	needed.Full(t, "proofs for many ranks")
	for _, a := range All() {
		if a.Op.IsNeighbor() {
			continue
		}
		t.Run(a.Op.String()+"/"+a.Name, func(t *testing.T) {
			t.Parallel()
			var f flow
			for _, p := range []int{100, 127, 128, 129, 255, 256, 257, 1000} {
				roots := []int{0}
				if rooted(a.Op) {
					roots = []int{0, 1, p / 3, p - 1}
				}
				most := 3
				if p > 300 {
					most, roots = 1, roots[:1]
					if f.message > f.p*f.p/4 {
						continue // too many messages for a test
					}
				}
				for _, root := range roots {
					for _, radix := range radixes(a, p) {
						if err := prove(&f, a, p, root, radix, most, false); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		})
	}
}

// TestRepeats shows that an algorithm that is marked as counting ranks twice does so, but not for
// powers of two, and that the proof would notice.
func TestRepeats(t *testing.T) {
	var f flow
	for _, a := range All() {
		if !a.Repeats {
			continue
		}
		exact := *a
		exact.Repeats = false
		for p := 2; p <= 33; p++ {
			err := prove(&f, &exact, p, 0, 0, 1, false)
			if power := bits.OnesCount(uint(p)) == 1; (err == nil) != power {
				t.Errorf("%s %s, P = %d: exactly once %v, want %v", a.Op, a.Name, p, err == nil, power)
			}
			f = flow{} // the run may have ended early
		}
	}
}
