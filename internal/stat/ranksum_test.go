package stat

import (
	"math"
	"testing"
)

func TestRankSum(t *testing.T) {
	for _, tc := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"apart, 4 and 4", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{"apart, 3 and 3", []float64{1, 2, 3}, []float64{5, 6, 7}, 2.0 / 20},
		{"apart, 5 and 5", []float64{5, 6, 7, 8, 9}, []float64{0, 1, 2, 3, 4}, 2.0 / 252},
		{"one pair exchanged", []float64{1, 2, 3, 5}, []float64{4, 6, 7, 8}, 4.0 / 70},
		{"mixed", []float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}, 1},
		{"equal", []float64{3, 3, 3}, []float64{3, 3}, 1},
		{"none", nil, []float64{1}, 1},
	} {
		if got := RankSum(tc.x, tc.y); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: RankSum = %v, want %v", tc.name, got, tc.want)
		}
		if got := RankSum(tc.y, tc.x); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: RankSum the other way round = %v, want %v", tc.name, got, tc.want)
		}
	}
	if got := SmallestRankSum(4, 4); math.Abs(got-2.0/70) > 1e-12 {
		t.Errorf("SmallestRankSum(4, 4) = %v, want %v", got, 2.0/70)
	}
}

// TestRankSumAgainstAllDraws counts U over all ways to draw ranks.
func TestRankSumAgainstAllDraws(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for m := 1; m <= 5; m++ {
			counts := make([]int, n*m+1)
			total := 0
			for set := range 1 << (n + m) {
				var x, y []float64
				for i := range n + m {
					if set>>i&1 == 1 {
						x = append(x, float64(i))
					} else {
						y = append(y, float64(i))
					}
				}
				if len(x) != n {
					continue
				}
				u, _ := uStatistic(x, y)
				counts[int(u)]++
				total++
			}
			sum := 0
			for u, c := range counts {
				sum += c
				if got, want := lowerTail(n, m, u), float64(sum)/float64(total); math.Abs(got-want) > 1e-12 {
					t.Fatalf("%d and %d values: U <= %d has probability %v, want %v", n, m, u, got, want)
				}
			}
		}
	}
}

// TestRankSumApproximation compares the approximation with the exact value where both are near.
func TestRankSumApproximation(t *testing.T) {
	var x, y []float64
	for i := range 20 {
		x = append(x, float64(2*i))
		y = append(y, float64(2*i+9))
	}
	exact := RankSum(x, y)
	approximate := RankSum(append(x, -1e9), append(y, 1e9)) // 42 values
	if math.Abs(exact-approximate) > 0.05 {
		t.Errorf("exact %v, approximate %v", exact, approximate)
	}
}
