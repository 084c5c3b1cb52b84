package tolerance_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
)

// quantile is that of type 7 of exact numbers: at place q(n-1), interpolated.
func quantile(sorted []*big.Rat, percent int64) *big.Rat {
	place := big.NewRat(percent*int64(len(sorted)-1), 100)
	i := new(big.Int).Quo(place.Num(), place.Denom()).Int64()
	low, high := sorted[i], sorted[min(int(i)+1, len(sorted)-1)]
	rest := new(big.Rat).Sub(place, big.NewRat(i, 1))
	return new(big.Rat).Add(low, rest.Mul(rest, new(big.Rat).Sub(high, low)))
}

// The quantiles of T under noise are those of its replicas, which the CSV lists; the first replica has the given seed.
func TestSpread(t *testing.T) {
	args := []string{"skeleton", "--ranks", "16", "--machine", "cnl", "--noise", "1kHz:20us", "--seed", "5", "--replicas", "12"}
	list := rows(t, args...)
	if len(list) != 12 || list[0]["seed"] != "5" {
		t.Fatalf("%d replicas, the first with seed %s; want 12 and 5", len(list), list[0]["seed"])
	}
	var times []*big.Rat
	seeds := map[string]bool{}
	for i, row := range list {
		times = append(times, rational(t, row["T_ns"]))
		seeds[row["seed"]] = true
		if row["replica"] != fmt.Sprint(i) {
			t.Errorf("row %d is replica %s", i, row["replica"])
		}
	}
	if len(seeds) != 12 {
		t.Errorf("12 replicas have %d seeds", len(seeds))
	}
	slices.SortFunc(times, (*big.Rat).Cmp)
	got := answer(t, args...)["uncertainty"].(map[string]any)["T_ns"].(map[string]any)
	for key, percent := range map[string]int64{"min": 0, "q05": 5, "q25": 25, "median": 50, "q75": 75, "q95": 95, "max": 100} {
		want := quantile(times, percent)
		// Times are whole picoseconds: a quantile between two of them is rounded.
		if diff := new(big.Rat).Sub(rational(t, got[key]), want); diff.Abs(diff).Cmp(big.NewRat(1, 1000)) > 0 {
			t.Errorf("%s = %v, want %s", key, got[key], want.FloatString(4))
		}
	}
	if times[0].Cmp(times[11]) == 0 {
		t.Error("all replicas take the same time: the test shows nothing")
	}
	quiet := answer(t, "skeleton", "--ranks", "16", "--machine", "cnl", "--seed", "5")
	if got["without_noise"] != quiet["T_ns"] {
		t.Errorf("without noise %v, by itself %v", got["without_noise"], quiet["T_ns"])
	}
	if more := rows(t, append(args[:len(args)-1], "5")...); len(more) != 5 || more[4]["T_ns"] != list[4]["T_ns"] ||
		more[4]["seed"] != list[4]["seed"] {
		t.Errorf("the fifth of 5 replicas is %v, that of 12 is %v", more[len(more)-1], list[4])
	}
}

// Several runs are spread over their answers; each is that of the run by itself.
func TestSpreadOfRuns(t *testing.T) {
	a, b := pingPong(t), pingPong(t)
	list := rows(t, a, b, a, "-L", "2us")
	if len(list) != 3 {
		t.Fatalf("%d rows, want 3", len(list))
	}
	for _, row := range list {
		if row["T_ns"] != "5500" || row["lambda_L"] != "2" {
			t.Errorf("row %v, want T 5500 and slope 2", row)
		}
	}
}
