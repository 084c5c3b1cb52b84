package trace

import "slackline/model/unit"

// pool is all gaps of a kind, end to end.
type pool struct {
	key     gapKey
	after   *pool // the pool of the gap that came behind one of this pool the last time
	samples []poolSample
	blocks  []poolBlock

	next   int           // sample whose stack is that of the next instant
	filled unit.Duration // so much of it has got its stacks
}

// poolSample is a sample of a pool, in order of time.
type poolSample struct {
	inner unit.Duration // its half of the time to its neighbours in the same gap
	end   unit.Duration // its stack is open until this time of the pool
	stack uint32
	outer uint8 // how many of its sides are towards an end of the gap
}

// poolBlock is some gaps of a pool, within which the time at the ends of gaps is divided.
type poolBlock struct {
	first int           // its first sample
	outer unit.Duration // the time at the ends of gaps, and of gaps without samples
	sides int64         // of samples that it is divided among
	total unit.Duration
	gaps  int
	front unit.Duration // the time before the first sample of its last gap
}

// blockSides is how many sides of samples a block has at least: so many that what each gets is nearly the same
// whatever the samples are like, so few that samples stay near to where they were taken.
const blockSides = 16

// poolTable finds pools by the kind of their gaps.
type poolTable struct {
	pools map[gapKey]*pool
	last  *pool
}

// find returns the pool of a kind of gaps, a new one if there is none yet. In loops the same kinds follow each other,
// so it mostly looks at one pool only.
func (t *poolTable) find(key *gapKey) *pool {
	p := t.last.after
	if p == nil || p.key != *key {
		if p = t.pools[*key]; p == nil {
			p = &pool{key: *key}
			t.pools[*key] = p
		}
		t.last.after = p
	}
	t.last = p
	return p
}

func newPoolTable() poolTable { return poolTable{map[gapKey]*pool{}, &pool{}} }

// add adds a gap.
func (p *pool) add(g *gap) {
	n := len(p.blocks)
	if n == 0 || p.blocks[n-1].sides >= blockSides {
		p.blocks = append(p.blocks, poolBlock{first: len(p.samples)})
		n++
	}
	b := &p.blocks[n-1]
	b.gaps++
	b.total += g.end - g.begin
	last := len(g.samples) - 1
	if last < 0 {
		b.outer += g.end - g.begin
		return
	}
	b.front = g.samples[0].time - g.begin
	b.outer += b.front + g.end - g.samples[last].time
	b.sides += 2
	for i, s := range g.samples {
		x := poolSample{stack: s.stack}
		if i == 0 {
			x.outer++
		} else {
			d := s.time - g.samples[i-1].time
			x.inner += d - d/2
		}
		if i == last {
			x.outer++
		} else {
			x.inner += (g.samples[i+1].time - s.time) / 2
		}
		p.samples = append(p.samples, x)
	}
}

// settle gives all time of the pool to its samples. The last block joins the one before it if it is small.
func (p *pool) settle() {
	if n := len(p.blocks); n > 1 && p.blocks[n-1].sides < blockSides {
		a, b := &p.blocks[n-2], p.blocks[n-1]
		a.outer, a.sides, a.total, a.gaps = a.outer+b.outer, a.sides+b.sides, a.total+b.total, a.gaps+b.gaps
		p.blocks = p.blocks[:n-1]
	}
	start := unit.Duration(0)
	for i, b := range p.blocks {
		to := len(p.samples)
		if i+1 < len(p.blocks) {
			to = p.blocks[i+1].first
		}
		inner, sides := unit.Duration(0), int64(0)
		for j := b.first; j < to; j++ {
			s := &p.samples[j]
			inner += s.inner
			sides += int64(s.outer)
			s.end = start + inner + unit.Duration(float64(b.outer)*float64(sides)/float64(b.sides))
			if b.gaps == 1 && j < to-1 { // a gap alone: there is nothing to be made equal
				s.end = start + inner + b.front
			}
		}
		start += b.total
	}
	p.blocks = nil
}
