package explore

import (
	"context"

	"slackline/model/timeline"
	"slackline/model/unit"
)

const (
	mostLevels = 64      // of calls inside of each other that are shown
	mostWalked = 1 << 22 // calls that are gone through one by one for a stack
)

// answerStack gives the calls of a location by their depth.
func answerStack(ctx context.Context, v *view, q *query) (any, error) {
	location := int(q.number("location", 0, int64(len(v.tl.Locations))-1, 0))
	from, to := q.span(v.length())
	width := q.number("width", 1, MaxWidth, 1024)
	if q.err != nil {
		return nil, q.err
	}
	s := &stacker{
		v: v, calls: &v.tl.Locations[location].Calls, from: v.tl.Start + from, to: v.tl.Start + to,
		step: (to-from-1)/unit.Duration(width) + 1, answer: &Stack{Location: location, Pieces: []StackPiece{}},
	}
	return s.answer, s.walk(ctx, location)
}

// stacker puts the calls of a location that are narrower than a column together, by depth.
type stacker struct {
	v        *view
	calls    *timeline.Calls
	from, to unit.Duration
	step     unit.Duration
	small    [mostLevels]StackPiece // that are being put together, by depth
	longest  [mostLevels]unit.Duration
	answer   *Stack
}

// walk goes through the calls of the window.
func (s *stacker) walk(ctx context.Context, location int) error {
	c := s.calls
	n := int32(c.Len())
	open := s.v.openAt(location, s.from)
	for depth, i := range open {
		s.add(i, depth)
	}
	first := firstAfter(c, s.from)
	many := int32(firstFrom(c.Enter, s.to))-first > mostWalked
	for i := first; i < n && c.Enter[i] < s.to; {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for len(open) > 0 && c.Skip[open[len(open)-1]] <= i {
			open = open[:len(open)-1]
		}
		s.add(i, len(open))
		if many && c.Leave[i]-c.Enter[i] < s.step {
			i = c.Skip[i] // what is inside of it cannot be seen
			continue
		}
		open = append(open, i)
		i++
	}
	for depth := range s.small {
		s.end(depth)
	}
	return nil
}

// add adds a call at a depth.
func (s *stacker) add(call int32, depth int) {
	if depth >= mostLevels {
		s.answer.Cut = true
		return
	}
	s.answer.Levels = max(s.answer.Levels, depth+1)
	enter, leave := max(s.calls.Enter[call], s.from), min(s.calls.Leave[call], s.to)
	p := StackPiece{Depth: depth, Path: int(s.v.paths.Of[s.calls.Path[call]]), From: s.v.since(enter), To: s.v.since(leave), Calls: 1}
	if leave-enter >= s.step {
		s.end(depth)
		s.answer.Pieces = append(s.answer.Pieces, p)
		return
	}
	small := &s.small[depth]
	if small.Calls > 0 && p.To-small.From > int64(s.step) {
		s.end(depth)
	}
	if small.Calls == 0 {
		*small, s.longest[depth] = p, leave-enter
		return
	}
	small.To, small.Calls = p.To, small.Calls+1
	if leave-enter > s.longest[depth] {
		small.Path, s.longest[depth] = p.Path, leave-enter
	}
}

// end ends a piece of calls that are put together.
func (s *stacker) end(depth int) {
	if s.small[depth].Calls > 0 {
		s.answer.Pieces = append(s.answer.Pieces, s.small[depth])
		s.small[depth] = StackPiece{}
	}
}
