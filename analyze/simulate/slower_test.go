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
					o := Options{Threads: 1, Group: cluster.Watch(slowGroup{member, delay}, nil, leave)}
					results[i], errs[i] = runWith(context.Background(), schedule.Part(tc.program, has), m.machine, o, tc.choice)
				})
			}
			wg.Wait()
			return results, errs
		}
		_, errs := run(delay, func() bool { return true })
		for p, err := range errs {
			var slower *cluster.SlowerError
			if !errors.As(err, &slower) || p == 0 && (slower.Took < 2*slower.Alone || slower.Exchanges == 0) {
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
