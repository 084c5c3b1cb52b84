package trace

import "slackline/model/unit"

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
			t := times.correct(e.Time)
			switch e.Kind {
			case Enter:
				if int(e.Region) >= len(c.Regions) {
					continue // the second look says it
				}
				if open = append(open, openCall{e.Region, e.Stack}); !off {
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
