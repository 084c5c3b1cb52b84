package otf2

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Definitions are the global definitions that a Trace needs, as written in the file.
type Definitions struct {
	Resolution   uint64 // ticks per second
	GlobalOffset uint64
	Length       uint64 // of the run, ticks
	Twice        int    // strings whose id another one had before
	Realtime     uint64
	Strings      map[uint32]string
	Nodes        map[uint32]Node
	Processes    map[uint32]Process
	Locations    []Location
	Properties   []Property // of locations
	Regions      []Region
	Groups       map[uint32]Group
	Comms        []Comm
	Dimensions   map[uint32]Dimension
	Topologies   []Topology
	Coordinates  []Coordinate
	Contexts     []Context
	Parameters   map[uint32]uint32 // their names
	Attributes   map[uint32]uint32 // their names
	Windows      []Object
	Handles      []Object
	Metrics      []Metric
	Classes      []MetricClass
	Count        uint64
}

// Definitions. Names, files and values are references to strings.
type (
	Node    struct{ Name, Class, Parent uint32 }
	Process struct {
		Name    uint32
		Kind    uint8
		Parent  uint32
		Creator uint32 // of the groups of accelerators: their process
	}
	Location struct {
		ID     uint64
		Name   uint32
		Kind   uint8
		Events uint64
		Group  uint32
	}
	Region struct {
		ID, Name, File uint32
		Line           uint32
		Known          bool // role and paradigm are given
		Role, Paradigm uint8
	}
	Group struct {
		Kind, Paradigm uint8
		Flags          uint32
		Members        []uint64
	}
	Comm struct {
		ID, Name, Group, Remote uint32
		Inter                   bool
	}
	Dimension struct {
		Size     uint32
		Periodic bool
	}
	Topology struct {
		ID, Comm   uint32
		Dimensions []uint32
	}
	Coordinate struct {
		Topology, Rank uint32
		At             []uint32
	}
	Context  struct{ ID, Region, Parent uint32 }
	Property struct {
		Location    uint64
		Name, Value uint32
		Number      uint64 // if it is one
	}
)

// Object is a window or an I/O handle.
type Object struct{ ID, Name, Comm uint32 }

// definitions calls add with the records of a file of definitions, as far as they are whole.
func (f *File) definitions(add func(id uint8, r *Bytes) error) error {
	if err := f.NextChunk(); err != nil {
		return f.Damage(err)
	}
	for {
		id, body, err := f.Definition()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			if err = add(id, &body); err == nil && body.Bad {
				err = f.Damage(ErrBad)
			}
		}
		if err != nil {
			return err
		}
	}
}

// ReadDefinitions reads the global definitions, as far as they are whole.
func ReadDefinitions(f *File) (*Definitions, error) {
	d := &Definitions{
		Strings: map[uint32]string{}, Nodes: map[uint32]Node{}, Processes: map[uint32]Process{},
		Groups: map[uint32]Group{}, Dimensions: map[uint32]Dimension{}, Parameters: map[uint32]uint32{}, Attributes: map[uint32]uint32{},
	}
	return d, f.definitions(func(id uint8, r *Bytes) error {
		d.Count++
		d.add(id, r)
		return nil
	})
}

// add takes in a definition; those that are not needed are skipped.
func (d *Definitions) add(id uint8, r *Bytes) {
	switch id {
	case DefClockProperties:
		d.Resolution, d.GlobalOffset = r.U64(), r.U64()
		d.Length = r.U64()
		d.Realtime = Undefined64
		if r.Left() > 0 {
			d.Realtime = r.U64()
		}
	case DefString:
		self := r.U32()
		if _, ok := d.Strings[self]; ok {
			d.Twice++
		}
		d.Strings[self] = r.str()
	case DefSystemTreeNode:
		self := r.U32()
		d.Nodes[self] = Node{r.U32(), r.U32(), r.U32()}
	case DefLocationGroup:
		self := r.U32()
		d.Processes[self] = Process{r.U32(), r.U8(), r.U32(), Undefined32}
		if r.Left() > 0 {
			p := d.Processes[self]
			p.Creator = r.U32()
			d.Processes[self] = p
		}
	case DefLocation:
		d.Locations = append(d.Locations, Location{r.U64(), r.U32(), r.U8(), r.U64(), r.U32()})
	case DefLocationProperty:
		d.Properties = append(d.Properties, Property{r.U64(), r.U32(), r.U32(), r.numeric()})
	case DefRegion:
		d.addRegion(r)
	case DefGroup:
		d.addGroup(r)
	case DefComm:
		d.Comms = append(d.Comms, Comm{ID: r.U32(), Name: r.U32(), Group: r.U32()})
	case DefInterComm:
		d.Comms = append(d.Comms, Comm{ID: r.U32(), Name: r.U32(), Group: r.U32(), Remote: r.U32(), Inter: true})
	case DefParameter:
		self := r.U32()
		d.Parameters[self] = r.U32()
	case DefAttribute:
		self := r.U32()
		d.Attributes[self] = r.U32()
	case DefMetricMember:
		d.addMetric(r)
	case DefMetricClass:
		d.Classes = append(d.Classes, MetricClass{r.U32(), r.List32(), r.U8()})
	case DefRmaWin:
		d.Windows = append(d.Windows, Object{ID: r.U32(), Name: r.U32(), Comm: r.U32()})
	case DefIoHandle:
		h := Object{ID: r.U32(), Name: r.U32()}
		r.U32() // file
		r.U8()  // paradigm
		r.U32() // flags
		h.Comm = r.U32()
		d.Handles = append(d.Handles, h)
	case DefCartDimension:
		self := r.U32()
		r.U32() // name
		d.Dimensions[self] = Dimension{r.U32(), r.U8() != 0}
	case DefCartTopology:
		t := Topology{ID: r.U32()}
		r.U32() // name
		t.Comm = r.U32()
		t.Dimensions = r.List32()
		d.Topologies = append(d.Topologies, t)
	case DefCartCoordinate:
		d.Coordinates = append(d.Coordinates, Coordinate{r.U32(), r.U32(), r.List32()})
	case DefCallingContext:
		c := Context{ID: r.U32(), Region: r.U32()}
		r.U32() // place in the source
		c.Parent = r.U32()
		d.Contexts = append(d.Contexts, c)
	}
}

// List32 reads up to 255 numbers.
func (r *Bytes) List32() []uint32 {
	var list []uint32
	for n := r.U8(); n > 0 && r.Left() > 0; n-- {
		list = append(list, r.U32())
	}
	return list
}

func (d *Definitions) addRegion(r *Bytes) {
	g := Region{ID: r.U32(), Name: r.U32()}
	r.U32() // description
	r.U8()  // type of older versions
	g.File, g.Line = r.U32(), r.U32()
	r.U32() // last line
	r.U32() // canonical name
	if r.Left() > 0 {
		g.Role, g.Paradigm, g.Known = r.U8(), r.U8(), true
	}
	d.Regions = append(d.Regions, g)
}

func (d *Definitions) addGroup(r *Bytes) {
	self := r.U32()
	r.U32() // name
	g := Group{}
	legacy := r.U8()
	for n := r.U32(); n > 0 && r.Left() > 0; n-- {
		g.Members = append(g.Members, r.U64())
	}
	if r.Left() > 0 {
		g.Kind, g.Paradigm, g.Flags = r.U8(), r.U8(), r.U32()
	} else if kind, ok := map[uint8]uint8{6: GroupCommLocations, 4: GroupCommGroup, 5: GroupCommSelf}[legacy]; ok {
		g.Kind, g.Paradigm = kind, ParadigmMPI
	} else {
		g.Kind = legacy
	}
	d.Groups[self] = g
}

// Local are the definitions of one location.
type Local struct {
	Maps    [numMappings]Map
	Offsets []Offset
	Found   bool // there is a file of them
}

// Map leads from local ids to global ones.
type Map struct {
	dense  []uint64
	sparse map[uint64]uint64
}

// Offset is an offset of a clock, in ticks.
type Offset struct {
	Time      uint64
	Offset    int64
	Deviation float64
}

// ReadLocal reads local definitions, as far as they are whole.
func ReadLocal(f *File) (*Local, error) {
	l := &Local{Found: true}
	return l, f.definitions(func(id uint8, r *Bytes) error {
		switch id {
		case LocalMapping:
			if left := l.addMapping(r); left > 0 {
				return f.Damage(fmt.Errorf("a mapping lacks %d of its ids", left))
			}
		case LocalClockOffset:
			o := Offset{Time: r.Full(8), Offset: int64(r.U64()), Deviation: math.Float64frombits(r.Full(8))}
			if n := len(l.Offsets); n > 0 && o.Time <= l.Offsets[n-1].Time {
				return f.Damage(errors.New("the offsets of the clock are not in order"))
			}
			l.Offsets = append(l.Offsets, o)
		}
		return nil
	})
}

// addMapping returns how many of the ids are missing.
func (l *Local) addMapping(r *Bytes) (left uint64) {
	kind, n, mode := r.U8(), r.U64(), r.U8()
	if kind >= numMappings {
		return 0
	}
	m := &l.Maps[kind]
	*m = Map{}
	if mode == 0 {
		for ; n > 0 && r.Left() > 0; n-- {
			m.dense = append(m.dense, r.U64())
		}
		return n
	}
	m.sparse = map[uint64]uint64{}
	for ; n > 0 && r.Left() > 0; n-- {
		local := r.U64()
		m.sparse[local] = r.U64()
	}
	return n
}

// Empty reports whether there is neither a mapping nor an offset.
func (l *Local) Empty() bool {
	for i := range l.Maps {
		if !l.Maps[i].empty() {
			return false
		}
	}
	return len(l.Offsets) == 0
}

// empty reports whether all ids stay as they are.
func (m *Map) empty() bool { return len(m.dense) == 0 && len(m.sparse) == 0 }

// Global returns the global id of a local one. What is not mapped stays as it is.
func (m *Map) Global(id uint64) uint64 {
	if id < uint64(len(m.dense)) {
		return m.dense[id]
	}
	if g, ok := m.sparse[id]; ok {
		return g
	}
	return id
}

// numeric reads a type and a value; 0 if it is not a number.
func (r *Bytes) numeric() uint64 {
	if r.Left() == 0 || r.U8() != AttributeU64 {
		return 0
	}
	return r.U64()
}
