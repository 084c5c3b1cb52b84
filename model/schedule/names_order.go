package schedule

import (
	"fmt"
	"iter"
)

// inRankOrder reports whether the blocks of the ranks ascend in the file, or their order is not
// known, and if not the first two ranks that do not ascend. Ranks without operations do not count.
func inRankOrder(g *Graph) (yes bool, before, after int) {
	if g.Names == nil || len(g.Names.line) == 0 {
		return true, 0, 0
	}
	last, lastLine := 0, 0
	for rank := range g.Ranks() {
		if len(g.RankOps(rank)) == 0 {
			continue
		}
		line := g.Line(rank, 0)
		if line < lastLine {
			return false, rank, last
		}
		last, lastLine = rank, line
	}
	return true, 0, 0
}

// ranksAsInFile yields the ranks in the order in which a format writes them that can keep the order
// of the file, on which Match depends.
func ranksAsInFile(g *Graph) iter.Seq[int] {
	return func(yield func(int) bool) {
		if yes, _, _ := inRankOrder(g); yes {
			for rank := range g.Ranks() {
				if !yield(rank) {
					return
				}
			}
			return
		}
		for _, rank := range fileOrder(g) {
			if !yield(int(rank)) {
				return
			}
		}
	}
}

// lostOrder returns the warning of a format that has the ranks in ascending order, or an empty string
// if Match pairs the same operations afterwards: only receives from any source see the order of the
// ranks.
func lostOrder(g *Graph) string {
	yes, before, after := inRankOrder(g)
	if yes || !g.shape.Wildcards {
		return ""
	}
	ranks, example := 0, 0
	for rank := range g.Ranks() {
		for i := range g.RankOps(rank) {
			if op := &g.RankOps(rank)[i]; op.Kind == Recv && op.Peer == AnySource {
				if ranks == 0 {
					example = rank
				}
				ranks++
				break
			}
		}
	}
	if ranks == 0 {
		return ""
	}
	return fmt.Sprintf("the format has the ranks in ascending order, but rank %d comes before rank %d in the file; "+
		"the model loggps may give the receives from any source on %s (e.g. rank %d) other sends; write goal or slk to keep the order",
		before, after, counted(ranks, "rank"), example)
}
