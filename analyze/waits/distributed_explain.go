package waits

import (
	"context"
	"encoding/binary"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
)

// FindExplanations explains several waits, also of a run that several processes share. All of them call it; process 0 gives
// what is to be explained and gets the explanations, the others nil.
func (r *Result) FindExplanations(ctx context.Context, waits []*Wait) ([]*Explanation, error) {
	var list []*Explanation
	if r.a.part == nil {
		for _, w := range waits {
			list = append(list, r.Explain(w))
		}
		return list, nil
	}
	waits, err := r.a.sendWaits(ctx, waits)
	if err != nil || len(waits) == 0 {
		return nil, err
	}
	s := newSearch(r.a)
	seeds := make([][]charged, len(waits))
	for i, w := range waits {
		for _, c := range r.a.chargedBy(w) {
			s.visit(c.item)
			seeds[i] = append(seeds[i], charged{s.id(c.item), c.amount})
		}
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	in, err := cluster.Gather(ctx, r.a.part.Group, s.append(seeds))
	if err != nil || r.a.part.Group.Rank() != 0 {
		return nil, err
	}
	all := &gatheredSource{causes: map[int]known{}, states: map[int]visited{}}
	seeds = make([][]charged, len(waits))
	for p := range in {
		if !all.read(in[p], seeds) {
			return nil, cluster.ErrGarbled
		}
	}
	x := &explainer{source: all, paths: r.Paths}
	for i, w := range waits {
		list = append(list, x.outermost(w.Metric, w.Rank, w.Path, seeds[i]))
	}
	return list, nil
}

// sendWaits gives all processes the waits that process 0 wants to explain.
func (a *analysis) sendWaits(ctx context.Context, waits []*Wait) ([]*Wait, error) {
	var b []byte
	for _, w := range waits {
		b = w.append(b)
	}
	in, err := cluster.AllGather(ctx, a.part.Group, b)
	if err != nil {
		return nil, err
	}
	waits = nil
	c := chunk.Column{B: in[0]}
	for c.Left() > 0 {
		w := readWait(&c)
		waits = append(waits, &w)
	}
	if c.Bad {
		return nil, cluster.ErrGarbled
	}
	return waits, nil
}

// search finds all wait states that some are due to, and their causes, wherever they are.
type search struct {
	a        *analysis
	causes   *causes
	seen     []bool // by item here
	seenElse []bool // by foreign state
	todo     []int
	out      [][]byte // by process: foreign states to look at
	log      []byte
}

func newSearch(a *analysis) *search {
	return &search{
		a: a, causes: newCauses(a.paths), seen: make([]bool, len(a.states)+len(a.idle)), seenElse: make([]bool, len(a.backward.foreign)),
		out: make([][]byte, a.part.Group.Size()),
	}
}

// id is the number of an item here among those of all processes: wait states, and after them idle phases.
func (s *search) id(item int) int {
	p := s.a.part.Group.Rank()
	if item < len(s.a.states) {
		return s.a.bases[p] + item
	}
	return s.a.bases[len(s.a.bases)-1] + s.a.idleBases[p] + item - len(s.a.states)
}

// The records of a search.
const (
	foundState byte = iota + 1
	foundCauses
)

// visit notes an item here that is to be looked at.
func (s *search) visit(item int) {
	if s.seen[item] {
		return
	}
	s.seen[item] = true
	s.todo = append(s.todo, item)
	if item < len(s.a.states) {
		of := &s.a.states[item]
		s.log = appendUints(append(s.log, foundState, byte(of.metric)), uint64(s.id(item)), uint64(s.a.statePath(item)), uint64(of.order))
	}
}

// run looks at everything, in rounds like those of the backward pass.
func (s *search) run(ctx context.Context) error {
	g := s.a.part.Group
	for {
		for len(s.todo) > 0 {
			item := s.todo[len(s.todo)-1]
			s.todo = s.todo[:len(s.todo)-1]
			s.look(item)
		}
		busy := byte(0)
		for _, b := range s.out {
			if len(b) > 0 {
				busy = 1
			}
		}
		for p, b := range s.out {
			s.out[p] = append([]byte{busy}, b...)
		}
		in, err := g.Exchange(ctx, s.out)
		if err != nil {
			return err
		}
		some := false
		for p := range in {
			c := chunk.Column{B: in[p]}
			some = c.Byte() == 1 || some
			for c.Left() > 0 {
				if !s.lookElse(p, c.Uint()) || c.Bad {
					return cluster.ErrGarbled
				}
			}
			s.out[p] = nil
		}
		if !some {
			return nil
		}
	}
}

// look finds the causes of an item, or asks for them.
func (s *search) look(item int) {
	a := s.a
	if item >= len(a.states) {
		p := &a.idle[item-len(a.states)]
		s.causes.findSerial(a, p)
		s.found(s.id(item), a.rankOf(p.master))
		return
	}
	of := &a.states[item]
	if !a.isHere(of.cause) {
		p := a.ownerOf(of.cause)
		s.out[p] = binary.AppendUvarint(s.out[p], uint64(of.before))
		return
	}
	s.causes.find(a, item)
	s.found(s.id(item), a.rankOf(of.cause))
}

// lookElse finds the causes of a wait state of another process.
func (s *search) lookElse(p int, index uint64) bool {
	b := s.a.backward
	if index >= uint64(b.foreignOf[p+1]-b.foreignOf[p]) {
		return false
	}
	i := b.foreignOf[p] + int(index)
	if f := &b.foreign[i]; !s.seenElse[i] {
		s.seenElse[i] = true
		s.causes.findForeign(s.a, f)
		s.found(s.a.bases[p]+f.number, s.a.rankOf(f.cause))
	}
	return true
}

// found keeps the causes of an item and goes on with them.
func (s *search) found(id, late int) {
	s.log = appendUints(append(s.log, foundCauses), uint64(id), uint64(late))
	s.log = s.causes.append(s.log, s.a)
	for _, w := range s.causes.states {
		s.visit(w.state)
	}
}

// append writes what was found, and the items of each wait.
func (s *search) append(seeds [][]charged) []byte {
	var b []byte
	for _, list := range seeds {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, c := range list {
			b = appendUints(b, uint64(c.item), uint64(c.amount))
		}
	}
	return append(b, s.log...)
}

// visited is a wait state that a search came across.
type visited struct {
	metric Metric
	path   int32
	order  int32
}

// gatheredSource knows what was gathered.
type gatheredSource struct {
	causes map[int]known
	states map[int]visited
}

func (g *gatheredSource) causesOf(item int) known { return g.causes[item] }

func (g *gatheredSource) stateOf(item int) (Metric, int32) {
	s := g.states[item]
	return s.metric, s.path
}

func (g *gatheredSource) order(item int) int32 { return g.states[item].order }

// read takes what a process found.
func (g *gatheredSource) read(b []byte, seeds [][]charged) bool {
	c := chunk.Column{B: b}
	for i := range seeds {
		for range min(c.Uint(), uint64(c.Left())) {
			seeds[i] = append(seeds[i], charged{int(c.Uint()), int64(c.Uint())})
		}
	}
	for c.Left() > 0 {
		switch c.Byte() {
		case foundState:
			metric, id := Metric(c.Byte()), int(c.Uint())
			if metric >= None {
				return false
			}
			g.states[id] = visited{metric, int32(c.Uint()), int32(c.Uint())}
		case foundCauses:
			id, late := int(c.Uint()), int(c.Uint())
			k := known{late: late}
			k.paths, k.states, k.weights, k.total = readCauses(&c)
			g.causes[id] = k
		default:
			return false
		}
	}
	return !c.Bad
}
