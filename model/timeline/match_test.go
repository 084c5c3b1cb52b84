package timeline

import (
	"cmp"
	"context"
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

// step is one thing that a random location does.
type step struct {
	kind            string
	time            unit.Duration
	region          RegionID
	peer, comm, tag int32
	size            int64
	request         uint64
}

// randomRun is what random locations do, whether it makes sense or not.
type randomRun struct {
	ranks   int
	comms   []Comm
	threads [][]int // by location: rank, thread
	steps   [][]step
	lives   bool // when threads live is known: they hand requests to each other
}

// drawRun draws a run of a few ranks with one or two threads each.
func drawRun(t *rapid.T) *randomRun {
	r := &randomRun{ranks: rapid.IntRange(2, 4).Draw(t, "ranks")}
	world, reversed := Comm{}, Comm{}
	for i := range int32(r.ranks) {
		world.Members = append(world.Members, i)
		reversed.Members = append(reversed.Members, int32(r.ranks)-1-i)
	}
	r.comms = []Comm{world, reversed, {Members: world.Members[:1], Remote: world.Members[1:]}, {Members: []int32{1}}}
	r.lives = rapid.Bool().Draw(t, "lives")
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	n := rapid.IntRange(0, 150).Draw(t, "steps")
	for rank := range r.ranks {
		for thread := range rapid.IntRange(1, 2).Draw(t, "threads") {
			r.threads = append(r.threads, []int{rank, thread})
			r.steps = append(r.steps, r.randomSteps(random, rank, thread, n))
		}
	}
	return r
}

// randomSteps gives no two threads of a rank the same times: of receives that are posted at once, any may be first.
func (r *randomRun) randomSteps(random *rand.Rand, rank, thread, n int) []step {
	kinds := []string{"enter", "leave", "send", "isend", "isenddone", "post", "recv", "irecvdone", "cancel", "coll", "issue", "complete"}
	var steps []step
	now := unit.Duration(thread)
	for range n {
		now += unit.Duration(2 * random.IntN(3))
		s := step{kind: kinds[random.IntN(len(kinds))], time: now, region: RegionID(random.IntN(3)), comm: int32(random.IntN(len(r.comms))),
			tag: int32(random.IntN(2)), size: int64(random.IntN(100)), request: uint64(random.IntN(3))}
		peers := len(r.comms[s.comm].Members)
		if s.comm == 2 && rank == 0 {
			peers = len(r.comms[2].Remote)
		}
		s.peer = int32(random.IntN(peers))
		steps = append(steps, s)
	}
	return steps
}

// build lets the locations do their steps, in the order given.
func (r *randomRun) build(order []int, threads int) *Timeline {
	b := NewBuilder(r.ranks)
	for i := range 3 {
		b.Region(Region{Name: fmt.Sprint("f", i)})
	}
	for _, c := range r.comms {
		b.Comm(c)
	}
	for _, i := range order {
		l := b.Location(r.threads[i][0], r.threads[i][1], "", "")
		if r.lives && r.threads[i][1] > 0 {
			l.ThreadBegin(-1)
			l.Event(0)
		}
		for _, s := range r.steps[i] {
			s.apply(l)
		}
	}
	return b.Finish(threads)
}

func (s step) apply(l *LocationBuilder) {
	switch s.kind {
	case "enter":
		l.Enter(s.time, s.region)
	case "leave":
		l.Leave(s.time)
	case "send":
		l.Send(s.time, s.peer, s.comm, s.tag, s.size)
	case "isend":
		l.Isend(s.time, s.peer, s.comm, s.tag, s.size, s.request)
	case "isenddone":
		l.IsendDone(s.time, s.request)
	case "post":
		l.Post(s.time, s.request)
	case "recv":
		l.Recv(s.time, s.peer, s.comm, s.tag, s.size)
	case "irecvdone":
		l.IrecvDone(s.time, s.peer, s.comm, s.tag, s.size, s.request)
	case "cancel":
		l.Cancel(s.time, s.request)
	case "coll":
		l.Collective(s.time, Op(s.tag), s.comm, -1, s.size, s.size, nil)
	case "issue":
		l.Issue(s.time, s.request)
	case "complete":
		l.Complete(s.time, Op(s.tag), s.comm, -1, s.size, s.size, nil, s.request)
	}
}

// truth is what must be found, by the slowest way that is plainly right.
type truth struct {
	messages                  []Message
	unmatchedSends, unmatched int64
	members                   []Member
	collectives               int
}

// end is one end of a message or of a collective.
type end struct {
	location                  int
	begun, time               unit.Duration
	begin, end                int32 // calls
	seq                       int32
	from, to, comm, tag, rank int32
	size                      int64
	cancelled                 bool
	by                        int16 // the thread that did the other half, relative to location
}

// pending are what is open of requests of a location at its end, by kind and request, and what it did to requests that it did not have.
type pending struct {
	open  map[requestKey]*end
	again []awayEnd // begun anew before they were completed
	away  []awayEnd
}

type awayEnd struct {
	key requestKey // kind 0: cancelled
	*end
}

func (r *randomRun) world(rank int, comm, peer int32) int32 {
	if comm == 2 && rank == 0 {
		return r.comms[2].Remote[peer]
	}
	return r.comms[comm].Members[peer]
}

// ends lists the sends, receives (in order of posting) and collectives (in order of issue) of a location.
func (r *randomRun) ends(location int) (sends, receives, colls []*end, left pending) {
	rank := r.threads[location][0]
	var open []int32
	calls := int32(0)
	left.open = map[requestKey]*end{}
	seq := int32(-1)
	for _, s := range r.steps[location] {
		here := &end{location: location, rank: int32(rank), begun: s.time, time: s.time, comm: s.comm, tag: s.tag, size: s.size, begin: -1}
		if len(open) > 0 {
			here.begin = open[len(open)-1]
		}
		here.end = here.begin
		if s.kind != "enter" && s.kind != "leave" {
			seq++
		}
		here.seq = seq
		peer := r.world(rank, s.comm, s.peer)
		begin := func(kind requestKind) {
			key := requestKey{s.request, kind}
			if e := left.open[key]; e != nil {
				left.again = append(left.again, awayEnd{key, e})
			}
			left.open[key] = here
		}
		finish := func(kind requestKind, list *[]*end) {
			key := requestKey{s.request, kind}
			e := left.open[key]
			if e == nil {
				*list = append(*list, here)
				left.away = append(left.away, awayEnd{key, here})
				e = here
			}
			delete(left.open, key)
			e.time, e.end, e.seq, e.comm, e.tag, e.size = here.time, here.end, here.seq, here.comm, here.tag, here.size
			e.from, e.to = peer, int32(rank)
		}
		switch s.kind {
		case "enter":
			open = append(open, calls)
			calls++
		case "leave":
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case "send", "isend":
			here.from, here.to = int32(rank), peer
			sends = append(sends, here)
			if s.kind == "isend" {
				here.end, here.seq = -1, -1
				begin(sendRequest)
			}
		case "isenddone":
			key := requestKey{s.request, sendRequest}
			if e := left.open[key]; e != nil {
				e.end, e.seq = here.end, here.seq
			} else {
				left.away = append(left.away, awayEnd{key, here})
			}
			delete(left.open, key)
		case "recv":
			here.from, here.to = peer, int32(rank)
			receives = append(receives, here)
		case "post", "issue":
			here.from = noPeer
			if s.kind == "post" {
				receives = append(receives, here)
				begin(receiveRequest)
			} else {
				colls = append(colls, here)
				begin(collectiveRequest)
			}
		case "irecvdone":
			finish(receiveRequest, &receives)
		case "coll":
			colls = append(colls, here)
		case "complete":
			finish(collectiveRequest, &colls)
		case "cancel":
			found := false
			for _, kind := range []requestKind{receiveRequest, sendRequest, collectiveRequest} {
				key := requestKey{s.request, kind}
				if e := left.open[key]; e != nil && !found {
					e.cancelled, found = true, true
					delete(left.open, key)
				}
			}
			if !found {
				left.away = append(left.away, awayEnd{requestKey{s.request, 0}, here})
			}
		}
	}
	return sends, receives, colls, left
}

// handOver gives what a location did to requests that it did not have those that another thread of its rank left open. If several did,
// it is the last of them that began before.
func (r *randomRun) handOver(left []pending) {
	byTime := func(a, b awayEnd) int { return cmp.Compare(a.begun, b.begun) }
	for rank := range r.ranks {
		begun, away := map[requestKey][]awayEnd{}, []awayEnd(nil)
		for i := range left {
			if r.threads[i][0] != rank {
				continue
			}
			for _, b := range left[i].again {
				begun[b.key] = append(begun[b.key], b)
			}
			for key, e := range left[i].open {
				begun[key] = append(begun[key], awayEnd{key, e})
			}
			away = append(away, left[i].away...)
		}
		for _, list := range begun {
			slices.SortStableFunc(list, byTime)
		}
		slices.SortStableFunc(away, byTime)
		for _, a := range away {
			kinds := []requestKind{a.key.kind}
			if a.key.kind == 0 {
				kinds = []requestKind{receiveRequest, sendRequest, collectiveRequest}
			}
			for _, kind := range kinds {
				key := requestKey{a.key.id, kind}
				last := -1
				for k, b := range begun[key] {
					if b.begun < a.begun || last < 0 && b.begun == a.begun {
						last = k
					}
				}
				if last < 0 || begun[key][last].location == a.location {
					continue
				}
				e := begun[key][last]
				begun[key] = begun[key][last+1:]
				switch {
				case a.key.kind == 0:
					e.cancelled = true
				case kind == sendRequest:
					e.end.end, e.seq, e.by = a.end.end, a.seq, int16(a.location-e.location)
				default:
					e.cancelled = true
					a.begun, a.begin, a.by = min(a.begun, e.begun), e.begin, int16(e.location-a.location)
				}
				break
			}
		}
	}
}

func (r *randomRun) truth() truth {
	var sends, receives, colls []*end
	left := make([]pending, len(r.threads))
	for i := range r.threads {
		s, v, c, l := r.ends(i)
		sends, receives, colls, left[i] = append(sends, s...), append(receives, v...), append(colls, c...), l
	}
	if r.lives {
		r.handOver(left)
	}
	gone := func(e *end) bool { return e.cancelled || e.from == noPeer }
	sends, receives, colls = slices.DeleteFunc(sends, gone), slices.DeleteFunc(receives, gone), slices.DeleteFunc(colls, gone)
	byTime := func(a, b *end) int { return cmp.Compare(a.begun, b.begun) }
	sendsByTime, receivesByTime := slices.Clone(sends), slices.Clone(receives)
	slices.SortStableFunc(sendsByTime, byTime)
	slices.SortStableFunc(receivesByTime, byTime)
	partner := map[*end]*end{}
	for _, v := range receivesByTime {
		for i, s := range sendsByTime {
			if s.from == v.from && s.to == v.to && s.comm == v.comm && s.tag == v.tag {
				partner[v] = s
				sendsByTime = slices.Delete(sendsByTime, i, i+1)
				break
			}
		}
	}
	var want truth
	want.unmatchedSends = int64(len(sendsByTime))
	want.unmatched = int64(len(receives) - len(partner))
	for _, v := range receives {
		if s := partner[v]; s != nil && s.begin >= 0 && v.begin >= 0 && v.end >= 0 {
			want.messages = append(want.messages, Message{From: int32(s.location), To: int32(v.location), Send: s.begin, SendDone: s.end,
				SendDoneSeq: s.seq, DoneBy: s.by, PostedBy: v.by, Post: v.begin, Recv: v.end, RecvSeq: v.seq, Comm: v.comm, Tag: v.tag,
				Size: s.size, Sent: s.time, Received: v.time})
		}
	}
	slices.SortStableFunc(colls, byTime)
	for comm := range int32(len(r.comms)) {
		r.collectiveTruth(comm, colls, &want)
	}
	return want
}

func (r *randomRun) collectiveTruth(comm int32, colls []*end, want *truth) {
	if r.comms[comm].Size() < 2 {
		return
	}
	for k := 0; ; k++ {
		var instance []*end
		for _, rank := range slices.Concat(r.comms[comm].Members, r.comms[comm].Remote) {
			n := 0
			for _, c := range colls {
				if c.rank == rank && c.comm == comm {
					if n == k {
						instance = append(instance, c)
					}
					n++
				}
			}
		}
		if len(instance) < r.comms[comm].Size() {
			return
		}
		if slices.ContainsFunc(instance, func(c *end) bool { return c.tag != instance[0].tag || c.begin < 0 || c.end < 0 }) {
			continue
		}
		want.collectives++
		for _, c := range instance {
			want.members = append(want.members, Member{Location: int32(c.location), Issue: c.begin, Complete: c.end, Seq: c.seq,
				Sent: c.size, Received: c.size, Counts: -1, IssuedBy: c.by})
		}
	}
}

func TestMatchingIsThatOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRun(t)
		order := make([]int, len(r.threads))
		for i := range order {
			order[i] = i
		}
		tl := r.build(order, 1)
		want := r.truth()
		if diff := gocmp.Diff(want.messages, tl.Messages, gocmp.Transformer("", emptyIsNil[Message])); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff(want.members, tl.Members, gocmp.Transformer("", emptyIsNil[Member])); diff != "" {
			t.Errorf("members of collectives (-want +got):\n%s", diff)
		}
		if len(tl.Collectives) != want.collectives {
			t.Errorf("%d collectives, want %d", len(tl.Collectives), want.collectives)
		}
		if p := tl.Problems; p.UnmatchedSends != want.unmatchedSends || p.UnmatchedReceives != want.unmatched {
			t.Errorf("unmatched sends, receives = %d, %d, want %d, %d", p.UnmatchedSends, p.UnmatchedReceives, want.unmatchedSends, want.unmatched)
		}
		checkCalls(t, tl)
		shuffled := rapid.Permutation(order).Draw(t, "order of locations")
		if diff := gocmp.Diff(tl, r.build(shuffled, 3)); diff != "" {
			t.Errorf("other order of locations, three threads (-in order +other):\n%s", diff)
		}
	})
}

func emptyIsNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// checkCalls tests what must hold of the calls of every timeline.
func checkCalls(t *rapid.T, tl *Timeline) {
	for i, l := range tl.Locations {
		c := l.Calls
		if n := c.Len(); len(c.Leave) != n || len(c.Path) != n || len(c.Skip) != n {
			t.Fatalf("location %d: columns of different lengths", i)
		}
		ends := []int32{int32(c.Len())}
		paths := []PathID{0}
		for j := range int32(c.Len()) {
			for j == ends[len(ends)-1] {
				ends, paths = ends[:len(ends)-1], paths[:len(paths)-1]
			}
			if c.Skip[j] <= j || c.Skip[j] > ends[len(ends)-1] || c.Leave[j] < c.Enter[j] || tl.Paths[c.Path[j]].Parent != paths[len(paths)-1] {
				t.Fatalf("location %d: call %d: skip %d, %d to %d, path %d inside path %d",
					i, j, c.Skip[j], c.Enter[j], c.Leave[j], c.Path[j], paths[len(paths)-1])
			}
			ends, paths = append(ends, c.Skip[j]), append(paths, c.Path[j])
		}
	}
	for i, p := range tl.Paths[1:] {
		if int(p.Parent) > i || p.Depth != tl.Paths[p.Parent].Depth+1 {
			t.Fatalf("path %d: parent %d, depth %d", i+1, p.Parent, p.Depth)
		}
	}
}

// TestLargerThanReceived: messages of which their receiver took less are noted, in one process and in two.
func TestLargerThanReceived(t *testing.T) {
	build := func() *Builder {
		b := newTwoRanks()
		for i := range unit.Duration(4) {
			in(b.l[0], 10*i, b.sendCall, func(t unit.Duration) { b.l[0].Send(t, 1, b.world, 0, 100) })
		}
		in(b.l[1], 0, b.recvCall, func(t unit.Duration) { b.l[1].Recv(t, 0, b.world, 0, 99) })
		in(b.l[1], 10, b.recvCall, func(t unit.Duration) { b.l[1].Recv(t, 0, b.world, 0, 100) })
		in(b.l[1], 20, b.recvCall, func(t unit.Duration) { b.l[1].IrecvDone(t, 0, b.world, 0, 4000, 1) })
		in(b.l[1], 30, b.recvCall, func(t unit.Duration) { b.l[1].IrecvDone(t, 0, b.world, 0, 8, 2) })
		return b.Builder
	}
	const want = "2 messages larger than what was received of them (on rank 1)"
	groups := cluster.Local(2)
	var parts [2]*Timeline
	parallel.Each(2, 2, func(p int) {
		var err error
		if parts[p], err = build().FinishPart(context.Background(), groups[p], []int{0, 1, 2}, 1); err != nil {
			t.Error(err)
		}
	})
	for i, tl := range []*Timeline{build().Finish(1), parts[0], parts[1]} {
		if tl != nil && (!slices.Contains(tl.Problems.Notes, want) || len(tl.Messages) != 4) {
			t.Errorf("run %d: %d messages, notes %q, want 4, %q", i, len(tl.Messages), tl.Problems.Notes, want)
		}
	}
}
