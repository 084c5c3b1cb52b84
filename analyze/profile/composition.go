package profile

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// WaitTime is waiting time that another analysis found, or time that it could not analyze: part of the time of a call path on a rank.
type WaitTime struct {
	Name    string // of the kind of waiting
	Rank    int
	Path    int32
	Time    unit.Sum
	Idle    bool // of threads in no call; the path is where their master was
	Unknown bool // it could not be analyzed: whether it is waiting is not known
}

// key is the part of the composition that the time belongs to.
func (w *WaitTime) key() partKey {
	if w.Unknown {
		return partKey{NotAnalyzed, NotAnalyzed.String()}
	}
	return partKey{Waiting, w.Name}
}

// Part is the time of a kind of activity. Waiting has a part for each of its names.
type Part struct {
	Kind   Kind       `json:"kind"`
	Name   string     `json:"name"` // of the kind of waiting; else that of the kind
	Time   unit.Sum   `json:"seconds"`
	Share  float64    `json:"share"` // of the total
	ByRank []unit.Sum `json:"by_rank_s"`
}

// Composition is what the run consists of: all locations from its start to its end.
type Composition struct {
	Total unit.Sum // run time x threads, as far as they lived
	Parts []Part   // by kind, then name; they sum up to the total
}

// partKey names a part.
type partKey struct {
	kind Kind
	name string
}

// Composition returns what the run consists of. Waiting times, and those that were not analyzed, are taken out of the time of their call
// paths.
func (p *Profile) Composition(waiting []WaitTime) *Composition {
	times := map[partKey][]unit.Sum{}
	addPart := func(key partKey, rank int, t unit.Sum) {
		if times[key] == nil {
			times[key] = make([]unit.Sum, p.Timeline.Ranks)
		}
		times[key][rank].AddSum(t)
	}
	add := func(k Kind, rank int, t unit.Sum) { addPart(partKey{k, k.String()}, rank, t) }
	take := func(k Kind, rank int, t unit.Sum) { add(k, rank, unit.Sum{}.Minus(t)) }
	c := &Composition{}
	for r, total := range p.lifetimes() {
		c.Total.AddSum(total)
		add(Outside, r, total.Minus(p.Unrecorded[r]))
		add(NotRecorded, r, p.Unrecorded[r])
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		add(p.kindOf(e.Path), e.Rank, e.Exclusive)
		take(Outside, e.Rank, e.Exclusive)
	}
	for _, w := range waiting {
		addPart(w.key(), w.Rank, w.Time)
		take(p.kindUnder(w), w.Rank, w.Time)
	}
	for key, byRank := range times {
		part := Part{Kind: key.kind, Name: key.name, ByRank: byRank}
		some := false
		for _, t := range byRank {
			part.Time.AddSum(t)
			some = some || t.Sign() != 0
		}
		if part.Share = part.Time.Float() / c.Total.Float(); some {
			c.Parts = append(c.Parts, part)
		}
	}
	slices.SortFunc(c.Parts, func(x, y Part) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name)) })
	return c
}

// lifetimes is how long the threads of each rank lived together.
func (p *Profile) lifetimes() []unit.Sum {
	sums := make([]unit.Sum, p.Timeline.Ranks)
	for l := range p.Timeline.Locations {
		sums[p.Timeline.Locations[l].Rank].Add(p.Timeline.Lifetime(int32(l)))
	}
	return sums
}

// threadsOf is how many threads each rank had on average over the run.
func (p *Profile) threadsOf() []float64 {
	list := make([]float64, p.Timeline.Ranks)
	for r, t := range p.lifetimes() {
		list[r] = 1
		if run := p.RunTime(); run > 0 && t.Sign() > 0 {
			list[r] = t.Float() / float64(run)
		}
	}
	return list
}

// kindUnder is the kind of activity that a waiting time is taken out of.
func (p *Profile) kindUnder(w WaitTime) Kind {
	if w.Idle {
		return Outside
	}
	return p.kindOf(w.Path)
}

// kindOf is the kind of a call path.
func (p *Profile) kindOf(path int32) Kind {
	if path == 0 {
		return Outside
	}
	return KindOf(&p.Paths.Region[path])
}
