package record

import (
	"fmt"
	"io"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace"
)

// rawComm is a communicator as one rank knows it.
type rawComm struct {
	rank            int // of this process in it
	members, remote []int32
	group           uint32 // the number of its remote group, if nothing was known of its processes; else 0
	made            int64  // when it was first seen, ns
	birth           birth
}

type rawCart struct {
	comm                  uint32
	dims, periods, coords []int
}

// rawNeighbors are the neighbors of this process in a communicator.
type rawNeighbors struct {
	comm    uint32
	in, out []int32
}

// pathNode is a node of a thread's tree of call paths.
type pathNode struct {
	parent  uint32
	address uint64
}

// threadDefinitions is what one thread of a rank defined.
type threadDefinitions struct {
	nodes   []pathNode // by number; 0 is the empty path
	comms   map[uint32]rawComm
	carts   []rawCart
	objects []rawObject
	edges   []rawNeighbors
	counts  map[uint32][]int64 // bytes by peer of persistent collectives
	names   map[uint32]string
	codes   map[uint32]function // of Python
	maps    []mapping
	pings   []trace.RoundTrip // partners are ranks
	end     int64             // of the program, ns, if its events have no room for it; else 0
	late    [][]uint64        // requests that were completed while recording was off, as in a record; see SL_LATE
}

const maxDefinitions = 1 << 24

func noDefinitions() *threadDefinitions {
	return &threadDefinitions{
		nodes: make([]pathNode, 1), comms: map[uint32]rawComm{}, counts: map[uint32][]int64{}, names: map[uint32]string{},
		codes: map[uint32]function{},
	}
}

// readDefinitions reads a file of definitions as far as it is valid.
func readDefinitions(r *rawFile) (*threadDefinitions, error) {
	d := noDefinitions()
	var rec rawRecord
	for {
		switch err := r.next(&rec); {
		case err == io.EOF:
			return d, nil
		case err != nil:
			return d, err
		case rec.open && rec.kind != rawDefModules:
			continue
		}
		d.add(&rec, r.head.ranks)
	}
}

func (d *threadDefinitions) add(rec *rawRecord, ranks int) {
	switch rec.kind {
	case rawDefPath:
		if int(rec.path) == len(d.nodes) && len(d.nodes) < maxDefinitions && rec.word(0) < uint64(len(d.nodes)) {
			d.nodes = append(d.nodes, pathNode{uint32(rec.word(0)), rec.word(1)})
		}
	case rawDefComm:
		if c, ok := parseComm(rec, ranks); ok {
			d.comms[rec.path] = c
		}
	case rawDefCart:
		n := int(rec.word(0))
		if n < 1 || n > 64 || rec.words() < 1+3*n {
			return
		}
		c := rawCart{comm: rec.path}
		for i := range n {
			c.dims = append(c.dims, int(rec.word(1+i)))
			c.periods = append(c.periods, int(rec.word(1+n+i)))
			c.coords = append(c.coords, int(rec.word(1+2*n+i)))
		}
		d.carts = append(d.carts, c)
	case rawDefWindow, rawDefFile:
		d.objects = append(d.objects, parseObject(rec))
	case rawDefNeighbors:
		sources, targets := int(rec.low(0)), int(rec.high(0))
		if sources < 0 || targets < 0 || rec.words() < 1+sources+targets {
			return
		}
		e := rawNeighbors{comm: rec.path}
		for i := range sources {
			e.in = append(e.in, rec.low(1+i))
		}
		for i := range targets {
			e.out = append(e.out, rec.low(1+sources+i))
		}
		d.edges = append(d.edges, e)
	case rawDefCounts:
		d.counts[rec.path] = rec.bytes(0)
	case rawDefName:
		d.names[rec.path] = cString(rec.data)
	case rawDefCode:
		d.codes[rec.path] = pythonFunction(rec)
	case rawDefModules:
		d.maps = append(d.maps, parseMaps(cString(rec.data))...)
	case rawProgramEnd:
		d.end = int64(rec.word(0))
	case rawLate:
		if rec.words() >= doneWords {
			d.late = append(d.late, rec.list(0, doneWords))
		}
	case rawPing:
		d.pings = append(d.pings, trace.RoundTrip{
			Partner: int(rec.word(0)), Sent: picoseconds(int64(rec.word(1))), Answered: picoseconds(int64(rec.word(2))),
			Back: picoseconds(int64(rec.word(3))),
		})
	}
}

func picoseconds(ns int64) int64 { return ns * 1000 }

func parseComm(rec *rawRecord, ranks int) (rawComm, bool) {
	size, far := int(rec.low(0)), int(rec.high(0))
	if size < 1 || far < 0 || size > maxDefinitions || far > maxDefinitions || rec.words() < 2+(size+1)/2+(far+1)/2 {
		return rawComm{}, false
	}
	end := 2 + (size+1)/2 + (far+1)/2
	c := rawComm{rank: int(rec.low(1)), group: uint32(rec.high(1)), made: int64(rec.word(end)), birth: parseBirth(rec, end+1)}
	list := func(first, n int) []int32 {
		members := make([]int32, n)
		for i := range members {
			members[i] = int32(uint32(rec.word(first+i/2) >> (i % 2 * 32)))
			if members[i] < 0 || int(members[i]) >= ranks && members[i]&farMember == 0 {
				members[i] = timeline.UnknownRank
			}
		}
		return members
	}
	c.members = list(2, size)
	if far > 0 {
		c.remote = list(2+(size+1)/2, far)
	}
	return c, true
}

// regionTable numbers regions and stacks.
type regionTable struct {
	regions  []timeline.Region
	byRegion map[timeline.Region]uint32
	stacks   []trace.Stack
	byStack  map[trace.Stack]uint32
}

func newRegionTable() *regionTable {
	return &regionTable{
		byRegion: map[timeline.Region]uint32{}, byStack: map[trace.Stack]uint32{}, stacks: make([]trace.Stack, 1),
	}
}

func (t *regionTable) region(r timeline.Region) uint32 { return idOf(r, t.byRegion, &t.regions) }

func (t *regionTable) stack(parent, region uint32) uint32 {
	return idOf(trace.Stack{Parent: parent, Region: region}, t.byStack, &t.stacks)
}

// idOf is the place of a value in a list, to which it is added if it is new.
func idOf[T comparable](v T, numbers map[T]uint32, list *[]T) uint32 {
	id, known := numbers[v]
	if !known {
		id = uint32(len(*list))
		numbers[v] = id
		*list = append(*list, v)
	}
	return id
}

// resolver turns the addresses of a process into regions and stacks.
type resolver struct {
	symbols *symbolTable
	regions *regionTable
	maps    []mapping
}

// exactAddress marks an address that was sampled; others are return addresses, which belong to the call before.
const exactAddress = 1 << 63

// at returns the functions at an address, outermost first.
func (r *resolver) at(address uint64) []function {
	if address&exactAddress != 0 {
		address &^= exactAddress
	} else {
		address--
	}
	p := findMapping(r.maps, address)
	if p == nil {
		return nil
	}
	m := r.symbols.module(p.path)
	if m.runtime {
		return nil
	}
	at, ok := m.addressOf(address - p.low + p.offset)
	if !ok {
		return nil
	}
	return m.functionsAt(at)
}

func (r *resolver) userRegion(f function) uint32 {
	return r.regions.region(timeline.Region{Name: f.name, File: f.file, Line: f.line})
}

// stacksOf returns the stack of each node of a thread's tree of call paths: that of what was called from its address,
// without a frame of its own. Where the next frame is that of the function which the call names, it takes that
// function's place.
func (r *resolver) stacksOf(d *threadDefinitions) []uint32 {
	nodes := d.nodes
	type place struct {
		frames, called uint32 // stacks without and with the function that the call names
		name           string // of that function; empty: it is not known
	}
	places := make([]place, len(nodes))
	stacks := make([]uint32, len(nodes))
	for i := 1; i < len(nodes); i++ {
		parent := &places[nodes[i].parent] // parents stand before children
		list := r.at(nodes[i].address)
		if f, ok := d.python(nodes[i].address); ok {
			list = shown(f)
		}
		s := parent.called
		if len(list) > 0 && list[0].name == parent.name {
			s = parent.frames
		}
		for _, f := range list {
			s = r.call(s, f)
		}
		places[i] = place{frames: s, called: s}
		if f, ok := r.calledFrom(nodes[i].address); ok {
			places[i].called, places[i].name = r.call(s, f), f.name
		}
		stacks[i] = places[i].called
	}
	return stacks
}

// call returns the stack of a function that is called from a stack. Functions of the language are not shown, as
// those of its libraries, nor is a part of a function that the function itself calls, nor what calls the main program.
func (r *resolver) call(stack uint32, f function) uint32 {
	region := r.userRegion(f)
	if f.main {
		stack = 0
	}
	if f.ofLanguage() || f.part && stack != 0 && r.regions.stacks[stack].Region == region {
		return stack
	}
	return r.regions.stack(stack, region)
}

// calledFrom returns the function that the call before a return address names, if it is one of the user's.
func (r *resolver) calledFrom(address uint64) (function, bool) {
	if address&exactAddress != 0 {
		return function{}, false
	}
	p := findMapping(r.maps, address-1)
	if p == nil {
		return function{}, false
	}
	m := r.symbols.module(p.path)
	at, ok := m.addressOf(address - 1 - p.low + p.offset)
	if m.runtime || !ok {
		return function{}, false
	}
	if f, ok := m.calledAt(at + 1); ok {
		return f, true
	}
	name, ok := m.importedAt(at + 1)
	if !ok {
		return function{}, false
	}
	for i := range r.maps {
		other := r.symbols.module(r.maps[i].path)
		if other.runtime || other.file == nil {
			continue
		}
		if f, ok := other.exported(name); ok {
			return f, true
		}
	}
	return function{}, false
}

// functionAt is the region of an instrumented function.
func (r *resolver) functionAt(address uint64) uint32 {
	if list := r.at(address | exactAddress); len(list) > 0 {
		return r.userRegion(list[0])
	}
	return r.regions.region(timeline.Region{Name: fmt.Sprintf("function at 0x%x", address)})
}

// parallelAt is the region of the parallel region whose body, or whose call, lies at an address.
func (r *resolver) parallelAt(address uint64) uint32 {
	name := "!$omp parallel"
	if p := findMapping(r.maps, address); p != nil {
		m := r.symbols.module(p.path)
		if at, ok := m.addressOf(address - p.low + p.offset); ok && !m.runtime {
			if f, ok := r.calledFrom(address); ok && !m.begins(at) { // a call that was the last of a function
				name += " @" + f.name
			} else if symbol, ok := m.symbolAt(at); ok {
				symbol, _, _ = strings.Cut(symbol, "._omp_fn.")
				name += " @" + m.plainName(symbol)
			}
		}
	}
	return r.regions.region(timeline.RegionNamed(name))
}
