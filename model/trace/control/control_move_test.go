package control

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/internal/cluster"
	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// randomBuilder is a run of ranks with clocks that are wrong: in a true order, they send each other messages, also to themselves, meet in
// collectives, fork teams, lack a CPU and count. Its steps depend on the seed alone, whoever of the ranks are here.
func randomBuilder(seed uint64, ranks int, here func(rank int) bool) *timeline.Builder {
	random := rand.New(rand.NewPCG(seed, 8))
	b := timeline.NewBuilder(ranks)
	main, call := b.Region(timeline.Region{Name: "main"}), b.Region(timeline.Region{Name: "MPI_Call", Paradigm: timeline.MPI})
	notRecorded := b.Region(timeline.NotRecorded)
	cycles := b.Metric(timeline.Metric{Name: "cycles"})
	var members []int32
	for rank := range int32(ranks) {
		members = append(members, rank)
	}
	world, some := b.Comm(timeline.Comm{Members: members}), b.Comm(timeline.Comm{Members: members[1:]})
	locations, clocks, now := make([]*timeline.LocationBuilder, ranks), make([]unit.Duration, ranks), unit.Duration(2000)
	workers := make([]*timeline.LocationBuilder, ranks)
	do := func(rank int, step func(l *timeline.LocationBuilder, at unit.Duration)) {
		now += unit.Duration(random.IntN(20))
		if here(rank) {
			step(locations[rank], now-clocks[rank])
		}
	}
	for rank := range ranks {
		clocks[rank] = unit.Duration(random.IntN(300))
		locations[rank], workers[rank] = b.Location(rank, 0, "", ""), b.Location(rank, 1, "", "")
		do(rank, func(l *timeline.LocationBuilder, at unit.Duration) {
			l.ThreadBegin(at)
			l.Enter(at, main)
			l.Count(at, cycles, 0)
		})
	}
	inCall := func(rank int, record func(l *timeline.LocationBuilder, at unit.Duration)) {
		do(rank, func(l *timeline.LocationBuilder, at unit.Duration) { l.Enter(at, call) })
		do(rank, record)
		do(rank, func(l *timeline.LocationBuilder, at unit.Duration) { l.Leave(at) })
	}
	for range 12 {
		from, to := random.IntN(ranks), random.IntN(ranks)
		switch random.IntN(7) {
		case 0, 1:
			inCall(from, func(l *timeline.LocationBuilder, at unit.Duration) { l.Send(at, int32(to), world, 0, 8) })
			inCall(to, func(l *timeline.LocationBuilder, at unit.Duration) { l.Recv(at, int32(from), world, 0, 8) })
		case 2:
			comm, op := []int32{world, some}[random.IntN(2)], []timeline.Op{timeline.OpBarrier, timeline.OpBcast, timeline.OpReduce,
				timeline.OpScan, timeline.OpAllreduce}[random.IntN(5)]
			for rank := range ranks {
				if comm == world || rank > 0 {
					do(rank, func(l *timeline.LocationBuilder, at unit.Duration) { l.Enter(at, call) })
				}
			}
			for rank := range ranks {
				if comm == world || rank > 0 {
					do(rank, func(l *timeline.LocationBuilder, at unit.Duration) {
						root := int32(-1)
						if op.Rooted() {
							root = 0
						}
						l.Collective(at, op, comm, root, 8, 8, nil)
						l.Leave(at)
					})
				}
			}
		case 6:
			do(from, func(l *timeline.LocationBuilder, at unit.Duration) {
				l.Leave(at)
				l.Off(at, notRecorded)
			})
			do(from, func(l *timeline.LocationBuilder, at unit.Duration) {
				l.On(at)
				l.Enter(at, main)
			})
		case 3:
			long := unit.Duration(random.IntN(30))
			do(from, func(l *timeline.LocationBuilder, at unit.Duration) { l.NoCPU(at, long) })
		case 4:
			do(from, func(l *timeline.LocationBuilder, at unit.Duration) {
				l.Fork(at)
				l.TeamBegin(at)
				workers[from].TeamBegin(at)
			})
			do(from, func(l *timeline.LocationBuilder, at unit.Duration) {
				workers[from].TeamEnd(at)
				l.TeamEnd(at)
				l.Join(at)
			})
		case 5:
			do(from, func(l *timeline.LocationBuilder, at unit.Duration) { l.Count(at, cycles, uint64(now)) })
		}
	}
	for rank := range ranks {
		do(rank, func(l *timeline.LocationBuilder, at unit.Duration) {
			l.Leave(at)
			l.ThreadEnd(at)
		})
	}
	return b
}

// instant is a time of a location that is moved.
type instant struct {
	name string
	at   unit.Duration
}

// instants lists all times of a location with their names, in the order in which they were.
func instants(tl *timeline.Timeline, location int32) (list []instant) {
	l := &tl.Locations[location]
	add := func(at unit.Duration, format string, args ...any) {
		list = append(list, instant{fmt.Sprintf(format, args...), at})
	}
	add(l.First, "first event")
	add(l.Last, "last event")
	for i := range l.Calls.Enter {
		add(l.Calls.Enter[i], "enter %d", i)
		add(l.Calls.Leave[i], "leave %d", i)
	}
	for i, s := range l.Alive {
		add(s.From, "birth %d", i)
		add(s.To, "death %d", i)
	}
	for i, s := range l.NoCPU {
		add(s.From, "start of time without a CPU %d", i)
		add(s.To, "end of time without a CPU %d", i)
	}
	for i, c := range l.Counts {
		add(c.From, "start of increment %d", i)
		add(c.To, "end of increment %d", i)
	}
	for i := range tl.Messages {
		if tl.Messages[i].From == location {
			add(tl.Messages[i].Sent, "send %d", i)
		}
		if tl.Messages[i].To == location {
			add(tl.Messages[i].Received, "receive %d", i)
		}
	}
	for i := range tl.Teams {
		team := &tl.Teams[i]
		if team.Master == location {
			add(team.Fork, "fork %d", i)
			add(team.Join, "join %d", i)
		}
		for _, m := range team.Members {
			if m.Location == location {
				add(m.Begin, "start in team %d", i)
				add(m.End, "end in team %d", i)
			}
		}
	}
	return list
}

// TestEverythingMovesAlike: nothing moves back, nothing overtakes what was before it on its rank, what was at a location stays in its
// order, and a second time there is nothing left to do.
func TestEverythingMovesAlike(t *testing.T) {
	const latency = 3
	moved := 0
	for seed := range uint64(150) {
		tl := randomBuilder(seed, 3, func(int) bool { return true }).Finish(1)
		var before [][]instant
		for i := range tl.Locations {
			before = append(before, instants(tl, int32(i)))
		}
		o := apply(t, tl, latency)
		if !o.Control {
			continue
		}
		moved++
		if o.After.Messages+o.After.Groups > 0 {
			t.Errorf("seed %d: %+v is left", seed, o.After)
		}
		first, last := tl.Locations[0].First, tl.Locations[0].Last
		for i := range tl.Locations {
			was, is := before[i], instants(tl, int32(i))
			order := make([]int, len(was))
			for k := range order {
				order[k] = k
				if is[k].at < was[k].at {
					t.Errorf("seed %d: location %d: %s moved back from %v to %v", seed, i, was[k].name, was[k].at, is[k].at)
				}
			}
			slices.SortStableFunc(order, func(x, y int) int { return int(was[x].at - was[y].at) })
			for k, next := range order[min(1, len(order)):] {
				if at := order[k]; was[at].at < was[next].at && is[at].at > is[next].at {
					t.Errorf("seed %d: location %d: %s is after %s now: %v, %v", seed, i, was[at].name, was[next].name, is[at].at, is[next].at)
				}
			}
			if l := &tl.Locations[i]; l.Calls.Len() > 0 {
				first, last = min(first, l.First), max(last, l.Last)
				lacked := unit.Duration(0)
				for _, s := range l.NoCPU {
					lacked += s.To - s.From
					if inside := callAt(l, s.From, s.To); inside != s.Path && inside != tl.Paths[s.Path].Parent {
						t.Errorf("seed %d: location %d: without a CPU from %v to %v in path %d, want %d", seed, i, s.From, s.To,
							tl.Paths[s.Path].Parent, inside)
					}
				}
				if l.Lacked != lacked {
					t.Errorf("seed %d: location %d: without a CPU for %v, want %v", seed, i, l.Lacked, lacked)
				}
			}
		}
		if tl.Start != first || tl.End != last {
			t.Errorf("seed %d: the run is from %v to %v, want %v to %v", seed, tl.Start, tl.End, first, last)
		}
		if again := apply(t, tl, latency); again.Control {
			t.Errorf("seed %d: a second time %+v", seed, again)
		}
	}
	if moved < 50 {
		t.Errorf("%d of 150 runs were impossible, want many: the test tells nothing", moved)
	}
}

// callAt is the path of the innermost call that holds a time, 0: none.
func callAt(l *timeline.Location, from, to unit.Duration) (path timeline.PathID) {
	for i := range l.Calls.Enter {
		if l.Calls.Enter[i] <= from && l.Calls.Leave[i] >= to && (from < to || l.Calls.Enter[i] < to || i == 0) {
			path = l.Calls.Path[i]
		}
	}
	return path
}

// timeNotRecorded is how long the calls of a location say that recording was off.
func timeNotRecorded(tl *timeline.Timeline, location int) (sum unit.Duration) {
	c := &tl.Locations[location].Calls
	for i, path := range c.Path {
		if tl.RegionOf(path).Role == timeline.Unrecorded {
			sum += c.Leave[i] - c.Enter[i]
		}
	}
	return sum
}

// TestApply: several processes that share a run move everything to where one would.
func TestApply(t *testing.T) {
	const ranks = 4
	for seed := range uint64(60) {
		whole := randomBuilder(seed, ranks, func(int) bool { return true }).Finish(1)
		want := apply(t, whole, 3)
		bounds := []int{0, 1 + int(seed)%2, 3, ranks}
		n := len(bounds) - 1
		members, parts, errs, outcomes := cluster.Local(n), make([]*timeline.Timeline, n), make([]error, n), make([]Outcome, n)
		parallel.Each(n, n, func(p int) {
			b := randomBuilder(seed, ranks, func(rank int) bool { return rank >= bounds[p] && rank < bounds[p+1] })
			if parts[p], errs[p] = b.FinishPart(context.Background(), members[p], bounds, 1); errs[p] == nil {
				outcomes[p], errs[p] = Apply(context.Background(), parts[p], 3)
			}
			if errs[p] != nil {
				members[p].Break()
			}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for p, part := range parts {
			if outcomes[p] != want {
				t.Errorf("seed %d, process %d: outcome %+v, want %+v", seed, p, outcomes[p], want)
			}
			if diff := gocmp.Diff(whole.Problems, part.Problems, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("seed %d, process %d: problems (-whole +part):\n%s", seed, p, diff)
			}
			if part.Start != whole.Start || part.End != whole.End || part.Lifetimes() != whole.Lifetimes() {
				t.Errorf("seed %d, process %d: %v to %v, lives %v, want %v to %v, %v", seed, p, part.Start, part.End, part.Lifetimes(), whole.Start,
					whole.End, whole.Lifetimes())
			}
			for i := range part.Locations {
				l, w := &part.Locations[i], &whole.Locations[i]
				if off := timeNotRecorded(whole, i); w.Unrecorded != off {
					t.Errorf("seed %d: location %d was off for %v, its calls say %v", seed, i, w.Unrecorded, off)
				}
				if l.First != w.First || l.Last != w.Last || l.Lacked != w.Lacked || l.Unrecorded != w.Unrecorded || !slices.Equal(l.Alive, w.Alive) {
					t.Errorf("seed %d, process %d: location %d is from %v to %v, alive %v, without a CPU for %v, want %v to %v, %v, %v", seed, p, i,
						l.First, l.Last, l.Alive, l.Lacked, w.First, w.Last, w.Alive, w.Lacked)
				}
				if part.Part.Here(int32(i)) {
					if diff := gocmp.Diff(w, l); diff != "" {
						t.Errorf("seed %d, process %d: location %d (-whole +part):\n%s", seed, p, i, diff)
					}
				}
			}
			var times, wanted [][2]unit.Duration
			for _, m := range part.Messages {
				times = append(times, [2]unit.Duration{m.Sent, m.Received})
			}
			for _, m := range whole.Messages {
				if part.Part.Here(m.From) || part.Part.Here(m.To) {
					wanted = append(wanted, [2]unit.Duration{m.Sent, m.Received})
				}
			}
			if !slices.Equal(times, wanted) {
				t.Errorf("seed %d, process %d: messages %v, want %v", seed, p, times, wanted)
			}
		}
	}
}
