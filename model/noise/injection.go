package noise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Injection is noise put on the ranks of a run: a trace that every rank goes through from an
// offset of its own, and delays of single ranks.
type Injection struct {
	trace   *Detours
	offsets []int64 // by rank, in [0, period); nil: all 0
	delays  map[int32][]interval
}

// interval is a stretch of time in which a rank is held up.
type interval struct{ from, to int64 }

// NewInjection returns an injection of a trace, with the offset of each rank in the trace in
// picoseconds. A nil trace injects nothing, nil offsets are all 0.
func NewInjection(trace *Detours, offsets []int64) (*Injection, error) {
	in := &Injection{trace: trace}
	if trace == nil || offsets == nil {
		return in, nil
	}
	in.offsets = make([]int64, len(offsets))
	for r, o := range offsets {
		if o < 0 {
			return nil, fmt.Errorf("noise: the offset of rank %d is %d ps; it must be 0 or more", r, o)
		}
		in.offsets[r] = o % trace.period
	}
	return in, nil
}

// Delay holds a rank up: its CPUs do no work in [from, from+length).
func (in *Injection) Delay(rank int, from, length int64) error {
	if rank < 0 || from < 0 || length < 0 || from > math.MaxInt64-length {
		return fmt.Errorf("noise: a delay of rank %d at %d ps for %d ps is out of range", rank, from, length)
	}
	if length == 0 {
		return nil
	}
	if in.delays == nil {
		in.delays = make(map[int32][]interval)
	}
	list := append(in.delays[int32(rank)], interval{from, from + length})
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	merged := list[:1]
	for _, d := range list[1:] {
		if last := &merged[len(merged)-1]; d.from <= last.to {
			last.to = max(last.to, d.to)
		} else {
			merged = append(merged, d)
		}
	}
	in.delays[int32(rank)] = merged
	return nil
}

// CheckRanks returns an error if the injection does not fit a run of that many ranks.
func (in *Injection) CheckRanks(ranks int) error {
	if in.offsets != nil && len(in.offsets) != ranks {
		return fmt.Errorf("noise: %d offsets for %d ranks; give one for each rank", len(in.offsets), ranks)
	}
	for r := range in.delays {
		if int(r) >= ranks {
			return fmt.Errorf("noise: a delay of rank %d, but there are only %d ranks (0..%d)", r, ranks, ranks-1)
		}
	}
	return nil
}

// Finish returns the smallest x >= t such that [t, x) holds work picoseconds in which the CPU of
// the rank is available, or -1 if x does not fit into 63 bits. Finish(rank, t, 0) is t. hint is
// kept by the caller, one for each rank (or CPU), 0 at first; it makes the search short when the
// times asked for ascend.
func (in *Injection) Finish(rank int, t, work int64, hint *int32) int64 {
	if work == 0 {
		return t
	}
	if in.delays != nil {
		if list := in.delays[int32(rank)]; list != nil {
			return in.finishDelayed(list, rank, t, work, hint)
		}
	}
	return in.finishTrace(rank, t, work, hint)
}

func (in *Injection) finishTrace(rank int, t, work int64, hint *int32) int64 {
	if in.trace == nil {
		return add(t, work)
	}
	at := t
	if in.offsets != nil {
		at += in.offsets[rank]
	}
	if at < 0 {
		return -1
	}
	if at >= in.trace.period {
		at %= in.trace.period
	}
	took := in.trace.finish(at, work, hint)
	if took < 0 {
		return -1
	}
	return add(t, took)
}

// finishDelayed works from one delay of the rank to the next.
func (in *Injection) finishDelayed(list []interval, rank int, t, work int64, hint *int32) int64 {
	for _, d := range list {
		if d.to <= t {
			continue
		}
		if t < d.from {
			x := in.finishTrace(rank, t, work, hint)
			if x >= 0 && x <= d.from {
				return x
			}
			work -= in.available(rank, t, d.from)
		}
		t = d.to
	}
	return in.finishTrace(rank, t, work, hint)
}

// available is the CPU time of the trace between two points of time.
func (in *Injection) available(rank int, from, to int64) int64 {
	if in.trace == nil {
		return to - from
	}
	offset := int64(0)
	if in.offsets != nil {
		offset = in.offsets[rank]
	}
	return in.trace.freeBetween(from, to, offset)
}

// add returns a+b, or -1 if it does not fit.
func add(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	return -1
}

// Empty reports whether nothing is injected.
func (in *Injection) Empty() bool { return in.trace == nil && len(in.delays) == 0 }
