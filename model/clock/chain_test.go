package clock

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
)

func TestTreeRounds(t *testing.T) {
	for n := 2; n <= 33; n++ {
		rounds := TreeRounds(n)
		if want := bits.Len(uint(n - 1)); len(rounds) != want {
			t.Errorf("%d clocks: %d rounds, want %d", n, len(rounds), want)
		}
		parent := map[int]int{}
		for _, round := range rounds {
			busy := map[int]bool{}
			for _, p := range round {
				if busy[p.Asker] || busy[p.Answerer] || p.Asker < 0 || p.Answerer >= n {
					t.Errorf("%d clocks: %v is in a round with another of its clocks", n, p)
				}
				busy[p.Asker], busy[p.Answerer] = true, true
				if _, twice := parent[p.Answerer]; twice || p.Asker >= p.Answerer {
					t.Errorf("%d clocks: %v makes no tree", n, p)
				}
				parent[p.Answerer] = p.Asker
			}
		}
		if len(parent) != n-1 {
			t.Errorf("%d clocks: %d of them have a parent", n, len(parent))
		}
	}
	got := TreeRounds(7)
	if len(got[0]) != 2 || got[0][1] != (Pair{2, 3}) || got[1][0] != (Pair{0, 2}) || len(got[2]) != 3 || got[2][2] != (Pair{2, 6}) {
		t.Errorf("7 clocks: %v", got)
	}
}

// driftingClock shows offset + (1+drift) * t at the true time t.
type driftingClock struct{ offset, drift float64 }

func (c driftingClock) at(t float64) unit.Duration {
	return unit.Duration(math.Round(c.offset + t + c.drift*t))
}

// trueReference is what clock r shows when c shows x.
func (c driftingClock) trueReference(r driftingClock, x unit.Duration) float64 {
	t := (float64(x) - c.offset) / (1 + c.drift)
	return r.offset + t + r.drift*t
}

// simulated returns pings between two clocks from a true time on, with ways of random and different length.
func simulated(r *rand.Rand, asker, answerer driftingClock, from float64, n int, way float64) []Ping {
	var pings []Ping
	t := from
	for range n {
		there, back := way*(1+r.ExpFloat64()), way*(0.2+3*r.ExpFloat64())
		p := Ping{Sent: asker.at(t), Answered: answerer.at(t + there), Back: asker.at(t + there + back)}
		// Whole picoseconds: what is rounded must not prove anything.
		p.Sent, p.Back = p.Sent-1, p.Back+1
		pings = append(pings, p)
		t += there + back
	}
	return pings
}

// TestChainHoldsTheTruth is the theorem that the true line agrees with every ping, so that the truth is
// inside what the lines allow, along a tree and long after the last ping.
func TestChainHoldsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(2, 33).Draw(t, "clocks")
		way := rapid.Float64Range(1e5, 1e9).Draw(t, "way") // 0.1 us to 1 ms
		clocks := make([]driftingClock, n)
		for i := range clocks {
			clocks[i] = driftingClock{(2*r.Float64() - 1) * 5e12, (2*r.Float64() - 1) * 100e-6}
		}
		chains := make([]Chain, n)
		const end = 2e12
		for _, round := range TreeRounds(n) {
			for _, p := range round {
				var pings []Ping
				for _, start := range []float64{0, end / 2, end} {
					pings = append(pings, simulated(r, clocks[p.Asker], clocks[p.Answerer], start, 8, way)...)
				}
				lines, ok := NewEnvelope(pings).Straight()
				if !ok {
					t.Fatalf("no line agrees with the pings of %v", p)
				}
				chains[p.Answerer] = Chain{lines}
			}
		}
		parents := map[int]int{}
		for _, round := range TreeRounds(n) {
			for _, p := range round {
				parents[p.Answerer] = p.Asker
			}
		}
		for c := 1; c < n; c++ {
			whole := Chain{}
			for k := c; k != 0; k = parents[k] {
				whole = append(whole, chains[k][0])
			}
			for _, at := range []float64{0, end, end + 1e13} {
				x := clocks[c].at(at)
				least, most := whole.Reference(x)
				truth := clocks[c].trueReference(clocks[0], x)
				if truth < float64(least)-2 || truth > float64(most)+2 {
					t.Fatalf("clock %d at %g: truth %g outside %d .. %d", c, at, truth, least, most)
				}
			}
		}
	})
}

func TestLowestQuarter(t *testing.T) {
	if _, ok := LowestQuarter(nil); ok {
		t.Error("no pings have a lowest quarter")
	}
	var pings []Ping
	for i := range unit.Duration(8) {
		pings = append(pings, Ping{Sent: 100 * i, Answered: 100*i + 1000 + 50*i, Back: 100*i + 10 + 100*i})
	}
	p, ok := LowestQuarter(pings) // the first two: answerer 995, 1045-... more
	want := (pings[0].Point().More + pings[1].Point().More) / 2
	if !ok || p.More != want || p.At != (pings[0].Answered+pings[1].Answered)/2 {
		t.Errorf("%+v, want %g more", p, want)
	}
}
