package pattern

import (
	"math"
	"math/bits"

	"slackline/model/schedule"
	"slackline/model/unit"
)

const nanosecond = int64(unit.Nanosecond)

// work is CPU work of each rank: a mean, give or take a spread that is drawn anew at each step,
// and a skew that a rank keeps, as if its part of the problem were larger or smaller.
type work struct {
	mean, spread, skew int64 // ns; spread + skew <= mean
	seed               uint64
	origin             uint32
}

func (w *work) fill(rank, step int, b *schedule.Block) {
	i := b.Calc(w.at(rank, step) * nanosecond)
	b.Ops[i].Origin = w.origin
}

// at returns the work of a rank at a step in ns.
func (w *work) at(rank, step int) int64 { return w.piece(rank, step, 0) }

// piece returns the work of a rank in one of several pieces at a step.
func (w *work) piece(rank, step, piece int) int64 {
	t := w.mean
	if w.spread > 0 {
		seed := w.seed
		if piece > 0 {
			seed = hash(seed^pieceSalt, uint64(piece))
		}
		t += within(w.spread, hash(seed, uint64(rank)<<32|uint64(uint32(step))))
	}
	if w.skew > 0 {
		t += within(w.skew, hash(w.seed^skewSalt, uint64(rank)))
	}
	return t
}

// The salts keep random choices of one seed independent of one another.
const (
	skewSalt  = 0x5bd1e995b7e15163
	pieceSalt = 0xa0761d6478bd642f
	sizeSalt  = 0x2545f4914f6cdd1d
)

// load defines how much a piece of work is and how it varies.
type load struct {
	num, den int64 // fraction of the compute time of an iteration
	spread   int64 // percent of the jitter that is drawn anew each time
	skew     int64 // percent of the jitter that a rank keeps; with spread at most 100
}

// compute appends the compute time of an iteration, with the jitter as its spread. Without compute time it appends nothing.
func (s *script) compute() { s.uneven(load{1, 1, 100, 0}) }

// uneven appends work that varies in its own way.
func (s *script) uneven(l load, path ...string) {
	if w := s.work(l, path...); w != nil {
		s.add(w)
	}
}

// work returns work, or nil if it is none. The compute time is whole ns; a part of it is rounded to
// whole ns.
func (s *script) work(l load, path ...string) *work {
	mean := (wholeShare(int64(s.Compute), l.num, l.den) + nanosecond/2) / nanosecond
	if mean == 0 {
		return nil
	}
	if len(path) == 0 {
		path = []string{"compute"}
	}
	jitter := jitterOf(mean, s.Jitter)
	return &work{
		mean:   mean,
		spread: wholeShare(jitter, l.spread, 100),
		skew:   wholeShare(jitter, l.skew, 100),
		seed:   s.Seed,
		origin: s.origin("", path...),
	}
}

// jitterOf returns the spread around a mean, at most the mean.
func jitterOf(mean int64, jitter float64) int64 {
	return min(int64(math.Round(float64(mean)*jitter)), mean)
}

// wholeShare returns total * num / den in 128 bits, rounded down; num must not exceed den, or the
// result must be known to fit.
func wholeShare(total, num, den int64) int64 {
	hi, lo := bits.Mul64(uint64(total), uint64(num))
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int64(q)
}

// hash returns 64 random bits for a counter: the finalizer of splitmix64 on both words.
func hash(seed, counter uint64) uint64 {
	return mix(mix(seed+0x9e3779b97f4a7c15) ^ counter*0xd1342543de82ef95)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// within turns random bits into a number of -n..n, all equally likely.
func within(n int64, random uint64) int64 {
	hi, _ := bits.Mul64(random, 2*uint64(n)+1)
	return int64(hi) - n
}
