package replay

import (
	"math"

	"slackline/model/schedule"
	"slackline/model/timeline"
)

// Program is the schedule of a run. It holds the operations of the recorded ranks; those of further
// copies are made from them when they are asked for.
type Program struct {
	recorded, copies int
	programs         []rankProgram // by recorded rank
	recordedCalls    []schedule.Call
	table            *groupTable

	calls   []schedule.Call // that the operations name, with the groups of the first copy
	groups  []schedule.Group
	partial int32 // groups that each copy has of its own
	origins []schedule.Origin
	shape   schedule.Shape
	report  Report
	tales   Tales
	grid    *timeline.Grid // of the recorded run; nil: it has none

	retiming *retiming // of a run with accelerators; nil: there is none
}

// rankProgram is what one rank does: operations in blocks.
type rankProgram struct {
	ops        []schedule.Op
	first      []uint32 // schedule.Block.First of all blocks with dependencies
	dependents []schedule.Dependent
	blocks     []place // one more than there are blocks
}

// place is where a block begins.
type place struct{ ops, first, dependents uint32 }

// maxPerRank is how many operations or dependencies a rank may have.
const maxPerRank = math.MaxUint32

func (r *rankProgram) steps() int { return max(len(r.blocks)-1, 0) }

// Report describes what became of the run.
func (p *Program) Report() *Report { return &p.report }

// Ranks implements schedule.Program.
func (p *Program) Ranks() int { return p.recorded * p.copies }

// Steps implements schedule.Program.
func (p *Program) Steps(rank int) int { return p.programs[rank%p.recorded].steps() }

// Shape implements schedule.Program.
func (p *Program) Shape() schedule.Shape { return p.shape }

// Groups implements schedule.Program.
func (p *Program) Groups() []schedule.Group { return p.groups }

// Origins implements schedule.Program.
func (p *Program) Origins() []schedule.Origin { return p.origins }

// Grid implements schedule.Gridded: the process grid of the recorded run. Copies have grids of their own, so that there is none of all
// ranks.
func (p *Program) Grid() (sides []int, periodic []bool, at func(rank int) []int) {
	if p.grid == nil || p.copies > 1 || len(p.grid.Coords) != p.recorded {
		return nil, nil, nil
	}
	return p.grid.Dims, p.grid.Periodic, func(rank int) []int { return p.grid.Coords[rank] }
}

// Block implements schedule.Program. Blocks of the first copy are not copied.
func (p *Program) Block(rank, step int, b *schedule.Block) {
	r := &p.programs[rank%p.recorded]
	from, to := &r.blocks[step], &r.blocks[step+1]
	ops := r.ops[from.ops:to.ops]
	first, dependents := r.first[from.first:to.first], r.dependents[from.dependents:to.dependents]
	j := int32(rank / p.recorded)
	if j == 0 {
		b.Borrow(ops, p.calls, first, dependents)
		return
	}
	b.Reset()
	b.Ops = append(b.Ops, ops...)
	b.First, b.Dependents = first, dependents
	shift := j * int32(p.recorded)
	for i := range b.Ops {
		op := &b.Ops[i]
		switch op.Kind {
		case schedule.Send, schedule.Recv:
			op.Peer += shift
		case schedule.Collective:
			call := p.calls[op.Size]
			if int(call.Group) >= p.table.global {
				call.Group += j * p.partial
			}
			op.Size = int64(len(b.Calls))
			b.Calls = append(b.Calls, call)
		}
	}
}
