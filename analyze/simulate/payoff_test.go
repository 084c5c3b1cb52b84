package simulate

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"slackline/internal/cluster"
	"slackline/model/schedule"
)

// TestPayoff decides about rounds of known lengths.
func TestPayoff(t *testing.T) {
	type phase struct {
		rounds      int
		took, alone time.Duration
	}
	const ms = time.Millisecond
	for name, tc := range map[string]struct {
		phases []phase
		stops  int // in which round; 0: never
	}{
		"slow network":                 {[]phase{{1000, ms, 10 * time.Microsecond}}, 256},
		"slower network":               {[]phase{{10, 100 * ms, ms}}, 3},
		"half as fast":                 {[]phase{{10000, ms, ms / 2}}, 0}, // the loss never exceeds the work
		"fast network":                 {[]phase{{100000, 100 * time.Microsecond, 150 * time.Microsecond}}, 0},
		"short":                        {[]phase{{200, ms, 0}}, 0},
		"one disturbance":              {[]phase{{10, ms, 2 * ms}, {1, 200 * ms, ms}, {1000, ms, 2 * ms}}, 0},
		"little work first":            {[]phase{{200, ms, ms / 100}, {1000, 2 * ms, 4 * ms}}, 0},
		"little work later":            {[]phase{{100, ms, 2 * ms}, {10000, ms, ms / 100}}, 661},
		"a loss long ago, then a gain": {[]phase{{128, ms, 0}, {1, 123 * ms, 124 * ms}, {50, ms, 3 * ms}}, 0},
	} {
		asked, round := 0, 0
		p := payoff{leave: func() bool { asked++; return true }}
		stopped := 0
		for _, ph := range tc.phases {
			for range ph.rounds {
				round++
				p.add(ph.took, ph.alone)
				if p.stop && stopped == 0 {
					stopped = round
				}
			}
		}
		near := tc.stops / 10 // the limits are sums of times
		if stopped < tc.stops-near || stopped > tc.stops+near || asked > 1 {
			t.Errorf("%s: stops in round %d, want about %d; asked %d times", name, stopped, tc.stops, asked)
		}
	}
}

// slowGroup is a group on a slow network.
type slowGroup struct {
	cluster.Group
	delay time.Duration
}

func (g slowGroup) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	time.Sleep(g.delay)
	return g.Group.Exchange(ctx, out)
}

// chain is a program in which one rank after the other has something to do, many times.
func chain(ranks, times int, size int64) *schedule.Graph {
	build := schedule.NewBuilder(ranks)
	var b schedule.Block
	for rank := range ranks {
		for range times {
			for _, send := range []bool{rank == 0, rank != 0} {
				b.Reset()
				if send {
					b.Send((rank+1)%ranks, size, 0)
				} else {
					b.Recv((rank-1+ranks)%ranks, size, 0)
				}
				build.Add(rank, &b)
			}
		}
	}
	return build.Graph()
}

// TestSharedRunThatIsSlower ends on all processes, whatever the engine, and one process comes to the same result.
func TestSharedRunThatIsSlower(t *testing.T) {
	const size, delay = 3, 5 * time.Millisecond
	m := vectorDefaults()
	for _, tc := range []struct {
		name    string
		program *schedule.Graph
		choice  engineChoice
	}{
		{"lean", chain(12, 20, 8), engineAuto},
		{"lean, large messages", chain(12, 20, 100_000), engineAuto},
		{"window", chain(12, 20, 8), engineWindow},
		{"event", chain(12, 20, 8), engineEvent},
	} {
		run := func(delay time.Duration, leave func() bool) ([]*Result, []error) {
			results, errs := make([]*Result, size), make([]error, size)
			var wg sync.WaitGroup
			for i, member := range cluster.Local(size) {
				wg.Go(func() {
					has, err := RanksOf(m.machine, tc.program.Ranks(), i, size)
					if err != nil {
						panic(err)
					}
					o := Options{Threads: 1, Group: slowGroup{member, delay}, Pays: true, Leave: leave}
					results[i], errs[i] = runWith(context.Background(), schedule.Part(tc.program, has), m.machine, o, tc.choice)
				})
			}
			wg.Wait()
			return results, errs
		}
		_, errs := run(delay, func() bool { return true })
		for p, err := range errs {
			var slower *SlowerError
			if !errors.As(err, &slower) || p == 0 && (slower.Took < 2*slower.Alone || slower.Rounds == 0) {
				t.Errorf("%s: process %d ends with %v", tc.name, p, err)
			}
		}
		alone, err := runWith(context.Background(), tc.program, m.machine, Options{Threads: 1}, tc.choice)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []time.Duration{0, delay / 10} { // process 0 cannot do without the others
			results, errs := run(d, func() bool { return false })
			if errs[0] != nil {
				t.Fatalf("%s: %v", tc.name, errs[0])
			}
			shared := *results[0]
			shared.Together = nil
			if !reflect.DeepEqual(&shared, alone) {
				t.Errorf("%s: shared %+v, alone %+v", tc.name, shared, alone)
			}
		}
	}
}
