package schedule

import "fmt"

// Names tells how a file calls the operations of a graph and where they stand in it, for error
// messages and for writing the file again.
type Names struct {
	File  string
	label []uint32 // by operation: position in text plus 1; 0: no label
	line  []uint32 // by operation: line in the file, from 1; 0: not known
	text  []byte   // the labels, each ended by a 0
}

// Name returns what a message calls an operation of a rank (counted over all its blocks): its
// label, or its position such as #3.
func (g *Graph) Name(rank, index int) string {
	if n := g.Names; n != nil && n.label != nil {
		if at := n.label[g.blocks[g.steps[rank]].ops+index]; at > 0 {
			end := at
			for n.text[end-1] != 0 {
				end++
			}
			return string(n.text[at-1 : end-1])
		}
	}
	return fmt.Sprintf("#%d", index)
}

// Line returns the line of the file in which an operation stands, or 0.
func (g *Graph) Line(rank, index int) int {
	if g.Names == nil || g.Names.line == nil {
		return 0
	}
	return int(g.Names.line[g.blocks[g.steps[rank]].ops+index])
}
