package replay

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMean: the mean of sizes, rounded up, compared with exact fractions; sums near the largest number do not overflow.
func TestMean(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lists := [][]int64{{0}, {3, 4}, {1, 1, 1, 2}, {math.MaxInt64, math.MaxInt64, math.MaxInt64}, {math.MaxInt64, 0}}
	for range 200 {
		list := make([]int64, 1+random.IntN(9))
		for i := range list {
			list[i] = random.Int64() >> random.IntN(63)
		}
		lists = append(lists, list)
	}
	for _, list := range lists {
		sum := new(big.Int)
		for _, v := range list {
			sum.Add(sum, big.NewInt(v))
		}
		n := big.NewInt(int64(len(list)))
		want := sum.Add(sum, n).Sub(sum, big.NewInt(1)).Div(sum, n)
		if got := mean(list); want.Cmp(big.NewInt(got)) != 0 {
			t.Errorf("%v: %d, want %s", list, got, want)
		}
	}
}

// TestCheckRanks: a run becomes one of a multiple of its ranks; otherwise the nearest that are possible are named.
func TestCheckRanks(t *testing.T) {
	for _, n := range []int{4, 8, 4000, math.MaxInt32 / 4 * 4} {
		if err := checkRanks(n, 4); err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
	for n, want := range map[int]string{6: "the nearest are 4 and 8", 3: "give a multiple of 4", 1 << 31: "too many"} {
		if err := checkRanks(n, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d ranks: %v, want %q", n, err, want)
		}
	}
}

// TestGroupOf: regular groups need no list of their ranks; any group has the ranks that it is made of, moved by the shift.
func TestGroupOf(t *testing.T) {
	for _, tc := range []struct {
		members []int32
		shift   int
		regular bool
	}{
		{[]int32{0, 1, 2}, 0, true}, {[]int32{1, 4, 7, 10}, 100, true}, {[]int32{5, 6}, 3, true}, {[]int32{0, 1, 3}, 0, false},
		{[]int32{3, 2, 1}, 10, false}, {[]int32{7, 0}, 1, false},
	} {
		g := groupOf(tc.members, tc.shift)
		var got, want []int32
		for i, m := range tc.members {
			got, want = append(got, int32(g.Rank(i))), append(want, m+int32(tc.shift))
		}
		if !slices.Equal(got, want) || g.Size != len(want) {
			t.Errorf("%v moved by %d: %v", tc.members, tc.shift, got)
		}
		if regular := g.Ranks == nil; regular != tc.regular {
			t.Errorf("%v is regular: %v", tc.members, regular)
		}
	}
}
