package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// testRun builds a timeline by hand. Times are ns.
type testRun struct {
	b       *timeline.Builder
	regions map[string]timeline.RegionID
}

func newTestRun(ranks int) *testRun {
	r := &testRun{b: timeline.NewBuilder(ranks), regions: map[string]timeline.RegionID{}}
	members := make([]int32, ranks)
	for i := range members {
		members[i] = int32(i)
	}
	r.b.Comm(timeline.Comm{Name: "world", Members: members})
	return r
}

// region returns the region of a name; what begins with MPI_ is one of MPI.
func (r *testRun) region(name string) timeline.RegionID {
	id, ok := r.regions[name]
	if !ok {
		region := timeline.Region{Name: name}
		switch {
		case strings.HasPrefix(name, "MPI_File"):
			region.Paradigm, region.Role = timeline.MPI, timeline.FileIO
		case strings.HasPrefix(name, "MPI_Comm"), name == "MPI_Init", name == "MPI_Finalize":
			region.Paradigm = timeline.MPI
		case strings.HasPrefix(name, "MPI_All"), strings.HasPrefix(name, "MPI_Bar"):
			region.Paradigm, region.Role = timeline.MPI, timeline.CollectiveCall
		case strings.HasPrefix(name, "MPI_"):
			region.Paradigm, region.Role = timeline.MPI, timeline.PointToPoint
		case strings.HasPrefix(name, "[noise]"):
			region.Paradigm = timeline.Noise
		case strings.HasPrefix(name, "[tool]"):
			region.Paradigm = timeline.Tool
		}
		id = r.b.Region(region)
		r.regions[name] = id
	}
	return id
}

// testRank is one rank of a testRun, with the time that it has come to.
type testRank struct {
	*timeline.LocationBuilder
	run *testRun
	now unit.Duration
}

// rank begins a rank with main open.
func (r *testRun) rank(rank int) *testRank {
	l := &testRank{LocationBuilder: r.b.Location(rank, 0, fmt.Sprint("rank ", rank), "host"), run: r}
	l.Enter(0, r.region("main"))
	return l
}

// work is time in the innermost open call.
func (l *testRank) work(ns int64) *testRank {
	l.now += unit.Duration(ns) * unit.Nanosecond
	return l
}

// in is time in a function called from the innermost open call.
func (l *testRank) in(name string, ns int64) *testRank {
	l.Enter(l.now, l.run.region(name))
	l.work(ns)
	l.Leave(l.now)
	return l
}

// call is an MPI call that takes some time. The records come at its end.
func (l *testRank) call(name string, ns int64, records func(t unit.Duration)) *testRank {
	l.Enter(l.now, l.run.region(name))
	l.work(ns)
	if records != nil {
		records(l.now)
	}
	l.Leave(l.now)
	return l
}

// program ends the ranks and replays the run.
func (r *testRun) program(t *testing.T, o Options, ranks ...*testRank) *Program {
	t.Helper()
	for _, l := range ranks {
		l.Leave(l.now)
	}
	p, err := New(r.b.Finish(2), o)
	if err != nil {
		t.Fatal(err)
	}
	checkEncoded(t, p)
	return p
}

// text writes down what a rank does: one line per block, the operations separated by ";". What an
// operation requires stands after it: <1 the finish, <1s the start of operation 1 of the block.
func text(p schedule.Program, rank int) string {
	var out []string
	origins, groups := p.Origins(), p.Groups()
	for step := range p.Steps(rank) {
		var b schedule.Block
		p.Block(rank, step, &b)
		requires := make([][]string, len(b.Ops))
		if !b.IsPhase() {
			for i := range b.Ops {
				for _, d := range b.Dependents[b.First[i]:b.First[i+1]] {
					word := fmt.Sprint("<", i)
					if d.OnStart() {
						word += "s"
					}
					requires[d.Index()] = append(requires[d.Index()], word)
				}
			}
		}
		var ops []string
		for i, op := range b.Ops {
			o := origins[op.Origin]
			name := strings.Join(o.Path, "/")
			if o.Call != "" {
				name += "/" + o.Call
			}
			what := ""
			switch op.Kind {
			case schedule.Calc:
				what = fmt.Sprintf("calc %s", unit.Duration(op.Size))
			case schedule.Send:
				what = fmt.Sprintf("send %d to %d tag %d", op.Size, op.Peer, op.Tag)
			case schedule.Recv:
				what = fmt.Sprintf("recv %d from %d tag %d", op.Size, op.Peer, op.Tag)
			case schedule.Collective:
				call := b.Calls[op.Size]
				what = fmt.Sprintf("%s root %d size %d", call.Op, call.Root, call.Size)
				if call.Sizes != nil {
					what = fmt.Sprintf("%s root %d sizes %v", call.Op, call.Root, call.Sizes)
				}
				if call.Tag > 0 {
					what += fmt.Sprint(" tag ", call.Tag)
				}
				if call.Group > 0 {
					g := &groups[call.Group]
					var members []int
					for i := range g.Len() {
						members = append(members, g.Rank(i))
					}
					what += fmt.Sprint(" on ", members)
				}
			}
			ops = append(ops, strings.Join(slices.Concat([]string{what, name}, requires[i]), " "))
		}
		out = append(out, strings.Join(ops, "; "))
	}
	return strings.Join(out, "\n")
}

// expect compares what a rank does with lines of text, of which the indentation does not count.
func expect(t *testing.T, p schedule.Program, rank int, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if got, want := text(p, rank), strings.Join(lines, "\n"); got != want {
		t.Errorf("rank %d:\n%s\nwant:\n%s", rank, got, want)
	}
}

// A program keeps the process grid of its run; copies of it have none together.
func TestGrid(t *testing.T) {
	r := newTestRun(2)
	r.b.SetGrid(&timeline.Grid{Dims: []int{2, 1}, Periodic: []bool{true, false}, Coords: [][]int{{1, 0}, {0, 0}}})
	tl := r.b.Finish(1)
	p, err := New(tl, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sides, periodic, at := schedule.Gridded(p).Grid()
	if !slices.Equal(sides, []int{2, 1}) || !slices.Equal(periodic, []bool{true, false}) || at(0)[0] != 1 || at(1)[0] != 0 {
		t.Errorf("grid %v, periodic %v", sides, periodic)
	}
	if p, err = New(tl, Options{Ranks: 4}); err != nil {
		t.Fatal(err)
	}
	if sides, _, _ := p.Grid(); sides != nil {
		t.Errorf("two copies have the grid %v", sides)
	}
}

func TestBlocking(t *testing.T) {
	run := newTestRun(2)
	a := run.rank(0).call("MPI_Init", 900, nil).work(10).in("f", 20).in("g", 5).in("f", 1)
	a.call("MPI_Send", 7, func(t unit.Duration) { a.Send(t, 1, 0, 3, 100) }).work(2)
	a.call("MPI_Finalize", 50, nil).work(1000)
	b := run.rank(1).work(500).call("MPI_Init", 400, nil).in("f", 4)
	b.call("MPI_Recv", 90, func(t unit.Duration) { b.Recv(t, 0, 0, 3, 100) }).in("g", 6)
	b.call("MPI_Finalize", 5, nil)
	p := run.program(t, Options{}, a, b)
	expect(t, p, 0, `
		calc 10ns main
		calc 21ns main/f
		calc 5ns main/g
		send 100 to 1 tag 3 main/MPI_Send
		calc 2ns main
		calc 0 main/MPI_Finalize`)
	expect(t, p, 1, `
		calc 4ns main/f
		recv 100 from 0 tag 3 main/MPI_Recv
		calc 6ns main/g
		calc 0 main/MPI_Finalize`)
	if s := p.Shape(); s.Graphs || s.Collectives || s.Wildcards {
		t.Errorf("shape %+v has more than phases of messages", s)
	}
	if r := p.Report(); r.Span != 100*unit.Nanosecond || r.Compute != unit.SumOf(48*unit.Nanosecond) ||
		r.Messages != 1 || r.Opaque.Sign() != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestRequests(t *testing.T) {
	run := newTestRun(2)
	ranks := make([]*testRank, 2)
	for i := range ranks {
		peer := int32(1 - i)
		l := run.rank(i).work(1)
		l.call("MPI_Irecv", 1, func(t unit.Duration) { l.Post(t, 1) })
		l.call("MPI_Isend", 1, func(t unit.Duration) { l.Isend(t, peer, 0, 7, 64, 2) })
		l.in("f", 30).in("g", 3)
		l.call("MPI_Waitall", 40, func(t unit.Duration) {
			l.IrecvDone(t, peer, 0, 7, 64, 1)
			l.IsendDone(t, 2)
		}).in("f", 2)
		ranks[i] = l
	}
	p := run.program(t, Options{}, ranks...)
	expect(t, p, 0, `
		calc 1ns main
		recv 64 from 1 tag 7 main/MPI_Irecv; send 64 to 1 tag 7 main/MPI_Isend <0s; calc 30ns main/f <1s; calc 3ns main/g <2; calc 0 main/MPI_Waitall <0 <1 <3
		calc 2ns main/f`)
	if s := p.Shape(); !s.Graphs {
		t.Errorf("shape %+v knows no graphs", s)
	}
}

// A blocking call inside of an open request is part of the block.
func TestBlockingBesideRequest(t *testing.T) {
	run := newTestRun(2)
	a := run.rank(0)
	a.call("MPI_Irecv", 1, func(t unit.Duration) { a.Post(t, 1) })
	a.call("MPI_Sendrecv", 1, func(t unit.Duration) { a.Send(t, 1, 0, 1, 8); a.Recv(t, 1, 0, 2, 16) })
	a.call("MPI_Allreduce", 1, func(t unit.Duration) { a.Collective(t, timeline.OpAllreduce, 0, -1, 24, 24, nil) })
	a.call("MPI_Wait", 1, func(t unit.Duration) { a.IrecvDone(t, 1, 0, 3, 32, 1) })
	b := run.rank(1)
	b.call("MPI_Sendrecv", 1, func(t unit.Duration) { b.Send(t, 0, 0, 2, 16); b.Recv(t, 0, 0, 1, 8) })
	b.call("MPI_Allreduce", 1, func(t unit.Duration) { b.Collective(t, timeline.OpAllreduce, 0, -1, 24, 24, nil) })
	b.call("MPI_Send", 1, func(t unit.Duration) { b.Send(t, 0, 0, 3, 32) })
	p := run.program(t, Options{}, a, b)
	expect(t, p, 0, `
		recv 32 from 1 tag 3 main/MPI_Irecv; send 8 to 1 tag 1 main/MPI_Sendrecv <0s; recv 16 from 1 tag 2 main/MPI_Sendrecv <0s; allreduce root 0 size 24 main/MPI_Allreduce <1 <2; calc 0 main/MPI_Wait <0 <3`)
	expect(t, p, 1, `
		send 16 to 0 tag 2 main/MPI_Sendrecv; recv 8 from 0 tag 1 main/MPI_Sendrecv
		allreduce root 0 size 24 main/MPI_Allreduce
		send 32 to 0 tag 3 main/MPI_Send`)
}

// Waitany completes what it completed in the run; a persistent request is posted again and again.
func TestWaitanyAndPersistent(t *testing.T) {
	run := newTestRun(2)
	a := run.rank(0)
	a.call("MPI_Startall", 1, func(t unit.Duration) { a.Post(t, 1); a.Post(t, 2) })
	a.call("MPI_Waitany", 1, func(t unit.Duration) { a.IrecvDone(t, 1, 0, 2, 2, 2) }).in("f", 5)
	a.call("MPI_Waitany", 1, func(t unit.Duration) { a.IrecvDone(t, 1, 0, 1, 1, 1) })
	a.call("MPI_Start", 1, func(t unit.Duration) { a.Post(t, 1) })
	a.call("MPI_Wait", 1, func(t unit.Duration) { a.IrecvDone(t, 1, 0, 1, 1, 1) })
	b := run.rank(1)
	for _, tag := range []int32{1, 2, 1} {
		b.call("MPI_Send", 1, func(t unit.Duration) { b.Send(t, 0, 0, tag, int64(tag)) })
	}
	p := run.program(t, Options{}, a, b)
	expect(t, p, 0, `
		recv 1 from 1 tag 1 main/MPI_Startall; recv 2 from 1 tag 2 main/MPI_Startall <0s; calc 0 main/MPI_Waitany <1; calc 5ns main/f <2; calc 0 main/MPI_Waitany <0 <3
		recv 1 from 1 tag 1 main/MPI_Start; calc 0 main/MPI_Wait <0`)
}

// The time in and between polls is waiting if they are close or the program sleeps, and computation
// otherwise; a poll that succeeds is a wait.
func TestPolls(t *testing.T) {
	run := newTestRun(2)
	a := run.rank(0)
	a.call("MPI_Irecv", 1, func(t unit.Duration) { a.Post(t, 1) }).work(100)
	a.call("MPI_Test", 5, nil).work(1000).call("MPI_Test", 5, nil).work(30_000)
	a.call("MPI_Test", 5, nil).in("usleep", 50_000).work(7).call("MPI_Testany", 5, nil).work(10)
	a.call("MPI_Test", 5, func(t unit.Duration) { a.IrecvDone(t, 1, 0, 0, 8, 1) }).work(3)
	a.call("MPI_Iprobe", 9, nil).work(4).call("MPI_Iprobe", 9, nil).in("usleep", 6)
	a.call("MPI_Recv", 9, func(t unit.Duration) { a.Recv(t, 1, 0, 0, 8) })
	b := run.rank(1)
	for range 2 {
		b.call("MPI_Send", 1, func(t unit.Duration) { b.Send(t, 0, 0, 0, 8) })
	}
	p := run.program(t, Options{}, a, b)
	expect(t, p, 0, `
		recv 8 from 1 tag 0 main/MPI_Irecv; calc 100ns main <0s; calc 30us main <1; calc 0 main/MPI_Test <0 <2
		calc 3ns main
		calc 6ns main/usleep
		recv 8 from 1 tag 0 main/MPI_Recv`)
	if r := p.Report(); r.Polls != 6 || r.Idle != unit.SumOf(51_021*unit.Nanosecond) {
		t.Errorf("%d polls with %s between them, want 6 and 51.021us", r.Polls, r.Idle)
	}
}

func TestOpaqueCalls(t *testing.T) {
	run := newTestRun(2)
	ranks := make([]*testRank, 2)
	for i := range ranks {
		l := run.rank(i).work(1).call("MPI_Comm_rank", 2, nil).work(4)
		l.call("MPI_File_write", 300, nil).in("[tool] flush", 99).work(1)
		l.call("MPI_Comm_dup", 500, func(t unit.Duration) { l.Collective(t, timeline.OpCreateHandle, 0, -1, 0, 0, nil) })
		l.call("MPI_Comm_free", 6, func(t unit.Duration) { l.Collective(t, timeline.OpDestroyHandle, 0, -1, 0, 0, nil) })
		l.call("MPI_Wait", 900, nil).call("MPI_Probe", 900, nil).work(8)
		ranks[i] = l
	}
	p := run.program(t, Options{ScaleCompute: 10}, ranks...)
	expect(t, p, 1, `
		calc 10ns main
		calc 2ns main/MPI_Comm_rank
		calc 40ns main
		calc 300ns main/MPI_File_write
		calc 10ns main
		barrier root 0 size 0 tag 2 main/MPI_Comm_dup; calc 0 main/MPI_Comm_dup <0
		calc 6ns main/MPI_Comm_free
		calc 80ns main`)
	if r := p.Report(); r.Opaque != unit.SumOf(616*unit.Nanosecond) || r.Collectives != 1 {
		t.Errorf("report %+v", r)
	}
}

// A message of a rank to itself crosses no network: its calls take as long as in the run, unless they do something else, too.
func TestMessagesToItself(t *testing.T) {
	run := newTestRun(2)
	a := run.rank(0).work(1)
	a.call("MPI_Sendrecv", 20, func(t unit.Duration) { a.Send(t, 0, 0, 1, 100000); a.Recv(t, 0, 0, 1, 100000) }).work(2)
	a.call("MPI_Irecv", 3, func(t unit.Duration) { a.Post(t, 1) })
	a.call("MPI_Send", 4, func(t unit.Duration) { a.Send(t, 0, 0, 2, 8) })
	a.call("MPI_Irecv", 5, func(t unit.Duration) { a.Post(t, 2) })
	a.call("MPI_Waitall", 600, func(t unit.Duration) { a.IrecvDone(t, 0, 0, 2, 8, 1); a.IrecvDone(t, 1, 0, 3, 16, 2) })
	b := run.rank(1).call("MPI_Send", 7, nil)
	b.call("MPI_Send", 1, func(t unit.Duration) { b.Send(t, 0, 0, 3, 16) })
	p := run.program(t, Options{}, a, b)
	expect(t, p, 0, `
		calc 1ns main
		calc 20ns main/MPI_Sendrecv
		calc 2ns main
		calc 3ns main/MPI_Irecv
		calc 4ns main/MPI_Send
		recv 16 from 1 tag 3 main/MPI_Irecv; calc 0 main/MPI_Waitall <0`)
	if r := p.Report(); r.Messages != 1 || r.ToItself != 2 || r.Opaque != unit.SumOf(27*unit.Nanosecond) {
		t.Errorf("report %+v", r)
	}
}

// Messages of communicators are told apart by their tags.
func TestTags(t *testing.T) {
	for _, tc := range []struct {
		name string
		tags [2]int32 // of the world, of another communicator
		want [2]uint32
	}{
		{"small", [2]int32{5, 5}, [2]uint32{5, 8 | 5}},
		{"large", [2]int32{1<<31 - 1, 3}, [2]uint32{0, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := newTestRun(2)
			other := run.b.Comm(timeline.Comm{Members: []int32{1, 0}})
			a, b := run.rank(0), run.rank(1)
			a.call("MPI_Send", 1, func(t unit.Duration) { a.Send(t, 1, 0, tc.tags[0], 1) })
			a.call("MPI_Send", 1, func(t unit.Duration) { a.Send(t, 0, other, tc.tags[1], 2) })
			b.call("MPI_Recv", 1, func(t unit.Duration) { b.Recv(t, 1, other, tc.tags[1], 2) })
			b.call("MPI_Recv", 1, func(t unit.Duration) { b.Recv(t, 0, 0, tc.tags[0], 1) })
			p := run.program(t, Options{}, a, b)
			expect(t, p, 1, fmt.Sprintf(`
				recv 2 from 0 tag %d main/MPI_Recv
				recv 1 from 0 tag %d main/MPI_Recv`, tc.want[1], tc.want[0]))
		})
	}
}

// What has no counterpart is left out, at both ends, and counted.
func TestLeftOut(t *testing.T) {
	run := newTestRun(2)
	a, b := run.rank(0), run.rank(1)
	a.call("MPI_Send", 5, func(t unit.Duration) { a.Send(t, 1, 0, 0, 8) }) // never received
	worker := run.b.Location(0, 1, "worker", "host")
	worker.Enter(0, run.region("MPI_Send"))
	worker.Send(1, 1, 0, 1, 8)
	worker.Leave(2)
	a.Send(a.now, 1, 0, 2, 8) // in main
	a.work(3)
	b.call("MPI_Recv", 50, func(t unit.Duration) { b.Recv(t, 0, 0, 1, 8) })
	b.call("MPI_Recv", 50, func(t unit.Duration) { b.Recv(t, 0, 0, 2, 8) })
	b.call("MPI_Recv", 50, func(t unit.Duration) { b.Recv(t, 0, 0, 3, 8) }) // never sent
	b.call("MPI_Barrier", 50, func(t unit.Duration) { b.Collective(t, timeline.OpBarrier, 0, -1, 0, 0, nil) })
	b.call("MPI_Neighbor_alltoall", 50, nil)
	b.work(4)
	p := run.program(t, Options{}, a, b)
	expect(t, p, 0, `calc 3ns main`)
	expect(t, p, 1, `calc 4ns main`)
	r := p.Report()
	if r.UnmatchedSends != 1 || r.UnmatchedReceives != 1 || r.OtherThreads != 1 || r.OutsideMPI != 1 || r.IncompleteCollectives != 1 ||
		r.Neighborhoods != 1 {
		t.Errorf("report %+v", r)
	}
	if w := r.Warnings(); len(w) != 6 {
		t.Errorf("%d warnings, want 6: %q", len(w), w)
	}
}

// A send that nothing waits for is open until its message was received in the run.
func TestSendNobodyWaitsFor(t *testing.T) {
	run := newTestRun(2)
	a, b := run.rank(0), run.rank(1)
	a.call("MPI_Isend", 1, func(t unit.Duration) { a.Isend(t, 1, 0, 0, 8, 1) }).work(5)
	a.call("MPI_Send", 1, func(t unit.Duration) { a.Send(t, 1, 0, 0, 4) }).work(500)
	a.call("MPI_Send", 1, func(t unit.Duration) { a.Send(t, 1, 0, 0, 2) })
	b.work(100)
	for _, size := range []int64{8, 4, 2} {
		b.call("MPI_Recv", 1, func(t unit.Duration) { b.Recv(t, 0, 0, 0, size) })
	}
	p := run.program(t, Options{}, a, b)
	expect(t, p, 0, `
		send 8 to 1 tag 0 main/MPI_Isend; calc 5ns main <0s; send 4 to 1 tag 0 main/MPI_Send <1; calc 500ns main <2
		send 2 to 1 tag 0 main/MPI_Send`)
}

func TestWithout(t *testing.T) {
	build := func() (*testRun, []*testRank) {
		run := newTestRun(2)
		ranks := make([]*testRank, 2)
		for i := range ranks {
			l := run.rank(i).work(1)
			l.call("MPI_Sendrecv", 2, func(t unit.Duration) { l.Send(t, int32(1-i), 0, 0, 8); l.Recv(t, int32(1-i), 0, 0, 8) })
			l.work(3).call("MPI_Barrier", 4, func(t unit.Duration) { l.Collective(t, timeline.OpBarrier, 0, -1, 0, 0, nil) })
			ranks[i] = l.work(5)
		}
		return run, ranks
	}
	run, ranks := build()
	expect(t, run.program(t, Options{WithoutMessages: true}, ranks...), 0, `
		calc 1ns main
		calc 3ns main
		barrier root 0 size 0 main/MPI_Barrier
		calc 5ns main`)
	run, ranks = build()
	expect(t, run.program(t, Options{WithoutCollectives: true}, ranks...), 0, `
		calc 1ns main
		send 8 to 1 tag 0 main/MPI_Sendrecv; recv 8 from 1 tag 0 main/MPI_Sendrecv
		calc 3ns main
		calc 5ns main`)
}
