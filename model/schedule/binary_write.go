package schedule

import (
	"encoding/binary"
	"io"
)

// writeBinary writes a graph in the binary form of GOAL. It treats what the form cannot express as
// WriteGOAL does; labels are lost, and so is the order of the ranks in the file from which the graph
// comes. A warning reports whether Match depends on that order.
func writeBinary(w io.Writer, g *Graph) (warnings []string, err error) {
	form, err := newGoalForm(g)
	if err != nil {
		return nil, err
	}
	out := binaryWriter{form: form, chunkWriter: chunkWriter{w: w}}
	out.header()
	for rank := range g.Ranks() {
		out.rank(rank)
		if out.err != nil {
			return nil, out.err
		}
	}
	out.flush()
	if lost := lostOrder(form.g); lost != "" {
		form.warnings = append(form.warnings, lost)
	}
	return form.warnings, out.err
}

type binaryWriter struct {
	chunkWriter
	form  *goalForm
	block Block
	waits []uint32 // by operation: number of its dependencies
	roots []uint32
}

// load takes the block of a rank and counts dependencies and roots.
func (w *binaryWriter) load(rank int) {
	w.block.Reset()
	if w.form.g.Steps(rank) > 0 {
		w.form.g.Block(rank, 0, &w.block)
	}
	w.waits = append(w.waits[:0], make([]uint32, len(w.block.Ops))...)
	for _, d := range w.block.Dependents {
		w.waits[d.Index()]++
	}
	w.roots = w.roots[:0]
	for i, n := range w.waits {
		if n == 0 {
			w.roots = append(w.roots, uint32(i))
		}
	}
}

func (w *binaryWriter) header() {
	ranks, shape := w.form.g.Ranks(), w.form.g.Shape()
	w.text = binary.LittleEndian.AppendUint64(w.text, binaryCookie)
	w.text = binary.LittleEndian.AppendUint32(w.text, uint32(ranks))
	w.text = append(w.text, uint8(shape.CPUs-1), uint8(shape.NICs-1))
	at := uint64(binaryHeader + binaryJump*ranks - binaryBase)
	for rank := range ranks {
		w.load(rank)
		w.text = binary.LittleEndian.AppendUint64(w.text, at)
		at += uint64(8 + 4*len(w.roots) + binaryOp*len(w.block.Ops) + 4*len(w.block.Dependents))
		w.text = binary.LittleEndian.AppendUint64(w.text, at)
		w.flushIfFull()
	}
}

func (w *binaryWriter) rank(rank int) {
	w.load(rank)
	b := &w.block
	w.uint32(uint32(len(b.Ops)))
	w.uint32(uint32(len(w.roots)))
	for _, i := range w.roots {
		w.uint32(i)
	}
	position := uint32(0)
	for i := range b.Ops {
		position = w.op(i, position)
		w.flushIfFull()
	}
	for i := range b.Ops {
		for _, onStart := range []bool{false, true} {
			for _, d := range dependentsOf(b, i) {
				if d.OnStart() == onStart {
					w.uint32(uint32(d.Index()))
				}
			}
		}
		w.flushIfFull()
	}
}

// op writes an operation whose lists begin at a position of the appendix and returns where they
// end.
func (w *binaryWriter) op(index int, position uint32) uint32 {
	op := &w.block.Ops[index]
	w.uint32(w.waits[index])
	if op.Kind == Calc {
		w.text = append(w.text, 3)
		w.uint32(0)
		w.text = binary.LittleEndian.AppendUint64(w.text, uint64(nanoseconds(op)))
		w.uint32(0)
		w.text = append(w.text, op.CPU, 0)
	} else {
		w.text = append(w.text, 1+uint8(op.Kind)) // Send is 1, Recv is 2
		w.uint32(uint32(op.Peer))                 // AnySource becomes 2^32-1
		w.text = binary.LittleEndian.AppendUint64(w.text, uint64(op.Size))
		w.uint32(w.form.tag(op))
		w.text = append(w.text, op.CPU, op.NIC)
	}
	var finish, start uint32
	for _, d := range dependentsOf(&w.block, index) {
		if d.OnStart() {
			start++
		} else {
			finish++
		}
	}
	for _, count := range []uint32{finish, start} {
		w.uint32(count)
		w.uint32(position)
		position += count
	}
	return position
}

func (w *binaryWriter) uint32(v uint32) { w.text = binary.LittleEndian.AppendUint32(w.text, v) }

// dependentsOf returns what waits for an operation of a block.
func dependentsOf(b *Block, index int) []Dependent {
	if b.IsPhase() {
		return nil
	}
	return b.Dependents[b.First[index]:b.First[index+1]]
}
