package explore

import "slackline/model/unit"

// cell is what a category is kept in.
type cell interface{ uint8 | uint16 }

// binner sorts pieces of time into bins of equal width and finds the category that takes most of the time of each:
// of equals, the one with the smallest number. It may have levels above, each of bins twice as wide as the one
// below; they are filled on the way, from the sums of the bins below, so that all are exact.
type binner[T cell] struct {
	levels     []level[T]
	categories int
	width      unit.Duration   // of a bin of the lowest level
	at         unit.Duration   // how far it has come
	end        unit.Duration   // of the present bin of the lowest level
	total      []unit.Duration // all time, by category; nil: not needed
	spare      []level[T]      // that are not used at present
}

// level is one resolution of a binner.
type level[T cell] struct {
	out     []T
	width   unit.Duration
	bin     int             // the present one
	sums    []unit.Duration // of its time, by category
	touched []uint16        // categories with a sum
}

// newBinner returns a binner with a number of categories.
func newBinner[T cell](categories int) *binner[T] { return &binner[T]{categories: categories} }

// begin starts anew at a moment: that is the left edge of the first bin of the outputs, one for each level. The time of
// all bins is added to total, if there is one.
func (b *binner[T]) begin(at, width unit.Duration, total []unit.Duration, out ...[]T) {
	for len(b.spare) < len(out) {
		b.spare = append(b.spare, level[T]{sums: make([]unit.Duration, b.categories)})
	}
	b.levels = b.spare[:len(out)]
	b.at, b.end, b.width, b.total = at, at+width, width, total
	for k := range b.levels {
		l := &b.levels[k]
		l.out, l.bin, l.width = out[k], 0, width<<k
	}
}

// add adds a piece of time that goes on where the last one ended.
func (b *binner[T]) add(to unit.Duration, category uint16) {
	low := &b.levels[0]
	for b.at < to {
		if b.at == b.end-b.width && to >= b.end { // whole bins
			n := 1
			if to-b.at >= 2*b.width {
				n = int((to - b.at) / b.width)
			}
			b.fill(0, n, T(category))
			b.at += unit.Duration(n) * b.width
			b.end = b.at + b.width
			continue
		}
		until := min(to, b.end)
		low.tally(category, until-b.at)
		if b.at = until; b.at == b.end {
			b.end += b.width
			b.finish(0)
		}
	}
}

func (l *level[T]) tally(category uint16, d unit.Duration) {
	if l.sums[category] == 0 {
		l.touched = append(l.touched, category)
	}
	l.sums[category] += d
}

// fill gives whole bins of a level a category; none of their time has been tallied.
func (b *binner[T]) fill(k, n int, category T) {
	l := &b.levels[k]
	for i := l.bin; i < l.bin+n; i++ {
		l.out[i] = category
	}
	if k+1 == len(b.levels) {
		l.bin += n
		b.sum(uint16(category), unit.Duration(n)*l.width)
		return
	}
	above := &b.levels[k+1]
	if l.bin&1 == 1 {
		above.tally(uint16(category), l.width)
		l.bin, n = l.bin+1, n-1
		b.finish(k + 1)
	}
	if n >= 2 {
		b.fill(k+1, n/2, category)
	}
	if n&1 == 1 {
		above.tally(uint16(category), l.width)
	}
	l.bin += n
}

// finish ends the present bin of a level, and those above that end with it.
func (b *binner[T]) finish(k int) {
	l := &b.levels[k]
	b.settle(k)
	l.bin++
	if l.bin&1 == 0 && k+1 < len(b.levels) {
		b.finish(k + 1)
	}
}

// settle decides the present bin of a level and passes its time on to the level above.
func (b *binner[T]) settle(k int) {
	l := &b.levels[k]
	best := l.touched[0]
	for _, c := range l.touched[1:] {
		if l.sums[c] > l.sums[best] || l.sums[c] == l.sums[best] && c < best {
			best = c
		}
	}
	l.out[l.bin] = T(best)
	for _, c := range l.touched {
		if k+1 < len(b.levels) {
			b.levels[k+1].tally(c, l.sums[c])
		} else {
			b.sum(c, l.sums[c])
		}
		l.sums[c] = 0
	}
	l.touched = l.touched[:0]
}

// sum adds to the time of all bins.
func (b *binner[T]) sum(category uint16, d unit.Duration) {
	if b.total != nil {
		b.total[category] += d
	}
}

// flush ends the last bins, which may not be full.
func (b *binner[T]) flush() {
	for k := range b.levels {
		if len(b.levels[k].touched) > 0 {
			b.settle(k)
		}
	}
}
