package noise

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestIntervals(t *testing.T) {
	for _, tc := range []struct {
		name       string
		list, want []Detour
	}{
		{"none", nil, nil},
		{"zero length", []Detour{{5, 0}}, nil},
		{"one", []Detour{{5, 10}}, []Detour{{5, 10}}},
		{"wraps", []Detour{{95, 10}}, []Detour{{95, 10}}},
		{"touch", []Detour{{5, 10}, {15, 5}}, []Detour{{5, 15}}},
		{"touch at the seam", []Detour{{0, 5}, {95, 5}}, []Detour{{95, 10}}},
		{"overlap", []Detour{{5, 10}, {6, 2}, {10, 20}}, []Detour{{5, 25}}},
		{"two", []Detour{{0, 5}, {50, 5}}, []Detour{{0, 5}, {50, 5}}},
		{"two, last to the end", []Detour{{10, 5}, {50, 50}}, []Detour{{10, 5}, {50, 50}}},
		{"two, last wraps", []Detour{{10, 5}, {50, 55}}, []Detour{{10, 5}, {50, 55}}},
	} {
		d, err := NewDetours(100, tc.list)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := d.Intervals(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: Intervals = %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestNewDetoursErrors(t *testing.T) {
	for _, tc := range []struct {
		period int64
		list   []Detour
		want   string
	}{
		{0, nil, "must be above 0"},
		{-5, nil, "must be above 0"},
		{100, []Detour{{-1, 5}}, "before 0"},
		{100, []Detour{{100, 5}}, "outside the period"},
		{100, []Detour{{50, 5}, {40, 5}}, "sort the detours"},
		{100, []Detour{{50, -5}}, "negative"},
		{100, []Detour{{50, 100}}, "as long as the period"},
		{100, []Detour{{0, 50}, {50, 50}}, "no work would ever end"},
	} {
		_, err := NewDetours(tc.period, tc.list)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("NewDetours(%d, %v) = %v, want an error with %q", tc.period, tc.list, err, tc.want)
		}
	}
	if _, err := NewDetours(100, []Detour{{0, 99}, {98, 5}}); !errors.Is(err, ErrFullLoad) {
		t.Errorf("full load = %v, want ErrFullLoad", err)
	}
	if _, err := NewLabeled(100, []Detour{{0, 1}}, []int32{2}, []string{"a"}); err == nil {
		t.Error("a label that does not exist was taken")
	}
}

// Each picosecond of noise counts for the detour over it that began last.
func TestBySource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(1, 50).Draw(t, "period")
		labels := []string{"a", "b", "c"}
		n := rapid.IntRange(0, 90).Draw(t, "detours") // above a block of segments
		list := make([]Detour, n)
		of := make([]int32, n)
		for i := range list {
			list[i] = Detour{rapid.Int64Range(0, period-1).Draw(t, "start"), rapid.Int64Range(0, min(4, period-1)).Draw(t, "length")}
			of[i] = rapid.Int32Range(0, 2).Draw(t, "label")
		}
		slices.SortFunc(list, func(a, b Detour) int { return int(a.Start - b.Start) })
		d, err := NewLabeled(period, list, of, labels)
		if err != nil {
			t.Skip("no CPU time is left")
		}
		owner := make([]int, period)
		for at := range period {
			owner[at] = -1
			begin := int64(-1 << 40)
			for _, shift := range []int64{period, 0} {
				for i, x := range list {
					if s := x.Start - shift; s <= at && at < s+x.Length && s >= begin {
						begin, owner[at] = s, int(of[i])
					}
				}
			}
		}
		from := rapid.Int64Range(0, 3*period).Draw(t, "from")
		to := rapid.Int64Range(from, from+3*period).Draw(t, "to")
		want := make([]int64, 3)
		for x := from; x < to; x++ {
			if o := owner[x%period]; o >= 0 {
				want[o]++
			}
		}
		got := make([]int64, 3)
		d.bySource(from, to, got)
		if !slices.Equal(got, want) {
			t.Fatalf("BySource(%d, %d) = %v, want %v; period %d, detours %v of %v", from, to, got, want, period, list, of)
		}
	})
}

func TestStats(t *testing.T) {
	d, err := NewLabeled(1e12, []Detour{{0, 10e6}, {100e6, 20e6}, {105e6, 5e6}, {300e6, 30e6}, {500e6, 40e6}},
		[]int32{0, 0, 1, 0, 1}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	s := Stats(d)
	if s.Noise != 100e6 || s.OverheadPercent != 0.01 || s.Count != 4 || s.RatePerSecond != 4 {
		t.Errorf("noise %d, overhead %v %%, count %d, rate %v; want 100 us, 0.01 %%, 4, 4", s.Noise, s.OverheadPercent, s.Count, s.RatePerSecond)
	}
	if s.Min != 10e6 || s.Q1 != 17_500_000 || s.Median != 25e6 || s.Q3 != 32_500_000 || s.P99 != 39_700_000 || s.Max != 40e6 ||
		s.Mean != 25e6 {
		t.Errorf("quantiles %v %v %v %v %v %v, mean %v", s.Min, s.Q1, s.Median, s.Q3, s.P99, s.Max, s.Mean)
	}
	if got := s.Largest[1]; got.Count != 1 || got.NoisePercent != 40 || got.AtLeast != 40e6 {
		t.Errorf("longest 1 %% = %+v, want one of 40 us with 40 %%", got)
	}
	if a, b := s.Sources[0], s.Sources[1]; a.Noise != 55e6 || a.Count != 3 || b.Noise != 45e6 || b.Longest != 40e6 || b.NoisePercent != 45 {
		t.Errorf("sources = %+v", s.Sources)
	}
	quiet, err := NewDetours(1e12, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := Stats(quiet); s.Count != 0 || s.OverheadPercent != 0 || len(s.Sources) != 1 {
		t.Errorf("Stats without noise = %+v", s)
	}
}

func TestPoints(t *testing.T) {
	var list []Detour
	for i := range int64(1000) {
		list = append(list, Detour{i * 100, 1 + i*7%50})
	}
	list[321].Length = 99
	d, err := NewDetours(100_000, list)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{0, 1, 2, 10, 99, 999, 1000, 5000} {
		points := d.Points(most)
		if want := min(most, 1000); len(points) != want {
			t.Errorf("Points(%d) has %d points, want %d", most, len(points), want)
		}
		if most > 0 && !slices.Contains(points, Detour{32100, 99}) {
			t.Errorf("Points(%d) lacks the longest", most)
		}
		if !slices.IsSortedFunc(points, func(a, b Detour) int { return int(a.Start - b.Start) }) {
			t.Errorf("Points(%d) are not sorted", most)
		}
	}
}

// Free is the available time per period in picoseconds.
func (t *Detours) Free() int64 { return t.free }

// Labels are the names of the sources of noise.
func (t *Detours) Labels() []string { return t.labels }
