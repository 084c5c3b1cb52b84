package schedule

import (
	"bytes"
	"slices"
)

// GOAL is the schedule language of LogGOPSim:
//
//	file    = "num_ranks" INT { block }
//	block   = "rank" INT "{" { line } "}"
//	line    = [ LABEL ":" ] op NL  |  LABEL ("requires" | "irequires") LABEL NL  |  NL
//	op      = "calc" INT [ "cpu" INT ]
//	        | "send" INT "b" "to"   INT            [ "tag" INT ]            [ "cpu" INT ] [ "nic" INT ]
//	        | "recv" INT "b" "from" ( INT | "-1" ) [ "tag" ( INT | "-1" ) ] [ "cpu" INT ] [ "nic" INT ]
//	LABEL   = letter { letter | digit | "_" }        INT = digit { digit }
//
// Times are in ns, sizes in bytes. Comments (// to the end of the line, /* to */) may stand where
// a blank may stand. Labels are local to a block and may be used before they are defined. Blocks
// come in any order; a rank without a block does nothing.
var goalFormat = Format{
	Name: "goal", Noun: "GOAL text", Info: "GOAL text, as LogGOPSim's txt2bin reads it", Suffixes: []string{".goal"}, Text: true,
	Sniff: sniffGOAL, Read: ReadGOAL, Pack: packGOAL, Write: WriteGOAL,
}

// Limits of the formats of LogGOPSim.
const (
	maxRanks  = 1 << 24               // ours: tables by rank must fit into memory
	maxUnit   = 254                   // cpu and nic
	maxTag    = 1<<32 - 2             // the next one is AnyTag
	maxSize   = 1<<63 - 1             // bytes
	maxCalcNs = (1<<63 - 1) / psPerNs // ours: time is kept in ps
	psPerNs   = 1000
)

// sniffGOAL looks for num_ranks as the first word. It takes rank as well, so that a file without
// num_ranks is told what is missing.
func sniffGOAL(head []byte) bool {
	r := goalReader{data: head, line: 1}
	if !r.skipToStatement() {
		return isText(head[:min(len(head), 512)]) // a long comment: only texts begin so
	}
	if r.at == len(head) {
		return len(bytes.TrimLeft(head, " \t\r\n")) > 0 // nothing but comments so far
	}
	word := r.word()
	return string(word) == "num_ranks" || string(word) == "rank"
}

// ReadGOAL reads a GOAL file. The result has one block per rank, or none for a rank without
// operations. It stops at the first error.
func ReadGOAL(name string, data []byte) (*Graph, error) {
	r := newGOALReader(name, data)
	if !r.header() || !r.readBlocks() {
		return nil, r.err
	}
	return r.graph(), nil
}

func newGOALReader(name string, data []byte) *goalReader {
	r := &goalReader{data: data, total: len(data), line: 1, rank: -1, names: &Names{File: name}, shape: Shape{CPUs: 1, NICs: 1}}
	r.blocks = append(r.blocks, blockInfo{})

	return r
}

// goalReader reads the statements of a file one after the other. Its methods that return a bool
// return false after they have set err.
type goalReader struct {
	data []byte
	at   int // position of what is read next
	line int // its line
	err  *FileError

	before, total int // bytes: read before data, and in all

	ranks int // as declared; 0 before
	rank  int // of the block that is open, else -1

	// What has been read so far, in the order of the file.
	blockRanks []int32
	blockLines []uint32
	blocks     []blockInfo
	ops        []Op
	first      []uint32
	dependents []Dependent
	names      *Names
	shape      Shape
	descending bool        // the ranks are not in ascending order
	seen       map[int]int // position in blockRanks by rank; filled when needed

	// The block that is open.
	labels   labelTable
	edges    []edge
	backward bool // an operation waits for a later one: there may be a cycle
	forwards []forward
	cycles   cycleFinder

	pack *packer // takes each block when it ends; nil: all are kept
}

// forward is the use of a label that was not defined yet.
type forward struct {
	label     []byte
	line      int
	edge      int  // which edge
	dependent bool // its dependent; else the operation waited for
}

// header reads the number of ranks.
func (r *goalReader) header() bool {
	if len(bytes.TrimLeft(r.data, " \t\r\n")) == 0 {
		r.line = 0
		return r.fail("the file is empty; a GOAL file begins with num_ranks")
	}
	if !r.skipToStatement() {
		return false
	}
	if !r.keyword("num_ranks") {
		return r.fail("num_ranks is missing: a GOAL file begins with num_ranks and the number of ranks, here is %s", r.found())
	}
	n, ok := r.integer("the number of ranks")
	switch {
	case !ok || !r.apart("the number of ranks"):
		return false
	case n == 0 || n > 1<<31-1:
		return r.fail("num_ranks %s is out of range (1 to 2147483647)", r.lastNumber())
	case n > maxRanks:
		return r.fail("num_ranks %d needs too much memory; at most %d ranks can be read", n, maxRanks)
	}
	r.ranks = int(n)
	return true
}

// readBlocks reads everything after the header.
func (r *goalReader) readBlocks() bool {
	for r.skipToStatement() {
		if r.at == len(r.data) {
			return true
		}
		if !r.block() {
			return false
		}
	}
	return false
}

// block reads a block.
func (r *goalReader) block() bool {
	line := r.line
	if !r.keyword("rank") {
		return r.failOutside()
	}
	n, ok := r.integer("the number of the rank")
	if !ok {
		return false
	}
	if n >= uint64(r.ranks) {
		return r.fail("block for rank %s, but the file declares %s", r.lastNumber(), r.declared())
	}
	rank := int(n)
	if !r.blanks() {
		return false
	}
	if r.peek() != '{' {
		return r.fail("the { after rank %d is missing, here is %s; it must be on the same line", rank, r.found())
	}
	if !r.note(rank, line) {
		return false
	}
	r.at++
	r.rank = rank
	end := bytes.IndexByte(r.data[r.at:], '}')
	if end < 0 {
		end = len(r.data) - r.at
	}
	r.labels.reset(end)
	r.edges, r.forwards, r.backward = r.edges[:0], r.forwards[:0], false
	if !r.statements() || !r.endBlock() {
		return false
	}
	r.rank = -1
	return true
}

// note remembers that a rank has a block and refuses a second one.
func (r *goalReader) note(rank, line int) bool {
	if n := len(r.blockRanks); n > 0 && rank <= int(r.blockRanks[n-1]) || r.descending {
		if !r.descending {
			r.descending = true
			r.seen = make(map[int]int, n)
			for i, at := range r.blockRanks {
				r.seen[int(at)] = i
			}
		}
		if i, ok := r.seen[rank]; ok {
			return r.fail("second block for rank %d (the first is in line %d); put all its operations into one", rank, r.blockLines[i])
		}
		r.seen[rank] = n
	}
	r.blockRanks = append(r.blockRanks, int32(rank))
	r.blockLines = append(r.blockLines, lineNumber(line))
	return true
}

// endBlock looks up the labels that were used early, and ends the block.
func (r *goalReader) endBlock() bool {
	n := len(r.ops) - r.blocks[len(r.blocks)-1].ops
	var first []uint32
	var dependents []Dependent
	for _, f := range r.forwards {
		op := r.labels.find(f.label)
		if op < 0 {
			r.line = f.line
			return r.fail("label %s is not defined in rank %d (labels are local to a rank)", clip(f.label), r.rank)
		}
		e := &r.edges[f.edge]
		if f.dependent {
			e.dep = NewDependent(op, e.dep.OnStart())
		} else {
			e.on = uint32(op)
		}
		r.backward = r.backward || int(e.on) >= e.dep.Index()
	}
	if len(r.edges) > 0 {
		if uint64(len(r.edges)) > 1<<32-1 {
			return r.fail("rank %d has %d dependencies, which is too much for one rank", r.rank, len(r.edges))
		}
		first, dependents = r.link(n)
		if r.backward {
			if cycle := r.cycles.find(n, first, dependents); cycle != nil {
				begin := len(r.names.line) - n
				r.line = int(r.names.line[begin+cycle[0]])
				return r.fail("%s", cycleText(r.rank, cycle, func(i int) string {
					return clip(r.names.appendLabel(nil, begin+i))
				}))
			}
		}
	}
	if r.pack != nil {
		r.packBlock(first, dependents)
		return true
	}
	if len(r.blocks) == cap(r.blocks) {
		room := r.expect(len(r.blocks), len(r.blocks)/8+16)
		r.blocks = slices.Grow(r.blocks, room)
		r.blockRanks = slices.Grow(r.blockRanks, room)
		r.blockLines = slices.Grow(r.blockLines, room)
	}
	r.blocks = append(r.blocks, blockInfo{len(r.ops), len(r.first), len(r.dependents)})
	return true
}

// link sorts the edges of a block of n operations by what they wait for and appends them.
func (r *goalReader) link(n int) ([]uint32, []Dependent) {
	r.first = slices.Grow(r.first, r.expect(len(r.first), n+1))
	r.dependents = slices.Grow(r.dependents, r.expect(len(r.dependents), len(r.edges)))
	first := r.first[len(r.first) : len(r.first)+n+1]
	dependents := r.dependents[len(r.dependents) : len(r.dependents)+len(r.edges)]
	r.first = r.first[:len(r.first)+len(first)]
	r.dependents = r.dependents[:len(r.dependents)+len(dependents)]
	clear(first)
	link(r.edges, first, dependents)
	return first, dependents
}

// expect returns for how many further elements an array of length have needs room, if need are
// wanted now: as many as the rest of the file will add if it goes on like this, but no more than
// four times what there is, since it may not go on like this.
func (r *goalReader) expect(have, need int) int {
	const enoughToTell = 1 << 16
	at := r.before + r.at
	if at < enoughToTell {
		return need
	}
	perByte := float64(have+need) / float64(at)
	rest := int(perByte * 1.02 * float64(r.total-at))
	return max(need, min(rest, 4*(have+need)))
}

// dropEmptyLabels forgets the labels if there are none.
func (r *goalReader) dropEmptyLabels() {
	if len(r.names.prefixes) == 0 && len(r.names.text) == 0 {
		r.names.label = nil
	}
}

// graph puts the blocks into the order of the ranks.
func (r *goalReader) graph() *Graph {
	g := &Graph{ops: r.ops, first: r.first, dependents: r.dependents, shape: r.shape, Names: r.names}
	r.dropEmptyLabels()
	g.shape.Graphs = len(r.dependents) > 0
	order := make([]int, 0, len(r.blockRanks))
	for i := range r.blockRanks {
		if r.blocks[i+1].ops > r.blocks[i].ops {
			order = append(order, i)
		}
	}
	if r.descending {
		slices.SortFunc(order, func(i, j int) int { return int(r.blockRanks[i]) - int(r.blockRanks[j]) })
		r.reorder(g, order)
	}
	g.steps = make([]int, 1, r.ranks+1)
	g.blocks = make([]blockInfo, 1, len(order)+1)
	for _, i := range order {
		for len(g.steps) <= int(r.blockRanks[i]) {
			g.steps = append(g.steps, len(g.blocks)-1)
		}
		from, to, last := r.blocks[i], r.blocks[i+1], g.blocks[len(g.blocks)-1]
		g.blocks = append(g.blocks, blockInfo{
			last.ops + to.ops - from.ops,
			last.first + to.first - from.first,
			last.dependents + to.dependents - from.dependents,
		})
	}
	for len(g.steps) <= r.ranks {
		g.steps = append(g.steps, len(g.blocks)-1)
	}
	return g
}

// reorder copies everything block by block.
func (r *goalReader) reorder(g *Graph, order []int) {
	g.ops = make([]Op, 0, len(r.ops))
	g.first = make([]uint32, 0, len(r.first))
	g.dependents = make([]Dependent, 0, len(r.dependents))
	label := make([]uint32, 0, len(r.names.label))
	line := make([]uint32, 0, len(r.names.line))
	for _, i := range order {
		from, to := r.blocks[i], r.blocks[i+1]
		g.ops = append(g.ops, r.ops[from.ops:to.ops]...)
		g.first = append(g.first, r.first[from.first:to.first]...)
		g.dependents = append(g.dependents, r.dependents[from.dependents:to.dependents]...)
		line = append(line, r.names.line[from.ops:to.ops]...)
		if len(r.names.label) > 0 {
			label = append(label, r.names.label[from.ops:to.ops]...)
		}
	}
	r.names.label, r.names.line = label, line
}
