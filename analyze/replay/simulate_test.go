package replay

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/simulate"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// free is a machine whose network costs nothing.
func free() *machine.Machine {
	return machine.FromParams("free", machine.Params{
		Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	})
}

// cluster is a machine like others.
func cluster(eager int64) *machine.Machine {
	return machine.FromParams("cluster", machine.Params{
		Latency: 2 * unit.Microsecond, Gap: 500 * unit.Nanosecond, Eager: eager,
		Overhead: machine.One(300 * unit.Nanosecond), PerByte: machine.One(unit.PerByte(100_000)),
	})
}

func simulated(t testing.TB, p *Program, m *machine.Machine, mapping *collective.Mapping) *simulate.Result {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	result, err := simulate.Run(t.Context(), p, m, simulate.Options{Mapping: mapping})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// clockwork runs a random program on ranks that share one clock and a network that costs nothing, and
// writes down what a recorder would.
type clockwork struct {
	t     *rapid.T
	run   *testRun
	ranks []*testRank
	open  [][]openRecv // by rank
	next  uint64       // request
}

type openRecv struct {
	request uint64
	from    int32
	tag     int32
	sent    unit.Duration
}

func newClockwork(t *rapid.T, ranks int) *clockwork {
	c := &clockwork{t: t, run: newTestRun(ranks), open: make([][]openRecv, ranks)}
	for r := range ranks {
		c.ranks = append(c.ranks, c.run.rank(r))
	}
	return c
}

func (c *clockwork) rank(what string) int {
	return rapid.IntRange(0, len(c.ranks)-1).Draw(c.t, what)
}

func (c *clockwork) compute() {
	l := c.ranks[c.rank("rank")]
	ns := rapid.Int64Range(0, 1000).Draw(c.t, "ns")
	if rapid.Bool().Draw(c.t, "in f") {
		l.in("f", ns)
	} else {
		l.work(ns)
	}
}

// message sends from one rank to another, blocking or not; the receive was posted before, or is blocking.
func (c *clockwork) message() {
	a := c.rank("from")
	b := (a + rapid.IntRange(1, len(c.ranks)-1).Draw(c.t, "distance")) % len(c.ranks)
	from, to, tag := c.ranks[a], c.ranks[b], int32(len(c.open[b]))
	early := rapid.Bool().Draw(c.t, "posted early")
	c.next++
	receive := c.next
	if early {
		to.call("MPI_Irecv", 0, func(t unit.Duration) { to.Post(t, receive) })
	}
	if rapid.Bool().Draw(c.t, "blocking send") {
		from.call("MPI_Send", 0, func(t unit.Duration) { from.Send(t, int32(b), 0, tag, 8) })
	} else {
		c.next++
		request := c.next
		from.call("MPI_Isend", 0, func(t unit.Duration) { from.Isend(t, int32(b), 0, tag, 8, request) })
		if rapid.Bool().Draw(c.t, "waited for") {
			from.call("MPI_Wait", 0, func(t unit.Duration) { from.IsendDone(t, request) })
		}
	}
	if early {
		c.open[b] = append(c.open[b], openRecv{receive, int32(a), tag, from.now})
		return
	}
	wait := max(from.now-to.now, 0)
	to.call("MPI_Recv", int64(wait/unit.Nanosecond), func(t unit.Duration) { to.Recv(t, int32(a), 0, tag, 8) })
}

// wait completes some of the open receives of a rank.
func (c *clockwork) wait(b int, some bool) {
	if len(c.open[b]) == 0 {
		return
	}
	n := len(c.open[b])
	if some {
		n = rapid.IntRange(1, n).Draw(c.t, "requests")
	}
	l := c.ranks[b]
	done := c.open[b][:n]
	c.open[b] = c.open[b][n:]
	until := l.now
	for _, r := range done {
		until = max(until, r.sent)
	}
	l.call("MPI_Waitall", int64((until-l.now)/unit.Nanosecond), func(t unit.Duration) {
		for _, r := range done {
			l.IrecvDone(t, r.from, 0, r.tag, 8, r.request)
		}
	})
}

func (c *clockwork) allreduce() {
	until := unit.Duration(0)
	for _, l := range c.ranks {
		until = max(until, l.now)
	}
	for _, l := range c.ranks {
		l.call("MPI_Allreduce", int64((until-l.now)/unit.Nanosecond), func(t unit.Duration) {
			l.Collective(t, timeline.OpAllreduce, 0, -1, 8, 8, nil)
		})
	}
}

// On a network that costs nothing a program takes as long as it took on a network that cost nothing,
// whatever the model, the algorithms of its collectives and wherever its blocks are cut. If they are not, it does
// not lock up either if all messages are large.
func TestReplayTakesItsTime(t *testing.T) {
	var mappings []*collective.Mapping
	for _, name := range collective.MappingNames() {
		m, err := collective.FindMapping(name)
		if err != nil {
			t.Fatal(err)
		}
		mappings = append(mappings, m)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := newClockwork(t, rapid.IntRange(2, 5).Draw(t, "ranks"))
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0, 1:
				c.compute()
			case 2, 3, 4:
				c.message()
			case 5:
				c.wait(c.rank("waiting"), true)
			case 6:
				c.allreduce()
			}
		}
		for r := range c.ranks {
			c.wait(r, false)
			c.ranks[r].Leave(c.ranks[r].now)
		}
		tl := c.run.b.Finish(1)
		copies := rapid.IntRange(1, 3).Draw(t, "copies")
		o := Options{Threads: rapid.IntRange(1, 3).Draw(t, "threads"), CutOpen: rapid.Bool().Draw(t, "cut")}
		if o.CutOpen {
			o.blockOps = rapid.IntRange(1, 4).Draw(t, "operations of a block")
		}
		p, err := New(tl, o)
		if err == nil {
			p, err = p.WithRanks(copies * len(c.ranks))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := simulate.Run(t.Context(), p, cluster(0), simulate.Options{}); err != nil && !o.CutOpen {
			t.Fatalf("with large messages: %v", err)
		}
		for _, model := range []simulate.Model{simulate.LogGOPS, simulate.LogGPS} {
			for _, mapping := range mappings {
				result, err := simulate.Run(t.Context(), p, free(), simulate.Options{Model: model, Mapping: mapping})
				if err != nil {
					t.Fatal(err)
				}
				for r, finish := range result.Finish {
					if want := c.ranks[r%len(c.ranks)].now; finish != want {
						t.Fatalf("%s: rank %d finishes at %s, want %s\n%s", model, r, finish, want, text(p, r))
					}
				}
			}
		}
	})
}

// standing is a run in which rank 0 has a receive open from the begin to the end, while it exchanges
// messages with rank 1.
func standing(rounds int) *timeline.Timeline {
	run := newTestRun(2)
	a, b := run.rank(0), run.rank(1)
	a.call("MPI_Irecv", 10, func(t unit.Duration) { a.Post(t, 99) })
	for range rounds {
		a.call("MPI_Isend", 10, func(t unit.Duration) { a.Isend(t, 1, 0, 0, 64, 1) }).in("f", 1000)
		a.call("MPI_Recv", 10, func(t unit.Duration) { a.Recv(t, 1, 0, 0, 64) })
		a.call("MPI_Wait", 10, func(t unit.Duration) { a.IsendDone(t, 1) })
		b.call("MPI_Irecv", 10, func(t unit.Duration) { b.Post(t, 2) })
		b.call("MPI_Send", 10, func(t unit.Duration) { b.Send(t, 0, 0, 0, 64) }).in("f", 1000)
		b.call("MPI_Wait", 10, func(t unit.Duration) { b.IrecvDone(t, 0, 0, 0, 64, 2) })
	}
	b.call("MPI_Send", 10, func(t unit.Duration) { b.Send(t, 0, 0, 1, 64) })
	a.call("MPI_Wait", 10, func(t unit.Duration) { a.IrecvDone(t, 1, 0, 1, 64, 99) })
	for _, l := range []*testRank{a, b} {
		l.Leave(l.now)
	}
	return run.b.Finish(1)
}

// A rank that always has a request open is cut into blocks all the same. That changes nothing for
// small messages, and large ones do not lock up by it.
func TestAlwaysOpen(t *testing.T) {
	const rounds = 2000
	p, err := New(standing(rounds), Options{CutOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	if steps := p.Steps(0); steps < 4*rounds/blockOps {
		t.Errorf("%d blocks of %d operations", steps, len(p.programs[0].ops))
	}
	for step := range p.Steps(0) {
		r := &p.programs[0]
		if n := r.blocks[step+1].ops - r.blocks[step].ops; n > blockOps+blockOps/4 {
			t.Errorf("block %d has %d operations", step, n)
		}
	}
	if got := simulated(t, p, free(), nil); got.Makespan != rounds*unit.Microsecond {
		t.Errorf("makespan %s, want %d us", got.Makespan, rounds)
	}
	if whole, err := New(standing(rounds), Options{}); err != nil || whole.Steps(0) != 1 {
		t.Errorf("%d blocks if they are not cut, error %v", whole.Steps(0), err)
	}
	small, large := simulated(t, p, cluster(64), nil), simulated(t, p, cluster(0), nil)
	if small.Messages != 2*rounds+1 || large.Queues.Rendezvous != 2*rounds+1 {
		t.Errorf("%d messages, %d of them large, want %d", small.Messages, large.Queues.Rendezvous, 2*rounds+1)
	}
}

// ring is a run of ranks that compute, pass something on, and reduce.
func ring(ranks, rounds int) *timeline.Timeline {
	run := newTestRun(ranks)
	for r := range ranks {
		l := run.rank(r)
		next, before := int32((r+1)%ranks), int32((r+ranks-1)%ranks)
		for range rounds {
			l.call("MPI_Irecv", 10, func(t unit.Duration) { l.Post(t, 1) })
			l.call("MPI_Isend", 10, func(t unit.Duration) { l.Isend(t, next, 0, 0, 1000, 2) })
			l.in("f", 1000)
			l.call("MPI_Waitall", 10, func(t unit.Duration) {
				l.IrecvDone(t, before, 0, 0, 1000, 1)
				l.IsendDone(t, 2)
			})
			l.in("g", 500)
			l.call("MPI_Allreduce", 100, func(t unit.Duration) { l.Collective(t, timeline.OpAllreduce, 0, -1, 8, 8, nil) })
		}
		l.Leave(l.now)
	}
	return run.b.Finish(1)
}

// Copies send to themselves and reduce together.
func TestExtrapolation(t *testing.T) {
	const recorded, rounds = 16, 10
	tl := ring(recorded, rounds)
	for _, ranks := range []int{16, 48, 4096} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			p, err := New(tl, Options{Ranks: ranks})
			if err != nil {
				t.Fatal(err)
			}
			plain := simulated(t, p, free(), nil)
			if want := rounds * 1500 * unit.Nanosecond; plain.Makespan != want {
				t.Errorf("makespan %s without network, want %s", plain.Makespan, want)
			}
			mapping, err := collective.FindMapping("default")
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			for 1<<steps < ranks {
				steps++
			}
			result := simulated(t, p, cluster(machine.NoLimit), mapping)
			if least := int64(rounds * ranks * (1 + steps)); result.Messages < least {
				t.Errorf("%d messages, want at least %d: a ring and an allreduce of all ranks", result.Messages, least)
			}
			if p.Report().Ops > 7*recorded*rounds {
				t.Errorf("%d operations are in memory for a run of %d ranks", p.Report().Ops, recorded)
			}
		})
	}
}

func TestRanksThatDoNotFit(t *testing.T) {
	tl := ring(3, 1)
	for ranks, want := range map[int]string{
		2:  "a run of 3 ranks cannot become one of 2; give a multiple of 3",
		10: "a run of 3 ranks is extrapolated by copies of all of them, so that 10 ranks are not possible; the nearest are 9 and 12",
		-3: "a run of 3 ranks cannot become one of -3; give a multiple of 3",
	} {
		if _, err := New(tl, Options{Ranks: ranks}); err == nil || err.Error() != want {
			t.Errorf("%d ranks: error %v, want %q", ranks, err, want)
		}
	}
}

// Repetitions of a computation get the length of the fast ones.
func TestDenoise(t *testing.T) {
	build := func() (*testRun, *testRank, *testRank) {
		run := newTestRun(2)
		a, b := run.rank(0), run.rank(1)
		for k := range 11 {
			length := int64(1000 + k)
			if k == 5 {
				length = 90_000 // a detour
			}
			a.in("f", length).in("g", 10)
			a.call("MPI_Send", 1, func(t unit.Duration) { a.Send(t, 1, 0, 0, 8) })
			b.in("f", 7*int64(k+1))
			b.call("MPI_Recv", 1, func(t unit.Duration) { b.Recv(t, 0, 0, 0, 8) })
		}
		a.in("f", 5_000)
		return run, a, b
	}
	run, a, b := build()
	p := run.program(t, Options{Denoise: true, Quantile: DefaultQuantile, ScaleCompute: 0.5}, a, b)
	want := ""
	for range 11 {
		want += "calc 500.95ns main/f\ncalc 5ns main/g\nsend 8 to 1 tag 0 main/MPI_Send\n"
	}
	// The first f follows no send, and is no repetition of the others.
	want = "calc 500ns main/f" + want[len("calc 500.95ns main/f"):]
	// The last one is followed by no call.
	expect(t, p, 0, want+"calc 2.5us main/f")
	r := p.Report()
	if r.Denoised != 31-1 || r.BeforeDenoise.Minus(r.AfterDenoising).Duration() < 88*unit.Microsecond {
		t.Errorf("report %+v", r)
	}
}

// What a simulation injected is known, and can be left out as a whole.
func TestDenoiseSimulated(t *testing.T) {
	for _, denoise := range []bool{false, true} {
		run := newTestRun(1)
		a := run.rank(0)
		a.Enter(a.now, run.region("f"))
		a.work(10).in("[noise]", 3).work(4)
		a.Leave(a.now)
		p := run.program(t, Options{Denoise: denoise, Quantile: 0.1}, a)
		if denoise {
			expect(t, p, 0, `calc 14ns main/f`)
		} else {
			expect(t, p, 0, "calc 14ns main/f\ncalc 3ns main/f/[noise]")
		}
	}
}
