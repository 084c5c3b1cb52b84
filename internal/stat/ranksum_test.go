package stat

import (
	"cmp"
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
		{"apart, 3 and 3, each equal", []float64{1, 1, 1}, []float64{2, 2, 2}, 2.0 / 20},
		{"apart, 4 and 4, each equal", []float64{1, 1, 1, 1}, []float64{2, 2, 2, 2}, 2.0 / 70},
		{"one tie", []float64{1, 2, 3}, []float64{3, 4, 5}, 4.0 / 20},
		{"far on one side only", []float64{2, 2, 2}, []float64{1, 2}, 8.0 / 10},
		{"one and many", []float64{0}, count(40), 2.0 / 41},
		{"one among many", []float64{2.5}, count(99), 6.0 / 100},
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

// count is 1, 2, ..., n.
func count(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(i + 1)
	}
	return list
}

// TestRankSumAgainstAllDraws counts over all ways to draw x of some values, with and without ties, in how many pairs its value is the
// greater one, ties as a half.
func TestRankSumAgainstAllDraws(t *testing.T) {
	for _, pool := range [][]float64{
		{1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 2, 2, 3, 3, 4, 5}, {0, 0, 0, 0, 0, 1, 1, 2}, {5, 5, 5, 5, 5, 5, 5, 9},
	} {
		type draw struct {
			x, y    []float64
			greater float64
		}
		var draws []draw
		for set := range 1 << len(pool) {
			var d draw
			for i, v := range pool {
				if set>>i&1 == 1 {
					d.x = append(d.x, v)
				} else {
					d.y = append(d.y, v)
				}
			}
			for _, a := range d.x {
				for _, b := range d.y {
					d.greater += float64(1+cmp.Compare(a, b)) / 2
				}
			}
			draws = append(draws, d)
		}
		for _, d := range draws {
			if len(d.x) == 0 || len(d.y) == 0 {
				continue
			}
			atMost, atLeast, total := 0.0, 0.0, 0.0
			for _, other := range draws {
				if len(other.x) != len(d.x) {
					continue
				}
				total++
				if other.greater <= d.greater {
					atMost++
				}
				if other.greater >= d.greater {
					atLeast++
				}
			}
			got, want := RankSum(d.x, d.y), min(1, 2*atMost/total, 2*atLeast/total)
			if math.Abs(got-want) > 1e-12 || got < SmallestRankSum(len(d.x), len(d.y))-1e-12 {
				t.Fatalf("%v and %v: %v, want %v", d.x, d.y, got, want)
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
