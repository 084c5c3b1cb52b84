package pattern

import (
	"fmt"
	"strings"

	"slackline/model/collective"
	"slackline/model/schedule"
)

// call is a blocking collective, alone in its block, so that it is expanded step by step. A program
// is asked for the block again at each step of the algorithm: blocks borrow it and copy nothing.
type call struct {
	ops   [1]schedule.Op
	calls [1]schedule.Call
}

func newCall(c schedule.Call, origin uint32) *call {
	return &call{
		ops:   [1]schedule.Op{{Kind: schedule.Collective, Origin: origin}},
		calls: [1]schedule.Call{c},
	}
}

func (c *call) fill(_, _ int, b *schedule.Block) { b.Borrow(c.ops[:], c.calls[:], nil, nil) }

// start adds the collective to a block with other operations.
func (c *call) start(_ int, b *schedule.Block) {
	b.Ops[b.Call(c.calls[0])].Origin = c.ops[0].Origin
}

// neighborCall is a neighborhood collective on a grid. Its lists differ by rank and are made when
// they are asked for.
type neighborCall struct {
	call
	*grid
}

func (c *neighborCall) fill(rank, _ int, b *schedule.Block) { c.start(rank, b) }

func (c *neighborCall) start(rank int, b *schedule.Block) {
	mine := c.calls[0]
	lists := make([]int32, 0, 2*len(c.dims))
	for d := range c.dims {
		before, after := c.neighbors(rank, d)
		for _, n := range [...]int{before, after} {
			if n >= 0 {
				lists = append(lists, int32(n))
			}
		}
	}
	mine.Sources, mine.Destinations = lists, lists
	b.Ops[b.Call(mine)].Origin = c.ops[0].Origin
}

// overlap is communication that runs beside a chain of work: between two pieces of it the library
// makes progress, as an application that calls MPI_Test now and then lets it. Both are joined at
// the end of the block.
type overlap struct {
	communication part
	piece         *work
	pieces        int
}

func (o *overlap) fill(rank, step int, b *schedule.Block) {
	if c, ok := o.communication.(collectivePart); ok {
		c.start(rank, b)
	} else {
		o.communication.fill(rank, step, b)
	}
	posted := len(b.Ops)
	for i := range o.pieces {
		at := b.Calc(o.piece.piece(rank, step, i) * nanosecond)
		b.Ops[at].Origin = o.piece.origin
		if i > 0 {
			b.Require(at, at-1)
		}
	}
	for i := range posted {
		if b.Ops[i].Kind == schedule.Send { // MPI_Isend returns before the work begins
			b.RequireStart(posted, i)
		}
	}
	b.Link()
}

// overlapped appends communication beside num/den of the compute time of an iteration.
func (s *script) overlapped(communication part, num, den int64, path ...string) {
	_, isCall := communication.(collectivePart)
	if isCall && s.withoutColl || !isCall && s.withoutP2P {
		communication, isCall = silence{}, false
	}
	s.prog.shape.Collectives = s.prog.shape.Collectives || isCall
	piece := s.work(load{num, den * int64(s.Pieces), 100, 0}, path...)
	if piece == nil {
		s.add(communication)
		return
	}
	// Also with one piece: the work waits for sends, or the collective becomes a graph.
	s.prog.shape.Graphs = true
	s.add(&overlap{communication, piece, s.Pieces})
}

// checkAlgorithm tests that an operation has the named algorithm; none is the mapping's choice.
func checkAlgorithm(op schedule.Operation, name string) error {
	if name == "" {
		return nil
	}
	if err := collective.CheckAlgorithm(op, name); err != nil {
		return fmt.Errorf("algorithm: %w", err)
	}
	return nil
}

// mpiName returns the name of the blocking MPI call of an operation.
func mpiName(op schedule.Operation) string {
	name := op.String()
	if op == schedule.ReduceScatter {
		name = "reduce_scatter_block"
	}
	return "MPI_" + strings.ToUpper(name[:1]) + name[1:]
}

// operationParams are the parameters that matter for an operation.
func operationParams(op schedule.Operation) []string {
	names := []string{"ranks"}
	if op != schedule.Barrier {
		names = append(names, "size")
	}
	switch op {
	case schedule.Bcast, schedule.Reduce, schedule.Gather, schedule.Scatter:
		names = append(names, "root")
	case schedule.NeighborAllgather, schedule.NeighborAlltoall:
		names = append(names, "grid", "periodic")
	}
	return append(names, "algorithm", "iterations", "compute", "jitter", "seed")
}

// funnelOf reports which operations have a linear algorithm that floods the root.
func funnelOf(op schedule.Operation) funnel {
	switch op {
	case schedule.Gather, schedule.Reduce, schedule.Barrier:
		return ifLinear
	}
	return never
}

// operation returns the part that carries out an operation with the parameters of the script.
func (s *script) operation(op schedule.Operation, mpi string, sizes []int64) (collectivePart, error) {
	if err := checkAlgorithm(op, s.Algorithm); err != nil {
		return nil, err
	}
	c := schedule.Call{Op: op, Size: s.Size, Sizes: sizes, Algorithm: s.Algorithm}
	switch op {
	case schedule.Barrier:
		c.Size = 0
	case schedule.Bcast, schedule.Reduce, schedule.Gather, schedule.Scatter:
		c.Root = int32(s.Root)
	case schedule.NeighborAllgather, schedule.NeighborAlltoall:
		dimensions := 2
		if len(s.Grid) == 3 {
			dimensions = 3
		}
		g, err := s.grid(dimensions)
		return &neighborCall{*newCall(c, s.origin(mpi)), g}, err
	}
	return newCall(c, s.origin(mpi)), nil
}

// operationPattern is the blocking form of an operation.
func operationPattern(op schedule.Operation) definition {
	name := op.String()
	info := mpiName(op)
	details := "Each iteration is compute (none by default), then the collective on all ranks."
	if op.IsNeighbor() {
		info += " with the neighbors of a grid"
		details += " The neighbors are those of a grid of two dimensions, or of three if such a grid is given."
	}
	return definition{
		Info: Info{
			Name: name, Kind: Collective, Info: info, Details: details,
			Params:  operationParams(op),
			Example: "slackline simulate " + name + " --ranks 1024 --machine chic",
		},
		defaults: Params{Size: 8},
		funnel:   funnelOf(op),
		build: func(s *script) error {
			p, err := s.operation(op, mpiName(op), nil)
			if err != nil {
				return err
			}
			s.compute()
			s.collective(p)
			return nil
		},
	}
}

// nonblockingPattern is the non-blocking form of an operation, beside compute.
func nonblockingPattern(op schedule.Operation) definition {
	mpi := mpiName(op)
	mpi = "MPI_I" + strings.ToLower(mpi[4:5]) + mpi[5:]
	return definition{
		Info: Info{
			Name: "i" + op.String(), Kind: Collective,
			Info:    mpi + " beside compute",
			Details: "Each iteration starts the collective, computes in pieces, between which the collective gets the CPU, and waits for both.",
			Params:  append(operationParams(op), "pieces"),
			Example: "slackline simulate i" + op.String() + " --ranks 1024 --compute 200us --pieces 20 --machine chic",
		},
		defaults: Params{Size: 8, Compute: defaultOverlap, Pieces: 10},
		funnel:   funnelOf(op),
		build: func(s *script) error {
			p, err := s.operation(op, mpi, nil)
			if err != nil {
				return err
			}
			s.overlapped(p, 1, 1)
			return nil
		},
	}
}

// vectorNames are the operations that have a v-variant, and its name.
var vectorNames = []struct {
	op        schedule.Operation
	name, mpi string
}{
	{schedule.Gather, "gatherv", "MPI_Gatherv"},
	{schedule.Scatter, "scatterv", "MPI_Scatterv"},
	{schedule.Allgather, "allgatherv", "MPI_Allgatherv"},
	{schedule.Alltoall, "alltoallv", "MPI_Alltoallv"},
	{schedule.ReduceScatter, "reduce_scatterv", "MPI_Reduce_scatter"},
}

const (
	maxSizes      = 1 << 24        // bounds the table of sizes of a v-variant: 128 MiB
	maxVectorSize = int64(1 << 50) // leaves room for the spread; exact in float64
)

// vectorPattern is the v-variant of an operation with random sizes.
func vectorPattern(op schedule.Operation, name, mpi string) definition {
	return definition{
		Info: Info{
			Name: name, Kind: Collective,
			Info:    mpi + " with random sizes",
			Details: "As the form with equal sizes, but each size is drawn from size * (1 - jitter) to size * (1 + jitter).",
			Params:  operationParams(op),
			Example: "slackline simulate " + name + " --ranks 256 --size 4KiB --jitter 0.9 --seed 3 --machine chic",
		},
		defaults: Params{Size: 1024, Jitter: 0.5},
		funnel:   funnelOf(op),
		build: func(s *script) error {
			count := s.Ranks
			if op == schedule.Alltoall {
				count *= s.Ranks
			}
			if count > maxSizes {
				return fmt.Errorf("ranks: the table of sizes has %d entries, at most %d are kept; give fewer ranks", count, maxSizes)
			}
			if s.Size > maxVectorSize {
				return fmt.Errorf("size: %d is too large; give at most %d", s.Size, maxVectorSize)
			}
			spread := jitterOf(s.Size, s.Jitter)
			sizes := make([]int64, count)
			for i := range sizes {
				sizes[i] = s.Size + within(spread, hash(s.Seed^sizeSalt, uint64(i)))
			}
			p, err := s.operation(op, mpi, sizes)
			if err != nil {
				return err
			}
			s.compute()
			s.collective(p)
			return nil
		},
	}
}

// disseminationPattern is the timing pattern of the noise literature: an allreduce by the
// dissemination algorithm with one-byte messages.
var disseminationPattern = definition{
	Info: Info{
		Name: "dissemination", Kind: Collective,
		Info: "allreduce by dissemination: in step k rank r sends to r + 2^k",
		Details: "In step k every rank sends to rank r + 2^k and receives from r - 2^k, around the ring of ranks; both operations of a step " +
			"require both of the step before. The same as allreduce with the algorithm dissemination and one byte.",
		Params:  []string{"ranks", "size", "iterations", "compute", "jitter", "seed"},
		Example: "slackline simulate dissemination --ranks 1048576 --size 1B --machine chic",
	},
	defaults: Params{Size: 1, Algorithm: "dissemination"},
	build: func(s *script) error {
		s.Algorithm = "dissemination"
		p, err := s.operation(schedule.Allreduce, mpiName(schedule.Allreduce), nil)
		if err != nil {
			return err
		}
		s.compute()
		s.collective(p)
		return nil
	},
}
