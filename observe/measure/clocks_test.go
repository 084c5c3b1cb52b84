package measure

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"slackline/model/clock"
	"slackline/model/unit"
	"slackline/observe/mpi/mpitest"
)

// testInjections are offsets of seconds and drifts of up to 100 ppm.
func testInjections(ranks int, seed uint64) []Injection {
	r := rand.New(rand.NewPCG(seed, 9))
	list := make([]Injection, ranks)
	for i := range list {
		list[i] = Injection{Offset: time.Duration((2*r.Float64() - 1) * 5e9), Drift: math.Round((2*r.Float64()-1)*1e8) / 1e12}
	}
	return list
}

func TestClocksOverMPI(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		t.Run(string(l.Kind), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			const ranks = 4
			j, err := StartJob(ctx, l, ranks, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := DefaultClocks()
			o.Patience, o.MostPings, o.Moments, o.Duration, o.Wait, o.RoundTrips = 10, 40, 3, 200*time.Millisecond, 100*time.Millisecond, 100
			o.Inject = testInjections(ranks, 1)
			c, err := MeasureClocks(ctx, j, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			checkClocks(t, c, ranks)
		})
	}
}

func checkClocks(t *testing.T, c *Clocks, ranks int) {
	t.Helper()
	if !c.OneClock || len(c.Sources) != 1 || len(c.Ends) != ranks-1 || len(c.RoundTrips) != 100 || len(c.Times) != 2 {
		t.Fatalf("%+v", c)
	}
	for _, s := range c.Sources[0].Sources {
		if len(CPUs()) > 1 && s.Moves == 0 {
			t.Errorf("%s was not read across moves between CPUs", s.Name)
		}
	}
	for _, m := range c.Moments {
		if m.Rounds() != bits.Len(uint(ranks-1)) {
			t.Errorf("the tree took %d rounds", m.Rounds())
		}
		want := map[clock.Pair]int{}
		for i, round := range clock.TreeRounds(ranks) {
			for _, p := range round {
				want[p] = i + 1
			}
		}
		for _, e := range m.Edges {
			if want[clock.Pair{Asker: e.Asker, Answerer: e.Answerer}] != e.Round {
				t.Errorf("ranks %d and %d were compared in round %d", e.Asker, e.Answerer, e.Round)
			}
		}
	}
	for _, e := range c.Ends {
		checkBounds(t, e.Rank, "at the end", e.End)
		checkBounds(t, e.Rank, "later", e.Later)
		truth := (1+c.Injected[e.Rank].Drift)/(1+c.Injected[0].Drift) - 1
		if e.Uneven || truth < e.Drifts[0] || truth > e.Drifts[1] {
			t.Errorf("rank %d: drift %g, proven %v, uneven %v", e.Rank, truth, e.Drifts, e.Uneven)
		}
	}
}

// checkBounds wants the true errors of the models that have bounds to be within them.
func checkBounds(t *testing.T, rank int, when string, list []ModelError) {
	t.Helper()
	proven := false
	for _, m := range list {
		proven = proven || m.Model == Proven
		if m.Bound >= 0 && (m.True > m.Bound || m.True < -m.Bound) {
			t.Errorf("rank %d %s: the %s model is wrong by %s, its bound is %s", rank, when, m.Model, m.True, m.Bound)
		}
		if m.Model == Proven && (m.Seen > m.Bound || m.Seen < -m.Bound) {
			t.Errorf("rank %d %s: later pings contradict the envelope by %s", rank, when, m.Seen)
		}
	}
	if !proven {
		t.Errorf("rank %d %s: nothing is proven", rank, when)
	}
}

// TestTruth checks the truth against a plain computation in which nothing is large.
func TestTruth(t *testing.T) {
	c := &Clocks{Start: []int64{0, 0}, Injected: []Injection{{Offset: 3 * time.Second, Drift: 50e-6},
		{Offset: -2 * time.Second, Drift: -100e-6}}}
	// At t = 10 s rank 1 shows -2 s + 10 s * (1 - 100 ppm), rank 0 shows 3 s + 10 s * (1 + 50 ppm).
	x := -2*unit.Second + 10*unit.Second - unit.Millisecond
	want := 13*unit.Second + 500*unit.Microsecond
	if got := c.truth(1, x); got < want-1 || got > want+1 {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSimulatedClocksKeepTheirBounds(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		ranks := 2 + r.IntN(32)
		c := simulatedClocks(r, ranks)
		if err := c.evaluate(); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Ends {
			checkBounds(t, e.Rank, "at the end", e.End)
			checkBounds(t, e.Rank, "10 s later", e.Later)
		}
	}
}

// simulatedClocks are measurements on one simulated host, with clocks that show whole nanoseconds and ways of
// random and different length.
func simulatedClocks(r *rand.Rand, ranks int) *Clocks {
	c := &Clocks{Ranks: ranks, OneClock: true, Injected: testInjections(ranks, r.Uint64())}
	const boot = 4e15 // ns: the host is up for a month
	show := func(rank int, t int64) int64 {
		i := c.Injected[rank]
		return i.Offset.Nanoseconds() + t + int64(math.Floor(float64(t)*i.Drift))
	}
	for rank := range ranks {
		c.Start = append(c.Start, show(rank, boot))
	}
	run := func(rounds [][]clock.Pair, t int64) *Comparison {
		x := &Comparison{}
		for i, round := range rounds {
			for _, p := range round {
				e := Edge{Asker: p.Asker, Answerer: p.Answerer, Round: i + 1}
				for at, k := t, 0; k < 20; k++ {
					there, back := int64(300*(1+r.ExpFloat64())), int64(300*(1+20*r.ExpFloat64()))
					stamp := func(rank int, at int64) unit.Duration {
						return unit.Duration(show(rank, boot+at)-c.Start[rank]) * unit.Nanosecond
					}
					e.Pings = append(e.Pings, clock.Ping{Sent: stamp(p.Asker, at), Answered: stamp(p.Answerer, at+there),
						Back: stamp(p.Asker, at+there+back)})
					at += there + back
				}
				x.Edges = append(x.Edges, e)
			}
			t += 500_000
		}
		return x
	}
	var linear [][]clock.Pair // clock 0 with every other one, one after the other
	for rank := 1; rank < ranks; rank++ {
		linear = append(linear, []clock.Pair{{Answerer: rank}})
	}
	for k := range int64(5) {
		c.Moments = append(c.Moments, run(clock.TreeRounds(ranks), k*3e8))
		c.Linear = append(c.Linear, run(linear, k*3e8+1e8))
	}
	c.Later = run(linear, 5*3e8+1e10)
	return c
}

func TestChoices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	trips := make([]float64, 2000)
	for i := range trips {
		trips[i] = 1000 * (1 + 0.1*r.ExpFloat64())
	}
	list := choices(trips)
	for i := 1; i < len(list); i++ {
		if list[i].Pings <= list[i-1].Pings || list[i].Excess > list[i-1].Excess {
			t.Errorf("N = %d: %+v after %+v", list[i].Patience, list[i], list[i-1])
		}
	}
	if last := list[len(list)-1]; last.Excess > 0.1 || last.Quarter < last.Excess {
		t.Errorf("%+v", last)
	}
	if choices(nil) != nil {
		t.Error("a choice from nothing")
	}
}

func TestClockOptions(t *testing.T) {
	for name, change := range map[string]func(*ClockOptions){
		"patience": func(o *ClockOptions) { o.Patience = 0 },
		"pings":    func(o *ClockOptions) { o.MostPings = 5 },
		"moments":  func(o *ClockOptions) { o.Moments = 1 },
		"duration": func(o *ClockOptions) { o.Duration = 0 },
		"wait":     func(o *ClockOptions) { o.Wait = -1 },
		"trips":    func(o *ClockOptions) { o.RoundTrips = 1 },
		"inject":   func(o *ClockOptions) { o.Inject = make([]Injection, 3) },
		"drift":    func(o *ClockOptions) { o.Inject = []Injection{{}, {Drift: math.NaN()}} },
	} {
		o := DefaultClocks()
		if err := o.Check(2); err != nil {
			t.Fatal(err)
		}
		if change(&o); o.Check(2) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
