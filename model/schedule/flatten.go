package schedule

import "fmt"

// maxFlat is the largest number of dependencies that Flatten makes: 4 bytes each.
const maxFlat = 1 << 29

// Flatten returns the same schedule with one block per rank: that all operations of a block
// require all operations of the block before is said by dependencies. It keeps labels, lines,
// origins and communicators. A graph that has one block per rank at most is returned as it is.
func Flatten(g *Graph) (*Graph, error) {
	if isFlat(g) {
		return g, nil
	}
	build := NewBuilder(g.Ranks())
	var f flattener
	total := 0
	for rank := range g.Ranks() {
		if err := f.rank(g, rank, maxFlat-total); err != nil {
			return nil, err
		}
		if len(f.out.Ops) > 0 {
			total += len(f.out.edges)
			f.out.Link()
			build.Add(rank, &f.out)
		}
	}
	build.SetGroups(g.groups)
	build.SetOrigins(g.origins)
	flat := build.Graph()
	flat.Names = g.Names // by operation, and the operations are in the same order
	return flat, nil
}

func isFlat(g *Graph) bool {
	for rank := range g.Ranks() {
		if g.Steps(rank) > 1 {
			return false
		}
	}
	return true
}

// flattener joins the blocks of a rank. It keeps its memory for the next rank.
type flattener struct {
	in, out Block
	waits   []bool // by operation of a block: it waits for another one of its block
	roots   []int  // operations of the present block that wait for none
	ends    []int  // operations of the block before whose finish no operation waits for
}

// rank fills out with all blocks of a rank and at most the given number of dependencies.
func (f *flattener) rank(g *Graph, rank, room int) error {
	f.out.Reset()
	f.ends = f.ends[:0]
	for step := range g.Steps(rank) {
		g.Block(rank, step, &f.in)
		if len(f.in.Ops) == 0 {
			continue
		}
		base := len(f.out.Ops)
		if base+len(f.in.Ops) > MaxBlockOps {
			return fmt.Errorf("rank %d has more than %d operations, which is too much for explicit dependencies", rank, MaxBlockOps)
		}
		f.out.Ops = append(f.out.Ops, f.in.Ops...)
		f.out.Calls = f.in.Calls // of all blocks of the graph
		f.findRoots()
		if len(f.out.edges)+len(f.in.Dependents)+len(f.roots)*len(f.ends) > room {
			return fmt.Errorf("rank %d: written with explicit dependencies the schedule would have more than %d of them; "+
				"keep it in a format that knows phases (slk)", rank, maxFlat)
		}
		// An operation that waits for another one of its block, even for its start only, begins
		// no earlier than that one, so only those that wait for none need the block before.
		for _, root := range f.roots {
			for _, end := range f.ends {
				f.out.Require(base+root, end)
			}
		}
		f.takeDependencies(base)
	}
	return nil
}

// findRoots lists the operations of the present block that wait for none.
func (f *flattener) findRoots() {
	f.waits = append(f.waits[:0], make([]bool, len(f.in.Ops))...)
	for _, d := range f.in.Dependents {
		f.waits[d.Index()] = true
	}
	f.roots = f.roots[:0]
	for i, waits := range f.waits {
		if !waits {
			f.roots = append(f.roots, i)
		}
	}
}

// takeDependencies copies the dependencies of the present block, whose operations begin at base,
// and lists its ends. An operation that others wait for by its start only is an end as well: they
// may finish before it does.
func (f *flattener) takeDependencies(base int) {
	f.ends = f.ends[:0]
	for i := range f.in.Ops {
		isEnd := true
		if !f.in.IsPhase() {
			for _, d := range f.in.Dependents[f.in.First[i]:f.in.First[i+1]] {
				isEnd = isEnd && d.OnStart()
				f.out.edges = append(f.out.edges, edge{uint32(base + i), NewDependent(base+d.Index(), d.OnStart())})
			}
		}
		if isEnd {
			f.ends = append(f.ends, base+i)
		}
	}
}
