package trace

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// synthesis gives a location the calls of functions that its stacks show, while its events are read for the
// second time.
type synthesis struct {
	*gaps
	*survey
	l      *timeline.LocationBuilder
	layers []layer // one for each recorded call that is open
	starts map[startKey]int32
	recent uint32 // stack of the last instant
	room   []uint32
}

// layer is the functions that are open inside of a recorded call.
type layer struct {
	base   uint32 // stack of the recorded call
	region uint32 // of the recorded call, +1; 0: the program
	quiet  bool
	node   uint32 // stack that is open: its functions below depth are calls of the timeline
	depth  int32
}

// startKey asks where a stack begins inside of a recorded call.
type startKey struct{ base, region, node uint32 }

func newSynthesis(s *survey, l *timeline.LocationBuilder) *synthesis {
	m := &synthesis{survey: s, l: l, layers: []layer{{quiet: s.idle}}, starts: map[startKey]int32{}}
	m.gaps = newGaps(s.tree, m, s.idle)
	return m
}

func (m *synthesis) layer() *layer { return &m.layers[len(m.layers)-1] }

// start returns the depth at which a stack begins to tell what goes on inside of a recorded call.
func (m *synthesis) start(l *layer, node uint32) int32 {
	key := startKey{l.base, l.region, node}
	if depth, ok := m.starts[key]; ok {
		return depth
	}
	t := m.survey.tree
	base := t.common(l.base, node)
	if base != l.base && l.region != 0 {
		if inner, ok := t.last(node, l.region-1); ok {
			base = inner
		}
	}
	depth := t.nodes[base].depth
	next := func() (uint32, bool) { return t.nodes[t.outer(node, depth+1)].region, depth < t.nodes[node].depth }
	for region, ok := next(); ok && t.kinds[region] == starter; region, ok = next() {
		depth++
	}
	if region, ok := next(); ok && region+1 == l.region && t.nodes[base].region != region {
		depth++ // the recorded call itself, behind what started its thread
	}
	m.starts[key] = depth
	return depth
}

// show makes a stack the open one, at time t: functions that are not in it end, others begin.
func (m *synthesis) show(t unit.Duration, node uint32) {
	l := m.layer()
	if l.quiet || node == l.node {
		return
	}
	tree, depth := m.survey.tree, m.start(l, node)
	keep := int32(0)
	if depth == l.depth {
		keep = max(0, tree.nodes[tree.common(l.node, node)].depth-depth)
	}
	for open := tree.nodes[l.node].depth - l.depth; open > keep; open-- {
		m.l.Leave(t)
	}
	m.room = tree.regions(m.room[:0], node, depth+keep)
	for _, region := range m.room {
		m.l.Enter(t, timeline.RegionID(region))
	}
	l.node, l.depth = node, depth
}

// gap gives a gap the stacks of its pool.
func (m *synthesis) gap(g *gap) {
	if g.end == g.begin {
		return
	}
	p := m.pools.find(&g.gapKey)
	if len(p.samples) == 0 {
		m.withoutSamples(g)
		return
	}
	from := p.filled
	p.filled += g.end - g.begin
	for p.next+1 < len(p.samples) && p.samples[p.next].end <= from {
		p.next++
	}
	m.show(g.begin, p.samples[p.next].stack)
	for p.next+1 < len(p.samples) && p.samples[p.next].end < p.filled {
		at := p.samples[p.next].end
		p.next++
		m.show(g.begin+at-from, p.samples[p.next].stack)
	}
	m.recent = p.samples[p.next].stack
}

// withoutSamples lets a gap change from the stack before it to that behind it in its middle.
func (m *synthesis) withoutSamples(g *gap) {
	at := g.begin + (g.end-g.begin)/2
	if g.left.kind == ProgramBegin {
		at = g.begin // nothing is known of what is before it
	}
	switch g.right.kind {
	case Enter:
		m.show(at, m.caller(&frame{region: g.right.region + 1, caller: g.right.stack}, m.recent))
	case Leave:
		m.show(at, m.layer().base)
	}
}

func (m *synthesis) call(t unit.Duration, f *frame) { m.show(t, m.caller(f, m.recent)) }

func (m *synthesis) enter(t unit.Duration, f *frame) {
	region := f.region - 1
	base := m.survey.tree.child(m.caller(f, m.recent), region)
	m.layers = append(m.layers, layer{base: base, region: f.region, quiet: f.quiet, node: base, depth: m.survey.tree.nodes[base].depth})
	m.l.Enter(t, timeline.RegionID(region))
}

func (m *synthesis) leave(t unit.Duration) {
	l := m.layer()
	for open := m.survey.tree.nodes[l.node].depth - l.depth; open > 0; open-- {
		m.l.Leave(t)
	}
	m.l.Leave(t)
	m.layers = m.layers[:len(m.layers)-1]
}

func (m *synthesis) record(t unit.Duration, kind Kind) {
	switch kind {
	case Fork:
		m.l.Fork(t)
	case Join:
		m.l.Join(t)
	case TeamBegin:
		m.l.TeamBegin(t)
	case TeamEnd:
		m.l.TeamEnd(t)
	}
}

// finish ends everything that is open; it returns the number of recorded calls among it.
func (m *synthesis) finish() int {
	m.gaps.end()
	unclosed := len(m.layers) - 1
	for len(m.layers) > 1 {
		m.leave(m.gaps.last)
	}
	m.show(m.gaps.last, 0)
	return unclosed
}
