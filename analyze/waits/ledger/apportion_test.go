package ledger

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		amount  int64
		weights []int64
		want    []int64
	}{
		{"nothing", 0, []int64{3, 4}, []int64{0, 0}},
		{"even", 10, []int64{5, 5}, []int64{5, 5}},
		{"equal rests: the first one", 7, []int64{1, 1}, []int64{4, 3}},
		{"the larger rest", 2, []int64{1, 2}, []int64{1, 1}},
		{"one entry", 9, []int64{4}, []int64{9}},
		{"less than entries", 1, []int64{1, 3, 1}, []int64{0, 1, 0}},
		{"beyond 64 bits", math.MaxInt64, []int64{1 << 61, 1 << 61}, []int64{1 << 62, 1<<62 - 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p Apportioner
			shares := []int64{77, 77, 77}[:len(tc.weights)] // what was there before does not count
			total := int64(0)
			for _, w := range tc.weights {
				total += w
			}
			if p.Split(shares, tc.amount, tc.weights, total); !slices.Equal(shares, tc.want) {
				t.Errorf("Split(%d, %v) = %v, want %v", tc.amount, tc.weights, shares, tc.want)
			}
		})
	}
}

// TestSplitByDefinition compares shares with the definition in large numbers; few and many entries take different ways.
func TestSplitByDefinition(t *testing.T) {
	var p Apportioner
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.SampledFrom([]int64{2, 1 << 40}).Draw(t, "largest") // small weights have equal rests
		weights := rapid.SliceOfN(rapid.Int64Range(1, largest), 1, 3*few).Draw(t, "weights")
		amount := rapid.Int64Range(0, math.MaxInt64).Draw(t, "amount")
		total := int64(0)
		for _, w := range weights {
			total += w
		}
		want, rests, order := make([]int64, len(weights)), make([]*big.Int, len(weights)), make([]int, len(weights))
		left := amount
		for i, w := range weights {
			whole, rest := new(big.Int).QuoRem(new(big.Int).Mul(big.NewInt(amount), big.NewInt(w)), big.NewInt(total), new(big.Int))
			want[i], rests[i], order[i] = whole.Int64(), rest, i
			left -= want[i]
		}
		slices.SortFunc(order, func(x, y int) int { return cmp.Or(rests[y].Cmp(rests[x]), cmp.Compare(x, y)) })
		for _, i := range order[:left] {
			want[i]++
		}
		got := make([]int64, len(weights))
		if p.Split(got, amount, weights, total); !slices.Equal(got, want) {
			t.Fatalf("Split(%d, %v) = %v, want %v", amount, weights, got, want)
		}
	})
}
