package noise

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Idle time does not move a CPU on: its work, whenever it starts, takes as long as without the waits in
// between. A delay holds it up, and nothing else.
func TestAdvanceIgnoresIdleTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period, list := drawDetours(t)
		d, err := NewDetours(period, list)
		if err != nil {
			t.Fatal(err)
		}
		offset := rapid.Int64Range(0, 3*period).Draw(t, "offset")
		in, err := NewInjection(d, []int64{offset})
		if err != nil {
			t.Fatal(err)
		}
		in.SetClock(CPUClock)
		from := rapid.Int64Range(0, 4*period).Draw(t, "delay from")
		length := rapid.Int64Range(0, 2*period).Draw(t, "delay")
		if err := in.Delay(0, from, length); err != nil {
			t.Fatal(err)
		}
		var hint, hint2 int32
		now, position, own := int64(0), int64(0), int64(0)
		for range rapid.IntRange(1, 10).Draw(t, "pieces") {
			now += rapid.Int64Range(0, period).Draw(t, "idle")
			work := rapid.Int64Range(0, min(2*period, 20*d.Free())).Draw(t, "work")
			end := bruteFinish(period, list, offset, own, work, nil)
			took := end - own
			own = end
			want := now + took
			switch { // the delay is added where it meets the work
			case work == 0 || length == 0 || now >= from+length || want <= from:
			case now >= from:
				want += from + length - now
			default:
				want += length
			}
			at := position
			got := in.Advance(0, now, work, &position, &hint)
			if got != want || position != own {
				t.Fatalf("Advance(%d, %d) = %d at %d, want %d at %d; period %d, detours %v, offset %d, delay %d for %d",
					now, work, got, position, want, own, period, list, offset, from, length)
			}
			sums := make([]int64, len(in.Labels()))
			if moved := in.BySource(0, now, got, at, sums); moved != position || work > 0 && sums[0]+sums[1] != got-now-work {
				t.Fatalf("BySource(%d, %d) = %v at %d, want %d in all at %d", now, got, sums, moved, got-now-work, position)
			}
			now = got
			if again := in.Advance(0, now, 0, &position, &hint2); again != now || position != own {
				t.Fatalf("no work takes from %d to %d", now, again)
			}
		}
	})
}

func TestAdvanceBeyondAllTimes(t *testing.T) {
	in := injection(t, 100, []Detour{{10, 5}}, nil)
	in.SetClock(CPUClock)
	var hint int32
	position := int64(0)
	if got := in.Advance(0, math.MaxInt64-10, 20, &position, &hint); got != -1 {
		t.Errorf("Advance = %d, want -1", got)
	}
	if in.Clock() != CPUClock {
		t.Errorf("Clock = %v", in.Clock())
	}
}
