package clock

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// Chain leads from a clock over others to the reference. Each link holds the lines that agree with
// the pings between two neighbors: the one nearer to the reference asked, the other one answered.
type Chain []*Lines

// Reference returns the smallest and the largest time that the reference can show when the clock at the
// beginning of the chain shows x. What is proven for every link is proven for the chain: a clock that
// runs at all shows more the later it is, so the ends of an interval lead to the ends of the next one.
func (c Chain) Reference(x unit.Duration) (least, most unit.Duration) {
	least, most = x, x
	for _, l := range c {
		low, _ := l.At(least)
		_, high := l.At(most)
		least, most = least+low, most+high
	}
	return least, most
}

// Pair is two clocks, by number, that are compared.
type Pair struct{ Asker, Answerer int }

// TreeRounds returns the comparisons by which the clocks 0 .. n-1 are brought to the time of clock 0
// in as few rounds as possible, ceil(log2 n): in a round no clock takes part in more than one. The first
// rounds make a binomial tree of the largest power of two of clocks; in one more round the
// clocks that are left are compared with one of the tree each.
func TreeRounds(n int) [][]Pair {
	var rounds [][]Pair
	half := 1
	for ; 2*half <= n; half *= 2 {
		var round []Pair
		for p := 0; p+half < largestPower(n); p += 2 * half {
			round = append(round, Pair{p, p + half})
		}
		rounds = append(rounds, round)
	}
	if half < n {
		var round []Pair
		for r := half; r < n; r++ {
			round = append(round, Pair{r - half, r})
		}
		rounds = append(rounds, round)
	}
	return rounds
}

func largestPower(n int) int {
	p := 1
	for 2*p <= n {
		p *= 2
	}
	return p
}

// LowestQuarter averages the quarter of the pings that have the shortest round trips, at least one: where
// the answerer's clock was then on average, and how much more it showed than the asker's.
func LowestQuarter(pings []Ping) (Point, bool) {
	var sorted []Ping
	for _, p := range pings {
		if p.valid() {
			sorted = append(sorted, p)
		}
	}
	if len(sorted) == 0 {
		return Point{}, false
	}
	slices.SortStableFunc(sorted, func(a, b Ping) int { return cmp.Compare(a.RoundTrip(), b.RoundTrip()) })
	sorted = sorted[:max(len(sorted)/4, 1)]
	first := sorted[0].Point()
	var at, more float64
	for _, p := range sorted {
		q := p.Point()
		at += float64(q.At-first.At) / float64(len(sorted))
		more += (q.More - first.More) / float64(len(sorted))
	}
	return Point{At: first.At + unit.Duration(at), More: first.More + more}, true
}
