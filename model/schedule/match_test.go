package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rankOps is what the tests below give for a rank: the line of its block in the file and its
// operations, one block without dependencies.
type rankOps struct {
	line int
	ops  []Op
}

// graphOf builds a graph, with line numbers if any rank gives one.
func graphOf(ranks ...rankOps) *Graph {
	build := NewBuilder(len(ranks))
	var lines []uint32
	known := false
	for r, in := range ranks {
		var b Block
		b.Reset()
		for i, op := range in.ops {
			b.Add(op)
			lines = append(lines, uint32(in.line+i))
		}
		known = known || in.line > 0
		build.Add(r, &b)
	}
	g := build.Graph()
	if known {
		g.Names = &Names{File: "test.goal", line: lines}
	}
	return g
}

func send(peer int32, tag uint32) Op { return Op{Kind: Send, Size: 8, Peer: peer, Tag: tag} }
func recv(peer int32, tag uint32) Op { return Op{Kind: Recv, Size: 8, Peer: peer, Tag: tag} }

func inCollective(op Op) Op {
	op.Context = CollectiveContext
	return op
}

func TestMatch(t *testing.T) {
	calc := Op{Kind: Calc, Size: 5}
	for _, tc := range []struct {
		name  string
		ranks []rankOps
		want  string // pairs send>receive by position over all ranks, or the error
	}{
		{"nothing", []rankOps{{}, {ops: []Op{calc}}}, ""},
		{"kth with kth", []rankOps{
			{ops: []Op{send(1, 7), send(1, 8), send(1, 7)}},
			{ops: []Op{recv(0, 7), calc, recv(0, 7), recv(0, 8)}},
		}, "0>3 1>6 2>5"},
		{"to itself", []rankOps{{ops: []Op{recv(0, 1), send(0, 1)}}}, "1>0"},
		{"explicit before wildcards", []rankOps{
			{ops: []Op{send(1, 7), send(1, 8)}},
			{ops: []Op{recv(AnySource, AnyTag), recv(0, 7)}},
		}, "0>3 1>2"},
		{"wildcards of all kinds", []rankOps{
			{ops: []Op{send(2, 1), send(2, 2)}},
			{ops: []Op{send(2, 1), send(2, 2)}},
			{ops: []Op{recv(1, AnyTag), recv(AnySource, 2), recv(AnySource, AnyTag), recv(AnySource, AnyTag)}},
		}, "0>6 1>5 2>4 3>7"},
		{"order of ranks", []rankOps{
			{ops: []Op{send(2, 1)}}, {ops: []Op{send(2, 1)}},
			{ops: []Op{recv(AnySource, 1), recv(AnySource, 1)}},
		}, "0>2 1>3"},
		{"order of lines", []rankOps{
			{30, []Op{send(2, 1)}}, {20, []Op{send(2, 1)}},
			{10, []Op{recv(AnySource, 1), recv(AnySource, 1)}},
		}, "0>3 1>2"},
		{"contexts", []rankOps{
			{ops: []Op{inCollective(send(1, 1)), send(1, 1)}},
			{ops: []Op{recv(0, AnyTag), inCollective(recv(AnySource, AnyTag))}},
		}, "0>3 1>2"},
		{"too many receives", []rankOps{
			{ops: []Op{send(1, 1)}}, {ops: []Op{recv(0, 1), recv(0, 2), recv(0, AnyTag)}},
		}, "unmatched: 2 operations left over (0 sends, 2 receives), the first is rank 1 #1: recv 8b from 0 tag 2"},
		{"first in the file", []rankOps{
			{30, []Op{send(1, 1)}}, {20, []Op{calc, recv(0, 2)}},
		}, "test.goal:21: unmatched: 2 operations left over (1 send, 1 receive), the first is rank 1 #1: recv 8b from 0 tag 2"},
		{"no such rank", []rankOps{{ops: []Op{send(5, 1)}}},
			"unmatched: 1 operation left over (1 send, 0 receives), the first is rank 0 #0: send 8b to 5 tag 1"},
		{"wildcard left", []rankOps{{ops: []Op{recv(AnySource, AnyTag)}}},
			"unmatched: 1 operation left over (0 sends, 1 receive), the first is rank 0 #0: recv 8b from -1 tag -1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := graphOf(tc.ranks...)
			m, err := Match(g)
			got := ""
			if err != nil {
				var e *UnmatchedError
				if !errors.As(err, &e) {
					t.Fatalf("error %v is a %T, want *UnmatchedError", err, err)
				}
				got = err.Error()
			} else {
				got = describeMatching(g, m)
			}
			if got != tc.want {
				t.Errorf("Match gives %q, want %q", got, tc.want)
			}
		})
	}
}

// describeMatching lists the pairs of a matching by send and checks that both ends agree.
func describeMatching(g *Graph, m *Matching) string {
	var pairs []string
	for i, op := range g.Ops() {
		p := m.Partner[i]
		if (op.Kind <= Recv) == (p == NoPartner) || p != NoPartner && m.Partner[p] != uint32(i) {
			return fmt.Sprintf("operation %d and partner %d disagree", i, p)
		}
		if op.Kind == Send {
			pairs = append(pairs, fmt.Sprintf("%d>%d", i, p))
		}
	}
	if len(pairs) != m.Messages {
		return fmt.Sprintf("%d pairs, but %d messages", len(pairs), m.Messages)
	}
	return strings.Join(pairs, " ")
}

// The rule word by word, in quadratic time, must give the same pairs.
func TestMatchAgainstRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "ranks")
		lines := rapid.Permutation([]int{100, 200, 300, 400}).Draw(t, "lines")
		ranks := make([]rankOps, n)
		count := rapid.IntRange(0, 40).Draw(t, "messages")
		for range count {
			from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			tag := rapid.Uint32Range(0, 2).Draw(t, "tag")
			context := rapid.Uint8Range(0, 1).Draw(t, "context")
			s, r := send(int32(to), tag), recv(int32(from), tag)
			s.Context, r.Context = context, context
			if rapid.IntRange(0, 3).Draw(t, "any source") == 0 {
				r.Peer = AnySource
			}
			if rapid.IntRange(0, 3).Draw(t, "any tag") == 0 {
				r.Tag = AnyTag
			}
			ranks[from].ops = append(ranks[from].ops, s)
			at := rapid.IntRange(0, len(ranks[to].ops)).Draw(t, "at")
			ranks[to].ops = slices.Insert(ranks[to].ops, at, r)
		}
		for r := range ranks {
			ranks[r].line = lines[r]
		}
		g := graphOf(ranks...)
		want, left := matchByRule(g)
		m, err := Match(g)
		if err != nil {
			var e *UnmatchedError
			if !errors.As(err, &e) || e.Sends+e.Receives != left {
				t.Fatalf("Match: %v, want %d left over", err, left)
			}
			return
		}
		if left != 0 || !slices.Equal(m.Partner, want) {
			t.Fatalf("Match = %v, want %v with %d left over", m.Partner, want, left)
		}
	})
}

// matchByRule matches as the rule says and returns the partners and how many are left over.
func matchByRule(g *Graph) (partner []uint32, left int) {
	type numbered struct{ op, rank, line int }
	var order []numbered
	for r := range g.Ranks() {
		for i := range g.RankOps(r) {
			order = append(order, numbered{g.FirstOp(r) + i, r, g.Line(r, i)})
		}
	}
	slices.SortStableFunc(order, func(a, b numbered) int { return a.line - b.line })
	partner = make([]uint32, g.NumOps())
	for i := range partner {
		partner[i] = NoPartner
	}
	for _, explicit := range []bool{true, false} {
		for _, r := range order {
			op := &g.Ops()[r.op]
			if op.Kind != Recv || explicit == (op.Peer == AnySource || op.Tag == AnyTag) {
				continue
			}
			for _, s := range order {
				from := &g.Ops()[s.op]
				if from.Kind == Send && partner[s.op] == NoPartner && int(from.Peer) == r.rank &&
					op.Accepts(int32(s.rank), from.Context, from.Tag) {
					partner[s.op], partner[r.op] = uint32(r.op), uint32(s.op)
					break
				}
			}
		}
	}
	for i, op := range g.Ops() {
		if op.Kind <= Recv && partner[i] == NoPartner {
			left++
		}
	}
	return partner, left
}

func TestFind(t *testing.T) {
	g := graphOf(rankOps{}, rankOps{ops: []Op{send(1, 0), recv(1, 0)}}, rankOps{}, rankOps{ops: []Op{send(3, 0)}}, rankOps{})
	for op, want := range [][2]int{{1, 0}, {1, 1}, {3, 0}} {
		if rank, index := g.Find(op); rank != want[0] || index != want[1] {
			t.Errorf("Find(%d) = %d, %d, want %v", op, rank, index, want)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, wildcards := range []bool{false, true} {
		b.Run(fmt.Sprintf("pattern=halo/wildcards=%v", wildcards), func(b *testing.B) {
			g := halo(4096, 50, wildcards)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Match(g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(g.NumOps())*float64(b.N)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

// halo returns steps exchanges with four neighbors on a ring of ranks (next to it and a stride
// away), each followed by a calculation, with all dependencies in one block per rank.
func halo(ranks, steps int, anyTag bool) *Graph {
	build := NewBuilder(ranks)
	var b Block
	for r := range ranks {
		b.Reset()
		last := -1
		for step := range steps {
			var ops []int
			for _, d := range []int{1, ranks - 1, 64 % ranks, (ranks - 64%ranks) % ranks} {
				ops = append(ops, b.Send((r+d)%ranks, 8192, uint32(step)))
				tag := uint32(step)
				if anyTag {
					tag = AnyTag
				}
				ops = append(ops, b.Recv((r+d)%ranks, 8192, tag))
			}
			work := b.Calc(int64(1_000_000 + (r*7919+step*104729)%65536))
			for _, i := range ops {
				if last >= 0 {
					b.Require(i, last)
				}
				b.Require(work, i)
			}
			last = work
		}
		b.Link()
		build.Add(r, &b)
	}
	return build.Graph()
}

// Accepts reports whether the receive op takes a message of the given source, context and tag.
func (op *Op) Accepts(source int32, context uint8, tag uint32) bool {
	return (op.Peer == source || op.Peer == AnySource) &&
		op.Context == context&^Buffered &&
		(op.Tag == tag || op.Tag == AnyTag)
}
