package schedule

import (
	"math"
	"strconv"
)

// Names describes how a file calls the operations of a graph and where they are in it, for error
// messages and for writing the file again.
type Names struct {
	File string

	// label has an entry for each operation: 0 if it has no label; a numbered label (see
	// numberedLabel) if it consists of one of the prefixes and a number, as nearly all labels do
	// in generated files; else the position of the label in text, plus 1. It is empty if no
	// operation has a label.
	label    []uint32
	prefixes []string
	text     []byte // the other labels, each ended by a 0

	line []uint32 // by operation: line in the file, from 1; 0: not known. May be empty.
}

// Parts of a numbered label: a mark, which of the prefixes, and the number.
const (
	numbered       = 1 << 31
	prefixShift    = 29
	maxPrefixes    = 1 << 2
	maxLabelNumber = 1<<prefixShift - 1
)

func numberedLabel(prefix int, number uint32) uint32 {
	return numbered | uint32(prefix)<<prefixShift | number
}

// splitNumber returns the length of what comes before the digits at the end of a label, and their
// value. It fails if a numbered label cannot keep them: if there are none, if they begin with a 0
// that the value would lose, or if they are too many.
func splitNumber(label []byte) (prefix int, number uint32, ok bool) {
	prefix = len(label)
	for prefix > 0 && label[prefix-1]-'0' <= 9 {
		prefix--
	}
	number, ok = parseLabelNumber(label[prefix:])
	return prefix, number, ok && prefix > 0
}

// parseLabelNumber returns the value of the digits at the end of a label. It fails if a numbered
// label cannot keep them.
func parseLabelNumber(digits []byte) (number uint32, ok bool) {
	if len(digits) == 0 || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for _, d := range digits {
		d -= '0'
		if d > 9 {
			return 0, false
		}
		number = number*10 + uint32(d)
	}
	return number, number <= maxLabelNumber
}

// add gives the next operation its label (empty: none) and its line (0: not known).
func (n *Names) add(label []byte, line int) {
	n.line = append(n.line, lineNumber(line))
	if len(label) == 0 {
		n.label = append(n.label, 0)
		return
	}
	if prefix, number, ok := splitNumber(label); ok {
		if p := n.prefix(label[:prefix]); p >= 0 {
			n.label = append(n.label, numberedLabel(p, number))
			return
		}
	}
	n.label = append(n.label, n.addText(label))
}

// prefix returns the position of a prefix in the list, to which it is added if there is room;
// -1 if there is none.
func (n *Names) prefix(prefix []byte) int {
	for i, p := range n.prefixes {
		if p == string(prefix) {
			return i
		}
	}
	if len(n.prefixes) == maxPrefixes {
		return -1
	}
	n.prefixes = append(n.prefixes, string(prefix))
	return len(n.prefixes) - 1
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
		to = append(to, n.prefixes[at>>prefixShift%maxPrefixes]...)
		to = strconv.AppendUint(to, uint64(at&maxLabelNumber), 10)
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
	return g.Names.lineOf(g.blocks[g.steps[rank]].ops + index)
}

// lineOf returns the line of the operation at a position among those of all ranks, or 0.
func (n *Names) lineOf(position int) int {
	if n == nil || position >= len(n.line) {
		return 0
	}
	return int(n.line[position])
}
