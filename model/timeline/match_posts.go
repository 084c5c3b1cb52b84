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
	due        unit.Duration // its message was sent until then
	index      int           // of the location among those of the rank
	poster     int32         // location that posted it
	number     int32         // of its channel in the mailbox
}

// postsOf returns the receives of the locations of a rank in the order of the times of their posting, those of one location staying in
// order. A blocking receive, whose record is at its end, was posted when its call began: other threads may have posted some meanwhile.
func (f *finisher) postsOf(locations []int32) []posted {
	var all []posted
	probes := f.t.Probes()
	for i, location := range locations {
		f.locations[location].receives.each(func(r *receive) {
			if r.state == done || r.state == skipped {
				all = append(all, f.postedAt(r, i, location, probes))
			}
		})
	}
	slices.SortStableFunc(all, func(a, b posted) int { return cmp.Compare(a.begin, b.begin) })
	return all
}

// postedAt says when a receive of a location was posted: in the call that did it. A matched receive takes its place in the probe before it.
func (f *finisher) postedAt(r *receive, index int, location int32, probes *Probes) posted {
	p := posted{receive: r, begin: r.posted, end: r.posted, due: r.time, index: index, poster: location + int32(r.by)}
	if r.state != done || r.post < 0 {
		return p
	}
	calls := &f.locations[p.poster].calls
	region := f.t.RegionOf(calls.Path[r.post])
	if region.Paradigm != MPI {
		return p
	}
	p.end = max(min(calls.Leave[r.post], r.time), p.begin)
	if r.by == 0 && r.post == r.call {
		p.begin = calls.Enter[r.post]
	}
	if probes != nil && (region.Name == "MPI_Mrecv" || region.Name == "MPI_Imrecv") {
		if probe := probes.Before(calls, r.post); probe >= 0 {
			p.begin, p.end, p.due = calls.Enter[probe], calls.Leave[probe], calls.Leave[probe]
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

// given is a send that a receive was given.
type given struct{ from, send int32 }

// reorderOverlapping does that for receives on a channel, each of which overlaps with one before it.
func (f *finisher) reorderOverlapping(list []*posted) {
	if !slices.ContainsFunc(list, func(p *posted) bool { return p.poster != list[0].poster }) {
		return
	}
	sends := make([]*send, len(list))
	taken := make([]given, len(list))
	for i, p := range list {
		taken[i] = given{p.from, p.receive.send}
		sends[i] = f.locations[p.from].sends.at(p.receive.send)
	}
	before := impossible(list, sends)
	if before == 0 {
		return
	}
	order := inOrder(list, sends)
	if impossible(order, sends) < before {
		for i, p := range order {
			p.from, p.receive.send = taken[i].from, taken[i].send
		}
	}
}

// impossible counts the receives that do not fit their sends.
func impossible(list []*posted, sends []*send) (count int) {
	for i, p := range list {
		if sends[i].time > p.due || sends[i].size > p.size {
			count++
		}
	}
	return count
}

// inOrder returns receives, which come in the order in which their posts begin, in an order in which they can have been posted. Of those
// that can be next it takes that whose message has the size of the next send, then that which is due first, or has one after it that is. If
// sizes are equal, nothing is overdue by more than it must be.
func inOrder(list []*posted, sends []*send) []*posted {
	threads, due := byThread(list), dues(list)
	order := make([]*posted, 0, len(list))
	for len(order) < len(list) {
		first := unit.Duration(math.MaxInt64) // end of a post
		for _, of := range threads {
			if len(of) > 0 {
				first = min(first, list[of[0]].end)
			}
		}
		size, chosen := sends[len(order)].size, -1
		for i, of := range threads {
			if len(of) == 0 || list[of[0]].begin > first {
				continue
			}
			if chosen >= 0 {
				fits, did := list[of[0]].size == size, list[threads[chosen][0]].size == size
				if did && !fits || fits == did && due[of[0]] >= due[threads[chosen][0]] {
					continue
				}
			}
			chosen = i
		}
		order = append(order, list[threads[chosen][0]])
		threads[chosen] = threads[chosen][1:]
	}
	return order
}

// byThread sorts the numbers of receives by the threads that posted them.
func byThread(list []*posted) (threads [][]int) {
	numbers := map[int32]int{}
	for k, p := range list {
		i, known := numbers[p.poster]
		if !known {
			i = len(threads)
			numbers[p.poster], threads = i, append(threads, nil)
		}
		threads[i] = append(threads[i], k)
	}
	return threads
}

// dues returns by when each receive must have its place in the order: when it is due, or one that must come after it.
func dues(list []*posted) []unit.Duration {
	due := make([]unit.Duration, len(list))
	after := make([]unit.Duration, len(list)+1) // the first of those from there on
	after[len(list)] = math.MaxInt64
	next := map[int32]unit.Duration{} // by thread
	for i := len(list) - 1; i >= 0; i-- {
		p := list[i]
		later, _ := slices.BinarySearchFunc(list, p.end+1, func(q *posted, t unit.Duration) int { return cmp.Compare(q.begin, t) })
		due[i] = min(p.due, after[max(later, i+1)])
		if d, known := next[p.poster]; known {
			due[i] = min(due[i], d)
		}
		next[p.poster] = due[i]
		after[i] = min(after[i+1], p.due)
	}
	return due
}
