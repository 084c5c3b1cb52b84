// Package noise describes when the CPU of a rank is not available to the program: the detours of
// a periodic trace, and single delays.
//
// Its one function that matters is Injection.Finish: when does CPU work that starts at t end (rule
// R8 of the loggops model). The package knows nothing of schedules, networks or the real machine.
package noise

import (
	"errors"
	"fmt"
	"math/bits"
	"sort"
)

// Detour is a stretch of trace time in which the CPU is not available, in picoseconds.
type Detour struct {
	Start, Length int64
}

// Detours is a periodic trace, ready to be asked when work ends.
type Detours struct {
	period int64
	free   int64 // available time per period

	// The CPU is available in [gapStart[i], gapEnd[i]) of each period; freeBefore[i] is the
	// available time before gap i. Gaps ascend and are not empty.
	gapStart, gapEnd, freeBefore []int64
}

// NewDetours returns the trace with the given period. Starts must lie in [0, period) and not
// descend; what reaches beyond the period wraps to its begin; overlapping and touching detours
// merge.
func NewDetours(period int64, list []Detour) (*Detours, error) {
	if period <= 0 {
		return nil, fmt.Errorf("noise: the period is %d ps; it must be above 0", period)
	}
	var busy []Detour // as [Start, Start+Length) with Start+Length <= period
	for i, d := range list {
		switch {
		case d.Start < 0 || d.Start >= period:
			return nil, fmt.Errorf("noise: detour %d starts at %d ps, outside the period of %d ps", i+1, d.Start, period)
		case i > 0 && d.Start < list[i-1].Start:
			return nil, fmt.Errorf("noise: detour %d starts before the one before it; sort them by start", i+1)
		case d.Length < 0:
			return nil, fmt.Errorf("noise: detour %d has a negative length", i+1)
		case d.Length >= period:
			return nil, fmt.Errorf("noise: detour %d is as long as the period of %d ps", i+1, period)
		case d.Length == 0:
			continue
		}
		if over := d.Start - (period - d.Length); over > 0 {
			busy = append(busy, Detour{d.Start, period - d.Start}, Detour{0, over})
		} else {
			busy = append(busy, d)
		}
	}
	sort.Slice(busy, func(i, j int) bool { return busy[i].Start < busy[j].Start })
	t := &Detours{period: period}
	at := int64(0)
	for _, d := range busy {
		if d.Start > at {
			t.addGap(at, d.Start)
		}
		at = max(at, d.Start+d.Length)
	}
	if at < period {
		t.addGap(at, period)
	}
	if t.free == 0 {
		return nil, errors.New("noise: the detours cover the whole period: no work would ever end")
	}
	return t, nil
}

func (t *Detours) addGap(from, to int64) {
	t.gapStart = append(t.gapStart, from)
	t.gapEnd = append(t.gapEnd, to)
	t.freeBefore = append(t.freeBefore, t.free)
	t.free += to - from
}

// Period is the length of the trace in picoseconds.
func (t *Detours) Period() int64 { return t.period }

// Free is the available time per period in picoseconds.
func (t *Detours) Free() int64 { return t.free }

// finish returns how long work picoseconds of CPU take from trace time at (in [0, period)) on, or
// -1 if that does not fit into 63 bits. hint is the gap of the last answer and is updated.
func (t *Detours) finish(at, work int64, hint *int32) int64 {
	if work == 0 {
		return 0
	}
	i := t.gapAfter(at, int(*hint))
	// Short work in the gap at hand, or in one of the next two, is the usual case.
	from := at
	left := work
	for range 3 {
		if i == len(t.gapStart) {
			break
		}
		from = max(from, t.gapStart[i])
		if from+left <= t.gapEnd[i] {
			*hint = int32(i)
			return from + left - at
		}
		left -= t.gapEnd[i] - from
		i++
	}
	return t.finishFar(at, work, hint)
}

// gapAfter returns the first gap that ends after trace time at; it looks near the hint first.
func (t *Detours) gapAfter(at int64, hint int) int {
	n := len(t.gapEnd)
	for i := hint; i < hint+4 && i < n; i++ {
		if t.gapEnd[i] > at {
			if i == 0 || t.gapEnd[i-1] <= at {
				return i
			}
			break
		}
	}
	return sort.Search(n, func(i int) bool { return t.gapEnd[i] > at })
}

// finishFar is finish for work of any length: through the available time since the begin of the
// period.
func (t *Detours) finishFar(at, work int64, hint *int32) int64 {
	lo, hi := bits.Add64(uint64(t.freeUntil(at)), uint64(work), 0)
	// smallest x with free(x) >= target lies in the period that holds target-1
	lo, borrow := bits.Sub64(lo, 1, 0)
	hi -= borrow
	if hi >= uint64(t.free) {
		return -1
	}
	periods, rest := bits.Div64(hi, lo, uint64(t.free))
	need := int64(rest) + 1
	n := len(t.freeBefore)
	i := sort.Search(n, func(i int) bool { return t.freeBefore[i] >= need }) - 1
	*hint = int32(i)
	hi, lo = bits.Mul64(periods, uint64(t.period))
	if hi != 0 || lo > 1<<62 {
		return -1
	}
	return int64(lo) + t.gapStart[i] + need - t.freeBefore[i] - at
}

// freeUntil returns the available time in [0, at).
func (t *Detours) freeUntil(at int64) int64 {
	i := sort.Search(len(t.gapEnd), func(i int) bool { return t.gapEnd[i] > at })
	if i == len(t.gapEnd) {
		return t.free
	}
	return t.freeBefore[i] + max(at-t.gapStart[i], 0)
}

// freeBetween returns the available time between two points of time, given the offset of a rank.
func (t *Detours) freeBetween(from, to, offset int64) int64 {
	count := func(x int64) int64 {
		x += offset
		return x/t.period*t.free + t.freeUntil(x%t.period)
	}
	return count(to) - count(from)
}
