package schedule

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawBlocks returns a random graph with several blocks per rank.
func drawBlocks(t *rapid.T, ranks int) *Graph {
	build := NewBuilder(ranks)
	var b Block
	for rank := range ranks {
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			b.Reset()
			n := rapid.IntRange(0, 4).Draw(t, "ops")
			for range n {
				switch rapid.IntRange(0, 2).Draw(t, "kind") {
				case 0:
					b.Calc(rapid.Int64Range(0, 1<<40).Draw(t, "time"))
				case 1:
					b.Send(rapid.IntRange(0, ranks-1).Draw(t, "peer"), rapid.Int64Range(0, 99).Draw(t, "size"), rapid.Uint32Range(0, 3).Draw(t, "tag"))
				case 2:
					i := b.Recv(rapid.IntRange(-1, ranks-1).Draw(t, "peer"), 8, AnyTag)
					b.Ops[i].CPU = rapid.Uint8Range(0, 254).Draw(t, "cpu")
				}
			}
			for i := 1; i < n; i++ {
				for on := range i {
					switch rapid.IntRange(0, 5).Draw(t, "edge") {
					case 0:
						b.Require(i, on)
					case 1:
						b.RequireStart(i, on)
					}
				}
			}
			b.Link()
			build.Add(rank, &b)
		}
	}
	return build.Graph()
}

// reach tells for the operations of a rank what must come before what: element 2i is the start of
// operation i and 2i+1 its finish.
func reach(g *Graph, rank int) [][]bool {
	n := 2 * len(g.RankOps(rank))
	before := make([][]bool, n)
	for i := range before {
		before[i] = make([]bool, n)
		if i%2 == 0 {
			before[i][i+1] = true
		}
	}
	var b Block
	base, last := 0, 0
	for step := range g.Steps(rank) {
		g.Block(rank, step, &b)
		if len(b.Ops) == 0 {
			continue
		}
		for i := range b.Ops {
			for on := last; on < base; on++ {
				before[2*on+1][2*(base+i)] = true
			}
			for _, d := range dependentsOf(&b, i) {
				if d.OnStart() {
					before[2*(base+i)][2*(base+d.Index())] = true
				} else {
					before[2*(base+i)+1][2*(base+d.Index())] = true
				}
			}
		}
		last, base = base, base+len(b.Ops)
	}
	for k := range n {
		for i := range n {
			for j := range n {
				before[i][j] = before[i][j] || before[i][k] && before[k][j]
			}
		}
	}
	return before
}

func TestFlattenKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawBlocks(t, 2)
		flat, err := Flatten(g)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(flat); err != nil {
			t.Fatal(err)
		}
		for rank := range 2 {
			if flat.Steps(rank) > 1 {
				t.Fatalf("rank %d has %d steps", rank, flat.Steps(rank))
			}
			want, got := reach(g, rank), reach(flat, rank)
			if len(got) != len(want) {
				t.Fatalf("rank %d has %d operations, want %d", rank, len(got)/2, len(want)/2)
			}
			for i := range want {
				for j := range want {
					if got[i][j] != want[i][j] {
						t.Fatalf("rank %d: %d before %d is %v, want %v", rank, i, j, got[i][j], want[i][j])
					}
				}
			}
		}
	})
}

func TestFlattenKeepsNamesAndRefusesTooMany(t *testing.T) {
	g := mustReadGOAL(t, "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\n}\n")
	if flat, err := Flatten(g); err != nil || flat != g {
		t.Errorf("Flatten of a flat graph = %v, %v, want the graph itself", flat, err)
	}
	build := NewBuilder(1)
	var wide Block
	for range 1 << 15 {
		wide.Calc(1000)
	}
	build.Add(0, &wide)
	build.Add(0, &wide)
	if _, err := Flatten(build.Graph()); err == nil || !strings.Contains(err.Error(), "rank 0") {
		t.Errorf("Flatten of two wide phases = %v, want an error", err)
	}
}

// flatWritten is what a graph must be after it has been written and read.
func flatWritten(t *rapid.T, g *Graph) *Graph {
	flat, err := Flatten(g)
	if err != nil {
		t.Fatal(err)
	}
	return flat
}

func TestWriteBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawBlocks(t, 3)
		var out bytes.Buffer
		for i := range g.ops { // GOAL has whole ns only
			if g.ops[i].Kind == Calc {
				g.ops[i].Size -= g.ops[i].Size % psPerNs
			}
		}
		want := describe(flatWritten(t, g))
		for _, f := range []Format{goalFormat, binaryFormat} {
			out.Reset()
			if warnings, err := f.Write(&out, g); err != nil || len(warnings) > 0 {
				t.Fatalf("%s: %v, warnings %q", f.Name, err, warnings)
			}
			again, err := f.Read("again", out.Bytes())
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			if got := describe(again); got != want {
				t.Fatalf("by %s the graph is\n%s\nwant\n%s", f.Name, got, want)
			}
		}
	})
}
