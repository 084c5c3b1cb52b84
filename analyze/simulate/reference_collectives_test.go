package simulate

// collectives draws patterns of collectives, one after the other, with calcs of different length
// before and between them.
type collectives struct {
	plan
	draw  draw
	unit  int64
	block int // the next block of all ranks
}

func drawCollectives(d draw, unit int64, ranks, patterns int) plan {
	c := &collectives{plan: plan{ranks: ranks}, draw: d, unit: unit}
	list := []func(size int64){
		c.dissemination, c.gather, c.scatter, c.allToAll, c.bcast, c.reduce, c.halo, c.ring, c.pipeline,
	}
	for range patterns {
		c.jitter()
		list[d(len(list))](int64(d(13)))
		if d.chance(1, 4) { // into the last phase of the pattern
			c.block--
			c.jitter()
		}
	}
	if d.chance(1, 3) {
		for i := range c.ops {
			c.ops[i].place = d(100)
		}
	}
	return c.plan
}

// jitter adds a phase of calcs, or nothing.
func (c *collectives) jitter() {
	longest := []int{0, 5, 20}[c.draw(3)]
	for rank := range c.ranks {
		if longest > 0 {
			c.calc(rank, c.block, int64(c.draw(longest+1))*c.unit)
		}
	}
	c.block++
}

// step adds a message of the current phase.
func (c *collectives) step(from, to int, size int64) {
	c.message(from, c.block, to, c.block, size, 0)
}

func (c *collectives) dissemination(size int64) {
	for distance := 1; distance < c.ranks; distance *= 2 {
		for rank := range c.ranks {
			c.step(rank, (rank+distance)%c.ranks, size)
		}
		c.block++
	}
}

// gather receives in one phase or one by one, in the order of ranks or against it.
func (c *collectives) gather(size int64) {
	root, start := c.draw(c.ranks), c.block
	oneByOne, backwards := c.draw.chance(1, 2), c.draw.chance(1, 2)
	for i := range c.ranks {
		rank := i
		if backwards {
			rank = c.ranks - 1 - i
		}
		if rank == root {
			continue
		}
		c.message(rank, start, root, c.block, size, 0)
		if oneByOne {
			c.block++
		}
	}
	c.block++
}

func (c *collectives) scatter(size int64) {
	root, start := c.draw(c.ranks), c.block
	oneByOne := c.draw.chance(1, 2)
	for rank := range c.ranks {
		if rank == root {
			continue
		}
		c.message(root, c.block, rank, start, size, 0)
		if oneByOne {
			c.block++
		}
	}
	c.block++
}

func (c *collectives) allToAll(size int64) {
	peers := c.ranks
	if c.ranks > 20 { // a wide one stays small enough for the slow oracle
		peers = 4
	}
	for distance := range peers {
		for rank := range c.ranks {
			c.step(rank, (rank+distance)%c.ranks, size)
		}
	}
	c.block++
}

// bcast is the binomial tree: a rank receives in one phase and sends in the next ones.
func (c *collectives) bcast(size int64) {
	for distance := 1; distance < c.ranks; distance *= 2 {
		for rank := 0; rank < distance && rank+distance < c.ranks; rank++ {
			c.step(rank, rank+distance, size)
		}
		c.block++
	}
}

func (c *collectives) reduce(size int64) {
	for distance := 1; distance < c.ranks; distance *= 2 {
		for rank := 0; rank+distance < c.ranks; rank += 2 * distance {
			c.step(rank+distance, rank, size)
			c.calc(rank, c.block+1, size*c.unit)
		}
		c.block += 2
	}
}

// halo exchanges with the neighbors of a torus, then comes a small dissemination.
func (c *collectives) halo(size int64) {
	width := c.draw.between(1, c.ranks)
	for rank := range c.ranks {
		for _, to := range []int{rank + 1, rank - 1, rank + width, rank - width} {
			c.step(rank, (to+c.ranks)%c.ranks, size)
		}
	}
	c.block++
	c.jitter()
	c.dissemination(1)
}

func (c *collectives) ring(size int64) {
	for range min(c.ranks-1, 5) {
		for rank := range c.ranks {
			c.step(rank, (rank+1)%c.ranks, size)
		}
		c.block++
	}
}

// pipeline sends several segments down a chain of ranks, each rank receives one and passes it on.
func (c *collectives) pipeline(size int64) {
	segments, start := c.draw.between(1, 4), c.block
	for segment := range segments {
		for rank := range min(c.ranks, 20) - 1 {
			c.message(rank, start+2*segment+1, rank+1, start+2*segment, size, 0)
		}
	}
	c.block += 2*segments + 1
}
