package simulate

import (
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

func (r *restless) looks(int) bool { return r.every > 0 }

func (r *restless) next(_, _ int64) way {
	r.n++
	return [...]way{together, alone, together, merged, alone, merged}[r.n/r.every%6]
}

// TestPace lets a run take a given time for a visit in each of the two ways, and sums up in which it was.
func TestPace(t *testing.T) {
	const rounds, visits = 200_000, 100
	for _, tc := range []struct {
		name            string
		together, alone int64   // nanoseconds for a visit
		waits           float64 // of a round that is carried out together
		want            bool    // alone in the end
		most            float64 // share of the time in the other way
	}{
		{"busy threads", 60, 100, 0.1, false, 0},
		{"threads that wait much and gain", 80, 100, 0.9, false, 0.05},
		{"threads that wait and gain nothing", 130, 100, 0.9, true, 0.05},
		{"tiny windows on many threads", 1000, 100, 0.99, true, 0.03},
	} {
		now, waited, sum := int64(0), int64(0), [2]int64{}
		p := newPace(2)
		p.clock = func() int64 { return now }
		current := together
		for round := range rounds {
			d := tc.together * visits
			if current != together {
				d = tc.alone * visits
				sum[1] += d
			} else {
				waited += int64(2 * tc.waits * float64(d))
				sum[0] += d
			}
			now += d
			if p.looks(round) {
				current = p.next(int64(round+1)*visits, waited)
			}
		}
		other := sum[1]
		if tc.want {
			other = sum[0]
		}
		if share := float64(other) / float64(sum[0]+sum[1]); share > tc.most {
			t.Errorf("%s: %.3f of the time in the slower way, want at most %.3f", tc.name, share, tc.most)
		}
	}
}
