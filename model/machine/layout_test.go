package machine

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
)

// slow is the placement and class of the rule, written down plainly.
type slow struct {
	m     *Machine
	ranks int
}

func (s slow) node(rank int) int {
	perNode := max(s.m.RanksPerNode, 1)
	switch {
	case s.m.Placement.Nodes != nil:
		return int(s.m.Placement.Nodes[rank])
	case s.m.Placement.Cyclic:
		return rank % ((s.ranks + perNode - 1) / perNode)
	}
	return rank / perNode
}

func (s slow) class(a, b int) Class {
	x, y := s.node(a), s.node(b)
	switch {
	case x == y:
		return Node
	case s.m.NodesPerSwitch > 0 && x/s.m.NodesPerSwitch == y/s.m.NodesPerSwitch:
		return Switch
	}
	return Far
}

func (s slow) host(rank int) int {
	if s.m.SharedNIC {
		return s.node(rank)
	}
	return rank
}

func drawMachine(t *rapid.T, ranks int) *Machine {
	value := rapid.Int64Range(0, 3)
	m := &Machine{
		Name:           "drawn",
		RanksPerNode:   rapid.IntRange(1, 9).Draw(t, "ranks per node"),
		NodesPerSwitch: rapid.IntRange(0, 4).Draw(t, "nodes per switch"),
		SharedNIC:      rapid.Bool().Draw(t, "shared NIC"),
	}
	for c := range m.Classes {
		p := &m.Classes[c]
		p.Latency, p.Gap = unit.Duration(value.Draw(t, "L")), unit.Duration(value.Draw(t, "g"))
		p.Overhead = One(unit.Duration(value.Draw(t, "o")))
		p.PerByte = One(unit.PerByte(value.Draw(t, "G")))
		if rapid.Bool().Draw(t, "pieces") {
			p.Overhead = append(p.Overhead, Piece[unit.Duration]{5, unit.Duration(value.Draw(t, "o"))},
				Piece[unit.Duration]{1 << 40, unit.Duration(value.Draw(t, "o"))})
			p.PerByte = append(p.PerByte, Piece[unit.PerByte]{1 << 20, unit.PerByte(value.Draw(t, "G"))})
		}
		p.CPUByte = unit.PerByte(value.Draw(t, "O"))
		p.Eager = rapid.SampledFrom([]int64{NoLimit, 0, 100, 65536}).Draw(t, "S")
	}
	if rapid.Bool().Draw(t, "equal classes") {
		m.Classes[Node], m.Classes[Switch] = m.Classes[Far], m.Classes[Far]
	}
	switch rapid.IntRange(0, 2).Draw(t, "placement") {
	case 1:
		m.Placement.Cyclic = true
	case 2:
		m.Placement.Nodes = rapid.SliceOfN(rapid.OneOf(rapid.Int32Range(0, 12), rapid.Int32Range(0, math.MaxInt32-1)), ranks,
			ranks).Draw(t, "nodes")
	}
	return m
}

// All answers of a layout follow from the plain rule, pair by pair.
func TestLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 24).Draw(t, "ranks")
		m := drawMachine(t, ranks)
		l, err := m.Layout(ranks)
		if err != nil {
			t.Fatal(err)
		}
		want := slow{m, ranks}
		window, nodes, hosts := int64(math.MaxInt64), 0, map[int]int{}
		var occurs [NumClasses]bool
		for a := range ranks {
			if l.Node(a) != want.node(a) {
				t.Fatalf("Node(%d) = %d, want %d", a, l.Node(a), want.node(a))
			}
			nodes = max(nodes, want.node(a)+1)
			host := want.host(a)
			if known, ok := hosts[host]; ok && known != l.Host(a) || l.Host(a) < 0 || l.Host(a) >= l.Hosts() {
				t.Fatalf("Host(%d) = %d of %d, want %d", a, l.Host(a), l.Hosts(), known)
			}
			hosts[host] = l.Host(a)
			for b := range ranks {
				c := want.class(a, b)
				occurs[c] = true
				if l.Class(a, b) != c || l.Params(a, b) != &m.Classes[c] {
					t.Fatalf("Class(%d, %d) = %s, want %s", a, b, l.Class(a, b), c)
				}
				if (want.host(a) == want.host(b)) != (l.Host(a) == l.Host(b)) {
					t.Fatalf("hosts of ranks %d and %d are %d and %d", a, b, l.Host(a), l.Host(b))
				}
				if want.host(a) != want.host(b) {
					for _, o := range m.Classes[c].Overhead {
						window = min(window, int64(o.Value+m.Classes[c].Latency))
					}
				}
			}
		}
		if l.Nodes() != nodes || l.Hosts() != len(hosts) || l.Window() != window {
			t.Fatalf("%d nodes, %d hosts, window %d, want %d, %d, %d", l.Nodes(), l.Hosts(), l.Window(), nodes, len(hosts), window)
		}
		class, uniform := l.Uniform()
		same := true
		for c := range occurs {
			if occurs[c] != l.Occurs(Class(c)) {
				t.Fatalf("Occurs(%s) = %t, want %t", Class(c), !occurs[c], occurs[c])
			}
			same = same && (!occurs[c] || m.Classes[c].Equal(&m.Classes[class]))
		}
		if uniform != same || !occurs[class] {
			t.Fatalf("Uniform = %s, %t, want %t", class, uniform, same)
		}
	})
}

func TestLayoutByHand(t *testing.T) {
	load := func(name string, ranks int) *Layout {
		m, err := Load(filepath.Join("testdata", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := m.Layout(ranks)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	nodes := func(l *Layout) (list []int) {
		for r := range l.Ranks {
			list = append(list, l.Node(r))
		}
		return list
	}
	cyclic := load("placement-cyclic", 10)
	if got := nodes(cyclic); !slices.Equal(got, []int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}) || cyclic.Nodes() != 3 {
		t.Errorf("cyclic: nodes %v", got)
	}
	// far has o + L = 2400ns, switch 1600ns, node 500ns.
	if got := cyclic.Window(); got != 500_000 {
		t.Errorf("cyclic: window %d, want 500000", got)
	}
	list := load("placement-list", 8)
	if list.Nodes() != 10 || list.Class(0, 4) != Switch || list.Class(2, 5) != Node || list.Class(0, 7) != Far {
		t.Errorf("list: %d nodes, classes %s, %s, %s", list.Nodes(), list.Class(0, 4), list.Class(2, 5), list.Class(0, 7))
	}
	halo := load("classes-halo", 14)
	if halo.Nodes() != 4 || halo.Class(3, 4) != Switch || halo.Class(12, 13) != Node || halo.Class(0, 13) != Far {
		t.Errorf("halo: %d nodes", halo.Nodes())
	}
	shared := load("nic-inside-node", 3)
	if class, uniform := shared.Uniform(); shared.Window() != math.MaxInt64 || class != Node || !uniform || shared.Hosts() != 1 {
		t.Errorf("one node with a shared NIC: window %d, uniform %s %t, %d hosts", shared.Window(), class, uniform, shared.Hosts())
	}
	if got := load("nic-inside-node", 6).Window(); got != 1_900_000 {
		t.Errorf("two nodes with a shared NIC: window %d, want 1900000", got)
	}
	if got := load("piecewise-o", 4).Window(); got != 1_900_000 {
		t.Errorf("pieces: window %d, want 1900000 from the smallest o", got)
	}
	if class, uniform := load("piecewise-o", 4).Uniform(); class != Far || !uniform {
		t.Errorf("one class: uniform %s, %t", class, uniform)
	}
}

func TestLayoutErrors(t *testing.T) {
	m := FromParams("m", params(1, 1, 1, 1, 0, NoLimit))
	for _, ranks := range []int{0, -3, math.MaxInt32 + 1} {
		if _, err := m.Layout(ranks); err == nil || !strings.Contains(err.Error(), "from 1 to 2147483647") {
			t.Errorf("Layout(%d): error %v", ranks, err)
		}
	}
	m.Placement.Nodes = []int32{0, 1, 2}
	_, err := m.Layout(4)
	if want := `the placement of machine "m" lists 3 ranks, but there are 4`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	m.Placement.Nodes = []int32{0, -1}
	if _, err = m.Layout(2); err == nil || !strings.Contains(err.Error(), "rank 1 on node -1") {
		t.Errorf("error %v, want one about node -1", err)
	}
}

// The largest layouts need no memory by rank, and o + L that overflows does not wrap.
func TestLayoutExtremes(t *testing.T) {
	m := FromParams("m", params(1, 1, 1, 1, 0, NoLimit))
	allocs := testing.AllocsPerRun(10, func() {
		l, err := m.Layout(MaxRanks)
		if err != nil || l.Nodes() != MaxRanks || l.Node(MaxRanks-1) != MaxRanks-1 || l.Class(0, MaxRanks-1) != Far {
			t.Error("largest layout is wrong")
		}
	})
	if allocs > 1 {
		t.Errorf("%v allocations, want 1", allocs)
	}
	m.RanksPerNode = math.MaxInt
	if l, err := m.Layout(MaxRanks); err != nil || l.Nodes() != 1 || l.Node(MaxRanks-1) != 0 {
		t.Errorf("all ranks on one node: %v", err)
	}
	m.RanksPerNode = 0
	if l, err := m.Layout(2); err != nil || l.Nodes() != 2 {
		t.Errorf("ranks per node not set: %v", err)
	}
	m.Classes[Far].Latency, m.Classes[Far].Overhead = math.MaxInt64, One(unit.Duration(math.MaxInt64))
	if l, err := m.Layout(2); err != nil || l.Window() != math.MaxInt64 {
		t.Errorf("o + L that overflows: window %d, %v", l.Window(), err)
	}
}

func TestCost(t *testing.T) {
	p := Params{
		Latency: 7, Gap: 9, CPUByte: 1500, Eager: 10,
		Overhead: Pieces[unit.Duration]{{0, 1}, {5, 2}, {11, 3}},
		PerByte:  Pieces[unit.PerByte]{{0, 1000}, {8, 2500}},
	}
	for _, tc := range []struct {
		size int64
		want Cost
	}{
		{0, Cost{Overhead: 1, Latency: 7, Gap: 9}},
		{1, Cost{Overhead: 1, Latency: 7, Gap: 9}},
		{4, Cost{Overhead: 1, Latency: 7, Gap: 9, Bytes: 3, CPUBytes: 5}},   // 4.5 rounds up
		{5, Cost{Overhead: 2, Latency: 7, Gap: 9, Bytes: 4, CPUBytes: 6}},   // 4 * 1, 4 * 1.5
		{8, Cost{Overhead: 2, Latency: 7, Gap: 9, Bytes: 18, CPUBytes: 11}}, // 7 * 2.5 = 17.5, 10.5
		{10, Cost{Overhead: 2, Latency: 7, Gap: 9, Bytes: 23, CPUBytes: 14}},
		{11, Cost{Overhead: 3, Latency: 7, Gap: 9, Bytes: 25, CPUBytes: 15, Rendezvous: true}},
	} {
		if got := p.Cost(tc.size); got != tc.want {
			t.Errorf("Cost(%d) = %+v, want %+v", tc.size, got, tc.want)
		}
	}
	if !p.Cost(math.MaxInt64).Overflow {
		t.Error("a cost that does not fit is not reported")
	}
}
