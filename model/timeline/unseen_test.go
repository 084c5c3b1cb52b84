package timeline

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"slackline/internal/cluster"
	"slackline/internal/parallel"
	"slackline/model/unit"
)

// A switchedRun is a run of two ranks with threads that communicate at different times, on the same channels and communicator. Of each act
// all is known: the time, and the number of its message or collective, which is the size.
type switchedRun struct {
	switches [2][]unit.Duration // by rank: recording is off from the first one on to the second one, and so on
	acts     [2][][]act         // by rank and thread
	rings    [2][]unit.Duration // by rank and thread: what was recorded before was dropped
}

type act struct {
	time unit.Duration
	kind actKind
	tag  int32
	id   int64
}

type actKind uint8

const (
	sends actKind = iota
	posts
	completes // what was posted
	collects
)

// actTime is the time between two acts of a run; a call takes half of it.
const actTime = 10

// drawSwitchedRun draws a run: rank 0 sends, rank 1 receives. Recording is on during one window, is switched at any time, or drops
// what is old.
func drawSwitchedRun(seed uint64) *switchedRun {
	random := rand.New(rand.NewPCG(seed, 3))
	once, ring := seed%3 == 0, seed%3 == 1
	r := &switchedRun{}
	steps := 20 + random.IntN(80)
	for rank := range r.acts {
		r.acts[rank] = make([][]act, 1+random.IntN(3))
		r.rings[rank] = make([]unit.Duration, len(r.acts[rank]))
		for thread := range r.rings[rank] {
			if ring {
				r.rings[rank][thread] = unit.Duration(random.IntN(steps)-steps/3) * actTime
			}
		}
		if at := random.IntN(steps) - steps/3; once && at >= 0 {
			r.switches[rank] = []unit.Duration{0, unit.Duration(at) * actTime, unit.Duration(at+random.IntN(steps)) * actTime}
		}
	}
	sent, received, issued := [2]int64{}, [2]int64{}, [2]int64{}
	pending := [][]act{nil, nil, nil} // by thread of rank 1
	for step := range steps {
		at, rank, tag := unit.Duration(step)*actTime+1, random.IntN(2), int32(random.IntN(2))
		thread := random.IntN(len(r.acts[rank]))
		a := act{at, collects, 0, 0}
		switch kind := random.IntN(6); {
		case kind == 0 && !once && (!ring || step%8 == 0):
			r.switches[rank] = append(r.switches[rank], at)
			continue
		case kind == 1:
			issued[rank]++
			a.id = issued[rank]
		case rank == 0:
			sent[tag]++
			a.kind, a.tag, a.id = sends, tag, sent[tag]
		case kind < 4 && received[tag] < sent[tag]:
			received[tag]++
			a.kind, a.tag, a.id = posts, tag, received[tag]
			pending[thread] = append(pending[thread], a)
		case len(pending[thread]) > 0:
			i := random.IntN(len(pending[thread]))
			a = pending[thread][i]
			a.time, a.kind = at, completes
			pending[thread] = slices.Delete(pending[thread], i, i+1)
		default:
			continue
		}
		r.acts[rank][thread] = append(r.acts[rank][thread], a)
	}
	at := unit.Duration(steps)*actTime + 1
	for thread, list := range pending {
		for _, a := range list {
			a.time, a.kind = at, completes
			r.acts[1][thread] = append(r.acts[1][thread], a)
			at += actTime
		}
	}
	return r
}

// off reports whether what a thread does at a time is not recorded, or dropped.
func (r *switchedRun) off(rank, thread int, t unit.Duration) bool {
	n, _ := slices.BinarySearch(r.switches[rank], t)
	return n%2 == 1 || t < r.rings[rank][thread]
}

// builder records the run as the recorder does: each thread notices at its next act that recording was switched. It returns the acts that
// were recorded, by location and start of the call.
func (r *switchedRun) builder(here func(rank int) bool) (*Builder, map[[2]int64]act) {
	b := NewBuilder(2)
	b.Region(Region{Name: "MPI_Call", Paradigm: MPI})
	b.Region(NotRecorded)
	b.Comm(Comm{Members: []int32{0, 1}})
	recorded, location := map[[2]int64]act{}, int64(0)
	for rank := range r.acts {
		for thread, acts := range r.acts[rank] {
			l := b.Location(rank, thread, "", "")
			w := &threadWriter{l: l, peer: int32(1 - rank), ring: r.rings[rank][thread]}
			for _, a := range acts {
				if !here(rank) {
					break
				}
				w.set(a.time, r.off(rank, thread, a.time))
				if w.act(a); !w.l.off {
					recorded[[2]int64{location, int64(a.time)}] = a
				}
			}
			w.skips(w.last + actTime - 1) // the thread ends
			location++
		}
	}
	return b, recorded
}

// threadWriter gives a location what is recorded of a thread.
type threadWriter struct {
	l      *LocationBuilder
	peer   int32
	unseen []act
	last   unit.Duration // of them
	ring   unit.Duration
}

func (w *threadWriter) set(t unit.Duration, off bool) {
	switch {
	case off && !w.l.off:
		w.l.Off(t, 1)
	case !off && w.l.off:
		w.skips(t)
		w.l.On(t)
	}
}

// skips reports what was not recorded.
func (w *threadWriter) skips(t unit.Duration) {
	if w.last >= w.ring {
		t = w.last
	}
	for _, a := range w.unseen {
		switch a.kind {
		case sends:
			w.l.SkipSends(t, w.peer, 0, a.tag, 1)
		case posts:
			w.l.Post(t, request(a))
		case completes: // posted unseen, too
			w.l.SkipReceives(t, w.peer, 0, a.tag, 1)
		case collects:
			w.l.SkipCollectives(t, 0, 1)
		}
	}
	w.unseen = nil
}

func request(a act) uint64 { return uint64(a.id)*2 + uint64(a.tag) }

// act does what a call does, in the call if it is recorded.
func (w *threadWriter) act(a act) {
	if w.l.off {
		w.last = a.time
		post := slices.IndexFunc(w.unseen, func(p act) bool { return a.kind == completes && p.kind == posts && p.id == a.id && p.tag == a.tag })
		switch {
		case post >= 0:
			w.unseen[post].kind = completes
		case a.kind == completes:
			w.l.IrecvDone(a.time, w.peer, 0, a.tag, AnySize, request(a))
		default:
			w.unseen = append(w.unseen, a)
		}
		return
	}
	w.l.Enter(a.time, 0)
	switch a.kind {
	case sends:
		w.l.Send(a.time, w.peer, 0, a.tag, a.id)
	case posts:
		w.l.Post(a.time, request(a))
	case completes:
		w.l.IrecvDone(a.time, w.peer, 0, a.tag, AnySize, request(a))
	case collects:
		w.l.Collective(a.time+actTime/2, OpBarrier, 0, -1, a.id, 0, nil)
	}
	w.l.Leave(a.time + actTime/2)
}

// check compares a timeline with what was recorded: no two ends are joined that do not belong together. It returns how many were.
func (r *switchedRun) check(t *testing.T, tl *Timeline, recorded map[[2]int64]act) (messages, collectives int) {
	of := func(location, call int32) act {
		return recorded[[2]int64{int64(location), int64(tl.Locations[location].Calls.Enter[call])}]
	}
	for i := range tl.Messages {
		m := &tl.Messages[i]
		if s, p, c := of(m.From, m.Send), of(m.To, m.Post), of(m.To, m.Recv); s.id != p.id || s.tag != p.tag || s.id != c.id {
			t.Fatalf("message %d of tag %d was received as %d, posted as %d in %v", s.id, s.tag, c.id, p.id, r)
		}
	}
	for _, c := range tl.Collectives {
		if a, b := tl.Members[c.First], tl.Members[c.First+1]; a.Sent != b.Sent {
			t.Fatalf("collectives %d and %d were joined in %v", a.Sent, b.Sent, r)
		}
	}
	return len(tl.Messages), len(tl.Collectives)
}

// clear reports whether of all that was not recorded it is known when recording was off: no thread did something before and after a window
// in which it did nothing.
func (r *switchedRun) clear() bool {
	for rank, of := range r.acts {
		s := r.switches[rank]
		for thread, acts := range of {
			if r.rings[rank][thread] > 0 {
				return false
			}
			before := 0
			for _, a := range acts {
				n, _ := slices.BinarySearch(s, a.time)
				if n%2 == 1 && before%2 == 1 && before != n {
					return false
				}
				before = n
			}
		}
	}
	return true
}

// wanted counts the messages and collectives that were recorded as a whole.
func wanted(recorded map[[2]int64]act) (messages, collectives int) {
	type which struct {
		kind actKind
		tag  int32
		id   int64
	}
	ends := map[which]int{}
	for _, a := range recorded {
		if a.kind != collects {
			a.kind = sends
		}
		ends[which{a.kind, a.tag, a.id}]++
	}
	for w, n := range ends {
		if w.kind == sends && n == 3 {
			messages++
		} else if w.kind == collects && n == 2 {
			collectives++
		}
	}
	return messages, collectives
}

// TestUnseenOfThreads: threads that notice at different times that recording was switched join what belongs together.
func TestUnseenOfThreads(t *testing.T) {
	all := func(int) bool { return true }
	clear, rings := 0, 0
	for seed := range uint64(2000) {
		r := drawSwitchedRun(seed)
		b, recorded := r.builder(all)
		messages, collectives := r.check(t, b.Finish(2), recorded)
		m, c := wanted(recorded)
		switch {
		case seed%3 == 1:
			rings += messages
			continue
		case !r.clear():
			continue
		}
		clear += messages
		if messages != m || collectives != c {
			t.Fatalf("%v seed %d: %d messages, %d collectives, want %d, %d", r, seed, messages, collectives, m, c)
		}
	}
	if clear < 1000 || rings < 500 {
		t.Errorf("%d messages of runs that were switched, %d of rings", clear, rings)
	}
}

// TestUnseenOn compares what is found with all that there is.
func TestUnseenOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) unseenAt {
			from := rapid.IntRange(-5, 20).Draw(t, "from")
			to := rapid.IntRange(from, 25).Draw(t, "to")
			return unseenAt{Span: Span{unit.Duration(from), unit.Duration(to)}, location: rapid.Int32Range(0, 4).Draw(t, "location")}
		}), 0, 10).Draw(t, "list")
		on := unseenOn{channel{}: slices.Clone(list)}
		on.sort()
		for location := range int32(6) {
			for at := unit.Duration(-7); at < 27; at++ {
				want := slices.ContainsFunc(list, func(a unseenAt) bool { return a.location != location && a.From < at && at <= a.To })
				if got := on.has(channel{}, location, at); got != want {
					t.Fatalf("location %d at %d: %t, want %t", location, at, got, want)
				}
			}
		}
	})
}

// TestUnseenOfThreadsInParts: several processes find the same.
func TestUnseenOfThreadsInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		r := drawSwitchedRun(seed)
		b, _ := r.builder(func(int) bool { return true })
		whole := b.Finish(1)
		members := cluster.Local(2)
		parallel.Each(2, 2, func(p int) {
			b, _ := r.builder(func(rank int) bool { return rank == p })
			part, err := b.FinishPart(context.Background(), members[p], []int{0, 1, 2}, 1)
			if err != nil {
				members[p].Break()
				t.Error(err)
				return
			}
			if diff := gocmp.Diff(joined(whole, part.Part.Here), joined(part, part.Part.Here)); diff != "" {
				t.Errorf("process %d (-whole +part):\n%s", p, diff)
			}
			if diff := gocmp.Diff(whole.Problems, part.Problems); diff != "" {
				t.Errorf("problems of process %d (-whole +part):\n%s", p, diff)
			}
		})
	})
}
