package pattern

import (
	"math/bits"

	"slackline/model/schedule"
)

// Clocks are brought together by pings: a client sends, the server answers with its time. The
// offsets of more than two clocks follow from those of pairs, in a tree of ceil(log2 P) rounds or one
// pair after the other.

// ClockPings are the pings of a pair: what the rule "100 in a row without a shorter one" takes on average.
const ClockPings = 180

const pingSize = 8 // a time stamp

// treePing is one message of a ping in a round of the tree: the clients are the multiples of
// 2*half, each with the server half above; in the last round, for what is beyond the largest power
// of two, rank r has the server r + half.
type treePing struct {
	ranks, half int
	last        bool
	back        bool
	send, recv  uint32
}

// partner returns the other rank of the pair, and whether rank is its client; -1: it has none.
func (p *treePing) partner(rank int) (int, bool) {
	switch {
	case p.last && rank < p.ranks-p.half, !p.last && rank%(2*p.half) == 0 && rank+p.half < p.ranks:
		return rank + p.half, true
	case p.last && rank >= p.half, !p.last && rank%(2*p.half) == p.half && rank < p.ranks:
		return rank - p.half, false
	}
	return -1, false
}

func (p *treePing) fill(rank, _ int, b *schedule.Block) {
	other, client := p.partner(rank)
	if other < 0 {
		return
	}
	if client != p.back {
		b.Ops[b.Send(other, pingSize, 0)].Origin = p.send
	} else {
		b.Ops[b.Recv(other, pingSize, 0)].Origin = p.recv
	}
}

// treeMerge is what follows the pings of a round: the server sends the offsets that it knows, 2
// numbers for each rank below it, to its client.
type treeMerge struct {
	treePing
	size int64
}

func (p *treeMerge) fill(rank, _ int, b *schedule.Block) {
	other, client := p.partner(rank)
	switch {
	case other < 0:
	case client:
		b.Ops[b.Recv(other, p.size, 1)].Origin = p.recv
	default:
		b.Ops[b.Send(other, p.size, 1)].Origin = p.send
	}
}

// linearPing is one message of a ping between rank 0 and the others, one rank after the other.
type linearPing struct {
	perRank    int // steps of one rank
	back       bool
	send, recv uint32
}

func (p *linearPing) fill(rank, step int, b *schedule.Block) {
	server := step/p.perRank + 1
	other := server
	if rank != 0 {
		other = 0
	}
	switch {
	case rank != 0 && rank != server:
	case (rank == 0) != p.back:
		b.Ops[b.Send(other, pingSize, 0)].Origin = p.send
	default:
		b.Ops[b.Recv(other, pingSize, 0)].Origin = p.recv
	}
}

var treeClocksPattern = definition{
	Info: Info{
		Name: "clocks-tree", Kind: Exchange,
		Info: "bring clocks together by pings of pairs along a binomial tree",
		Details: "Each of ceil(log2 ranks) rounds is 180 pings between each client and its server, then the offsets that the server knows go " +
			"to its client; at the end every rank receives its own. Iterations repeat all of it.",
		Params:  []string{"ranks", "iterations"},
		Example: "slackline simulate clocks-tree --ranks 128 --machine cscs-testbed",
	},
	build: func(s *script) error {
		if s.Ranks < 2 {
			return nil
		}
		ping := treePing{ranks: s.Ranks, send: s.origin("MPI_Send", "ping"), recv: s.origin("MPI_Recv", "ping")}
		send, recv := s.origin("MPI_Send", "merge"), s.origin("MPI_Recv", "merge")
		full := 1 << (bits.Len(uint(s.Ranks)) - 1) // largest power of two that is not more
		round := func(half int, last bool, size int64) {
			there, back := ping, ping
			there.ranks = full
			if last {
				there.ranks = s.Ranks
			}
			there.half, there.last = half, last
			back = there
			back.back = true
			for range ClockPings {
				s.p2p(&there, &back)
			}
			if size > 0 {
				merge := &treeMerge{treePing: there, size: size}
				merge.send, merge.recv = send, recv
				s.p2p(merge)
			}
		}
		for half := 1; half < full; half *= 2 {
			round(half, false, 16*int64(half-1))
		}
		if s.Ranks > full {
			round(full, true, 0)
			s.call(schedule.Call{Op: schedule.Gather, Size: 16}, "last")
		}
		s.call(schedule.Call{Op: schedule.Scatter, Size: 16}, "tell")
		return nil
	},
}

var linearClocksPattern = definition{
	Info: Info{
		Name: "clocks-linear", Kind: Exchange,
		Info: "bring clocks together by pings of rank 0 with one rank after the other",
		Details: "Rank 0 makes 180 pings with rank 1, then with rank 2, and so on: the scheme that the tree is compared with. Iterations " +
			"repeat the pings of each rank.",
		Params:  []string{"ranks", "iterations"},
		Example: "slackline simulate clocks-linear --ranks 128 --machine cscs-testbed",
	},
	build: func(s *script) error {
		if s.Ranks < 2 {
			return nil
		}
		repeated := s.Iterations
		there := linearPing{perRank: 2 * ClockPings * repeated, send: s.origin("MPI_Send", "ping"), recv: s.origin("MPI_Recv", "ping")}
		back := there
		back.back = true
		s.prog.iterations = (s.Ranks - 1) * ClockPings * repeated
		s.prog.share = func(rank int) (first, steps int) {
			if rank == 0 {
				return 0, (s.Ranks - 1) * there.perRank
			}
			return (rank - 1) * there.perRank, there.perRank
		}
		s.p2p(&there, &back)
		return nil
	},
}
