package advise

import (
	"strings"

	"slackline/analyze/simulate"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// edited is a program in memory in which calls were moved, joined or left out.
type edited struct {
	*schedule.Graph
	from schedule.Program
}

// Shape implements schedule.Program. What stands for others at their side stays that.
func (e edited) Shape() schedule.Shape {
	shape := e.Graph.Shape()
	shape.Agents = e.from.Shape().Agents
	return shape
}

// Tales implements simulate.Teller.
func (e edited) Tales(b *timeline.Builder) func(l *timeline.LocationBuilder, rank int, note uint32, t unit.Duration, end bool) {
	if t, ok := e.from.(simulate.Teller); ok {
		return t.Tales(b)
	}
	return nil
}

// graphOf is a program in memory, with its collectives as they are.
func graphOf(p schedule.Program) *schedule.Graph {
	switch p := p.(type) {
	case *schedule.Graph:
		return p
	case edited:
		return p.Graph
	}
	return rebuild(p, func(rank int, out *writer) {
		var b schedule.Block
		for step := range p.Steps(rank) {
			p.Block(rank, step, &b)
			out.put(&b)
		}
	})
}

// writer takes the blocks of a rank.
type writer struct {
	build *schedule.Builder
	rank  int
}

func (w *writer) put(b *schedule.Block) {
	if len(b.Ops) > 0 {
		w.build.Add(w.rank, b)
	}
}

// rebuild makes a graph with the groups and origins of a program, rank by rank.
func rebuild(p schedule.Program, each func(rank int, out *writer)) *schedule.Graph {
	build := schedule.NewBuilder(p.Ranks())
	build.SetGroups(p.Groups())
	build.SetOrigins(p.Origins())
	for rank := range p.Ranks() {
		each(rank, &writer{build, rank})
	}
	return build.Graph()
}

// blockView is a block of a graph: its operations, and what they are.
type blockView struct {
	number   int // of the block in the graph
	from, to int // its operations, as positions in Ops
	kind     blockKind
}

type blockKind uint8

// What a block can be for those that move calls.
const (
	otherBlock blockKind = iota // several operations, a collective, inner operations
	calcBlock                   // computation alone
	sendBlock                   // one blocking send
	recvBlock                   // one blocking receive, of a known source
)

// blocksOf looks at all blocks of a rank.
func blocksOf(g *schedule.Graph, rank int, views []blockView) []blockView {
	views = views[:0]
	ops := g.Ops()
	first := g.FirstBlock(rank)
	for step := range g.Steps(rank) {
		v := blockView{number: first + step}
		v.from, v.to = g.BlockOps(v.number)
		if v.from == v.to {
			continue
		}
		v.kind = kindOfBlock(ops[v.from:v.to])
		views = append(views, v)
	}
	return views
}

func kindOfBlock(ops []schedule.Op) blockKind {
	if op := &ops[0]; len(ops) == 1 && !op.IsInner() && op.World() == schedule.UserContext {
		switch {
		case op.Kind == schedule.Send:
			return sendBlock
		case op.Kind == schedule.Recv && op.Peer != schedule.AnySource && op.Tag != schedule.AnyTag:
			return recvBlock
		}
	}
	for i := range ops {
		if ops[i].Kind != schedule.Calc || ops[i].IsInner() || ops[i].CPU > 0 {
			return otherBlock
		}
	}
	return calcBlock
}

// copyBlock puts a block of a graph as it is.
func (w *writer) copyBlock(g *schedule.Graph, number int) {
	var b schedule.Block
	g.Block(w.rank, number-g.FirstBlock(w.rank), &b)
	w.put(&b)
}

// chain is a block in which operations follow each other, while some go on beside the others.
type chain struct {
	schedule.Block
	front []chainFront // what the next operation requires
}

type chainFront struct {
	op      int
	onStart bool
}

// next adds an operation that requires those before it.
func (c *chain) next(op schedule.Op) int {
	i := c.Add(op)
	for _, f := range c.front {
		if f.onStart {
			c.RequireStart(i, f.op)
		} else {
			c.Require(i, f.op)
		}
	}
	c.front = append(c.front[:0], chainFront{op: i})
	return i
}

// beside adds an operation of which the next one requires only the start; the end of the block requires it.
func (c *chain) beside(op schedule.Op) int {
	i := c.next(op)
	c.front[0].onStart = true
	return i
}

// await makes the next operation require that one, too.
func (c *chain) await(op int) { c.front = append(c.front, chainFront{op: op}) }

// end puts the block.
func (c *chain) end(w *writer) {
	if len(c.Ops) == 0 {
		return
	}
	c.Link()
	w.put(&c.Block)
	c.Reset()
	c.front = c.front[:0]
}

// nameOf is the call path of an origin, with its MPI call.
func nameOf(o *schedule.Origin) string {
	path := strings.Join(o.Path, "/")
	switch {
	case o.Call == "":
		return path
	case path == "":
		return o.Call
	}
	return path + "/" + o.Call
}

// targets reports for every origin whether a change concerns it.
type targets struct {
	all  bool
	list []bool
}

// targetsOf finds the origins that a call path names: by its full name, or as a part of it.
func targetsOf(p schedule.Program, target string) targets {
	origins := p.Origins()
	t := targets{all: target == "", list: make([]bool, len(origins))}
	for i := range origins {
		t.list[i] = nameOf(&origins[i]) == target || origins[i].On(target)
	}
	return t
}

func (t *targets) has(op *schedule.Op) bool {
	return t.all || int(op.Origin) < len(t.list) && t.list[op.Origin]
}
