package schedule

import (
	"fmt"
	"io"
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
	out := &dotWriter{g: flat, chunkWriter: chunkWriter{w: w}}
	out.print("digraph slackline {\n  graph [slackline=1, ranks=%d];\n  node [shape=box];\n", flat.Ranks())
	for rank := range ranksAsInFile(flat) {
		out.rank(rank)
		if out.err != nil {
			return nil, out.err
		}
	}
	for _, m := range plainMessages(flat) {
		out.print("  r%d_%d -> r%d_%d [class=message, style=bold, constraint=false];\n", m.source, m.send, m.destination, m.recv)
	}
	out.print("}\n")
	out.flush()
	return nil, out.err
}

type dotWriter struct {
	chunkWriter
	g     *Graph
	block Block
}

// print appends to the text.
func (w *dotWriter) print(format string, args ...any) {
	w.text = fmt.Appendf(w.text, format, args...)
	w.flushIfFull()
}

func (w *dotWriter) rank(rank int) {
	if w.g.Steps(rank) == 0 {
		return
	}
	w.print("  subgraph cluster_%d {\n    graph [label=\"rank %d\"];\n", rank, rank)
	w.g.Block(rank, 0, &w.block)
	for i := range w.block.Ops {
		w.op(rank, i, &w.block.Ops[i])
	}
	for i := range w.block.Ops {
		for _, d := range dependentsOf(&w.block, i) {
			class := "requires"
			if d.OnStart() {
				class = "irequires, style=dashed"
			}
			w.print("    r%d_%d -> r%d_%d [class=%s];\n", rank, i, rank, d.Index(), class)
		}
	}
	w.print("  }\n")
}

// op writes the node of an operation.
func (w *dotWriter) op(rank, index int, op *Op) {
	caption, name := dotCaption(op), ""
	if label := w.g.Label(rank, index); isLabel([]byte(label)) {
		caption, name = label+": "+caption, fmt.Sprintf(", name=%q", label)
	}
	w.print("    r%d_%d [label=%q%s, kind=%s", rank, index, caption, name, op.Kind)
	switch {
	case op.Kind == Calc:
		w.print(", ps=%d", op.Size)
	case op.Kind == Send:
		w.print(", to=%d, bytes=%d", op.Peer, op.Size)
	case op.Kind == Recv && op.Peer == AnySource:
		w.print(", from=any, bytes=%d", op.Size)
	case op.Kind == Recv:
		w.print(", from=%d, bytes=%d", op.Peer, op.Size)
	}
	switch {
	case op.Kind == Recv && op.Tag == AnyTag:
		w.print(", tag=any")
	case op.Tag != 0:
		w.print(", tag=%d", op.Tag)
	}
	for _, field := range []struct {
		name  string
		value uint8
	}{{"cpu", op.CPU}, {"nic", op.NIC}, {"context", op.World()}, {"buffered", op.Context >> 7}} {
		if field.value != 0 {
			w.print(", %s=%d", field.name, field.value)
		}
	}
	w.print("];\n")
}

// dotCaption is what the picture says of an operation: GOAL, with times as exact as they are.
func dotCaption(op *Op) string {
	if op.Kind == Calc && op.Size%psPerNs != 0 {
		caption := fmt.Sprintf("calc %d.%03d", op.Size/psPerNs, op.Size%psPerNs)
		if op.CPU != 0 {
			caption += fmt.Sprintf(" cpu %d", op.CPU)
		}
		return caption
	}
	plain := *op
	plain.Context = UserContext
	return string((&goalForm{}).appendOp(nil, &plain))
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
