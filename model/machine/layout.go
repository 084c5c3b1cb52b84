package machine

// Layout is a machine with ranks on it.
type Layout struct {
	Machine *Machine
	Ranks   int
	nodes   []int32 // node by rank; nil: block placement
	perNode int
}

// Layout places ranks on the machine.
func (m *Machine) Layout(ranks int) (*Layout, error) {
	panic("not written")
}

// Uniform reports whether all pairs of ranks are of one class with the same parameters, and which.
func (l *Layout) Uniform() (Class, bool) { panic("not written") }

// Nodes is the number of nodes, counted up to the largest one used.
func (l *Layout) Nodes() int { panic("not written") }

// Node returns the node of a rank.
func (l *Layout) Node(rank int) int { panic("not written") }

// Class returns the class of the pair of ranks.
func (l *Layout) Class(a, b int) Class { panic("not written") }
