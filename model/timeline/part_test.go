package timeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slackline/internal/cluster"
	"slackline/internal/parallel"
	"slackline/model/unit"
)

// sharedRun is a random run with all that processes tell each other about: messages, collectives with sizes by peer, epochs of
// one-sided communication, polls, threads, times without a CPU and times when recording was off.
type sharedRun struct {
	*randomRun
	seed uint64
}

// builder lets the ranks of one process do their steps; the others are there, but do nothing.
func (r *sharedRun) builder(here func(rank int) bool) *Builder {
	b := NewBuilder(r.ranks)
	for _, name := range []string{"f0", "f1", "f2", "MPI_Init", "MPI_Put"} {
		b.Region(RegionNamed(name))
	}
	for _, c := range r.comms {
		b.Comm(c)
	}
	notRecorded := b.Region(NotRecorded)
	b.Window(Object{Name: "w", Comm: 1})
	for i, of := range r.threads {
		l := b.Location(of[0], of[1], "", "")
		if !here(of[0]) {
			continue
		}
		random := rand.New(rand.NewPCG(r.seed, uint64(i)))
		now := unit.Duration(i)
		if of[1] > 0 {
			l.ThreadBegin(now)
		}
		if r.seed%2 == 0 {
			l.Off(now, notRecorded)
			l.On(now + 1)
		} else {
			l.Enter(now, 3)
			l.Leave(now + 1)
		}
		for _, s := range r.steps[i] {
			s.time += unit.Duration(i) + 1
			now = s.time
			s.apply(l)
			switch peer := int32(random.IntN(r.ranks)); random.IntN(9) {
			case 8:
				exclusive := random.IntN(2) == 0
				for _, w := range []WindowRecord{lock(peer, exclusive), put(0, peer, int64(random.IntN(2))), flush(peer, exclusive), unlock(peer),
					start(0, peer), put(0, peer, 1), complete(0), post(0, peer), wait(0)} {
					l.OneSided(now, w)
				}
			case 0:
				l.OneSided(now, WindowRecord{Kind: WindowAction(random.IntN(8)), Flag: random.IntN(2) == 0, Target: peer,
					Group: []int32{peer, int32(random.IntN(r.ranks))}, Sent: int64(random.IntN(3))})
			case 1:
				l.Collective(now, OpAlltoallv, 0, -1, 9, 9, []int64{1, int64(random.IntN(3)), 3, 4, 5, 6, 7, 8}[:r.ranks*random.IntN(3)])
			case 2:
				l.Polls(2)
			case 3:
				l.NoCPU(now, 1)
			}
		}
		if random.IntN(2) == 0 {
			for l.Depth() > 0 {
				l.Leave(now)
			}
			l.Off(now, notRecorded)
		}
	}
	return b
}

// whole is the run in one process.
func (r *sharedRun) whole() *Timeline { return r.builder(func(int) bool { return true }).Finish(1) }

// parts is the run in as many processes as there are ranks between the bounds.
func (r *sharedRun) parts(bounds []int, also func(tl *Timeline) error) ([]*Timeline, error) {
	n := len(bounds) - 1
	members, out, errs := cluster.Local(n), make([]*Timeline, n), make([]error, n)
	parallel.Each(n, n, func(p int) {
		b := r.builder(func(rank int) bool { return rank >= bounds[p] && rank < bounds[p+1] })
		if out[p], errs[p] = b.FinishPart(context.Background(), members[p], bounds, 1); errs[p] == nil && also != nil {
			errs[p] = also(out[p])
		}
		if errs[p] != nil {
			members[p].Break()
		}
	})
	return out, errors.Join(errs...)
}

// call describes a call so that it can be compared with that of another process, which has another number.
func (t *Timeline) describe(location, call int32) string {
	if call < 0 {
		return "none"
	}
	c := &t.Locations[location].Calls
	return fmt.Sprintf("%d: %v..%v %s polled %t", location, c.Enter[call], c.Leave[call], t.PathName(c.Path[call]),
		t.Locations[location].Polled(call))
}

// joined lists what joins the locations of a timeline, as far as they have to do with some of them.
func joined(t *Timeline, here func(location int32) bool) (list []string) {
	for i := range t.Messages {
		m := &t.Messages[i]
		if here(m.From) || here(m.To) {
			list = append(list, fmt.Sprintf("message [%s] [%s] [%s] [%s] %d %d %d %d %d %v %v", t.describe(m.From, m.Send),
				t.describe(m.Completer(), m.SendDone), t.describe(m.Poster(), m.Post), t.describe(m.To, m.Recv), m.SendDoneSeq, m.RecvSeq, m.Comm,
				m.Tag, m.Size, m.Sent, m.Received))
		}
	}
	for i := range t.Collectives {
		c := &t.Collectives[i]
		members := t.MembersOf(c)
		if !slices.ContainsFunc(members, func(m Member) bool { return here(m.Location) }) {
			continue
		}
		for k := range members {
			m := &members[k]
			list = append(list, fmt.Sprintf("%s of %d root %d: [%s] [%s] %d %d %d %v", c.Op, c.Comm, c.Root, t.describe(m.Issuer(), m.Issue),
				t.describe(m.Location, m.Complete), m.Seq, m.Sent, m.Received, t.CountsOf(m)))
		}
	}
	for _, e := range t.Epochs.Accesses {
		list = append(list, fmt.Sprintf("access [%s] [%s] %v", t.describe(e.Location, e.Start.Call), t.describe(e.Location, e.Complete.Call),
			e.Exposures))
		for _, op := range e.Operations {
			list = append(list, fmt.Sprintf("operation [%s] %d", t.describe(e.Location, op.Call), op.Target))
		}
	}
	for _, e := range t.Epochs.Exposures {
		list = append(list, fmt.Sprintf("exposure [%s] [%s] %v", t.describe(e.Location, e.Post.Call), t.describe(e.Location, e.Wait.Call),
			e.Accesses))
	}
	for _, e := range t.Epochs.Locks {
		for _, c := range e.Calls {
			list = append(list, fmt.Sprintf("lock of %d [%s] %t %t %t", e.Target, t.describe(e.Location, c.Call), e.Exclusive, e.All, e.Accesses))
		}
	}
	return list
}

// TestPartsAreThoseOfTheWhole: several processes that share a run find what one finds that has all of it.
func TestPartsAreThoseOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &sharedRun{drawRun(t), rapid.Uint64().Draw(t, "seed of the rest")}
		whole := r.whole()
		bounds := []int{0, rapid.IntRange(0, r.ranks).Draw(t, "first"), 0, r.ranks}
		bounds[2] = rapid.IntRange(bounds[1], r.ranks).Draw(t, "second")
		parts, err := r.parts(bounds, nil)
		if err != nil {
			t.Fatal(err)
		}
		for p, part := range parts {
			if part.Start != whole.Start || part.End != whole.End || !gocmp.Equal(part.Paths, whole.Paths) ||
				!gocmp.Equal(part.Regions, whole.Regions) {
				t.Fatalf("process %d of %v: %v to %v, %d paths, want %v to %v, %d", p, bounds, part.Start, part.End, len(part.Paths),
					whole.Start, whole.End, len(whole.Paths))
			}
			if diff := gocmp.Diff(whole.Problems, part.Problems); diff != "" {
				t.Fatalf("process %d of %v: problems (-whole +part):\n%s", p, bounds, diff)
			}
			for i := range whole.Locations {
				want, got := whole.Locations[i], part.Locations[i]
				if own := part.Part.Here(int32(i)); own != (want.Rank >= bounds[p] && want.Rank < bounds[p+1]) {
					t.Fatalf("process %d of %v: location %d of rank %d is here: %t", p, bounds, i, want.Rank, own)
				} else if !own {
					want.Calls, want.Polls, want.Alone, want.NoCPU = got.Calls, got.Polls, nil, nil
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("process %d of %v: location %d (-whole +part):\n%s", p, bounds, i, diff)
				}
			}
			if diff := gocmp.Diff(joined(whole, part.Part.Here), joined(part, part.Part.Here)); diff != "" {
				t.Fatalf("process %d of %v (-whole +part):\n%s", p, bounds, diff)
			}
			if lack, life := part.WithoutCPU(); true {
				if l, a := whole.WithoutCPU(); lack != l || life != a {
					t.Fatalf("process %d of %v: without a CPU for %v of %v, want %v of %v", p, bounds, lack, life, l, a)
				}
			}
		}
	})
}

// TestRefreshTimes: after each process has moved its own ranks, all know the new times of what they have of the others.
func TestRefreshTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &sharedRun{drawRun(t), rapid.Uint64().Draw(t, "seed of the rest")}
		moves := make([]unit.Duration, r.ranks)
		for i := range moves {
			moves[i] = unit.Duration(rapid.Int64Range(0, 1000).Draw(t, "move"))
		}
		whole := r.whole()
		whole.MoveRanks(moves)
		bounds := []int{0, 1, rapid.IntRange(1, r.ranks).Draw(t, "bound"), r.ranks}
		parts, err := r.parts(bounds, func(tl *Timeline) error {
			own := slices.Clone(moves)
			for rank := range own {
				if tl.Part.Owner(rank) != tl.Part.Group.Rank() {
					own[rank] = 0
				}
			}
			tl.MoveRanks(own)
			return tl.RefreshTimes(context.Background())
		})
		if err != nil {
			t.Fatal(err)
		}
		for p, part := range parts {
			if diff := gocmp.Diff(joined(whole, part.Part.Here), joined(part, part.Part.Here)); diff != "" {
				t.Fatalf("process %d of %v (-whole +part):\n%s", p, bounds, diff)
			}
			for i := range whole.Locations {
				if w, l := &whole.Locations[i], &part.Locations[i]; l.First != w.First || l.Last != w.Last {
					t.Fatalf("process %d of %v: location %d is from %v to %v, want %v to %v", p, bounds, i, l.First, l.Last, w.First, w.Last)
				}
			}
		}
	})
}

// TestPartOfAWindow: when the run is cut, the numbers by which processes name calls to each other stay right, and all know how long
// recording was off at each location, and how long it had no CPU.
func TestPartOfAWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &sharedRun{drawRun(t), rapid.Uint64().Draw(t, "seed of the rest")}
		begin := unit.Duration(rapid.Int64Range(0, 40).Draw(t, "begin"))
		end := begin + unit.Duration(rapid.Int64Range(1, 60).Draw(t, "length"))
		bounds := []int{0, rapid.IntRange(1, r.ranks-1).Draw(t, "bound"), r.ranks}
		parts, err := r.parts(bounds, func(tl *Timeline) error {
			w, err := tl.WindowTogether(context.Background(), begin, end, 1)
			*tl = *w
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		whole := r.whole().Window(begin, end, 1)
		for p, part := range parts {
			other := parts[1-p]
			for i := range part.Locations {
				if l, w := &part.Locations[i], &whole.Locations[i]; l.Unrecorded != w.Unrecorded || l.Lacked != w.Lacked {
					t.Fatalf("process %d: location %d was off for %v and without a CPU for %v, want %v and %v", p, i, l.Unrecorded, l.Lacked,
						w.Unrecorded, w.Lacked)
				}
				if part.Part.Here(int32(i)) {
					continue
				}
				for call := range int32(part.Locations[i].Calls.Len()) {
					own, ok := other.Part.OwnCall(p, int32(i), call)
					if !ok || other.describe(int32(i), own) != part.describe(int32(i), call) {
						t.Fatalf("call %d of location %d in process %d is %q, there %d, %t", call, i, p, part.describe(int32(i), call), own, ok)
					}
				}
				if _, ok := other.Part.OwnCall(p, int32(i), int32(part.Locations[i].Calls.Len())); ok {
					t.Fatalf("process %d knows more calls of location %d than it has", p, i)
				}
			}
		}
	})
}

// TestOwner: ranks belong to the process whose bounds they lie in; processes may have none.
func TestOwner(t *testing.T) {
	for _, c := range []struct{ ranks, want []int }{
		{[]int{0, 1, 2, 3}, []int{0, 1, 2}},
		{[]int{0, 3, 3, 4}, []int{0, 0, 0, 2}},
		{[]int{0, 0, 2}, []int{1, 1}},
	} {
		p := &Part{Ranks: c.ranks}
		for rank, want := range c.want {
			if got := p.Owner(rank); got != want {
				t.Errorf("bounds %v: rank %d belongs to process %d, want %d", c.ranks, rank, got, want)
			}
		}
	}
	if !(*Part)(nil).Here(5) {
		t.Error("a timeline that is not a part lacks a location")
	}
}

// TestEdgeOfAPart: a call without length at the edge of a window is kept, whether or not a process knows the call that it is in, which ends
// there.
func TestEdgeOfAPart(t *testing.T) {
	build := func() *Builder {
		b := NewBuilder(2)
		for _, name := range []string{"f", "MPI_Send", "MPI_Recv"} {
			b.Region(RegionNamed(name))
		}
		b.Comm(Comm{Members: []int32{0, 1}})
		sender, receiver := b.Location(0, 0, "", ""), b.Location(1, 0, "", "")
		for at := unit.Duration(5); at <= 15; at += 10 {
			sender.Enter(at-2, 0)
			sender.Enter(at, 1)
			sender.Send(at, 1, 0, 0, 8)
			sender.Leave(at)
			sender.Leave(at)
			receiver.Enter(at, 2)
			receiver.Recv(at+2, 0, 0, 0, 8)
			receiver.Leave(at + 2)
		}
		return b
	}
	groups, messages := cluster.Local(2), make([]int, 2)
	parallel.Each(2, 2, func(p int) {
		tl, err := build().FinishPart(context.Background(), groups[p], []int{0, 1, 2}, 1)
		if err == nil {
			tl, err = tl.WindowTogether(context.Background(), 5, 20, 1)
		}
		if err != nil {
			t.Error(err)
			return
		}
		messages[p] = len(tl.Messages)
	})
	if whole := build().Finish(1).Window(5, 20, 1); len(whole.Messages) != 2 || messages[0] != 2 || messages[1] != 2 {
		t.Errorf("processes have %v messages, one process has %d, want 2", messages, len(whole.Messages))
	}
}

// TestEdgeThatOthersLack: a call that is in the window only for the call without length in it, which the other process lacks, is lacked
// there, too; those after it keep their numbers.
func TestEdgeThatOthersLack(t *testing.T) {
	groups, parts := cluster.Local(2), make([]*Timeline, 2)
	parallel.Each(2, 2, func(p int) {
		b := NewBuilder(2)
		for _, name := range []string{"MPI_Send", "pause", "MPI_Recv"} {
			b.Region(RegionNamed(name))
		}
		b.Comm(Comm{Members: []int32{0, 1}})
		sender, receiver := b.Location(0, 0, "", ""), b.Location(1, 0, "", "")
		for at := unit.Duration(0); at < 40; at += 10 {
			sender.Enter(at, 0)
			sender.Send(at, 1, 0, 0, 8)
			sender.Enter(at+5, 1)
			sender.Leave(at + 5)
			sender.Leave(at + 5)
			receiver.Enter(at, 2)
			receiver.Recv(at+6, 0, 0, 0, 8)
			receiver.Leave(at + 6)
		}
		tl, err := b.FinishPart(context.Background(), groups[p], []int{0, 1, 2}, 1)
		if err == nil {
			parts[p], err = tl.WindowTogether(context.Background(), 5, 40, 1)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		return
	}
	if n := parts[1].Locations[0].Calls.Len(); n != 3 {
		t.Fatalf("the process of the receiver has %d calls of the sender, want 3", n)
	}
	for call := range int32(3) {
		own, ok := parts[0].Part.OwnCall(1, 0, call)
		if want := parts[1].Locations[0].Calls.Enter[call]; !ok || parts[0].Locations[0].Calls.Enter[own] != want {
			t.Errorf("call %d of the sender, which begins at %v, is call %d there, %t", call, want, own, ok)
		}
	}
	if own, ok := parts[0].Part.OwnCall(1, 0, 3); ok {
		t.Errorf("a fourth call is call %d", own)
	}
}
