package collective

import "slackline/model/schedule"

var reduceChain = Algorithm{
	Op:        schedule.Reduce,
	Name:      "chain",
	Info:      "chain of all ranks towards the root; the vector travels in segments",
	Rounds:    "P + n - 2",
	Volume:    "s",
	Segmented: true,
	Segment:   64 << 10,
	parts:     segments,
	Step:      reduceChainStep,
}

func reduceChainStep(in *Instance, me, step int, b *schedule.Block) bool {
	v := in.relative(me)
	if v == in.Ranks-1 { // the start of the chain has nothing to combine
		if v == 0 || step >= in.parts {
			return false
		}
		b.Send(in.absolute(v-1), in.part(step), 0)
		return true
	}
	round, reduces := in.round(step)
	if reduces {
		if round < in.parts {
			in.reduce(b, in.part(round))
		}
		return round < in.parts
	}
	if round < in.parts {
		b.Recv(in.absolute(v+1), in.part(round), 0)
	}
	if round > 0 && round <= in.parts && v > 0 {
		b.Send(in.absolute(v-1), in.part(round-1), 0)
	}
	return len(b.Ops) > 0
}
