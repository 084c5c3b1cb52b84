package explore

import (
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// shades are the categories of call paths.
type shades struct {
	of   []uint16 // by timeline.PathID
	none uint16   // in no call
}

// walk goes through what a location does between two moments and adds it to a binner that has come to the first of them:
// the category of the innermost call that is open, or of the time without a CPU in it, piece by piece, without a gap.
func walk[T cell](v *view, s *shades, location int, from, to unit.Duration, b *binner[T]) {
	c := &v.tl.Locations[location].Calls
	lacks := v.tl.Locations[location].NoCPU // each within one piece
	lacks = lacks[sort.Search(len(lacks), func(i int) bool { return lacks[i].To > from }):]
	add := func(t unit.Duration, category uint16) {
		for ; len(lacks) > 0 && lacks[0].From < t; lacks = lacks[1:] {
			b.add(lacks[0].From, category)
			b.add(min(lacks[0].To, t), s.of[lacks[0].Path])
		}
		b.add(t, category)
	}
	n := int32(c.Len())
	open := v.windows.Innermost(int32(location), from, n)
	category := s.categoryOf(c, open)
	for i := firstAfter(c, from); i < n && c.Enter[i] < to; i++ {
		for open >= 0 && c.Skip[open] <= i {
			add(c.Leave[open], category)
			open = v.windows.Caller(int32(location), open)
			category = s.categoryOf(c, open)
		}
		add(c.Enter[i], category)
		open, category = i, s.of[c.Path[i]]
	}
	for open >= 0 && c.Leave[open] < to {
		add(c.Leave[open], category)
		open = v.windows.Caller(int32(location), open)
		category = s.categoryOf(c, open)
	}
	add(to, category)
}

// categoryOf is the category of a call; -1: none.
func (s *shades) categoryOf(c *timeline.Calls, call int32) uint16 {
	if call < 0 {
		return s.none
	}
	return s.of[c.Path[call]]
}

// firstAfter is the first call that begins after t.
func firstAfter(c *timeline.Calls, t unit.Duration) int32 {
	return int32(sort.Search(c.Len(), func(i int) bool { return c.Enter[i] > t }))
}
