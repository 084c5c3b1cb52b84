package collective

import "slackline/model/schedule"

// Moves on k-nomial trees that several algorithms share. They take the relative rank v.

// treeDown is a broadcast of size bytes: receive from the parent, then send to all children, the
// one with the largest subtree first.
func treeDown(in *Instance, v, k, step int, size int64, b *schedule.Block) bool {
	p := in.Ranks
	if v == 0 {
		step++
	}
	switch step {
	case 0:
		b.Recv(in.absolute(treeParent(v, k, p)), size, 0)
		return true
	case 1:
		n := treeChildren(v, k, p)
		for i := n - 1; i >= 0; i-- {
			b.Send(in.absolute(treeChild(v, k, i)), size, 0)
		}
		return n > 0
	}
	return false
}

// treeUp is a reduction of size bytes: receive from the children, the one with the smallest
// subtree first, and send to the parent. While a contribution is being combined the next one may
// come in.
func treeUp(in *Instance, v, k, step int, size int64, b *schedule.Block) bool {
	n := treeChildren(v, k, in.Ranks)
	if step < n {
		b.Recv(in.absolute(treeChild(v, k, step)), size, 0)
		if step > 0 && !in.FreeReduce {
			in.reduce(b, size)
		}
		return true
	}
	if n > 0 && !in.FreeReduce {
		if step == n {
			in.reduce(b, size)
			return true
		}
		step--
	}
	if step == n && v > 0 {
		b.Send(in.absolute(treeParent(v, k, in.Ranks)), size, 0)
		return true
	}
	return false
}

// treeUpSteps returns the number of steps of treeUp.
func treeUpSteps(in *Instance, v, k int) int {
	n := treeChildren(v, k, in.Ranks)
	if n > 0 && !in.FreeReduce {
		n++
	}
	if v > 0 {
		n++
	}
	return n
}

// treeGather moves the blocks of all ranks to the root: receive those of all subtrees at once,
// then send those of the own subtree to the parent. Blocks are numbered by relative rank if
// relative is set, else by rank.
func treeGather(in *Instance, v, step int, relative bool, b *schedule.Block) bool {
	n := treeChildren(v, 2, in.Ranks)
	if n == 0 {
		step++
	}
	switch step {
	case 0:
		for i := range n {
			c := treeChild(v, 2, i)
			b.Recv(in.absolute(c), subtreeBytes(in, c, relative), 0)
		}
		return true
	case 1:
		if v > 0 {
			b.Send(in.absolute(treeParent(v, 2, in.Ranks)), subtreeBytes(in, v, relative), 0)
		}
		return v > 0
	}
	return false
}

// treeScatter is the inverse of treeGather; the largest subtree comes first.
func treeScatter(in *Instance, v, step int, relative bool, b *schedule.Block) bool {
	if v == 0 {
		step++
	}
	switch step {
	case 0:
		b.Recv(in.absolute(treeParent(v, 2, in.Ranks)), subtreeBytes(in, v, relative), 0)
		return true
	case 1:
		n := treeChildren(v, 2, in.Ranks)
		for i := n - 1; i >= 0; i-- {
			c := treeChild(v, 2, i)
			b.Send(in.absolute(c), subtreeBytes(in, c, relative), 0)
		}
		return n > 0
	}
	return false
}

// treeScatterSteps returns the number of steps of treeScatter.
func treeScatterSteps(in *Instance, v int) int {
	n := 0
	if v > 0 {
		n++
	}
	if treeChildren(v, 2, in.Ranks) > 0 {
		n++
	}
	return n
}

// subtreeBytes returns the size of the blocks of all ranks in the binomial subtree of v.
func subtreeBytes(in *Instance, v int, relative bool) int64 {
	n := treeSpan(v, 2, in.Ranks)
	if relative {
		return in.bytes(v, v+n)
	}
	return in.around(in.absolute(v), n)
}
