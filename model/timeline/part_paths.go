package timeline

import (
	"encoding/binary"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
)

// joinTrees makes one tree of the trees of all processes. Ranks are in the order of the processes, and so the
// paths get the numbers that one process would have given them: each where it occurs first.
func (x *partExchange) joinTrees(branches [][]branch, tree *pathTree) error {
	out := binary.AppendUvarint(nil, uint64(len(tree.nodes)))
	for _, n := range tree.nodes[1:] {
		out = binary.AppendUvarint(out, uint64(n.Parent))
		out = binary.AppendUvarint(out, uint64(n.Region))
	}
	in, err := cluster.AllGather(x.ctx, x.Group, out)
	if err != nil {
		return err
	}
	var all pathTree
	all.grow()
	var own []PathID
	for p := range in {
		nodes, ok := readTree(in[p])
		if !ok {
			return cluster.ErrGarbled
		}
		to := all.graft(0, nodes, nil)
		if p == x.Group.Rank() {
			own = to
		}
	}
	for i := range branches {
		for j := range branches[i] {
			in := branches[i][j].inTree
			for k := range in {
				in[k] = own[in[k]]
			}
		}
	}
	*tree = all
	return nil
}

// readTree reads the nodes of a tree.
func readTree(b []byte) ([]Path, bool) {
	c := chunk.Column{B: b}
	n := c.Uint()
	if n == 0 || n > uint64(len(b)) {
		return nil, false
	}
	nodes := make([]Path, n)
	for i := range nodes[1:] {
		node := &nodes[i+1]
		node.Parent, node.Region = PathID(c.Uint()), RegionID(c.Uint())
		if uint64(node.Parent) > uint64(i) {
			return nil, false
		}
	}
	return nodes, !c.Bad && c.Left() == 0
}
