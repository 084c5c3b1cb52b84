package pattern

import "slackline/model/schedule"

// token passes one message around a ring: rank 0 begins and is the last to receive. It is two
// blocks per rank; first says which of them.
type token struct {
	ranks      int
	size       int64
	first      bool
	send, recv uint32
}

func (t *token) fill(rank, _ int, b *schedule.Block) {
	if t.ranks < 2 {
		return
	}
	if t.first == (rank == 0) {
		b.Ops[b.Send((rank+1)%t.ranks, t.size, 0)].Origin = t.send
	} else {
		b.Ops[b.Recv((rank+t.ranks-1)%t.ranks, t.size, 0)].Origin = t.recv
	}
}

// shift lets every rank send to the next one and receive from the one before at the same time.
type shift struct {
	ranks      int
	size       int64
	send, recv uint32
}

func (t *shift) fill(rank, _ int, b *schedule.Block) {
	if t.ranks < 2 {
		return
	}
	b.Ops[b.Send((rank+1)%t.ranks, t.size, 0)].Origin = t.send
	b.Ops[b.Recv((rank+t.ranks-1)%t.ranks, t.size, 0)].Origin = t.recv
}

// twoTokens passes two messages around a ring at the same time, one in each direction.
type twoTokens struct {
	ranks      int
	size       int64
	send, recv uint32
}

func (t *twoTokens) fill(rank, _ int, b *schedule.Block) {
	if t.ranks < 2 {
		return
	}
	for tag, step := range []int{1, t.ranks - 1} {
		send := b.Send((rank+step)%t.ranks, t.size, uint32(tag))
		recv := b.Recv((rank+t.ranks-step)%t.ranks, t.size, uint32(tag))
		b.Ops[send].Origin, b.Ops[recv].Origin = t.send, t.recv
		if rank > 0 {
			b.Require(send, recv)
		}
	}
	b.Link()
}

var doubleRingPattern = definition{
	Info: Info{
		Name: "double-ring", Kind: Exchange,
		Info: "two messages go around all ranks at the same time, in opposite directions",
		Details: "Each iteration is compute, then one round: rank 0 sends a message to rank 1 and one to the last rank; every other rank " +
			"passes on what it gets, until rank 0 has both again.",
		Params:  []string{"ranks", "size", "iterations", "compute", "jitter", "seed"},
		Example: "slackline simulate double-ring --ranks 64 --size 1KiB --machine altix",
	},
	defaults: Params{Size: 1024},
	build: func(s *script) error {
		s.compute()
		s.prog.shape.Graphs = true
		s.p2p(&twoTokens{s.Ranks, s.Size, s.origin("MPI_Isend", "ring"), s.origin("MPI_Irecv", "ring")})
		return nil
	},
}

var ringPattern = definition{
	Info: Info{
		Name: "ring", Kind: Exchange,
		Info:    "one message goes around all ranks, blocking",
		Details: "Each iteration is compute, then one round: rank 0 sends to 1, which sends to 2, and so on until rank 0 has the message again.",
		Params:  []string{"ranks", "size", "iterations", "compute", "jitter", "seed"},
		Example: "slackline simulate ring --ranks 64 --size 1KiB --machine altix",
	},
	defaults: Params{Size: 1024},
	build: func(s *script) error {
		t := token{ranks: s.Ranks, size: s.Size, send: s.origin("MPI_Send", "ring"), recv: s.origin("MPI_Recv", "ring")}
		first := t
		first.first = true
		s.compute()
		s.p2p(&first, &t)
		return nil
	},
}

var shiftPattern = definition{
	Info: Info{
		Name: "shift", Kind: Exchange,
		Info:    "every rank sends to the next and receives from the one before",
		Details: "Each iteration is compute, then one phase in which all ranks send at the same time, as MPI_Sendrecv does.",
		Params:  []string{"ranks", "size", "iterations", "compute", "jitter", "seed"},
		Example: "slackline simulate shift --ranks 1024 --size 8KiB --iterations 10 --machine chic",
	},
	defaults: Params{Size: 1024},
	build: func(s *script) error {
		s.compute()
		s.p2p(&shift{s.Ranks, s.Size, s.origin("MPI_Sendrecv", "shift"), s.origin("MPI_Sendrecv", "shift")})
		return nil
	},
}
