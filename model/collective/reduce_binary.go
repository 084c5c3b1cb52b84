package collective

import "slackline/model/schedule"

var reduceBinary = Algorithm{
	Op:     schedule.Reduce,
	Name:   "binary",
	Info:   "binary tree towards the root with the whole vector",
	Rounds: "lg P",
	Volume: "s",
	Step:   reduceBinaryStep,
}

func reduceBinaryStep(in *Instance, me, step int, b *schedule.Block) bool {
	return binaryUp(in, me, step, b)
}

// binaryUp combines the parts of the vector up a binary tree. While part i comes in from both
// children, part i-1 goes out.
func binaryUp(in *Instance, me, step int, b *schedule.Block) bool {
	v := in.relative(me)
	child, n := binaryChildren(v, in.Ranks)
	if n == 0 {
		if v == 0 || step >= in.parts {
			return false
		}
		b.Send(in.absolute(binaryParent(v)), in.part(step), 0)
		return true
	}
	round, reduces := in.round(step)
	if reduces {
		if round < in.parts {
			Reduce(b, int64(n)*in.part(round))
		}
		return round < in.parts
	}
	if round < in.parts {
		for i := range n {
			b.Recv(in.absolute(child+i), in.part(round), 0)
		}
	}
	if round > 0 && round <= in.parts && v > 0 {
		b.Send(in.absolute(binaryParent(v)), in.part(round-1), 0)
	}
	return len(b.Ops) > 0
}
