package schedule

import "bytes"

// Part returns the operations that one process of several needs: a graph of all ranks in which only
// those that has names have blocks. What holds for the whole (shape, groups, origins, the name of the
// file) holds for the part too, so that processes with parts of one graph decide alike. It shares no
// memory with the graph but calls, groups and origins.
func Part(g *Graph, has func(rank int) bool) *Graph {
	ops, blocks, first, dependents := 0, 0, 0, 0
	for rank := range g.Ranks() {
		if has(rank) {
			from, to := g.blocks[g.steps[rank]], g.blocks[g.steps[rank+1]]
			ops += to.ops - from.ops
			first += to.first - from.first
			dependents += to.dependents - from.dependents
			blocks += g.Steps(rank)
		}
	}
	p := &Graph{
		steps: make([]int, 1, len(g.steps)), blocks: make([]blockInfo, 1, blocks+1),
		ops: make([]Op, 0, ops), first: make([]uint32, 0, first), dependents: make([]Dependent, 0, dependents),
		calls: g.calls, groups: g.groups, origins: g.origins, shape: g.shape, part: true,
	}
	if g.Names != nil {
		p.Names = &Names{File: g.Names.File, prefixes: g.Names.prefixes, text: g.Names.text}
	}
	for rank := range g.Ranks() {
		if has(rank) {
			p.appendRank(g, rank)
		}
		p.steps = append(p.steps, len(p.blocks)-1)
	}
	return p
}

// appendRank appends the blocks of a rank of another graph.
func (g *Graph) appendRank(from *Graph, rank int) {
	begin, end := from.steps[rank], from.steps[rank+1]
	base, here := from.blocks[begin], g.blocks[len(g.blocks)-1]
	last := from.blocks[end]
	for _, b := range from.blocks[begin+1 : end+1] {
		g.blocks = append(g.blocks, blockInfo{
			ops:        here.ops + b.ops - base.ops,
			first:      here.first + b.first - base.first,
			dependents: here.dependents + b.dependents - base.dependents,
		})
	}
	g.ops = append(g.ops, from.ops[base.ops:last.ops]...)
	g.first = append(g.first, from.first[base.first:last.first]...)
	g.dependents = append(g.dependents, from.dependents[base.dependents:last.dependents]...)
	if n := from.Names; n != nil {
		if base.ops < len(n.label) {
			g.Names.label = append(g.Names.label, n.label[base.ops:min(last.ops, len(n.label))]...)
		}
		if base.ops < len(n.line) {
			g.Names.line = append(g.Names.line, n.line[base.ops:min(last.ops, len(n.line))]...)
		}
	}
}

// IsPart reports whether the graph has the operations of some ranks only: see Part.
func (g *Graph) IsPart() bool { return g.part }

// EncodePart returns the blocks of some ranks of a program as an slk file in memory, for DecodePart on
// another process. The other ranks have no blocks in it.
func EncodePart(p Program, has func(rank int) bool) ([]byte, error) {
	if g, ok := p.(*Graph); ok {
		p = Part(g, has)
	} else {
		p = someRanks{p, has}
	}
	var b bytes.Buffer
	if err := WriteSLK(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// DecodePart returns what EncodePart was given, as a Part. The name is for messages.
func DecodePart(name string, data []byte) (*Graph, error) {
	g, err := ReadSLK(name, data)
	if err != nil {
		return nil, err
	}
	g.part = true
	return g, nil
}

// someRanks is a program of which only some ranks have blocks.
type someRanks struct {
	Program
	has func(rank int) bool
}

// Steps implements Program.
func (s someRanks) Steps(rank int) int {
	if !s.has(rank) {
		return 0
	}
	return s.Program.Steps(rank)
}
