package whatif

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStrategies(t *testing.T) {
	for _, tc := range []struct {
		how         string
		times, want []int64
		grid        []int
	}{
		{"even", []int64{10, 0, 20, 30}, []int64{15, 15, 15, 15}, nil},
		// One dimension: a third of each difference moves.
		{"neighbors", []int64{90, 0, 30}, []int64{60, 40, 20}, []int{3}},
		// Two: a fifth, between 0-1, 2-3 and 0-2, 1-3.
		{"neighbors", []int64{100, 0, 0, 0}, []int64{60, 20, 20, 0}, []int{2, 2}},
		// Columns 0 and 2 of ranks, 1 and 3: sums 40 and 20 become 30 each.
		{"columns", []int64{10, 20, 30, 0}, []int64{8, 30, 23, 0}, []int{2, 2}},
		{"columns", []int64{5, 0, 7, 0}, []int64{5, 0, 7, 0}, []int{2, 2}},
		// The 0.5 quantile is 30; the 70 above go to 20 and 10, which lack less: all get the mean.
		{"cap:0.5", []int64{100, 10, 20, 30}, []int64{40, 40, 40, 40}, nil},
		// The 0.75 quantile of eight is 50, so 10 are cut; the others lack 50, 40, 30, 20, 10 and 0 of it.
		{"cap:0.75", []int64{0, 10, 20, 30, 40, 50, 50, 60}, []int64{3, 12, 22, 31, 40, 50, 50, 50}, nil},
	} {
		s, err := ParseStrategy(tc.how)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.entry().spread(&s, tc.times, tc.grid); !slices.Equal(got, tc.want) {
			t.Errorf("%s of %v = %v, want %v", tc.how, tc.times, got, tc.want)
		}
		if s.String() != tc.how {
			t.Errorf("String = %q, want %q", s.String(), tc.how)
		}
	}
}

// No strategy takes work away, makes the largest time larger or gives a rank less than nothing.
func TestStrategiesKeepTheWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grid := []int{rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "columns")}
		n := grid[0] * grid[1]
		times := rapid.SliceOfN(rapid.Int64Range(0, 1e15), n, n).Draw(t, "times")
		total := int64(1)
		times[0]++
		for _, x := range times {
			total += x
		}
		for i := range strategies {
			s := Strategy{&strategies[i], rapid.Float64Range(0.01, 0.99).Draw(t, "quantile")}
			out := s.entry().spread(&s, times, grid)
			rest := total - 1
			for _, x := range out {
				if rest -= x; x < 0 {
					t.Fatalf("%s of %v = %v: a negative time", &s, times, out)
				}
			}
			if rest < -int64(n) || rest > int64(n) {
				t.Fatalf("%s of %v = %v: the sum differs by %d", &s, times, out, rest)
			}
			if s.entry().name != "columns" && slices.Max(out) > slices.Max(times) {
				t.Fatalf("%s of %v = %v: the largest time grows", &s, times, out)
			}
		}
	})
}

func TestStrategyErrors(t *testing.T) {
	for text, want := range map[string]string{
		"evn": `there is no strategy "evn"; take even, neighbors, columns, cap`, "cap:1": "between 0 and 1", "cap:x": "between 0 and 1",
		"even:0.5": "between 0 and 1", "cap:NaN": "between 0 and 1",
	} {
		if _, err := ParseStrategy(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseStrategy(%q): %v, want %q", text, err, want)
		}
	}
	how, err := ParseStrategy("neighbors")
	if err != nil {
		t.Fatal(err)
	}
	for _, grid := range [][]int{nil, {2, 3}} {
		if err := (&Change{How: how, Grid: grid}).checkGrid(4); err == nil {
			t.Errorf("grid %v of 4 ranks: no error", grid)
		}
	}
}
