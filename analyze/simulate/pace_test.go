package simulate

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// restless goes from one way to another after a few rounds.
type restless struct{ every, n int }

var restlessOnes atomic.Int32

// newRestless returns one that changes after 1 to 4 rounds or, one in five, never.
func newRestless() pacer {
	return &restless{every: int(restlessOnes.Add(1) % 5)}
}

func (r *restless) next(round int, _, _ int64) (way, int) {
	if r.every == 0 {
		return together, math.MaxInt
	}
	r.n++
	return [...]way{together, alone, together, merged, alone, merged}[r.n/r.every%6], round + 1
}

// TestPace lets a run take a given time for a visit in each of the two ways, and sums up in which it was.
func TestPace(t *testing.T) {
	const ms = int64(1e6)
	for _, tc := range []struct {
		name            string
		together, alone int64   // nanoseconds for a visit
		waits           float64 // of a round that is carried out together
		visits          int64   // in a round
		cold            int64   // nanoseconds in which the run together is five times as slow
		blur            float64 // by which these times differ in each 3 ms
		want            bool    // alone in the end
		most            float64 // share of the time in the other way
	}{
		{"busy threads", 60, 100, 0.1, 100, 0, 0, false, 0},
		{"threads that wait much and gain", 80, 100, 0.9, 100, 0, 0, false, 0.05},
		{"threads that wait and gain nothing", 130, 100, 0.9, 100, 0, 0, true, 0.05},
		{"tiny windows on many threads", 1000, 100, 0.99, 100, 0, 0, true, 0.03},
		{"new memory is slow at first", 60, 100, 0.5, 100, ms, 0, false, 0.005},
		{"small windows of which some look good", 120, 100, 0.5, 5, 0, 0.4, true, 0.02},
		{"smallest windows", 120, 100, 0.5, 3, 0, 0, true, 0.0002},
		{"large windows of which some look bad", 60, 100, 0.5, 100, 0, 0.4, false, 0.1},
	} {
		now, waited, sum := int64(0), int64(0), [2]int64{}
		r := rand.New(rand.NewPCG(1, 2))
		p := newPace(2)
		p.clock = func() int64 { return now }
		current, look, total := together, 0, int64(0)
		blurred, factor := int64(0), 1.0
		for round := 0; now < 2000*ms; round++ {
			if now >= blurred {
				blurred, factor = now+3*ms, 1+tc.blur*(2*r.Float64()-1)
			}
			d := int64(float64(tc.together*tc.visits) * factor)
			if now < tc.cold {
				d *= 5
			}
			if current != together {
				d = int64(float64(tc.alone*tc.visits) * factor)
				sum[1] += d
			} else {
				waited += int64(2 * tc.waits * float64(d))
				sum[0] += d
			}
			now += d
			total += tc.visits
			if round >= look {
				current, look = p.next(round, total, waited)
			}
		}
		other := sum[1]
		if tc.want {
			other = sum[0]
		}
		if share := float64(other) / float64(sum[0]+sum[1]); share > tc.most {
			t.Errorf("%s: %.3f of the time in the slower way, want at most %.3f", tc.name, share, tc.most)
		} else {
			t.Logf("%s: %.4f", tc.name, share)
		}
	}
}
