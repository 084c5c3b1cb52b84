package dataset

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// hpcMetric is a statistic of the summary profile that is read.
type hpcMetric struct {
	name, unit string
	inclusive  bool
}

// hpcUnknown stands in call paths for what has neither name nor place.
const hpcUnknown = "<unknown>"

// hpcUnit is the unit at the end of the name of a metric.
var hpcUnit = regexp.MustCompile(`^(.+?) ?\((sec|B)\)$`)

// readMetrics finds the sums over threads of the metrics.
func (t *hpcTree) readMetrics() {
	head := t.header(0x38, 0x1b, "the head of the metrics")
	list := t.array(le.Uint64(head), uint64(le.Uint32(head[8:])), uint64(head[0xc]), 0x1c, "the metrics")
	all, names := 0, map[string]bool{}
	for _, m := range list {
		full := t.text(le.Uint64(m), "the name of a metric")
		name, unit := full, ""
		if parts := hpcUnit.FindStringSubmatch(full); parts != nil && !names[parts[1]] {
			name, unit = parts[1], map[string]string{"sec": "s", "B": "B"}[parts[2]]
		}
		names[name] = true
		stats := t.array(le.Uint64(m[0x10:]), uint64(le.Uint16(m[0x1a:])), uint64(head[0xe]), 0x14, "the statistics of "+full)
		if all += len(stats); all > 1<<16 {
			t.fail("%s: byte %d: the metrics have more than %d statistics, the most that have numbers; the file is damaged", t.name,
				le.Uint64(head), 1<<16)
		}
		if t.err != nil {
			return
		}
		found := false
		for _, s := range stats {
			t.known[le.Uint16(s[0x12:])] = true
			inclusive, ok := t.sumOf(s)
			if !ok {
				continue
			}
			m := hpcMetric{name, unit, inclusive}
			if inclusive {
				m.name = "inclusive_" + name
			}
			t.metrics[le.Uint16(s[0x12:])], found = m, true
		}
		if !found {
			t.without.add(full)
		}
	}
	if len(t.metrics) == 0 {
		t.fail("%s: byte %d: none of %d metrics has a sum over threads; write the database with 'hpcprof -M sum'", t.name,
			le.Uint64(head), len(list))
	}
}

// sumOf reports whether a statistic is a sum over threads that is read, and of which kind.
func (p *hpcPart) sumOf(stat []byte) (inclusive, ok bool) {
	if formula := p.text(le.Uint64(stat[8:]), "the formula of a statistic"); formula != "$$" || stat[0x10] != 0 {
		return false, false
	}
	scope := p.at(le.Uint64(stat), 0xa, "a scope")
	if scope[8] == 2 { // all descendants
		return true, true
	}
	return false, p.text(le.Uint64(scope), "the name of a scope") == "function"
}

// hpcPaths are call paths: each is another one and a name.
type hpcPaths struct {
	steps  []hpcStep // by number; 0 is the root
	length []int     // of their texts
	byStep map[hpcStep]int32
	bytes  int // of their names
}

type hpcStep struct {
	caller int32
	name   string
}

func newHPCPaths() hpcPaths {
	return hpcPaths{steps: []hpcStep{{}}, length: []int{0}, byStep: map[hpcStep]int32{}}
}

// call returns the frame of a callee; one whose path would be too long, and all below it, is part of its caller.
func (t *hpcTree) call(caller hpcFrame, name string) hpcFrame {
	step := hpcStep{caller.path, name}
	if i, ok := t.byStep[step]; ok && caller.whole {
		return hpcFrame{i, true}
	}
	n := t.length[caller.path] + len("->") + len(name)
	if n > maxNameBytes || t.bytes+len(name) > maxFileBytes || !caller.whole {
		t.long.add(name)
		return hpcFrame{caller.path, false}
	}
	i := int32(len(t.steps)) // meta.db has at most maxFileBytes
	t.byStep[step] = i
	t.bytes += len(name)
	t.steps, t.length = append(t.steps, step), append(t.length, n)
	return hpcFrame{i, true}
}

// callPath is the text of a path.
func (p *hpcPaths) callPath(i int32) string {
	var names []string
	for ; i != 0; i = p.steps[i].caller {
		names = append(names, p.steps[i].name)
	}
	slices.Reverse(names)
	return cmp.Or(strings.Join(names, "->"), RootPath)
}

// hpcFrame is a context that has been called.
type hpcFrame struct {
	path  int32
	whole bool // the path is its own: what it called is below it
}

// hpcTree is what meta.db holds: metrics, and the tree of contexts.
type hpcTree struct {
	*hpcPart
	hpcPaths
	frames   map[uint32]hpcFrame
	metrics  map[uint16]hpcMetric // by the numbers of their sums
	known    map[uint16]bool      // numbers of all statistics
	used     int                  // frames with values
	rankKind int                  // of the names of threads; -1: none are ranks

	long, without leftOut // functions, metrics
}

// hpcChildren are contexts that are still to be read: those of an array, all called from a path.
type hpcChildren struct {
	from, size uint64
	caller     hpcFrame
}

func readHPCMeta(meta *hpcPart) *hpcTree {
	t := &hpcTree{hpcPart: meta, hpcPaths: newHPCPaths(), frames: map[uint32]hpcFrame{}, metrics: map[uint16]hpcMetric{},
		known: map[uint16]bool{}}
	for _, read := range []func(){t.readKinds, t.readMetrics, t.readContexts} {
		if t.err == nil {
			read()
		}
	}
	return t
}

// header returns the start of the section whose place is in the header of the file at an offset.
func (p *hpcPart) header(at, n uint64, what string) []byte {
	return p.at(le.Uint64(p.at(at, 8, "the header")), n, what)
}

// readKinds finds out which names of threads are ranks.
func (t *hpcTree) readKinds() {
	t.rankKind = -1
	head := t.header(0x28, 9, "the kinds of names of threads")
	for i, name := range t.array(le.Uint64(head), uint64(head[8]), 8, 8, "the kinds of names of threads") {
		if t.text(le.Uint64(name), "a kind of names of threads") == "RANK" {
			t.rankKind = i
		}
	}
}

// readContexts reads the tree.
func (t *hpcTree) readContexts() {
	t.frames[0] = hpcFrame{0, true} // the global context
	head := t.header(0x48, 0xb, "the head of the contexts")
	var open []hpcChildren
	for _, e := range t.array(le.Uint64(head), uint64(le.Uint16(head[8:])), uint64(head[0xa]), 0x20, "the entry points") {
		below, frame := hpcFrame{0, true}, hpcFrame{0, false}
		if le.Uint16(e[0x14:]) != 1 { // not the main thread
			frame = t.call(below, cmp.Or(t.text(le.Uint64(e[0x18:]), "the name of an entry point"), hpcUnknown))
			below = frame
		}
		t.note(le.Uint64(head), le.Uint32(e[0x10:]), frame)
		open = append(open, hpcChildren{le.Uint64(e[8:]), le.Uint64(e), below})
	}
	left := uint64(len(t.data))
	for len(open) > 0 && t.err == nil {
		c := open[len(open)-1]
		open = open[:len(open)-1]
		if c.size > left {
			t.fail("%s: byte %d: the contexts have more bytes than the file: they overlap, or one is below itself; the file is damaged",
				t.name, c.from)
		}
		left -= c.size
		open = t.children(c, open)
	}
}

// children reads an array of contexts, and adds the arrays of their own children to those that are to be read.
func (t *hpcTree) children(c hpcChildren, open []hpcChildren) []hpcChildren {
	if c.size == 0 {
		return open
	}
	all := t.at(c.from, c.size, "an array of contexts")
	for i := uint64(0); i < c.size && t.err == nil; {
		from := c.from + i
		if c.size-i < 0x20 || c.size-i < 0x20+8*uint64(all[i+0x17]) {
			t.fail("%s: byte %d: a context reaches beyond its array, which ends at byte %d; the file is damaged", t.name, from, c.from+c.size)
			break
		}
		ctx := all[i : i+0x20+8*uint64(all[i+0x17])]
		i += uint64(len(ctx))
		frame := c.caller
		if ctx[0x15] != 0 { // called, in whatever way
			frame = t.call(c.caller, t.nameOf(from, ctx))
			t.note(from, le.Uint32(ctx[0x10:]), frame)
		}
		if size := le.Uint64(ctx); size > 0 {
			open = append(open, hpcChildren{le.Uint64(ctx[8:]), size, frame})
		}
	}
	return open
}

// note notes the path of a context.
func (t *hpcTree) note(from uint64, id uint32, f hpcFrame) {
	if _, twice := t.frames[id]; twice {
		t.fail("%s: byte %d: the number %d of this context is taken; the file is damaged", t.name, from, id)
	}
	t.frames[id] = f
}

// nameOf is what stands in call paths for a context.
func (t *hpcTree) nameOf(from uint64, ctx []byte) string {
	words, flags := ctx[0x20:], ctx[0x14]
	need := 8 * int(flags&1+flags&2+flags&4/2) // a function; a file and a line; a module and an offset
	if len(words) < need {
		t.fail("%s: byte %d: a context has %d bytes for fields that need %d; the file is damaged", t.name, from, len(words), need)
		return ""
	}
	var file, line, module, offset uint64
	if flags&1 != 0 {
		return t.function(le.Uint64(words))
	}
	if flags&2 != 0 {
		file, line, words = le.Uint64(words), uint64(le.Uint32(words[8:])), words[16:]
	}
	if flags&4 != 0 {
		module, offset = le.Uint64(words), le.Uint64(words[8:])
	}
	return t.place(module, offset, file, line)
}

// function is the name of a function.
func (t *hpcTree) function(at uint64) string {
	f := t.at(at, 0x28, "a function")
	if p := le.Uint64(f); p != 0 {
		if name := t.text(p, "the name of a function"); name != "" {
			return name
		}
	}
	return t.place(le.Uint64(f[8:]), le.Uint64(f[0x10:]), le.Uint64(f[0x18:]), uint64(le.Uint32(f[0x20:])))
}

// place is the name of what has none: where it is in a module or a file, both 0 if they are not known.
func (t *hpcTree) place(module, offset, file, line uint64) string {
	at, format, number := module, "%s@%#x", offset
	if module == 0 {
		at, format, number = file, "%s:%d", line
	}
	if at == 0 {
		return hpcUnknown
	}
	b := t.at(at, 0x10, "a module or source file")
	return fmt.Sprintf(format, path.Base(t.text(le.Uint64(b[8:]), "the path of a module or source file")), number)
}
