package trace

import (
	"errors"
	"io"
	"math"
)

// otf2Definitions are the global definitions that a Trace needs, as written in the file.
type otf2Definitions struct {
	resolution   uint64 // ticks per second
	globalOffset uint64
	realtime     uint64
	strings      map[uint32]string
	nodes        map[uint32]otf2Node
	processes    map[uint32]otf2Process
	locations    []otf2Location
	properties   []otf2Property // of locations
	regions      []otf2Region
	groups       map[uint32]otf2Group
	comms        []otf2Comm
	dimensions   map[uint32]otf2Dimension
	topologies   []otf2Topology
	coordinates  []otf2Coordinate
	contexts     []otf2Context
	parameters   map[uint32]uint32 // their names
	attributes   map[uint32]uint32 // their names
	windows      []otf2Object
	handles      []otf2Object
	count        uint64
}

// Definitions. Names, files and values are references to strings.
type (
	otf2Node    struct{ name, class, parent uint32 }
	otf2Process struct {
		name    uint32
		kind    uint8
		parent  uint32
		creator uint32 // of the groups of accelerators: their process
	}
	otf2Location struct {
		id     uint64
		name   uint32
		kind   uint8
		events uint64
		group  uint32
	}
	otf2Region struct {
		id, name, file uint32
		line           uint32
		known          bool // role and paradigm are given
		role, paradigm uint8
	}
	otf2Group struct {
		kind, paradigm uint8
		flags          uint32
		members        []uint64
	}
	otf2Comm struct {
		id, name, group, remote uint32
		inter                   bool
	}
	otf2Dimension struct {
		size     uint32
		periodic bool
	}
	otf2Topology struct {
		id, comm   uint32
		dimensions []uint32
	}
	otf2Coordinate struct {
		topology, rank uint32
		at             []uint32
	}
	otf2Context  struct{ id, region, parent uint32 }
	otf2Property struct {
		location    uint64
		name, value uint32
	}
)

// definitions calls add with the records of a file of definitions, as far as they are whole.
func (f *otf2File) definitions(add func(id uint8, r *otf2Bytes) error) error {
	if err := f.nextChunk(); err != nil {
		return f.damage(err)
	}
	for {
		id, body, err := f.definition()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = add(id, &body)
		}
		if err != nil {
			return err
		}
	}
}

// readOTF2Definitions reads the global definitions, as far as they are whole.
func readOTF2Definitions(f *otf2File) (*otf2Definitions, error) {
	d := &otf2Definitions{
		strings: map[uint32]string{}, nodes: map[uint32]otf2Node{}, processes: map[uint32]otf2Process{},
		groups: map[uint32]otf2Group{}, dimensions: map[uint32]otf2Dimension{}, parameters: map[uint32]uint32{}, attributes: map[uint32]uint32{},
	}
	return d, f.definitions(func(id uint8, r *otf2Bytes) error {
		d.count++
		d.add(id, r)
		return nil
	})
}

// add takes in a definition; those that are not needed are skipped.
func (d *otf2Definitions) add(id uint8, r *otf2Bytes) {
	switch id {
	case defClockProperties:
		d.resolution, d.globalOffset = r.u64(), r.u64()
		r.u64() // length of the trace
		d.realtime = undefined64
		if r.left() > 0 {
			d.realtime = r.u64()
		}
	case defString:
		self := r.u32()
		d.strings[self] = r.str()
	case defSystemTreeNode:
		self := r.u32()
		d.nodes[self] = otf2Node{r.u32(), r.u32(), r.u32()}
	case defLocationGroup:
		self := r.u32()
		d.processes[self] = otf2Process{r.u32(), r.u8(), r.u32(), undefined32}
		if r.left() > 0 {
			p := d.processes[self]
			p.creator = r.u32()
			d.processes[self] = p
		}
	case defLocation:
		d.locations = append(d.locations, otf2Location{r.u64(), r.u32(), r.u8(), r.u64(), r.u32()})
	case defLocationProperty:
		d.properties = append(d.properties, otf2Property{r.u64(), r.u32(), r.u32()})
	case defRegion:
		d.addRegion(r)
	case defGroup:
		d.addGroup(r)
	case defComm:
		d.comms = append(d.comms, otf2Comm{id: r.u32(), name: r.u32(), group: r.u32()})
	case defInterComm:
		d.comms = append(d.comms, otf2Comm{id: r.u32(), name: r.u32(), group: r.u32(), remote: r.u32(), inter: true})
	case defParameter:
		self := r.u32()
		d.parameters[self] = r.u32()
	case defAttribute:
		self := r.u32()
		d.attributes[self] = r.u32()
	case defRmaWin:
		d.windows = append(d.windows, otf2Object{id: r.u32(), name: r.u32(), comm: r.u32()})
	case defIoHandle:
		h := otf2Object{id: r.u32(), name: r.u32()}
		r.u32() // file
		r.u8()  // paradigm
		r.u32() // flags
		h.comm = r.u32()
		d.handles = append(d.handles, h)
	case defCartDimension:
		self := r.u32()
		r.u32() // name
		d.dimensions[self] = otf2Dimension{r.u32(), r.u8() != 0}
	case defCartTopology:
		t := otf2Topology{id: r.u32()}
		r.u32() // name
		t.comm = r.u32()
		t.dimensions = r.list32()
		d.topologies = append(d.topologies, t)
	case defCartCoordinate:
		d.coordinates = append(d.coordinates, otf2Coordinate{r.u32(), r.u32(), r.list32()})
	case defCallingContext:
		c := otf2Context{id: r.u32(), region: r.u32()}
		r.u32() // place in the source
		c.parent = r.u32()
		d.contexts = append(d.contexts, c)
	}
}

// list32 reads up to 255 numbers.
func (r *otf2Bytes) list32() []uint32 {
	var list []uint32
	for n := r.u8(); n > 0 && r.left() > 0; n-- {
		list = append(list, r.u32())
	}
	return list
}

func (d *otf2Definitions) addRegion(r *otf2Bytes) {
	g := otf2Region{id: r.u32(), name: r.u32()}
	r.u32() // description
	r.u8()  // type of older versions
	g.file, g.line = r.u32(), r.u32()
	r.u32() // last line
	r.u32() // canonical name
	if r.left() > 0 {
		g.role, g.paradigm, g.known = r.u8(), r.u8(), true
	}
	d.regions = append(d.regions, g)
}

func (d *otf2Definitions) addGroup(r *otf2Bytes) {
	self := r.u32()
	r.u32() // name
	g := otf2Group{}
	legacy := r.u8()
	for n := r.u32(); n > 0 && r.left() > 0; n-- {
		g.members = append(g.members, r.u64())
	}
	if r.left() > 0 {
		g.kind, g.paradigm, g.flags = r.u8(), r.u8(), r.u32()
	} else if kind, ok := map[uint8]uint8{6: groupCommLocations, 4: groupCommGroup, 5: groupCommSelf}[legacy]; ok {
		g.kind, g.paradigm = kind, paradigmMPI
	} else {
		g.kind = legacy
	}
	d.groups[self] = g
}

// otf2Local are the definitions of one location.
type otf2Local struct {
	maps    [numMappings]otf2Map
	offsets []otf2Offset
}

// otf2Map leads from local ids to global ones.
type otf2Map struct {
	dense  []uint64
	sparse map[uint64]uint64
}

// otf2Offset is an offset of a clock, in ticks.
type otf2Offset struct {
	Time      uint64
	Offset    int64
	Deviation float64
}

// readOTF2Local reads local definitions, as far as they are whole.
func readOTF2Local(f *otf2File) (*otf2Local, error) {
	l := &otf2Local{}
	return l, f.definitions(func(id uint8, r *otf2Bytes) error {
		switch id {
		case localMapping:
			l.addMapping(r)
		case localClockOffset:
			o := otf2Offset{Time: r.full(8), Offset: int64(r.u64()), Deviation: math.Float64frombits(r.full(8))}
			if n := len(l.offsets); n > 0 && o.Time <= l.offsets[n-1].Time {
				return f.damage(errors.New("the offsets of the clock are not in order"))
			}
			l.offsets = append(l.offsets, o)
		}
		return nil
	})
}

func (l *otf2Local) addMapping(r *otf2Bytes) {
	kind, n, mode := r.u8(), r.u64(), r.u8()
	if kind >= numMappings {
		return
	}
	m := &l.maps[kind]
	*m = otf2Map{}
	if mode == 0 {
		for ; n > 0 && r.left() > 0; n-- {
			m.dense = append(m.dense, r.u64())
		}
		return
	}
	m.sparse = map[uint64]uint64{}
	for ; n > 0 && r.left() > 0; n-- {
		local := r.u64()
		m.sparse[local] = r.u64()
	}
}

// empty reports whether all ids stay as they are.
func (m *otf2Map) empty() bool { return len(m.dense) == 0 && len(m.sparse) == 0 }

// global returns the global id of a local one. What is not mapped stays as it is.
func (m *otf2Map) global(id uint64) uint64 {
	if id < uint64(len(m.dense)) {
		return m.dense[id]
	}
	if g, ok := m.sparse[id]; ok {
		return g
	}
	return id
}
