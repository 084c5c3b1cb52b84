package simulate

import "slackline/model/schedule"

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
