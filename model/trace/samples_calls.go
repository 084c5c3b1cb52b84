package trace

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// survey is what a first look at the events of a location shows: the pools of its gaps, and where calls were
// made from of which the trace does not say it.
type survey struct {
	tree      *stackTree
	pools     poolTable
	seen      []bool            // nodes of the tree that are stacks of this location
	neighbor  map[uint32]uint32 // by region: what the stacks before and after its calls have in common
	unsettled []uint32          // regions that wait for the next stack
	last      uint32            // the last known stack
	idle      bool              // it is a thread of teams

	callers  map[uint32]uint32 // by region: what the stacks that it was seen called from have in common
	found    map[uint32]uint32 // by region: the first stack that ends in it
	onlyLast bool              // stacks of recorded calls are the calling function alone
}

// survey reads the events of a location for the first time.
func (c *conversion) survey(i int) (*survey, error) {
	s := &survey{
		tree: c.stacks, pools: newPoolTable(), seen: make([]bool, len(c.stacks.nodes)), neighbor: map[uint32]uint32{},
		onlyLast: c.CallPaths == "caller",
	}
	g := newGaps(c.stacks, s, false)
	times := c.clocks.of(i)
	worker := c.Locations[i].Thread > 0
	var open []openCall
	off := false
	_, err := c.readEvents(i, func(events []Event) error {
		for k := range events {
			e := &events[k]
			t, _ := times.correct(e.Time) // the second look says if it does not fit
			switch e.Kind {
			case Enter:
				if int(e.Region) >= len(c.Regions) {
					continue // the second look says it
				}
				if open = append(open, openCall{region: e.Region, stack: e.Stack}); !off {
					g.enterCall(t, e)
				}
			case Leave:
				if open = open[:max(len(open)-1, 0)]; !off {
					g.leaveCall(t)
				}
			case RecordingOff, RecordingOn:
				if off == (e.Kind == RecordingOff) {
					continue
				}
				off = !off
				if off {
					for range open {
						g.leaveCall(t)
					}
					g.off(t)
					continue
				}
				g.on(t)
				for _, c := range open {
					g.enterCall(t, &Event{Kind: Enter, Region: c.region, Stack: c.stack})
				}
			case ThreadBegin, ThreadEnd:
				if open = open[:0]; !off {
					g.thread(t, e.Kind)
				}
			default:
				if s.idle = s.idle || worker && e.Kind == TeamBegin; !off {
					g.takes(t, e)
				}
			}
		}
		return nil
	}, func(int64) {})
	g.end()
	s.settle()
	return s, err
}

// gap puts a gap into its pool.
func (s *survey) gap(g *gap) {
	s.pools.find(&g.gapKey).add(g)
	for _, sample := range g.samples {
		s.know(sample.stack)
	}
}

// know notes a stack.
func (s *survey) know(node uint32) {
	for _, region := range s.unsettled {
		s.meet(region, node)
	}
	s.unsettled = s.unsettled[:0]
	s.seen[node] = true
	s.last = node
}

func (s *survey) call(_ unit.Duration, f *frame) {
	if f.caller != 0 && !s.onlyLast {
		s.know(f.caller)
		return
	}
	if s.last != 0 {
		s.meet(f.region-1, s.last)
	}
	s.unsettled = append(s.unsettled, f.region-1)
}

// meet notes a stack before or after a call of a region.
func (s *survey) meet(region, node uint32) {
	if before, ok := s.neighbor[region]; ok {
		node = s.tree.common(before, node)
	}
	s.neighbor[region] = node
}

func (s *survey) enter(unit.Duration, *frame) {}
func (s *survey) stack(unit.Duration, uint32) {}
func (s *survey) leave(unit.Duration)         {}
func (s *survey) record(unit.Duration, Kind)  {}

// settle finds out where functions are called from, after all stacks have been seen.
func (s *survey) settle() {
	s.callers, s.found = map[uint32]uint32{}, map[uint32]uint32{}
	for node := len(s.seen) - 1; node > 0; node-- { // parents come before children
		if s.seen[node] {
			s.seen[s.tree.nodes[node].parent] = true
		}
	}
	for i, seen := range s.seen {
		if !seen || i == 0 {
			continue
		}
		n := s.tree.nodes[i]
		if _, ok := s.found[n.region]; !ok {
			s.found[n.region] = uint32(i)
		}
		parent := n.parent
		for parent != 0 && s.tree.kinds[s.tree.nodes[parent].region]&starter != 0 {
			parent = s.tree.nodes[parent].parent
		}
		if before, ok := s.callers[n.region]; ok {
			parent = s.tree.common(before, parent)
		}
		s.callers[n.region] = parent
	}
	s.seen = nil
	for _, p := range s.pools.pools {
		p.settle()
	}
}

// caller returns where a recorded call was made from, as exactly as it is known. Recent is the last sample.
func (s *survey) caller(f *frame, recent uint32) uint32 {
	region := f.region - 1
	switch {
	case f.caller != 0 && !s.onlyLast:
		return f.caller
	case f.caller != 0:
		function := s.tree.nodes[f.caller].region
		if node, ok := s.tree.last(recent, function); ok {
			return node
		}
		if node, ok := s.found[function]; ok {
			return node
		}
		return f.caller
	}
	if f.outermost && s.idle {
		return 0 // a thread of a team begins with it
	}
	if node, ok := s.callers[region]; ok {
		return node
	}
	return s.neighbor[region]
}

// synthesis gives a location the calls of functions that its stacks show, while its events are read for the
// second time.
type synthesis struct {
	*gaps
	*survey
	l      *timeline.LocationBuilder
	layers []layer // one for each recorded call that is open
	recent uint32  // stack of the last instant
	room   []uint32
}

// layer is the functions that are open inside of a recorded call.
type layer struct {
	base   uint32 // stack of the recorded call, or that it was called from
	exact  bool   // the trace says so
	region uint32 // of the recorded call, +1; 0: the program
	quiet  bool
	node   uint32 // stack that is open: its functions below depth are calls of the timeline
	depth  int32

	asked  uint32 // the last question to start
	answer int32
}

func newSynthesis(s *survey, l *timeline.LocationBuilder) *synthesis {
	m := &synthesis{survey: s, l: l, layers: []layer{{quiet: s.idle}}}
	m.gaps = newGaps(s.tree, m, s.idle)
	return m
}

func (m *synthesis) layer() *layer { return &m.layers[len(m.layers)-1] }

// start returns the depth at which a stack begins to tell what goes on inside of a recorded call: after the
// function that was recorded, which is the first of its name after those of the recorded calls around it.
func (m *synthesis) start(i int, node uint32) int32 {
	l := &m.layers[i]
	if l.asked == node && node != 0 {
		return l.answer
	}
	t := m.survey.tree
	depth := int32(0)
	if i > 0 {
		depth = m.start(i-1, node)
	}
	common := t.common(l.base, node)
	switch place, ok := t.first(node, l.region-1, depth); {
	case l.region == 0:
	case l.exact && common == l.base:
		depth = t.nodes[l.base].depth
	case ok:
		depth = place
	default:
		depth = max(depth, t.nodes[common].depth)
	}
	for depth < t.nodes[node].depth && t.kinds[t.nodes[t.outer(node, depth+1)].region]&starter != 0 {
		depth++
	}
	l.asked, l.answer = node, depth
	return depth
}

// show makes a stack the open one, at time t: functions that are not in it end, others begin.
func (m *synthesis) show(t unit.Duration, node uint32) {
	l := m.layer()
	if l.quiet || node == l.node {
		return
	}
	tree, depth := m.survey.tree, m.start(len(m.layers)-1, node)
	keep := int32(0)
	if depth == l.depth {
		keep = max(0, tree.nodes[tree.common(l.node, node)].depth-depth)
	}
	for open := tree.nodes[l.node].depth - l.depth; open > keep; open-- {
		m.l.Leave(t)
	}
	m.room = tree.regions(m.room[:0], node, depth+keep)
	for _, region := range m.room {
		m.l.EnterSampled(t, timeline.RegionID(region))
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
	from, before := p.filled, p.next
	p.filled += g.end - g.begin
	for p.next+1 < len(p.samples) && p.samples[p.next].end <= from {
		p.next++
	}
	m.show(g.begin, p.samples[p.next].stack)
	if from == 0 {
		before--
	}
	m.l.Seen(p.next - before)
	for p.next+1 < len(p.samples) && p.samples[p.next].end < p.filled {
		at := p.samples[p.next].end
		p.next++
		m.show(g.begin+at-from, p.samples[p.next].stack)
		m.l.Seen(1)
	}
	m.recent = p.samples[p.next].stack
}

// withoutSamples lets a gap change from the stack before it to that after it in its middle.
func (m *synthesis) withoutSamples(g *gap) {
	at := g.begin + (g.end-g.begin)/2
	if g.left.kind == ProgramBegin || g.left.kind == RecordingOn {
		at = g.begin // nothing is known of what is before it
	}
	switch g.right.kind {
	case Enter:
		m.show(at, m.from(&frame{region: g.right.region + 1, caller: g.right.stack, outermost: len(m.layers) == 1}))
	case Leave:
		m.show(at, m.layer().base)
	}
}

// from returns where a recorded call is made from. What threads of a team do together has the same place for all of
// them, whatever each was seen in before: the recorded call around it.
func (m *synthesis) from(f *frame) uint32 {
	if f.caller == 0 && !f.outermost && m.survey.tree.kinds[f.region-1]&teams != 0 {
		return m.layer().base
	}
	return m.caller(f, m.recent)
}

func (m *synthesis) stack(t unit.Duration, node uint32) { m.show(t, node) }

func (m *synthesis) call(t unit.Duration, f *frame) { m.show(t, m.from(f)) }

func (m *synthesis) enter(t unit.Duration, f *frame) {
	region := f.region - 1
	base := m.survey.tree.child(m.from(f), region)
	exact := f.caller != 0 && !m.onlyLast
	// The time of a system call is recorded as a call of the function that made it.
	seen, known := m.survey.tree.children[Stack{f.caller, region}]
	m.layers = append(m.layers, layer{base: base, exact: exact, region: f.region, quiet: f.quiet, node: base,
		depth: m.survey.tree.nodes[base].depth})
	if known && seen != 0 && f.caller != 0 && m.survey.tree.kinds[region] == 0 {
		m.l.EnterSampled(t, timeline.RegionID(region))
		return
	}
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

// off ends all functions: recording is switched off.
func (m *synthesis) off(t unit.Duration) {
	m.gaps.off(t)
	m.show(t, 0)
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
