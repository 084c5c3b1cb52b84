package hang

import (
	"slices"

	"slackline/model/state"
)

// analysis is a run that is being looked at.
type analysis struct {
	run       *state.Run
	alive     bool
	ranks     []node
	inboxes   []*inbox
	instances map[instance][]need // of collectives: what those who have arrived need
	vain      map[*need][]int     // by a list of needs: those whom it waits for in vain
}

// node is a rank in the graph of who waits for whom.
type node struct {
	blocked   bool // all its threads that call MPI are inside calls that wait
	dead      bool // it will do nothing any more
	finalizes bool // it is in MPI_Finalize: it will do nothing for others any more
	canAct    bool
	unknown   bool // what it does is not known
	moved     bool
	needs     [][]need // of each thread; it goes on with any of them
}

// need is something that a call needs to go on: any of several ranks can do it.
type need struct {
	any      []int32
	why      reason
	what     string    // in words, after "waits for"
	never    bool      // what they did cannot be undone: other arguments of a collective
	differs  string    // how
	message  *wanted   // that is waited for
	instance *instance // the collective
	unknown  bool      // it is unknown who
}

// reason is what kind of thing a need is.
type reason uint8

const (
	forMessage reason = iota
	forReceive
	forCollective
	forLock
	forTarget // of one-sided operations: an epoch, or progress
	forEnd    // that all come to MPI_Finalize
)

func newAnalysis(run *state.Run, alive bool) *analysis {
	a := &analysis{run: run, alive: alive, ranks: make([]node, len(run.Ranks)), instances: map[instance][]need{}, vain: map[*need][]int{}}
	a.inboxes = inboxes(run)
	return a
}

// findBlocked finds who is blocked, and what each needs.
func (a *analysis) findBlocked() {
	for r := range a.run.Ranks {
		rank, n := &a.run.Ranks[r], &a.ranks[r]
		switch rank.Status {
		case state.Finished, state.Exited, state.Stopped:
			n.dead = true
		case state.Gone:
			n.dead = a.alive // after the end of the run all are gone
		case state.Missing, state.Unreadable:
			n.unknown, n.canAct = true, true
		}
		if n.dead || n.unknown {
			continue
		}
		n.blocked = len(rank.Threads) > 0
		for i := range rank.Threads {
			t := &rank.Threads[i]
			n.moved = n.moved || t.Moved
			if t.Call == nil || t.Moved {
				n.blocked = false
				continue
			}
			n.finalizes = n.finalizes || t.Call.Kind == state.Finalize
			needs := a.needsOf(r, t)
			if slices.ContainsFunc(needs, func(x need) bool { return x.unknown }) {
				n.blocked, n.unknown = false, true
				continue
			}
			n.needs = append(n.needs, needs)
		}
		n.canAct = !n.blocked
	}
}

// free finds who can go on: who computes, and whom one that can go on may free.
func (a *analysis) free() {
	for changed := true; changed; {
		changed = false
		for r := range a.ranks {
			n := &a.ranks[r]
			if !n.canAct && n.blocked && slices.ContainsFunc(n.needs, a.satisfiable) {
				n.canAct, changed = true, true
			}
		}
	}
}

func (a *analysis) satisfiable(needs []need) bool {
	return !slices.ContainsFunc(needs, func(x need) bool { return !a.canCome(x) })
}

// canCome reports whether a need may still be met.
func (a *analysis) canCome(x need) bool {
	return !x.never && slices.ContainsFunc(x.any, func(m int32) bool {
		n := &a.ranks[m]
		return n.canAct && !n.dead && (!n.finalizes || x.why == forEnd)
	})
}

// unmet are the needs of a rank that cannot be met.
func (a *analysis) unmet(rank int) []need {
	var list []need
	for _, needs := range a.ranks[rank].needs {
		for _, x := range needs {
			if !a.canCome(x) {
				list = append(list, x)
			}
		}
	}
	return list
}

func (a *analysis) stuck(rank int) bool {
	n := &a.ranks[rank]
	return n.blocked && !n.canAct
}

// next are the ranks that a stuck one waits for in vain. One that is in MPI_Finalize waits for those alone that can never come there:
// the others may wait for it.
func (a *analysis) next(rank int) []int {
	n := &a.ranks[rank]
	if !a.stuck(rank) {
		return nil
	}
	var key *need // ranks in the same collective share their needs
	if len(n.needs) == 1 && len(n.needs[0]) > 0 {
		key = &n.needs[0][0]
		if list, ok := a.vain[key]; ok {
			return list
		}
	}
	set := map[int]bool{}
	for _, x := range a.unmet(rank) {
		for _, m := range x.any {
			if !n.finalizes || a.ranks[m].dead {
				set[int(m)] = true
			}
		}
	}
	list := sorted(set)
	if key != nil {
		a.vain[key] = list
	}
	return list
}

// component is a set of ranks each of which waits for all others, directly or not.
type component struct {
	ranks []int
	last  bool // it waits for nobody else
}

// components finds the strongly connected components of those that wait in vain (Tarjan's algorithm without recursion).
func (a *analysis) components() []component {
	count := len(a.ranks)
	index, low, of := make([]int, count), make([]int, count), make([]int, count)
	edges := make([][]int, count)
	at := make([]int, count)
	var stack, list []int
	var out []component
	number := 0
	open := func(r int) {
		number++
		index[r], low[r], of[r] = number, number, -1
		edges[r] = a.next(r)
		stack, list = append(stack, r), append(list, r)
	}
	for start := range count {
		if !a.stuck(start) || index[start] != 0 {
			continue
		}
		open(start)
		for len(list) > 0 {
			r := list[len(list)-1]
			if at[r] < len(edges[r]) {
				m := edges[r][at[r]]
				at[r]++
				if index[m] == 0 {
					open(m)
				} else if of[m] < 0 {
					low[r] = min(low[r], index[m])
				}
				continue
			}
			list = list[:len(list)-1]
			if len(list) > 0 {
				before := list[len(list)-1]
				low[before] = min(low[before], low[r])
			}
			if low[r] != index[r] {
				continue
			}
			c := component{last: true}
			for {
				m := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				of[m] = len(out) + 1
				c.ranks = append(c.ranks, m)
				if m == r {
					break
				}
			}
			for _, m := range c.ranks {
				c.last = c.last && !slices.ContainsFunc(edges[m], func(k int) bool { return of[k] != len(out)+1 })
			}
			slices.Sort(c.ranks)
			out = append(out, c)
		}
	}
	return out
}

// cycle is a shortest way from the first of some ranks back to itself, inside them.
func (a *analysis) cycle(ranks []int) []Edge {
	start := ranks[0]
	from := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		r := queue[0]
		for _, m := range a.next(r) {
			if m == start {
				edges := []Edge{{r, start, a.because(r, start)}}
				for ; r != start; r = from[r] {
					edges = append(edges, Edge{from[r], r, a.because(from[r], r)})
				}
				slices.Reverse(edges)
				return edges
			}
			if _, seen := from[m]; !seen && slices.Contains(ranks, m) {
				from[m] = r
				queue = append(queue, m)
			}
		}
	}
	return nil
}

// because says what a rank waits for from another one.
func (a *analysis) because(from, to int) string {
	for _, needs := range a.ranks[from].needs {
		for _, x := range needs {
			if slices.Contains(x.any, int32(to)) {
				return x.what
			}
		}
	}
	return ""
}

// mostEdges is how many ranks one that waits for many is shown to wait for.
const mostEdges = 8

// edges is who waits for whom.
func (a *analysis) edges() []Edge {
	var list []Edge
	for r := range a.ranks {
		if !a.ranks[r].blocked {
			continue
		}
		seen := map[int]bool{}
		for _, needs := range a.ranks[r].needs {
			for _, x := range needs {
				for _, m := range x.any {
					if len(seen) < mostEdges && !seen[int(m)] {
						seen[int(m)] = true
						list = append(list, Edge{r, int(m), x.what})
					}
				}
			}
		}
	}
	return list
}
