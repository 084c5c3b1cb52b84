package timeline

import (
	"cmp"
	"math"
	"slices"

	"slackline/model/unit"
)

// posted is a receive of one of the locations of a rank.
type posted struct {
	*receive
	begin, end unit.Duration // it was posted then
	index      int           // of the location among those of the rank
	poster     int32         // location that posted it
	number     int32         // of its channel in the mailbox
}

// postsOf returns the receives of the locations of a rank in the order of the times of their posting, those of one location staying in
// order. A blocking receive, whose record is at its end, was posted when its call began: other threads may have posted some meanwhile.
func (f *finisher) postsOf(locations []int32) []posted {
	var all []posted
	for i, location := range locations {
		f.locations[location].receives.each(func(r *receive) {
			if r.state == done || r.state == skipped {
				all = append(all, f.postedAt(r, i, location))
			}
		})
	}
	slices.SortStableFunc(all, func(a, b posted) int { return cmp.Compare(a.begin, b.begin) })
	return all
}

// postedAt says when a receive of a location was posted: in the call that did it.
func (f *finisher) postedAt(r *receive, index int, location int32) posted {
	p := posted{receive: r, begin: r.posted, end: r.posted, index: index, poster: location + int32(r.by)}
	if r.state == done && r.post >= 0 {
		calls := &f.locations[p.poster].calls
		p.end = max(min(calls.Leave[r.post], r.time), p.begin)
		if r.by == 0 && r.post == r.call && f.t.RegionOf(calls.Path[r.post]).Paradigm == MPI {
			p.begin = calls.Enter[r.post]
		}
	}
	return p
}

// reorder gives the sends that receives of several threads were given to them in another order where theirs is impossible: a receive ends
// before its message was sent, or is too small for it. Of receives on a channel whose calls overlap, any may have been posted first.
func (f *finisher) reorder(posts []posted) {
	overlapping := map[int32][]*posted{} // by channel
	end := map[int32]unit.Duration{}
	for i := range posts {
		p := &posts[i]
		if !p.took {
			continue
		}
		if list := overlapping[p.number]; len(list) > 0 && p.begin > end[p.number] {
			f.reorderOverlapping(list)
			overlapping[p.number], end[p.number] = list[:0], p.end
		}
		overlapping[p.number] = append(overlapping[p.number], p)
		end[p.number] = max(end[p.number], p.end)
	}
	for _, list := range overlapping {
		f.reorderOverlapping(list)
	}
}

// match is a send, and the receive that it has in another order of the posts.
type match struct {
	from, send int32
	other      *posted
}

// reorderOverlapping does that for receives on a channel, each of which overlaps with one before it.
func (f *finisher) reorderOverlapping(list []*posted) {
	other := func(p *posted) bool { return p.poster != list[0].poster }
	impossible := func(m match, p *posted) bool {
		s := f.locations[m.from].sends.at(m.send)
		return s.time > p.time || s.size > p.size
	}
	if !slices.ContainsFunc(list, other) {
		return
	}
	matches, before, after := make([]match, len(list)), 0, 0
	for i, p := range list {
		if matches[i] = (match{from: p.from, send: p.send}); impossible(matches[i], p) {
			before++
		}
	}
	if before == 0 {
		return
	}
	for i, p := range byEnd(list) {
		if matches[i].other = p; impossible(matches[i], p) {
			after++
		}
	}
	if after >= before {
		return
	}
	for _, m := range matches {
		m.other.from, m.other.send = m.from, m.send
	}
}

// byEnd returns receives in the possible order of posting in which the most that one ends before its message was sent is least: what is
// posted last is the one that ends last among those that no other one must follow (Lawler's rule).
func byEnd(list []*posted) []*posted {
	threads, numbers := [][]*posted(nil), map[int32]int{}
	for _, p := range list {
		i, known := numbers[p.poster]
		if !known {
			i = len(threads)
			numbers[p.poster], threads = i, append(threads, nil)
		}
		threads[i] = append(threads[i], p)
	}
	order := make([]*posted, len(list))
	for at := len(list) - 1; at >= 0; at-- {
		latest := unit.Duration(math.MinInt64) // beginning of a post
		for _, of := range threads {
			if len(of) > 0 {
				latest = max(latest, of[len(of)-1].begin)
			}
		}
		chosen := -1
		for i, of := range threads {
			if len(of) == 0 {
				continue
			}
			p := of[len(of)-1]
			if p.end >= latest && (chosen < 0 || p.time >= order[at].time) {
				chosen, order[at] = i, p
			}
		}
		threads[chosen] = threads[chosen][:len(threads[chosen])-1]
	}
	return order
}
