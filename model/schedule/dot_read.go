package schedule

import (
	"bytes"
	"math"
	"strconv"
)

// ReadDOT reads a schedule from a DOT file that WriteDOT has written, perhaps laid out or coloured
// since: attributes that it does not know are ignored. Other DOT files are refused.
func ReadDOT(name string, data []byte) (*Graph, error) {
	r := dotReader{rank: -1}
	r.data, r.line = data, 1
	r.names = &Names{File: name}
	r.shape = Shape{CPUs: 1, NICs: 1}
	r.blocks = append(r.blocks, blockInfo{})
	if !r.readFile() {
		return nil, r.err
	}
	return r.graph(), nil
}

type dotReader struct {
	dotScanner     // which collects the blocks, as it does for GOAL
	depth      int // of open braces

	// The rank whose nodes are being read.
	rank   int // -1 before the first
	block  Block
	begin  int // position of its first operation among those of all ranks
	labels map[string]bool
	cycles cycleFinder

	list []dotAttribute
}

func (r *dotReader) readFile() bool {
	if !r.next() {
		return false
	}
	if r.kind != dotWord || string(r.token) != "digraph" {
		return r.unexpected("digraph")
	}
	if !r.next() {
		return false
	}
	if r.kind == dotWord && !r.next() {
		return false
	}
	if !r.want("{") {
		return false
	}
	for r.depth = 1; r.depth > 0; {
		if !r.statement() {
			return false
		}
	}
	if r.kind != dotEnd {
		return r.unexpected("the end of the file")
	}
	if r.ranks == 0 {
		return r.notOurs("the graph has no attribute ranks")
	}
	return r.endRank()
}

// statement reads a node, an edge, a list of attributes, or the begin or end of a cluster.
func (r *dotReader) statement() bool {
	switch {
	case r.is("}"):
		r.depth--
		return r.next()
	case r.is(";"):
		return r.next()
	case r.kind != dotWord:
		return r.unexpected("a node, an edge or }")
	}
	word, line := r.token, r.line
	if !r.next() {
		return false
	}
	switch string(word) {
	case "subgraph":
		if r.kind == dotWord && !r.next() {
			return false
		}
		r.depth++
		return r.want("{")
	case "graph", "node", "edge":
		var ok bool
		if r.list, ok = r.attributes(r.list); !ok {
			return false
		}
		return string(word) != "graph" || r.depth > 1 || r.graphAttributes()
	}
	if r.is("=") { // an attribute of the graph
		if !r.next() {
			return false
		}
		if r.kind != dotWord {
			return r.unexpected("a value")
		}
		return r.next()
	}
	if r.is("->") {
		return r.edge(word, line)
	}
	return r.node(word, line)
}

// graphAttributes looks for the number of ranks.
func (r *dotReader) graphAttributes() bool {
	version, ranks := r.value("slackline"), r.value("ranks")
	if ranks == nil {
		return true // layout
	}
	if string(version) != "1" {
		return r.notOurs("the graph has the version %s instead of 1", quote(version))
	}
	n, ok := r.number("ranks", ranks, maxRanks)
	if !ok {
		return false
	}
	if n == 0 || r.ranks > 0 {
		return r.notOurs("ranks must be 1 or more and given once")
	}
	r.ranks = int(n)
	return true
}

// value returns the value of an attribute of the last list; nil if it is not given.
func (r *dotReader) value(name string) []byte {
	for i := len(r.list) - 1; i >= 0; i-- {
		if string(r.list[i].name) == name {
			return r.list[i].value
		}
	}
	return nil
}

// number reads the value of an attribute.
func (r *dotReader) number(name string, value []byte, most uint64) (uint64, bool) {
	n, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil || n > most {
		return 0, r.fail("%s=%s is no number in the range 0 to %d", name, clip(value), most)
	}
	return n, true
}

// nodeName takes rank and index from the name of a node such as r0_3.
func (r *dotReader) nodeName(name []byte) (rank, index int, ok bool) {
	before, behind, found := bytes.Cut(name, []byte("_"))
	if !found || len(before) < 2 || before[0] != 'r' {
		return 0, 0, r.notOurs("the node %s is not named by rank and index, such as r0_3", quote(name))
	}
	n, err := strconv.ParseUint(string(before[1:]), 10, 31)
	i, err2 := strconv.ParseUint(string(behind), 10, 31)
	if err != nil || err2 != nil {
		return 0, 0, r.notOurs("the node %s is not named by rank and index, such as r0_3", quote(name))
	}
	if int(n) >= r.ranks {
		return 0, 0, r.fail("node %s: the graph has %s", clip(name), r.declared())
	}
	return int(n), int(i), true
}

// node reads an operation.
func (r *dotReader) node(name []byte, line int) bool {
	var ok bool
	if r.list, ok = r.attributes(r.list); !ok {
		return false
	}
	r.line, line = line, r.line // for errors
	if r.ranks == 0 {
		return r.notOurs("the node %s comes before the attribute ranks of the graph", quote(name))
	}
	rank, index, ok := r.nodeName(name)
	if !ok {
		return false
	}
	if rank != r.rank && (!r.endRank() || !r.beginRank(rank)) {
		return false
	}
	if index != len(r.block.Ops) {
		return r.notOurs("the node %s is not in the order of indices", quote(name))
	}
	op, ok := r.operation(name)
	if !ok {
		return false
	}
	label := r.value("name")
	if label != nil {
		if !isLabel(label) {
			return r.fail("node %s: %s cannot be a label", clip(name), quote(label))
		}
		if r.labels[string(label)] {
			return r.fail("label %s is defined twice in rank %d", clip(label), rank)
		}
		r.labels[string(label)] = true
	}
	r.block.Add(op)
	r.shape.CPUs = max(r.shape.CPUs, int(op.CPU)+1)
	r.shape.NICs = max(r.shape.NICs, int(op.NIC)+1)
	r.shape.Wildcards = r.shape.Wildcards || op.Kind == Recv && (op.Peer == AnySource || op.Tag == AnyTag)
	r.names.add(label, r.line)
	r.line = line
	return true
}

// operation takes an operation from the attributes of its node.
func (r *dotReader) operation(node []byte) (op Op, ok bool) {
	partner, size := "", "bytes"
	switch kind := r.value("kind"); string(kind) {
	case "send":
		op.Kind, partner = Send, "to"
	case "recv":
		op.Kind, partner = Recv, "from"
	case "calc":
		op.Kind, size = Calc, "ps"
	default:
		return op, r.notOurs("node %s has no kind (send, recv, calc)", clip(node))
	}
	n, ok := r.number(size, r.value(size), maxSize)
	if !ok {
		return op, false
	}
	op.Size = int64(n)
	if partner != "" {
		value := r.value(partner)
		if op.Kind == Recv && string(value) == "any" {
			op.Peer = AnySource
		} else if n, ok = r.number(partner, value, uint64(r.ranks-1)); ok {
			op.Peer = int32(n)
		} else {
			return op, false
		}
	}
	if value := r.value("tag"); op.Kind == Recv && string(value) == "any" {
		op.Tag = AnyTag
	} else if value != nil {
		if n, ok = r.number("tag", value, maxTag); !ok {
			return op, false
		}
		op.Tag = uint32(n)
	}
	for _, field := range []struct {
		name string
		to   *uint8
		most uint64
	}{{"cpu", &op.CPU, maxUnit}, {"nic", &op.NIC, maxUnit}, {"context", &op.Context, math.MaxUint8}} {
		if value := r.value(field.name); value != nil {
			if n, ok = r.number(field.name, value, field.most); !ok {
				return op, false
			}
			*field.to = uint8(n)
		}
	}
	return op, true
}

// edge reads a dependency, or goes over a message.
func (r *dotReader) edge(from []byte, line int) bool {
	if !r.want("->") {
		return false
	}
	to := r.token
	if r.kind != dotWord {
		return r.unexpected("a node")
	}
	var ok bool
	if !r.next() {
		return false
	}
	if r.list, ok = r.attributes(r.list); !ok {
		return false
	}
	r.line, line = line, r.line
	class := string(r.value("class"))
	switch class {
	case "message":
		r.line = line
		return true
	case "requires", "irequires":
	default:
		return r.notOurs("the edge %s -> %s has no class (requires, irequires, message)", clip(from), clip(to))
	}
	rank, on, ok := r.nodeName(from)
	if !ok {
		return false
	}
	rank2, index, ok := r.nodeName(to)
	if !ok {
		return false
	}
	switch {
	case rank != rank2:
		return r.fail("the dependency %s -> %s joins different ranks", clip(from), clip(to))
	case rank != r.rank || on >= len(r.block.Ops) || index >= len(r.block.Ops):
		return r.notOurs("the edge %s -> %s does not follow the nodes of its rank", clip(from), clip(to))
	case class == "irequires":
		r.block.RequireStart(index, on)
	default:
		r.block.Require(index, on)
	}
	r.line = line
	return true
}

// beginRank turns to the nodes of another rank, of which the present line is the first. The order of
// the ranks is kept by lines.
func (r *dotReader) beginRank(rank int) bool {
	if !r.note(rank, r.line) {
		return false
	}
	if n := len(r.blockLines); r.rank > rank && r.blockLines[n-1] <= r.blockLines[n-2] {
		return r.fail("rank %d stands behind rank %d in one line; let it begin a new line, so that their order is kept", rank, r.rank)
	}
	r.rank = rank
	r.block.Reset()
	r.begin = len(r.names.line)
	r.labels = make(map[string]bool)
	return true
}

// endRank checks the dependencies of the rank and adds its block.
func (r *dotReader) endRank() bool {
	if r.rank < 0 {
		return true
	}
	r.block.Link()
	if cycle := r.cycles.find(len(r.block.Ops), r.block.First, r.block.Dependents); cycle != nil {
		r.line = int(r.names.line[r.begin+cycle[0]])
		return r.fail("%s", cycleText(r.rank, cycle, func(i int) string {
			if label := r.names.appendLabel(nil, r.begin+i); len(label) > 0 {
				return clip(label)
			}
			return "#" + strconv.Itoa(i)
		}))
	}
	r.ops = append(r.ops, r.block.Ops...)
	if !r.block.IsPhase() {
		r.first = append(r.first, r.block.First...)
		r.dependents = append(r.dependents, r.block.Dependents...)
	}
	r.blocks = append(r.blocks, blockInfo{len(r.ops), len(r.first), len(r.dependents)})
	return true
}
