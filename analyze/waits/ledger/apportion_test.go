package ledger

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
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
			shares := []unit.Sum{{Low: 77}, {Low: 77}, {Low: 77}}[:len(tc.weights)] // what was there before does not count
			total := int64(0)
			for _, w := range tc.weights {
				total += w
			}
			if p.Split(shares, unit.SumOf(unit.Duration(tc.amount)), tc.weights, total); !slices.Equal(durations(shares), tc.want) {
				t.Errorf("Split(%d, %v) = %v, want %v", tc.amount, tc.weights, shares, tc.want)
			}
		})
	}
}

func durations(sums []unit.Sum) []int64 {
	var list []int64
	for _, s := range sums {
		list = append(list, int64(s.Duration()))
	}
	return list
}

// TestSplitByDefinition compares shares with the definition in large numbers; few and many entries take different ways, and so do
// amounts below and above 64 bits.
func TestSplitByDefinition(t *testing.T) {
	var p Apportioner
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.SampledFrom([]int64{2, 1 << 40}).Draw(t, "largest") // small weights have equal rests
		weights := rapid.SliceOfN(rapid.Int64Range(1, largest), 1, 3*few).Draw(t, "weights")
		amount := unit.Sum{
			High: rapid.SampledFrom([]int64{0, 0, 1, 1 << 40, math.MaxInt64}).Draw(t, "high"),
			Low:  rapid.Uint64().Draw(t, "low"),
		}
		total := int64(0)
		for _, w := range weights {
			total += w
		}
		want, rests, order := make([]*big.Int, len(weights)), make([]*big.Int, len(weights)), make([]int, len(weights))
		left := amount.Big()
		for i, w := range weights {
			product := new(big.Int).Mul(amount.Big(), big.NewInt(w))
			want[i], rests[i] = product.QuoRem(product, big.NewInt(total), new(big.Int))
			order[i] = i
			left.Sub(left, want[i])
		}
		slices.SortFunc(order, func(x, y int) int { return cmp.Or(rests[y].Cmp(rests[x]), cmp.Compare(x, y)) })
		for _, i := range order[:left.Int64()] {
			want[i].Add(want[i], big.NewInt(1))
		}
		got := make([]unit.Sum, len(weights))
		p.Split(got, amount, weights, total)
		for i := range got {
			if got[i].Big().Cmp(want[i]) != 0 {
				t.Fatalf("share %d of Split(%v, %v) is %v, want %v", i, amount, weights, got[i].Big(), want[i])
			}
		}
	})
}
