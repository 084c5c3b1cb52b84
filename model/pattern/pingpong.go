package pattern

import "slackline/model/schedule"

// pingpong is one way between the partners: rank r of the lower half and r + half of the upper
// one. With an odd number of ranks the last one stays alone.
type pingpong struct {
	half       int
	size       int64
	back       bool // from the upper half to the lower one
	send, recv uint32
}

func (p *pingpong) fill(rank, _ int, b *schedule.Block) {
	if rank >= 2*p.half {
		return
	}
	upper := rank >= p.half
	partner := rank + p.half
	if upper {
		partner = rank - p.half
	}
	if upper == p.back {
		b.Ops[b.Send(partner, p.size, 0)].Origin = p.send
	} else {
		b.Ops[b.Recv(partner, p.size, 0)].Origin = p.recv
	}
}

var pingpongPattern = definition{
	Info: Info{
		Name: "pingpong", Kind: Exchange,
		Info: "a message there and back between two ranks, or between many pairs at once",
		Details: "Each iteration is compute, then a message from each rank of the lower half to its partner in the upper half (r and r + " +
			"ranks/2), and the answer. Blocking.",
		Params:  []string{"ranks", "size", "iterations", "compute", "jitter", "seed"},
		Example: "slackline simulate pingpong --ranks 2 --size 1MiB --iterations 100 --machine xt4",
	},
	defaults: Params{Size: 1024},
	build: func(s *script) error {
		there := pingpong{half: s.Ranks / 2, size: s.Size, send: s.origin("MPI_Send", "ping"), recv: s.origin("MPI_Recv", "ping")}
		back := pingpong{half: s.Ranks / 2, size: s.Size, send: s.origin("MPI_Send", "pong"), recv: s.origin("MPI_Recv", "pong"), back: true}
		s.compute()
		s.p2p(&there, &back)
		return nil
	},
}
