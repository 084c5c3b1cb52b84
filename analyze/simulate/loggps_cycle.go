package simulate

import (
	"slices"

	"slackline/model/schedule"
)

// cycleStep is the start or the end of an operation that has not happened.
type cycleStep struct {
	op    uint32
	isEnd bool
}

// findCycle returns the operations of one cycle after the evaluation has come to a halt. It walks
// from an operation that has not started back to one that this waits for, and on, until it comes by
// a step for the second time.
func (s *static) findCycle() error {
	before := s.stepsBefore()
	first := slices.IndexFunc(s.state, func(op staticOp) bool { return op.waits < hasStarted })
	at := cycleStep{op: uint32(first)}
	seen := make(map[cycleStep]int)
	var walk []cycleStep
	for {
		if first, ok := seen[at]; ok {
			walk = walk[first:]
			break
		}
		seen[at] = len(walk)
		walk = append(walk, at)
		switch {
		case !at.isEnd:
			at = before[at.op]
		case s.state[at.op].waits < hasStarted:
			at.isEnd = false
		default: // it has started and waits for its message, so the partner has not started
			at = cycleStep{op: s.state[at.op].partner}
		}
	}
	slices.Reverse(walk)
	var ops []uint32
	for _, step := range walk {
		if len(ops) == 0 || ops[len(ops)-1] != step.op { // else start and end of one operation
			ops = append(ops, step.op)
		}
	}
	if n := len(ops); n > 1 && ops[0] == ops[n-1] {
		ops = ops[:n-1]
	}
	return schedule.NewCycleError(s.g, ops)
}

// stepsBefore returns, for each operation that has not started, something that it waits for.
func (s *static) stepsBefore() []cycleStep {
	before := make([]cycleStep, len(s.ops))
	for b := range s.blocks {
		from, to := s.g.BlockOps(b)
		first, dependents := s.g.Links(b)
		for i := from; i < to; i++ {
			if s.state[i].waits == hasEnded {
				continue
			}
			if len(dependents) > 0 {
				for _, d := range dependents[first[i-from]:first[i-from+1]] {
					if !d.OnStart() || s.state[i].waits < hasStarted {
						before[from+d.Index()] = cycleStep{uint32(i), !d.OnStart()}
					}
				}
			}
			if next := s.state[i].next; next != noOp && s.state[i].waits < hasStarted {
				before[next] = cycleStep{op: uint32(i)}
			}
		}
		if from == to {
			continue
		}
		if p, ok := s.previous(b); ok && s.blocks[p].left > 0 {
			open, _ := s.g.BlockOps(p)
			for s.state[open].waits == hasEnded {
				open++
			}
			for i := from; i < to; i++ {
				before[i] = cycleStep{uint32(open), true}
			}
		}
	}
	return before
}
