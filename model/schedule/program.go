package schedule

// Program is what all ranks do, rank by rank and block by block. Its methods may be called from
// several goroutines at once, each with a block of its own, and give the same answer each time.
type Program interface {
	// Ranks is the number of ranks, at least 1.
	Ranks() int
	// Steps is the number of blocks of a rank.
	Steps(rank int) int
	// Block fills b with the block that a rank carries out at a step (0 .. Steps(rank)-1). A
	// block may be empty.
	Block(rank, step int, b *Block)
	// Shape describes what may occur in the blocks.
	Shape() Shape
	// Groups are the communicators that Call.Group names; the first one is the world. An
	// empty list is the world alone.
	Groups() []Group
	// Origins are what Op.Origin names; the first one is the unknown origin. An empty list
	// means that no origin is known.
	Origins() []Origin
}

// SPMD is implemented by programs that know at which steps all ranks do the same.
type SPMD interface {
	// SameCall reports whether all ranks have this step and their blocks there are one equal
	// collective and nothing else.
	SameCall(step int) bool
}

// Gridded is implemented by programs that know the process grid of their ranks.
type Gridded interface {
	// Grid returns the sides of the grid, along which of them it wraps around, and where a rank is; no sides: there is no grid.
	Grid() (sides []int, periodic []bool, at func(rank int) []int)
}

// Shape bounds what occurs in a program, so that an engine can be chosen before it runs. A bound
// may be loose, never too tight.
type Shape struct {
	CPUs, NICs  int  // largest number used, plus 1; at least 1
	Agents      bool // operations of CPUs other than 0 are all inner ones
	Wildcards   bool // receives with AnySource or AnyTag
	Graphs      bool // blocks with dependencies, or with a collective beside other operations
	Collectives bool // symbolic collectives
}

// union returns the shape that holds for two programs together.
func (s Shape) union(o Shape) Shape {
	return Shape{
		CPUs:        max(s.CPUs, o.CPUs, 1),
		NICs:        max(s.NICs, o.NICs, 1),
		Wildcards:   s.Wildcards || o.Wildcards,
		Graphs:      s.Graphs || o.Graphs,
		Collectives: s.Collectives || o.Collectives,
	}
}

// Group is an ordered set of ranks, as an MPI communicator has it. A group without Ranks is the
// Size ranks from First on, First + Stride, ...; a Stride of 0 counts as 1.
type Group struct {
	Ranks  []int32 // world ranks by rank in the group; nil for a regular group
	First  int
	Stride int
	Size   int
	index  map[int32]int32
}

// World returns the group of all ranks.
func World(ranks int) Group { return Group{Size: ranks} }

// NewGroup returns the group of the given world ranks, which must be distinct.
func NewGroup(ranks []int32) Group {
	g := Group{Ranks: ranks, Size: len(ranks), index: make(map[int32]int32, len(ranks))}
	for i, r := range ranks {
		g.index[r] = int32(i)
	}
	return g
}

// Len is the number of ranks in the group.
func (g *Group) Len() int { return g.Size }

// IsWorld reports whether ranks of the group are world ranks.
func (g *Group) IsWorld() bool { return g.Ranks == nil && g.First == 0 && g.Stride <= 1 }

// Rank returns the world rank of rank i of the group.
func (g *Group) Rank(i int) int {
	if g.Ranks != nil {
		return int(g.Ranks[i])
	}
	return g.First + i*max(g.Stride, 1)
}

// Index returns the rank in the group of a world rank, or -1.
func (g *Group) Index(world int) int {
	if g.Ranks != nil {
		if i, ok := g.index[int32(world)]; ok {
			return int(i)
		}
		return -1
	}
	d, s := world-g.First, max(g.Stride, 1)
	if d < 0 || d%s != 0 || d/s >= g.Size {
		return -1
	}
	return d / s
}
