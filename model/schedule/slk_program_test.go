package schedule

import (
	"fmt"
	"reflect"
	"slices"

	"pgregory.net/rapid"
)

// drawGraph draws a program of the given ranks with everything that may stand in one: phases and
// blocks with dependencies, empty blocks and ranks, wildcards, places, collectives on several
// groups, origins. Its messages match nothing.
func drawGraph(t *rapid.T, ranks int) *Graph {
	build := NewBuilder(ranks)
	groups, origins := drawGroups(t, ranks), drawOrigins(t)
	build.SetGroups(groups)
	build.SetOrigins(origins)
	small := rapid.IntRange(0, 4)
	var b Block
	for rank := range ranks {
		for range small.Draw(t, "blocks") {
			b.Reset()
			n := small.Draw(t, "ops")
			for range n {
				drawOp(t, &b, rank, ranks, groups, len(origins))
			}
			if n > 1 {
				backward := rapid.Bool().Draw(t, "backward")
				for range small.Draw(t, "dependencies") {
					from := rapid.IntRange(1, n-1).Draw(t, "from")
					to := rapid.IntRange(0, from-1).Draw(t, "to")
					if backward {
						from, to = to, from
					}
					if rapid.Bool().Draw(t, "start") {
						b.RequireStart(from, to)
					} else {
						b.Require(from, to)
					}
				}
			}
			b.Link()
			build.Add(rank, &b)
		}
	}
	return build.Graph()
}

func drawGroups(t *rapid.T, ranks int) []Group {
	if rapid.Bool().Draw(t, "only world") {
		return nil
	}
	groups := []Group{World(ranks)}
	all := make([]int32, ranks)
	for i := range all {
		all[i] = int32(i)
	}
	if rapid.Bool().Draw(t, "listed") {
		size := rapid.IntRange(1, ranks).Draw(t, "size")
		groups = append(groups, NewGroup(rapid.Permutation(all).Draw(t, "members")[:size]))
	}
	first := rapid.IntRange(0, ranks-1).Draw(t, "first")
	stride := rapid.IntRange(0, ranks).Draw(t, "stride")
	size := 1 + (ranks-1-first)/max(stride, 1)
	return append(groups, Group{First: first, Stride: stride, Size: rapid.IntRange(1, size).Draw(t, "size")})
}

func drawOrigins(t *rapid.T) []Origin {
	if rapid.Bool().Draw(t, "unknown") {
		return nil
	}
	return []Origin{{}, {Path: []string{"main", "solve"}, Call: "MPI_Send"}, {Path: []string{"main"}}, {Call: "MPI_Recv"}}
}

func drawOp(t *rapid.T, b *Block, rank, ranks int, groups []Group, origins int) {
	peer := rapid.Int32Range(0, int32(ranks-1))
	op := Op{
		Kind:    Kind(rapid.IntRange(0, 3).Draw(t, "kind")),
		Size:    rapid.Int64Range(0, 1<<63-1).Draw(t, "size"),
		Tag:     rapid.SampledFrom([]uint32{0, 0, 1, 200, 1<<32 - 2}).Draw(t, "tag"),
		Context: rapid.Uint8Range(0, 1).Draw(t, "context"),
		CPU:     rapid.SampledFrom([]uint8{0, 0, 0, 3, 254}).Draw(t, "cpu"),
		NIC:     rapid.SampledFrom([]uint8{0, 0, 0, 1, 254}).Draw(t, "nic"),
		Origin:  uint32(rapid.IntRange(0, max(origins, 1)-1).Draw(t, "origin")),
	}
	switch op.Kind {
	case Send:
		op.Peer = peer.Draw(t, "peer")
		op.Context |= rapid.SampledFrom([]uint8{0, 0, Buffered}).Draw(t, "buffered")
	case Recv:
		op.Peer = rapid.OneOf(peer, rapid.Just(AnySource)).Draw(t, "peer")
		if rapid.IntRange(0, 3).Draw(t, "any tag") == 0 {
			op.Tag = AnyTag
		}
	case Collective:
		at := b.Call(drawCall(t, rank, ranks, groups))
		op.Size = b.Ops[at].Size
		b.Ops[at] = op
		return
	}
	b.Add(op)
}

func drawCall(t *rapid.T, rank, ranks int, groups []Group) Call {
	c := Call{
		Op:        rapid.SampledFrom(Operations()).Draw(t, "operation"),
		Group:     int32(rapid.IntRange(0, max(len(groups), 1)-1).Draw(t, "group")),
		Size:      rapid.Int64Range(0, 100).Draw(t, "bytes"),
		Tag:       rapid.Uint32Range(0, 2).Draw(t, "tag"),
		Algorithm: rapid.SampledFrom([]string{"", "ring", "binomial"}).Draw(t, "algorithm"),
	}
	n := ranks
	if len(groups) > 0 {
		if groups[c.Group].Index(rank) < 0 {
			c.Group = 0
		}
		n = groups[c.Group].Len()
	}
	member := rapid.Int32Range(0, int32(n-1))
	c.Root = member.Draw(t, "root")
	if rapid.Bool().Draw(t, "neighbors") {
		c.Sources = rapid.SliceOfN(member, 0, 3).Draw(t, "sources")
		c.Destinations = rapid.SliceOfN(member, 0, 3).Draw(t, "destinations")
	}
	if rapid.Bool().Draw(t, "sizes") {
		c.Sizes = rapid.SliceOfN(rapid.Int64Range(0, 1<<40), n, n).Draw(t, "sizes")
	}
	return c
}

// difference tells where two programs differ, or nothing.
func difference(got, want Program) string {
	if got.Ranks() != want.Ranks() {
		return fmt.Sprintf("%d ranks, want %d", got.Ranks(), want.Ranks())
	}
	if got.Shape() != want.Shape() {
		return fmt.Sprintf("shape %v, want %v", got.Shape(), want.Shape())
	}
	if d := differentTables(got, want); d != "" {
		return d
	}
	var a, b Block
	for rank := range want.Ranks() {
		if got.Steps(rank) != want.Steps(rank) {
			return fmt.Sprintf("rank %d: %d blocks, want %d", rank, got.Steps(rank), want.Steps(rank))
		}
		for step := range want.Steps(rank) {
			got.Block(rank, step, &a)
			want.Block(rank, step, &b)
			if d := differentBlocks(&a, &b); d != "" {
				return fmt.Sprintf("rank %d block %d: %s", rank, step, d)
			}
		}
	}
	return ""
}

func differentTables(got, want Program) string {
	if len(got.Groups()) != len(want.Groups()) || len(got.Origins()) != len(want.Origins()) {
		return fmt.Sprintf("%d groups and %d origins, want %d and %d", len(got.Groups()), len(got.Origins()),
			len(want.Groups()), len(want.Origins()))
	}
	for i, o := range want.Origins() {
		if g := got.Origins()[i]; !slices.Equal(g.Path, o.Path) || g.Call != o.Call {
			return fmt.Sprintf("origin %d is %v, want %v", i, g, o)
		}
	}
	for i, w := range want.Groups() {
		g := got.Groups()[i]
		if g.Len() != w.Len() {
			return fmt.Sprintf("group %d has %d ranks, want %d", i, g.Len(), w.Len())
		}
		for r := range w.Len() {
			if g.Rank(r) != w.Rank(r) || g.Index(w.Rank(r)) != r {
				return fmt.Sprintf("group %d: rank %d is %d, want %d", i, r, g.Rank(r), w.Rank(r))
			}
		}
	}
	return ""
}

func differentBlocks(got, want *Block) string {
	if len(got.Ops) != len(want.Ops) || !slices.Equal(got.First, want.First) || !slices.Equal(got.Dependents, want.Dependents) {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	for i, w := range want.Ops {
		g := got.Ops[i]
		if w.Kind == Collective && g.Kind == Collective {
			if !reflect.DeepEqual(got.Calls[g.Size], want.Calls[w.Size]) {
				return fmt.Sprintf("operation %d: call %+v, want %+v", i, got.Calls[g.Size], want.Calls[w.Size])
			}
			g.Size = w.Size
		}
		if g != w {
			return fmt.Sprintf("operation %d is %+v, want %+v", i, g, w)
		}
	}
	return ""
}
