package stat

import (
	"cmp"
	"math"
	"slices"
)

// exactRankSum is how many values two samples may have together for their test to be exact.
const exactRankSum = 40

// RankSum tests whether two samples come from the same distribution: the Mann-Whitney U test, two-sided. It returns
// the probability of ranks that differ at least as much if they do. It assumes nothing but
// independent values. Without ties and for up to 40 values it is exact; else the normal approximation with correction for
// ties and continuity. It is 1 if a sample is empty.
func RankSum(x, y []float64) float64 {
	n, m := len(x), len(y)
	if n == 0 || m == 0 {
		return 1
	}
	u, ties := uStatistic(x, y)
	u = min(u, float64(n*m)-u)
	if ties == 0 && n+m <= exactRankSum {
		return min(1, 2*lowerTail(n, m, int(u)))
	}
	mean := float64(n*m) / 2
	all := float64(n + m)
	variance := float64(n*m) / 12 * (all + 1 - ties/(all*(all-1)))
	if variance <= 0 {
		return 1
	}
	z := max(0, mean-u-0.5) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// SmallestRankSum is the smallest result that RankSum can have for samples of n and m values.
func SmallestRankSum(n, m int) float64 {
	if n == 0 || m == 0 {
		return 1
	}
	return min(1, 2*lowerTail(n, m, 0))
}

// uStatistic counts the pairs in which the value of x is the greater one, ties as a half. Ties is the sum of
// t^3 - t over groups of t equal values.
func uStatistic(x, y []float64) (u, ties float64) {
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
	below := 0.0 // values of y below the present group
	for i := 0; i < len(all); {
		j, inX, inY := i, 0.0, 0.0
		for ; j < len(all) && all[j].v == all[i].v; j++ {
			if all[j].inX {
				inX++
			} else {
				inY++
			}
		}
		u += inX * (below + inY/2)
		below += inY
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return u, ties
}

// lowerTail is the probability that U is at most u for samples of n and m values without ties: the share of the
// ways to draw n of n+m ranks. Ways are counted by the recursion of Mann and Whitney (1947).
func lowerTail(n, m, u int) float64 {
	// ways[j][k]: how many ways j values of x among those seen have U = k
	ways := make([][]float64, n+1)
	for j := range ways {
		ways[j] = make([]float64, n*m+1)
	}
	ways[0][0] = 1
	for i := 1; i <= n+m; i++ {
		for j := min(i, n); j >= 1; j-- {
			shift := i - j // values of y below this one
			if shift > m {
				continue
			}
			for k := n * m; k >= shift; k-- {
				ways[j][k] += ways[j-1][k-shift]
			}
		}
	}
	sum, total := 0.0, 0.0
	for k, w := range ways[n] {
		total += w
		if k <= u {
			sum += w
		}
	}
	return sum / total
}
