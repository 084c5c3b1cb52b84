package machine

import "fmt"

// Topology is a network of switches with nodes at its edge: how many switches lie between two
// nodes, and by which wires messages go. It knows nothing of latencies.
//
// Nodes are numbered from 0 in the order in which they fill the network: those of a switch first,
// then those of its neighborhood. Ways are minimal, and the way back uses the wires of the way there.
type Topology struct {
	spec    string
	nodes   int
	network network
}

// network is what a kind of topology knows. Its methods are asked for nodes i < j.
type network interface {
	nodes() int64
	// switches is the number of switches between two nodes.
	switches(i, j int) int
	// classes names the kinds of wires.
	classes() []string
	// count adds the wires between two nodes to counts, by class: one more than the switches.
	count(i, j int, counts []int)
}

// routed is a network whose ways are known wire by wire.
type routed interface {
	// route appends the wires between two nodes, from i to j.
	route(i, j int, way []Wire) []Wire
	// describe names a wire by its ends and tells its class.
	describe(w Wire) (class int, ends string)
}

// Wire is the number of a wire in its topology. Not every number is that of a wire.
type Wire int64

// String returns the topology as it is given on the command line, such as fattree:k=16.
func (t *Topology) String() string { return t.spec }

// Nodes is the number of nodes.
func (t *Topology) Nodes() int { return t.nodes }

// Switches is the number of switches between two nodes; 0 for a node and itself.
func (t *Topology) Switches(i, j int) int {
	i, j = t.ordered(i, j)
	if i == j {
		return 0
	}
	return t.network.switches(i, j)
}

// WireClasses names the kinds of wires, those of the nodes first.
func (t *Topology) WireClasses() []string { return t.network.classes() }

// CountWires adds the wires between two nodes to counts, which has an entry for each class. Between
// two nodes there is one wire more than there are switches; a node and itself need none.
func (t *Topology) CountWires(i, j int, counts []int) {
	if i, j = t.ordered(i, j); i != j {
		t.network.count(i, j, counts)
	}
}

// Routed reports whether the ways are known wire by wire. They are not for a matrix of hops, and
// not for a dragonfly without h, of which only the length of the ways is known.
func (t *Topology) Routed() bool { return t.routed() != nil }

// Route appends the wires between two nodes to way, from that of the node with the smaller number
// to that of the other. It appends nothing if the topology is not Routed.
func (t *Topology) Route(i, j int, way []Wire) []Wire {
	i, j = t.ordered(i, j)
	r := t.routed()
	if r == nil || i == j {
		return way
	}
	return r.route(i, j, way)
}

// DescribeWire returns the class of a wire that Route has named, and its two ends in words.
func (t *Topology) DescribeWire(w Wire) (class int, ends string) {
	return t.routed().describe(w)
}

func (t *Topology) routed() routed {
	if d, ok := t.network.(dragonfly); ok && d.h == 0 {
		return nil
	}
	r, _ := t.network.(routed)
	return r
}

// ordered returns two nodes, the smaller one first. It panics if there are no such nodes.
func (t *Topology) ordered(i, j int) (int, int) {
	if i > j {
		i, j = j, i
	}
	if i < 0 || j >= t.nodes {
		panic(fmt.Sprintf("machine: nodes %d and %d of a topology with %d", i, j, t.nodes))
	}
	return i, j
}

// product returns the product of counts of at least 1, or some number above MaxRanks if it is larger.
func product(factors ...int) int64 {
	n := int64(1)
	for _, f := range factors {
		if n *= int64(f); n > MaxRanks {
			return MaxRanks + 1
		}
	}
	return n
}

// pairNumber numbers the pairs x < y of n things from 0 to n(n-1)/2 - 1.
func pairNumber(x, y, n int) Wire {
	return Wire(x)*Wire(2*n-x-1)/2 + Wire(y-x-1)
}

// pairOf is the inverse of pairNumber.
func pairOf(number Wire, n int) (x, y int) {
	for number >= Wire(n-1-x) {
		number -= Wire(n - 1 - x)
		x++
	}
	return x, x + 1 + int(number)
}
