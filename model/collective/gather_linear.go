package collective

import "slackline/model/schedule"

var gatherLinear = Algorithm{
	Op:     schedule.Gather,
	Name:   "linear",
	Info:   "every other rank sends to the root, which takes them all at once",
	Rounds: "1",
	Volume: "s",
	Step:   gatherLinearStep,
}

func gatherLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	root := int(in.Root)
	if step > 0 || in.Ranks == 1 {
		return false
	}
	if me != root {
		b.Send(root, in.part(me), 0)
		return true
	}
	for i := range in.Ranks - 1 {
		from := other(i, root)
		b.Recv(from, in.part(from), 0)
	}
	return true
}
