package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// replicaNoise returns the noise of replica i: 100 us every millisecond, at random offsets, by the CPU
// clock in every third.
func replicaNoise(t testing.TB, ranks int) func(i int) (*noise.Injection, error) {
	trace, err := noise.NewDetours(int64(unit.Millisecond), []noise.Detour{{Start: 0, Length: int64(100 * unit.Microsecond)}})
	if err != nil {
		t.Fatal(err)
	}
	return func(i int) (*noise.Injection, error) {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		offsets := make([]int64, ranks)
		for rank := range offsets {
			offsets[rank] = r.Int64N(int64(unit.Millisecond))
		}
		in, err := noise.NewInjection(trace, offsets)
		if err == nil && i%3 == 2 {
			in.SetClock(noise.CPUClock)
		}
		return in, err
	}
}

// Every replica equals the single run with its noise, on any number of threads.
func TestReplicasEqualSingleRuns(t *testing.T) {
	flat := func(p schedule.Program) schedule.Program {
		g, err := schedule.Flatten(schedule.Materialize(schedule.Blocks(p)))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	const ranks, replicas = 24, 12
	for _, tc := range []struct {
		name    string
		pattern string
		params  pattern.Params
		file    bool
	}{
		{"lean", "dissemination", pattern.Params{Ranks: ranks, Size: 1}, false},
		{"rendezvous", "alltoall", pattern.Params{Ranks: ranks, Size: 1 << 20, Algorithm: "linear"}, false},
		{"skeleton", "skeleton", pattern.Params{Ranks: ranks, Iterations: 3}, false},
		{"graph", "skeleton-overlap", pattern.Params{Ranks: ranks, Iterations: 2}, false},
		{"file", "halo2d", pattern.Params{Ranks: ranks, Iterations: 3}, true},
	} {
		for _, threads := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s/threads=%d", tc.name, threads), func(t *testing.T) {
				p, err := pattern.New(tc.pattern, tc.params)
				if err != nil {
					t.Fatal(err)
				}
				if tc.file {
					p = flat(p)
				}
				m, err := machine.Named("cnl")
				if err != nil {
					t.Fatal(err)
				}
				inject := replicaNoise(t, ranks)
				got := make([][]unit.Duration, replicas)
				err = Replicas(context.Background(), p, m, Options{Threads: threads}, replicas, inject,
					func(i int, r *Result) { got[i] = slices.Clone(r.Finish) })
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					in, err := inject(i)
					if err != nil {
						t.Fatal(err)
					}
					want, err := runWith(context.Background(), p, m, Options{Noise: in, Threads: 1}, engineEvent)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got[i], want.Finish) {
						t.Errorf("replica %d finishes at %v, its own run at %v", i, got[i], want.Finish)
					}
				}
			})
		}
	}
}

func TestReplicasStopAtErrors(t *testing.T) {
	p, err := pattern.New("dissemination", pattern.Params{Ranks: 8, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Named("cnl")
	if err != nil {
		t.Fatal(err)
	}
	fails := errors.New("no noise today")
	err = Replicas(context.Background(), p, m, Options{Threads: 2}, 100,
		func(i int) (*noise.Injection, error) {
			if i == 7 {
				return nil, fails
			}
			return nil, nil
		}, func(int, *Result) {})
	if !errors.Is(err, fails) {
		t.Errorf("Replicas = %v, want %v", err, fails)
	}
	ctx, cancel := context.WithCancel(context.Background())
	count := 0
	err = Replicas(ctx, p, m, Options{Threads: 2}, 1000,
		func(int) (*noise.Injection, error) { return nil, nil },
		func(int, *Result) {
			if count++; count == 5 {
				cancel()
			}
		})
	if !errors.Is(err, context.Canceled) || count >= 1000 {
		t.Errorf("Replicas = %v after %d replicas, want an interrupt", err, count)
	}
}
