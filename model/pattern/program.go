package pattern

import (
	"slackline/model/schedule"
)

// program is what New returns: blocks that are carried out once, a body that is repeated, and
// blocks at the end. All ranks have the same steps; what a rank has no share in is an empty block.
type program struct {
	ranks      int
	tile       int // ranks of a copy: messages stay inside their copy, collectives include all
	iterations int
	before     []part
	body       []part
	after      []part
	shape      schedule.Shape
	origins    []schedule.Origin
	groups     []schedule.Group                  // nil: the world alone
	grid       *grid                             // nil: the ranks have none
	share      func(rank int) (first, steps int) // of a rank that has nothing to do at all other steps; nil: all
}

// part is one block of all ranks. It is not changed after it was made.
type part interface {
	// fill adds the operations of a rank to the empty block b. The step, counted over the
	// whole program, tells the repetitions of a part from one another.
	fill(rank, step int, b *schedule.Block)
}

// silence is the place of communication that was left out. It keeps the steps of the program, and
// with them the random choices of everything else, as they are.
type silence struct{}

func (silence) fill(int, int, *schedule.Block) {}

// Ranks implements schedule.Program.
func (p *program) Ranks() int { return p.ranks }

// Grid implements schedule.Gridded. Copies of a program have grids of their own, so that there is none of all ranks.
func (p *program) Grid() (sides []int, periodic []bool, at func(rank int) []int) {
	g := p.grid
	if g == nil || p.tile != p.ranks {
		return nil, nil, nil
	}
	for d := range g.dims {
		periodic = append(periodic, g.wraps(d))
	}
	return g.dims, periodic, g.place
}

// Steps implements schedule.Program.
func (p *program) Steps(rank int) int {
	if p.share != nil {
		_, steps := p.share(rank)
		return steps
	}
	return len(p.before) + len(p.body)*p.iterations + len(p.after)
}

// Block implements schedule.Program.
func (p *program) Block(rank, step int, b *schedule.Block) {
	b.Reset()
	if p.share != nil {
		first, _ := p.share(rank)
		step += first
	}
	q := p.part(step)
	if p.tile == p.ranks {
		q.fill(rank, step, b)
		return
	}
	inside := int(uint32(rank) % uint32(p.tile))
	q.fill(inside, step, b)
	if _, ok := q.(*call); ok {
		return // borrowed, and without peers
	}
	for i := range b.Ops {
		if k := b.Ops[i].Kind; k == schedule.Send || k == schedule.Recv {
			b.Ops[i].Peer += int32(rank - inside)
		}
	}
}

// iteration returns which repetition of the body a step is in.
func (p *program) iteration(step int) int { return (step - len(p.before)) / len(p.body) }

// part returns what all ranks do at a step.
func (p *program) part(step int) part {
	if step < len(p.before) {
		return p.before[step]
	}
	step -= len(p.before)
	if n := len(p.body); n > 0 {
		// Steps fit into 32 bits, whose division is the faster one.
		if i := uint32(step) / uint32(n); i < uint32(p.iterations) {
			return p.body[uint32(step)-i*uint32(n)]
		}
		step -= n * p.iterations
	}
	return p.after[step]
}

// Shape implements schedule.Program.
func (p *program) Shape() schedule.Shape { return p.shape }

// Groups implements schedule.Program.
func (p *program) Groups() []schedule.Group { return p.groups }

// Origins implements schedule.Program.
func (p *program) Origins() []schedule.Origin { return p.origins }

// collectivePart is a collective and nothing else.
type collectivePart interface {
	part
	// start adds the collective to a block with other operations.
	start(rank int, b *schedule.Block)
}

// SameCall implements schedule.SPMD.
func (p *program) SameCall(step int) bool {
	_, ok := p.part(step).(*call)
	return ok
}
