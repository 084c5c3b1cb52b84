package clock

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slackline/internal/cluster"
	"slackline/model/unit"
)

// part is the part of a run that partner g has, with what it shares. Messages and groups keep their numbers.
func part(r *Run, g cluster.Group) (*Run, *Shared) {
	n, size := len(r.Moments), g.Size()
	own := &Run{Moments: make([][]Moment, n), Messages: r.Messages, Groups: r.Groups, Latency: r.Latency}
	s := &Shared{
		Group: g, Peer: make([]int32, r.Messages), From: make([][]int32, size), To: make([][]int32, size),
		With: make([][]int32, len(r.Groups)), Owner: make([]int32, len(r.Groups)), ID: make([]uint64, len(r.Groups)),
		Lookup: func(id uint64) (int, bool) { return int(id), id < uint64(len(r.Groups)) },
	}
	from, to := slices.Repeat([]int{-1}, r.Messages), slices.Repeat([]int{-1}, r.Messages)
	members := make([][]int32, len(r.Groups)) // partners
	for p, moments := range r.Moments {
		partner := cluster.Owner(n, p, size)
		if partner == g.Rank() {
			own.Moments[p] = moments
		}
		for _, m := range moments {
			switch m.Kind {
			case Sent:
				from[m.Join] = partner
			case Received:
				to[m.Join] = partner
			case Begin:
				members[m.Join] = append(members[m.Join], int32(partner))
			}
		}
	}
	for i := range s.Peer {
		s.Peer[i] = -1
		switch me := g.Rank(); {
		case from[i] < 0 || to[i] < 0 || from[i] == to[i]:
		case from[i] == me:
			s.Peer[i] = int32(to[i])
			s.To[to[i]] = append(s.To[to[i]], int32(i))
		case to[i] == me:
			s.Peer[i] = int32(from[i])
			s.From[from[i]] = append(s.From[from[i]], int32(i))
		}
	}
	for i, list := range members {
		s.ID[i], s.Owner[i] = uint64(i), list[0]
		slices.Sort(list)
		s.With[i] = slices.DeleteFunc(slices.Compact(list), func(p int32) bool { return int(p) == g.Rank() })
	}
	return own, s
}

// confuse exchanges what happens at neighbouring moments, so that conditions contradict each other.
func confuse(r *Run, random *rand.Rand, times int) {
	for range times {
		moments := r.Moments[random.IntN(len(r.Moments))]
		if len(moments) < 2 {
			continue
		}
		i := random.IntN(len(moments) - 1)
		a, b := &moments[i], &moments[i+1]
		a.Time, b.Time = b.Time, a.Time
		*a, *b = *b, *a
	}
}

// Whoever shares a run comes to the same result as one alone, even if conditions contradict each other.
func TestControlTogether(t *testing.T) {
	contradictions := 0
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		n := rapid.IntRange(2, 9).Draw(t, "processes")
		r := newRandomRun(random, n, rapid.IntRange(0, 200).Draw(t, "steps"), us)
		for p := range r.Moments {
			clock := wrongClock{offset: random.Float64() * float64(300*us), drift: (random.Float64() - 0.5) * 1e-3, period: 1}
			for i := range r.Moments[p] {
				r.Moments[p][i].Time = clock.at(r.Moments[p][i].Time)
			}
		}
		confuse(&r.Run, random, rapid.IntRange(0, 20).Draw(t, "confusion"))
		want := Control(&r.Run)
		if want.Unresolved > 0 {
			contradictions++
		}
		size := rapid.IntRange(1, 5).Draw(t, "partners")
		got := make([]Controlled, size)
		errs := make([]error, size)
		var all sync.WaitGroup
		for _, g := range cluster.Local(size) {
			all.Go(func() {
				own, shared := part(&r.Run, g)
				if got[g.Rank()], errs[g.Rank()] = ControlTogether(context.Background(), own, shared); errs[g.Rank()] != nil {
					g.Break()
				}
			})
		}
		all.Wait()
		shifts := make([][]unit.Duration, n)
		for p := range shifts {
			owner := cluster.Owner(n, p, size)
			if errs[owner] != nil {
				t.Fatal(errs[owner])
			}
			shifts[p] = got[owner].Shifts[p]
		}
		for partner := range got {
			got[partner].Shifts = shifts
			if diff := cmp.Diff(want, got[partner]); diff != "" {
				t.Fatalf("partner %d of %d (-one +several):\n%s", partner, size, diff)
			}
		}
	})
	if contradictions == 0 {
		t.Error("no run contradicts itself")
	}
}
