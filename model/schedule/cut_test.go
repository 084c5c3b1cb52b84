package schedule

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Pack undoes Flatten: phases come back as they were.
func TestPackUndoesFlatten(t *testing.T) {
	build := NewBuilder(2)
	var b Block
	for rank := range 2 {
		for step := range 5 {
			b.Reset()
			if step%2 == 0 {
				b.Calc(int64(1000 * (step + 1)))
			} else {
				for i := range 3 {
					b.Send(1-rank, int64(i), 7)
					b.Recv(1-rank, int64(i), 7)
				}
			}
			build.Add(rank, &b)
		}
	}
	g := build.Graph()
	flat, err := Flatten(g)
	if err != nil {
		t.Fatal(err)
	}
	if flat.Steps(0) != 1 || !flat.Shape().Graphs {
		t.Fatalf("Flatten left %d blocks, graphs %t", flat.Steps(0), flat.Shape().Graphs)
	}
	split := Materialize(Pack(flat))
	if split.Shape().Graphs {
		t.Errorf("Pack left dependencies: %d", split.NumDependencies())
	}
	for rank := range 2 {
		if split.Steps(rank) != 5 {
			t.Fatalf("rank %d has %d blocks, want 5", rank, split.Steps(rank))
		}
		for step := range 5 {
			var want, got Block
			g.Block(rank, step, &want)
			split.Block(rank, step, &got)
			if fmt.Sprint(want.Ops) != fmt.Sprint(got.Ops) {
				t.Errorf("rank %d, block %d: %v, want %v", rank, step, got.Ops, want.Ops)
			}
		}
	}
}

func TestPackCuts(t *testing.T) {
	for _, tc := range []struct {
		name, lines string
		want        string // sizes of the blocks
	}{
		{"chain", "a: calc 1\nb: calc 2\nc: calc 3\nb requires a\nc requires b", "1 1 1"},
		{"independent", "a: calc 1\nb: calc 2", "2"},
		{"early receive", "a: calc 1\nr: recv 1b from 0\ns: send 1b to 0\ns requires a\nc: calc 2\nc requires r\nc requires s", "3 1"},
		{"not covered", "a: calc 1\nb: calc 1\nc: calc 1\nc requires b", "3"},
		{"start only", "a: calc 1\nb: calc 1\nb irequires a", "2"},
		{"start only before a cut", "a: calc 1\nb: calc 1\nb irequires a\nc: calc 1\nc requires a\nc requires b", "2 1"},
		{"start only does not cover", "a: calc 1\nb: calc 1\nb irequires a\nc: calc 1\nc requires b", "3"},
		{"backward", "a: calc 1\nb: calc 1\na requires b\nc: calc 1\nc requires a\nc requires b", "2 1"},
		{"twice", "a: calc 1\nb: calc 2\nb requires a\nb requires a\nc: calc 3\nc requires b", "1 1 1"},
		{"one of two roots", "a: calc 1\nb: calc 2\nc: calc 3\nb requires a\nd: calc 1\nd requires b\nd requires c", "3 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, err := ReadGOAL(tc.name, []byte("num_ranks 1\nrank 0 {\n"+tc.lines+"\n}\n"))
			if err != nil {
				t.Fatal(err)
			}
			s := Materialize(Pack(g))
			var sizes []string
			for step := range s.Steps(0) {
				var b Block
				s.Block(0, step, &b)
				sizes = append(sizes, fmt.Sprint(len(b.Ops)))
			}
			if got := strings.Join(sizes, " "); got != tc.want {
				t.Errorf("blocks of %s operations, want %s", got, tc.want)
			}
		})
	}
}

// orderOf returns what must have finished (2) or started (1) before each operation of a rank
// begins, as text: the meaning of a graph.
func orderOf(g *Graph, rank int) string {
	n := len(g.RankOps(rank))
	before := make([][]byte, n)
	for i := range before {
		before[i] = make([]byte, n)
	}
	at := 0
	for step := range g.Steps(rank) {
		var b Block
		g.Block(rank, step, &b)
		for i := range b.Ops {
			for j := range at {
				before[at+i][j] = 2
			}
			if len(b.First) == 0 {
				continue
			}
			for _, d := range b.Dependents[b.First[i]:b.First[i+1]] {
				k := byte(2)
				if d.OnStart() {
					k = 1
				}
				before[at+d.Index()][at+i] = max(before[at+d.Index()][at+i], k)
			}
		}
		at += len(b.Ops)
	}
	// b after the finish of a, c after the start of b: c after the finish of a.
	for range n {
		for i := range n {
			for j := range n {
				for k := range n {
					if before[i][j] > 0 && before[j][k] > before[i][k] {
						before[i][k] = before[j][k]
					}
				}
			}
		}
	}
	return fmt.Sprint(before)
}

// Whatever Pack cuts, operations wait for the same as before.
func TestPackKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "operations")
		var text strings.Builder
		text.WriteString("num_ranks 1\nrank 0 {\n")
		for i := range n {
			fmt.Fprintf(&text, "l%d: calc %d\n", i, i)
		}
		for i := range n {
			for j := range i {
				switch rapid.IntRange(0, 3).Draw(t, "dependency") {
				case 0:
					fmt.Fprintf(&text, "l%d irequires l%d\n", i, j)
				case 1, 2:
					fmt.Fprintf(&text, "l%d requires l%d\n", i, j)
				}
			}
		}
		text.WriteString("}\n")
		g, err := ReadGOAL("random", []byte(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		s := Materialize(Pack(g))
		if got, want := orderOf(s, 0), orderOf(g, 0); got != want {
			t.Fatalf("after Pack into %d blocks operations wait for\n%s, want\n%s\n%s", s.Steps(0), got, want, text.String())
		}
		if err := Check(s); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPackHalo(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "loggops", "vectors", "halo.goal"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := ReadGOAL("halo.goal", data)
	if err != nil {
		t.Fatal(err)
	}
	if s := Materialize(Pack(g)); s.Shape().Graphs || s.Steps(0) != 7 {
		t.Errorf("halo.goal splits into %d blocks (graphs %t), want 7 phases", s.Steps(0), s.Shape().Graphs)
	}
}
