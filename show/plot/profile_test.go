package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
)

func drawFinish(t *rapid.T) []unit.Duration {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) unit.Duration {
		return unit.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "finish"))
	}), 1, 3000).Draw(t, "finishes")
}

// The columns hold every rank once, and their values are those of their ranks.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		finish := drawFinish(t)
		limit := rapid.IntRange(1, 900).Draw(t, "limit")
		cols := columns(finish, limit)
		if want := min(limit, len(finish)); len(cols) != want {
			t.Fatalf("%d columns, want %d", len(cols), want)
		}
		next, smallest, largest := 0, len(finish), 0
		for _, c := range cols {
			if c.first != next || c.end <= c.first {
				t.Fatalf("column %v does not go on at rank %d", c, next)
			}
			next = c.end
			smallest, largest = min(smallest, c.end-c.first), max(largest, c.end-c.first)
			group := finish[c.first:c.end]
			below, above := 0, 0
			for _, f := range group {
				if f < c.median {
					below++
				}
				if f > c.median {
					above++
				}
			}
			if c.low != slices.Min(group) || c.top != slices.Max(group) || !slices.Contains(group, c.median) ||
				2*below >= len(group) || 2*above > len(group) {
				t.Fatalf("column %v of %v", c, group)
			}
		}
		if next != len(finish) || largest-smallest > 1 {
			t.Fatalf("columns end at %d of %d ranks, sizes %d to %d", next, len(finish), smallest, largest)
		}
	})
}

func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		finish := drawFinish(t)
		low, top := slices.Min(finish), slices.Max(finish)
		edges, shares := histogram(finish, low, top, 20)
		sum := 0.0
		for _, s := range shares {
			sum += s
		}
		if math.Abs(sum-100) > 1e-9 { // 20 roundings of numbers below 100
			t.Fatalf("shares add up to %g", sum)
		}
		if len(edges) != len(shares)+1 || edges[0] != float64(low) || edges[len(edges)-1] != float64(top) || !slices.IsSorted(edges) {
			t.Fatalf("edges %v of values from %d to %d", edges, low, top)
		}
	})
	_, shares := histogram([]unit.Duration{0, 1, 2, 3, 10}, 0, 10, 5)
	if want := []float64{40, 40, 0, 0, 20}; !slices.Equal(shares, want) {
		t.Errorf("shares = %v, want %v", shares, want)
	}
}

func TestProfileExtremes(t *testing.T) {
	for what, finish := range map[string][]unit.Duration{
		"one rank":     {5 * unit.Microsecond},
		"all at 0":     make([]unit.Duration, 10),
		"all the same": slices.Repeat([]unit.Duration{7 * unit.Millisecond}, 5000),
		"longest":      {0, 1<<63 - 1},
		"close":        {1 << 62, 1<<62 + 1},
		"801 ranks":    finishTimes(801),
	} {
		t.Run(what, func(t *testing.T) {
			r, _ := inspect(t, &FinishProfile{Title: what, Finish: finish, Caption: "more"})
			if !slices.ContainsFunc(r.texts, func(k drawnText) bool { return strings.Contains(k.text, "Makespan") }) {
				t.Error("the caption lacks the makespan")
			}
		})
	}
	for what, finish := range map[string][]unit.Duration{"no ranks": nil, "negative": {3, -1}} {
		if _, err := Render(&FinishProfile{Finish: finish}, "svg", Options{}); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestSummary(t *testing.T) {
	us := unit.Microsecond
	finish := []unit.Duration{4 * us, 2 * us, 9 * us, 2 * us, 9 * us}
	got := summarize(finish, columns(finish, 2)).String()
	want := "5 ranks. Makespan 9 µs (rank 2), median 4 µs, first 2 µs (rank 1). A column holds 2 or 3 ranks."
	if got != want {
		t.Errorf("summary = %q, want %q", got, want)
	}
}
