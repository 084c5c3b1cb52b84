package tolerance

import (
	"context"
	"errors"
	"fmt"
	"math/big"
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

// twoLevels is a machine with other latencies inside a node than between nodes.
func twoLevels(nodeL, farL unit.Duration, nodeG, farG unit.PerByte, o unit.Duration) *machine.Machine {
	p := machine.Params{Overhead: machine.One(o), Eager: machine.NoLimit}
	m := machine.FromParams("two levels", p)
	m.Classes[machine.Node].Latency, m.Classes[machine.Far].Latency = nodeL, farL
	m.Classes[machine.Node].PerByte, m.Classes[machine.Far].PerByte = machine.One(nodeG), machine.One(farG)
	return m
}

// evaluateOn is T with an assignment, by a way of its own.
func evaluateOn(t require, s *Schedule, m *machine.Machine, nodes []int32) *Evaluation {
	placed := *m
	placed.Placement = machine.Placement{Nodes: nodes}
	layout, err := placed.Layout(len(nodes))
	if err != nil {
		t.Fatalf("%v", err)
	}
	e, err := s.Evaluate(Network{Layout: layout})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return e
}

// require is what tests and rapid's tests have in common.
type require interface {
	Fatalf(format string, args ...any)
}

// Pairs of ranks talk that blocks of two tear apart: 0-2, 1-3, 4-6, 5-7.
func crossedPairs(t require) *Schedule {
	var b strings.Builder
	b.WriteString("num_ranks 8\n")
	for r := range 8 {
		fmt.Fprintf(&b, "rank %d {\n", r)
		other, last := r^2, ""
		for i := range 5 {
			fmt.Fprintf(&b, "c%d: calc %d\n", i, 100+r)
			if last != "" {
				fmt.Fprintf(&b, "c%d requires %s\n", i, last)
			}
			fmt.Fprintf(&b, "s%d: send 1000b to %d tag %d\nr%d: recv 1000b from %d tag %d\n", i, other, i, i, other, i)
			fmt.Fprintf(&b, "s%d requires c%d\nr%d requires s%d\n", i, i, i, i)
			last = fmt.Sprint("r", i)
		}
		b.WriteString("}\n")
	}
	g, err := schedule.Read("pairs", []byte(b.String()))
	if err != nil {
		t.Fatalf("%v", err)
	}
	s, err := Prepare(g, nil, 0)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

func TestPlaceJoinsPairs(t *testing.T) {
	s := crossedPairs(t)
	m := twoLevels(300*unit.Nanosecond, 3*unit.Microsecond, 10_000, 50_000, 100*unit.Nanosecond)
	steps := 0
	p, err := s.Place(context.Background(), m, 2, func(swaps int, _ unit.Duration) { steps = swaps })
	if err != nil {
		t.Fatal(err)
	}
	for r, node := range p.Nodes {
		if p.Nodes[r^2] != node {
			t.Errorf("ranks %d and %d are on nodes %d and %d", r, r^2, node, p.Nodes[r^2])
		}
	}
	if steps != len(p.Swaps) || p.Stop != StopNoGain {
		t.Errorf("%d steps, swaps %v, stopped because %s", steps, p.Swaps, p.Stop)
	}
	if again := evaluateOn(t, s, m, p.Nodes); again.T != p.T || p.T >= p.StartT {
		t.Errorf("T = %s after %s, evaluated again %s", p.T, p.StartT, again.T)
	}
}

// plainSwap is the rule for the best swap, written down as it stands in the documents.
func plainSwap(p *placer, pairs []Pair) (bestX, bestY int, best *big.Int) {
	w := func(a, b int, of func(Pair) int64) int64 {
		for _, q := range pairs {
			if q.A == min(a, b) && q.B == max(a, b) {
				return of(q)
			}
		}
		return 0
	}
	best = new(big.Int)
	bestX, bestY = -1, -1
	for x := range p.ranks {
		for y := x + 1; y < p.ranks; y++ {
			if p.nodes[x] == p.nodes[y] {
				continue
			}
			gain := new(big.Int)
			for _, part := range []struct {
				scale int64
				of    func(Pair) int64
			}{{1000 * p.dL, func(q Pair) int64 { return q.L }}, {p.dG, func(q Pair) int64 { return q.Bytes }}} {
				d := int64(0)
				for r := range p.ranks {
					switch {
					case r != x && p.nodes[r] == p.nodes[x]:
						d += w(y, r, part.of) - w(x, r, part.of)
					case r != y && p.nodes[r] == p.nodes[y]:
						d += w(x, r, part.of) - w(y, r, part.of)
					}
				}
				gain.Add(gain, new(big.Int).Mul(big.NewInt(part.scale), big.NewInt(d)))
			}
			if gain.Cmp(best) > 0 {
				bestX, bestY, best = x, y, gain
			}
		}
	}
	return bestX, bestY, best
}

func TestBestSwapIsTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks, cores := rapid.IntRange(2, 9).Draw(t, "ranks"), rapid.IntRange(1, 4).Draw(t, "cores")
		p := &placer{ranks: ranks, numNodes: (ranks-1)/cores + 1}
		p.dL = rapid.Int64Range(-5_000_000, 5_000_000).Draw(t, "dL")
		p.dG = rapid.Int64Range(-1000, 100_000).Draw(t, "dG")
		for r := range ranks {
			p.nodes = append(p.nodes, int32(r/cores))
		}
		p.nodes = rapid.Permutation(p.nodes).Draw(t, "nodes")
		var pairs []Pair
		for a := range ranks {
			for b := a; b < ranks; b++ {
				if rapid.IntRange(0, 3).Draw(t, "talk") == 0 {
					pairs = append(pairs, Pair{a, b, rapid.Int64Range(0, 5).Draw(t, "l"), rapid.Int64Range(0, 100_000).Draw(t, "bytes")})
				}
			}
		}
		// A message of a rank to itself is inside a node wherever the rank is; the rule counts it for
		// both places alike.
		wantX, wantY, want := plainSwap(p, slices.DeleteFunc(slices.Clone(pairs), func(q Pair) bool { return q.A == q.B }))
		x, y, got := p.bestSwap(pairs)
		if want.Sign() <= 0 {
			if (int128{}).less(got.int128) {
				t.Fatalf("swap %d and %d promise %v, but none does", x, y, got)
			}
			return
		}
		if x != wantX || y != wantY || got.hi != 0 || got.lo != want.Uint64() {
			t.Fatalf("swap %d and %d for %v, want %d and %d for %v", x, y, got, wantX, wantY, want)
		}
	})
}

// Whatever the program, the result is what it says it is, a rearrangement of the blocks, and not worse.
func TestPlaceIsNeverWorse(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(referenceData, "*.goal"))
	if err != nil || len(files) == 0 {
		t.Fatal("no schedules")
	}
	improved := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g, err := schedule.Read(file, text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Prepare(g, nil, 0)
		if err != nil {
			continue // unmatched
		}
		var unmatched *schedule.UnmatchedError
		if _, err := s.whole(); errors.As(err, &unmatched) {
			continue
		}
		for _, cores := range []int{1, 2, 3, 4} {
			m := twoLevels(350*unit.Nanosecond, 3*unit.Microsecond, 5_000, 18_000, 300*unit.Nanosecond)
			p, err := s.Place(context.Background(), m, cores, nil)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			blocks := make([]int32, g.Ranks())
			for r := range blocks {
				blocks[r] = int32(r / cores)
			}
			if start := evaluateOn(t, s, m, blocks); start.T != p.StartT {
				t.Errorf("%s: T of the blocks = %s, want %s", file, p.StartT, start.T)
			}
			if again := evaluateOn(t, s, m, p.Nodes); again.T != p.T || p.T > p.StartT {
				t.Errorf("%s: T = %s after %s, evaluated again %s", file, p.T, p.StartT, again.T)
			}
			if sorted := slices.Sorted(slices.Values(p.Nodes)); !slices.Equal(sorted, blocks) {
				t.Errorf("%s: the assignment %v is no rearrangement of %v", file, p.Nodes, blocks)
			}
			if p.T < p.StartT {
				improved++
			}
			if p.Best > 0 != (p.T < p.StartT) || p.Best > 0 && p.Swaps[p.Best-1].T != p.T {
				t.Errorf("%s: best after %d of %v, T = %s", file, p.Best, p.Swaps, p.T)
			}
		}
	}
	if improved < 5 {
		t.Errorf("only %d placements are better than blocks", improved)
	}
}

func TestPlaceErrors(t *testing.T) {
	s := crossedPairs(t)
	m := twoLevels(1, 2, 3, 4, 5)
	if _, err := s.Place(context.Background(), m, 0, nil); err == nil {
		t.Error("0 cores per node are taken")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Place(ctx, m, 2, nil); err != context.Canceled {
		t.Errorf("interrupted: error %v", err)
	}
}

func TestGain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64()
		dL, l, dG, bytes := n.Draw(t, "dL"), rapid.Int64Range(-1<<50, 1<<50).Draw(t, "l"), n.Draw(t, "dG"), n.Draw(t, "bytes")
		want := new(big.Int).Mul(big.NewInt(dL), big.NewInt(1000*l))
		want.Add(want, new(big.Int).Mul(big.NewInt(dG), big.NewInt(bytes)))
		g := newGain(dL, l, dG, bytes)
		got := new(big.Int).Lsh(big.NewInt(g.hi), 64)
		got.Add(got, new(big.Int).SetUint64(g.lo))
		if got.Cmp(want) != 0 || (int128{}).less(g.int128) != (want.Sign() > 0) {
			t.Fatalf("gain = %v, want %v", got, want)
		}
	})
}
