package clock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
)

// randomRun makes a run in which everything is possible: times are those of one clock.
type randomRun struct {
	Run
	now     []unit.Duration
	random  *rand.Rand
	pending [][]func() // by process: ends that are still to come
}

func newRandomRun(random *rand.Rand, processes, steps int, latency unit.Duration) *randomRun {
	r := &randomRun{Run: Run{Moments: make([][]Moment, processes), Latency: latency}, random: random,
		now: make([]unit.Duration, processes), pending: make([][]func(), processes)}
	for range steps {
		p := random.IntN(processes)
		switch n := len(r.pending[p]); {
		case n > 0 && random.IntN(2) == 0:
			i := random.IntN(n)
			end := r.pending[p][i]
			r.pending[p] = slices.Delete(r.pending[p], i, i+1)
			end()
		case random.IntN(8) == 0:
			r.group()
		default:
			r.message(p, random.IntN(processes))
		}
	}
	for p := range r.pending {
		for _, end := range r.pending[p] {
			end()
		}
	}
	return r
}

// step lets a process do something for a while, and not end before a time.
func (r *randomRun) step(p int, notBefore unit.Duration) unit.Duration {
	r.now[p] = max(r.now[p]+unit.Duration(r.random.Int64N(int64(100*us))), notBefore)
	return r.now[p]
}

func (r *randomRun) message(from, to int) {
	m := int32(r.Messages)
	r.Messages++
	sent := r.step(from, 0)
	r.Moments[from] = append(r.Moments[from], Moment{Time: sent, Join: m, Kind: Sent})
	r.pending[to] = append(r.pending[to], func() {
		t := r.step(to, sent+r.Latency)
		r.Moments[to] = append(r.Moments[to], Moment{Time: t, Join: m, Kind: Received})
	})
}

func (r *randomRun) group() {
	members := r.random.Perm(len(r.Moments))[:2+r.random.IntN(len(r.Moments)-1)]
	g := Group{Kind: GroupKind(r.random.IntN(5)), Size: int32(len(members)), Root: int32(r.random.IntN(len(members)))}
	no := int32(len(r.Groups))
	r.Groups = append(r.Groups, g)
	begins := make([]unit.Duration, len(members))
	for i, p := range members {
		begins[i] = r.step(p, 0)
		r.Moments[p] = append(r.Moments[p], Moment{Time: begins[i], Join: no, Member: int32(i), Kind: Begin})
	}
	for i, p := range members {
		var needed []unit.Duration
		switch {
		case g.Kind == AllToAll, g.Kind == AllToOne && i == int(g.Root):
			needed = begins
		case g.Kind == OneToAll:
			needed = begins[g.Root : g.Root+1]
		case g.Kind == Prefix:
			needed = begins[:i]
		}
		notBefore := unit.Duration(0)
		if len(needed) > 0 {
			notBefore = slices.Max(needed) + r.Latency
		}
		r.pending[p] = append(r.pending[p], func() {
			t := r.step(p, notBefore)
			r.Moments[p] = append(r.Moments[p], Moment{Time: t, Join: no, Member: int32(i), Kind: End})
		})
	}
}

func TestControl(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		n := rapid.IntRange(2, 6).Draw(t, "processes")
		r := newRandomRun(random, n, rapid.IntRange(0, 200).Draw(t, "steps"), us)
		if v := Check(&r.Run, nil); v != (Violations{}) {
			t.Fatalf("on one clock: %+v", v)
		}
		if c := Control(&r.Run); c.Moved != 0 || c.Unresolved != 0 {
			t.Fatalf("on one clock: %d moments moved, %d unresolved", c.Moved, c.Unresolved)
		}
		for p := range r.Moments {
			clock := wrongClock{offset: random.Float64() * float64(300*us), drift: (random.Float64() - 0.5) * 1e-3, period: 1}
			for i := range r.Moments[p] {
				r.Moments[p][i].Time = clock.at(r.Moments[p][i].Time)
			}
		}
		c := Control(&r.Run)
		if c.Unresolved != 0 || c.After != (Violations{}) {
			t.Fatalf("%d unresolved, after it %+v, want none", c.Unresolved, c.After)
		}
		if (c.Moved > 0) != (c.Before.Messages+c.Before.Groups > 0) || c.Furthest > 100*ms {
			t.Fatalf("before it %+v, moved %d by up to %d ps", c.Before, c.Moved, c.Furthest)
		}
		for p, moments := range r.Moments {
			for i, m := range moments {
				if c.Shifts[p][i] < 0 {
					t.Fatalf("process %d: moment %d moves by %d", p, i, c.Shifts[p][i])
				}
				if i > 0 {
					checkBetween(t, moments[i-1].Time, c.Shifts[p][i-1], m.Time, c.Shifts[p][i])
				}
			}
		}
	})
}

// checkBetween tests that time goes on between two moments, whatever they are moved by.
func checkBetween(t *rapid.T, ta, sa, tb, sb unit.Duration) {
	if ta == tb {
		if sa > sb {
			t.Fatalf("moments at %d move by %d and then by %d", ta, sa, sb)
		}
		return
	}
	last := ta + sa
	for i := range unit.Duration(11) {
		at := ta + (tb-ta)*i/10
		now := at + Between(ta, sa, tb, sb, at)
		if now < last || now > tb+sb {
			t.Fatalf("from %d+%d to %d+%d: %d moves to %d, before it %d", ta, sa, tb, sb, at, now, last)
		}
		last = now
	}
	if last != tb+sb {
		t.Fatalf("from %d+%d to %d+%d: the end moves to %d", ta, sa, tb, sb, last)
	}
}

// A message that arrives 100 us too early, far from everything else.
func TestControlSpreadsAJump(t *testing.T) {
	r := &Run{Messages: 2, Moments: [][]Moment{
		{{Time: 50 * ms, Join: 0, Kind: Sent}, {Time: 90 * ms, Join: 1, Kind: Received}},
		{{Time: 46 * ms, Join: 1, Kind: Sent}, {Time: 50*ms - 100*us, Join: 0, Kind: Received}},
	}}
	c := Control(r)
	want := [][]unit.Duration{{0, 0}, {61 * us, 100 * us}} // 1 % of the 3.9 ms before the jump
	if fmt.Sprint(c.Shifts) != fmt.Sprint(want) {
		t.Errorf("shifts = %v, want %v", c.Shifts, want)
	}
	if c.Before != (Violations{Messages: 1, Worst: 100 * us}) || c.Moved != 2 || c.Furthest != 100*us {
		t.Errorf("before it %+v, moved %d by up to %d", c.Before, c.Moved, c.Furthest)
	}
	if got := After(50*ms-100*us, 100*us, 55*ms-100*us); got != 50*us {
		t.Errorf("5 ms later moved by %d, want 50 us", got)
	}
	if got := Ahead(46*ms, 61*us, 40*ms); got != us {
		t.Errorf("6 ms earlier moved by %d, want 1 us", got)
	}
}

// What is sent before a jump must not move behind where it arrives.
func TestControlKeepsWhatWasSent(t *testing.T) {
	r := &Run{Messages: 2, Moments: [][]Moment{
		{{Time: 49*ms + 10*us, Join: 1, Kind: Received}, {Time: 50 * ms, Join: 0, Kind: Sent}},
		{{Time: 49 * ms, Join: 1, Kind: Sent}, {Time: 49500 * us, Join: 0, Kind: Received}},
	}}
	c := Control(r)
	if want := [][]unit.Duration{{0, 0}, {10 * us, 500 * us}}; fmt.Sprint(c.Shifts) != fmt.Sprint(want) {
		t.Errorf("shifts = %v, want %v", c.Shifts, want)
	}
}

// Conditions that contradict each other end in a result, not in a hang.
func TestControlOfTheImpossible(t *testing.T) {
	r := &Run{Messages: 3, Moments: [][]Moment{
		{{Time: 1, Join: 0, Kind: Received}, {Time: 2, Join: 1, Kind: Sent}},
		{{Time: 3, Join: 1, Kind: Received}, {Time: 4, Join: 0, Kind: Sent}, {Time: 5, Join: 2, Kind: Received}},
	}}
	c := Control(r)
	if c.Unresolved != 2 { // the circle, and the message that nobody sent
		t.Errorf("unresolved = %d, want 2", c.Unresolved)
	}
}

func BenchmarkControl(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	r := newRandomRun(random, 64, 1<<18, us)
	moments := 0
	for p := range r.Moments {
		moments += len(r.Moments[p])
		for i := range r.Moments[p] {
			r.Moments[p][i].Time += unit.Duration(p) * us
		}
	}
	for b.Loop() {
		Control(&r.Run)
	}
	b.ReportMetric(float64(moments)*float64(b.N)/b.Elapsed().Seconds(), "moments/s")
}
