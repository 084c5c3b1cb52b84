package noise

import (
	"math"
	"math/bits"
	"sort"
)

// mod returns x modulo the period for x >= 0, by a product instead of a division.
func (t *Detours) mod(x int64) int64 {
	q, _ := bits.Mul64(uint64(x), t.reciprocal)
	r := x - int64(q)*t.period
	for r >= t.period { // q is at most 2 too small
		r -= t.period
	}
	return r
}

// finish returns how long work picoseconds of CPU (more than 0) take from phase time at (in [0,
// period)) on, or -1 if that does not fit into 63 bits. hint is the gap of the last answer and is
// updated.
func (t *Detours) finish(at, work int64, hint *int32) int64 {
	if t.one {
		from := max(at, t.oneLength)
		if work <= t.period-from {
			return from - at + work
		}
		return t.finishFar(at, work, hint)
	}
	i := t.gapAfter(at, int(*hint))
	// Short work in the gap at hand, or in one of the next two, is the usual case.
	from := at
	left := work
	for range 3 {
		if i == len(t.gaps) {
			break
		}
		g := &t.gaps[i]
		from = max(from, g.start)
		if left <= g.end-from {
			*hint = int32(i)
			return from - at + left
		}
		left -= g.end - from
		i++
	}
	return t.finishFar(at, work, hint)
}

// gapAfter returns the first gap that ends after phase time at, or the number of gaps if there is
// none. It looks near the hint first, then into the buckets.
func (t *Detours) gapAfter(at int64, hint int) int {
	gaps := t.gaps
	if uint(hint) < uint(len(gaps)) && (hint == 0 || gaps[hint-1].end <= at) {
		if at < gaps[hint].end {
			return hint
		}
		if hint++; hint < len(gaps) && at < gaps[hint].end {
			return hint
		}
	}
	k := at >> t.shift
	lo, hi := int(t.bucket[k]), int(t.bucket[k+1])
	for range 4 {
		if at < gaps[lo].end {
			return lo
		}
		if lo++; lo > hi {
			return lo // only after the last gap: the first of the next bucket ends after at
		}
	}
	return lo + sort.Search(hi+1-lo, func(i int) bool { return at < gaps[lo+i].end })
}

// finishFar is finish for work of any length: through the available time since the start of the
// period.
func (t *Detours) finishFar(at, work int64, hint *int32) int64 {
	// The end is the smallest x with free(x) >= target; it lies in the period that holds target-1.
	// Neither term is above 2^63, so nothing overflows in 64 bits.
	target := uint64(t.freeUntil(at)) + uint64(work) - 1
	periods, rest := target/uint64(t.free), target%uint64(t.free)
	need := int64(rest) + 1
	i := 0
	if !t.one {
		i = sort.Search(len(t.freeBefore), func(i int) bool { return t.freeBefore[i] >= need }) - 1
		*hint = int32(i)
	}
	end := t.gaps[i].start + need - t.freeBefore[i]
	hi, lo := bits.Mul64(periods, uint64(t.period))
	lo, carry := bits.Add64(lo, uint64(end), 0)
	lo, borrow := bits.Sub64(lo, uint64(at), 0)
	if hi+carry-borrow != 0 || lo > math.MaxInt64 {
		return -1
	}
	return int64(lo)
}

// freeUntil returns the available time in [0, at) of phase time, at in [0, period).
func (t *Detours) freeUntil(at int64) int64 {
	i := t.gapAfter(at, -1)
	if i == len(t.gaps) {
		return t.free
	}
	return t.freeBefore[i] + max(at-t.gaps[i].start, 0)
}

// freeBetween returns the available time between two points of time, given the phase of a rank.
func (t *Detours) freeBetween(from, to, phase int64) int64 {
	count := func(x uint64) int64 { // x is below 2^64: a time and a phase
		return int64(x/uint64(t.period))*t.free + t.freeUntil(int64(x%uint64(t.period)))
	}
	return count(uint64(to)+uint64(phase)) - count(uint64(from)+uint64(phase))
}
