package collective

import "slackline/model/schedule"

var reduceLinear = Algorithm{
	Op:     schedule.Reduce,
	Name:   "linear",
	Info:   "the root takes and combines the vectors of all others one after the other",
	Rounds: "1",
	Volume: "s",
	Step:   reduceLinearStep,
}

func reduceLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	root, others := int(in.Root), in.Ranks-1
	if me != root {
		if step == 0 {
			b.Send(root, in.Size, 0)
		}
		return step == 0
	}
	if step < others {
		b.Recv(other(step, root), in.Size, 0)
	}
	if step > 0 && step <= others && !in.FreeReduce {
		in.reduce(b, in.Size)
		return true
	}
	return step < others
}
