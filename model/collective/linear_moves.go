package collective

import "slackline/model/schedule"

// Moves between a root and all other ranks that several algorithms share.

// other returns the rank that is number i among those without the given one.
func other(i, without int) int {
	if i >= without {
		return i + 1
	}
	return i
}

// linearDown sends size bytes from the root to all others at once.
func linearDown(in *Instance, me, root, step int, size int64, b *schedule.Block) bool {
	if step > 0 || in.Ranks == 1 {
		return false
	}
	if me != root {
		b.Recv(root, size, 0)
		return true
	}
	for i := range in.Ranks - 1 {
		b.Send(other(i, root), size, 0)
	}
	return true
}

// linearUp sends size bytes from all others to the root, which takes them all at once.
func linearUp(in *Instance, me, root, step int, size int64, b *schedule.Block) bool {
	if step > 0 || in.Ranks == 1 {
		return false
	}
	if me != root {
		b.Send(root, size, 0)
		return true
	}
	for i := range in.Ranks - 1 {
		b.Recv(other(i, root), size, 0)
	}
	return true
}

// linearScatter sends every other rank its block, all at once.
func linearScatter(in *Instance, me, root, step int, b *schedule.Block) bool {
	if step > 0 || in.Ranks == 1 {
		return false
	}
	if me != root {
		b.Recv(root, in.part(me), 0)
		return true
	}
	for i := range in.Ranks - 1 {
		to := other(i, root)
		b.Send(to, in.part(to), 0)
	}
	return true
}
