package explore

import (
	"math/bits"
	"sort"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// layout is how the time of every location is divided into bins, the same for all colorings.
//
// Bins have widths that are powers of two in picoseconds and begin at multiples of them, so that a bin is exactly two of
// half its width. The time of a location is a tree: a segment, whose width is a power of two as well, is either halved
// into two segments, or it is even: it has bins of its whole width, of half of it, and so on down to a lowest width at
// which there are about as many bins as calls. Segments are halved until the calls are distributed evenly, or are few. So
// a window of as many columns as a screen has meets bins as narrow as its columns, or not many more calls than columns,
// wherever the calls of a location lie; and there are a few bins for each call.
type layout struct {
	length    unit.Duration // of the run
	finest    int           // the lowest width that any location has, as a power of two
	locations [][]segment
}

// segment is a part of the time of a location. Those of a location are in preorder: the first half of a segment that
// is halved follows it, and the second half, if the run lasts until it, is the next of the first one.
type segment struct {
	width  uint8 // as a power of two
	lowest uint8 // lowest width of its bins; halved: that of the whole, which is its only bin
	halved bool
	next   int32 // index of the first segment after it and its halves
	bins   int32 // its first bin among those of the location: the lowest first
}

const (
	// An even segment has up to binsPerCall bins for each of its calls, and leastBins.
	binsPerCall = 1
	leastBins   = 32
)

// evenness is when calls are distributed evenly.
type evenness struct {
	few   int // so few calls can be gone through for a picture wherever they lie
	patch int // no patch of so many of the lowest bins of an even segment has more calls than bins
}

// usual is the evenness of layouts.
var usual = evenness{few: 512, patch: 128}

// newLayout divides the time of all locations.
func newLayout(v *view, e evenness) *layout {
	y := &layout{length: v.length(), finest: 63, locations: make([][]segment, len(v.tl.Locations))}
	parallel.Each(len(y.locations), v.threads, func(location int) {
		d := divider{evenness: e, start: v.tl.Start, length: y.length, enter: v.tl.Locations[location].Calls.Enter}
		d.divide(0, bits.Len64(uint64(y.length-1)), 0, len(d.enter))
		y.locations[location] = d.list
	})
	for _, list := range y.locations {
		for i := range list {
			if !list[i].halved {
				y.finest = min(y.finest, int(list[i].lowest))
			}
		}
	}
	return y
}

// binsOf is how many bins of a width there are from a moment on in a segment, as far as the run goes.
func (y *layout) binsOf(s *segment, from unit.Duration, width int) int {
	return int((min(from+1<<s.width, y.length)-from-1)>>width) + 1
}

// size is the number of all bins of a location.
func (y *layout) size(location int) int {
	n := 0
	y.eachSegment(location, func(s *segment, from unit.Duration) {
		for width := int(s.lowest); width <= int(s.width); width++ {
			n += y.binsOf(s, from, width)
		}
	})
	return n
}

// eachSegment calls visit for all segments of a location with the times at which they start.
func (y *layout) eachSegment(location int, visit func(s *segment, from unit.Duration)) {
	list := y.locations[location]
	var walk func(i int32, from unit.Duration)
	walk = func(i int32, from unit.Duration) {
		s := &list[i]
		visit(s, from)
		if !s.halved {
			return
		}
		walk(i+1, from)
		if second := list[i+1].next; second < s.next {
			walk(second, from+1<<(s.width-1))
		}
	}
	walk(0, 0)
}

// divider divides the time of one location.
type divider struct {
	evenness
	start, length unit.Duration
	enter         []unit.Duration
	list          []segment
	bins          int32
}

// divide divides the segment from a moment on in which the calls from one to another begin.
func (d *divider) divide(from unit.Duration, width, first, last int) {
	at := len(d.list)
	s := segment{width: uint8(width), lowest: uint8(width), bins: d.bins}
	whole := min(from+1<<width, d.length) - from
	most := max(leastBins, binsPerCall*(last-first))
	for s.lowest > 0 && int((whole-1)>>(s.lowest-1))+1 <= most {
		s.lowest--
	}
	s.halved = !d.even(&s, from, first, last)
	if s.halved {
		s.lowest = s.width
	}
	for w := s.lowest; w <= s.width; w++ {
		d.bins += int32((whole-1)>>w) + 1
	}
	d.list = append(d.list, s)
	if s.halved {
		half := from + 1<<(width-1)
		middle := first + d.before(first, last, half)
		d.divide(from, width-1, first, middle)
		if half < d.length {
			d.divide(half, width-1, middle, last)
		}
	}
	d.list[at].next = int32(len(d.list))
}

// before is how many of some calls begin before a moment.
func (d *divider) before(first, last int, t unit.Duration) int {
	list := d.enter[first:last]
	return sort.Search(len(list), func(i int) bool { return list[i]-d.start >= t })
}

// even reports whether the calls of a segment are distributed evenly, or are few, or the segment cannot be divided further.
func (d *divider) even(s *segment, from unit.Duration, first, last int) bool {
	if last-first <= d.few || s.lowest == 0 {
		return true
	}
	patchOf := func(call int) unit.Duration {
		return (d.enter[call] - d.start - from) >> s.lowest / unit.Duration(d.patch)
	}
	for at := first; at+d.patch < last; {
		patch := patchOf(at)
		if patchOf(at+d.patch) == patch {
			return false
		}
		at += d.before(at, at+d.patch, from+(patch+1)*unit.Duration(d.patch)<<s.lowest)
	}
	return true
}
