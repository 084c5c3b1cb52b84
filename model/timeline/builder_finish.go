package timeline

import "fmt"

// branch is the part of a location's own tree of paths that lies below a path of its master.
type branch struct {
	base   PathID   // of the master's own tree; 0 for the root
	used   []bool   // by path of the own tree; nil: all
	inTree []PathID // by path of the own tree: the path of the timeline
}

// joinPaths makes one tree of the trees of all locations and rewrites the paths of their calls.
func (f *finisher) joinPaths() {
	branches, tree := f.joinOwnPaths()
	f.rewriteAll(branches, tree)
}

// joinOwnPaths makes one tree of the trees of the locations that are here.
func (f *finisher) joinOwnPaths() ([][]branch, pathTree) {
	branches := make([][]branch, len(f.locations))
	f.each(len(f.locations), func(i int) { branches[i] = f.locations[i].branches() })
	var tree pathTree
	tree.grow()
	for _, locations := range f.byRank {
		for _, i := range locations {
			for j := range branches[i] {
				b := &branches[i][j]
				base := PathID(0)
				if b.base != 0 {
					base = branches[locations[0]][0].inTree[b.base]
				}
				b.inTree = tree.graft(base, f.locations[i].tree.nodes, b.used)
			}
		}
	}
	return branches, tree
}

// rewriteAll replaces the paths of the locations' own trees by those of the one tree.
func (f *finisher) rewriteAll(branches [][]branch, tree pathTree) {
	f.nameLacks(tree.nodes)
	f.t.Paths = tree.nodes
	for i := range f.t.Teams {
		team := &f.t.Teams[i]
		if team.Base != 0 {
			team.Base = branches[team.Master][0].inTree[team.Base]
		}
	}
	f.each(len(f.locations), func(i int) {
		f.locations[i].rewritePaths(branches[i])
		f.locations[i].tree = pathTree{}
	})
}

// graft adds the used paths of another tree below base; it returns their numbers here.
func (p *pathTree) graft(base PathID, nodes []Path, used []bool) []PathID {
	to := make([]PathID, max(1, len(nodes)))
	to[0] = base
	for id := 1; id < len(nodes); id++ {
		if used == nil || used[id] {
			to[id] = p.child(to[nodes[id].Parent], nodes[id].Region)
		}
	}
	return to
}

// branches finds out which paths of the location's own tree occur below which paths of its master. The
// first branch is that of the root.
func (l *LocationBuilder) branches() []branch {
	if len(l.segments) == 0 {
		return []branch{{}}
	}
	out := []branch{{used: make([]bool, len(l.tree.nodes))}}
	index := map[PathID]int{0: 0}
	next := int32(0)
	use := func(p PathID, b *branch) {
		for ; p != 0 && !b.used[p]; p = l.tree.nodes[p].Parent {
			b.used[p] = true
		}
	}
	mark := func(to int32, b *branch) {
		for ; next < to; next++ {
			use(l.calls.Path[next], b)
		}
	}
	for i := range l.segments {
		s := &l.segments[i]
		mark(s.from, &out[0])
		b, ok := index[s.base]
		if !ok {
			b = len(out)
			index[s.base] = b
			out = append(out, branch{base: s.base, used: make([]bool, len(l.tree.nodes))})
		}
		mark(s.to, &out[b])
		s.branch = b
	}
	mark(int32(len(l.calls.Path)), &out[0])
	for i, lack := range l.lacks {
		b := 0
		if k := l.lackIn[i]; k >= 0 {
			b = l.segments[k].branch
		}
		use(lack.Path, &out[b])
	}
	return out
}

// rewritePaths replaces the paths of the location's own tree by those of the timeline.
func (l *LocationBuilder) rewritePaths(branches []branch) {
	next := int32(0)
	rewrite := func(to int32, in []PathID) {
		for ; next < to; next++ {
			l.calls.Path[next] = in[l.calls.Path[next]]
		}
	}
	for _, s := range l.segments {
		rewrite(s.from, branches[0].inTree)
		rewrite(s.to, branches[s.branch].inTree)
	}
	rewrite(int32(len(l.calls.Path)), branches[0].inTree)
	for i := range l.lacks {
		in := branches[0].inTree
		if len(l.segments) > 0 && l.lackIn[i] >= 0 {
			in = branches[l.segments[l.lackIn[i]].branch].inTree
		}
		l.lacks[i].Path = in[l.lacks[i].Path]
	}
	l.placeCounts()
}

// odds are what locations may find odd.
var odds = []struct {
	what  string
	count func(*LocationBuilder) int64
}{
	{"events before the one before them, taken as simultaneous", func(l *LocationBuilder) int64 { return l.disordered }},
	{"completions of requests that were never started", func(l *LocationBuilder) int64 { return l.unstarted }},
	{"messages larger than what was received of them", func(l *LocationBuilder) int64 { return l.tooLarge }},
	{"records outside of any call, left out", func(l *LocationBuilder) int64 { return l.outside }},
	{"values of counters below the ones before, from which they count anew", func(l *LocationBuilder) int64 { return l.shrunk }},
	{"parallel regions inside of others, left out", func(l *LocationBuilder) int64 { return l.nestedForks }},
	{"parts of threads in parallel regions without a fork, left out", func(l *LocationBuilder) int64 { return l.oddTeams }},
	{"events beyond what can be numbered, left out", func(l *LocationBuilder) int64 { return l.tooMany }},
}

// oddCount is how often something odd was found, on how many ranks, and on which one first.
type oddCount struct{ total, ranks, first int64 }

// countOdds adds up what the locations found odd.
func (f *finisher) countOdds() {
	p := &f.t.Problems
	for _, l := range f.locations {
		p.Unbalanced += l.unbalanced
		p.PendingRequests += l.pending
	}
	f.noteOdds(f.oddCounts())
}

// oddCounts counts what the locations found odd, in the order of odds.
func (f *finisher) oddCounts() []oddCount {
	counts := make([]oddCount, len(odds))
	for i := range odds {
		c := &counts[i]
		last := -1
		for _, l := range f.locations {
			n := odds[i].count(l)
			if n == 0 {
				continue
			}
			if c.total == 0 {
				c.first = int64(l.rank)
			}
			if c.total += n; l.rank != last {
				c.ranks++
				last = l.rank
			}
		}
	}
	return counts
}

// noteOdds adds a note about everything odd that was found.
func (f *finisher) noteOdds(counts []oddCount) {
	for i, c := range counts {
		if c.total == 0 {
			continue
		}
		where := fmt.Sprintf("on rank %d", c.first)
		if c.ranks > 1 {
			where = fmt.Sprintf("on %d ranks, the first is rank %d", c.ranks, c.first)
		}
		f.t.Problems.Notes = append(f.t.Problems.Notes, fmt.Sprintf("%d %s (%s)", c.total, odds[i].what, where))
	}
}
