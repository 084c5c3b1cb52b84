package timeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slackline/internal/cluster"
	"slackline/internal/parallel"
	"slackline/model/unit"
)

// A cutRun is a run of which all is known: what each rank did, call by call, and what belongs together. Times are the
// numbers of calls of the rank.
type cutRun struct {
	ranks int
	comms []Comm
	of    [][]cutCall
}

// cutCall is one call: it may begin or end several things.
type cutCall struct {
	sends []cutSend
	posts []int // receives that it posts, by number among those of the rank
	dones []int // receives that it completes
	colls []cutColl
}

type cutSend struct {
	to, comm, tag int32
	id            int64 // of the message
}

type cutColl struct {
	comm  int32
	id    int64
	begin bool // only issued
	end   bool // only completed
}

type cutRecv struct {
	from, comm, tag int32
	id              int64
}

// drawCutRun draws a run: messages of few tags on two communicators that are received in the order of their sending on each
// channel, posted early and completed in any order, and collectives, some of them non-blocking.
func drawCutRun(t *rapid.T) (*cutRun, [][]cutRecv) {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	ranks := rapid.IntRange(2, 4).Draw(t, "ranks")
	steps := rapid.IntRange(1, 40).Draw(t, "steps")
	r := &cutRun{ranks: ranks, of: make([][]cutCall, ranks)}
	world, reversed := Comm{}, Comm{}
	for i := range int32(ranks) {
		world.Members = append(world.Members, i)
		reversed.Members = append(reversed.Members, int32(ranks)-1-i)
	}
	r.comms = []Comm{world, reversed, {Members: world.Members[:2]}}
	peer := func(comm, rank int32) int32 { return int32(slices.Index(r.comms[comm].Members, rank)) }
	receives := make([][]cutRecv, ranks)
	next := int64(0)
	inFlight := make([][]int, ranks) // receives that were posted
	issued := make([][]cutColl, ranks)
	for range steps {
		next++
		if random.IntN(3) > 0 { // a message
			from, to := random.IntN(ranks), random.IntN(ranks)
			if from == to {
				continue
			}
			comm, tag := int32(random.IntN(2)), int32(random.IntN(2))
			r.of[from] = append(r.of[from], cutCall{sends: []cutSend{{peer(comm, int32(to)), comm, tag, next}}})
			n := len(receives[to])
			receives[to] = append(receives[to], cutRecv{peer(comm, int32(from)), comm, tag, next})
			if random.IntN(2) == 0 {
				r.of[to] = append(r.of[to], cutCall{posts: []int{n}, dones: []int{n}})
			} else {
				r.of[to] = append(r.of[to], cutCall{posts: []int{n}})
				inFlight[to] = append(inFlight[to], n)
			}
		} else {
			comm := int32(random.IntN(3))
			blocking := random.IntN(2) == 0
			for _, rank := range r.comms[comm].Members {
				c := cutColl{comm: comm, id: next, begin: !blocking}
				r.of[rank] = append(r.of[rank], cutCall{colls: []cutColl{c}})
				if !blocking {
					issued[rank] = append(issued[rank], cutColl{comm: comm, id: next, end: true})
				}
			}
		}
		for rank := range r.of { // some rank completes something
			if n := len(inFlight[rank]); n > 0 && random.IntN(3) == 0 {
				i := random.IntN(n)
				r.of[rank] = append(r.of[rank], cutCall{dones: []int{inFlight[rank][i]}})
				inFlight[rank] = slices.Delete(inFlight[rank], i, i+1)
			}
			if n := len(issued[rank]); n > 0 && random.IntN(3) == 0 {
				i := random.IntN(n)
				r.of[rank] = append(r.of[rank], cutCall{colls: []cutColl{issued[rank][i]}})
				issued[rank] = slices.Delete(issued[rank], i, i+1)
			}
		}
	}
	for rank := range r.of {
		r.of[rank] = append(r.of[rank], cutCall{dones: inFlight[rank], colls: issued[rank]})
	}
	return r, receives
}

// cutWriter gives a location what was recorded of a rank, as the recorder does: while recording is off it counts, in the
// order in which receives are posted.
type cutWriter struct {
	l        *LocationBuilder
	receives []cutRecv
	now      unit.Duration
	on       bool
	sends    map[cutSend]int64
	colls    map[int32]int64
	posts    []int        // receives that were posted while off, in order
	taken    map[int]bool // of these: completed while off
}

func (w *cutWriter) set(on bool) {
	if on == w.on {
		return
	}
	w.on = on
	if !on {
		w.l.Off(w.now, 1)
		w.sends, w.colls, w.posts, w.taken = map[cutSend]int64{}, map[int32]int64{}, nil, map[int]bool{}
		return
	}
	for c, n := range w.sends {
		w.l.SkipSends(w.now, c.to, c.comm, c.tag, n)
	}
	for comm, n := range w.colls {
		w.l.SkipCollectives(w.now, comm, n)
	}
	for _, n := range w.posts {
		if r := w.receives[n]; w.taken[n] {
			w.l.SkipReceives(w.now, r.from, r.comm, r.tag, 1)
		} else {
			w.l.Post(w.now, uint64(n))
		}
	}
	w.l.On(w.now)
}

func (w *cutWriter) call(c *cutCall) {
	if w.on {
		w.l.Enter(w.now, 0)
	}
	for _, s := range c.sends {
		if w.on {
			w.l.Send(w.now, s.to, s.comm, s.tag, s.id)
		} else {
			w.sends[cutSend{s.to, s.comm, s.tag, 0}]++
		}
	}
	for _, n := range c.posts {
		if w.on {
			w.l.Post(w.now, uint64(n))
		} else {
			w.posts = append(w.posts, n)
		}
	}
	for _, n := range c.dones {
		r := w.receives[n]
		if !w.on && slices.Contains(w.posts, n) {
			w.taken[n] = true
		} else {
			w.l.IrecvDone(w.now, r.from, r.comm, r.tag, AnySize, uint64(n))
		}
	}
	for _, k := range c.colls {
		switch {
		case !w.on && k.end:
			w.l.Complete(w.now, OpBarrier, k.comm, -1, k.id, 0, nil, uint64(k.id))
		case !w.on:
			w.colls[k.comm]++
		case k.begin:
			w.l.Issue(w.now, uint64(k.id))
		case k.end:
			w.l.Complete(w.now, OpBarrier, k.comm, -1, k.id, 0, nil, uint64(k.id))
		default:
			w.l.Collective(w.now, OpBarrier, k.comm, -1, k.id, 0, nil)
		}
	}
	w.now++
	if w.on {
		w.l.Leave(w.now)
	}
	w.now++
}

// kept says which calls of each rank are recorded.
type kept [][]bool

func drawKept(t *rapid.T, r *cutRun) kept {
	k := make(kept, r.ranks)
	for rank := range k {
		n := len(r.of[rank])
		k[rank] = make([]bool, n)
		on := rapid.Bool().Draw(t, "on")
		for i := range n {
			if rapid.IntRange(0, 5).Draw(t, "switch") == 0 {
				on = !on
			}
			k[rank][i] = on
		}
	}
	return k
}

func (r *cutRun) builder(k kept, receives [][]cutRecv, here func(rank int) bool) *Builder {
	b := NewBuilder(r.ranks)
	b.Region(Region{Name: "MPI_Call", Paradigm: MPI})
	b.Region(NotRecorded)
	for _, c := range r.comms {
		b.Comm(c)
	}
	for rank := range r.of {
		l := b.Location(rank, 0, "", "")
		if !here(rank) {
			continue
		}
		w := &cutWriter{l: l, receives: receives[rank], on: true}
		begun := map[int64]bool{} // collectives whose start is in the trace
		for i := range r.of[rank] {
			w.set(k[rank][i])
			c := r.of[rank][i]
			c.colls = slices.DeleteFunc(slices.Clone(c.colls), func(x cutColl) bool {
				begun[x.id] = begun[x.id] || x.begin && k[rank][i]
				return x.end && !begun[x.id] // nobody says how it ended that was issued unseen
			})
			w.call(&c)
		}
	}
	return b
}

// wanted returns the messages and collectives of which everything was kept, by their numbers.
func (r *cutRun) wanted(k kept) (messages, collectives []int64) {
	lacks, colls := map[int64]bool{}, map[int64]bool{}
	for rank := range r.of {
		for i, c := range r.of[rank] {
			for _, s := range c.sends {
				lacks[s.id] = lacks[s.id] || !k[rank][i]
			}
			for _, x := range c.colls {
				colls[x.id] = colls[x.id] || !k[rank][i]
			}
		}
	}
	return keysWithout(lacks), keysWithout(colls)
}

func keysWithout(m map[int64]bool) []int64 {
	var list []int64
	for id, lacking := range m {
		if !lacking {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// checkCut compares a timeline with what must be found: every message and collective that was kept as a whole, and no two
// ends that do not belong together.
func (r *cutRun) checkCut(t *rapid.T, tl *Timeline, k kept, receives [][]cutRecv, here func(location int32) bool) {
	ends := map[int64]bool{}
	for rank := range r.of {
		for i, c := range r.of[rank] {
			for _, n := range slices.Concat(c.posts, c.dones) {
				if id := receives[rank][n].id; !k[rank][i] {
					ends[id] = true
				}
			}
		}
	}
	sent, collectives := r.wanted(k)
	var wanted []int64
	for _, id := range sent {
		if !ends[id] {
			wanted = append(wanted, id)
		}
	}
	var found []int64
	for i := range tl.Messages {
		m := &tl.Messages[i]
		if !here(m.To) {
			continue
		}
		// The call that completed the receive says which message it took; the size, which one was sent.
		call := r.of[m.To][int(tl.Locations[m.To].Calls.Enter[m.Recv])/2]
		if !slices.ContainsFunc(call.dones, func(n int) bool { return receives[m.To][n].id == m.Size }) {
			t.Fatalf("message %d was received by a call that took %v", m.Size, call.dones)
		}
		found = append(found, m.Size)
	}
	slices.Sort(found)
	if here(0) && here(int32(r.ranks)-1) {
		if diff := gocmp.Diff(wanted, found); diff != "" {
			t.Fatalf("messages (-want +got):\n%s", diff)
		}
		var joined []int64
		for i := range tl.Collectives {
			c := &tl.Collectives[i]
			for _, m := range tl.Members[c.First:][:len(tl.Comms[c.Comm].Members)] {
				if m.Sent != tl.Members[c.First].Sent {
					t.Fatalf("collectives %d and %d were joined", m.Sent, tl.Members[c.First].Sent)
				}
			}
			joined = append(joined, tl.Members[c.First].Sent)
		}
		slices.Sort(joined)
		if diff := gocmp.Diff(collectives, joined); diff != "" {
			t.Fatalf("collectives (-want +got):\n%s", diff)
		}
	}
	if p := &tl.Problems; p.UnmatchedSends+p.UnmatchedReceives+p.IncompleteCollectives+p.PendingRequests+p.Unbalanced > 0 || len(p.Notes) > 0 {
		anyCut := slices.ContainsFunc(k, func(list []bool) bool { return slices.Contains(list, false) })
		t.Fatalf("cut %v, problems %+v", anyCut, p)
	}
}

// TestCutRunsMatch cuts random runs at random times of each rank: of what was kept, each message and collective must find
// exactly the partners that it had.
func TestCutRunsMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, receives := drawCutRun(t)
		k := drawKept(t, r)
		all := func(int) bool { return true }
		tl := r.builder(k, receives, all).Finish(2)
		r.checkCut(t, tl, k, receives, func(int32) bool { return true })
	})
}

// TestCutRunsMatchInParts does the same with several processes.
func TestCutRunsMatchInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, receives := drawCutRun(t)
		k := drawKept(t, r)
		whole := r.builder(k, receives, func(int) bool { return true }).Finish(1)
		bounds := []int{0, 1, r.ranks}
		counts := make([]int, 2)
		problems := make([]Problems, 2)
		members := cluster.Local(2)
		errs := make([]error, 2)
		parallel.Each(2, 2, func(p int) {
			b := r.builder(k, receives, func(rank int) bool { return rank >= bounds[p] && rank < bounds[p+1] })
			tl, err := b.FinishPart(context.Background(), members[p], bounds, 1)
			if errs[p] = err; err != nil {
				members[p].Break()
				return
			}
			for i := range tl.Messages {
				if tl.Part.Here(tl.Messages[i].To) {
					counts[p]++
				}
			}
			problems[p] = tl.Problems
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if counts[0]+counts[1] != len(whole.Messages) {
			t.Fatalf("messages = %v, want %d together", counts, len(whole.Messages))
		}
		if diff := gocmp.Diff(whole.Problems, problems[0]); diff != "" {
			t.Fatalf("problems (-whole +parts):\n%s", diff)
		}
	})
}
