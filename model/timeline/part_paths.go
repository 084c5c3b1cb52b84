package timeline

import "slackline/internal/cluster"

// sharePaths makes one tree of the trees of all processes. Ranks are in the order of the processes, and so the
// paths get the numbers that one process would have given them: each where it occurs first.
func (x *partExchange) sharePaths() error {
	branches, tree := x.joinOwnPaths()
	trees, err := cluster.AllGatherValues(x.ctx, x.Group, &tree.nodes)
	if err != nil {
		return err
	}
	var all pathTree
	all.grow()
	var own []PathID
	for p, nodes := range trees {
		for i, n := range nodes {
			if i > 0 && int(n.Parent) >= i {
				return cluster.ErrGarbled
			}
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
	x.rewriteAll(branches, all)
	return nil
}
