package explore

import (
	"context"
	"math/bits"
	"unsafe"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// colouring gives every moment of every location a category. It can be asked for any window: wide ones are answered
// from an index, narrow ones from the calls themselves.
//
// The index is a pyramid for each location: levels of bins, whose widths are powers of two in picoseconds, so that a
// bin of one level is exactly two of the level below; a bin has the category that takes most of its time. The
// lowest level of a location has about as many bins as it has pieces of time. So the index takes a few bytes for
// each call, and a picture costs about one look for each of its cells, from whichever side it comes.
type colouring struct {
	v          *view
	categories int
	shades     shades
	waits      *waitSpans // nil: calls alone count
	waiting    func(state int) uint16
	index      index
}

// add adds what a location does from one moment to another to a binner that has come to the first of them.
func add[T cell](c *colouring, location int, from, to unit.Duration, b *binner[T]) {
	at := from
	if c.waits != nil {
		c.waits.each(location, from, to, func(begin, end unit.Duration, state int) {
			if begin > at {
				walk(c.v, &c.shades, location, at, begin, b)
			}
			b.add(end, c.waiting(state))
			at = end
		})
	}
	if at < to {
		walk(c.v, &c.shades, location, at, to, b)
	}
}

// index answers wide windows.
type index interface {
	// finest is the width of the narrowest bins that any location has: those of level 0.
	finest() unit.Duration
	// look copies bins of a location from a level, from a number on. It returns false if the location has no bins as
	// narrow as those: then it has few calls, and they can be asked themselves.
	look(level, location, first int, out []uint16) bool
	bytes() int64
}

// pyramid is an index whose bins have the given type.
type pyramid[T cell] struct {
	width   unit.Duration // of level 0
	length  unit.Duration // of the run
	missing []uint8       // by location: how many levels it lacks at the bottom
	bins    [][]T         // by location: those of its levels, the lowest first
}

func (p *pyramid[T]) finest() unit.Duration { return p.width }

// binsOf is the number of bins of a level.
func (p *pyramid[T]) binsOf(level int) int { return int((p.length-1)/(p.width<<level)) + 1 }

// levels is the number of levels: the highest one has a single bin.
func (p *pyramid[T]) levels() int {
	n := 1
	for p.binsOf(n-1) > 1 {
		n++
	}
	return n
}

func (p *pyramid[T]) look(level, location, first int, out []uint16) bool {
	below := int(p.missing[location])
	if level < below {
		return false
	}
	at := first
	for ; below < level; below++ {
		at += p.binsOf(below)
	}
	row := p.bins[location][at:]
	for i := range out {
		out[i] = uint16(row[i])
	}
	return true
}

func (p *pyramid[T]) bytes() int64 {
	n := int64(len(p.missing))
	for _, bins := range p.bins {
		n += int64(len(bins)) * int64(unsafe.Sizeof(T(0)))
	}
	return n
}

// The lowest level of a location has up to binsPerCall bins for each of its calls, and leastBins.
const (
	binsPerCall = 2
	leastBins   = 32
)

// lowestWidth is the width of the bins of a location's lowest level, a power of two.
func (v *view) lowestWidth(location int) unit.Duration {
	bins := max(leastBins, binsPerCall*int64(v.tl.Locations[location].Calls.Len()))
	width := unit.Duration(1)
	for int64((v.length()-1)/width)+1 > bins {
		width <<= 1
	}
	return width
}

// buildIndex makes the pyramids of all locations.
func buildIndex[T cell](ctx context.Context, c *colouring) (*pyramid[T], error) {
	v := c.v
	n := len(v.tl.Locations)
	p := &pyramid[T]{width: v.length(), length: v.length(), missing: make([]uint8, n), bins: make([][]T, n)}
	widths := make([]unit.Duration, n)
	for location := range widths {
		widths[location] = v.lowestWidth(location)
		p.width = min(p.width, widths[location])
	}
	workers := make([]indexer[T], v.threads)
	parallel.EachWorker(n, v.threads, func(worker, location int) {
		if ctx.Err() == nil {
			p.missing[location] = uint8(bits.TrailingZeros64(uint64(widths[location])) - bits.TrailingZeros64(uint64(p.width)))
			p.bins[location] = workers[worker].index(c, p, location)
		}
	})
	return p, ctx.Err()
}

// indexer is one worker of an index: binners by the levels that they lack.
type indexer[T cell] map[int]*binner[T]

// index makes the pyramid of a location.
func (x *indexer[T]) index(c *colouring, p *pyramid[T], location int) []T {
	lowest, levels := int(p.missing[location]), p.levels()
	size := 0
	for level := lowest; level < levels; level++ {
		size += p.binsOf(level)
	}
	all := make([]T, size)
	out := make([][]T, 0, levels)
	for level, rest := lowest, all; level < levels; level++ {
		n := p.binsOf(level)
		out, rest = append(out, rest[:n]), rest[n:]
	}
	if *x == nil {
		*x = indexer[T]{}
	}
	b := (*x)[lowest]
	if b == nil {
		b = newBinner[T](len(out), c.categories, p.width<<lowest)
		(*x)[lowest] = b
	}
	b.begin(c.v.tl.Start, out...)
	add(c, location, c.v.tl.Start, c.v.end(), b)
	b.flush()
	return all
}
