package machine

import (
	"math"
	"strings"
	"testing"

	"slackline/model/unit"
)

// The figures of the data sheets and of NCCL's tables: times in ns, G in fs per byte.
func TestDGX(t *testing.T) {
	for _, tc := range []struct {
		name      string
		l, g      [2]int64 // node, far
		simple    [2]int64
		efficient [3]int64
	}{
		{"dgx-a100", [2]int64{470, 2700}, [2]int64{3330, 40_000}, [2]int64{3400, 9600}, [3]int64{250_000, 920_000, 1_000_000}},
		{"dgx-h100", [2]int64{600, 2700}, [2]int64{2220, 20_000}, [2]int64{3400, 14000}, [3]int64{250_000, 920_000, 1_000_000}},
	} {
		m, err := Named(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := m.Layout(64)
		if err != nil {
			t.Fatal(err)
		}
		for far, class := range []Class{Node, Far} {
			p := &m.Classes[class]
			if int64(p.Latency) != tc.l[far]*1000 || p.PerByte.At(1) != unit.PerByte(tc.g[far]) || p.Eager != NoLimit {
				t.Errorf("%s, class %s: %+v", tc.name, class, *p)
			}
			if got := l.Hop(2, far == 1); got != tc.simple[far]*1000 {
				t.Errorf("%s, class %s: a hop with Simple takes %d ps, want %d ns", tc.name, class, got, tc.simple[far])
			}
		}
		for p, want := range tc.efficient {
			if got := m.NCCL.share(p); got != want {
				t.Errorf("%s: efficiency of %s = %d, want %d", tc.name, protocolNames[p], got, want)
			}
		}
		if l.Node(7) != 0 || l.Node(8) != 1 || l.Channels() != 16 {
			t.Errorf("%s: nodes or channels are wrong", tc.name)
		}
	}
}

func TestWire(t *testing.T) {
	l, err := FromParams("m", params(1, 0, 0, 1, 0, NoLimit)).Layout(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		protocol   int
		size, want int64
	}{
		{0, 0, 0}, {0, 1, 2}, {0, 100, 200}, {1, 120, 128}, {1, 1, 2}, {1, 121, 130}, {2, 77, 77},
		{2, math.MaxInt64, math.MaxInt64}, {0, math.MaxInt64, math.MaxInt64}, {0, 1 << 62, math.MaxInt64},
	} {
		if got := l.Wire(tc.protocol, tc.size); got != tc.want {
			t.Errorf("%s: %d bytes are %d on the wire, want %d", protocolNames[tc.protocol], tc.size, got, tc.want)
		}
	}
}

func TestReadNCCLErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"nccl: {LL64: {node: 1us}}", `unknown key "LL64"`},
		{"nccl: {LL: {near: 1us}}", `unknown key "near"`},
		{"nccl: {LL: {efficiency: 1.5}}", `LL efficiency: "1.5" is not a share; give a number above 0 and up to 1`},
		{"nccl: {LL: {efficiency: 0}}", "is not a share"},
		{"nccl: {channels: 0}", "channels is \"0\"; give a whole number from 1"},
		{"nccl: {Simple: {far: -1us}}", "Simple far: "},
	} {
		if _, err := Read("m.yaml", []byte(plainMachine+tc.text+"\n")); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.text, err, tc.want)
		}
	}
}
