package schedule

// Graph is a schedule with all operations in memory. As a Program it has one block per rank.
//
// The operations of a rank lie together in file order, 24 bytes each, so that whoever works on a
// rank reads one stretch of memory. A Graph is made by a Builder or a reader and not changed
// afterwards.
type Graph struct {
	// Ops[Begin[r]:Begin[r+1]] are the operations of rank r.
	Begin []int
	Ops   []Op

	// Of operation i of rank r wait Dependents[d+First[f+i] : d+First[f+i+1]], where
	// f = Begin[r] + r (every rank has one entry more than operations) and d = DependentBegin[r].
	First          []uint32
	Dependents     []Dependent
	DependentBegin []int

	Calls      []Call   // what the operations of kind Collective name
	GroupList  []Group  // see Program.Groups
	OriginList []Origin // see Program.Origins

	// Names gives labels and line numbers of the file, for messages; nil if there are none.
	Names *Names

	shape Shape
}

// Ranks implements Program.
func (g *Graph) Ranks() int { return len(g.Begin) - 1 }

// Steps implements Program: one block, or none for a rank without operations.
func (g *Graph) Steps(rank int) int {
	if g.Begin[rank] == g.Begin[rank+1] {
		return 0
	}
	return 1
}

// Block implements Program. It does not copy.
func (g *Graph) Block(rank, _ int, b *Block) {
	first, dependents := g.RankDependents(rank)
	b.Borrow(g.RankOps(rank), g.Calls, first, dependents)
}

// RankOps returns the operations of a rank.
func (g *Graph) RankOps(rank int) []Op { return g.Ops[g.Begin[rank]:g.Begin[rank+1]] }

// RankDependents returns the dependencies of a rank in the form of Block.
func (g *Graph) RankDependents(rank int) (first []uint32, dependents []Dependent) {
	return g.First[g.Begin[rank]+rank : g.Begin[rank+1]+rank+1],
		g.Dependents[g.DependentBegin[rank]:g.DependentBegin[rank+1]]
}

// Shape implements Program.
func (g *Graph) Shape() Shape { return g.shape }

// Groups implements Program.
func (g *Graph) Groups() []Group { return g.GroupList }

// Origins implements Program.
func (g *Graph) Origins() []Origin { return g.OriginList }
