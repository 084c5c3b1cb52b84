package machine

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/internal/source"
)

func topologyOf(t testing.TB, spec string) *Topology {
	t.Helper()
	top, err := ParseTopology(source.Disk, spec)
	if err != nil {
		t.Fatalf("ParseTopology(%q): %v", spec, err)
	}
	return top
}

func TestReferenceHops(t *testing.T) {
	data, err := os.ReadFile("../../testdata/tolerance/extras.json")
	if err != nil {
		t.Fatal(err)
	}
	var extras struct {
		Hops []struct {
			Topology string
			Nodes    int
			From     int
			Switches [][2]int
			FromLast [][2]int `json:"from_last"`
		}
	}
	if err := json.Unmarshal(data, &extras); err != nil {
		t.Fatal(err)
	}
	if len(extras.Hops) < 7 {
		t.Fatalf("only %d tables of hops", len(extras.Hops))
	}
	for _, tc := range extras.Hops {
		top := topologyOf(t, tc.Topology)
		if top.Nodes() != tc.Nodes || top.String() != tc.Topology {
			t.Errorf("%s: %s with %d nodes, want %d", tc.Topology, top, top.Nodes(), tc.Nodes)
			continue
		}
		check := func(from int, want [][2]int) {
			for _, w := range want {
				if got := top.Switches(from, w[0]); got != w[1] {
					t.Errorf("%s: %d switches between %d and %d, want %d", top, got, from, w[0], w[1])
				}
				if got := top.Switches(w[0], from); got != w[1] {
					t.Errorf("%s: %d switches between %d and %d, want %d", top, got, w[0], from, w[1])
				}
			}
		}
		check(tc.From, tc.Switches)
		check(tc.Nodes-1, tc.FromLast)
	}
}

func TestAverageHops(t *testing.T) {
	for _, tc := range []struct {
		spec string
		want float64
	}{{"fattree:k=16", 4.451}, {"dragonfly:g=8,a=4,p=8", 2.851}, {"dragonfly:g=8,a=4,p=8,h=2", 3.290}} {
		top := topologyOf(t, tc.spec)
		sum := 0
		for i := range 256 {
			for j := range 256 {
				sum += top.Switches(i, j)
			}
		}
		if got := float64(sum) / (256 * 255); math.Abs(got-tc.want) > 0.0005 {
			t.Errorf("%s: on average %.4f switches, want %.3f", tc.spec, got, tc.want)
		}
	}
}

// A Slim Fly has degree (3q-1)/2 and diameter 2; its ways are shortest ones.
func TestSlimFlyGraph(t *testing.T) {
	for _, q := range []int{5, 13, 17} {
		s := topologyOf(t, fmt.Sprintf("slimfly:q=%d,p=1", q)).network.(slimFly)
		for a := range s.routers() {
			var neighbors []int
			s.neighbors(a, func(r int) bool {
				neighbors = append(neighbors, r)
				return true
			})
			if len(neighbors) != (3*q-1)/2 || !slices.IsSorted(neighbors) {
				t.Fatalf("q=%d: router %d has the neighbors %v", q, a, neighbors)
			}
			for b := range s.routers() {
				if a != b && s.adjacent(min(a, b), max(a, b)) != slices.Contains(neighbors, b) {
					t.Fatalf("q=%d: are routers %d and %d neighbors?", q, a, b)
				}
				if a < b && !s.adjacent(a, b) {
					s.between(a, b) // panics if there is none
				}
			}
		}
	}
}

var routedSpecs = []string{
	"fattree:k=2", "fattree:k=4", "fattree:k=6", "dragonfly:g=1,a=3,p=2,h=1", "dragonfly:g=4,a=2,p=2,h=2", "dragonfly:g=8,a=4,p=2,h=2",
	"dragonfly:g=5,a=4,p=1,h=1", "slimfly:q=5,p=2", "torus:1", "torus:2", "torus:4x4x2", "torus:5x3,p=2", "torus:2x2x2,p=3", "torus:1x6",
}

// A way is a chain of wires from node to node, one longer than the switches on it, with as many of
// each class as counted; and all wires of a network are those that ways use, since every one joins
// neighbors.
func TestRoutes(t *testing.T) {
	for _, spec := range routedSpecs {
		t.Run(spec, func(t *testing.T) {
			top := topologyOf(t, spec)
			used := map[Wire]bool{}
			for i := range top.Nodes() {
				for j := range top.Nodes() {
					checkWay(t, top, i, j)
					for _, w := range top.Route(i, j, nil) {
						used[w] = true
					}
				}
			}
			if most := top.Wires(); int64(len(used)) > most {
				t.Errorf("%d wires are used, but there are only %d", len(used), most)
			} else if n := int64(len(used)); top.Nodes() > 1 && n != most && !strings.HasPrefix(spec, "fattree") {
				t.Errorf("%d of %d wires are used", n, most)
			}
		})
	}
}

func checkWay(t *testing.T, top *Topology, i, j int) {
	t.Helper()
	way := top.Route(i, j, nil)
	if back := top.Route(j, i, nil); !slices.Equal(way, back) {
		t.Fatalf("from %d to %d by %v, but back by %v", i, j, way, back)
	}
	counts := make([]int, len(top.WireClasses()))
	top.CountWires(i, j, counts)
	if i == j {
		if len(way) != 0 || slices.Max(counts) != 0 {
			t.Fatalf("from node %d to itself by %v", i, way)
		}
		return
	}
	if len(way) != top.Switches(i, j)+1 {
		t.Fatalf("from %d to %d by %d wires over %d switches", i, j, len(way), top.Switches(i, j))
	}
	i, j = min(i, j), max(i, j)
	at := fmt.Sprint("node ", i)
	for n, w := range way {
		class, ends := top.DescribeWire(w)
		counts[class]--
		a, b, _ := strings.Cut(ends, " - ")
		switch at {
		case a:
			at = b
		case b:
			at = a
		default:
			t.Fatalf("from %d to %d: wire %d is %s, but the way is at %s", i, j, n, ends, at)
		}
	}
	if at != fmt.Sprint("node ", j) {
		t.Fatalf("the way from %d to %d ends at %s", i, j, at)
	}
	if slices.ContainsFunc(counts, func(n int) bool { return n != 0 }) {
		t.Fatalf("from %d to %d: the counts of the classes are off by %v", i, j, counts)
	}
}

// The ways of a torus and a dragonfly are also right where nodes are too many to try all.
func TestRoutesOfLargeNetworks(t *testing.T) {
	specs := []string{"torus:12x10x8,p=4", "dragonfly:g=33,a=8,p=8,h=4", "fattree:k=32", "slimfly:q=29,p=5", "fattree:k=1024"}
	rapid.Check(t, func(rt *rapid.T) {
		top := topologyOf(t, rapid.SampledFrom(specs).Draw(rt, "spec"))
		node := rapid.IntRange(0, top.Nodes()-1)
		checkWay(t, top, node.Draw(rt, "i"), node.Draw(rt, "j"))
	})
}

func TestWithoutRoutes(t *testing.T) {
	top := topologyOf(t, "dragonfly:g=8,a=4,p=8")
	if top.Routed() || top.Wires() != 0 || len(top.Route(0, 200, nil)) != 0 {
		t.Error("a dragonfly without h claims to know its wires")
	}
	for _, j := range []int{1, 9, 200} {
		counts := make([]int, 3)
		top.CountWires(0, j, counts)
		if counts[0]+counts[1]+counts[2] != top.Switches(0, j)+1 || counts[0] != 2 {
			t.Errorf("between 0 and %d: %v wires, %d switches", j, counts, top.Switches(0, j))
		}
	}
}

func TestHopMatrix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hops, all.txt")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("# three nodes\n0 1\t3 # the first\n\n1,0, 5\r\n3 5 0")
	top := topologyOf(t, "matrix:"+path)
	if top.Nodes() != 3 || top.Switches(0, 2) != 3 || top.Switches(2, 1) != 5 || top.Routed() || top.String() != "matrix:"+path {
		t.Errorf("read %v with %d nodes", top, top.Nodes())
	}
	counts := []int{0}
	if top.CountWires(1, 2, counts); counts[0] != 6 {
		t.Errorf("%d wires, want 6", counts[0])
	}
	for _, tc := range []struct{ text, want string }{
		{"", ": the hop matrix is empty"},
		{"0 1\n1 0\n0 1\n", ":3: the hop matrix has more rows than the 2 columns"},
		{"0 1\n", ": the hop matrix has 1 rows, but 2 columns"},
		{"0 1\n1 0 2\n", ":2: row 1 of the hop matrix has 3 numbers, but the first one has 2"},
		{"0 -1\n-1 0\n", `:1: the switches between nodes 0 and 1 are "-1"`},
		{"0 70000\n", "give a whole number from 0 to 65535"},
		{"0 1\n2 0\n", ":2: there are 2 switches from node 1 to node 0, but 1 back"},
		{"1\n", ":1: there are 1 switches between node 0 and itself"},
	} {
		write(tc.text)
		if _, err := ParseTopology(source.Disk, "matrix:"+path); err == nil || !strings.Contains(err.Error(), path+tc.want) &&
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %s", tc.text, err, tc.want)
		}
	}
}

func TestTopologyErrors(t *testing.T) {
	for _, tc := range []struct{ spec, want string }{
		{"fatree:k=4", `there is no topology "fatree"; did you mean fattree?; give one of fattree:k=16, dragonfly`},
		{"", `there is no topology ""; give one of`},
		{"fattree", "fattree needs k; write fattree:k=16"},
		{"fattree:k=5", "fattree: k is 5; the switches of a fat tree have an even number of ports"},
		{"fattree:k=0", `fattree: k is "0"; give a whole number of at least 1`},
		{"fattree:k=4,k=4", "k is given twice"},
		{"fattree:n=4", `fattree has no parameter "n"; write fattree:k=16`},
		{"fattree:k=4096", "fattree: it has more than 2147483647 nodes"},
		{"fattree:k=2147483646", "more than 2147483647 nodes"},
		{"dragonfly:g=2147483647,a=2147483647,p=2147483647", "more than 2147483647 nodes"},
		{"dragonfly:g=8,a=4", "dragonfly needs p; write dragonfly:g=8,a=4,p=8[,h=2]"},
		{"dragonfly:g=8,a=4,p=8,h=1", "the 4*1 wires that leave a group (a*h) do not reach the 7 others; give h=2 or more"},
		{"slimfly:q=7,p=1", "slimfly: q is 7; a Slim Fly needs a prime that is 1 modulo 4"},
		{"slimfly:q=9,p=1", "q is 9; a Slim Fly needs a prime"},
		{"slimfly:q=1000033,p=1", "q is 1000033, more than 32768"},
		{"torus:", "torus needs dims; write torus:4x4x2[,p=2]"},
		{"torus:4x0", `torus: the extents are "4x0"`},
		{"torus:4x4,p=x", `torus: p is "x"`},
		{"torus:65536x65536", "more than 2147483647 nodes"},
		{"torus:" + strings.Repeat("1x", 40) + "1", "it has 41 dimensions, more than 32"},
		{"matrix:", "matrix needs file; write matrix:FILE"},
		{"matrix:/no/such/file", "no such file"},
	} {
		if _, err := ParseTopology(source.Disk, tc.spec); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %s", tc.spec, err, tc.want)
		}
	}
}

func TestTopologyOfMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hops"), []byte("0 2\n2 0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	read := func(topology string) (*Machine, error) {
		return Read(filepath.Join(dir, "m.yaml"), []byte("L: 1us\no: 1us\ng: 1us\nG: 1ns\n"+topology))
	}
	m, err := read("topology: {kind: matrix, file: hops, wire: 274ns}\n")
	if err != nil {
		t.Fatal(err)
	}
	top, err := m.FindTopologyFrom(source.Disk)
	wire, perSwitch := m.TopologyLatencies()
	if err != nil || top.Switches(0, 1) != 2 || wire == nil || *wire != 274_000 || perSwitch != nil {
		t.Errorf("topology %v, wire %v, switch %v, error %v", top, wire, perSwitch, err)
	}
	if m, err = read(""); err != nil {
		t.Fatal(err)
	}
	if top, err := m.FindTopologyFrom(source.Disk); top != nil || err != nil {
		t.Errorf("a machine without topology has %v, %v", top, err)
	}
	_, err = read("topology: {kind: fattree, k: 3}\n")
	if err == nil || !strings.Contains(err.Error(), "m.yaml:5:11: topology fattree: k is 3; the switches of a fat tree") {
		t.Errorf("k = 3: error %v", err)
	}
}

// TestTopologyFromSource checks that a process of a job gets the matrix of another one, without the file on its own disk.
func TestTopologyFromSource(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		filepath.Join(dir, "m.yaml"): "L: 1us\no: 1us\ng: 1us\nG: 1ns\ntopology: {kind: matrix, file: hops}\n",
		filepath.Join(dir, "hops"):   "0 2\n2 0\n",
	}
	from := func(path string, _ int64) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	m, err := FindFrom(from, filepath.Join(dir, "m.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if top, err := m.FindTopologyFrom(from); err != nil || top.Switches(0, 1) != 2 {
		t.Errorf("topology %v, error %v", top, err)
	}
}

func FuzzParseTopology(f *testing.F) {
	for _, spec := range slices.Concat(routedSpecs, []string{"dragonfly:g=8,a=4,p=8", "matrix:x", "torus:", ":", "slimfly:q=,p==,"}) {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if strings.HasPrefix(spec, "matrix:") {
			return // would read files
		}
		top, err := ParseTopology(source.Disk, spec)
		if err != nil {
			return
		}
		if h := top.Switches(0, top.Nodes()-1); h < 0 || h > 0 != (top.Nodes() > 1) {
			t.Fatalf("%d switches", h)
		}
		again, err := ParseTopology(source.Disk, top.String())
		if err != nil || again.Nodes() != top.Nodes() {
			t.Fatalf("%s is read back as %v, %v", top, again, err)
		}
	})
}

func FuzzHopMatrix(f *testing.F) {
	for _, text := range []string{"0 1\n1 0", "0", "", "0,1,#\n", "1 2 3\n4 5 6"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseHopMatrix("x", data)
		if err == nil && m.nodes() > 1 {
			m.switches(0, int(m.nodes())-1)
		}
	})
}

// Wires is the number of wires; 0 if the topology is not Routed.
func (t *Topology) Wires() int64 {
	if r := t.routed(); r != nil {
		return r.(interface{ wires() int64 }).wires()
	}
	return 0
}

func (t fatTree) wires() int64 { return 3 * t.nodes() }

func (d dragonfly) wires() int64 {
	return d.nodes() + int64(d.g)*int64(d.localPairs()) + int64(d.g)*int64(d.g-1)/2
}

func (s slimFly) wires() int64 {
	degree := (3*s.q - 1) / 2
	return s.nodes() + int64(s.routers())*int64(degree)/2
}

func (t torus) wires() int64 {
	sum := t.nodes()
	for _, extent := range t.dims {
		switch {
		case extent == 2:
			sum += t.routers / 2
		case extent > 2:
			sum += t.routers
		}
	}
	return sum
}
