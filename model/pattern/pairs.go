package pattern

import (
	"math/bits"

	"slackline/model/schedule"
)

// pairs exchanges messages between random pairs, drawn anew at each step. If the number of ranks
// is odd one rank stays alone.
type pairs struct {
	ranks      int
	size       int64
	seed       uint64
	send, recv uint32
}

func (p *pairs) fill(rank, step int, b *schedule.Block) {
	if partner := p.partner(rank, step); partner >= 0 {
		b.Ops[b.Send(partner, p.size, 0)].Origin = p.send
		b.Ops[b.Recv(partner, p.size, 0)].Origin = p.recv
	}
}

// partner returns the rank that a rank is paired with at a step, or -1. The ranks are in a
// random order, of which the first two are a pair, the next two, and so on.
func (p *pairs) partner(rank, step int) int {
	order := permutation{size: uint64(p.ranks), seed: hash(p.seed, uint64(step))}
	place := order.inverse(uint64(rank)) ^ 1
	if place >= order.size {
		return -1
	}
	return int(order.at(place))
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
		Info:    "random pairs exchange messages, new pairs in each iteration",
		Details: "Each iteration is compute, then one phase in which each rank sends to its partner and receives from it. With an odd number of ranks one stays alone.",
		Params:  []string{"ranks", "size", "seed", "iterations", "compute", "jitter"},
		Example: "slackline simulate random-pairs --ranks 4096 --size 64KiB --iterations 20 --seed 7 --machine altix",
	},
	defaults: Params{Size: 1024},
	build: func(s *script) error {
		s.compute(1, 1)
		s.p2p(&pairs{
			ranks: s.Ranks, size: s.Size, seed: s.Seed,
			send: s.origin("MPI_Sendrecv", "exchange"), recv: s.origin("MPI_Sendrecv", "exchange"),
		})
		return nil
	},
}
