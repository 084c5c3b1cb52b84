package collective

import "slackline/model/schedule"

var bcastChain = Algorithm{
	Op:        schedule.Bcast,
	Name:      "chain",
	Info:      "chain of all ranks; the message travels in segments",
	Rounds:    "P + n - 2",
	Volume:    "s",
	Segmented: true,
	Segment:   64 << 10,
	parts:     segments,
	Step:      bcastChainStep,
}

func bcastChainStep(in *Instance, me, step int, b *schedule.Block) bool {
	v := in.relative(me)
	if v == 0 {
		step++
	} else if step < in.parts {
		b.Recv(in.absolute(v-1), in.part(step), 0)
	}
	if step > 0 && step <= in.parts && v < in.Ranks-1 {
		b.Send(in.absolute(v+1), in.part(step-1), 0)
	}
	return len(b.Ops) > 0
}
