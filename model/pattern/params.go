// Package pattern holds named communication patterns and application skeletons as lazy programs:
// collectives, exchanges between neighbors, and applications that iterate compute, exchange and
// collectives.
//
// A program computes each block from the rank and the step alone, so that a million ranks need no
// memory of their own. Collectives stay symbolic; package collective turns them into messages when
// the program is run. Every random choice is a function of the seed, the rank and the step.
package pattern

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// Params are the parameters of all patterns. The zero value of a field is the default of the
// pattern; None asks for zero where zero is not the default. Ranks must be given. A pattern uses
// only some of them: see Info.Params and Unused.
type Params struct {
	Ranks      int
	Size       int64         // bytes of a message, or what schedule.Operation says; None: 0
	Root       int           // of a collective, or the receiver of an incast
	Algorithm  string        // of the collective; empty: the mapping chooses
	Iterations int           // how often the body of the pattern is repeated
	Grid       []int         // process grid; nil: near-square or near-cubic
	Compute    unit.Duration // mean CPU work of a rank per iteration, in whole ns; None: no work
	Jitter     float64       // relative spread of the work, 0 to 1; None: 0
	Seed       uint64        // of all random choices
	Periodic   bool          // the grid wraps around
	Corners    int           // from how many corners a sweep starts: 1, 2, 4 or 8
	Senders    int           // of an incast; 0: all other ranks
	Pieces     int           // pieces of work between which a non-blocking operation gets the CPU, or of a pipelined message
	Tile       int           // ranks of a copy: see program.tile; 0: all
	Blocks     int           // of planes and angles in an octant, a pipeline
	Fixup      float64       // work of a fix-up on the outer ranks relative to that of a block
	Without    []string      // kinds of communication to leave out: p2p, collectives
	Operation  string        // that a benchmark scheme times

	Tensor       int         // ranks of a tensor group; 0: up to 8
	Pipeline     int         // stages of a pipeline; 0: up to 4
	Virtual      int         // chunks of a stage; more than one: interleaved
	Microbatches int         // of a copy of the model in an iteration
	Layers       int         // of a stage
	Gradients    int64       // bytes of a rank that are summed over the copies; None: 0
	Overlap      bool        // gradients are summed beside the last backward pass
	Stragglers   []Straggler // ranks whose work takes longer
}

// Straggler is a rank whose work takes longer by a fraction.
type Straggler struct {
	Rank   int
	Slower float64
}

// None is the value of a numeric parameter that asks for zero instead of the default.
const None = -1

// The values of Params.Without.
const (
	PointToPoint = "p2p"
	Collectives  = "collectives"
)

// Parameter describes one field of Params.
type Parameter struct {
	Name string // as in Info.Params and in messages
	Info string
}

var parameters = []Parameter{
	{"ranks", "number of ranks"},
	{"size", "bytes of a message, of a vector, or of what each rank contributes"},
	{"root", "rank that sends or receives for all"},
	{"algorithm", "algorithm of the collective; else the mapping chooses"},
	{"iterations", "how often the pattern is repeated"},
	{"grid", "process grid, e.g. 16x8; else near-square or near-cubic"},
	{"compute", "mean CPU work of a rank per iteration, whole ns"},
	{"jitter", "relative spread of the work, 0 to 1"},
	{"seed", "seed of all random choices"},
	{"periodic", "the grid wraps around"},
	{"corners", "from how many corners the sweeps start: 1, 2, 4 or 8"},
	{"senders", "number of senders; else all other ranks"},
	{"pieces", "pieces of work between which a non-blocking operation gets the CPU, or of a pipelined message"},
	{"tile", "ranks of a copy: the pattern is made for so many and copied; messages stay inside, collectives include all"},
	{"blocks", "blocks of planes and angles of an octant, the stages of its pipeline"},
	{"fixup", "work of flux fix-ups on the outer ranks, relative to that of a block, in 5 of 12 iterations"},
	{"without", "kinds of communication to leave out: p2p, collectives"},
	{"operation", "collective that is timed, e.g. allreduce"},
	{"tensor", "ranks of a tensor group; else the largest divisor of the ranks that divides 8"},
	{"pipeline", "stages of the pipeline; else the largest divisor of the rest that divides 4"},
	{"virtual", "chunks of the model in a stage; more than one: the interleaved schedule"},
	{"microbatches", "microbatches of a copy of the model in an iteration"},
	{"layers", "layers of a stage"},
	{"gradients", "bytes of gradients of a rank"},
	{"overlap", "sum the gradients beside the last backward pass"},
	{"straggler", "ranks whose work takes longer, e.g. 5:20%"},
}

// Parameters returns the names and meanings of all parameters.
func Parameters() []Parameter { return slices.Clone(parameters) }

// withDefaults returns p with the zero fields taken from the defaults of a pattern and None
// turned into zero.
func (p Params) withDefaults(d *Params) Params {
	p.Size = choose(p.Size, d.Size)
	p.Iterations = choose(p.Iterations, max(d.Iterations, 1))
	p.Compute = choose(p.Compute, d.Compute)
	p.Jitter = choose(p.Jitter, d.Jitter)
	p.Corners = choose(p.Corners, max(d.Corners, 1))
	p.Pieces = choose(p.Pieces, max(d.Pieces, 1))
	p.Blocks = choose(p.Blocks, max(d.Blocks, 1))
	p.Microbatches = choose(p.Microbatches, max(d.Microbatches, 1))
	p.Layers = choose(p.Layers, max(d.Layers, 1))
	p.Gradients = choose(p.Gradients, d.Gradients)
	p.Algorithm = cmp.Or(p.Algorithm, d.Algorithm)
	p.Operation = cmp.Or(p.Operation, d.Operation)
	p.Periodic = p.Periodic || d.Periodic
	return p
}

func choose[T int | int64 | float64 | unit.Duration](given, fallback T) T {
	switch given {
	case 0:
		return fallback
	case None:
		return 0
	}
	return given
}

// check tests the parameters that a pattern uses, after the defaults have been filled in.
func (p *Params) check(info *Info) error {
	uses := func(name string) bool { return slices.Contains(info.Params, name) }
	switch {
	case p.Ranks == 0:
		return fmt.Errorf("ranks: not given; say how many ranks the pattern has")
	case p.Ranks < 0 || p.Ranks > math.MaxInt32:
		return fmt.Errorf("ranks: %d is not in 1..%d", p.Ranks, math.MaxInt32)
	case p.Size < 0:
		return fmt.Errorf("size: %d is negative; give bytes, 0 or more", p.Size)
	case p.Iterations < 1:
		return fmt.Errorf("iterations: %d; give at least 1", p.Iterations)
	case p.Compute < 0:
		return fmt.Errorf("compute: %s is negative; give a duration, 0 or more", p.Compute)
	case math.IsNaN(p.Jitter) || p.Jitter < 0 || p.Jitter > 1:
		return fmt.Errorf("jitter: %v is not in 0..1; give a fraction of the work, e.g. 0.1", p.Jitter)
	case uses("compute") && p.Compute > maxCompute:
		return fmt.Errorf("compute: %s per iteration is too long; give at most %s", p.Compute, maxCompute)
	case uses("compute") && int64(p.Compute)%nanosecond != 0:
		return fmt.Errorf("compute: %s has a part of a nanosecond; compute must be whole nanoseconds, e.g. 1ns or 1.5us", p.Compute)
	case uses("root") && (p.Root < 0 || p.Root >= p.Ranks):
		return fmt.Errorf("root: rank %d does not exist; give a rank in 0..%d", p.Root, p.Ranks-1)
	case uses("corners") && !slices.Contains([]int{1, 2, 4, 8}, p.Corners):
		return fmt.Errorf("corners: %d; give 1, 2, 4 or 8", p.Corners)
	case uses("senders") && (p.Senders < 0 || p.Senders >= max(p.Ranks, 2)):
		return fmt.Errorf("senders: %d, but %d ranks leave at most %d beside the root", p.Senders, p.Ranks, p.Ranks-1)
	case uses("tile") && (p.Tile < 0 || p.Tile > 0 && p.Ranks%p.Tile != 0):
		return fmt.Errorf("tile: %d ranks are not copies of %d; give a divisor of the ranks", p.Ranks, p.Tile)
	case uses("blocks") && (p.Blocks < 1 || p.Blocks > maxPieces):
		return fmt.Errorf("blocks: %d is not in 1..%d", p.Blocks, maxPieces)
	case uses("fixup") && !(p.Fixup >= 0 && p.Fixup <= 1):
		return fmt.Errorf("fixup: %v is not in 0..1; give a fraction of the work of a block, e.g. 0.5", p.Fixup)
	case uses("tensor") && (p.Tensor < 0 || p.Pipeline < 0 || p.Virtual < 0):
		return fmt.Errorf("tensor, pipeline, virtual: %d, %d, %d; give at least 1 each", p.Tensor, p.Pipeline, p.Virtual)
	case uses("tensor") && (p.Microbatches < 1 || p.Microbatches > maxPieces || p.Layers < 1 || p.Layers > maxPieces):
		return fmt.Errorf("microbatches, layers: %d, %d are not both in 1..%d", p.Microbatches, p.Layers, maxPieces)
	case uses("tensor") && p.Gradients < 0:
		return fmt.Errorf("gradients: %d is negative; give bytes, 0 or more", p.Gradients)
	case uses("pieces") && (p.Pieces < 1 || p.Pieces > maxPieces):
		return fmt.Errorf("pieces: %d is not in 1..%d", p.Pieces, maxPieces)
	}
	for _, s := range p.Stragglers {
		if !(s.Slower >= 0 && s.Slower <= maxSlower) {
			return fmt.Errorf("straggler: rank %d slower by %v; give a fraction of 0 to %d, e.g. 0.2 or 20%%", s.Rank, s.Slower, maxSlower)
		}
	}
	kinds := []string{PointToPoint, Collectives}
	for _, w := range p.Without {
		if !slices.Contains(kinds, w) {
			return fmt.Errorf("without: there is no %q%s; give %s or %s",
				w, suggest.Phrase(w, kinds), PointToPoint, Collectives)
		}
	}
	return nil
}

const (
	// maxCompute leaves room for the jitter of a single calculation and for the whole ns.
	maxCompute = unit.Duration(1 << 61)
	// maxSlower bounds how much longer a straggler takes.
	maxSlower = 1000
	// maxPieces bounds the operations of one block.
	maxPieces = 1 << 16
)

// ParseGrid reads a process grid such as "16x8" or "4x4x2".
func ParseGrid(text string) ([]int, error) {
	var grid []int
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > math.MaxInt32 {
			return nil, fmt.Errorf("grid: cannot read %q; give numbers of at least 1 joined by x, e.g. 16x8", text)
		}
		grid = append(grid, n)
	}
	return grid, nil
}
