package schedule

import (
	"bytes"
	"strings"
)

// labelTable finds the operations of one block by their labels. Labels of generated files are
// nearly always a prefix and a number: those with one of the first prefixes of the block are found
// in an array by their number, all others in a map.
type labelTable struct {
	windows [maxPrefixes]labelWindow
	open    int // how many of them are in use
	width   int // length that a window gets
	others  map[string]uint32
	text    strings.Builder // their labels
}

// labelWindow holds the labels of one prefix whose numbers are near the first one.
type labelWindow struct {
	prefix []byte   // part of the file
	base   uint32   // number of the first entry of ops
	ops    []uint32 // operation plus 1; 0: no such label
	name   int      // position of the prefix in the names of the graph; -1 if there was no room
	memory []uint32 // of ops
}

// reset empties the table for a block of the given number of bytes. An operation with its label
// takes 8 bytes at least, so a window has room for all labels of the block if their numbers are
// consecutive, and for no more: a label such as x99999999 must not cost memory.
func (t *labelTable) reset(blockBytes int) {
	t.open = 0
	t.width = blockBytes/8 + 16
	if len(t.others) > t.width { // that of a much longer block would take long to clear
		t.others = nil
	}
	clear(t.others)
	t.text.Reset()
}

// number returns the window with the prefix of a label, and its number.
func (t *labelTable) number(label []byte) (*labelWindow, uint32) {
	for i := range t.windows[:t.open] {
		w := &t.windows[i]
		k := len(w.prefix)
		if k >= len(label) || label[0] != w.prefix[0] || k > 1 && !bytes.Equal(label[:k], w.prefix) {
			continue
		}
		if n, ok := parseLabelNumber(label[k:]); ok {
			return w, n
		}
	}
	return nil, 0
}

// find returns the operation with a label, or -1.
func (t *labelTable) find(label []byte) int {
	if w, n := t.number(label); w != nil {
		if i := n - w.base; uint64(i) < uint64(len(w.ops)) {
			return int(w.ops[i]) - 1
		}
	}
	if op, ok := t.others[string(label)]; ok {
		return int(op)
	}
	return -1
}

// define gives a label to an operation, unless another one has it: then it returns that one, else
// -1. It tells how names stores the label. The window of the label is nil if it is not known.
func (t *labelTable) define(w *labelWindow, n uint32, label []byte, op int, names *Names) (before int, name uint32) {
	if w == nil {
		w, n = t.number(label)
	}
	if w == nil && t.open < maxPrefixes {
		if k, number, ok := splitNumber(label); ok {
			w, n = t.openWindow(label[:k], number), number
			w.name = names.prefix(w.prefix)
		}
	}
	inWindow := false
	if w != nil {
		i := n - w.base
		if inWindow = uint64(i) < uint64(len(w.ops)); inWindow {
			if before = int(w.ops[i]) - 1; before >= 0 {
				return before, 0
			}
			w.ops[i] = uint32(op) + 1
		}
	}
	if !inWindow {
		if before, ok := t.others[string(label)]; ok {
			return int(before), 0
		}
		if t.others == nil {
			t.others = map[string]uint32{}
		}
		t.text.Write(label) // earlier labels stay where they are
		t.others[t.text.String()[t.text.Len()-len(label):]] = uint32(op)
	}
	if w != nil && w.name >= 0 {
		return -1, numberedLabel(w.name, n)
	}
	return -1, names.addText(label)
}

// openWindow lays a window around the first number of a prefix.
func (t *labelTable) openWindow(prefix []byte, number uint32) *labelWindow {
	w := &t.windows[t.open]
	t.open++
	w.prefix = prefix
	w.base = 0
	if int(number) > t.width/2 {
		w.base = number - uint32(min(t.width/4, int(number)))
	}
	if cap(w.memory) < t.width {
		w.memory = make([]uint32, t.width+t.width/4)
	}
	w.ops = w.memory[:t.width]
	clear(w.ops)
	return w
}
