package pattern

import (
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"testing"

	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// collect returns a copy of the operations of a rank, block by block, without the empty ones.
func collect(p schedule.Program, rank int) (blocks [][]schedule.Op) {
	var b schedule.Block
	for step := range p.Steps(rank) {
		p.Block(rank, step, &b)
		if len(b.Ops) > 0 {
			blocks = append(blocks, slices.Clone(b.Ops))
		}
	}
	return blocks
}

func TestRegistry(t *testing.T) {
	known := map[string]bool{}
	for _, p := range Parameters() {
		known[p.Name] = true
	}
	seen := map[string]bool{}
	for _, info := range List() {
		if seen[info.Name] {
			t.Errorf("%s is listed twice", info.Name)
		}
		seen[info.Name] = true
		if !Has(info.Name) {
			t.Errorf("Has(%q) = false", info.Name)
		}
		if info.Info == "" || info.Details == "" || !strings.Contains(info.Example, " "+info.Name+" ") {
			t.Errorf("%s: poor description %+v", info.Name, info)
		}
		for _, p := range info.Params {
			if !known[p] {
				t.Errorf("%s: parameter %q is not described", info.Name, p)
			}
		}
		text := info.Describe()
		for _, want := range append(info.Params, info.Name, info.Example, "ranks") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the description lacks %q:\n%s", info.Name, want, text)
			}
		}
	}
	for _, op := range schedule.Operations() {
		if !seen[op.String()] || !seen["i"+op.String()] {
			t.Errorf("there is no pattern for %s or its non-blocking form", op)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    Params
		want string
	}{
		{"halo2", Params{Ranks: 4}, "did you mean halo2d?"},
		{"zzzzzzzzzzzz", Params{Ranks: 4}, "there are barrier, bcast"},
		{"bcast", Params{}, "pattern bcast: ranks: not given"},
		{"bcast", Params{Ranks: -3}, "ranks: -3 is not in 1.."},
		{"bcast", Params{Ranks: 1 << 31}, "ranks: 2147483648 is not in"},
		{"bcast", Params{Ranks: 4, Root: 4}, "root: rank 4 does not exist; give a rank in 0..3"},
		{"bcast", Params{Ranks: 4, Root: -1}, "root: rank -1 does not exist"},
		{"bcast", Params{Ranks: 4, Size: -2}, "size: -2 is negative"},
		{"bcast", Params{Ranks: 4, Iterations: -1}, "iterations: 0; give at least 1"},
		{"bcast", Params{Ranks: 4, Iterations: math.MaxInt32, Compute: 1000}, "iterations: 2147483647 of 2 steps each are too many"},
		{"bcast", Params{Ranks: 4, Compute: -5}, "compute: -5ps is negative"},
		{"bcast", Params{Ranks: 4, Compute: 500}, "compute: 500ps has a part of a nanosecond; compute must be whole nanoseconds, e.g. 1ns"},
		{"pop", Params{Ranks: 4, Compute: 1500500}, "compute must be whole nanoseconds"},
		{"bcast", Params{Ranks: 4, Compute: math.MaxInt64}, "is too long; give at most"},
		{"bcast", Params{Ranks: 4, Jitter: 1.5}, "jitter: 1.5 is not in 0..1"},
		{"bcast", Params{Ranks: 4, Jitter: math.NaN()}, "jitter: NaN is not in 0..1"},
		{"bcast", Params{Ranks: 4, Algorithm: "binomal"}, "did you mean binomial?"},
		{"skeleton", Params{Ranks: 4, Algorithm: "x"}, "algorithm: allreduce has no algorithm"},
		{"halo2d", Params{Ranks: 16, Grid: []int{3, 4}}, "grid: 3x4 does not hold 16 ranks exactly; give e.g. 4x4, or leave it out"},
		{"halo2d", Params{Ranks: 16, Grid: []int{1 << 30, 1 << 30}}, "does not hold 16 ranks"},
		{"halo2d", Params{Ranks: 16, Grid: []int{16, 0}}, "each number must be at least 1"},
		{"halo3d", Params{Ranks: 12, Grid: []int{3, 4}}, "grid: 3x4 has 2 dimensions, the pattern has 3; give e.g. 3x2x2"},
		{"sweep", Params{Ranks: 12, Corners: 3}, "corners: 3; give 1, 2, 4 or 8"},
		{"incast", Params{Ranks: 12, Senders: 12}, "senders: 12, but 12 ranks leave at most 11"},
		{"iallreduce", Params{Ranks: 12, Pieces: -2}, "pieces: -2 is not in 1.."},
		{"pop", Params{Ranks: 12, Without: []string{"colectives"}}, "did you mean collectives?; give p2p or collectives"},
		{"alltoallv", Params{Ranks: 5000}, "ranks: the table of sizes has 25000000 entries"},
		{"gatherv", Params{Ranks: 5, Size: math.MaxInt64}, "size: 9223372036854775807 is too large"},
	} {
		_, err := New(tc.name, tc.p)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("New(%q, %+v): error %v, want one with %q", tc.name, tc.p, err, tc.want)
		}
	}
}

func TestParseGrid(t *testing.T) {
	if g, err := ParseGrid("16x8x2"); err != nil || !slices.Equal(g, []int{16, 8, 2}) {
		t.Errorf("ParseGrid = %v, %v", g, err)
	}
	for _, text := range []string{"", "x", "4x", "0x3", "-1x2", "4,4", "99999999999999999999x1"} {
		if g, err := ParseGrid(text); err == nil {
			t.Errorf("ParseGrid(%q) = %v, want an error", text, g)
		}
	}
}

func TestUnused(t *testing.T) {
	var all []string
	for _, p := range parameters {
		if p.Name == "tensor" {
			break // it and those after it are of llm alone
		}
		all = append(all, p.Name)
	}
	for _, tc := range []struct {
		name string
		p    Params
		want string
	}{
		{"barrier", Params{}, "size root grid jitter seed periodic corners senders pieces tile blocks fixup without operation"},
		{"bcast", Params{Compute: 1000}, "grid seed periodic corners senders pieces tile blocks fixup without operation"},
		{"bcast", Params{Compute: 1000, Jitter: 0.5}, "grid periodic corners senders pieces tile blocks fixup without operation"},
		{"random-pairs", Params{}, "root algorithm grid jitter periodic corners senders pieces tile blocks fixup without operation"},
		{"random-bisection", Params{}, "root algorithm grid jitter periodic corners senders pieces tile blocks fixup without operation"},
		{"pipelined-ring", Params{}, "algorithm grid jitter seed periodic corners senders tile blocks fixup without operation"},
		{"gatherv", Params{}, "grid periodic corners senders pieces tile blocks fixup without operation"},
		{"gatherv", Params{Jitter: None}, "grid seed periodic corners senders pieces tile blocks fixup without operation"},
		{"ibarrier", Params{Compute: None}, "size root grid jitter seed periodic corners senders pieces tile blocks fixup without operation"},
		{"skeleton", Params{Without: []string{PointToPoint}}, "size root grid periodic corners senders pieces blocks fixup operation"},
		{"skeleton", Params{Without: []string{Collectives}}, "root algorithm periodic corners senders pieces blocks fixup operation"},
		{"scheme-imb", Params{}, "grid jitter seed periodic corners senders pieces tile blocks fixup without"},
		{"scheme-imb", Params{Operation: "MPI_Allreduce"}, "root grid jitter seed periodic corners senders pieces tile blocks fixup without"},
		{"scheme-imb", Params{Operation: "barrier"}, "size root grid jitter seed periodic corners senders pieces tile blocks fixup without"},
		{"no such pattern", Params{}, ""},
		{"llm", Params{}, "root algorithm grid seed periodic corners senders pieces tile blocks fixup operation"},
		{"llm", Params{Overlap: true, Jitter: 0.1, Without: []string{PointToPoint}},
			"root algorithm grid periodic corners senders pieces tile blocks fixup operation"},
	} {
		if got := strings.Join(Unused(tc.name, tc.p, all), " "); got != tc.want {
			t.Errorf("Unused(%q, %+v) = %q, want %q", tc.name, tc.p, got, tc.want)
		}
	}
	for _, tc := range []struct {
		p    Params
		want string
	}{
		{Params{Ranks: 8}, "without gradients overlap"}, // one tensor group
		{Params{Ranks: 8, Tensor: 2}, "gradients overlap"},
		{Params{Ranks: 8, Tensor: 2, Pipeline: 2}, ""},
		{Params{Ranks: 8, Without: []string{Collectives}}, "gradients overlap"},
		{Params{Ranks: 8, Tensor: 4, Pipeline: 1}, "without"},
	} {
		if got := strings.Join(Unused("llm", tc.p, []string{"without", "gradients", "overlap"}), " "); got != tc.want {
			t.Errorf("Unused(llm, %+v) = %q, want %q", tc.p, got, tc.want)
		}
	}
}

// A parameter that a pattern does not name must not change it, and one that it names must, for
// some value.
func TestParamsAreHonest(t *testing.T) {
	changes := map[string][]func(*Params){
		"size":       {func(p *Params) { p.Size = 4321 }},
		"root":       {func(p *Params) { p.Root = 3 }},
		"algorithm":  {func(p *Params) { p.Algorithm = "linear" }, func(p *Params) { p.Algorithm = "ring" }},
		"iterations": {func(p *Params) { p.Iterations = 3 }},
		"grid":       {func(p *Params) { p.Grid = []int{1, 12} }, func(p *Params) { p.Grid = []int{1, 1, 12} }},
		"compute":    {func(p *Params) { p.Compute = 777 * unit.Microsecond }},
		"jitter":     {func(p *Params) { p.Jitter = 0.77 }},
		"seed":       {func(p *Params) { p.Seed = 99 }},
		"periodic":   {func(p *Params) { p.Periodic = true }},
		"corners":    {func(p *Params) { p.Corners = 4 }},
		"senders":    {func(p *Params) { p.Senders = 4 }},
		"pieces":     {func(p *Params) { p.Pieces = 4 }},
		"tile":       {func(p *Params) { p.Tile = 6 }},
		"blocks":     {func(p *Params) { p.Blocks = 7 }},
		"fixup":      {func(p *Params) { p.Fixup = 0.5 }},
		"without":    {func(p *Params) { p.Without = []string{PointToPoint} }, func(p *Params) { p.Without = []string{Collectives} }},
		"operation":  {func(p *Params) { p.Operation = "allreduce" }},

		"tensor":       {func(p *Params) { p.Tensor = 2 }},
		"pipeline":     {func(p *Params) { p.Pipeline = 3 }},
		"virtual":      {func(p *Params) { p.Virtual = 2 }},
		"microbatches": {func(p *Params) { p.Microbatches = 7 }},
		"layers":       {func(p *Params) { p.Layers = 3 }},
		"gradients":    {func(p *Params) { p.Gradients = 7 }},
		"overlap":      {func(p *Params) { p.Overlap = true }},
		"straggler":    {func(p *Params) { p.Stragglers = []Straggler{{3, 0.5}} }},
	}
	base := Params{Ranks: 12, Iterations: 1, Compute: 100 * unit.Microsecond, Jitter: 0.3}
	for _, info := range List() {
		before := mustNew(t, info.Name, base)
		for _, parameter := range Parameters()[1:] {
			changed := false
			for _, change := range changes[parameter.Name] {
				p := base
				change(&p)
				after, err := New(info.Name, p)
				changed = changed || err != nil || !sameOps(before, after)
			}
			uses := slices.Contains(info.Params, parameter.Name)
			if changed != uses {
				t.Errorf("%s: parameter %s changes the program: %v; listed: %v", info.Name, parameter.Name, changed, uses)
			}
		}
	}
}

func sameOps(a, b schedule.Program) bool {
	if a.Steps(0) != b.Steps(0) {
		return false
	}
	var x, y schedule.Block
	for rank := range a.Ranks() {
		for step := range a.Steps(rank) {
			a.Block(rank, step, &x)
			b.Block(rank, step, &y)
			if !slices.Equal(x.Ops, y.Ops) || !reflect.DeepEqual(x.Calls, y.Calls) {
				return false
			}
		}
	}
	return true
}

// The shape tells exactly what occurs; origins exist and name the pattern; times are whole ns.
func TestShapeAndOrigins(t *testing.T) {
	for _, info := range List() {
		p := mustNew(t, info.Name, small(12))
		origins := p.Origins()
		if !reflect.DeepEqual(origins[0], schedule.Origin{}) {
			t.Errorf("%s: the first origin is %+v", info.Name, origins[0])
		}
		got := schedule.Shape{CPUs: 1, NICs: 1}
		var b schedule.Block
		for rank := range p.Ranks() {
			for step := range p.Steps(rank) {
				p.Block(rank, step, &b)
				got.Graphs = got.Graphs || !b.IsPhase()
				for _, op := range b.Ops {
					if op.Origin == 0 || int(op.Origin) >= len(origins) || origins[op.Origin].Path[0] != info.Name {
						t.Fatalf("%s: operation %+v has a bad origin", info.Name, op)
					}
					if (origins[op.Origin].Call == "") != (op.Kind == schedule.Calc) {
						t.Fatalf("%s: %s from %+v", info.Name, op.Kind, origins[op.Origin])
					}
					switch op.Kind {
					case schedule.Collective:
						got.Collectives = true
					case schedule.Calc:
						if op.Size <= 0 || op.Size%nanosecond != 0 {
							t.Fatalf("%s: a calculation of %d ps", info.Name, op.Size)
						}
					}
				}
			}
		}
		if p.Shape() != got {
			t.Errorf("%s: Shape = %+v, want %+v", info.Name, p.Shape(), got)
		}
	}
}

// dissemination is the form of the noise literature: in step k rank r sends to r + 2^k and
// receives from r - 2^k, one step per block.
func TestDissemination(t *testing.T) {
	for ranks := 1; ranks <= 70; ranks++ {
		x := collective.Expand(mustNew(t, "dissemination", Params{Ranks: ranks}), nil, 0)
		var b schedule.Block
		for rank := range ranks {
			at, ok := x.Next(rank, schedule.Cursor{}, &b)
			for d := 1; d < ranks; d *= 2 {
				if !ok || len(b.Ops) != 2 || !b.IsPhase() {
					t.Fatalf("%d ranks, rank %d, distance %d: %+v", ranks, rank, d, b.Ops)
				}
				for _, op := range b.Ops {
					want := (rank + d) % ranks
					if op.Kind == schedule.Recv {
						want = (rank - d + ranks) % ranks
					}
					if int(op.Peer) != want || op.Size != 1 {
						t.Errorf("%d ranks, rank %d, distance %d: %+v, want peer %d and 1 byte", ranks, rank, d, op, want)
					}
				}
				if b.Ops[0].Kind == b.Ops[1].Kind {
					t.Errorf("%d ranks, rank %d: %+v", ranks, rank, b.Ops)
				}
				at, ok = x.Next(rank, at, &b)
			}
			if ok {
				t.Errorf("%d ranks, rank %d: one step more: %+v", ranks, rank, b.Ops)
			}
		}
		if err := x.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCautions(t *testing.T) {
	for _, tc := range []struct {
		name, algorithm string
		want            int
	}{{"incast", "", 1}, {"gather", "linear", 1}, {"gatherv", "linear", 1}, {"igather", "linear", 1},
		{"gather", "binomial", 0}, {"halo2d", "", 0}, {"scatter", "linear", 0}, {"nothing", "", 0}} {
		if got := Cautions(tc.name, Params{Algorithm: tc.algorithm}); len(got) != tc.want {
			t.Errorf("Cautions(%s, %s) = %q, want %d", tc.name, tc.algorithm, got, tc.want)
		}
	}
	// A single message is no crowd.
	for _, tc := range []struct {
		name string
		p    Params
		want int
	}{{"incast", Params{Ranks: 1}, 0}, {"incast", Params{Ranks: 2}, 0}, {"incast", Params{Ranks: 3}, 1},
		{"incast", Params{Ranks: 100, Senders: 1}, 0}, {"incast", Params{Ranks: 100, Senders: 2}, 1},
		{"gather", Params{Ranks: 2, Algorithm: "linear"}, 0}, {"gather", Params{Ranks: 3, Algorithm: "linear"}, 1}} {
		if got := Cautions(tc.name, tc.p); len(got) != tc.want {
			t.Errorf("Cautions(%s, %+v) = %q, want %d", tc.name, tc.p, got, tc.want)
		}
	}
}

// Blocks are made without allocation, so that an engine can ask for millions of them.
func TestNoAllocation(t *testing.T) {
	for _, name := range []string{"skeleton", "halo3d", "sweep3d", "amg", "pop", "random-pairs", "allreduce", "skeleton-overlap", "incast"} {
		p := mustNew(t, name, Params{Ranks: 1000, Iterations: 1})
		var b schedule.Block
		walk := func() {
			for step := range min(p.Steps(0), 2000) {
				p.Block(555, step, &b)
				p.Block(0, step, &b)
			}
		}
		walk() // the block grows once
		if n := testing.AllocsPerRun(3, walk); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// The tree of clocks takes ceil(log2 P) rounds and P-1 pairs, whatever P is.
func TestClocksTreeRounds(t *testing.T) {
	for ranks := 2; ranks <= 33; ranks++ {
		p, err := New("clocks-tree", Params{Ranks: ranks})
		if err != nil {
			t.Fatal(err)
		}
		rounds, pairs := 0, 0
		var before *treePing
		for _, part := range p.(*program).body {
			ping, ok := part.(*treePing)
			if !ok || ping.back || ping == before {
				continue
			}
			before = ping
			rounds++
			for rank := range ranks {
				other, client := ping.partner(rank)
				if !client {
					continue
				}
				pairs++
				if back, also := ping.partner(other); back != rank || also {
					t.Fatalf("%d ranks: %d pings %d, whose partner is %d", ranks, rank, other, back)
				}
			}
		}
		if want := bits.Len(uint(ranks - 1)); rounds != want || pairs != ranks-1 {
			t.Errorf("%d ranks: %d rounds with %d pairs, want %d and %d", ranks, rounds, pairs, want, ranks-1)
		}
	}
}
