package collective

import "slackline/model/schedule"

var scanLinear = Algorithm{
	Op:     schedule.Scan,
	Name:   "linear",
	Info:   "each rank waits for the result of the rank before it, adds its vector and passes it on",
	Rounds: "P - 1",
	Volume: "s",
	Step:   scanLinearStep,
}

func scanLinearStep(in *Instance, me, step int, b *schedule.Block) bool {
	return scanChain(in, me, step, me > 0, b)
}

// scanChain passes the combination of all ranks so far along the ranks. A rank that does not
// combine sends its own vector, or keeps what it gets for itself.
func scanChain(in *Instance, me, step int, combines bool, b *schedule.Block) bool {
	if me == 0 {
		step += 2
	} else if in.FreeReduce && step > 0 {
		step++
	}
	switch step {
	case 0:
		b.Recv(me-1, in.Size, 0)
		return true
	case 1:
		if combines {
			Reduce(b, in.Size)
		}
		return true
	case 2:
		if me < in.Ranks-1 {
			b.Send(me+1, in.Size, 0)
			return true
		}
	}
	return false
}
