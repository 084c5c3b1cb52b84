package explore

import (
	"context"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// coloring gives every moment of every location a category. It can be asked for any window: wide ones are answered
// from an index, narrow ones from the calls themselves.
//
// The index has, for every bin of the layout, the category that takes most of its time. So it takes a few bytes for each
// call, and a picture costs about one look for each of its cells, from whichever side it comes.
type coloring struct {
	v          *view
	categories int
	shades     shades
	waits      *waitSpans // nil: calls alone count
	waiting    func(state int) uint16
	findings   *findings
	idle       func(*idleSpan) uint16
	index      index
}

// add adds what a location does from one moment to another to a binner that has come to the first of them.
func add[T cell](c *coloring, location int, from, to unit.Duration, b *binner[T]) {
	at := from
	if c.waits != nil {
		c.waits.each(location, from, to, func(begin, end unit.Duration, state int) {
			if begin > at {
				addWork(c, location, at, begin, b)
			}
			b.add(end, c.waiting(state))
			at = end
		})
	}
	if at < to {
		addWork(c, location, at, to, b)
	}
}

// addWork adds a time without wait states: calls, and idle times between them.
func addWork[T cell](c *coloring, location int, from, to unit.Duration, b *binner[T]) {
	at := from
	if c.findings != nil && len(c.findings.idle[location]) > 0 {
		c.findings.eachIdle(location, from, to, func(begin, end unit.Duration, i int) {
			if begin > at {
				walk(c.v, &c.shades, location, at, begin, b)
			}
			b.add(end, c.idle(&c.findings.idle[location][i]))
			at = end
		})
	}
	if at < to {
		walk(c.v, &c.shades, location, at, to, b)
	}
}

// index answers wide windows.
type index interface {
	// look fills columns of a location: bins of a width (a power of two), from a number on. It calls missing for those
	// that are narrower than the bins that there are: few calls lie there, and they can be asked themselves.
	look(width, location, first int, out []uint16, missing func(from, to int))
}

// pyramid is an index whose bins have the given type.
type pyramid[T cell] struct {
	layout *layout
	bins   [][]T // by location, as the layout has them
}

func (p *pyramid[T]) look(width, location, first int, out []uint16, missing func(from, to int)) {
	l := looker[T]{
		layout: p.layout, list: p.layout.locations[location], bins: p.bins[location],
		width: width, first: first, out: out, missing: missing,
	}
	l.look(0, 0)
	l.miss()
}

// looker fills the columns of one location.
type looker[T cell] struct {
	layout   *layout
	list     []segment
	bins     []T
	width    int // of the columns
	first    int
	out      []uint16
	missing  func(from, to int)
	from, to int // columns that are missing and not yet reported
}

// look fills the columns that a segment has.
func (l *looker[T]) look(i int32, from unit.Duration) {
	s := &l.list[i]
	low := max(int(from>>l.width)-l.first, 0)
	high := min(int((min(from+1<<s.width, l.layout.length)-1)>>l.width)+1-l.first, len(l.out))
	switch {
	case low >= high:
	case s.halved && int(s.width) > l.width:
		l.look(i+1, from)
		if second := l.list[i+1].next; second < s.next {
			l.look(second, from+1<<(s.width-1))
		}
	case l.width < int(s.lowest):
		if l.to != low {
			l.miss()
			l.from = low
		}
		l.to = high
	default:
		at := int(s.bins)
		for w := int(s.lowest); w < l.width; w++ {
			at += l.layout.binsOf(s, from, w)
		}
		row := l.bins[at+low+l.first-int(from>>l.width):][:high-low]
		for x, category := range row {
			l.out[low+x] = uint16(category)
		}
	}
}

// miss reports which columns are missing.
func (l *looker[T]) miss() {
	if l.from < l.to {
		l.missing(l.from, l.to)
	}
	l.from, l.to = 0, 0
}

// buildIndex finds the categories of the bins of all locations.
func buildIndex[T cell](ctx context.Context, c *coloring) (*pyramid[T], error) {
	v := c.v
	p := &pyramid[T]{layout: v.layout, bins: make([][]T, len(v.tl.Locations))}
	workers := make([]*indexer[T], v.threads)
	parallel.EachWorker(len(p.bins), v.threads, func(worker, location int) {
		if ctx.Err() != nil {
			return
		}
		if workers[worker] == nil {
			workers[worker] = &indexer[T]{c: c, layout: v.layout, binner: newBinner[T](c.categories)}
		}
		p.bins[location] = workers[worker].index(location)
	})
	return p, ctx.Err()
}

// indexer is one worker of an index.
type indexer[T cell] struct {
	c        *coloring
	layout   *layout
	binner   *binner[T]
	location int
	list     []segment
	bins     []T
	out      [][]T
	sums     [][]unit.Duration // time by category of the segments that are being halved, by their widths
}

// index fills the bins of a location.
func (x *indexer[T]) index(location int) []T {
	x.location, x.list = location, x.layout.locations[location]
	x.bins = make([]T, x.layout.size(location))
	x.fill(0, 0, nil)
	return x.bins
}

// fill fills the bins of a segment, and adds the time of its categories to some sums, if there are any.
func (x *indexer[T]) fill(i int32, from unit.Duration, sums []unit.Duration) {
	s := &x.list[i]
	if !s.halved {
		x.fillEven(s, from, sums)
		return
	}
	own := x.sumsOf(int(s.width))
	x.fill(i+1, from, own)
	if second := x.list[i+1].next; second < s.next {
		x.fill(second, from+1<<(s.width-1), own)
	}
	best := 0
	for category, sum := range own {
		if sum > own[best] {
			best = category
		}
		if sums != nil {
			sums[category] += sum
		}
	}
	x.bins[s.bins] = T(best)
}

// sumsOf are sums for a segment of a width, all 0.
func (x *indexer[T]) sumsOf(width int) []unit.Duration {
	for len(x.sums) <= width {
		x.sums = append(x.sums, nil)
	}
	if x.sums[width] == nil {
		x.sums[width] = make([]unit.Duration, x.c.categories)
	}
	clear(x.sums[width])
	return x.sums[width]
}

func (x *indexer[T]) fillEven(s *segment, from unit.Duration, sums []unit.Duration) {
	x.out = x.out[:0]
	rest := x.bins[s.bins:]
	for width := int(s.lowest); width <= int(s.width); width++ {
		n := x.layout.binsOf(s, from, width)
		x.out, rest = append(x.out, rest[:n]), rest[n:]
	}
	v := x.c.v
	x.binner.begin(v.tl.Start+from, 1<<s.lowest, sums, x.out...)
	add(x.c, x.location, v.tl.Start+from, v.tl.Start+min(from+1<<s.width, x.layout.length), x.binner)
	x.binner.flush()
}
