package clock

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"slackline/model/unit"
)

// Comparison is pings between two clocks, which have numbers.
type Comparison struct {
	Asker, Answerer int
	Pings           []Ping
}

// Correction brings a clock to the time of the reference.
type Correction struct {
	Known   bool     // there are comparisons, or it is the reference
	Offsets *Offsets // nil: nothing is to be corrected
	links   []*link  // from the clock to the reference
}

// Synchronize finds the corrections of clocks 0 .. n-1 to a reference among them. Every clock is
// compared with the reference along the way with the smallest error, all ways together being a tree.
func Synchronize(n, reference int, comparisons []Comparison) []Correction {
	out := make([]Correction, n)
	links := make([][]*link, n) // from the clock to another one
	for _, c := range mergeComparisons(comparisons) {
		if l := newLink(c.low, c.high, c.readings); l != nil {
			links[c.high] = append(links[c.high], l)
			links[c.low] = append(links[c.low], l)
		}
	}
	out[reference].Known = true
	for _, s := range shortest(n, reference, links) {
		parent := &out[s.parent]
		l := s.link.from(s.clock)
		out[s.clock] = Correction{
			Known:   true,
			Offsets: compose(l.offsets, parent.Offsets),
			links:   append([]*link{l}, parent.links...),
		}
	}
	return out
}

// Error bounds the error of corrected times of a clock between two of its own times.
func (c *Correction) Error(from, to unit.Duration) unit.Duration {
	sum := 0.0
	for _, l := range c.links {
		sum += l.worst(from, to)
		from, to = l.offsets.correctOr(from), l.offsets.correctOr(to)
	}
	return unit.Duration(math.Ceil(sum))
}

// correctOr corrects a time; no offsets change nothing.
func (o *Offsets) correctOr(t unit.Duration) unit.Duration {
	if o == nil {
		return t
	}
	return o.At(t)
}

// pair is everything known between two clocks.
type pair struct {
	low, high int
	readings  []reading
}

// reading states that clock high showed high when clock low showed low, within an error.
type reading struct {
	low, high unit.Duration
	error     unit.Duration
	exact     bool // asked, answered and back at the same time on both clocks: they are one clock
}

// mergeComparisons puts the pings between the same two clocks together, whoever asked.
func mergeComparisons(comparisons []Comparison) []pair {
	index := map[[2]int]int{}
	var pairs []pair
	for _, c := range comparisons {
		if c.Asker == c.Answerer {
			continue
		}
		key := [2]int{min(c.Asker, c.Answerer), max(c.Asker, c.Answerer)}
		i, ok := index[key]
		if !ok {
			i = len(pairs)
			index[key] = i
			pairs = append(pairs, pair{low: key[0], high: key[1]})
		}
		for _, p := range c.Pings {
			if !p.valid() {
				continue
			}
			r := reading{low: p.Answered, high: p.Middle(), error: halfTrip(p), exact: p.RoundTrip() == 0 && p.offset() == 0}
			if c.Asker == key[0] {
				r.low, r.high = r.high, r.low
			}
			pairs[i].readings = append(pairs[i].readings, r)
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high)) })
	return pairs
}

// halfTrip is half the round trip, with what rounding and the different speeds of the clocks during the
// exchange can add.
func halfTrip(p Ping) unit.Duration {
	half := (p.RoundTrip() + 1) / 2
	return half + unit.Duration(math.Ceil(float64(half)*2*FreeDrift))
}

// step is a clock that found its way to the reference over parent.
type step struct {
	clock, parent int
	link          *link
	error         unit.Duration
	hops          int
}

// shortest returns the ways with the smallest errors, parents before children (Dijkstra).
func shortest(n, reference int, links [][]*link) []step {
	done := make([]bool, n)
	queue := &stepHeap{{clock: reference, parent: reference}}
	var tree []step
	for queue.Len() > 0 {
		s := heap.Pop(queue).(step)
		if done[s.clock] {
			continue
		}
		done[s.clock] = true
		if s.link != nil {
			tree = append(tree, s)
		}
		for _, l := range links[s.clock] {
			other := l.low + l.high - s.clock
			if !done[other] {
				heap.Push(queue, step{other, s.clock, l, s.error + l.error, s.hops + 1})
			}
		}
	}
	return tree
}

// stepHeap is ordered by error, then by hops, then by numbers.
type stepHeap []step

func (h stepHeap) Len() int { return len(h) }
func (h stepHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.error, b.error), cmp.Compare(a.hops, b.hops), cmp.Compare(a.clock, b.clock), cmp.Compare(a.parent,
		b.parent)) < 0
}
func (h stepHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *stepHeap) Push(x any)   { *h = append(*h, x.(step)) }
func (h *stepHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// compose returns the correction that does inner and then outer.
func compose(inner, outer *Offsets) *Offsets {
	if inner == nil {
		return outer
	}
	if outer == nil {
		return inner
	}
	var times []unit.Duration
	for _, k := range inner.knots {
		times = append(times, k.Time)
	}
	for _, k := range outer.knots[1 : len(outer.knots)-1] { // the outermost ones stand for what goes on beyond
		times = append(times, inner.before(k.Time))
	}
	slices.Sort(times)
	times = slices.Compact(times)
	knots := make([]Knot, len(times))
	first, second := inner.Cursor(), outer.Cursor()
	for i, t := range times {
		knots[i] = Knot{t, second.Correct(first.Correct(t)) - t}
	}
	o, err := NewOffsets(knots)
	if err != nil {
		panic("clock: " + err.Error()) // times of knots are sorted and different
	}
	return o
}
