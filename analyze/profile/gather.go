package profile

import (
	"cmp"
	"context"
	"slices"

	"slackline/internal/cluster"
	"slackline/model/unit"
)

// Of a run that several processes share each makes the profile of its own ranks. Gather brings the entries and what
// was communicated to process 0, whose result is then that of a process that has the whole run:
// every number is a sum, a minimum or a maximum of whole numbers. Communication is one exchange for Gather and three for
// FindIterations; its size is that of the profile and of the list of iterations.

// traffic is what was communicated in the whole run.
type traffic struct {
	links []Link
	sizes []SizeBin
	uses  map[int][]CollectiveUse // by number of parts
}

// Matrix is Matrix of the run.
func (p *Profile) Matrix() []Link {
	if p.gathered != nil {
		return p.gathered.links
	}
	return Matrix(p.Timeline)
}

// Sizes is Sizes of the run.
func (p *Profile) Sizes() []SizeBin {
	if p.gathered != nil {
		return p.gathered.sizes
	}
	return sizes(p.Timeline)
}

// Collectives is Collectives of the run. Of a gathered profile the number of parts is one that Gather was given.
func (p *Profile) Collectives(parts int) []CollectiveUse {
	if p.gathered != nil {
		return p.gathered.uses[parts]
	}
	return Collectives(p.Timeline, parts)
}

// Gather makes the profile of process 0 that of the whole run, if several processes share it; all of them call it. Parts are the
// numbers of parts for which Collectives will be asked.
func (p *Profile) Gather(ctx context.Context, parts ...int) error {
	if p.Timeline.Part == nil {
		return nil
	}
	own := partProfile{p.Entries, p.Unrecorded, Matrix(p.Timeline), sizes(p.Timeline), map[int][]CollectiveUse{}}
	for _, n := range parts {
		own.Uses[n] = Collectives(p.Timeline, n)
	}
	all, err := cluster.GatherValues(ctx, p.Timeline.Part.Group, &own)
	if err != nil || all == nil {
		return err
	}
	sums := &traffic{uses: map[int][]CollectiveUse{}}
	p.Entries, p.ByPath = nil, nil
	clear(p.Unrecorded)
	for _, part := range all {
		if len(part.Unrecorded) != len(p.Unrecorded) {
			return cluster.ErrGarbled
		}
		for r, d := range part.Unrecorded {
			p.Unrecorded[r].AddSum(d)
		}
		p.Entries = append(p.Entries, part.Entries...)
		sums.links = append(sums.links, part.Links...)
		for _, s := range part.Sizes {
			sums.addSize(s)
		}
		for n, uses := range part.Uses {
			for _, u := range uses {
				sums.addUse(n, u)
			}
		}
	}
	slices.SortFunc(sums.links, linkOrder)
	slices.SortFunc(sums.sizes, func(x, y SizeBin) int { return cmp.Compare(x.From, y.From) })
	for n := range sums.uses {
		slices.SortFunc(sums.uses[n], useOrder)
	}
	p.gathered = sums
	p.sumByPath()
	return nil
}

// partProfile is the profile of a process.
type partProfile struct {
	Entries    []Entry
	Unrecorded []unit.Sum
	Links      []Link
	Sizes      []SizeBin
	Uses       map[int][]CollectiveUse // by number of parts
}

// addSize adds the messages of a size.
func (t *traffic) addSize(s SizeBin) {
	for i := range t.sizes {
		if t.sizes[i].From == s.From && t.sizes[i].To == s.To {
			t.sizes[i].add(s.Count, s.Bytes)
			return
		}
	}
	t.sizes = append(t.sizes, s)
}

// addUse adds the collectives of an operation and a number of ranks.
func (t *traffic) addUse(parts int, u CollectiveUse) {
	for i := range t.uses[parts] {
		old := &t.uses[parts][i]
		if old.Op != u.Op || old.Ranks != u.Ranks {
			continue
		}
		old.Calls += u.Calls
		old.Bytes += u.Bytes
		old.Time.AddSum(u.Time)
		old.First, old.Last = min(old.First, u.First), max(old.Last, u.Last)
		for k := range old.Over {
			old.Over[k] += u.Over[k]
		}
		return
	}
	t.uses[parts] = append(t.uses[parts], u)
}

// FindIterations is Iterations, also of a run that several processes share and whose profile was gathered, with waiting times: waits
// calls add for those of the masters that are here. All processes call it; process 0 gets the iterations,
// nil if there are none, the others nil.
func (p *Profile) FindIterations(ctx context.Context, waits func(add func(rank int, at, amount unit.Duration))) (*Iterations, error) {
	if p.Timeline.Part == nil {
		return p.iterations(waits), nil
	}
	g := p.Timeline.Part.Group
	path := int32(0)
	if g.Rank() == 0 {
		path = p.rhythm()
	}
	paths, err := cluster.AllGatherValues(ctx, g, &path)
	if err != nil {
		return nil, err
	}
	if path = paths[0]; path == 0 {
		return nil, nil
	}
	if path < 0 || int(path) >= p.Paths.Len() {
		return nil, cluster.ErrGarbled
	}
	it := p.newIterations(path)
	if err := it.cutTogether(ctx, g); err != nil {
		return nil, err
	}
	if len(it.List) == 0 {
		return nil, nil
	}
	waits(it.addWait)
	sums := p.measure(it)
	all, err := cluster.GatherValues(ctx, g, &sums)
	if err != nil || all == nil {
		return nil, err
	}
	for k := range sums {
		sums[k] = noIteration
		for _, part := range all {
			if len(part) != len(sums) {
				return nil, cluster.ErrGarbled
			}
			sums[k].add(part[k])
		}
	}
	it.finish(sums)
	return it, nil
}

// cutTogether is cut with what all processes know.
func (it *Iterations) cutTogether(ctx context.Context, g cluster.Group) error {
	type cover struct {
		Inside, Whole unit.Sum
		Fewest        int // of ranks here; below 0: there are none
	}
	inside, whole := it.sums()
	all, err := cluster.AllGatherValues(ctx, g, &cover{inside, whole, it.fewest()})
	if err != nil {
		return err
	}
	sum := cover{Fewest: -1}
	for _, c := range all {
		sum.Inside.AddSum(c.Inside)
		sum.Whole.AddSum(c.Whole)
		if c.Fewest >= 0 && (sum.Fewest < 0 || c.Fewest < sum.Fewest) {
			sum.Fewest = c.Fewest
		}
	}
	it.cut(covers(sum.Inside, sum.Whole), sum.Fewest)
	return nil
}
