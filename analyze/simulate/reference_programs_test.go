package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"slackline/model/schedule"
)

// This file draws random programs. Times are small and drawn independently of each other: that
// makes ties and queues, in which engines go wrong; realistic parameters hardly do.

// testCase is a program on a machine, with or without noise. The program is built from the plan.
type testCase struct {
	plan
	testMachine
	kind caseKind
}

// caseKind is a family of random cases.
type caseKind int

// The families of random cases.
const (
	kindGraph       caseKind = iota // one block of each rank, with dependencies
	kindWildcards                   // and with any source, any tag and contexts
	kindCPUs                        // and with several CPUs and NICs
	kindBlocks                      // several blocks with dependencies inside
	kindPhases                      // several blocks without
	kindCollectives                 // patterns of collectives, as phases
	kindWide                        // phases with more than 64 sends and receives
	kindRendezvous                  // most messages wait for their receivers
	kindBroken                      // programs that often cannot finish
	kindOverflow                    // times that often do not fit into 63 bits
	kindDense                       // many operations on few ranks: blocks with dependencies and phases
	numCaseKinds
)

func (k caseKind) String() string {
	return [...]string{"graph", "wildcards", "cpus", "blocks", "phases", "collectives", "wide", "rendezvous", "broken", "overflow", "dense"}[k]
}

// randomCase draws a case from a seeded generator, for mass runs.
func randomCase(r *rand.Rand, kind caseKind) testCase { return drawCase(r.IntN, kind) }

// rapidCase draws a case that rapid can shrink.
func rapidCase(t *rapid.T, kind caseKind) testCase {
	return drawCase(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "draw") }, kind)
}

// draw returns a number in 0 .. n-1.
type draw func(n int) int

func (d draw) between(low, high int) int { return low + d(high-low+1) }
func (d draw) chance(one, of int) bool   { return d(of) >= of-one }

func drawCase(d draw, kind caseKind) testCase {
	c := testCase{kind: kind}
	unit := int64(1)
	switch {
	case kind == kindOverflow:
		unit = 1 << d.between(50, 58)
	case d.chance(1, 2):
		unit = 1000
	}
	switch kind {
	case kindPhases:
		ranks := d.between(1, 9)
		c.plan = drawPhases(d, unit, ranks, d.between(1, 7), 3*ranks)
	case kindCollectives:
		c.plan = drawCollectives(d, unit, d.between(2, 17), d.between(1, 4))
	case kindWide:
		if d.chance(1, 2) {
			c.plan = drawPhases(d, unit, d.between(1, 4), d.between(1, 3), 200)
		} else {
			c.plan = drawCollectives(d, unit, d.between(60, 80), 1)
		}
	case kindRendezvous:
		if d.chance(1, 2) {
			ranks := d.between(3, 8)
			c.plan = drawPhases(d, unit, ranks, d.between(2, 8), 4*ranks)
		} else {
			c.plan = drawGraph(d, kind, unit)
		}
	default:
		c.plan = drawGraph(d, kind, unit)
	}
	c.testMachine = drawMachine(d, kind, c.ranks, unit)
	return c
}

// plan is a program that can still be changed.
type plan struct {
	ranks int
	ops   []planOp
}

// planOp is an operation of a plan. The operations of a rank are ordered by block and place, then
// as they stand in the plan.
type planOp struct {
	schedule.Op
	rank, block, place  int
	requires, irequires []int // operations of the same rank and block, by position in the plan
	partner             int   // the other end of the message, -1 for a calc
	gone                bool  // taken out

	// Positions in an order in which the program can be carried out: an operation begins
	// after the end of what it requires and after the start of what it irequires.
	begin, end int
}

func (p *plan) calc(rank, block int, time int64) *planOp {
	p.ops = append(p.ops, planOp{
		Op:   schedule.Op{Kind: schedule.Calc, Size: time},
		rank: rank, block: block, partner: -1,
	})
	return &p.ops[len(p.ops)-1]
}

// message adds a send and its receive, and returns both. The size of the receive has no meaning, so
// it is another one.
func (p *plan) message(from, fromBlock, to, toBlock int, size int64, tag uint32) (send, recv *planOp) {
	n := len(p.ops)
	p.ops = append(p.ops, planOp{
		Op:   schedule.Op{Kind: schedule.Send, Size: size, Peer: int32(to), Tag: tag},
		rank: from, block: fromBlock, partner: n + 1,
	}, planOp{
		Op:   schedule.Op{Kind: schedule.Recv, Size: size * 7 % 11, Peer: int32(from), Tag: tag},
		rank: to, block: toBlock, partner: n,
	})
	return &p.ops[n], &p.ops[n+1]
}

// byRank returns the operations of each rank that are not taken out, in their order.
func (p *plan) byRank() [][]int {
	list := make([][]int, p.ranks)
	for i, op := range p.ops {
		if !op.gone {
			list[op.rank] = append(list[op.rank], i)
		}
	}
	for _, ops := range list {
		slices.SortStableFunc(ops, func(i, j int) int {
			x, y := &p.ops[i], &p.ops[j]
			return slices.Compare([]int{x.block, x.place}, []int{y.block, y.place})
		})
	}
	return list
}

// graph builds the program. Numbers of blocks that a rank does not use become empty blocks.
func (p *plan) graph() *schedule.Graph {
	build := schedule.NewBuilder(p.ranks)
	for rank, ops := range p.byRank() {
		for number := 0; len(ops) > 0; number++ {
			var block schedule.Block
			index := map[int]int{}
			for len(ops) > 0 && p.ops[ops[0]].block <= number {
				index[ops[0]] = block.Add(p.ops[ops[0]].Op)
				ops = ops[1:]
			}
			for i := range p.ops { // in the order of the plan, not of the map
				if _, here := index[i]; here {
					p.link(&block, index, i)
				}
			}
			block.Link()
			build.Add(rank, &block)
		}
	}
	return build.Graph()
}

func (p *plan) link(block *schedule.Block, index map[int]int, i int) {
	for _, on := range p.ops[i].requires {
		if !p.ops[on].gone {
			block.Require(index[i], index[on])
		}
	}
	for _, on := range p.ops[i].irequires {
		if !p.ops[on].gone {
			block.RequireStart(index[i], index[on])
		}
	}
}

// oneBlock returns the plan of a phase program with dependencies in the place of blocks.
func (p *plan) oneBlock() plan {
	q := plan{ranks: p.ranks, ops: slices.Clone(p.ops)}
	for _, ops := range p.byRank() {
		var before, here []int
		for place, i := range ops {
			if place > 0 && p.ops[i].block != p.ops[ops[place-1]].block {
				before, here = here, nil
			}
			here = append(here, i)
			q.ops[i].block, q.ops[i].place = 0, place
			q.ops[i].requires = slices.Clone(before)
		}
	}
	return q
}

// String prints the case as GOAL text with its parameters. Times of calcs are in ps.
func (c *testCase) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%v\nnum_ranks %d // calc in ps\n", c.testMachine.String(), c.ranks)
	for rank, ops := range c.byRank() {
		if len(ops) == 0 {
			continue
		}
		fmt.Fprintf(&s, "rank %d {\n", rank)
		block := 0
		for _, i := range ops {
			op := &c.ops[i]
			if op.block != block {
				block = op.block
				fmt.Fprintf(&s, "  // block %d\n", block)
			}
			fmt.Fprintf(&s, "  l%d: %s\n", i, goalOp(&op.Op))
		}
		for _, i := range ops {
			for _, on := range c.ops[i].requires {
				if !c.ops[on].gone {
					fmt.Fprintf(&s, "  l%d requires l%d\n", i, on)
				}
			}
			for _, on := range c.ops[i].irequires {
				if !c.ops[on].gone {
					fmt.Fprintf(&s, "  l%d irequires l%d\n", i, on)
				}
			}
		}
		fmt.Fprintf(&s, "}\n")
	}
	return s.String()
}

func goalOp(op *schedule.Op) string {
	text := fmt.Sprintf("calc %d", op.Size)
	if op.Kind != schedule.Calc {
		direction := map[schedule.Kind]string{schedule.Send: "to", schedule.Recv: "from"}[op.Kind]
		text = fmt.Sprintf("%v %db %s %d", op.Kind, op.Size, direction, op.Peer)
		if op.Tag != 0 {
			text += fmt.Sprintf(" tag %d", int32(op.Tag))
		}
	}
	if op.CPU != 0 {
		text += fmt.Sprintf(" cpu %d", op.CPU)
	}
	if op.NIC != 0 {
		text += fmt.Sprintf(" nic %d", op.NIC)
	}
	if op.Context != 0 {
		text += fmt.Sprintf(" // context %d", op.Context)
	}
	return text
}

// drawGraph draws messages and calcs, an order in which they can happen, and dependencies that
// agree with it.
func drawGraph(d draw, kind caseKind, unit int64) plan {
	p := plan{ranks: d.between(1, 6)}
	messages, calcs := d(14), d(2*p.ranks+1)
	switch kind {
	case kindRendezvous:
		p.ranks, messages = d.between(2, 8), d.between(2, 24)
	case kindDense:
		p.ranks, messages = d.between(1, 5), d.between(5, 70)
		calcs = d(messages)
	}
	span := 3*(messages+calcs) + 1
	reach := []int{0, 3, span}[d(3)] // how far receives are posted from their sends
	tags, maxSize := d.between(1, 3), d.between(0, 12)
	wild := kind == kindWildcards || kind >= kindCPUs && kind != kindDense && d.chance(1, 3)
	eager := d.chance(1, 2) // sends are taken to end by themselves
	for range messages {
		send, recv := p.message(d(p.ranks), 0, d(p.ranks), 0, int64(d(maxSize+1)), drawTag(d, tags))
		send.begin = d(span)
		recv.begin = max(0, send.begin+d.between(-reach, reach))
		send.end, recv.end = max(send.begin, recv.begin), max(send.begin, recv.begin)
		if eager {
			send.end = send.begin
		}
		if kind == kindOverflow && d.chance(1, 4) {
			send.Size = 1 << d.between(40, 62)
		}
		if wild {
			drawWildcards(d, send, recv)
		}
	}
	for range calcs {
		op := p.calc(d(p.ranks), 0, int64(d(21))*unit)
		op.begin = d(span)
		op.end = op.begin
	}
	if kind == kindCPUs || kind > kindCPUs && kind != kindDense && d.chance(1, 4) {
		cpus, nics := d.between(1, 3), d.between(1, 3)
		for i := range p.ops {
			p.ops[i].CPU = uint8(d(cpus))
			if p.ops[i].Kind != schedule.Calc {
				p.ops[i].NIC = uint8(d(nics))
			}
		}
	}
	p.drawBuffered(d)
	p.drawPlaces(d)
	if kind >= kindBlocks && (kind == kindBlocks || kind == kindDense || d.chance(1, 3)) {
		p.drawBlocks(d)
	}
	p.drawDependencies(d, kind == kindBroken && d.chance(1, 2))
	if kind == kindBroken && len(p.ops) > 0 && d.chance(1, 2) {
		p.ops[d(len(p.ops))].gone = true
	}
	return p
}

// drawBuffered makes some of the sends buffered, in one plan of two.
func (p *plan) drawBuffered(d draw) {
	if d.chance(1, 2) {
		return
	}
	for i := range p.ops {
		if op := &p.ops[i]; op.Kind == schedule.Send && d.chance(1, 3) {
			op.Context |= schedule.Buffered
		}
	}
}

func drawWildcards(d draw, send, recv *planOp) {
	if d.chance(1, 3) {
		recv.Peer = schedule.AnySource
	}
	if d.chance(1, 3) {
		recv.Tag = schedule.AnyTag
	}
	if d.chance(1, 4) {
		send.Context, recv.Context = schedule.CollectiveContext, schedule.CollectiveContext
	}
}

// drawPlaces orders the operations inside their blocks: as they begin, at random, or as they were
// drawn.
func (p *plan) drawPlaces(d draw) {
	order := d(3)
	for i := range p.ops {
		switch order {
		case 0:
			p.ops[i].place = p.ops[i].begin
		case 1:
			p.ops[i].place = d(100)
		}
	}
}

// drawBlocks cuts the ranks into blocks, where all before the cut can end before it.
func (p *plan) drawBlocks(d draw) {
	for _, ops := range p.byRank() {
		slices.SortStableFunc(ops, func(i, j int) int { return p.ops[i].begin - p.ops[j].begin })
		block, end := 0, -1
		for _, i := range ops {
			op := &p.ops[i]
			if end < op.begin && d.chance(1, 2) {
				block += d.between(1, 2)
			}
			op.block = block
			end = max(end, op.end)
		}
	}
}

// drawDependencies adds dependencies that agree with begin and end, or, if loose, with begin alone:
// then there are deadlocks, but still no cycles.
func (p *plan) drawDependencies(d draw, loose bool) {
	most := d(4)
	for _, ops := range p.byRank() {
		for _, i := range ops {
			for range d(most + 1) {
				on := ops[d(len(ops))]
				op, other := &p.ops[i], &p.ops[on]
				switch {
				case op.block != other.block:
				case (other.end < op.begin || loose && other.begin < op.begin) && d.chance(2, 3):
					op.requires = append(op.requires, on)
				case other.begin < op.begin:
					op.irequires = append(op.irequires, on)
				}
			}
		}
	}
}

// drawPhases draws rounds of messages between any ranks. All of a round happen in one phase of each
// rank; some receives come a phase later.
func drawPhases(d draw, unit int64, ranks, rounds, messages int) plan {
	p := plan{ranks: ranks}
	tags, maxSize := d.between(1, 3), d.between(0, 12)
	late, contexts := d.chance(1, 3), d.chance(1, 4)
	for round := range rounds {
		first, main := 3*round, 3*round+1
		for rank := range p.ranks {
			for range d(3) {
				p.calc(rank, d.between(first, main), int64(d(21))*unit)
			}
		}
		for range d(messages + 1) {
			send, recv := p.message(d(p.ranks), main, d(p.ranks), main, int64(d(maxSize+1)), drawTag(d, tags))
			if late && d.chance(1, 8) {
				recv.block += d.between(1, 3)
			}
			if contexts {
				send.Context = uint8(d(2))
				recv.Context = send.Context
			}
		}
	}
	if d.chance(1, 2) {
		for i := range p.ops {
			p.ops[i].place = d(100)
		}
	}
	p.drawBuffered(d)
	return p
}

// drawTag draws one of a few tags; the last one is the largest that there is.
func drawTag(d draw, tags int) uint32 {
	tag := uint32(d(tags))
	if tag == 2 {
		return schedule.AnyTag - 1
	}
	return tag
}
