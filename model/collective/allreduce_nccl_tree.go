package collective

import "slackline/model/schedule"

var allreduceNCCLTree = Algorithm{
	Op:        schedule.Allreduce,
	Name:      "nccl-tree",
	Info:      "NCCL: up and down two binary trees of nodes, in segments, with a chain inside each node",
	Rounds:    "2 lg P + n / 2",
	Volume:    "2 s",
	Segmented: true,
	Segment:   256 << 10,
	NCCL:      true,
	even:      true,
	parts:     func(in *Instance) int { return evenSegments(in, 2*in.paths) },
	Step:      allreduceNCCLTreeStep,
}

// allreduceNCCLTreeStep goes through the rounds of all flows side by side. With h as the height of the trees, segment i leaves a rank of
// depth d upwards in round i + h - d and downwards in round i + h + d.
func allreduceNCCLTreeStep(in *Instance, me, step int, b *schedule.Block) bool {
	flows, h := 2*in.paths, in.trees.height
	turn, works := in.turn(step)
	segments := (in.parts + flows - 1) / flows
	first, last := 2*h, -1
	for f := range flows {
		m := in.member(f, me)
		first = min(first, h-m.depth-min(m.n, 1))
		last = max(last, segments-1+h+m.depth-1+min(m.n, 1))
	}
	round := turn + first
	if in.Ranks < 2 || round > last {
		return false
	}
	x, reduced := exchange{in: in, b: b, me: me, works: works}, int64(0)
	for f := range flows {
		m := in.member(f, me)
		part := func(since int) (size int64, ok bool) { // of the segment that is due this many rounds after the start
			j := (round-since)*flows + f
			if round < since || j >= in.parts {
				return 0, false
			}
			return in.part(j), true
		}
		if size, ok := part(h - m.depth); ok && m.parent >= 0 {
			x.send(m.parent, size)
		}
		if size, ok := part(h - m.depth - 1); ok && m.n > 0 {
			for _, child := range m.children[:m.n] {
				x.recv(child, size)
				reduced += size
			}
		}
		if size, ok := part(h + m.depth - 1); ok && m.parent >= 0 {
			x.recv(m.parent, size)
		}
		if size, ok := part(h + m.depth); ok {
			for _, child := range m.children[:m.n] {
				x.send(child, size)
			}
		}
	}
	x.finish(reduced)
	return true
}
