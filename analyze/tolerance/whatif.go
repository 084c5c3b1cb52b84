package tolerance

import (
	"fmt"
	"math/bits"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// WhatIf returns T if all calculations of some origins took the given percentage less time. Each
// calculation is rounded half up to whole picoseconds; all else is exact: other paths become critical
// as they do. What messages cost is the network's, and stays.
func (e *Evaluation) WhatIf(faster func(origin uint32) bool, less Percent) (unit.Duration, error) {
	full := int64(100) * less.scale()
	rest := full - less.value
	if rest < 0 {
		return 0, fmt.Errorf("nothing can take %s less time; give at most 100%%", less)
	}
	origins := make([]bool, e.s.numOrigins())
	for i := range origins {
		origins[i] = faster(uint32(i))
	}
	fits := true
	p, err := newPass(e.s, e.n)
	if err != nil {
		return 0, err
	}
	p.work = func(op *schedule.Op) int64 {
		if !origins[op.Origin] {
			return op.Size
		}
		cost, ok := timesRatio(op.Size, rest, full)
		fits = fits && ok
		return cost
	}
	if err := p.run(); err != nil {
		return 0, err
	}
	if !fits {
		return 0, ErrOverflow
	}
	return p.runtime(), nil
}

// timesRatio returns a*num/den, all at least 0, rounded half up, and whether it fits.
func timesRatio(a, num, den int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(num))
	lo, carry := bits.Add64(lo, uint64(den)/2, 0)
	hi += carry
	if hi >= uint64(den) {
		return maxTime, false
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	if q > uint64(maxTime) {
		return maxTime, false
	}
	return int64(q), true
}

// Work returns the time of all calculations by origin.
func (s *Schedule) Work() []unit.Duration {
	work := make([]unit.Duration, s.numOrigins())
	s.each(func(_ int, op *schedule.Op) {
		if op.Kind == schedule.Calc {
			work[op.Origin] += unit.Duration(op.Size)
		}
	})
	return work
}

// numOrigins is the number of origins that operations may name; the first one is the unknown one.
func (s *Schedule) numOrigins() int {
	n := max(len(s.origins), 1)
	s.each(func(_ int, op *schedule.Op) { n = max(n, int(op.Origin)+1) })
	return n
}
