package tolerance

import (
	"math/rand/v2"

	"slackline/model/schedule"
)

// ringGraph is a halo exchange of 64 ranks in a ring, with an allreduce by recursive doubling every
// 10th step: 15,600 operations per rank in 2,000 steps.
func ringGraph(ranks, steps int) *schedule.Graph {
	build := schedule.NewBuilder(ranks)
	random := rand.New(rand.NewPCG(1, 2))
	for rank := range ranks {
		var b schedule.Block
		last := -1
		add := func(op int, on ...int) int {
			for _, o := range on {
				if o >= 0 {
					b.Require(op, o)
				}
			}
			return op
		}
		left, right := (rank+ranks-1)%ranks, (rank+1)%ranks
		for step := range steps {
			tag := uint32(2 * step)
			r1 := add(b.Recv(left, 2048, tag), last)
			r2 := add(b.Recv(right, 2048, tag+1), last)
			s1 := add(b.Send(left, 2048, tag+1), last)
			s2 := add(b.Send(right, 2048, tag), last)
			wait := add(b.Calc(0), r1, r2, s1, s2)
			last = add(b.Calc(int64(5_000+random.IntN(10_000))*1000), wait)
			if step%10 != 9 {
				continue
			}
			for bit := 1; bit < ranks; bit *= 2 {
				s := add(b.Send(rank^bit, 8, 1<<20), last)
				r := add(b.Recv(rank^bit, 8, 1<<20), last)
				last = add(b.Calc(50_000), s, r)
			}
		}
		b.Link()
		build.Add(rank, &b)
	}
	return build.Graph()
}

// haloGraph is a halo exchange on a periodic square of ranks, in which the calculation of the inner
// part overlaps with the messages: 10 operations per rank and step.
func haloGraph(side, steps int) *schedule.Graph {
	ranks := side * side
	build := schedule.NewBuilder(ranks)
	random := rand.New(rand.NewPCG(3, 4))
	for rank := range ranks {
		var b schedule.Block
		x, y := rank%side, rank/side
		at := func(x, y int) int { return (y+side)%side*side + (x+side)%side }
		peers := [4]int{at(x-1, y), at(x+1, y), at(x, y-1), at(x, y+1)}
		last := -1
		for step := range steps {
			tag := uint32(10 * step)
			var messages []int
			for i, peer := range peers {
				messages = append(messages, b.Recv(peer, 4096, tag+uint32(i^1)))
			}
			for i, peer := range peers {
				messages = append(messages, b.Send(peer, 4096, tag+uint32(i)))
			}
			inner := b.Calc(int64(8_000+random.IntN(8_000)) * 1000)
			border := b.Calc(800_000)
			for _, op := range messages {
				if last >= 0 {
					b.Require(op, last)
				}
				b.RequireStart(inner, op)
				b.Require(border, op)
			}
			if last >= 0 {
				b.Require(inner, last)
			}
			b.Require(border, inner)
			last = border
		}
		b.Link()
		build.Add(rank, &b)
	}
	return build.Graph()
}

// randomGraph has operations that depend on others before them, mostly near ones, at random; a third
// of them are calculations.
func randomGraph(ranks, ops int) *schedule.Graph {
	random := rand.New(rand.NewPCG(5, 6))
	blocks := make([]schedule.Block, ranks)
	place := func(rank, op int) {
		b := &blocks[rank]
		if op == 0 {
			return
		}
		for range 1 + random.IntN(2) {
			on := op - 1 - random.IntN(min(op, 6))
			if random.IntN(5) == 0 {
				b.RequireStart(op, on)
			} else {
				b.Require(op, on)
			}
		}
	}
	for n := 0; n < ops; {
		from := random.IntN(ranks)
		if random.IntN(2) == 0 {
			place(from, blocks[from].Calc(int64(1_000+random.IntN(9_000))*1000))
			n++
			continue
		}
		to := random.IntN(ranks)
		size := int64(1 + random.IntN(4096))
		place(from, blocks[from].Send(to, size, 0))
		place(to, blocks[to].Recv(from, size, 0))
		n += 2
	}
	build := schedule.NewBuilder(ranks)
	for rank := range blocks {
		blocks[rank].Link()
		build.Add(rank, &blocks[rank])
	}
	return build.Graph()
}
