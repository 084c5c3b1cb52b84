package collective

import "slackline/model/schedule"

var bcastBinary = Algorithm{
	Op:     schedule.Bcast,
	Name:   "binary",
	Info:   "binary tree with the whole message",
	Rounds: "lg P",
	Volume: "2 s",
	Step:   bcastBinaryStep,
}

func bcastBinaryStep(in *Instance, me, step int, b *schedule.Block) bool {
	return binaryDown(in, me, step, b)
}

// binaryDown sends the parts of the message down a binary tree. While part i comes in, part i-1
// goes out to both children.
func binaryDown(in *Instance, me, step int, b *schedule.Block) bool {
	v := in.relative(me)
	child, n := binaryChildren(v, in.Ranks)
	if v == 0 {
		step++
	} else if step < in.parts {
		b.Recv(in.absolute(binaryParent(v)), in.part(step), 0)
	}
	if step > 0 && step <= in.parts {
		for i := range n {
			b.Send(in.absolute(child+i), in.part(step-1), 0)
		}
	}
	return len(b.Ops) > 0
}
