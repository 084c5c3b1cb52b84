package pattern

import (
	"math/bits"

	"slackline/model/schedule"
)

// pairs lets random pairs, drawn anew at each step, exchange messages, or one of each pair send to the
// other. If the number of ranks is odd one rank stays alone.
type pairs struct {
	ranks      int
	size       int64
	seed       uint64
	oneWay     bool
	send, recv uint32
}

func (p *pairs) fill(rank, step int, b *schedule.Block) {
	partner, first := p.partner(rank, step)
	if partner < 0 {
		return
	}
	if first || !p.oneWay {
		b.Ops[b.Send(partner, p.size, 0)].Origin = p.send
	}
	if !first || !p.oneWay {
		b.Ops[b.Recv(partner, p.size, 0)].Origin = p.recv
	}
}

// partner returns the rank that a rank is paired with at a step, or -1, and whether the rank is the
// first of the two. The ranks are in a random order, of which the first two are a pair, the next two,
// and so on.
func (p *pairs) partner(rank, step int) (partner int, first bool) {
	order := permutation{size: uint64(p.ranks), seed: hash(p.seed, uint64(step))}
	own := order.inverse(uint64(rank))
	if own^1 >= order.size {
		return -1, false
	}
	return int(order.at(own ^ 1)), own&1 == 0
}

// permutation is a random order of 0..size-1 in which any place can be looked up without the
// others: a Feistel network over an even number of bits, applied until the value is in range.
type permutation struct {
	size, seed uint64
}

// feistelRounds is enough for statistics; there is no secret to keep.
const feistelRounds = 6

func (p permutation) at(place uint64) uint64 {
	half, mask := p.half()
	for {
		l, r := place>>half, place&mask
		for i := range uint64(feistelRounds) {
			l, r = r, l^hash(p.seed+i, r)&mask
		}
		if place = l<<half | r; place < p.size {
			return place
		}
	}
}

func (p permutation) inverse(value uint64) uint64 {
	half, mask := p.half()
	for {
		l, r := value>>half, value&mask
		for i := uint64(feistelRounds); i > 0; i-- {
			l, r = r^hash(p.seed+i-1, l)&mask, l
		}
		if value = l<<half | r; value < p.size {
			return value
		}
	}
}

// half returns the width of half a place and the mask for it.
func (p permutation) half() (width int, mask uint64) {
	width = (bits.Len64(p.size-1) + 1) / 2
	return width, 1<<width - 1
}

var pairsPattern = definition{
	Info: Info{
		Name: "random-pairs", Kind: Exchange,
		Info: "random pairs exchange messages, new pairs in each iteration",
		Details: "Each iteration is compute, then one phase in which each rank sends to its partner and receives from it. With an odd number " +
			"of ranks one stays alone.",
		Params:  []string{"ranks", "size", "seed", "iterations", "compute", "jitter"},
		Example: "slackline simulate random-pairs --ranks 4096 --size 64KiB --iterations 20 --seed 7 --machine altix",
	},
	defaults: Params{Size: 1024},
	build: func(s *script) error {
		s.compute()
		s.p2p(&pairs{
			ranks: s.Ranks, size: s.Size, seed: s.Seed,
			send: s.origin("MPI_Sendrecv", "exchange"), recv: s.origin("MPI_Sendrecv", "exchange"),
		})
		return nil
	},
}

var bisectionPattern = definition{
	Info: Info{
		Name: "random-bisection", Kind: Exchange,
		Info: "a random half of the ranks sends to the other half, new halves in each iteration",
		Details: "Each iteration is compute, then one phase in which each rank of one half sends to a rank of the other half, a different one " +
			"each. With an odd number of ranks one stays alone. random-pairs is the same in both directions.",
		Params:  []string{"ranks", "size", "seed", "iterations", "compute", "jitter"},
		Example: "slackline simulate random-bisection --ranks 4096 --size 64KiB --iterations 20 --seed 7 --machine altix",
	},
	defaults: Params{Size: 1024},
	build: func(s *script) error {
		s.compute()
		s.p2p(&pairs{
			ranks: s.Ranks, size: s.Size, seed: s.Seed, oneWay: true,
			send: s.origin("MPI_Send", "exchange"), recv: s.origin("MPI_Recv", "exchange"),
		})
		return nil
	},
}
