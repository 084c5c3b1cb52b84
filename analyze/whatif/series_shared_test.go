package whatif

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/internal/cluster"
)

// among runs body once per process of a group of goroutines.
func among(t *testing.T, size int, body func(g cluster.Group) error) {
	t.Helper()
	var all sync.WaitGroup
	for _, m := range cluster.Local(size) {
		all.Go(func() {
			if err := body(m); err != nil {
				t.Errorf("process %d of %d: %v", m.Rank(), size, err)
				m.Break()
			}
		})
	}
	all.Wait()
}

// TestSeriesDoesNotDependOnProcesses: also with several counts, without noise, and when something is known.
func TestSeriesDoesNotDependOnProcesses(t *testing.T) {
	for _, tc := range []struct {
		noise    string
		replicas int
		counts   []int
	}{
		{"1000Hz:100us", 30, []int{8, 16, 5}}, {"1000Hz:100us", 1, []int{2, 4, 8, 16, 32, 64}}, {"1000Hz:0", 3, []int{4, 8}},
	} {
		want := runSeries(t, seriesOf(t, "dissemination", tc.noise, tc.replicas, tc.counts...))
		for _, size := range []int{2, 3, 4, 8} {
			for _, threads := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s/%d/%d processes/%d threads", tc.noise, tc.replicas, size, threads), func(t *testing.T) {
					properties := []Property{{"seed", "1"}}
					known := NewCheckpoint(properties)
					if threads == 2 { // an earlier series has left something
						s := seriesOf(t, "dissemination", tc.noise, max(tc.replicas/3, 1), tc.counts[0])
						s.Known = known
						runSeries(t, s)
					}
					among(t, size, func(g cluster.Group) error {
						s := seriesOf(t, "dissemination", tc.noise, tc.replicas, tc.counts...)
						s.Group, s.Options.Threads = g, threads
						reports := 0
						if g.Rank() == 0 {
							s.Known = known
							s.Progress = func(Progress) { reports++ }
						}
						points, err := s.Run(context.Background())
						if err != nil {
							return err
						}
						if g.Rank() != 0 {
							if points != nil {
								return fmt.Errorf("process %d has points", g.Rank())
							}
							return nil
						}
						if diff := cmp.Diff(want, points); diff != "" {
							t.Error(diff)
						}
						if reports == 0 {
							t.Error("no progress was reported")
						}
						return nil
					})
				})
			}
		}
	}
}

// TestSharedSeriesGoesOn: what an interrupted series among processes has finished is not run again, and the end is the
// same.
func TestSharedSeriesGoesOn(t *testing.T) {
	want := runSeries(t, seriesOf(t, "dissemination", "1000Hz:100us", 40, 8, 16))
	known := NewCheckpoint([]Property{{"seed", "1"}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	among(t, 3, func(g cluster.Group) error {
		s := seriesOf(t, "dissemination", "1000Hz:100us", 40, 8, 16)
		s.Group = g
		if g.Rank() == 0 {
			s.Known = known
			s.Progress = func(p Progress) {
				if p.Replicas == 10 {
					cancel()
				}
			}
		}
		if _, err := s.Run(ctx); !Interrupted(err) {
			return fmt.Errorf("ended with %v", err)
		}
		return nil
	})
	before := known.Replicas()
	if before < 10 {
		t.Errorf("%d replicas are known", before)
	}
	among(t, 2, func(g cluster.Group) error {
		s := seriesOf(t, "dissemination", "1000Hz:100us", 40, 8, 16)
		s.Group = g
		if g.Rank() == 0 {
			s.Known = known
		}
		points, err := s.Run(context.Background())
		if g.Rank() == 0 {
			if diff := cmp.Diff(want, points); diff != "" {
				t.Error(diff)
			}
		}
		return err
	})
}

// TestBottleneckDoesNotDependOnProcesses looks for the same place with several processes.
func TestBottleneckDoesNotDependOnProcesses(t *testing.T) {
	search := func(g cluster.Group) *Bottleneck {
		s := seriesOf(t, "dissemination", "1000Hz:100us", 9)
		s.Group = g
		return &Bottleneck{Series: *s, Threshold: 2, From: 2, To: 256, Precise: true, JobSize: 256}
	}
	want, err := search(nil).Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	among(t, 3, func(g cluster.Group) error {
		got, err := search(g).Find(context.Background())
		if err != nil {
			return err
		}
		if got.Ranks != want.Ranks || got.Below != want.Below || got.Relief.Slowdown != want.Relief.Slowdown ||
			got.Relief.Length.Factor != want.Relief.Length.Factor || got.Relief.Rate.Factor != want.Relief.Rate.Factor {
			t.Errorf("process %d found %+v, want %+v", g.Rank(), got, want)
		}
		return nil
	})
}
