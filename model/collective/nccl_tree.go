package collective

import "math/bits"

// doubleTree is two binary trees over the nodes of a group, in which every node but node 0 is inner in at most one of them,
// so that together they use the bandwidth in both directions.
//
// In the first one the nodes are in order: node v, written in binary, has as its parent the number whose lowest 1 has
// moved up by one digit, or, if there is no such node, the one without it; node 0 is the root. The second is its mirror image if the
// number of nodes is even, and the same tree with all nodes shifted by one if it is odd.
type doubleTree struct {
	up     [2][]int32    // parent; -1: root
	down   [2][][2]int32 // children; -1: none
	depth  [2][]int32
	height int // of the ranks, with the chains inside nodes
}

func newDoubleTree(in *Instance) *doubleTree {
	n := in.nodes()
	d := &doubleTree{}
	for t := range d.up {
		d.up[t], d.down[t], d.depth[t] = make([]int32, n), make([][2]int32, n), make([]int32, n)
		for v := range n {
			d.down[t][v] = [2]int32{-1, -1}
		}
		for v := range n {
			d.up[t][v] = -1
			if w := inTree(t, v, n); w > 0 {
				parent := int32(fromTree(t, orderedParent(w, n), n))
				d.up[t][v] = parent
				children := &d.down[t][parent]
				if children[0] < 0 {
					children[0] = int32(v)
				} else {
					children[1] = int32(v)
				}
			}
		}
		for v := range n {
			for w := v; d.up[t][w] >= 0; w = int(d.up[t][w]) {
				d.depth[t][v]++
			}
			d.height = max(d.height, int(d.depth[t][v])+in.nodeSize(v)-1)
		}
	}
	return d
}

// orderedParent returns the parent of v, which is not 0, in the tree of n nodes in order.
func orderedParent(v, n int) int {
	low := 1 << bits.TrailingZeros(uint(v))
	if up := v - low | low<<1; up < n {
		return up
	}
	return v - low
}

// inTree returns which node of the first tree a node of tree t stands for, and fromTree is its inverse.
func inTree(t, v, n int) int {
	switch {
	case t == 0:
		return v
	case n%2 == 0:
		return n - 1 - v
	}
	return wrap(v-1, n)
}

func fromTree(t, w, n int) int {
	if t == 1 && n%2 != 0 {
		return wrap(w+1, n)
	}
	return inTree(t, w, n)
}

// member is a rank in one of the flows of an allreduce by trees: a tree and a channel, of which the ranks of a node form a chain
// below the node's first one.
type member struct {
	depth    int
	parent   int // -1: none
	children [3]int
	n        int // children
}

func (in *Instance) member(flow, me int) (m member) {
	tree, channel := flow%2, flow/2
	node := me / in.local
	size := in.nodeSize(node)
	head := func(node int32) int { return in.at(channel, int(node)*in.local) }
	position := in.position(channel, me)
	below := position - node*in.local
	m.depth = int(in.trees.depth[tree][node]) + below
	m.parent = -1
	if below > 0 {
		m.parent = in.at(channel, position-1)
	} else {
		if up := in.trees.up[tree][node]; up >= 0 {
			m.parent = head(up)
		}
		for _, child := range in.trees.down[tree][node] {
			if child >= 0 {
				m.children[m.n] = head(child)
				m.n++
			}
		}
	}
	if below < size-1 {
		m.children[m.n] = in.at(channel, position+1)
		m.n++
	}
	return m
}
