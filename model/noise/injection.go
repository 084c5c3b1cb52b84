package noise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Injection is noise put on the ranks of a run: a trace that every rank goes through from an
// offset of its own, or different traces for different ranks, and delays of single ranks.
type Injection struct {
	trace  *Detours // of all ranks; nil: none, or perRank
	phases []int64  // by rank: where it begins, in phase time of its trace; nil: all at firstPhase
	first  int64    // phase of all ranks if phases is nil

	perRank []*Detours // by rank, with nil for a quiet one; nil: all have the same trace
	clock   Clock
	delays  map[int32][]interval

	labels     []string         // of all traces, then of the delays
	firstLabel map[*Detours]int // place of the labels of a trace in labels
}

// DelayLabel is the name of delays as a source of noise.
const DelayLabel = "delay"

// interval is an interval of time in which a rank is held up.
type interval struct{ from, to int64 }

// NewInjection returns an injection of a trace, with the offset of each rank in the trace in
// picoseconds. A nil trace and one without noise inject nothing, nil offsets are all 0.
func NewInjection(trace *Detours, offsets []int64) (*Injection, error) {
	in := &Injection{}
	if trace == nil {
		return in, nil
	}
	in.trace = trace
	in.addLabels(trace)
	if err := in.SetOffsets(offsets); err != nil {
		return nil, err
	}
	if trace.Empty() {
		in.trace, in.phases, in.first = nil, nil, 0
	}
	return in, nil
}

// NewPerRank returns an injection in which each rank has a trace of its own, or none: traces[r] is
// the trace of rank r, nil for a quiet rank. offsets are as for NewInjection.
func NewPerRank(traces []*Detours, offsets []int64) (*Injection, error) {
	if offsets != nil && len(offsets) != len(traces) {
		return nil, fmt.Errorf("noise: %d offsets for %d ranks; give one for each rank", len(offsets), len(traces))
	}
	in := &Injection{perRank: make([]*Detours, len(traces))}
	noisy := false
	for r, t := range traces {
		if t != nil && !t.Empty() {
			in.perRank[r], noisy = t, true
			in.addLabels(t)
		}
	}
	if err := in.SetOffsets(offsets); err != nil {
		return nil, err
	}
	if !noisy {
		in.perRank, in.phases = nil, nil
	}
	return in, nil
}

// SetOffsets gives the ranks new offsets, as for NewInjection. It reuses the memory of those
// before, and must not be called while the injection is in use.
func (in *Injection) SetOffsets(offsets []int64) error {
	for r, o := range offsets {
		if o < 0 {
			return fmt.Errorf("noise: the offset of rank %d is %d ps; it must be 0 or more", r, o)
		}
	}
	switch {
	case in.perRank != nil:
		if offsets != nil && len(offsets) != len(in.perRank) {
			return fmt.Errorf("noise: %d offsets for %d ranks; give one for each rank", len(offsets), len(in.perRank))
		}
		in.phases = slices.Grow(in.phases[:0], len(in.perRank))[:len(in.perRank)]
		for r, t := range in.perRank {
			in.phases[r] = 0
			if t != nil {
				o := int64(0)
				if offsets != nil {
					o = offsets[r]
				}
				in.phases[r] = t.phase(o)
			}
		}
	case in.trace != nil && offsets != nil:
		in.phases = slices.Grow(in.phases[:0], len(offsets))[:len(offsets)]
		for r, o := range offsets {
			in.phases[r] = in.trace.phase(o)
		}
	case in.trace != nil:
		in.phases, in.first = nil, in.trace.phase(0)
	}
	return nil
}

// phase returns the phase time of an offset, in [0, period).
func (t *Detours) phase(offset int64) int64 {
	p := t.mod(offset) - (t.period - t.rotation)
	if p < 0 {
		p += t.period
	}
	return p
}

func (in *Injection) addLabels(t *Detours) {
	if _, known := in.firstLabel[t]; known {
		return
	}
	if in.firstLabel == nil {
		in.firstLabel = make(map[*Detours]int)
	}
	in.firstLabel[t] = len(in.labels)
	in.labels = append(in.labels, t.labels...)
}

// Delay holds a rank up: its CPUs do no work in [from, from+length).
func (in *Injection) Delay(rank int, from, length int64) error {
	if rank < 0 || rank > math.MaxInt32 || from < 0 || length < 0 || from > math.MaxInt64-length {
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
	if in.phases != nil && len(in.phases) != ranks {
		return fmt.Errorf("noise: %d offsets for %d ranks; give one for each rank", len(in.phases), ranks)
	}
	highest := int32(-1)
	for r := range in.delays {
		highest = max(highest, r)
	}
	if int(highest) >= ranks {
		return fmt.Errorf("noise: a delay of rank %d, but there are only %d ranks (0..%d)", highest, ranks, ranks-1)
	}
	return nil
}

// Empty reports whether nothing is injected.
func (in *Injection) Empty() bool {
	return in.trace == nil && in.perRank == nil && len(in.delays) == 0
}

// Finish returns the smallest x >= t such that [t, x) holds work picoseconds in which the CPU of
// the rank is available, or -1 if x does not fit into 63 bits. Finish(rank, t, 0) is t. hint is
// kept by the caller, one for each rank (or CPU), 0 at first; it makes the search short when the
// times asked for ascend.
func (in *Injection) Finish(rank int, t, work int64, hint *int32) int64 {
	if work == 0 {
		return t
	}
	trace := in.trace
	if trace == nil || in.delays != nil {
		return in.finishAny(rank, t, work, hint)
	}
	at := t + in.first
	if in.phases != nil {
		at = t + in.phases[rank]
	}
	if at < 0 {
		return -1
	}
	if at >= trace.period {
		at = trace.mod(at)
	}
	if trace.one {
		from := max(at, trace.oneLength)
		if work <= trace.period-from {
			return add(t, from-at+work)
		}
	}
	return trace.finishFrom(t, at, work, hint)
}

// finishAny is Finish for any injection.
func (in *Injection) finishAny(rank int, t, work int64, hint *int32) int64 {
	if in.delays != nil {
		if list := in.delays[int32(rank)]; list != nil {
			return in.finishDelayed(list, rank, t, work, hint)
		}
	}
	return in.finishTrace(rank, t, work, hint)
}

// traceOf returns the trace of a rank, or nil, and where the rank begins in it.
func (in *Injection) traceOf(rank int) (trace *Detours, phase int64) {
	trace, phase = in.trace, in.first
	if in.perRank != nil {
		trace = in.perRank[rank]
	}
	if in.phases != nil {
		phase = in.phases[rank]
	}
	return trace, phase
}

// finishTrace is Finish without delays.
func (in *Injection) finishTrace(rank int, t, work int64, hint *int32) int64 {
	trace, phase := in.traceOf(rank)
	if trace == nil {
		return add(t, work)
	}
	if t > math.MaxInt64-phase {
		return -1
	}
	return trace.finishFrom(t, trace.mod(t+phase), work, hint)
}

// finishFrom returns when work ends that starts at time t, which is phase time at.
func (t *Detours) finishFrom(time, at, work int64, hint *int32) int64 {
	took := t.finish(at, work, hint)
	if took < 0 {
		return -1
	}
	return add(time, took)
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
	trace, phase := in.traceOf(rank)
	if trace == nil {
		return to - from
	}
	return trace.freeBetween(from, to, phase)
}

// add returns a+b, or -1 if it does not fit.
func add(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	return -1
}

// Labels are the names of the sources of noise, in the order of the sums of BySource: those of the
// traces, then DelayLabel.
func (in *Injection) Labels() []string {
	return append(slices.Clip(in.labels), DelayLabel)
}

// BySource adds to sums the noise on a rank in [from, to) by its source, and returns the position in
// the noise at to. position is that at from, which with TimeClock is from itself. sums has an entry
// for each of Labels. What a delay holds up counts for the delay. The sum over all sources is exactly
// the time in which the rank had no CPU.
func (in *Injection) BySource(rank int, from, to, position int64, sums []int64) int64 {
	for _, d := range in.delays[int32(rank)] {
		if d.to <= from || d.from >= to {
			continue
		}
		if free := d.from - from; free > 0 {
			in.traceBySource(rank, position, position+free, sums)
			position += free
		}
		held := min(d.to, to) - max(d.from, from)
		sums[len(in.labels)] += held
		if in.clock == TimeClock {
			position += held
		}
		from = min(d.to, to)
	}
	in.traceBySource(rank, position, position+(to-from), sums)
	return position + (to - from)
}

func (in *Injection) traceBySource(rank int, from, to int64, sums []int64) {
	trace, phase := in.traceOf(rank)
	if trace == nil || from >= to {
		return
	}
	// The phase of the start, turned back to trace time; the periods before do not matter.
	at := int64((uint64(from) + uint64(phase)) % uint64(trace.period))
	if at -= trace.rotation; at < 0 {
		at += trace.period
	}
	first := in.firstLabel[trace]
	sub := sums[first : first+len(trace.labels)]
	if to-from > math.MaxInt64-at {
		// Beyond 63 bits: in two halves.
		middle := from + (to-from)/2
		in.traceBySource(rank, from, middle, sums)
		in.traceBySource(rank, middle, to, sums)
		return
	}
	trace.bySource(at, at+(to-from), sub)
}
