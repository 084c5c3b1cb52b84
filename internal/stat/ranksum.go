package stat

import (
	"cmp"
	"math"
	"slices"
)

// exactRankSum is how many values two samples may have together for their test to be exact.
const exactRankSum = 40

// RankSum tests whether two samples come from the same distribution: the Mann-Whitney U test, two-sided. It returns
// the probability of ranks that differ at least as much if they do: twice that of the side of it. It assumes nothing but
// independent values. For up to 40 values, and for a single one and others, it is exact, ties or not; else the normal
// approximation with correction for ties and continuity. It is 1 if a sample is empty.
func RankSum(x, y []float64) float64 {
	n, m := len(x), len(y)
	if n == 0 || m == 0 {
		return 1
	}
	if m == 1 {
		x, y, n, m = y, x, m, n
	}
	ranks, sum, ties := doubleRanks(x, y)
	if n+m <= exactRankSum || n == 1 { // the sum of one rank is not normally distributed
		below, above := tails(ranks, n, sum)
		return min(1, 2*below, 2*above)
	}
	far := math.Abs(float64(sum-n*(n+m+1))) / 2
	all := float64(n + m)
	variance := float64(n*m) / 12 * (all + 1 - ties/(all*(all-1)))
	if variance <= 0 {
		return 1
	}
	z := max(0, far-0.5) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// SmallestRankSum is the smallest result that RankSum can have for samples of n and m values.
func SmallestRankSum(n, m int) float64 {
	if n == 0 || m == 0 {
		return 1
	}
	draws := 1.0
	for i := 1; i <= min(n, m); i++ {
		draws *= float64(max(n, m)+i) / float64(i)
	}
	return min(1, 2/draws)
}

// doubleRanks returns twice the ranks of all values, in order, and their sum over those of x. Equal values share the mean
// of their ranks. Ties is the sum of t^3 - t over groups of t equal values.
func doubleRanks(x, y []float64) (ranks []int, sum int, ties float64) {
	type value struct {
		v   float64
		inX bool
	}
	all := make([]value, 0, len(x)+len(y))
	for _, v := range x {
		all = append(all, value{v, true})
	}
	for _, v := range y {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(a, b value) int { return cmp.Compare(a.v, b.v) })
	ranks = make([]int, len(all))
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		for shared := i + 1 + j; i < j; i++ {
			ranks[i] = shared
			if all[i].inX {
				sum += shared
			}
		}
	}
	return ranks, sum, ties
}

// tails are the shares of the ways to draw n of the ranks whose sum is at most, and at least, the given one.
func tails(ranks []int, n, at int) (below, above float64) {
	if n == 1 {
		for _, r := range ranks {
			if r <= at {
				below++
			}
			if r >= at {
				above++
			}
		}
		return below / float64(len(ranks)), above / float64(len(ranks))
	}
	most := 0
	for _, r := range ranks[len(ranks)-n:] {
		most += r
	}
	ways := make([][]float64, n+1) // by how many are drawn and by their sum
	for j := range ways {
		ways[j] = make([]float64, most+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for j := min(i+1, n); j >= 1; j-- {
			for k := most; k >= r; k-- {
				ways[j][k] += ways[j-1][k-r]
			}
		}
	}
	total := 0.0
	for k, w := range ways[n] {
		total += w
		if k <= at {
			below += w
		}
		if k >= at {
			above += w
		}
	}
	return below / total, above / total
}
