package schedule

import (
	"io"
	"strconv"
)

// Graphviz DOT: a picture of a schedule. Each rank is a cluster, each operation a node whose
// attributes tell all about it, and each dependency an edge from the operation that is waited for to
// the one that waits:
//
//	digraph slackline {
//	  graph [slackline=1, ranks=2];
//	  subgraph cluster_0 {
//	    graph [label="rank 0"];
//	    r0_0 [label="a: send 8b to 1", name=a, kind=send, to=1, bytes=8];
//	    r0_1 [label="b: calc 5", name=b, kind=calc, ps=5000];
//	    r0_0 -> r0_1 [class=requires];
//	  }
//	  r0_0 -> r1_0 [class=message, style=bold, constraint=false];
//	}
//
// A node is named by its rank and its index. The attributes tag, cpu, nic and context are left out when
// they are 0; from and tag may be any. The class of an edge is requires, irequires (dashed) or message.
var dotFormat = Format{
	Name: "dot", Noun: "a Graphviz picture", Info: "Graphviz DOT: a picture", Suffixes: []string{".dot", ".gv"}, Text: true, Write: writeDOT,
}

// writeDOT writes a graph as Graphviz DOT. A graph with several blocks per rank is flattened.
// The ranks are in the order of the file from which the graph comes: see Match. Origins are left
// out. Messages are drawn where it is clear from the order of the operations
// which receive takes which send: not to ranks that receive from any source or with any tag.
func writeDOT(w io.Writer, g *Graph) (warnings []string, err error) {
	if len(g.calls) > 0 {
		return nil, errCollectives
	}
	flat, err := Flatten(g)
	if err != nil {
		return nil, err
	}
	out := dotWriter{g: flat, chunkWriter: chunkWriter{w: w}}
	out.text = append(out.text, "digraph slackline {\n  graph [slackline=1, ranks="...)
	out.int(int64(flat.Ranks()))
	out.text = append(out.text, "];\n  node [shape=box];\n"...)
	for rank := range ranksAsInFile(flat) {
		out.rank(rank)
		if out.err != nil {
			return nil, out.err
		}
	}
	for _, m := range plainMessages(flat) {
		out.text = append(out.text, "  "...)
		out.node(int(m.source), int(m.send))
		out.text = append(out.text, " -> "...)
		out.node(int(m.destination), int(m.recv))
		out.text = append(out.text, " [class=message, style=bold, constraint=false];\n"...)
		out.flushIfFull()
	}
	out.text = append(out.text, "}\n"...)
	out.flush()
	return nil, out.err
}

type dotWriter struct {
	chunkWriter
	g     *Graph
	block Block
}

func (w *dotWriter) int(v int64) { w.text = strconv.AppendInt(w.text, v, 10) }

func (w *dotWriter) node(rank, index int) {
	w.text = append(w.text, 'r')
	w.int(int64(rank))
	w.text = append(w.text, '_')
	w.int(int64(index))
}

func (w *dotWriter) rank(rank int) {
	if w.g.Steps(rank) == 0 {
		return
	}
	w.text = append(w.text, "  subgraph cluster_"...)
	w.int(int64(rank))
	w.text = append(w.text, " {\n    graph [label=\"rank "...)
	w.int(int64(rank))
	w.text = append(w.text, "\"];\n"...)
	w.g.Block(rank, 0, &w.block)
	for i := range w.block.Ops {
		w.op(rank, i, &w.block.Ops[i])
		w.flushIfFull()
	}
	for i := range w.block.Ops {
		for _, d := range dependentsOf(&w.block, i) {
			w.text = append(w.text, "    "...)
			w.node(rank, i)
			w.text = append(w.text, " -> "...)
			w.node(rank, d.Index())
			if d.OnStart() {
				w.text = append(w.text, " [class=irequires, style=dashed];\n"...)
			} else {
				w.text = append(w.text, " [class=requires];\n"...)
			}
			w.flushIfFull()
		}
	}
	w.text = append(w.text, "  }\n"...)
}

// op writes the node of an operation.
func (w *dotWriter) op(rank, index int, op *Op) {
	w.text = append(w.text, "    "...)
	w.node(rank, index)
	w.text = append(w.text, " [label=\""...)
	label := w.g.Label(rank, index)
	if !isLabel([]byte(label)) {
		label = ""
	}
	if label != "" {
		w.text = append(append(w.text, label...), ": "...)
	}
	w.caption(op)
	w.text = append(w.text, '"')
	if label != "" {
		w.text = append(w.text, ", name=\""...)
		w.text = append(append(w.text, label...), '"')
	}
	w.text = append(w.text, ", kind="...)
	w.text = append(w.text, op.Kind.String()...)
	switch op.Kind {
	case Calc:
		w.attribute("ps", op.Size)
	case Send:
		w.attribute("to", int64(op.Peer))
		w.attribute("bytes", op.Size)
	case Recv:
		if op.Peer == AnySource {
			w.text = append(w.text, ", from=any"...)
		} else {
			w.attribute("from", int64(op.Peer))
		}
		w.attribute("bytes", op.Size)
	}
	switch {
	case op.Kind == Recv && op.Tag == AnyTag:
		w.text = append(w.text, ", tag=any"...)
	case op.Tag != 0:
		w.attribute("tag", int64(op.Tag))
	}
	for _, field := range []struct {
		name  string
		value uint8
	}{{"cpu", op.CPU}, {"nic", op.NIC}, {"context", op.World()}, {"buffered", op.Context >> 7}} {
		if field.value != 0 {
			w.attribute(field.name, int64(field.value))
		}
	}
	w.text = append(w.text, "];\n"...)
}

func (w *dotWriter) attribute(name string, value int64) {
	w.text = append(w.text, ", "...)
	w.text = append(append(w.text, name...), '=')
	w.int(value)
}

// caption writes what the picture says of an operation: GOAL, with times as exact as they are.
func (w *dotWriter) caption(op *Op) {
	if op.Kind == Calc && op.Size%psPerNs != 0 {
		w.text = append(w.text, "calc "...)
		w.int(op.Size / psPerNs)
		w.text = append(w.text, '.')
		for unit := int64(psPerNs / 10); unit > 0; unit /= 10 {
			w.int(op.Size / unit % 10)
		}
		if op.CPU != 0 {
			w.text = append(w.text, " cpu "...)
			w.int(int64(op.CPU))
		}
		return
	}
	plain := *op
	plain.Context = UserContext
	w.text = (&goalForm{}).appendOp(w.text, &plain)
}

// message is a pair of a send and a receive, by rank and index.
type message struct {
	source, destination int32
	send, recv          uint32
}

// plainMessages pairs the k-th send of each channel with its k-th receive, for all ranks that
// receive without wildcards. Sends and receives that are left over are not listed.
func plainMessages(g *Graph) []message {
	type channel struct {
		source, destination int32
		contextTag
	}
	receives := make(map[channel][]uint32)
	for rank := range g.Ranks() {
		ops := g.RankOps(rank)
		if hasWildcards(ops) {
			continue
		}
		for i := range ops {
			if op := &ops[i]; op.Kind == Recv {
				c := channel{op.Peer, int32(rank), contextTag{op.Context, op.Tag}}
				receives[c] = append(receives[c], uint32(i))
			}
		}
	}
	var messages []message
	for rank := range g.Ranks() {
		for i, op := range g.RankOps(rank) {
			if op.Kind != Send {
				continue
			}
			c := channel{int32(rank), op.Peer, contextTag{op.World(), op.Tag}}
			if left := receives[c]; len(left) > 0 {
				messages = append(messages, message{c.source, c.destination, uint32(i), left[0]})
				receives[c] = left[1:]
			}
		}
	}
	return messages
}

func hasWildcards(ops []Op) bool {
	for i := range ops {
		if op := &ops[i]; op.Kind == Recv && (op.Peer == AnySource || op.Tag == AnyTag) {
			return true
		}
	}
	return false
}
