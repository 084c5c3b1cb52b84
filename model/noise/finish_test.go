package noise

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bruteFinish steps from detour to detour through the list as it was given. It knows nothing of
// gaps, merging or phases.
func bruteFinish(period int64, list []Detour, offset, t, work int64, delays []interval) int64 {
	for work > 0 {
		at := (t + offset) % period
		free := period // until the next detour begins
		held := int64(0)
		for _, d := range list {
			if d.Length == 0 {
				continue
			}
			since := (at - d.Start + period) % period
			if since < d.Length {
				held = max(held, d.Length-since)
			}
			free = min(free, (d.Start-at+period)%period)
		}
		for _, d := range delays {
			if d.from <= t && t < d.to {
				held = max(held, d.to-t)
			}
			if d.from > t {
				free = min(free, d.from-t)
			}
		}
		if held > 0 {
			t += held
			continue
		}
		step := min(free, work)
		t, work = t+step, work-step
	}
	return t
}

// drawDetours draws a trace that leaves some CPU time, with many ties and overlaps.
func drawDetours(t *rapid.T) (int64, []Detour) {
	for {
		period := rapid.Int64Range(1, 60).Draw(t, "period") * rapid.SampledFrom([]int64{1, 1, 1000, 1e9}).Draw(t, "scale")
		n := rapid.IntRange(0, 12).Draw(t, "detours")
		list := make([]Detour, n)
		longest := max(period/rapid.Int64Range(1, 8).Draw(t, "share"), 1)
		for i := range list {
			list[i] = Detour{rapid.Int64Range(0, period-1).Draw(t, "start"), min(rapid.Int64Range(0, longest).Draw(t, "length"), period-1)}
		}
		slices.SortStableFunc(list, func(a, b Detour) int { return cmp.Compare(a.Start, b.Start) })
		if _, err := NewDetours(period, list); err == nil {
			return period, list
		}
	}
}

// Finish equals stepping from detour to detour, whatever was asked before.
func TestFinishAgainstSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period, list := drawDetours(t)
		d, err := NewDetours(period, list)
		if err != nil {
			t.Fatal(err)
		}
		offset := rapid.Int64Range(0, 3*period).Draw(t, "offset")
		perRank := rapid.Bool().Draw(t, "per rank")
		var in *Injection
		if perRank {
			in, err = NewPerRank([]*Detours{nil, d}, []int64{0, offset})
		} else {
			in, err = NewInjection(d, []int64{0, offset})
		}
		if err != nil {
			t.Fatal(err)
		}
		var delays []interval
		for range rapid.IntRange(0, 3).Draw(t, "delays") {
			from := rapid.Int64Range(0, 4*period).Draw(t, "from")
			length := rapid.Int64Range(0, 2*period).Draw(t, "delay")
			delays = append(delays, interval{from, from + length})
			if err := in.Delay(1, from, length); err != nil {
				t.Fatal(err)
			}
		}
		var hint int32
		at := int64(0)
		for range rapid.IntRange(1, 12).Draw(t, "questions") {
			if rapid.IntRange(0, 3).Draw(t, "jump") == 0 {
				at = rapid.Int64Range(0, 6*period).Draw(t, "at")
			}
			// Not so many periods that the steps would take for ever.
			work := rapid.Int64Range(0, min(2*period, 20*d.Free())).Draw(t, "work")
			if rapid.Bool().Draw(t, "short") {
				work %= period/8 + 1
			}
			want := bruteFinish(period, list, offset, at, work, delays)
			got := in.Finish(1, at, work, &hint)
			if got != want {
				t.Fatalf("Finish(%d, %d) = %d, want %d; period %d, detours %v, offset %d, delays %v", at, work, got, want, period, list, offset, delays)
			}
			sums := make([]int64, len(in.Labels()))
			in.BySource(1, at, got, at, sums)
			noise := int64(0)
			for _, s := range sums {
				noise += s
			}
			if work > 0 && noise != got-at-work {
				t.Fatalf("BySource(%d, %d) = %v, want %d in all", at, got, sums, got-at-work)
			}
			at = got
		}
		if perRank {
			if got := in.Finish(0, 5, 7, &hint); got != 12 {
				t.Fatalf("Finish of the quiet rank = %d, want 12", got)
			}
		}
	})
}

// A hint of another trace, as state that is used again has it, does no harm.
func TestFinishForeignHint(t *testing.T) {
	list := []Detour{{10, 5}, {30, 5}, {60, 10}}
	in := injection(t, 100, list, nil)
	for _, h := range []int32{-5, 0, 2, 3, 1000, math.MaxInt32} {
		for at := range int64(200) {
			hint := h
			if got, want := in.Finish(0, at, 7, &hint), bruteFinish(100, list, 0, at, 7, nil); got != want {
				t.Fatalf("Finish(%d) with hint %d = %d, want %d", at, h, got, want)
			}
		}
	}
}

func injection(t testing.TB, period int64, list []Detour, offsets []int64) *Injection {
	t.Helper()
	d, err := NewDetours(period, list)
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInjection(d, offsets)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Answers that do not fit into 63 bits are -1, those that just fit are right.
func TestFinishOverflow(t *testing.T) {
	const huge = math.MaxInt64
	one := []Detour{{0, 100}}
	two := []Detour{{0, 50}, {500, 50}}
	for _, tc := range []struct {
		name            string
		list            []Detour
		offset, t, work int64
		want            int64
	}{
		{"half the time, fits", []Detour{{0, 500}}, 0, 0, huge / 2 / 1000 * 500, huge / 2 / 1000 * 1000},
		{"half the time", []Detour{{0, 500}}, 0, 0, huge/2 + 1000, -1},
		{"one, work", one, 0, 0, huge, -1},
		{"two, work", two, 0, 0, huge, -1},
		{"one, offset", one, 999, huge - 500, 1, -1},
		{"two, time", two, 0, huge, 1, -1},
		{"one, time", one, 0, huge, 1, -1},
	} {
		in := injection(t, 1000, tc.list, []int64{tc.offset})
		var hint int32
		got := in.Finish(0, tc.t, tc.work, &hint)
		if got != tc.want {
			t.Errorf("%s: Finish = %d, want %d", tc.name, got, tc.want)
		}
	}
	// A period close to the largest number.
	in := injection(t, huge, []Detour{{10, huge - 20}}, []int64{0})
	var hint int32
	if got, want := in.Finish(0, 5, 7, &hint), int64(huge-10+2); got != want {
		t.Errorf("Finish = %d, want %d", got, want)
	}
	if got := in.Finish(0, 5, 30, &hint); got != -1 {
		t.Errorf("Finish = %d, want -1", got)
	}
}

// The product instead of a division is exact over the whole range.
func TestMod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(1, math.MaxInt64).Draw(t, "period")
		if rapid.Bool().Draw(t, "short") {
			period = period%5000 + 1
		}
		d, err := NewDetours(period, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []int64{0, period - 1, period, math.MaxInt64, rapid.Int64Range(0, math.MaxInt64).Draw(t, "x")} {
			if got, want := d.mod(x), x%period; got != want {
				t.Fatalf("mod(%d) with period %d = %d, want %d", x, period, got, want)
			}
		}
	})
}

// Zero-length noise, an empty trace and no trace are no noise.
func TestNoNoise(t *testing.T) {
	for _, list := range [][]Detour{nil, {{5, 0}, {7, 0}}} {
		in := injection(t, 100, list, []int64{3, 4})
		var hint int32
		if got := in.Finish(1, 50, 1000, &hint); got != 1050 || !in.Empty() {
			t.Errorf("Finish with %v = %d (empty %v), want 1050 and empty", list, got, in.Empty())
		}
		if err := in.CheckRanks(7); err != nil {
			t.Errorf("CheckRanks without noise: %v", err)
		}
	}
	in, err := NewInjection(nil, nil)
	if err != nil || !in.Empty() {
		t.Errorf("no trace: %v, empty %v", err, in.Empty())
	}
}

func TestInjectionErrors(t *testing.T) {
	d, err := NewDetours(100, []Detour{{0, 10}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewInjection(d, []int64{0, -1}); err == nil {
		t.Error("a negative offset was taken")
	}
	if _, err := NewPerRank([]*Detours{d, nil}, []int64{1}); err == nil {
		t.Error("too few offsets were taken")
	}
	in := injection(t, 100, []Detour{{0, 10}}, []int64{1, 2})
	if err := in.CheckRanks(3); err == nil {
		t.Error("two offsets do for three ranks")
	}
	if err := in.SetOffsets([]int64{1, 2, 3}); err != nil {
		t.Error(err)
	}
	if err := in.CheckRanks(3); err != nil {
		t.Error(err)
	}
	if err := in.Delay(7, 0, 10); err != nil {
		t.Error(err)
	}
	if err := in.CheckRanks(3); err == nil {
		t.Error("a delay of rank 7 of 3 was taken")
	}
	for _, bad := range [][3]int64{{-1, 0, 1}, {0, -1, 1}, {0, 0, -1}, {0, math.MaxInt64, 1}} {
		if err := in.Delay(int(bad[0]), bad[1], bad[2]); err == nil {
			t.Errorf("Delay%v was taken", bad)
		}
	}
}

// BenchmarkFinish asks as an engine does: times of each rank ascend, ranks alternate.
func BenchmarkFinish(b *testing.B) {
	const ranks = 1024
	for _, name := range []string{"1000Hz:100us", "zeptoos", "altix", "chic"} {
		b.Run("noise="+name, func(b *testing.B) {
			p, err := Find(name)
			if err != nil {
				b.Fatal(err)
			}
			d, err := p.Detours(1)
			if err != nil {
				b.Fatal(err)
			}
			offsets := make([]int64, ranks)
			Offsets{Seed: 1}.Draw(offsets, d.Period())
			in, err := NewInjection(d, offsets)
			if err != nil {
				b.Fatal(err)
			}
			times := make([]int64, ranks)
			hints := make([]int32, ranks)
			r := 0
			for b.Loop() {
				times[r] = in.Finish(r, times[r]+4_000_000, 2_870_000, &hints[r])
				r = (r + 1) % ranks
			}
		})
	}
}
