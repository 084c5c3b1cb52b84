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
	s.found.Seeds = make([][]charged, len(waits))
	for i, w := range waits {
		for _, c := range r.a.chargedBy(w) {
			s.visit(c.Item)
			s.found.Seeds[i] = append(s.found.Seeds[i], charged{s.id(c.Item), c.Amount})
		}
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	parts, err := cluster.GatherValues(ctx, r.a.part.Group, &s.found)
	if err != nil || parts == nil {
		return nil, err
	}
	all := &gatheredSource{causes: map[int]known{}, states: map[int]foundState{}}
	seeds := make([][]charged, len(waits))
	for _, part := range parts {
		for i := range min(len(seeds), len(part.Seeds)) {
			seeds[i] = append(seeds[i], part.Seeds[i]...)
		}
		for _, f := range part.States {
			all.states[f.ID] = f
		}
		for _, f := range part.Causes {
			all.causes[f.ID] = f.known()
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
	err := cluster.BroadcastValue(ctx, a.part.Group, &waits)
	return waits, err
}

// search finds all wait states that some are due to, and their causes, wherever they are.
type search struct {
	a        *analysis
	causes   *causes
	seen     []bool // by item here
	seenElse []bool // by foreign state
	todo     []int
	out      [][]byte // by process: foreign states to look at
	found    findings
}

// findings are what a process finds.
type findings struct {
	Seeds  [][]charged // by wait that is explained
	States []foundState
	Causes []foundCauses
}

// foundState is a wait state, by its number among those of all processes.
type foundState struct {
	ID     int
	Metric Metric
	Path   int32
	Order  int32
}

// foundCauses are the causes of an item.
type foundCauses struct {
	ID, Late int // item, rank that came late
	Causes   sentCauses
}

func (f *foundCauses) known() known {
	c := &f.Causes
	return known{late: f.Late, paths: c.Paths, states: c.States, weights: c.Weights, total: c.Total}
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

// visit notes an item here that is to be looked at.
func (s *search) visit(item int) {
	if s.seen[item] {
		return
	}
	s.seen[item] = true
	s.todo = append(s.todo, item)
	if item < len(s.a.states) {
		of := &s.a.states[item]
		s.found.States = append(s.found.States, foundState{s.id(item), of.metric, s.a.statePath(item), of.order})
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
		s.take(s.id(item), a.rankOf(p.master))
		return
	}
	of := &a.states[item]
	if !a.isHere(of.cause) {
		p := a.ownerOf(of.cause)
		s.out[p] = binary.AppendUvarint(s.out[p], uint64(of.before))
		return
	}
	s.causes.find(a, item)
	s.take(s.id(item), a.rankOf(of.cause))
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
		s.take(s.a.bases[p]+f.number, s.a.rankOf(f.cause))
	}
	return true
}

// take keeps the causes of an item and goes on with them.
func (s *search) take(id, late int) {
	s.found.Causes = append(s.found.Causes, foundCauses{id, late, s.causes.sent(s.a)})
	for _, w := range s.causes.states {
		s.visit(w.state)
	}
}

// gatheredSource knows what was gathered.
type gatheredSource struct {
	causes map[int]known
	states map[int]foundState
}

func (g *gatheredSource) causesOf(item int) known { return g.causes[item] }

func (g *gatheredSource) stateOf(item int) (Metric, int32) {
	s := g.states[item]
	return s.Metric, s.Path
}

func (g *gatheredSource) order(item int) int32 { return g.states[item].Order }
