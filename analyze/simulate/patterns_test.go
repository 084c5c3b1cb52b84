package simulate_test

import (
	"context"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/unit"
)

// Times and messages of patterns as closed forms in L, o and g. The messages have one byte; L is long and
// g at least 2o, so that no message finds a CPU or a NIC busy.
func TestPatternsMeetClosedForms(t *testing.T) {
	const latency, o, g = 100 * unit.Microsecond, unit.Microsecond, 3 * unit.Microsecond
	const hop = 2*o + latency
	m := machine.FromParams("closed form", machine.Params{
		Latency: latency, Gap: g, Overhead: machine.One(o), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	})
	for _, tc := range []struct {
		name     string
		params   pattern.Params
		time     unit.Duration
		messages int
	}{
		{"dissemination", pattern.Params{Ranks: 64, Size: 1}, 6 * hop, 6 * 64},
		{"allreduce", pattern.Params{Ranks: 64, Size: 1, Algorithm: "dissemination:radix=2"}, 6 * hop, 6 * 64},
		// n-way: in a round of radix k the last of k - 1 sends starts (k - 2) g after the first.
		{"allreduce", pattern.Params{Ranks: 64, Size: 1, Algorithm: "dissemination:radix=4"}, 3 * (hop + 2*g), 3 * 3 * 64},
		{"barrier", pattern.Params{Ranks: 27, Algorithm: "dissemination:radix=3"}, 3 * (hop + g), 3 * 2 * 27},
		{"allreduce", pattern.Params{Ranks: 50, Size: 1, Algorithm: "dissemination:radix=64"}, hop + 48*g, 49 * 50},
		{"allreduce", pattern.Params{Ranks: 10, Size: 1, Algorithm: "dissemination:radix=4"}, 2*hop + 2*g + g, (3 + 2) * 10},
		// Chained: each dissemination starts where the one before has ended.
		{"dissemination", pattern.Params{Ranks: 64, Size: 1, Iterations: 5}, 5 * 6 * hop, 5 * 6 * 64},
		{"allgather", pattern.Params{Ranks: 33, Size: 1, Algorithm: "dissemination"}, 6 * hop, 6 * 33},
		{"alltoall", pattern.Params{Ranks: 33, Size: 1, Algorithm: "dissemination"}, 6 * hop, 6 * 33},
		// The second message starts g after the first. Where both meet a rank at the same time it is late already.
		{"double-ring", pattern.Params{Ranks: 9, Size: 1}, 9*hop + g, 2 * 9},
		{"pipelined-ring", pattern.Params{Ranks: 5, Size: 7, Pieces: 7}, 4*hop + 6*g, 7 * 4},
		// With turns a piece waits until the one before has been passed on, which is before it arrives.
		{"pipelined-ring-dep", pattern.Params{Ranks: 5, Size: 7, Pieces: 7, Root: 3}, 4*hop + 6*g, 7 * 4},
		{"random-bisection", pattern.Params{Ranks: 21, Size: 1, Seed: 4}, hop, 10},
		{"random-pairs", pattern.Params{Ranks: 21, Size: 1, Seed: 4}, hop, 20},
	} {
		p, err := pattern.New(tc.name, tc.params)
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate.Run(context.Background(), p, m, simulate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Makespan != tc.time || r.Messages != int64(tc.messages) {
			t.Errorf("%s %+v: %s with %d messages, want %s with %d", tc.name, tc.params, r.Makespan, r.Messages, tc.time, tc.messages)
		}
	}
}
