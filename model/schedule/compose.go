package schedule

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"unsafe"
)

// Concat returns the program that carries out the given ones one after the other. Each rank goes
// on with the next part when it has finished its own part of the one before: there is no barrier
// in between. All parts have the same number of ranks. Their groups and origins are joined; what
// parts share is listed once.
//
// Messages match as in one program: a receive may take a message of another part if source,
// context and tag agree. Blocking collectives need no distinct tags: all ranks reach them in the
// same order.
func Concat(parts ...Program) (Program, error) {
	if len(parts) == 0 {
		return nil, errors.New("there are no programs to concatenate")
	}
	ranks := parts[0].Ranks()
	for i, p := range parts {
		if p.Ranks() != ranks {
			return nil, fmt.Errorf("programs can be concatenated only if they have the same number of ranks: part %d has %d, part 0 has %d",
				i, p.Ranks(), ranks)
		}
	}
	for rank := range ranks {
		steps := 0
		for _, p := range parts {
			if steps += p.Steps(rank); steps > math.MaxInt32 {
				return nil, fmt.Errorf("the parts together have too many blocks: more than %d on rank %d", math.MaxInt32, rank)
			}
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	c := &concatenation{}
	for _, p := range parts {
		c.add(p, 0)
	}
	return c, c.joinTables(ranks)
}

// joined are programs that make a larger one, with what holds for all of them.
type joined struct {
	list    []part
	shape   Shape
	groups  []Group
	origins []Origin
}

// add adds a program whose ranks begin at one of the larger one.
func (p *joined) add(program Program, rank int) {
	p.list = append(p.list, part{Program: program, rank: int32(rank)})
	p.shape = p.shape.union(program.Shape())
}

// Shape implements Program.
func (p *joined) Shape() Shape { return p.shape }

// Groups implements Program.
func (p *joined) Groups() []Group { return p.groups }

// Origins implements Program.
func (p *joined) Origins() []Origin { return p.origins }

// check refuses tables that are too long.
func (p *joined) check() error {
	if len(p.groups) > math.MaxInt32 || len(p.origins) > math.MaxUint32 {
		return fmt.Errorf("the parts together have too many groups or origins: %d and %d", len(p.groups), len(p.origins))
	}
	return nil
}

// joinOrigins adds the known origins of part i, unless an earlier one has the same list.
func (p *joined) joinOrigins(i int) {
	own := &p.list[i]
	origins := own.Origins()
	for _, q := range p.list[:i] {
		if same(q.Origins(), origins) {
			own.origin = q.origin
			return
		}
	}
	if len(origins) <= 1 {
		return
	}
	if len(p.origins) == 0 {
		p.origins = append(p.origins, Origin{})
	}
	own.origin = uint32(len(p.origins) - 1)
	p.origins = append(p.origins, origins[1:]...)
}

// concatenation is what Concat returns.
type concatenation struct{ joined }

// part is a program inside a larger one: what must be added to the numbers in its operations.
type part struct {
	Program
	rank   int32  // to ranks
	origin uint32 // to origins other than the unknown one
	world  int32  // what group 0 becomes
	group  int32  // to other groups
}

// joinTables makes one list of the groups of all parts and one of their origins.
func (c *concatenation) joinTables(ranks int) error {
	for i := range c.list {
		p := &c.list[i]
		groups, shared := p.Groups(), false
		for _, q := range c.list[:i] {
			if same(q.Groups(), groups) {
				p.group, shared = q.group, true
			}
		}
		if len(groups) > 1 && !shared {
			if len(c.groups) == 0 {
				c.groups = append(c.groups, World(ranks))
			}
			p.group = int32(len(c.groups) - 1)
			c.groups = append(c.groups, groups[1:]...)
		}
		c.joinOrigins(i)
	}
	return c.check()
}

// same reports whether two lists are the same piece of memory.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || unsafe.SliceData(a) == unsafe.SliceData(b))
}

// Ranks implements Program.
func (c *concatenation) Ranks() int { return c.list[0].Ranks() }

// Steps implements Program.
func (c *concatenation) Steps(rank int) int {
	steps := 0
	for i := range c.list {
		steps += c.list[i].Steps(rank)
	}
	return steps
}

// Block implements Program.
func (c *concatenation) Block(rank, step int, b *Block) {
	for i := range c.list {
		p := &c.list[i]
		n := p.Steps(rank)
		if step < n {
			p.fill(rank, step, b)
			return
		}
		step -= n
	}
	b.Reset()
}

// fill fills b with a block of the part and translates its numbers.
func (p *part) fill(rank, step int, b *Block) {
	p.Block(rank, step, b)
	if p.rank == 0 && p.origin == 0 && p.world == 0 && p.group == 0 {
		return
	}
	b.Own()
	calls := false
	for i := range b.Ops {
		op := &b.Ops[i]
		if op.Origin > 0 {
			op.Origin += p.origin
		}
		switch op.Kind {
		case Send, Recv:
			if op.Peer != AnySource {
				op.Peer += p.rank
			}
		case Collective:
			calls = true
		}
	}
	if !calls || p.world == 0 && p.group == 0 {
		return
	}
	for i := range b.Calls {
		if c := &b.Calls[i]; c.Group == 0 {
			c.Group = p.world
		} else {
			c.Group += p.group
		}
	}
}

// Repeat returns the program that carries out p n times, one after the other, as Concat does.
func Repeat(p Program, n int) (Program, error) {
	if n < 1 {
		return nil, fmt.Errorf("a program cannot be repeated %d times; give 1 or more", n)
	}
	for rank := range p.Ranks() {
		if steps := p.Steps(rank); steps > math.MaxInt32/n {
			return nil, fmt.Errorf("%d times the %d blocks of rank %d are too many; the limit is %d", n, steps, rank, math.MaxInt32)
		}
	}
	if n == 1 {
		return p, nil
	}
	return &repetition{p, n}, nil
}

// repetition is what Repeat returns.
type repetition struct {
	Program
	times int
}

// Steps implements Program.
func (r *repetition) Steps(rank int) int { return r.times * r.Program.Steps(rank) }

// Block implements Program.
func (r *repetition) Block(rank, step int, b *Block) {
	r.Program.Block(rank, step%r.Program.Steps(rank), b)
}

// SideBySide returns the program in which several jobs run at the same time, each on ranks of its
// own: those of the first job come first, then those of the second. The jobs do not communicate with each
// other: the world of each becomes a group, on which its collectives work.
func SideBySide(jobs ...Program) (Program, error) {
	if len(jobs) == 0 {
		return nil, errors.New("there are no jobs to run side by side")
	}
	if len(jobs) == 1 {
		return jobs[0], nil
	}
	s := &sideBySide{}
	for _, p := range jobs {
		if s.ranks > math.MaxInt32-p.Ranks() {
			return nil, fmt.Errorf("the jobs together have too many ranks; the limit is %d", math.MaxInt32)
		}
		s.add(p, s.ranks)
		s.ranks += p.Ranks()
	}
	s.groups = append(s.groups, World(s.ranks))
	for i := range s.list {
		s.addTables(i)
	}
	return s, s.check()
}

// sideBySide is what SideBySide returns.
type sideBySide struct {
	joined
	ranks int
}

// addTables adds the groups and origins of job i.
func (s *sideBySide) addTables(i int) {
	job := &s.list[i]
	job.world, job.group = int32(len(s.groups)), int32(len(s.groups))
	s.groups = append(s.groups, Group{First: int(job.rank), Stride: 1, Size: job.Ranks()})
	if groups := job.Groups(); len(groups) > 1 {
		for _, g := range groups[1:] {
			s.groups = append(s.groups, g.shifted(job.rank))
		}
	}
	s.joinOrigins(i)
}

// shifted returns the group with all world ranks larger by some.
func (g *Group) shifted(by int32) Group {
	if g.Ranks == nil {
		return Group{First: g.First + int(by), Stride: g.Stride, Size: g.Size}
	}
	ranks := make([]int32, len(g.Ranks))
	for i, r := range g.Ranks {
		ranks[i] = r + by
	}
	return NewGroup(ranks)
}

// job returns the job of a rank, by halving: there may be many.
func (s *sideBySide) job(rank int) *part {
	return &s.list[sort.Search(len(s.list)-1, func(i int) bool { return int(s.list[i+1].rank) > rank })]
}

// Ranks implements Program.
func (s *sideBySide) Ranks() int { return s.ranks }

// Steps implements Program.
func (s *sideBySide) Steps(rank int) int {
	job := s.job(rank)
	return job.Steps(rank - int(job.rank))
}

// Block implements Program.
func (s *sideBySide) Block(rank, step int, b *Block) {
	job := s.job(rank)
	job.fill(rank-int(job.rank), step, b)
}
