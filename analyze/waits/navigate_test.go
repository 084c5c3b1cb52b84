package waits

import (
	"context"
	"slices"
	"testing"
)

// Wait states are numbered by location and time, and the greatest causes lead to where they began.
func TestNavigate(t *testing.T) {
	chains := 0
	for seed := range uint64(300) {
		tl := randomRun(seed)
		r, err := Analyze(context.Background(), tl, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		origins, err := r.Origins(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		r.EachState(func(s *State) {
			if s.Number() != number || r.State(number) != *s {
				t.Fatalf("seed %d: state %d = %+v, want %+v", seed, number, r.State(number), *s)
			}
			metric, from, to := r.SpanOf(number)
			if metric != s.Metric || from != s.At || to != s.At+s.Amount {
				t.Fatalf("seed %d: state %d is %v from %d to %d, want %+v", seed, number, metric, from, to, *s)
			}
			call, cause, causeCall := r.CallsOf(number)
			if l := r.a.states[number].location; tl.Locations[l].Calls.Enter[call] != s.At || tl.Locations[cause].Rank != s.Cause ||
				r.a.pathOf(cause, causeCall) != s.CausePath {
				t.Fatalf("seed %d: state %d has the calls %d, %d of %d, want %+v", seed, number, call, causeCall, cause, *s)
			}
			number++
		})
		if number != len(origins) {
			t.Fatalf("seed %d: %d states, %d origins", seed, number, len(origins))
		}
		for l := range tl.Locations {
			first, end := r.StatesOf(int32(l))
			for i := first; i < end; i++ {
				if int(r.a.states[i].location) != l {
					t.Fatalf("seed %d: state %d is not one of location %d", seed, i, l)
				}
			}
		}
		for i := range origins {
			chains += checkChain(t, r, i, origins[i])
		}
	}
	if chains < 100 {
		t.Errorf("only %d chains of several wait states", chains)
	}
}

// checkChain follows the greatest causes of a wait state. It returns 1 if others lie between it and its origin.
func checkChain(t *testing.T, r *Result, number int, origin Origin) int {
	t.Helper()
	at, steps := number, 0
	for ; ; steps++ {
		b := r.Blame(at)
		if b.Share > r.a.states[at].amount || b.Share < 0 || b.From > b.To || b.Location != r.a.states[at].cause {
			t.Fatalf("state %d: blame %+v of %+v", at, b, r.a.states[at])
		}
		if b.Kind != Waited {
			want := Origin{int32(r.a.rankOf(b.Location)), b.Path}
			if b.Kind == Unknown {
				want.Rank = -1
			}
			if origin != want {
				t.Fatalf("state %d: origin %+v, want %+v", number, origin, want)
			}
			break
		}
		if steps > len(r.a.states) {
			t.Fatalf("state %d: the chain goes round", number)
		}
		at = b.State
	}
	if origin.Rank >= 0 && r.Cyclic == 0 {
		s := r.State(number)
		e := r.ExplainState(&s)
		known := slices.ContainsFunc(e.Roots, func(root Root) bool { return root.Rank == int(origin.Rank) && root.Path == origin.Path })
		if !known && e.Rest.Sign() == 0 {
			t.Fatalf("state %d: origin %+v is not among the roots %+v", number, origin, e.Roots)
		}
	}
	return min(steps, 1)
}

func TestOriginsStop(t *testing.T) {
	r, err := Analyze(context.Background(), randomRun(5), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := r.Origins(ctx); err == nil {
		t.Error("origins were found for nobody")
	}
}
