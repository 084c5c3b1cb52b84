package collective

import "slackline/model/schedule"

var scatterLinear = Algorithm{
	Op:     schedule.Scatter,
	Name:   "linear",
	Info:   "the root sends to every other rank",
	Rounds: "P - 1",
	Volume: "s (P - 1)",
	Step:   scatterLinearStep,
}

func scatterLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	root := int(in.Root)
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
