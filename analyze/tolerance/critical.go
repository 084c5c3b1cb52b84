package tolerance

import (
	"cmp"
	"maps"
	"slices"

	"slackline/model/unit"
)

// criticalPath returns the canonical critical path. Every edge on it goes to the rank and the origin
// of the operation at which it ends; that of a message on its way is the receive.
func (e *Evaluation) criticalPath() (*CriticalPath, error) {
	path := &CriticalPath{T: e.T}
	if len(e.s.ops) == 0 {
		return path, nil
	}
	costs, err := newCoster(e.s, e.n)
	if err != nil {
		return nil, err
	}
	costs.gaps = &e.order.protocol
	costs.tellClasses()
	split := splits{ranks: map[int]*Profile{}, origins: map[uint32]*Profile{}, pairs: map[[2]int]*Pair{}}
	for at := e.paths.last; ; {
		rank, index := e.s.graph.Find(int(at.op()))
		if n := len(path.Path); n == 0 || path.Path[n-1] != (Visit{rank, index}) {
			path.Path = append(path.Path, Visit{rank, index})
		}
		a := e.paths.of(at)
		if a.first {
			break
		}
		c := costs.edge(a.way, at)
		c.spend(&path.Profile)
		split.take(e.s, c, rank, at.op())
		if c.m != nil && (c.latencies > 0 || c.data) {
			send := costs.sendOf(a.way, at.op())
			split.message(c, e.s.source(send), int(e.s.ops[send].Peer))
			path.LByClass[c.m.class] += c.units()
		}
		at = a.tail
	}
	slices.Reverse(path.Path)
	split.fill(path)
	return path, nil
}

// sendOf returns the send whose message is on an edge that ends at an operation.
func (c *coster) sendOf(w way, op uint32) uint32 {
	switch w {
	case carry:
		return c.s.partner[op]
	case gap:
		before, _ := c.gaps.gap(op)
		return before
	}
	return op
}

// splits split the critical path.
type splits struct {
	ranks   map[int]*Profile
	origins map[uint32]*Profile
	pairs   map[[2]int]*Pair
}

func (s *splits) take(of *Schedule, c cost, rank int, op uint32) {
	if c.length() == 0 {
		return
	}
	c.spend(entry(s.ranks, rank))
	c.spend(entry(s.origins, of.ops[op].Origin))
}

func (s *splits) message(c cost, from, to int) {
	key := [2]int{min(from, to), max(from, to)}
	pair := entry(s.pairs, key)
	pair.A, pair.B = key[0], key[1]
	pair.L += c.units()
	pair.Bytes += c.size()
}

// entry returns the entry of a key, which is made if it is missing.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}

// fill brings the splits into the path, in ascending order.
func (s *splits) fill(path *CriticalPath) {
	for _, rank := range slices.Sorted(maps.Keys(s.ranks)) {
		p := *s.ranks[rank]
		path.ByRank = append(path.ByRank, RankProfile{rank, p})
		if p.Calc > 0 {
			path.CalcByRank = append(path.CalcByRank, RankTime{rank, p.Calc})
		}
	}
	for _, origin := range slices.Sorted(maps.Keys(s.origins)) {
		path.ByOrigin = append(path.ByOrigin, OriginProfile{origin, *s.origins[origin]})
	}
	keys := slices.SortedFunc(maps.Keys(s.pairs), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, key := range keys {
		path.Pairs = append(path.Pairs, *s.pairs[key])
	}
}

// Total adds up a profile.
func (p *Profile) Total() unit.Duration {
	return p.Calc + p.Overhead + p.Latency + p.Bandwidth + p.Gap + p.Switch
}
