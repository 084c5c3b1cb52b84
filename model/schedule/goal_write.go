package schedule

import (
	"io"
	"strconv"
)

// WriteGOAL writes a graph as GOAL text: for each rank its operations, each with a label, and then
// its dependencies. Operations keep their labels; the others are called l and their index. The ranks
// stand in the order of the file from which the graph comes: see Match. A graph with several blocks
// per rank is flattened. Warnings report what GOAL cannot express exactly:
// times that are not whole ns are rounded half up, and messages of other contexts than the user's
// get tags that are not used otherwise.
func WriteGOAL(w io.Writer, g *Graph) (warnings []string, err error) {
	form, err := newGoalForm(g)
	if err != nil {
		return nil, err
	}
	out := goalWriter{form: form, chunkWriter: chunkWriter{w: w}}
	out.text = append(out.text, "num_ranks "...)
	out.text = strconv.AppendInt(out.text, int64(g.Ranks()), 10)
	out.text = append(out.text, '\n')
	for rank := range ranksAsInFile(form.g) {
		out.rank(rank)
		if out.err != nil {
			return nil, out.err
		}
	}
	out.flush()
	return form.warnings, out.err
}

type goalWriter struct {
	chunkWriter
	form   *goalForm
	labels labeller
	block  Block
}

func (w *goalWriter) rank(rank int) {
	w.text = append(w.text, "\nrank "...)
	w.text = strconv.AppendInt(w.text, int64(rank), 10)
	w.text = append(w.text, " {\n"...)
	if w.form.g.Steps(rank) > 0 {
		w.form.g.Block(rank, 0, &w.block)
		w.labels.use(w.form.g, rank, len(w.block.Ops))
		for i := range w.block.Ops {
			w.text = w.labels.append(w.text, i)
			w.text = append(w.text, ": "...)
			w.text = w.form.appendOp(w.text, &w.block.Ops[i])
			w.text = append(w.text, '\n')
			w.flushIfFull()
		}
		for i := range w.block.First[:max(0, len(w.block.First)-1)] {
			for _, d := range w.block.Dependents[w.block.First[i]:w.block.First[i+1]] {
				w.text = w.labels.append(w.text, d.Index())
				if d.OnStart() {
					w.text = append(w.text, " irequires "...)
				} else {
					w.text = append(w.text, " requires "...)
				}
				w.text = w.labels.append(w.text, i)
				w.text = append(w.text, '\n')
				w.flushIfFull()
			}
		}
	}
	w.text = append(w.text, "}\n"...)
	w.flushIfFull()
}

// appendOp appends an operation as GOAL says it. Fields that are 0 are left out.
func (f *goalForm) appendOp(to []byte, op *Op) []byte {
	tag := uint32(0)
	switch op.Kind {
	case Calc:
		to = append(to, "calc "...)
		to = strconv.AppendInt(to, nanoseconds(op), 10)
	case Send, Recv:
		direction := "b to "
		if op.Kind == Recv {
			direction = "b from "
		}
		to = append(append(to, op.Kind.String()...), ' ')
		to = append(strconv.AppendInt(to, op.Size, 10), direction...)
		to = strconv.AppendInt(to, int64(op.Peer), 10) // AnySource is -1
		tag = f.tag(op)
	}
	switch {
	case tag == AnyTag:
		to = append(to, " tag -1"...)
	case tag != 0:
		to = append(to, " tag "...)
		to = strconv.AppendUint(to, uint64(tag), 10)
	}
	if op.CPU != 0 {
		to = append(to, " cpu "...)
		to = strconv.AppendUint(to, uint64(op.CPU), 10)
	}
	if op.NIC != 0 && op.Kind != Calc {
		to = append(to, " nic "...)
		to = strconv.AppendUint(to, uint64(op.NIC), 10)
	}
	return to
}

// labeller gives each operation of a rank a label of its own.
type labeller struct {
	names *Names
	begin int      // position of the first operation of the rank
	made  []string // by operation; empty if the labels of the file can be taken as they are
}

// use turns to the operations of a rank.
func (l *labeller) use(g *Graph, rank, ops int) {
	l.names, l.made = g.Names, nil
	l.begin = g.blocks[g.steps[rank]].ops
	if l.names == nil || len(l.names.label) == 0 {
		return
	}
	// Numbered labels that ascend are different; that is the case in which millions of labels
	// must be fast.
	var last [maxPrefixes]uint32
	for _, prefix := range l.names.prefixes {
		if !isLabel([]byte(prefix)) { // a schedule of another format may have strange labels
			l.makeLabels(ops)
			return
		}
	}
	for _, at := range l.names.label[l.begin : l.begin+ops] {
		prefix := at >> prefixShift % maxPrefixes
		if at < numbered || at <= last[prefix] {
			l.makeLabels(ops)
			return
		}
		last[prefix] = at
	}
}

// makeLabels takes the labels of the file where they are different and can be read back, and makes
// up the others.
func (l *labeller) makeLabels(ops int) {
	l.made = make([]string, ops)
	taken := make(map[string]bool, ops)
	for i := range l.made {
		label := l.names.appendLabel(nil, l.begin+i)
		if isLabel(label) && !taken[string(label)] {
			l.made[i] = string(label)
			taken[l.made[i]] = true
		}
	}
	for i := range l.made {
		if l.made[i] == "" {
			label := "l" + strconv.Itoa(i)
			for taken[label] {
				label += "_"
			}
			l.made[i] = label
			taken[label] = true
		}
	}
}

// append appends the label of an operation of the rank.
func (l *labeller) append(to []byte, index int) []byte {
	if l.made != nil {
		return append(to, l.made[index]...)
	}
	if l.names != nil && len(l.names.label) > 0 {
		return l.names.appendLabel(to, l.begin+index)
	}
	return strconv.AppendInt(append(to, 'l'), int64(index), 10)
}

// isLabel reports whether GOAL accepts a label.
func isLabel(label []byte) bool {
	if len(label) == 0 || byteClass[label[0]] != isLetter {
		return false
	}
	for _, c := range label {
		if byteClass[c] == 0 {
			return false
		}
	}
	return !isReserved(label)
}

// chunkWriter collects text and writes it in large pieces. It keeps the first error.
type chunkWriter struct {
	w    io.Writer
	text []byte
	err  error
}

const chunkSize = 1 << 16

func (w *chunkWriter) flushIfFull() {
	if len(w.text) >= chunkSize {
		w.flush()
	}
}

func (w *chunkWriter) flush() {
	if w.err == nil && len(w.text) > 0 {
		_, w.err = w.w.Write(w.text)
	}
	w.text = w.text[:0]
}
