// Package ledger keeps accounts of waiting time: it sums costs by rank, call path and kind of wait state, and splits amounts exactly among
// their causes. It does not know what waits, nor why.
package ledger

import (
	"cmp"
	"math/bits"
	"slices"

	"slackline/model/unit"
)

// Apportioner splits amounts exactly; it keeps its memory from one time to the next.
type Apportioner struct {
	rests []rest
}

// rest is what the exact share of an entry has beyond a whole number, in units of 1/total.
type rest struct {
	value uint64
	entry int
}

// Split gives every entry its share of amount in proportion to its weight, in whole numbers whose sum is the
// amount: each gets the whole part of its exact share, and those with the largest rests get one more,
// the first ones among equal rests. The weights are positive and sum up to total.
func (p *Apportioner) Split(shares []unit.Sum, amount unit.Sum, weights []int64, total int64) {
	if amount == (unit.Sum{}) {
		clear(shares)
		return
	}
	p.rests = p.rests[:0]
	rests := amount.Low
	for i, w := range weights {
		var whole unit.Sum
		var value uint64
		if high, low := bits.Mul64(amount.Low, uint64(w)); high|uint64(amount.High) == 0 { // nearly always
			whole.Low, value = low/uint64(total), low%uint64(total)
		} else {
			whole, value = amount.Scaled(uint64(w), uint64(total))
		}
		shares[i] = whole
		rests -= whole.Low // less than one for each entry is left
		p.rests = append(p.rests, rest{value, i})
	}
	left := int64(rests)
	if left == 0 {
		return
	}
	if len(p.rests) <= few {
		p.giveOneByOne(shares, left)
		return
	}
	slices.SortFunc(p.rests, func(x, y rest) int {
		if x.value != y.value {
			return cmp.Compare(y.value, x.value)
		}
		return cmp.Compare(x.entry, y.entry)
	})
	for _, r := range p.rests[:left] {
		shares[r.entry].Add(1)
	}
}

// few is how many entries are not worth sorting.
const few = 16

// giveOneByOne gives one more to the entries with the largest rests, looking for each anew.
func (p *Apportioner) giveOneByOne(shares []unit.Sum, left int64) {
	for ; left > 0; left-- {
		best := 0
		for i := range p.rests { // in the order of the entries: the first of equal rests wins
			if p.rests[i].value > p.rests[best].value {
				best = i
			}
		}
		shares[p.rests[best].entry].Add(1)
		p.rests = append(p.rests[:best], p.rests[best+1:]...)
	}
}
