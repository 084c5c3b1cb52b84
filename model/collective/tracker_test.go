package collective

import (
	"errors"
	"fmt"
	"math/bits"

	"slackline/model/schedule"
)

// bitset operations on sets of ranks.

func newSet(n int) []uint64 { return make([]uint64, (n+63)/64) }

func setHas(s []uint64, i int) bool { return s[i/64]>>(i%64)&1 != 0 }

func setAdd(s []uint64, i int) { s[i/64] |= 1 << (i % 64) }

func setCount(s []uint64) (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// setRelation tells whether a and b have nothing in common, and whether b contains a.
func setRelation(a, b []uint64) (disjoint, contained bool) {
	disjoint, contained = true, true
	for i := range a {
		disjoint = disjoint && a[i]&b[i] == 0
		contained = contained && a[i]&^b[i] == 0
	}
	return disjoint, contained
}

func setUnite(a, b []uint64) {
	for i := range a {
		a[i] |= b[i]
	}
}

// sizesOnly follows no data; the run checks matching, sizes and progress.
type sizesOnly struct{}

func (sizesOnly) step(int, int64, bool) error           { return nil }
func (sizesOnly) send(int, int, int64) (carried, error) { return carried{}, nil }
func (sizesOnly) recv(int, int, int64, carried) error   { return nil }
func (sizesOnly) finish() error                         { return nil }

// entered follows a barrier: who is known to have entered.
type entered struct {
	p     int
	known [][]uint64
}

func newEntered(p int) *entered {
	t := &entered{p: p}
	for r := range p {
		s := newSet(p)
		setAdd(s, r)
		t.known = append(t.known, s)
	}
	return t
}

func (t *entered) step(_ int, reduced int64, _ bool) error {
	if reduced != 0 {
		return errors.New("a barrier reduces nothing")
	}
	return nil
}

func (t *entered) send(rank, _ int, size int64) (carried, error) {
	if size != barrierBytes {
		return carried{}, fmt.Errorf("a message of %d bytes in a barrier", size)
	}
	return carried{sets: append([]uint64(nil), t.known[rank]...)}, nil
}

func (t *entered) recv(rank, _ int, _ int64, c carried) error {
	setUnite(t.known[rank], c.sets)
	return nil
}

func (t *entered) finish() error {
	for r, s := range t.known {
		if n := setCount(s); n != t.p {
			return fmt.Errorf("rank %d leaves the barrier when it knows of %d ranks", r, n)
		}
	}
	return nil
}

// holdings follows blocks that are moved but not changed.
type holdings struct {
	have []uint64 // by rank: blocks that it has
	want []uint64 // by rank: blocks that it must have at the end
	// again allows that a rank gets a block that it has. In a broadcast by scatter and
	// allgather the inner ranks of the tree do.
	again bool
}

func (t *holdings) step(_ int, reduced int64, _ bool) error {
	if reduced != 0 {
		return errors.New("a reduction where data is only moved")
	}
	return nil
}

func (t *holdings) send(rank, _ int, size int64) (carried, error) {
	blocks := uint64(size)
	if blocks&^t.have[rank] != 0 {
		return carried{}, fmt.Errorf("it sends the blocks %b but has %b", blocks, t.have[rank])
	}
	return carried{blocks: blocks}, nil
}

func (t *holdings) recv(rank, _ int, _ int64, c carried) error {
	if c.blocks&t.have[rank] != 0 && !t.again {
		return fmt.Errorf("it brings the blocks %b where %b are", c.blocks, t.have[rank])
	}
	t.have[rank] |= c.blocks
	return nil
}

func (t *holdings) finish() error {
	for r := range t.have {
		if t.want[r]&^t.have[r] != 0 {
			return fmt.Errorf("rank %d ends with the blocks %b and lacks some of %b", r, t.have[r], t.want[r])
		}
	}
	return nil
}

// contributions follows reductions: for each rank and block the set of ranks whose contributions
// are combined in it. What a rank receives it combines with what it has if the two have no rank in
// common; if the message contains all that it has, and more, it is a result that replaces it.
// Anything else counts a rank twice and is an error, unless the algorithm says that it does.
type contributions struct {
	p, blocks int
	words     int
	sets      []uint64 // rank, block, word
	want      func(rank int) uint64
	repeats   bool
	free      bool     // reductions are not marked
	fresh     []uint64 // by rank: blocks received but not yet reduced
	owed      []int64  // by rank: bytes that must be reduced next
}

// isPower reports whether p is a power of the radix, or of 2 if there is none.
func isPower(p, radix int) bool {
	power := 1
	for power < p {
		power *= max(radix, 2)
	}
	return power == p
}

func newContributions(p, blocks int, in *Instance, want func(rank int) uint64) *contributions {
	t := &contributions{p: p, blocks: blocks, words: (p + 63) / 64, want: want, repeats: in.Algorithm.Repeats &&
		!isPower(p, in.Radix), free: in.FreeReduce}
	t.sets = make([]uint64, p*blocks*t.words)
	t.fresh, t.owed = make([]uint64, p), make([]int64, p)
	for r := range p {
		for i := range blocks {
			setAdd(t.set(r, i), r)
		}
	}
	return t
}

func (t *contributions) set(rank, block int) []uint64 {
	at := (rank*t.blocks + block) * t.words
	return t.sets[at : at+t.words]
}

func (t *contributions) step(rank int, reduced int64, _ bool) error {
	if t.free {
		if reduced != 0 {
			return errors.New("a reduction is marked though it costs nothing")
		}
		return nil
	}
	if reduced != t.owed[rank] {
		return fmt.Errorf("it reduces %d bytes, but the step before brought %d to combine", reduced, t.owed[rank])
	}
	t.owed[rank], t.fresh[rank] = 0, 0
	return nil
}

func (t *contributions) send(rank, _ int, size int64) (carried, error) {
	c := carried{blocks: uint64(size)}
	if c.blocks>>t.blocks != 0 {
		return c, fmt.Errorf("%d bytes are more than there are", size)
	}
	if !t.free && c.blocks&t.fresh[rank] != 0 {
		return c, errors.New("it sends a block before it is combined")
	}
	for m := c.blocks; m != 0; m &= m - 1 {
		c.sets = append(c.sets, t.set(rank, bits.TrailingZeros64(m))...)
	}
	return c, nil
}

func (t *contributions) recv(rank, _ int, _ int64, c carried) error {
	sets := c.sets
	for m := c.blocks; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		have, got := t.set(rank, i), sets[:t.words]
		sets = sets[t.words:]
		disjoint, contained := setRelation(have, got)
		switch {
		case disjoint || t.repeats:
			t.fresh[rank] |= 1 << i
			t.owed[rank] += 1 << i
			setUnite(have, got)
		case contained:
			copy(have, got)
		default:
			return fmt.Errorf("block %d: it counts some of the ranks %b twice", i, got)
		}
	}
	return nil
}

func (t *contributions) finish() error {
	for r := range t.p {
		if t.owed[r] != 0 && !t.free {
			return fmt.Errorf("rank %d ends before it has combined what it got", r)
		}
		for m := t.want(r); m != 0; m &= m - 1 {
			if n := setCount(t.set(r, bits.TrailingZeros64(m))); n != t.p {
				return fmt.Errorf("rank %d ends with %d contributions in block %d", r, n, bits.TrailingZeros64(m))
			}
		}
	}
	return nil
}

// prefixes follows scan and exscan. A rank sends the combination of all that it has got so far and
// of its own vector. Its result is made of what comes from below.
type prefixes struct {
	op       schedule.Operation
	size     int64
	partial  [][]uint64
	result   [][]uint64
	received []int64 // and not combined yet
	free     bool
}

func newPrefixes(p int, in *Instance) *prefixes {
	t := &prefixes{op: in.Op, size: in.Size, received: make([]int64, p), free: in.FreeReduce}
	for r := range p {
		own := newSet(p)
		setAdd(own, r)
		t.partial = append(t.partial, own)
		result := newSet(p)
		if in.Op == schedule.Scan {
			setAdd(result, r)
		}
		t.result = append(t.result, result)
	}
	return t
}

func (t *prefixes) step(rank int, reduced int64, sends bool) error {
	switch {
	case t.free && reduced != 0:
		return errors.New("a reduction is marked though it costs nothing")
	case t.free:
	case reduced > 2*t.received[rank]:
		return fmt.Errorf("it reduces %d bytes after it got %d", reduced, t.received[rank])
	case reduced > 0:
		t.received[rank] = 0
	case t.received[rank] > 0 && sends:
		return errors.New("it sends before it has combined what it got")
	}
	return nil
}

func (t *prefixes) send(rank, _ int, size int64) (carried, error) {
	if size != t.size {
		return carried{}, fmt.Errorf("%d bytes of a vector of %d", size, t.size)
	}
	return carried{sets: append([]uint64(nil), t.partial[rank]...)}, nil
}

func (t *prefixes) recv(rank, from int, size int64, c carried) error {
	t.received[rank] += size
	if disjoint, _ := setRelation(t.partial[rank], c.sets); !disjoint {
		return errors.New("it counts a rank twice")
	}
	setUnite(t.partial[rank], c.sets)
	if from < rank {
		setUnite(t.result[rank], c.sets)
	}
	return nil
}

func (t *prefixes) finish() error {
	for r, s := range t.result {
		n := r
		if t.op == schedule.Scan {
			n++
			if t.received[r] > 0 && !t.free {
				return fmt.Errorf("rank %d ends before it has combined what it got", r)
			}
		}
		if setCount(s) != n {
			return fmt.Errorf("the result of rank %d has %d contributions", r, setCount(s))
		}
		for i := range n {
			if !setHas(s, i) {
				return fmt.Errorf("the result of rank %d lacks rank %d", r, i)
			}
		}
	}
	return nil
}
