package otf2

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/trace/damage"
)

// definitionFile is a file of definitions with the given records.
func definitionFile(t *testing.T, records ...func(d *DefinitionWriter)) *File {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, 4096, true)
	d := &DefinitionWriter{Strings: map[string]uint32{}}
	for _, add := range records {
		add(d)
	}
	for i, r := range d.Records {
		w.Record(r[0], &Record{Data: r[1:], Most: d.Most[i]})
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return &File{In: &file, Size: 4096, Step: 64, Show: "a.def"}
}

// one is a record whose fields are 32-bit numbers; bytes are written as such.
func one(id uint8, fields ...any) func(d *DefinitionWriter) {
	return func(d *DefinitionWriter) {
		d.Add(id, func(r *Record) {
			for _, f := range fields {
				switch v := f.(type) {
				case int:
					r.U32(uint32(v))
				case uint64:
					r.U64(v)
				case uint8:
					r.U8(v)
				}
			}
		})
	}
}

// TestEveryDefinition: every record that is used has its fields in the order of the OTF2 format; fields of newer versions may be missing,
// and further ones may follow.
func TestEveryDefinition(t *testing.T) {
	u8 := func(v int) uint8 { return uint8(v) }
	for _, c := range []struct {
		name   string
		record func(d *DefinitionWriter)
		got    func(d *Definitions) any
		want   any
	}{
		{"clock", one(DefClockProperties, uint64(1e6), uint64(7), uint64(99), uint64(1700)), func(d *Definitions) any {
			return []uint64{d.Resolution, d.GlobalOffset, d.Realtime}
		}, []uint64{1e6, 7, 1700}},
		{"clock without the real time", one(DefClockProperties, uint64(1e6), uint64(7), uint64(99)), func(d *Definitions) any {
			return []uint64{d.Resolution, d.GlobalOffset, d.Realtime}
		}, []uint64{1e6, 7, Undefined64}},
		{"node", one(DefSystemTreeNode, 3, 4, 5, 6), func(d *Definitions) any { return d.Nodes }, map[uint32]Node{3: {4, 5, 6}}},
		{"process", one(DefLocationGroup, 3, 4, u8(GroupProcess), 6, 7), func(d *Definitions) any { return d.Processes },
			map[uint32]Process{3: {4, GroupProcess, 6, 7}}},
		{"process without its creator", one(DefLocationGroup, 3, 4, u8(GroupProcess), 6), func(d *Definitions) any { return d.Processes },
			map[uint32]Process{3: {4, GroupProcess, 6, Undefined32}}},
		{"location", one(DefLocation, uint64(1<<40), 4, u8(LocationCPUThread), uint64(500), 6), func(d *Definitions) any { return d.Locations },
			[]Location{{1 << 40, 4, LocationCPUThread, 500, 6}}},
		{"property", one(DefLocationProperty, uint64(9), 4, 5), func(d *Definitions) any { return d.Properties }, []Property{{9, 4, 5, 0}}},
		{"region without a role", one(DefRegion, 5, 1, 0, u8(0), 2, 30, 40, 1), func(d *Definitions) any { return d.Regions },
			[]Region{{ID: 5, Name: 1, File: 2, Line: 30}}},
		{"group of an unknown old kind", one(DefGroup, 9, 0, u8(1), 2, uint64(3), uint64(4)), func(d *Definitions) any { return d.Groups },
			map[uint32]Group{9: {Kind: 1, Members: []uint64{3, 4}}}},
		{"group that is cut", one(DefGroup, 9, 0, u8(1), 1000, uint64(3)), func(d *Definitions) any { return d.Groups },
			map[uint32]Group{9: {Kind: 1, Members: []uint64{3}}}},
		{"intercommunicator", one(DefInterComm, 1, 2, 3, 4, Undefined32, 0), func(d *Definitions) any { return d.Comms },
			[]Comm{{ID: 1, Name: 2, Group: 3, Remote: 4, Inter: true}}},
		{"parameter", one(DefParameter, 1, 2, u8(0)), func(d *Definitions) any { return d.Parameters }, map[uint32]uint32{1: 2}},
		{"attribute", one(DefAttribute, 1, 2, 3, u8(AttributeU64)), func(d *Definitions) any { return d.Attributes }, map[uint32]uint32{1: 2}},
		{"metric", one(DefMetricMember, 1, 2, 0, u8(MetricPAPI), u8(16), u8(TypeU64), u8(BaseDecimal), ^uint64(2), 8), func(d *Definitions) any {
			return d.Metrics
		}, []Metric{{ID: 1, Name: 2, Unit: 8, Mode: 16, Base: BaseDecimal, Exponent: -3}}},
		{"metric class", one(DefMetricClass, 7, u8(2), 1, 300, u8(0), u8(RecorderCPU)), func(d *Definitions) any { return d.Classes },
			[]MetricClass{{ID: 7, Members: []uint32{1, 300}}}},
		{"window", one(DefRmaWin, 1, 2, 3, 0), func(d *Definitions) any { return d.Windows }, []Object{{ID: 1, Name: 2, Comm: 3}}},
		{"file handle", one(DefIoHandle, 1, 2, 50, u8(0), 51, 3, Undefined32), func(d *Definitions) any { return d.Handles },
			[]Object{{ID: 1, Name: 2, Comm: 3}}},
		{"dimension", one(DefCartDimension, 1, 9, 4, u8(1)), func(d *Definitions) any { return d.Dimensions },
			map[uint32]Dimension{1: {4, true}}},
		{"topology", one(DefCartTopology, 1, 9, 3, u8(2), 5, 6), func(d *Definitions) any { return d.Topologies },
			[]Topology{{ID: 1, Comm: 3, Dimensions: []uint32{5, 6}}}},
		{"coordinate", one(DefCartCoordinate, 1, 2, u8(3), 0, 1, 2), func(d *Definitions) any { return d.Coordinates },
			[]Coordinate{{1, 2, []uint32{0, 1, 2}}}},
		{"list that is cut", one(DefCartCoordinate, 1, 2, u8(200), 5), func(d *Definitions) any { return d.Coordinates },
			[]Coordinate{{1, 2, []uint32{5}}}},
		{"calling context", one(DefCallingContext, 1, 2, Undefined32, 4), func(d *Definitions) any { return d.Contexts },
			[]Context{{ID: 1, Region: 2, Parent: 4}}},
		{"one that is not needed", one(200, 1, 2, 3), func(d *Definitions) any { return d.Count }, uint64(1)},
	} {
		d, err := ReadDefinitions(definitionFile(t, c.record))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, c.got(d)); diff != "" || d.Count != 1 {
			t.Errorf("%s: %d definitions (-want +got):\n%s", c.name, d.Count, diff)
		}
	}
}

// TestMappings: local ids lead to global ones, dense or sparse; those that are not mapped stay as they are.
func TestMappings(t *testing.T) {
	l, err := ReadLocal(definitionFile(t,
		one(LocalMapping, uint8(MapRegion), uint64(3), uint8(0), uint64(10), uint64(20), uint64(30)),
		one(LocalMapping, uint8(MapComm), uint64(2), uint8(1), uint64(5), uint64(50), uint64(7), uint64(1<<40)),
		one(LocalMapping, uint8(numMappings), uint64(1), uint8(0), uint64(1)), // of a kind that is not known
		one(LocalMapping, uint8(MapString), uint64(1), uint8(0), uint64(3)),
		one(LocalMapping, uint8(MapString), uint64(1), uint8(0), uint64(4)), // the last one counts
		one(99, 1),
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, local, want uint64 }{
		{MapRegion, 0, 10}, {MapRegion, 2, 30}, {MapRegion, 3, 3}, {MapComm, 5, 50}, {MapComm, 7, 1 << 40}, {MapComm, 0, 0}, {MapString, 0, 4},
		{MapParameter, 12, 12}, {MapRegion, Undefined64, Undefined64},
	} {
		if got := l.Maps[c.kind].Global(c.local); got != c.want {
			t.Errorf("mapping %d: %d is %d, want %d", c.kind, c.local, got, c.want)
		}
	}
	if !l.Maps[MapParameter].empty() || l.Maps[MapRegion].empty() || l.Maps[MapComm].empty() {
		t.Error("a mapping is empty that is not, or the other way round")
	}
}

// TestImpossibleNumber: a number whose length no number has is damage, one that is not there is of an older version.
func TestImpossibleNumber(t *testing.T) {
	f := definitionFile(t, one(DefParameter, uint64(3), uint64(1000)))
	data, err := io.ReadAll(f.In)
	if err != nil {
		t.Fatal(err)
	}
	at := ChunkHeader + 2 // where the length of the first number is
	for _, tc := range []struct {
		length byte
		want   bool
	}{{data[at], false}, {data[at] | 32, true}, {7, true}} {
		changed := bytes.Clone(data)
		changed[at] = tc.length
		_, err := ReadDefinitions(&File{In: bytes.NewReader(changed), Show: "a.def", Size: f.Size, Step: f.Step})
		if got := errors.Is(err, damage.Err) && strings.Contains(err.Error(), "impossible length"); got != tc.want {
			t.Errorf("length %d: error = %v", tc.length, err)
		}
	}
}

// TestShortMapping: a mapping without all of its ids is damaged.
func TestShortMapping(t *testing.T) {
	for _, mode := range []uint8{0, 1} {
		_, err := ReadLocal(definitionFile(t, one(LocalMapping, uint8(MapRegion), uint64(3), mode, uint64(10), uint64(20))))
		if !errors.Is(err, damage.Err) || !strings.Contains(err.Error(), "a mapping lacks ") {
			t.Errorf("mode %d: error = %v", mode, err)
		}
	}
}

// TestClockOffsets: the offsets of a location are in the order of their times, or the file is damaged.
func TestClockOffsets(t *testing.T) {
	offset := func(time uint64, ticks int64, deviation float64) func(d *DefinitionWriter) {
		return func(d *DefinitionWriter) {
			d.Add(LocalClockOffset, func(r *Record) {
				r.Full64(time)
				r.U64(uint64(ticks))
				r.F64(deviation)
			})
		}
	}
	l, err := ReadLocal(definitionFile(t, offset(10, -5, 0.5), offset(1<<63, math.MaxInt64, -1)))
	if want := []Offset{{10, -5, 0.5}, {1 << 63, math.MaxInt64, -1}}; err != nil || !cmp.Equal(l.Offsets, want) {
		t.Errorf("offsets %v, %v, want %v", l.Offsets, err, want)
	}
	for _, second := range []uint64{10, 9} {
		l, err := ReadLocal(definitionFile(t, offset(10, 1, 0), offset(second, 2, 0)))
		if !errors.Is(err, damage.Err) || !strings.Contains(err.Error(), "a.def: byte ") ||
			!strings.Contains(err.Error(), "the offsets of the clock are not in order") || len(l.Offsets) != 1 {
			t.Errorf("offsets at 10 and %d: %v, %v", second, l.Offsets, err)
		}
	}
}
