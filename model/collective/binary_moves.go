package collective

import "slackline/model/schedule"

// Moves on binary trees that several algorithms share. They move the parts of a message one after
// the other; with one part they move the whole message.

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
			in.reduce(b, int64(n)*in.part(round))
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
