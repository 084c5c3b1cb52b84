package simulate

import (
	"slices"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
)

// shrink returns a small case that still fails: it takes things out and makes numbers smaller for
// as long as the case fails.
func shrink(c testCase, fails func(*testCase) bool) testCase {
	s := &shrinker{best: c, fails: fails, tries: 20000}
	for progress := true; progress && s.tries > 0; {
		progress = s.operations()
		progress = s.numbers() || progress
		progress = s.machine() || progress
		progress = s.classes() || progress
		progress = s.noise() || progress
		progress = s.ranks() || progress
	}
	return s.best
}

type shrinker struct {
	best  testCase
	fails func(*testCase) bool
	tries int
}

// try keeps a change if the case still fails with it. The change gets a copy and reports whether it
// changed anything.
func (s *shrinker) try(change func(c *testCase) bool) bool {
	if s.tries == 0 {
		return false
	}
	c := s.best
	c.ops = slices.Clone(c.ops)
	m := *c.testMachine.machine
	c.testMachine.machine = &m
	if c.testMachine.noise != nil {
		n := *c.testMachine.noise
		c.testMachine.noise = &n
	}
	if !change(&c) {
		return false
	}
	s.tries--
	if !s.fails(&c) {
		return false
	}
	s.best = c
	return true
}

// smaller tries 0, half of a number, and one less.
func smaller[T ~int64 | ~int | ~uint32 | ~uint8](s *shrinker, number func(c *testCase) *T) bool {
	progress := false
	for _, f := range []func(T) T{
		func(T) T { return 0 },
		func(x T) T { return x / 2 },
		func(x T) T { return x - 1 },
	} {
		for s.try(func(c *testCase) bool {
			x := number(c)
			if *x <= 0 {
				return false
			}
			*x = f(*x)
			return true
		}) {
			progress = true
		}
	}
	return progress
}

// operations takes out messages, calcs and dependencies.
func (s *shrinker) operations() bool {
	progress := false
	for i := range s.best.ops {
		progress = s.try(func(c *testCase) bool {
			op := &c.ops[i]
			if op.gone {
				return false
			}
			op.gone = true
			if op.partner >= 0 {
				c.ops[op.partner].gone = true
			}
			return true
		}) || progress
		for _, list := range []func(*planOp) *[]int{
			func(op *planOp) *[]int { return &op.requires },
			func(op *planOp) *[]int { return &op.irequires },
		} {
			for k := len(*list(&s.best.ops[i])) - 1; k >= 0; k-- {
				progress = s.try(func(c *testCase) bool {
					l := list(&c.ops[i])
					*l = slices.Delete(slices.Clone(*l), k, k+1)
					return !c.ops[i].gone
				}) || progress
			}
		}
	}
	return progress
}

// numbers makes the numbers of operations smaller.
func (s *shrinker) numbers() bool {
	progress := false
	for i := range s.best.ops {
		if s.best.ops[i].gone {
			continue
		}
		progress = smaller(s, func(c *testCase) *int64 { return &c.ops[i].Size }) || progress
		progress = smaller(s, func(c *testCase) *int { return &c.ops[i].block }) || progress
		progress = smaller(s, func(c *testCase) *uint8 { return &c.ops[i].CPU }) || progress
		progress = smaller(s, func(c *testCase) *uint8 { return &c.ops[i].NIC }) || progress
		progress = s.try(func(c *testCase) bool {
			op := &c.ops[i]
			if op.partner < 0 || op.Tag == 0 && c.ops[op.partner].Tag == 0 {
				return false
			}
			op.Tag, c.ops[op.partner].Tag = 0, 0
			return true
		}) || progress
		progress = s.try(func(c *testCase) bool { // a wildcard becomes a rank
			op := &c.ops[i]
			if op.partner < 0 || op.Peer != schedule.AnySource {
				return false
			}
			op.Peer = int32(c.ops[op.partner].rank)
			return true
		}) || progress
		progress = s.try(func(c *testCase) bool {
			op := &c.ops[i]
			if op.Context == 0 {
				return false
			}
			op.Context, c.ops[op.partner].Context = 0, 0
			return true
		}) || progress
	}
	return progress
}

// machine makes the machine plain.
func (s *shrinker) machine() bool {
	progress := s.try(func(c *testCase) bool {
		was := c.testMachine.machine.SharedNIC
		c.testMachine.machine.SharedNIC = false
		return was
	})
	progress = s.try(func(c *testCase) bool {
		p := &c.testMachine.machine.Placement
		was := p.Cyclic || p.Nodes != nil
		*p = machine.Placement{}
		return was
	}) || progress
	progress = s.try(func(c *testCase) bool {
		m := c.testMachine.machine
		was := m.RanksPerNode != 1 || m.NodesPerSwitch != 0
		m.RanksPerNode, m.NodesPerSwitch = 1, 0
		return was
	}) || progress
	for from := range s.best.testMachine.machine.Classes {
		progress = s.try(func(c *testCase) bool {
			m, changed := c.testMachine.machine, false
			for class := range m.Classes {
				changed = changed || !m.Classes[class].Equal(&m.Classes[from])
				m.Classes[class] = m.Classes[from]
			}
			return changed
		}) || progress
	}
	return progress
}

// classes makes the parameters smaller, in all classes that are equal at once.
func (s *shrinker) classes() bool {
	progress := false
	for class := range s.best.testMachine.machine.Classes {
		for _, number := range []func(p *machine.Params) *int64{
			func(p *machine.Params) *int64 { return (*int64)(&p.Latency) },
			func(p *machine.Params) *int64 { return (*int64)(&p.Gap) },
			func(p *machine.Params) *int64 { return (*int64)(&p.CPUByte) },
			func(p *machine.Params) *int64 {
				p.Overhead = machine.One(p.Overhead[0].Value)
				return (*int64)(&p.Overhead[0].Value)
			},
			func(p *machine.Params) *int64 {
				p.PerByte = machine.One(p.PerByte[0].Value)
				return (*int64)(&p.PerByte[0].Value)
			},
		} {
			for _, f := range []func(int64) int64{
				func(int64) int64 { return 0 },
				func(x int64) int64 { return x / 2 },
				func(x int64) int64 { return x / 1000 },
				func(x int64) int64 { return x - 1000 },
				func(x int64) int64 { return x - 1 },
			} {
				for s.try(func(c *testCase) bool {
					m := c.testMachine.machine
					old := m.Classes[class]
					p := old
					x := number(&p)
					if *x <= 0 || f(*x) < 0 {
						return false
					}
					*x = f(*x)
					for k := range m.Classes {
						if m.Classes[k].Equal(&old) {
							m.Classes[k] = p
						}
					}
					return true
				}) {
					progress = true
				}
			}
		}
		progress = s.try(func(c *testCase) bool {
			m := c.testMachine.machine
			was := m.Classes[class].Eager != machine.NoLimit
			for k := range m.Classes {
				m.Classes[k].Eager = machine.NoLimit
			}
			return was
		}) || progress
	}
	return progress
}

// noise makes the noise simpler.
func (s *shrinker) noise() bool {
	progress := s.try(func(c *testCase) bool {
		was := c.testMachine.noise != nil
		c.testMachine.noise = nil
		return was
	})
	if s.best.testMachine.noise == nil {
		return progress
	}
	progress = s.try(func(c *testCase) bool {
		was := c.testMachine.noise.clock
		c.testMachine.noise.clock = noise.TimeClock
		return was != noise.TimeClock
	}) || progress
	for i := len(s.best.testMachine.noise.detours) - 1; i >= 0; i-- {
		progress = s.try(func(c *testCase) bool {
			n := c.testMachine.noise
			n.detours = slices.Delete(slices.Clone(n.detours), i, i+1)
			return true
		}) || progress
	}
	for i := len(s.best.testMachine.noise.delays) - 1; i >= 0; i-- {
		progress = s.try(func(c *testCase) bool {
			n := c.testMachine.noise
			n.delays = slices.Delete(slices.Clone(n.delays), i, i+1)
			return true
		}) || progress
	}
	for i := range s.best.testMachine.noise.offsets {
		progress = s.try(func(c *testCase) bool {
			n := c.testMachine.noise
			was := n.offsets[i] != 0
			n.offsets = slices.Clone(n.offsets)
			n.offsets[i] = 0
			return was
		}) || progress
	}
	return progress
}

// ranks takes out ranks without operations.
func (s *shrinker) ranks() bool {
	progress := false
	for rank := s.best.ranks - 1; rank >= 0; rank-- {
		progress = s.try(func(c *testCase) bool {
			if c.ranks == 1 {
				return false
			}
			for i := range c.ops {
				op := &c.ops[i]
				switch {
				case op.gone:
				case op.rank == rank || op.Kind != schedule.Calc && int(op.Peer) == rank:
					return false
				case op.Kind != schedule.Calc && int(op.Peer) > rank:
					op.Peer--
				}
				if op.rank > rank {
					op.rank--
				}
				if op.gone && op.rank >= c.ranks-1 {
					op.rank = 0
				}
			}
			c.ranks--
			if n := c.testMachine.noise; n != nil {
				n.offsets = slices.Delete(slices.Clone(n.offsets), rank, rank+1)
				n.delays = nil
			}
			if p := &c.testMachine.machine.Placement; p.Nodes != nil {
				p.Nodes = slices.Delete(slices.Clone(p.Nodes), rank, rank+1)
			}
			return true
		}) || progress
	}
	return progress
}
