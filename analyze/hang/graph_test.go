package hang

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/state"
)

// randomState is a state of some ranks that compute, receive, send, wait for requests, take part in a barrier, finalize or are dead.
// Ranks are named by the permutation, so that the same state can be made with other names.
func randomState(seed uint64, name func(rank int) int32) *state.Run {
	random := rand.New(rand.NewPCG(seed, 6))
	ranks := 2 + random.IntN(5)
	run := program(ranks)
	rank := func() int32 { return name(random.IntN(ranks)) }
	for range random.IntN(ranks) { // messages on the way
		from, to := rank(), rank()
		sent(run, int(from), to, int32(random.IntN(2)), 0)
	}
	for r := range ranks {
		me := int(name(r))
		tag := int32(random.IntN(2))
		switch random.IntN(12) {
		case 0, 1, 2:
			receives(run, me, rank(), tag)
		case 3, 4:
			sends(run, me, rank(), tag)
		case 5:
			receives(run, me, state.Anybody, tag)
		case 6:
			waitsFor(run, me, state.WaitAll, rank(), rank())
		case 7:
			waitsFor(run, me, state.WaitAny, rank(), rank())
		case 8:
			inside(run, me, 0, "MPI_Barrier")
		case 9:
			finalizes(run, me)
		case 10:
			run.Ranks[me].Status = []state.Status{state.Finished, state.Gone, state.Stopped, state.Exited}[random.IntN(4)]
		case 11:
			run.Ranks[me].Threads[0].Moved = random.IntN(2) == 0
		}
	}
	return run
}

func itself(rank int) int32 { return int32(rank) }

// TestVerdictHolds: what must be true of any verdict.
func TestVerdictHolds(t *testing.T) {
	hangs := 0
	for seed := range uint64(2000) {
		v := Analyze(randomState(seed, itself), true)
		within := func(what string, inner, outer []int) {
			if !slices.IsSorted(inner) || len(slices.Compact(slices.Clone(inner))) != len(inner) {
				t.Errorf("seed %d: %s are not in order: %v", seed, what, inner)
			}
			for _, r := range inner {
				if !slices.Contains(outer, r) {
					t.Errorf("seed %d: %s: rank %d of %v is not in %v", seed, what, r, inner, outer)
				}
			}
		}
		within("stuck ranks are blocked", v.Stuck, v.Blocked)
		ending := slices.Clone(v.Stuck) // and those who wait in MPI_Finalize
		for r := range v.run.Ranks {
			if c := v.run.Ranks[r].Threads[0].Call; c != nil && c.Kind == state.Finalize {
				ending = append(ending, r)
			}
		}
		explained := []int{}
		for _, f := range v.Findings {
			within("those who wait are stuck", f.Waiting, ending)
			explained = append(explained, f.Waiting...)
			if f.Kind == nil || f.Sentence == "" || len(f.Culprits) == 0 {
				t.Errorf("seed %d: a finding says nothing: %+v", seed, f)
			}
			for i, e := range f.Cycle {
				if e.For == "" || e.To != f.Cycle[(i+1)%len(f.Cycle)].From {
					t.Errorf("seed %d: %v is not a cycle", seed, f.Cycle)
				}
			}
		}
		within("each stuck rank has a reason", v.Stuck, explained)
		if (v.Outcome == Hang) != (len(v.Findings) > 0) || len(v.Stuck) > 0 && v.Outcome != Hang {
			t.Errorf("seed %d: %s with %d findings and %d stuck ranks", seed, v.Outcome, len(v.Findings), len(v.Stuck))
		}
		if v.Outcome == Hang {
			hangs++
		}
	}
	if hangs < 200 {
		t.Errorf("only %d states hang", hangs)
	}
}

// TestStuckByHand compares who can never go on with the definition, on states of receives and barriers without messages on the way: a rank
// can go on if it computes, or if one that can go on may do what it needs.
func TestStuckByHand(t *testing.T) {
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 7))
		ranks := 2 + random.IntN(6)
		run := program(ranks)
		type wait struct {
			all  bool
			from []int
		}
		waits := map[int]wait{}
		var barrier, others []int
		for r := range ranks {
			x, y := random.IntN(ranks), random.IntN(ranks)
			switch random.IntN(6) {
			case 0:
				others = append(others, r)
				continue // it computes
			case 1:
				barrier = append(barrier, r)
				inside(run, r, 0, "MPI_Barrier")
				continue
			case 2:
				waitsFor(run, r, state.WaitAny, int32(x), int32(y))
				waits[r] = wait{false, []int{x, y}}
			case 3:
				waitsFor(run, r, state.WaitAll, int32(x), int32(y))
				waits[r] = wait{true, []int{x, y}}
			default:
				receives(run, r, int32(x), 1)
				waits[r] = wait{true, []int{x}}
			}
			others = append(others, r)
		}
		for _, r := range barrier {
			waits[r] = wait{true, others}
		}
		free := make([]bool, ranks)
		for range ranks {
			for r := range ranks {
				w, waiting := waits[r]
				able := func(m int) bool { return free[m] }
				switch {
				case !waiting:
					free[r] = true
				case w.all:
					free[r] = free[r] || !slices.ContainsFunc(w.from, func(m int) bool { return !able(m) })
				default:
					free[r] = free[r] || slices.ContainsFunc(w.from, able)
				}
			}
		}
		var want []int
		for r, ok := range free {
			if !ok {
				want = append(want, r)
			}
		}
		if got := Analyze(run, true).Stuck; !slices.Equal(got, want) {
			t.Fatalf("seed %d: stuck %v, want %v", seed, got, want)
		}
	}
}

// TestNamesOfRanks: other names of the ranks change nothing but the names.
func TestNamesOfRanks(t *testing.T) {
	for seed := range uint64(500) {
		v := Analyze(randomState(seed, itself), true)
		n := len(v.run.Ranks)
		order := rand.New(rand.NewPCG(seed, 8)).Perm(n)
		w := Analyze(randomState(seed, func(r int) int32 { return int32(order[r]) }), true)
		renamed := func(ranks []int) []int {
			list := []int{}
			for _, r := range ranks {
				list = append(list, order[r])
			}
			slices.Sort(list)
			return list
		}
		kinds := func(v *Verdict) (list []string) {
			for _, f := range v.Findings {
				list = append(list, fmt.Sprint(f.Kind.Name, len(f.Waiting)))
			}
			slices.Sort(list)
			return list
		}
		for _, pair := range [][2][]int{{v.Stuck, w.Stuck}, {v.Blocked, w.Blocked}, {v.Moved, w.Moved}, {v.Roots, w.Roots}} {
			if !slices.Equal(renamed(pair[0]), append([]int{}, pair[1]...)) {
				t.Errorf("seed %d: ranks %v are %v by their new names %v", seed, pair[0], pair[1], order)
			}
		}
		if v.Outcome != w.Outcome || len(v.Findings) != len(w.Findings) {
			t.Errorf("seed %d: %s %v, by new names %s %v", seed, v.Outcome, kinds(v), w.Outcome, kinds(w))
		}
	}
}

// TestOneMoreComputes: a rank that computes instead of waiting frees others and holds up none.
func TestOneMoreComputes(t *testing.T) {
	for seed := range uint64(500) {
		before := Analyze(randomState(seed, itself), true)
		for r := range before.run.Ranks {
			run := randomState(seed, itself)
			rank := &run.Ranks[r]
			if rank.Status != state.Running || rank.Threads[0].Call == nil || rank.Threads[0].Call.Kind == state.Together {
				continue // what has come to a barrier stays there
			}
			rank.Threads[0].Call = nil
			for _, stuck := range Analyze(run, true).Stuck {
				if !slices.Contains(before.Stuck, stuck) {
					t.Errorf("seed %d: rank %d computes, and rank %d is stuck", seed, r, stuck)
				}
			}
		}
	}
}

// TestKinds: every kind of finding has a name of its own, a title and an explanation.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if k.Name == "" || seen[k.Name] {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
	}
	if len(seen) < 15 {
		t.Errorf("%d kinds", len(seen))
	}
}
