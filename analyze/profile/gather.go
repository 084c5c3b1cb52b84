package profile

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/timeline"
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
	g := p.Timeline.Part.Group
	in, err := cluster.Gather(ctx, g, p.append(nil, parts))
	if err != nil || g.Rank() != 0 {
		return err
	}
	sums := &traffic{uses: map[int][]CollectiveUse{}}
	p.Entries, p.ByPath = nil, nil
	clear(p.Unrecorded)
	for q := range in {
		c := chunk.Column{B: in[q]}
		if p.take(&c, sums, parts); c.Bad || c.Left() > 0 {
			return cluster.ErrGarbled
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

// append writes what this process has.
func (p *Profile) append(b []byte, parts []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Entries)))
	for i := range p.Entries {
		e := &p.Entries[i]
		b = appendInts(b, int64(e.Path), int64(e.Rank), e.Visits, e.Pieces, e.Samples, int64(e.Exclusive), int64(e.Inclusive), e.Sent.Count,
			e.Sent.Bytes,
			e.Received.Count, e.Received.Bytes, e.Collective.Count, e.Collective.Bytes, e.Transferred, int64(len(e.Counts)))
		b = appendInts(b, e.Counts...)
	}
	b = appendInts(b, int64(len(p.Unrecorded)))
	for _, d := range p.Unrecorded {
		b = appendInts(b, int64(d))
	}
	links := Matrix(p.Timeline)
	b = binary.AppendUvarint(b, uint64(len(links)))
	for _, l := range links {
		b = appendInts(b, int64(l.From), int64(l.To), l.Count, l.Bytes)
	}
	sizes := sizes(p.Timeline)
	b = binary.AppendUvarint(b, uint64(len(sizes)))
	for _, s := range sizes {
		b = appendInts(b, s.From, s.To, s.Count, s.Bytes)
	}
	for _, n := range parts {
		uses := Collectives(p.Timeline, n)
		b = binary.AppendUvarint(b, uint64(len(uses)))
		for _, u := range uses {
			b = appendInts(append(b, byte(u.Op)), int64(u.Ranks), u.Calls, u.Bytes, int64(u.Time), int64(u.First), int64(u.Last))
			b = appendInts(b, u.Over...)
		}
	}
	return b
}

func appendInts(b []byte, values ...int64) []byte {
	for _, v := range values {
		b = chunk.AppendInt(b, v)
	}
	return b
}

// take adds what a process has.
func (p *Profile) take(c *chunk.Column, t *traffic, parts []int) {
	for range min(c.Uint(), uint64(c.Left())) {
		e := Entry{Path: int32(c.Int()), Rank: int(c.Int()), Visits: c.Int(), Pieces: c.Int(), Samples: c.Int(),
			Exclusive: unit.Duration(c.Int()), Inclusive: unit.Duration(c.Int())}
		e.Sent, e.Received, e.Collective = readTraffic(c), readTraffic(c), readTraffic(c)
		if e.Transferred = c.Int(); e.Path < 0 || int(e.Path) >= p.Paths.Len() {
			c.Bad = true
			return
		}
		if n := c.Int(); n != 0 && n != int64(len(p.Timeline.Metrics)) {
			c.Bad = true
			return
		} else if n > 0 {
			for m := range int(n) {
				e.count(int(n), m, c.Int())
			}
		}
		p.Entries = append(p.Entries, e)
	}
	if c.Int() != int64(len(p.Unrecorded)) {
		c.Bad = true
		return
	}
	for r := range p.Unrecorded {
		p.Unrecorded[r] += unit.Duration(c.Int())
	}
	for range min(c.Uint(), uint64(c.Left())) {
		t.links = append(t.links, Link{int(c.Int()), int(c.Int()), readTraffic(c)})
	}
	for range min(c.Uint(), uint64(c.Left())) {
		t.addSize(SizeBin{c.Int(), c.Int(), readTraffic(c)})
	}
	for _, n := range parts {
		for range min(c.Uint(), uint64(c.Left())) {
			u := CollectiveUse{Op: timeline.Op(c.Byte()), Ranks: int(c.Int()), Calls: c.Int(), Bytes: c.Int()}
			u.Time, u.First, u.Last = unit.Duration(c.Int()), unit.Duration(c.Int()), unit.Duration(c.Int())
			u.Over = make([]int64, n)
			for k := range u.Over {
				u.Over[k] = c.Int()
			}
			t.addUse(n, u)
		}
	}
}

func readTraffic(c *chunk.Column) Traffic { return Traffic{c.Int(), c.Int()} }

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
		old.Time += u.Time
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
		it := p.Iterations()
		if it != nil {
			waits(it.addWait)
		}
		return it, nil
	}
	g := p.Timeline.Part.Group
	path := int32(0)
	if g.Rank() == 0 {
		path = p.rhythm()
	}
	in, err := cluster.AllGather(ctx, g, appendInts(nil, int64(path)))
	if err != nil {
		return nil, err
	}
	if path = int32((&chunk.Column{B: in[0]}).Int()); path == 0 {
		return nil, nil
	}
	if path < 0 || int(path) >= p.Paths.Len() {
		return nil, cluster.ErrGarbled
	}
	it := p.newIterations(path)
	if err := it.cutTogether(ctx, g); err != nil {
		return nil, err
	}
	sums := p.measure(it)
	waits(it.addWait)
	var b []byte
	for k, s := range sums {
		b = appendInts(b, int64(s.begin), int64(s.end), int64(s.computation), int64(s.most), int64(s.mpi), int64(it.List[k].Waiting))
		it.List[k].Waiting = 0
	}
	if in, err = cluster.Gather(ctx, g, b); err != nil || g.Rank() != 0 {
		return nil, err
	}
	for k := range sums {
		sums[k] = noIteration
	}
	for q := range in {
		c := chunk.Column{B: in[q]}
		for k := range sums {
			sums[k].add(iterationSum{unit.Duration(c.Int()), unit.Duration(c.Int()), unit.Duration(c.Int()), unit.Duration(c.Int()),
				unit.Duration(c.Int()), unit.Duration(c.Int())})
		}
		if c.Bad || c.Left() > 0 {
			return nil, cluster.ErrGarbled
		}
	}
	it.finish(sums)
	return it, nil
}

// cutTogether is cut with what all processes know.
func (it *Iterations) cutTogether(ctx context.Context, g cluster.Group) error {
	inside, whole := it.sums()
	in, err := cluster.AllGather(ctx, g, appendInts(nil, int64(inside), int64(whole), int64(it.fewest())))
	if err != nil {
		return err
	}
	inside, whole = 0, 0
	fewest := int64(-1)
	for q := range in {
		c := chunk.Column{B: in[q]}
		inside += unit.Duration(c.Int())
		whole += unit.Duration(c.Int())
		if n := c.Int(); n >= 0 && (fewest < 0 || n < fewest) {
			fewest = n
		}
		if c.Bad {
			return cluster.ErrGarbled
		}
	}
	it.cut(covers(inside, whole), int(fewest))
	return nil
}
