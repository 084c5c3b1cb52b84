package profile

import (
	"cmp"
	"slices"

	"slackline/model/unit"
)

// WaitTime is waiting time that somebody else found: part of the time of a call path on a rank.
type WaitTime struct {
	Name string // of the kind of waiting
	Rank int
	Path int32
	Time unit.Duration
	Idle bool // of threads in no call; the path is where their master was
}

// Part is the time of a kind of activity. Waiting has a part for each of its names.
type Part struct {
	Kind Kind
	Name string // of the kind of waiting; else that of the kind
	Time unit.Duration
}

// Composition is what the run consists of: all locations from its start to its end.
type Composition struct {
	Total  unit.Duration // run time x threads, as far as they lived
	Parts  []Part        // by kind, then name; they sum up to the total
	ByRank []RankParts
}

// RankParts is the composition of a rank, in the order of Composition.Parts.
type RankParts struct {
	Total unit.Duration
	Times []unit.Duration
}

// partKey names a part.
type partKey struct {
	kind Kind
	name string
}

// Composition says what the run consists of. Waiting times are taken out of the time of their call paths.
func (p *Profile) Composition(waiting []WaitTime) *Composition {
	times := make([]map[partKey]unit.Duration, p.Timeline.Ranks)
	c := &Composition{ByRank: make([]RankParts, p.Timeline.Ranks)}
	lifetimes := p.lifetimes()
	for r := range times {
		total := lifetimes[r]
		c.ByRank[r].Total = total
		c.Total += total
		times[r] = map[partKey]unit.Duration{}
		add(times[r], Outside, total-p.Unrecorded[r])
		add(times[r], NotRecorded, p.Unrecorded[r])
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		add(times[e.Rank], p.kindOf(e.Path), e.Exclusive)
		add(times[e.Rank], Outside, -e.Exclusive)
	}
	for _, w := range waiting {
		times[w.Rank][partKey{Waiting, w.Name}] += w.Time
		add(times[w.Rank], p.kindUnder(w), -w.Time)
	}
	keys := map[partKey]bool{}
	for _, of := range times {
		for k, t := range of {
			if t != 0 {
				keys[k] = true
			}
		}
	}
	order := make([]partKey, 0, len(keys))
	for k := range keys {
		order = append(order, k)
	}
	slices.SortFunc(order, func(x, y partKey) int { return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.name, y.name)) })
	for _, k := range order {
		part := Part{Kind: k.kind, Name: k.name}
		for r := range times {
			c.ByRank[r].Times = append(c.ByRank[r].Times, times[r][k])
			part.Time += times[r][k]
		}
		c.Parts = append(c.Parts, part)
	}
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

func add(times map[partKey]unit.Duration, k Kind, t unit.Duration) {
	times[partKey{k, k.String()}] += t
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
