package simulate

import (
	"slackline/model/schedule"
)

// Prepared is a program in memory in the form in which it is run: cut into blocks where that changes
// nothing, in the order of its steps. It gives the results of the graph it was made from. To prepare
// a graph takes about as long as half a run, so whoever runs it more than once prepares it first.
type Prepared struct {
	whole   *schedule.Graph // as it was given: the static model needs it
	graph   *schedule.Graph // cut into blocks
	inOrder *byStep         // nil: not worth it
}

// Prepare makes a graph ready to be run.
func Prepare(g *schedule.Graph) *Prepared {
	p := &Prepared{whole: g, graph: schedule.Split(g)}
	p.inOrder = newByStep(p.graph)
	return p
}

// Ranks implements schedule.Program.
func (p *Prepared) Ranks() int { return p.whole.Ranks() }

// Steps implements schedule.Program.
func (p *Prepared) Steps(rank int) int { return p.graph.Steps(rank) }

// Block implements schedule.Program.
func (p *Prepared) Block(rank, step int, b *schedule.Block) { p.graph.Block(rank, step, b) }

// Shape implements schedule.Program.
func (p *Prepared) Shape() schedule.Shape { return p.graph.Shape() }

// Groups implements schedule.Program.
func (p *Prepared) Groups() []schedule.Group { return p.graph.Groups() }

// Origins implements schedule.Program.
func (p *Prepared) Origins() []schedule.Origin { return p.graph.Origins() }

// stream returns the program as a stream; it has no collectives.
func (p *Prepared) stream() schedule.Stream {
	if p.inOrder != nil {
		return p.inOrder
	}
	return schedule.Blocks(p.graph)
}

// byStep is a program in memory in the order in which it is run: block 0 of all ranks, then block 1
// of all ranks, and so on. Ranks mostly go on together, so that an engine that takes their blocks in
// turn walks through the memory, where the order of a Graph, rank by rank, would make it jump.
type byStep struct {
	whole        int // ranks of the program
	first        int // rank with blocks; of a part of a program the ranks before and after it have none
	ranks, steps int // from the first one to the last one with blocks
	shape        schedule.Shape
	at           []blockPlace // of block s of rank first+r: at[s*ranks+r]; it ends where the next one begins
	ops          []schedule.Op
	links        []uint32
	dependents   []schedule.Dependent
}

// blockPlace is where a block begins.
type blockPlace struct{ ops, first, dependents uint32 }

// What is too small fits into the cache as it is, and for what is too large a second copy is too
// much.
const (
	minByStepOps = 1 << 16
	maxByStepOps = 1 << 25
)

// newByStep returns a graph in the order of its steps, or nil if that is not worth it: it is small
// or very large, has one block per rank, or ranks with very different numbers of blocks.
func newByStep(g *schedule.Graph) *byStep {
	if g.NumOps() < minByStepOps || g.NumOps() > maxByStepOps || g.Shape().Collectives {
		return nil
	}
	first, last, steps := 0, 0, 0
	for rank := range g.Ranks() {
		if n := g.Steps(rank); n > 0 {
			if steps == 0 {
				first = rank
			}
			last, steps = rank+1, max(steps, n)
		}
	}
	if !g.IsPart() {
		first, last = 0, g.Ranks()
	}
	ranks := last - first
	if steps < 2 || steps > 2*g.NumBlocks()/ranks {
		return nil
	}
	p := &byStep{
		whole: g.Ranks(), first: first, ranks: ranks, steps: steps, shape: g.Shape(),
		at:  make([]blockPlace, 0, ranks*steps+1),
		ops: make([]schedule.Op, 0, g.NumOps()),
	}
	var b schedule.Block
	for step := range steps {
		for rank := first; rank < last; rank++ {
			p.place()
			if step < g.Steps(rank) {
				g.Block(rank, step, &b)
				p.ops = append(p.ops, b.Ops...)
				p.links = append(p.links, b.First...)
				p.dependents = append(p.dependents, b.Dependents...)
			}
		}
	}
	p.place()
	return p
}

// place notes where the next block begins.
func (p *byStep) place() {
	p.at = append(p.at, blockPlace{uint32(len(p.ops)), uint32(len(p.links)), uint32(len(p.dependents))})
}

// Ranks implements schedule.Stream.
func (p *byStep) Ranks() int { return p.whole }

// Shape implements schedule.Stream.
func (p *byStep) Shape() schedule.Shape { return p.shape }

// Next implements schedule.Stream.
func (p *byStep) Next(rank int, at schedule.Cursor, b *schedule.Block) (schedule.Cursor, bool) {
	rank -= p.first
	if uint(rank) >= uint(p.ranks) {
		return at, false
	}
	for ; int(at.Step) < p.steps; at.Step++ {
		i := int(at.Step)*p.ranks + rank
		from, to := &p.at[i], &p.at[i+1]
		if from.ops == to.ops {
			continue
		}
		b.Borrow(p.ops[from.ops:to.ops], nil, p.links[from.first:to.first], p.dependents[from.dependents:to.dependents])
		at.Step++
		return at, true
	}
	return at, false
}
