package pattern

import "slackline/model/schedule"

// incast is a message from each of several senders to one root at the same time.
type incast struct {
	ranks, root, senders int
	size                 int64
	send, recv           uint32
}

func (c *incast) fill(rank, _ int, b *schedule.Block) {
	if rank == c.root {
		for i := range c.senders {
			b.Ops[b.Recv((c.root+1+i)%c.ranks, c.size, 0)].Origin = c.recv
		}
		return
	}
	if after := (rank - c.root + c.ranks) % c.ranks; after <= c.senders {
		b.Ops[b.Send(c.root, c.size, 0)].Origin = c.send
	}
}

var incastPattern = definition{
	Info: Info{
		Name: "incast", Kind: Exchange,
		Info: "many ranks send to one at the same time",
		Details: "Each iteration is compute, then a message from each of the senders, which are the ranks after the root. The root has " +
			"posted all receives.",
		Params:  []string{"ranks", "size", "root", "senders", "iterations", "compute", "jitter", "seed"},
		Example: "slackline simulate incast --ranks 1024 --senders 64 --size 8KiB --machine chic",
	},
	defaults: Params{Size: 1024},
	funnel:   always,
	build: func(s *script) error {
		senders := s.Senders
		if senders == 0 {
			senders = s.Ranks - 1
		}
		s.compute()
		s.p2p(&incast{
			ranks: s.Ranks, root: s.Root, senders: senders, size: s.Size,
			send: s.origin("MPI_Send", "incast"), recv: s.origin("MPI_Irecv", "incast"),
		})
		return nil
	},
}
