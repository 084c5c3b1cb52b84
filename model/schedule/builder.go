package schedule

import "fmt"

// Builder makes a Graph, block by block, with the ranks in ascending order.
type Builder struct {
	g    Graph
	rank int // rank of the last block added
}

// NewBuilder returns a builder of a graph with the given number of ranks.
func NewBuilder(ranks int) *Builder {
	b := &Builder{}
	b.g.steps = make([]int, 1, ranks+1)
	b.g.blocks = make([]blockInfo, 1)
	b.g.shape = Shape{CPUs: 1, NICs: 1}
	b.rank = -1
	return b
}

// Add appends a copy of a block to the program of a rank. Ranks must not descend; it panics if
// they do. Calls are numbered anew.
func (b *Builder) Add(rank int, block *Block) {
	if rank < b.rank || rank+1 >= cap(b.g.steps) {
		panic(fmt.Sprintf("schedule: Builder.Add: rank %d after %d of %d", rank, b.rank, cap(b.g.steps)-1))
	}
	g := &b.g
	for b.rank < rank {
		b.rank++
		if b.rank > 0 {
			g.steps = append(g.steps, len(g.blocks)-1)
		}
	}
	at := len(g.ops)
	g.ops = append(g.ops, block.Ops...)
	b.count(at, block.Calls)
	if !block.IsPhase() {
		g.first = append(g.first, block.First...)
		g.dependents = append(g.dependents, block.Dependents...)
		g.shape.Graphs = true
	}
	g.blocks = append(g.blocks, blockInfo{len(g.ops), len(g.first), len(g.dependents)})
}

// count brings the shape up to date with the operations from position at on, and moves their
// calls into the graph.
func (b *Builder) count(at int, calls []Call) {
	g := &b.g
	for i := at; i < len(g.ops); i++ {
		op := &g.ops[i]
		g.shape.CPUs = max(g.shape.CPUs, int(op.CPU)+1)
		g.shape.NICs = max(g.shape.NICs, int(op.NIC)+1)
		switch op.Kind {
		case Recv:
			g.shape.Wildcards = g.shape.Wildcards || op.Peer == AnySource || op.Tag == AnyTag
		case Collective:
			g.calls = append(g.calls, calls[op.Size])
			op.Size = int64(len(g.calls) - 1)
			g.shape.Collectives = true
			g.shape.Graphs = g.shape.Graphs || len(g.ops)-at > 1
		}
	}
}

// SetGroups gives the graph the communicators that its calls name.
func (b *Builder) SetGroups(groups []Group) { b.g.groups = groups }

// SetOrigins gives the graph the origins that its operations name.
func (b *Builder) SetOrigins(origins []Origin) { b.g.origins = origins }

// Graph ends the building and returns the graph. The builder must not be used afterwards.
func (b *Builder) Graph() *Graph {
	g := &b.g
	for len(g.steps) < cap(g.steps) {
		g.steps = append(g.steps, len(g.blocks)-1)
	}
	return g
}
