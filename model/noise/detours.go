// Package noise describes when the CPU of a rank is not available to the program: the detours of
// a periodic trace, and single delays.
//
// A Profile says what the noise is like (a recorded trace, a model, a mixture); Profile.Detours
// makes the periodic trace of it; an Injection puts traces on the ranks of a run. The one function
// that matters is Injection.Finish: when does CPU work that starts at t end (rule R8 of the loggops
// model). Times are picoseconds, exact; random choices come from a seed. The package knows nothing
// of schedules, networks or the real machine.
package noise

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Detour is an interval of trace time in which the CPU is not available, in picoseconds.
type Detour struct {
	Start, Length int64
}

// MaxDetours is the largest number of detours of one trace.
const MaxDetours = 1 << 24

// Detours is a periodic trace, ready to be asked when work ends. It does not change.
type Detours struct {
	period int64
	free   int64 // available time per period

	// Phase time is trace time plus rotation, modulo the period. It is trace time itself, but for
	// a trace with one interval of noise, which begins at phase time 0.
	rotation   int64
	one        bool // one interval of noise, [0, oneLength) of phase time
	oneLength  int64
	reciprocal uint64

	// The CPU is available in the gaps of each period; freeBefore[i] is the available time before
	// gap i. Gaps ascend and are not empty. No gap that ends after phase time k<<shift comes
	// before gap bucket[k].
	gaps       []gap
	freeBefore []int64
	bucket     []int32
	shift      uint

	// Where the noise comes from; not needed to say when work ends.
	list   []Detour // as given, without empty ones
	of     []int32  // label of each; nil: all 0
	labels []string // at least one

	sourcesOnce sync.Once
	sources     sources
}

type gap struct{ start, end int64 }

// NewDetours returns the trace with the given period. Starts must lie in [0, period) and not
// descend; what reaches beyond the period wraps to its start; overlapping and touching detours
// merge. Without detours the trace is free of noise.
func NewDetours(period int64, list []Detour) (*Detours, error) {
	return NewLabeled(period, list, nil, []string{"noise"})
}

// NewLabeled is NewDetours with the source of each detour: of[i] is the index of its label.
func NewLabeled(period int64, list []Detour, of []int32, labels []string) (*Detours, error) {
	if period <= 0 {
		return nil, fmt.Errorf("noise: the period is %d ps; it must be above 0", period)
	}
	if len(list) > MaxDetours {
		return nil, fmt.Errorf("noise: %d detours; at most %d are possible", len(list), MaxDetours)
	}
	if len(labels) == 0 || of != nil && len(of) != len(list) {
		return nil, errors.New("noise: each detour needs one label")
	}
	t := &Detours{period: period, labels: labels, reciprocal: math.MaxUint64 / uint64(period)}
	for i, d := range list {
		if err := checkDetour(period, list, i); err != nil {
			return nil, fmt.Errorf("noise: detour %d %w", i+1, err)
		}
		if of != nil && (of[i] < 0 || int(of[i]) >= len(labels)) {
			return nil, fmt.Errorf("noise: detour %d has label %d of %d", i+1, of[i], len(labels))
		}
		if d.Length == 0 {
			continue
		}
		t.list = append(t.list, d)
		if of != nil {
			t.of = append(t.of, of[i])
		}
	}
	if !t.makeGaps() {
		return nil, ErrFullLoad
	}
	t.findSingle()
	t.makeBuckets()
	return t, nil
}

// ErrFullLoad reports that the CPU would never be available.
var ErrFullLoad = errors.New("noise: the detours cover the whole period: no work would ever end")

// checkDetour returns what is wrong with detour i, in words that follow "detour 7".
func checkDetour(period int64, list []Detour, i int) error {
	d := list[i]
	switch {
	case d.Start < 0:
		return fmt.Errorf("starts at %s ns, before 0", nsText(d.Start))
	case d.Start >= period:
		return fmt.Errorf("starts at %s ns, outside the period of %s ns", nsText(d.Start), nsText(period))
	case i > 0 && d.Start < list[i-1].Start:
		return errors.New("starts before the one before it; sort the detours by start")
	case d.Length < 0:
		return errors.New("has a negative length")
	case d.Length >= period:
		return fmt.Errorf("has %s ns, as long as the period of %s ns or longer", nsText(d.Length), nsText(period))
	}
	return nil
}

// makeGaps finds the intervals in which the CPU is available; false means that there is none.
func (t *Detours) makeGaps() bool {
	wrapped := int64(0) // noise of the start of the period that began before its end
	for _, d := range t.list {
		wrapped = max(wrapped, d.Start-(t.period-d.Length))
	}
	at := wrapped
	for _, d := range t.list {
		if d.Start > at {
			t.addGap(at, d.Start)
		}
		at = max(at, d.Start+min(d.Length, t.period-d.Start))
	}
	if at < t.period {
		t.addGap(at, t.period)
	}
	t.gaps, t.freeBefore = slices.Clip(t.gaps), slices.Clip(t.freeBefore)
	return t.free > 0
}

func (t *Detours) addGap(from, to int64) {
	t.gaps = append(t.gaps, gap{from, to})
	t.freeBefore = append(t.freeBefore, t.free)
	t.free += to - from
}

// findSingle turns a trace with one interval of noise so that it begins at phase time 0.
func (t *Detours) findSingle() {
	busy := t.Intervals()
	if len(busy) != 1 {
		return
	}
	t.one, t.oneLength = true, busy[0].Length
	if busy[0].Start > 0 {
		t.rotation = t.period - busy[0].Start
	}
	t.gaps = []gap{{t.oneLength, t.period}}
	t.freeBefore = []int64{0}
}

// makeBuckets makes the table that finds a gap without a search.
func (t *Detours) makeBuckets() {
	for t.period>>t.shift > 2*int64(len(t.gaps)) {
		t.shift++
	}
	t.bucket = make([]int32, (t.period-1)>>t.shift+2)
	i := 0
	for k := range t.bucket {
		from := int64(math.MaxInt64)
		if k < len(t.bucket)-1 {
			from = int64(k) << t.shift
		}
		for i < len(t.gaps)-1 && t.gaps[i].end <= from {
			i++
		}
		t.bucket[k] = int32(i)
	}
}

// Period is the length of the trace in picoseconds.
func (t *Detours) Period() int64 { return t.period }

// Empty reports whether the trace is free of noise.
func (t *Detours) Empty() bool { return t.free == t.period }

// Len is the number of detours as they were given, without those of no length.
func (t *Detours) Len() int { return len(t.list) }

// At returns detour i as it was given, and the index of its label.
func (t *Detours) At(i int) (d Detour, label int) {
	if t.of != nil {
		label = int(t.of[i])
	}
	return t.list[i], label
}

// Intervals returns the merged detours: intervals of trace time without CPU, apart from each other,
// by start. One that reaches beyond the period keeps its whole length.
func (t *Detours) Intervals() []Detour {
	if t.Empty() {
		return nil
	}
	if t.one {
		return []Detour{{(t.period - t.rotation) % t.period, t.oneLength}}
	}
	var list []Detour
	last := len(t.gaps) - 1
	for i, g := range t.gaps {
		if i < last {
			list = append(list, Detour{g.end, t.gaps[i+1].start - g.end})
		}
	}
	// The interval around the end of the period.
	if end := t.gaps[last].end; end < t.period {
		list = append(list, Detour{end, t.period - end + t.gaps[0].start})
	} else if first := t.gaps[0].start; first > 0 {
		list = slices.Insert(list, 0, Detour{0, first})
	}
	return list
}
