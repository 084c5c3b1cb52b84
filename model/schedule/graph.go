package schedule

import "sort"

// Graph is a schedule with all operations in memory. A file of explicit dependencies is one block
// per rank; a stored program keeps its blocks.
//
// The operations of a rank lie together in file order, 24 bytes each, so that whoever works on a
// rank reads one piece of memory. A Graph is made by a Builder and not changed afterwards.
type Graph struct {
	steps      []int       // rank r has the blocks steps[r] .. steps[r+1]-1
	blocks     []blockInfo // one more than there are blocks
	ops        []Op
	first      []uint32 // Block.First of all blocks with dependencies
	dependents []Dependent
	calls      []Call
	groups     []Group
	origins    []Origin
	shape      Shape
	part       bool // see Part

	// Names gives labels and lines of the file, for messages; nil if there are none.
	Names *Names
}

// blockInfo is where a block begins in the arrays of a graph.
type blockInfo struct {
	ops, first, dependents int
}

// Ranks implements Program.
func (g *Graph) Ranks() int { return len(g.steps) - 1 }

// Steps implements Program.
func (g *Graph) Steps(rank int) int { return g.steps[rank+1] - g.steps[rank] }

// Block implements Program. It does not copy.
func (g *Graph) Block(rank, step int, b *Block) {
	i := g.steps[rank] + step
	from, to := g.blocks[i], g.blocks[i+1]
	b.Borrow(g.ops[from.ops:to.ops], g.calls,
		g.first[from.first:to.first], g.dependents[from.dependents:to.dependents])
}

// RankOps returns the operations of all blocks of a rank.
func (g *Graph) RankOps(rank int) []Op {
	return g.ops[g.blocks[g.steps[rank]].ops:g.blocks[g.steps[rank+1]].ops]
}

// Ops returns the operations of all ranks, one rank after the other. A position in it numbers an
// operation over all ranks.
func (g *Graph) Ops() []Op { return g.ops }

// FirstOp is the position in Ops of the first operation of a rank, for any rank up to and with
// the number of ranks.
func (g *Graph) FirstOp(rank int) int { return g.blocks[g.steps[rank]].ops }

// Find returns the rank of an operation and its index in that rank, for a position in Ops.
func (g *Graph) Find(op int) (rank, index int) {
	rank = sort.Search(g.Ranks(), func(r int) bool { return g.FirstOp(r+1) > op })
	return rank, op - g.FirstOp(rank)
}

// NumBlocks is the number of blocks of all ranks, which are numbered one rank after the other.
func (g *Graph) NumBlocks() int { return len(g.blocks) - 1 }

// FirstBlock is the number of the first block of a rank, for any rank up to and with the number of
// ranks.
func (g *Graph) FirstBlock(rank int) int { return g.steps[rank] }

// BlockOps defines which of Ops are those of a block: from .. to-1.
func (g *Graph) BlockOps(block int) (from, to int) {
	return g.blocks[block].ops, g.blocks[block+1].ops
}

// Links returns Block.First and Block.Dependents of a block; both are empty if it is a phase.
func (g *Graph) Links(block int) (first []uint32, dependents []Dependent) {
	from, to := &g.blocks[block], &g.blocks[block+1]
	return g.first[from.first:to.first], g.dependents[from.dependents:to.dependents]
}

// NumOps is the number of operations of all ranks.
func (g *Graph) NumOps() int { return len(g.ops) }

// NumDependencies is the number of dependencies inside blocks.
func (g *Graph) NumDependencies() int { return len(g.dependents) }

// Shape implements Program.
func (g *Graph) Shape() Shape { return g.shape }

// Groups implements Program.
func (g *Graph) Groups() []Group { return g.groups }

// Origins implements Program.
func (g *Graph) Origins() []Origin { return g.origins }
