package explore

import (
	"context"
	"math/bits"
	"sync/atomic"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// colouring gives every moment of every location a category. It can be asked for any window: wide ones are answered
// from an index, narrow ones from the calls themselves.
//
// The index is a pyramid for each location: levels of bins, whose widths are powers of two in picoseconds, so that a
// bin of one level is exactly two of the level below; a bin has the category that takes most of its time. The
// lowest level has about as many bins as a location has pieces of time on average. So the index takes a few bytes
// for each call, and a picture costs about one look for each of its cells, from whichever side it comes.
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
	// look copies the cells of a location from a level.
	look(level, location, first int, out []uint16)
	bytes() int64
}

// pyramid is an index whose cells have the given type.
type pyramid[T cell] struct {
	bins   []int // by level
	levels [][]T // by level; by location, then bin
}

func (p *pyramid[T]) look(level, location, first int, out []uint16) {
	row := p.levels[level][location*p.bins[level]+first:]
	for i := range out {
		out[i] = uint16(row[i])
	}
}

func (p *pyramid[T]) bytes() int64 {
	var size T
	n := int64(0)
	for _, l := range p.levels {
		n += int64(len(l)) * int64(max(1, bits.Len64(uint64(^size))/8))
	}
	return n
}

// The lowest level of an index has up to piecesPerCall bins for each call of an average location, and leastBins.
const (
	piecesPerCall = 2
	leastBins     = 32
)

// lowestWidth is the width of the bins of the lowest level, a power of two.
func (v *view) lowestWidth() unit.Duration {
	bins := int64(leastBins)
	if n := int64(len(v.tl.Locations)); n > 0 {
		bins = max(bins, piecesPerCall*v.counts.calls/n)
	}
	width := unit.Duration(1)
	for int64((v.length()-1)/width)+1 > bins {
		width <<= 1
	}
	return width
}

// buildIndex makes the pyramids of all locations.
func buildIndex[T cell](ctx context.Context, c *colouring) (*pyramid[T], error) {
	v := c.v
	width := v.lowestWidth()
	p := &pyramid[T]{}
	n := len(v.tl.Locations)
	for w := width; ; w <<= 1 {
		bins := int((v.length()-1)/w) + 1
		p.bins = append(p.bins, bins)
		p.levels = append(p.levels, make([]T, n*bins))
		if bins == 1 {
			break
		}
	}
	workers := make([]*binner[T], v.threads)
	var stopped atomic.Bool
	parallel.EachWorker(n, v.threads, func(worker, location int) {
		if stopped.Load() || ctx.Err() != nil {
			stopped.Store(true)
			return
		}
		b := workers[worker]
		if b == nil {
			b = newBinner[T](len(p.levels), c.categories, width)
			workers[worker] = b
		}
		out := make([][]T, len(p.levels))
		for k, bins := range p.bins {
			out[k] = p.levels[k][location*bins : (location+1)*bins]
		}
		b.begin(v.tl.Start, out...)
		add(c, location, v.tl.Start, v.end(), b)
		b.flush()
	})
	return p, ctx.Err()
}
