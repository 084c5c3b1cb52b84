package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const referenceDir = "../../testdata/loggops"

// mustRead reads a file of the reference data.
func mustRead(t testing.TB, path string) *Graph {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(referenceDir, path))
	if err != nil {
		t.Fatal(err)
	}
	g, err := Read(path, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(g); err != nil {
		t.Fatalf("Check(%s) = %v", path, err)
	}
	return g
}

// mustReadGOAL reads a text that must be valid.
func mustReadGOAL(t testing.TB, text string) *Graph {
	t.Helper()
	g, err := ReadGOAL("test.goal", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(g); err != nil {
		t.Fatalf("Check = %v", err)
	}
	return g
}

// describe writes everything that counts about a graph, without labels and lines. The order of the
// dependents of an operation has no meaning.
func describe(g *Graph) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d ranks, %+v\n", g.Ranks(), g.Shape())
	var b Block
	for rank := range g.Ranks() {
		for step := range g.Steps(rank) {
			if g.Block(rank, step, &b); len(b.Ops) == 0 {
				continue
			}
			fmt.Fprintf(&s, "rank %d step %d\n", rank, step)
			for i, op := range b.Ops {
				deps := slices.Clone(dependentsOf(&b, i))
				slices.Sort(deps)
				fmt.Fprintf(&s, " %+v %v\n", op, deps)
			}
		}
	}
	return s.String()
}

// describeNames writes the labels of a graph.
func describeNames(g *Graph) string {
	var s strings.Builder
	for rank := range g.Ranks() {
		for i := range g.RankOps(rank) {
			fmt.Fprintf(&s, "%d.%d %q\n", rank, i, g.Label(rank, i))
		}
	}
	return s.String()
}

// referenceFiles lists all valid schedules of the reference data.
func referenceFiles(t testing.TB) []string {
	t.Helper()
	seen := make(map[string]bool)
	var files []string
	for dir, index := range map[string]string{"vectors": "vectors.json", "vectors-classes": "index.json"} {
		data, err := os.ReadFile(filepath.Join(referenceDir, dir, index))
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct{ File string }
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if path := filepath.Join(dir, c.File); !seen[path] {
				seen[path] = true
				files = append(files, path)
			}
		}
	}
	slices.Sort(files)
	if len(files) < 90 {
		t.Fatalf("%d reference files, want at least 90", len(files))
	}
	return files
}

func TestReferenceFilesAreRead(t *testing.T) {
	for _, path := range referenceFiles(t) {
		if g := mustRead(t, path); g.Ranks() < 1 {
			t.Errorf("%s: %d ranks", path, g.Ranks())
		}
	}
}

func TestTextAndBinaryAreEqual(t *testing.T) {
	for _, name := range []string{"cpu-nic", "irequires", "reduce-root-23"} {
		text, bin := mustRead(t, "vectors/"+name+".goal"), mustRead(t, "vectors/bin/"+name+".bin")
		if got, want := describe(bin), describe(text); got != want {
			t.Errorf("%s: binary form is\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestRoundTrips(t *testing.T) {
	for _, path := range referenceFiles(t) {
		g := mustRead(t, path)
		for _, f := range Formats() {
			if f.Read == nil || f.Write == nil {
				continue
			}
			var out bytes.Buffer
			warnings, err := f.Write(&out, g)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%s to %s: %v, warnings %q", path, f.Name, err, warnings)
			}
			if !f.Sniff(out.Bytes()) {
				t.Errorf("%s: Sniff does not know what Write wrote", f.Name)
			}
			again, err := Read("again", out.Bytes())
			if err != nil {
				t.Fatalf("%s by %s: %v", path, f.Name, err)
			}
			if got, want := describe(again), describe(g); got != want {
				t.Errorf("%s by %s is\n%s\nwant\n%s", path, f.Name, got, want)
			}
			if f.Name != "bin" {
				compareLabels(t, path+" by "+f.Name, again, g)
			}
		}
	}
}

// compareLabels wants the labels of a graph back; those that were made up do not count.
func compareLabels(t *testing.T, what string, got, want *Graph) {
	t.Helper()
	for rank := range want.Ranks() {
		for i := range want.RankOps(rank) {
			if label := want.Label(rank, i); label != "" && got.Label(rank, i) != label {
				t.Errorf("%s: operation %d of rank %d is called %q, want %q", what, i, rank, got.Label(rank, i), label)
			}
		}
	}
}

func TestReadGOALText(t *testing.T) {
	g := mustReadGOAL(t, "/* one\n two */ num_ranks/**/3 // three\r\n"+
		"rank 2 { requires: calc 5 cpu/* x\n y */7\r\n"+
		"\tb :recv 4 b from -1 tag -1 nic 254 //\n"+
		"\trequires irequires later\n"+
		"\tb requires/**/requires\n"+
		"b requires requires\n"+
		" later:send 00009223372036854775807b to 2 tag 4294967294 cpu 3 nic 2\n"+
		"send 0b to 0\n"+
		"}rank 0{}\n")
	want := []Op{
		{Kind: Calc, Size: 5000, CPU: 7},
		{Kind: Recv, Size: 4, Peer: AnySource, Tag: AnyTag, NIC: 254},
		{Kind: Send, Size: 1<<63 - 1, Peer: 2, Tag: 1<<32 - 2, CPU: 3, NIC: 2},
		{Kind: Send},
	}
	if got := g.RankOps(2); !slices.Equal(got, want) {
		t.Errorf("operations = %+v, want %+v", got, want)
	}
	if len(g.RankOps(0)) != 0 || g.Steps(0) != 0 || g.Steps(1) != 0 {
		t.Errorf("ranks 0 and 1 have %d and %d steps, want none", g.Steps(0), g.Steps(1))
	}
	if got, want := g.Shape(), (Shape{CPUs: 8, NICs: 255, Wildcards: true, Graphs: true}); got != want {
		t.Errorf("shape = %+v, want %+v", got, want)
	}
	var b Block
	g.Block(2, 0, &b)
	for i, want := range [][]Dependent{{NewDependent(1, false), NewDependent(1, false)}, {}, {NewDependent(0, true)}, {}} {
		if got := dependentsOf(&b, i); !slices.Equal(got, want) {
			t.Errorf("dependents of %d = %v, want %v", i, got, want)
		}
	}
	for i, want := range []struct {
		name string
		line int
	}{{"requires", 3}, {"b", 5}, {"later", 9}, {"#3", 10}} {
		if g.Name(2, i) != want.name || g.Line(2, i) != want.line {
			t.Errorf("operation %d is %s in line %d, want %s in line %d", i, g.Name(2, i), g.Line(2, i), want.name, want.line)
		}
	}
}

// Labels must be found however they are made up.
func TestReadGOALLabels(t *testing.T) {
	for _, labels := range [][]string{
		{"a", "b", "c", "d"},
		{"l1", "l2", "l3", "l4"},
		{"l4", "l3", "l2", "l1"},
		{"x", "l0", "l00", "l01"},
		{"l999999999", "l1000000000", "l0", "l1"},
		{"l5", "l900000000", "l900000001", "l6"},
		{"s1", "r1", "s2", "r2"},
		{"s1", "r1", "t1", "u1"},
		{"l5000", "l5001", "l4999", "l1"},
		{"l536870911", "l536870912", "l536870910", "m536870911"},
		{"a1b1", "a1b2", "a2b1", "a"},
		{"l", "l_1", "l1_", "l_"},
		{"requires", "irequires", "to", "b"},
	} {
		var text strings.Builder
		text.WriteString("num_ranks 2\n")
		for rank := range 2 {
			fmt.Fprintf(&text, "rank %d {\n%s requires %s\n", rank, labels[3], labels[2]) // both not defined yet
			for i, label := range labels {
				fmt.Fprintf(&text, "%s: calc %d\n", label, i)
				if i > 0 {
					fmt.Fprintf(&text, "%s requires %s\n", label, labels[i-1])
				}
			}
			text.WriteString("}\n")
		}
		g := mustReadGOAL(t, text.String())
		for rank := range 2 {
			var b Block
			g.Block(rank, 0, &b)
			for i, label := range labels {
				if g.Label(rank, i) != label {
					t.Errorf("label %d of %q = %s", i, labels, g.Label(rank, i))
				}
				want := [][]Dependent{{1 << 1}, {2 << 1}, {3 << 1, 3 << 1}, {}}[i]
				if got := dependentsOf(&b, i); !slices.Equal(got, want) {
					t.Errorf("%q: dependents of %s = %v, want %v", labels, label, got, want)
				}
			}
		}
		var out bytes.Buffer
		if _, err := WriteGOAL(&out, g); err != nil {
			t.Fatal(err)
		}
		if again := mustReadGOAL(t, out.String()); describeNames(again) != describeNames(g) {
			t.Errorf("labels %q come back as\n%s", labels, describeNames(again))
		}
	}
}
