package schedule

import (
	"math"
	"strconv"
)

// Names tells how a file calls the operations of a graph and where they stand in it, for error
// messages and for writing the file again.
type Names struct {
	File string

	// label has an entry for each operation: 0 if it has no label; numbered plus a number if
	// the label is prefix followed by that number, as nearly all labels are in generated files;
	// else the position of the label in text, plus 1. It is empty if no operation has a label.
	label  []uint32
	prefix string
	text   []byte // the other labels, each ended by a 0

	line []uint32 // by operation: line in the file, from 1; 0: not known. May be empty.
}

// numbered marks a label that consists of the prefix and a number.
const numbered = 1 << 31

// maxLabelDigits bounds the number of a numbered label, so that it fits below the mark.
const maxLabelDigits = 9

// splitNumber returns the length of what comes before the digits at the end of a label, and their
// value. It fails if the label does not end in digits, if they begin with a 0 that the value would
// lose, or if they are too many.
func splitNumber(label []byte) (prefix int, number uint32, ok bool) {
	prefix = len(label)
	for prefix > 0 && label[prefix-1]-'0' <= 9 {
		prefix--
	}
	digits := label[prefix:]
	if len(digits) == 0 || len(digits) > maxLabelDigits || digits[0] == '0' && len(digits) > 1 || prefix == 0 {
		return 0, 0, false
	}
	for _, d := range digits {
		number = number*10 + uint32(d-'0')
	}
	return prefix, number, true
}

// add gives the next operation its label (empty: none) and its line (0: not known).
func (n *Names) add(label []byte, line int) {
	n.line = append(n.line, lineNumber(line))
	if len(label) == 0 {
		n.label = append(n.label, 0)
		return
	}
	if prefix, number, ok := splitNumber(label); ok {
		if n.prefix == "" {
			n.prefix = string(label[:prefix])
		}
		if n.prefix == string(label[:prefix]) {
			n.label = append(n.label, numbered|number)
			return
		}
	}
	n.label = append(n.label, n.addText(label))
}

// addText stores a label and returns its entry. Beyond 2 GiB of labels it forgets them.
func (n *Names) addText(label []byte) uint32 {
	if len(n.text)+len(label) >= numbered-1 {
		return 0
	}
	at := uint32(len(n.text)) + 1
	n.text = append(append(n.text, label...), 0)
	return at
}

// appendLabel appends the label of the operation at a position among those of all ranks, or
// nothing.
func (n *Names) appendLabel(to []byte, position int) []byte {
	if n == nil || position >= len(n.label) {
		return to
	}
	at := n.label[position]
	switch {
	case at == 0:
	case at >= numbered:
		to = append(to, n.prefix...)
		to = strconv.AppendUint(to, uint64(at&^numbered), 10)
	default:
		for _, c := range n.text[at-1:] {
			if c == 0 {
				break
			}
			to = append(to, c)
		}
	}
	return to
}

// lineNumber returns a line as it is stored: lines that do not fit are not known.
func lineNumber(line int) uint32 {
	if line > math.MaxUint32 {
		return 0
	}
	return uint32(line)
}

// Label returns the label of an operation of a rank (counted over all its blocks), or an empty
// string.
func (g *Graph) Label(rank, index int) string {
	return string(g.Names.appendLabel(nil, g.blocks[g.steps[rank]].ops+index))
}

// Name returns what a message calls an operation of a rank (counted over all its blocks): its
// label, or its position such as #3.
func (g *Graph) Name(rank, index int) string {
	if label := g.Label(rank, index); label != "" {
		return label
	}
	return "#" + strconv.Itoa(index)
}

// Line returns the line of the file in which an operation stands, or 0.
func (g *Graph) Line(rank, index int) int {
	at := g.blocks[g.steps[rank]].ops + index
	if g.Names == nil || at >= len(g.Names.line) {
		return 0
	}
	return int(g.Names.line[at])
}
