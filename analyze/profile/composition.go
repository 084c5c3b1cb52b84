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
	Time    unit.Duration
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
	Kind   Kind            `json:"kind"`
	Name   string          `json:"name"` // of the kind of waiting; else that of the kind
	Time   unit.Duration   `json:"seconds"`
	Share  float64         `json:"share"` // of the total
	ByRank []unit.Duration `json:"by_rank_s"`
}

// Composition is what the run consists of: all locations from its start to its end.
type Composition struct {
	Total unit.Duration // run time x threads, as far as they lived
	Parts []Part        // by kind, then name; they sum up to the total
}

// partKey names a part.
type partKey struct {
	kind Kind
	name string
}

// Composition returns what the run consists of. Waiting times, and those that were not analyzed, are taken out of the time of their call
// paths.
func (p *Profile) Composition(waiting []WaitTime) *Composition {
	times := map[partKey][]unit.Duration{}
	addPart := func(key partKey, rank int, t unit.Duration) {
		if times[key] == nil {
			times[key] = make([]unit.Duration, p.Timeline.Ranks)
		}
		times[key][rank] += t
	}
	add := func(k Kind, rank int, t unit.Duration) { addPart(partKey{k, k.String()}, rank, t) }
	c := &Composition{}
	for r, total := range p.lifetimes() {
		c.Total += total
		add(Outside, r, total-p.Unrecorded[r])
		add(NotRecorded, r, p.Unrecorded[r])
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		add(p.kindOf(e.Path), e.Rank, e.Exclusive)
		add(Outside, e.Rank, -e.Exclusive)
	}
	for _, w := range waiting {
		addPart(w.key(), w.Rank, w.Time)
		add(p.kindUnder(w), w.Rank, -w.Time)
	}
	for key, byRank := range times {
		part := Part{Kind: key.kind, Name: key.name, ByRank: byRank}
		some := false
		for _, t := range byRank {
			part.Time += t
			some = some || t != 0
		}
		if part.Share = float64(part.Time) / float64(c.Total); some {
			c.Parts = append(c.Parts, part)
		}
	}
	slices.SortFunc(c.Parts, func(x, y Part) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name)) })
	return c
}

// lifetimes is how long the threads of each rank lived together.
func (p *Profile) lifetimes() []unit.Duration {
	sums := make([]unit.Duration, p.Timeline.Ranks)
	for l := range p.Timeline.Locations {
		sums[p.Timeline.Locations[l].Rank] += p.Timeline.Lifetime(int32(l))
	}
	return sums
}

// threadsOf is how many threads each rank had on average over the run.
func (p *Profile) threadsOf() []float64 {
	list := make([]float64, p.Timeline.Ranks)
	for r, t := range p.lifetimes() {
		list[r] = 1
		if run := p.RunTime(); run > 0 && t > 0 {
			list[r] = float64(t) / float64(run)
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
