package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

const toleranceData = "../../testdata/tolerance"

// plainParams returns parameters without pieces, in picoseconds and femtoseconds per byte.
func plainParams(latency, overhead, gap, perByte, eager int64) machine.Params {
	return machine.Params{
		Latency:  unit.Duration(latency),
		Gap:      unit.Duration(gap),
		Overhead: machine.Pieces[unit.Duration]{{Value: unit.Duration(overhead)}},
		PerByte:  machine.Pieces[unit.PerByte]{{Value: unit.PerByte(perByte)}},
		Eager:    eager,
	}
}

// evaluate runs the static model on a machine of one class.
func evaluate(t testing.TB, g *schedule.Graph, p machine.Params) (*Result, error) {
	t.Helper()
	m := &machine.Machine{Classes: [machine.NumClasses]machine.Params{p, p, p}}
	return Run(context.Background(), g, m, Options{Model: LogGPS})
}

func TestStaticReference(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(toleranceData, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, File string
		L          float64 `json:"L_ns"`
		Overhead   float64 `json:"o_ns"`
		PerByte    float64 `json:"G_ns"`
		Gap        float64 `json:"g_ns"`
		S, Ops     int64
		Want       struct {
			T     float64 `json:"T_ns"`
			Error string
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 22 {
		t.Fatalf("%d cases, want 22 or more", len(cases))
	}
	ps := func(ns float64) int64 { return int64(math.Round(ns * 1000)) }
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(toleranceData, c.File))
			if err != nil {
				t.Fatal(err)
			}
			g, err := schedule.Read(c.File, text)
			if err != nil {
				t.Fatal(err)
			}
			p := plainParams(ps(c.L), ps(c.Overhead), ps(c.Gap), int64(math.Round(c.PerByte*1e6)), c.S)
			r, err := evaluate(t, g, p)
			if c.Want.Error != "" {
				if err == nil || !strings.Contains(err.Error(), c.Want.Error) {
					t.Fatalf("error %v, want one with %q", err, c.Want.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if int64(r.Makespan) != ps(c.Want.T) || r.Ops != c.Ops || slices.Max(r.Finish) != r.Makespan {
				t.Errorf("T = %d ps for %d operations, want %d for %d", r.Makespan, r.Ops, ps(c.Want.T), c.Ops)
			}
		})
	}
}

func TestStaticErrors(t *testing.T) {
	far := plainParams(500_000, 40_000, 0, 18, 1024)
	gap := plainParams(500_000, 40_000, 1000, 18, 1024)
	for _, tc := range []struct {
		name, goal string
		params     machine.Params
		want       string
	}{
		{"rendezvous", `num_ranks 2
rank 0 {
a: send 2000b to 1
b: recv 2000b from 1
b requires a
}
rank 1 {
send 2000b to 0
x: recv 2000b from 0
y: calc 5
}
`, far, ""},
		{"deadlock", `num_ranks 2
rank 0 {
a: send 2000b to 1
b: recv 2000b from 1
b requires a
}
rank 1 {
x: send 2000b to 0
y: recv 2000b from 0
y requires x
}
`, far, "test.goal: cycle: rank 0 a -> rank 0 b -> rank 1 x -> rank 1 y -> rank 0 a"},
		{"receives first", `num_ranks 2
rank 0 {
a: recv 8b from 1
b: send 8b to 1
b requires a
}
rank 1 {
calc 1
recv 8b from 0
d: send 8b to 0
e: calc 2
d requires e
e irequires c
c: recv 8b from 0 tag 7
f: send 8b to 1 tag 7
}
`, far, "test.goal:14: unmatched: 2 operations left over (1 send, 1 receive), the first is rank 1 c: recv 8b from 0 tag 7"},
		{"eager cycle", `num_ranks 2
rank 0 {
a: recv 8b from 1
send 8b to 1
b: calc 1
b requires a
c: send 9b to 1 tag 1
c requires b
}
rank 1 {
x: recv 9b from 0 tag 1
y: send 8b to 0
y requires x
recv 8b from 0
}
`, far, "test.goal: cycle: rank 0 a -> rank 0 b -> rank 0 c -> rank 1 x -> rank 1 y -> rank 0 a"},
		{"gap against requires", `num_ranks 1
rank 0 {
a: send 8b to 0
b: send 8b to 0
a requires b
recv 8b from 0
recv 8b from 0
}
`, gap, "test.goal: cycle: rank 0 a -> rank 0 b -> rank 0 a"},
		{"no gap", `num_ranks 1
rank 0 {
a: send 8b to 0
b: send 8b to 0
a requires b
recv 8b from 0
recv 8b from 0
}
`, far, ""},
		{"late", `num_ranks 1
rank 0 {
a: calc 9000000000000000
b: calc 9000000000000000
b requires a
}
`, far, "rank 0: operation b: a time does not fit into 63 bits of picoseconds"},
		{"large message", `num_ranks 1
rank 0 {
a: send 9223372036854775807b to 0
recv 8b from 0
}
`, plainParams(1, 1, 0, 1_000_000, machine.NoLimit), "rank 0: a message of 9223372036854775807 bytes to rank 0: a time does not fit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, err := schedule.Read("test.goal", []byte(tc.goal))
			if err != nil {
				t.Fatal(err)
			}
			_, err = evaluate(t, g, tc.params)
			if tc.want == "" && err != nil {
				t.Errorf("error %v, want none", err)
			}
			if tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)) {
				t.Errorf("error %v\nwant  %s", err, tc.want)
			}
		})
	}
}

// A cycle through the blocks of two ranks, longer than what a message names.
func TestStaticCycleThroughBlocks(t *testing.T) {
	const ranks = 30
	build := schedule.NewBuilder(ranks)
	var b schedule.Block
	for r := range ranks { // each waits for its neighbor before it sends
		b.Reset()
		b.Recv((r+1)%ranks, 8, 0)
		build.Add(r, &b)
		b.Reset()
		build.Add(r, &b)
		b.Send((r+ranks-1)%ranks, 8, 0)
		build.Add(r, &b)
	}
	_, err := evaluate(t, build.Graph(), plainParams(1, 1, 0, 0, machine.NoLimit))
	var cycle *schedule.CycleError
	if !errors.As(err, &cycle) || len(cycle.Ops) != 2*ranks {
		t.Fatalf("error %v, want a cycle of %d operations", err, 2*ranks)
	}
	if text := err.Error(); !strings.HasPrefix(text, "cycle: rank ") || !strings.Contains(text, " -> (40 more) -> "+cycle.Ops[0]) {
		t.Errorf("message %q", text)
	}
}

// A symbolic collective is expanded on the way: one exchange of empty messages.
func TestStaticBarrier(t *testing.T) {
	build := schedule.NewBuilder(2)
	var b schedule.Block
	for rank := range 2 {
		b.Reset()
		b.Call(schedule.Call{Op: schedule.Barrier, Algorithm: "dissemination"})
		build.Add(rank, &b)
	}
	p := plainParams(500, 20, 0, 6000, machine.NoLimit)
	m := &machine.Machine{Classes: [machine.NumClasses]machine.Params{p, p, p}}
	r, err := Run(context.Background(), build.Graph(), m, Options{Model: LogGPS})
	if err != nil {
		t.Fatal(err)
	}
	if want := unit.Duration(20 + 500 + 20); r.Engine != "static" || !slices.Equal(r.Finish, []unit.Duration{want, want}) {
		t.Errorf("engine %s, finish %v, want static and %d for both", r.Engine, r.Finish, want)
	}
}

// The table of the model, node by node and edge by edge, must give the same times.
func TestStaticAgainstTable(t *testing.T) {
	cycles, runs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawStatic(t)
		m := drawClasses(t)
		layout, err := m.Layout(g.Ranks())
		if err != nil {
			t.Fatal(err)
		}
		finish, ok := finishByTable(g, layout)
		r, err := Run(context.Background(), g, m, Options{Model: LogGPS})
		if !ok {
			var cycle *schedule.CycleError
			if !errors.As(err, &cycle) {
				t.Fatalf("error %v, want a cycle", err)
			}
			cycles++
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		runs++
		if !slices.Equal(r.Finish, finish) || r.Makespan != slices.Max(finish) {
			t.Fatalf("finish = %v, want %v", r.Finish, finish)
		}
	})
	if cycles == 0 || runs == 0 {
		t.Errorf("%d runs and %d cycles: the test covers only one of them", runs, cycles)
	}
}

// drawStatic draws a graph in which everything matches, in blocks, with dependencies.
func drawStatic(t *rapid.T) *schedule.Graph {
	ranks := rapid.IntRange(1, 5).Draw(t, "ranks")
	ops := make([][]schedule.Op, ranks)
	anyRank := rapid.IntRange(0, ranks-1)
	for range rapid.IntRange(0, 12).Draw(t, "messages") {
		from, to := anyRank.Draw(t, "from"), anyRank.Draw(t, "to")
		tag := rapid.Uint32Range(0, 1).Draw(t, "tag")
		nic := rapid.Uint8Range(0, 1).Draw(t, "nic")
		size := rapid.Int64Range(0, 12).Draw(t, "size")
		send := schedule.Op{Kind: schedule.Send, Size: size, Peer: int32(to), Tag: tag, NIC: nic}
		if rapid.IntRange(0, 2).Draw(t, "buffered") == 0 {
			send.Context = schedule.Buffered
		}
		ops[from] = append(ops[from], send)
		receive := schedule.Op{Kind: schedule.Recv, Peer: int32(from), Tag: tag}
		at := rapid.IntRange(0, len(ops[to])).Draw(t, "at")
		ops[to] = slices.Insert(ops[to], at, receive)
	}
	for range rapid.IntRange(0, 6).Draw(t, "calcs") {
		r := anyRank.Draw(t, "rank")
		ops[r] = append(ops[r], schedule.Op{Kind: schedule.Calc, Size: rapid.Int64Range(0, 30).Draw(t, "cost")})
	}
	build := schedule.NewBuilder(ranks)
	var b schedule.Block
	for r, rest := range ops {
		for len(rest) > 0 {
			n := rapid.IntRange(0, len(rest)).Draw(t, "block")
			b.Reset()
			for _, op := range rest[:n] {
				b.Add(op)
			}
			for i := 1; i < n; i++ {
				switch on := rapid.IntRange(0, i-1).Draw(t, "on"); rapid.IntRange(0, 2).Draw(t, "how") {
				case 1:
					b.Require(i, on)
				case 2:
					b.RequireStart(i, on)
				}
			}
			b.Link()
			build.Add(r, &b)
			rest = rest[n:]
		}
	}
	return build.Graph()
}

// drawClasses draws a machine with three classes, some with pieces, rendezvous and gaps.
func drawClasses(t *rapid.T) *machine.Machine {
	m := &machine.Machine{
		RanksPerNode:   rapid.IntRange(1, 3).Draw(t, "ranks per node"),
		NodesPerSwitch: rapid.IntRange(0, 2).Draw(t, "nodes per switch"),
	}
	small := rapid.Int64Range(0, 20)
	for c := range m.Classes {
		eager := rapid.SampledFrom([]int64{machine.NoLimit, machine.NoLimit, 0, 6}).Draw(t, "S")
		gap := rapid.SampledFrom([]int64{0, 0, 5}).Draw(t, "g")
		p := plainParams(small.Draw(t, "L"), small.Draw(t, "o"), gap, 300*small.Draw(t, "G"), eager)
		p.Overhead = append(p.Overhead, machine.Piece[unit.Duration]{From: 4, Value: unit.Duration(small.Draw(t, "o from 4"))})
		m.Classes[c] = p
	}
	return m
}

// finishByTable computes the finish times from the edges of the model, relaxed until nothing
// changes; not ok if that never happens.
func finishByTable(g *schedule.Graph, layout *machine.Layout) (finish []unit.Duration, ok bool) {
	matching, err := schedule.Match(g)
	if err != nil {
		panic(fmt.Sprintf("the test has drawn a schedule that does not match: %v", err))
	}
	type edge struct {
		from, to int
		weight   int64
	}
	ops := g.Ops()
	start, end, nodes := func(i int) int { return 2 * i }, func(i int) int { return 2*i + 1 }, 2*len(ops)
	var edges []edge
	for rank := range g.Ranks() {
		var before []int
		lastSend := map[uint8]int{}
		at := g.FirstOp(rank)
		var b schedule.Block
		for step := range g.Steps(rank) {
			g.Block(rank, step, &b)
			for i := range b.Ops {
				for _, p := range before {
					edges = append(edges, edge{end(p), start(at + i), 0})
				}
				if b.IsPhase() {
					continue
				}
				for _, d := range b.Dependents[b.First[i]:b.First[i+1]] {
					if d.OnStart() {
						edges = append(edges, edge{start(at + i), start(at + d.Index()), 0})
					} else {
						edges = append(edges, edge{end(at + i), start(at + d.Index()), 0})
					}
				}
			}
			if len(b.Ops) > 0 {
				before = before[:0]
				for i := range b.Ops {
					before = append(before, at+i)
				}
			}
			at += len(b.Ops)
		}
		for i := g.FirstOp(rank); i < g.FirstOp(rank+1); i++ {
			switch op := &ops[i]; op.Kind {
			case schedule.Calc:
				edges = append(edges, edge{start(i), end(i), op.Size})
			case schedule.Send:
				p := layout.Params(rank, int(op.Peer))
				c := p.Cost(op.Size)
				r := int(matching.Partner[i])
				edges = append(edges, edge{start(r), end(r), c.Overhead})
				if c.Rendezvous && op.Context < 128 {
					edges = append(edges, edge{start(i), nodes, c.Overhead + c.Latency}, edge{start(r), nodes, 0},
						edge{nodes, end(i), 2*c.Overhead + c.Latency + c.Bytes}, edge{end(i), end(r), c.Latency + c.Overhead})
					nodes++
				} else {
					edges = append(edges, edge{start(i), end(i), c.Overhead}, edge{end(i), end(r), c.Latency + c.Bytes + c.Overhead})
				}
				if s, ok := lastSend[op.NIC]; ok {
					if c := layout.Params(rank, int(ops[s].Peer)).Cost(ops[s].Size); c.Gap > 0 {
						edges = append(edges, edge{start(s), start(i), c.Gap + c.Bytes})
					}
				}
				lastSend[op.NIC] = i
			}
		}
	}
	incoming := make([]int, nodes)
	for _, e := range edges {
		incoming[e.to]++
	}
	time := make([]int64, nodes)
	done := make([]bool, nodes)
	for left := nodes; left > 0; { // plain topological order
		progress := false
		for v := range nodes {
			if done[v] || incoming[v] > 0 {
				continue
			}
			done[v], progress = true, true
			left--
			for _, e := range edges {
				if e.from == v {
					incoming[e.to]--
					time[e.to] = max(time[e.to], time[v]+e.weight)
				}
			}
		}
		if !progress {
			return nil, false
		}
	}
	finish = make([]unit.Duration, g.Ranks())
	for rank := range finish {
		for i := g.FirstOp(rank); i < g.FirstOp(rank+1); i++ {
			finish[rank] = max(finish[rank], unit.Duration(time[end(i)]))
		}
	}
	return finish, true
}

func BenchmarkStatic(b *testing.B) {
	const ranks, steps = 4096, 100
	build := schedule.NewBuilder(ranks)
	var block schedule.Block
	for r := range ranks {
		for step := range steps {
			block.Reset()
			d := 1 << (step % 12)
			block.Send((r+d)%ranks, 1, 0)
			block.Recv((r+ranks-d)%ranks, 1, 0)
			build.Add(r, &block)
		}
	}
	g := build.Graph()
	p := plainParams(2_500_000, 1_500_000, 1_000_000, 6_000_000, 65535)
	for b.Loop() {
		if _, err := evaluate(b, g, p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(g.NumOps())*float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

// Two ranks send each other a large message, blocking and not. With L = 100, o = 20, bG = 400 a rendezvous of which both
// ends are ready at 1000 and 3000 takes its sender until 3000 + 100 + 40 + 400, its receiver 120 longer. A computation that
// does not wait for the send starts with it.
func TestStaticCalls(t *testing.T) {
	m := machine.FromParams("m", plainParams(100_000, 20_000, 0, 1_000_000, 10))
	g := readGoal(t, `num_ranks 2
rank 0 {
a: calc 1000
s: send 401b to 1
b: calc 500
s requires a
b requires s
}
rank 1 {
a: calc 3000
r: recv 401b from 0
r requires a
}`)
	r, err := Run(t.Context(), g, m, Options{Model: LogGPS, Calls: true})
	if err != nil {
		t.Fatal(err)
	}
	expectCalls(t, r.Calls, 0, "compute 0 1000\nMPI_Send 1000 3540\ncompute 3540 4040")
	expectCalls(t, r.Calls, 1, "compute 0 3000\nMPI_Recv 3000 3660")

	g = readGoal(t, `num_ranks 2
rank 0 {
a: calc 1000
s: send 401b to 1
b: calc 500
s requires a
b requires a
}
rank 1 {
a: calc 3000
r: recv 401b from 0
b: calc 100
r requires a
b requires a
}`)
	if r, err = Run(t.Context(), g, m, Options{Model: LogGPS, Calls: true}); err != nil {
		t.Fatal(err)
	}
	expectCalls(t, r.Calls, 0, "compute 0 1000\nMPI_Isend 1000 1000\ncompute 1000 1500\nMPI_Wait 1500 3540")
	expectCalls(t, r.Calls, 1, "compute 0 3000\nMPI_Irecv 3000 3000\ncompute 3000 3100\nMPI_Wait 3100 3660")
}

// tagMessages gives each message a tag of its own: the model pairs messages in file order, a timeline in the order of time.
func tagMessages(t *rapid.T, g *schedule.Graph) {
	matching, err := schedule.Match(g)
	if err != nil {
		t.Fatal(err)
	}
	ops := g.Ops()
	for i := range ops {
		if ops[i].Kind == schedule.Send {
			ops[i].Tag, ops[matching.Partner[i]].Tag = uint32(i), uint32(i)
		}
	}
}

// The calls of any graph fill the time of its ranks, and every message is there.
func TestStaticCallsOfRandomPrograms(t *testing.T) {
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		g, m := drawStatic(t), drawClasses(t)
		plain, err := Run(context.Background(), g, m, Options{Model: LogGPS})
		var cycle *schedule.CycleError
		if errors.As(err, &cycle) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		runs++
		tagMessages(t, g)
		r, err := Run(context.Background(), g, m, Options{Model: LogGPS, Calls: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Makespan != plain.Makespan {
			t.Errorf("makespan = %s, want %s as without calls", r.Makespan, plain.Makespan)
		}
		if err := checkCallsOf(r); err != nil {
			t.Fatal(err)
		}
		if n := int64(len(r.Calls.Messages)); n != r.Messages {
			t.Errorf("%d messages, want %d", n, r.Messages)
		}
	})
	if runs == 0 {
		t.Error("every graph had a cycle")
	}
}
