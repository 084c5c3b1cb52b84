package tolerance

import (
	"cmp"
	"maps"
	"slices"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// criticalPath returns the canonical critical path. Every edge on it goes to the rank and the origin
// of the operation at which it ends; that of a message on its way is the receive.
func (e *Evaluation) criticalPath() (*CriticalPath, error) {
	path := &CriticalPath{T: e.T}
	if e.last == noTail {
		return path, nil
	}
	costs, err := newCoster(e.s, e.n)
	if err != nil {
		return nil, err
	}
	costs.tellClasses()
	split := splits{ranks: map[int]*Profile{}, origins: map[uint32]*Profile{}, pairs: map[[2]int]*Pair{}}
	back := &tracker{e: e, rank: -1, kept: map[int]keptBlock{}}
	for at := back.last(); ; {
		if n, visit := len(path.Path), (Visit{at.rank, int(at.index)}); n == 0 || path.Path[n-1] != visit {
			path.Path, path.Kinds = append(path.Path, visit), append(path.Kinds, at.op.Kind)
		}
		tail, w, ok := back.before(&at)
		if !ok {
			break
		}
		c := cost{calc: at.op.Size}
		if w == waitFor {
			c = cost{}
		} else if at.op.Kind != schedule.Calc {
			from, send := back.sendOf(w, &at, &tail)
			c = w.of(costs.of(from, int(send.Peer), send.Size, send.IsBuffered()))
			if c.latencies > 0 || c.data {
				split.message(c, from, int(send.Peer))
				path.LByClass[c.m.class] += c.units()
			}
		}
		c.spend(&path.Profile)
		split.take(c, at.rank, at.op.Origin)
		at = tail
	}
	slices.Reverse(path.Path)
	slices.Reverse(path.Kinds)
	split.fill(path)
	return path, nil
}

// splits split the critical path.
type splits struct {
	ranks   map[int]*Profile
	origins map[uint32]*Profile
	pairs   map[[2]int]*Pair
}

func (s *splits) take(c cost, rank int, origin uint32) {
	if c.length() == 0 {
		return
	}
	c.spend(entry(s.ranks, rank))
	c.spend(entry(s.origins, origin))
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
