package explore

import (
	"sort"

	"slackline/analyze/waits"
	"slackline/model/unit"
)

// answerCritical shows the critical path in a window.
func answerCritical(v *view, f *findings, q *query) (any, error) {
	from, to := q.span(v.length())
	width := int(q.number("width", 1, MaxWidth, 1024))
	a := &Critical{Length: int64(f.critical.Length), Missing: int64(f.critical.Missing), Paths: []CriticalPath{}}
	step := (to-from-1)/unit.Duration(width) + 1
	a.Pieces = v.criticalPieces(f.critical.Segments, v.tl.Start+from, v.tl.Start+to, step)
	for _, p := range f.critical.Longest() {
		a.Paths = append(a.Paths, CriticalPath{Path: int(p.Path), Time: int64(p.Time), Average: ps(p.Average), Imbalance: int64(p.Imbalance)})
	}
	a.Paths = a.Paths[:min(len(a.Paths), MaxList)]
	return a, nil
}

// criticalPieces are the segments of the path between two moments. Those shorter than a step that follow each other
// are put together until they are as long as a step.
func (v *view) criticalPieces(all []waits.Segment, from, to, step unit.Duration) []CriticalPiece {
	pieces := []CriticalPiece{}
	first := sort.Search(len(all), func(i int) bool { return all[i].To > from })
	var small []waits.Segment // cut to the window
	end := func() {
		if len(small) > 0 {
			pieces = append(pieces, v.joinSegments(small))
			small = small[:0]
		}
	}
	for _, s := range all[first:] {
		if s.From >= to {
			break
		}
		s.From, s.To = max(s.From, from), min(s.To, to)
		if s.To-s.From >= step {
			end()
			small = append(small, s)
			end()
			continue
		}
		if len(small) > 0 && s.To-small[0].From > step {
			end()
		}
		small = append(small, s)
	}
	end()
	return pieces
}

// joinSegments makes one piece of segments that follow each other.
func (v *view) joinSegments(list []waits.Segment) CriticalPiece {
	times := map[int32]unit.Duration{}
	best := list[0].Location
	for _, s := range list {
		times[s.Location] += s.To - s.From
		if t := times[s.Location]; t > times[best] || t == times[best] && s.Location < best {
			best = s.Location
		}
	}
	p := CriticalPiece{
		Location: int(best), From: v.since(list[0].From), To: v.since(list[len(list)-1].To), Segments: len(list),
	}
	if m := list[0].Metric; m != waits.None {
		p.After = m.String()
	}
	return p
}
