package pattern

import (
	"fmt"
	"strconv"
	"strings"
)

// grid places ranks in a box of one to three dimensions, the first one running fastest. The last
// row (and plane) may be incomplete: then the ranks at its end, and above the gap, lack a
// neighbor, or, if the grid is periodic, their line is shorter and wraps around earlier.
type grid struct {
	ranks    int
	dims     []int
	strides  []int
	periodic uint8 // bit by dimension
}

// Values of grid.periodic.
const (
	periodicX   = 1
	allPeriodic = 1<<3 - 1
)

// newGrid returns the grid that was asked for, or one near to a square or cube.
func newGrid(ranks, dimensions int, asked []int, periodic uint8) (*grid, error) {
	if asked == nil {
		asked = nearCube(ranks, dimensions)
	} else if err := checkGrid(ranks, dimensions, asked); err != nil {
		return nil, err
	}
	g := &grid{ranks: ranks, dims: asked, periodic: periodic}
	stride := 1
	for _, n := range asked {
		g.strides = append(g.strides, stride)
		stride *= n
	}
	return g, nil
}

// grid returns the grid of a pattern with the given number of dimensions.
func (s *script) grid(dimensions int) (*grid, error) {
	periodic := uint8(0)
	if s.Periodic {
		periodic = allPeriodic
	}
	return s.gridWith(dimensions, periodic)
}

// gridWith is grid with dimensions that are periodic whatever the parameters say.
func (s *script) gridWith(dimensions int, periodic uint8) (g *grid, err error) {
	g, err = newGrid(s.Ranks, dimensions, s.Grid, periodic)
	s.prog.grid = g
	return g, err
}

// place is where a rank is.
func (g *grid) place(rank int) []int {
	at := make([]int, len(g.dims))
	for d := range at {
		at[d] = rank / g.strides[d] % g.dims[d]
	}
	return at
}

// checkGrid tests a grid that was asked for: it must hold the ranks exactly.
func checkGrid(ranks, dimensions int, asked []int) error {
	example := formatGrid(factors(ranks, dimensions))
	if len(asked) != dimensions {
		return fmt.Errorf("grid: %s has %d dimensions, the pattern has %d; give e.g. %s",
			formatGrid(asked), len(asked), dimensions, example)
	}
	places := 1
	for _, n := range asked {
		if n < 1 {
			return fmt.Errorf("grid: %s; each number must be at least 1, e.g. %s", formatGrid(asked), example)
		}
		if n > ranks || places > ranks { // not multiplied further, so that nothing overflows
			places = ranks + 1
			break
		}
		places *= n
	}
	if places != ranks {
		return fmt.Errorf("grid: %s does not hold %d ranks exactly; give e.g. %s, or leave it out",
			formatGrid(asked), ranks, example)
	}
	return nil
}

func formatGrid(dims []int) string {
	text := make([]string, len(dims))
	for i, n := range dims {
		text[i] = strconv.Itoa(n)
	}
	return strings.Join(text, "x")
}

// nearCube returns a grid whose longest side is at most twice its shortest: an exact one, if the
// factors of the number of ranks allow it, else the smallest near-cube that holds the ranks, with
// an incomplete end. So a prime number of ranks is not one long line.
func nearCube(ranks, dimensions int) []int {
	dims := factors(ranks, dimensions)
	if dims[0] <= 2*dims[dimensions-1] {
		return dims
	}
	left := ranks
	for d := range dims {
		side := root(left, dimensions-d)
		dims[d] = side
		left = (left + side - 1) / side
	}
	return dims
}

// root returns the smallest n with n^k >= value.
func root(value, k int) int {
	n := 1
	for power(n, k) < value {
		n++
	}
	return n
}

func power(n, k int) int {
	p := 1
	for range k {
		p *= n
	}
	return p
}

// factors returns the factors of n whose largest and smallest are nearest to one another, largest
// first.
func factors(n, count int) []int {
	if count == 1 {
		return []int{n}
	}
	best := []int(nil)
	for f := root(n, count); f >= 1; f-- { // the smallest factor is at most the root
		if n%f != 0 {
			continue
		}
		rest := factors(n/f, count-1)
		if rest[count-2] < f {
			continue // f would not be the smallest
		}
		if best == nil || rest[0]*best[count-1] < best[0]*f {
			best = append(rest, f)
		}
		if count == 2 {
			break // a smaller factor only makes it longer
		}
	}
	return best
}

// neighbors returns the ranks before and after a rank in a dimension, each -1 if there is none. A
// rank is not its own neighbor.
func (g *grid) neighbors(rank, dimension int) (before, after int) {
	n, stride := g.dims[dimension], g.strides[dimension]
	// Ranks fit into 32 bits, whose division is the faster one.
	at := int(uint32(rank) / uint32(stride) % uint32(n))
	before, after = rank-stride, rank+stride
	if at == 0 {
		before = -1
	}
	if at == n-1 || after >= g.ranks {
		after = -1
	}
	if !g.wraps(dimension) {
		return before, after
	}
	if before < 0 {
		if last := min(n-1, (g.ranks-1-rank)/stride); last > 0 {
			before = rank + last*stride
		}
	}
	if after < 0 && at > 0 {
		after = rank - at*stride
	}
	return before, after
}

// neighbor returns the rank before (-1) or after (+1) a rank in a dimension, or -1.
func (g *grid) neighbor(rank, dimension, direction int) int {
	before, after := g.neighbors(rank, dimension)
	if direction < 0 {
		return before
	}
	return after
}

func (g *grid) wraps(dimension int) bool { return g.periodic>>dimension&1 != 0 }
