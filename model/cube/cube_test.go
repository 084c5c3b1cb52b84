package cube

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

// anchor describes a call tree main -> (a -> c, b) on two locations. The numbers of
// nodes are not their places in the enumerations.
const anchor = `<?xml version="1.0" encoding="UTF-8"?>
<cube version="4.0">
  <attr key="CUBE_CT_AGGR" value="SUM"/>
  <metrics>
    <metric id="0" type="EXCLUSIVE"><disp_name>Visits</disp_name><uniq_name>visits</uniq_name><dtype>UINT64</dtype><uom>occ</uom></metric>
    <metric id="1" type="INCLUSIVE"><disp_name>Time</disp_name><uniq_name>time</uniq_name><dtype>DOUBLE</dtype><uom>sec</uom>
      <metric id="2" type="INCLUSIVE"><disp_name>Min</disp_name><uniq_name>min_time</uniq_name><dtype>MINDOUBLE</dtype></metric>
    </metric>
    <metric id="3" type="POSTDERIVED"><uniq_name>rate</uniq_name><dtype>DOUBLE</dtype></metric>
    <metric id="4" type="EXCLUSIVE"><uniq_name>odd</uniq_name><dtype>COMPLEX</dtype></metric>
  </metrics>
  <program>
    <region id="10" mod="" begin="1" end="2"><name>main</name></region>
    <region id="11"><name>a</name></region><region id="12"><name>b</name></region><region id="13"><name>c</name></region>
    <cnode id="0" calleeId="10"><parameter partype="numeric" parkey="x" parvalue="1"/>
      <cnode id="1" calleeId="11"><cnode id="3" calleeId="13"/></cnode>
      <cnode id="2" calleeId="12"/>
    </cnode>
  </program>
  <system>
    <systemtreenode Id="0"><name>machine</name><class>machine</class>
      <systemtreenode Id="1"><name>node</name><class>node</class>
        <locationgroup Id="0"><name>rank 0</name><rank>0</rank><type>process</type><location Id="0"><name>thread</name><rank>0</rank><type>thread</type></location></locationgroup>
        <locationgroup Id="1"><name>rank 1</name><rank>1</rank><type>process</type><location Id="1"><name>thread</name><rank>0</rank><type>thread</type></location></locationgroup>
      </systemtreenode>
    </systemtreenode>
  </system>
</cube>
`

// builder makes Cube files.
type builder struct {
	order   binary.ByteOrder
	members []string
	data    map[string][]byte
}

func newBuilder(order binary.ByteOrder, text string) *builder {
	b := &builder{order: order, data: map[string][]byte{}}
	b.add(anchorName, []byte(text))
	return b
}

func (b *builder) add(name string, data []byte) {
	b.members = append(b.members, name)
	b.data[name] = data
}

// index of rows.
func (b *builder) index(name string, kind byte, numbers ...int32) {
	data := []byte(indexMagic)
	data = append32(b.order, data, 1)
	data = append(data, 0, 0, kind)
	data = append32(b.order, data, uint32(len(numbers)))
	for _, n := range numbers {
		data = append32(b.order, data, uint32(n))
	}
	b.add(name, data)
}

func append32(o binary.ByteOrder, data []byte, v uint32) []byte {
	var b [4]byte
	o.PutUint32(b[:], v)
	return append(data, b[:]...)
}

func append64(o binary.ByteOrder, data []byte, v uint64) []byte {
	var b [8]byte
	o.PutUint64(b[:], v)
	return append(data, b[:]...)
}

func (b *builder) floats(values ...float64) []byte {
	var data []byte
	for _, v := range values {
		data = append64(b.order, data, math.Float64bits(v))
	}
	return data
}

// packed compresses rows one by one, with an empty piece between them.
func (b *builder) packed(name string, rows ...[]byte) {
	table := []byte{}
	var body bytes.Buffer
	offset := uint64(0)
	for _, row := range rows {
		begin := body.Len()
		w := zlib.NewWriter(&body)
		w.Write(row)
		w.Close()
		table = append64(b.order, append64(b.order, append64(b.order, table, offset), uint64(begin)), uint64(body.Len()-begin))
		table = append64(b.order, append64(b.order, append64(b.order, table, 0), 0), 0)
		offset += uint64(len(row))
	}
	data := append64(b.order, []byte(packedMagic), uint64(2*len(rows)))
	b.add(name, append(append(data, table...), body.Bytes()...))
}

func (b *builder) bytes() []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range b.members {
		w.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o600, Size: int64(len(b.data[name])), Typeflag: tar.TypeReg})
		w.Write(b.data[name])
	}
	w.Close()
	return out.Bytes()
}

// example has values for two metrics: visits of all but b, packed time of all.
func example(order binary.ByteOrder) *builder {
	b := newBuilder(order, anchor)
	b.index("0.index", sparse, 0, 1, 2) // depth first: main, a, c, b
	visits := []byte(dataMagic)
	for _, v := range []uint64{1, 1, 2, 3, 4, 5} {
		visits = append64(order, visits, v)
	}
	b.add("0.data", visits)
	b.index("1.index", sparse, 0, 1, 2, 3) // children together: main, a, b, c
	b.packed("1.data", b.floats(10, 20), b.floats(6, 7), b.floats(1, 2), b.floats(2.5, 3))
	b.index("2.index", sparse, 0, 1)
	b.add("2.data", append([]byte(dataMagic), b.floats(0.5, 0.25, 0.125, 0.5)...))
	b.index("3.index", sparse, 0)
	b.add("3.data", append([]byte(dataMagic), b.floats(1, 1)...))
	b.index("4.index", sparse, 0)
	b.add("4.data", append([]byte(dataMagic), b.floats(1, 1)...))
	return b
}

func TestRead(t *testing.T) {
	zipped := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Close()
		return b.Bytes()
	}
	inside := example(binary.LittleEndian)
	inside.data[anchorName] = zipped([]byte(anchor))
	wrong := example(binary.LittleEndian).bytes()
	wrong[148] ^= 1 // the checksum of the first header
	for name, data := range map[string][]byte{
		"little": example(binary.LittleEndian).bytes(), "big": example(binary.BigEndian).bytes(),
		"zipped": zipped(example(binary.LittleEndian).bytes()), "zipped anchor": inside.bytes(), "wrong checksum": wrong,
	} {
		if !IsCube(data) {
			t.Errorf("%s: not taken for a Cube file", name)
		}
		f, err := Read("x", data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkExample(t, name, f)
	}
}

func checkExample(t *testing.T, name string, f *File) {
	t.Helper()
	if len(f.Metrics) != 5 || len(f.Nodes) != 4 || len(f.Locations) != 2 || f.Locations[1].Rank != 1 || f.Attributes["CUBE_CT_AGGR"] != "SUM" {
		t.Fatalf("%s: %d metrics, %d nodes, %+v", name, len(f.Metrics), len(f.Nodes), f.Locations)
	}
	want := map[string][2][]float64{ // visits, time
		"main":     {{1, 1}, {3, 11}},
		"main/a":   {{2, 3}, {3.5, 4}},
		"main/a/c": {{4, 5}, {2.5, 3}},
		"main/b":   {{0, 0}, {1, 2}},
	}
	for _, n := range f.Nodes {
		path := strings.Join(n.Path(), "/")
		for i, m := range f.Metrics[:2] {
			if got := f.Exclusive(m, n); !slices.Equal(got, want[path][i]) {
				t.Errorf("%s: %s of %s = %v, want %v", name, m.Name, path, got, want[path][i])
			}
		}
	}
	if got := f.Exclusive(f.Metrics[2], f.Nodes[0]); !slices.Equal(got, []float64{0.5, 0.25}) {
		t.Errorf("%s: a minimum was subtracted: %v", name, got)
	}
	if f.Metrics[3].HasData() || f.Metrics[4].HasData() || len(f.Warnings) < 2 {
		t.Errorf("%s: warnings %q", name, f.Warnings)
	}
}

func TestDamaged(t *testing.T) {
	change := func(f func(b *builder)) []byte {
		b := example(binary.LittleEndian)
		f(b)
		return b.bytes()
	}
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":   {nil, "no anchor.xml"},
		"no anchor": {change(func(b *builder) { b.members = b.members[1:] }), "no anchor.xml"},
		"no XML":    {change(func(b *builder) { b.data[anchorName] = []byte("<cube") }), "is not the XML"},
		"no region": {change(func(b *builder) {
			b.data[anchorName] = []byte(strings.Replace(anchor, `calleeId="13"`, `calleeId="99"`, 1))
		}), "does not exist"},
		"no location": {change(func(b *builder) { b.data[anchorName] = []byte(anchor[:strings.Index(anchor, "<system>")] + "</cube>") }),
			"names no location"},
		"index":        {change(func(b *builder) { b.data["0.index"] = []byte("CUBEX") }), "does not begin with"},
		"short index":  {change(func(b *builder) { b.data["0.index"] = b.data["0.index"][:20] }), "index"},
		"short values": {change(func(b *builder) { b.data["0.data"] = b.data["0.data"][:30] }), "rows of 16 bytes are announced"},
		"values":       {change(func(b *builder) { b.data["0.data"] = []byte("hello") }), "begin neither"},
		"pieces":       {change(func(b *builder) { b.data["1.data"] = b.data["1.data"][:40] }), "compressed pieces"},
	} {
		if _, err := Read("x", tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want something with %q", name, err, tc.want)
		}
	}
	deep := strings.Repeat("<a>", maxDepth+1)
	if _, err := Read("x", change(func(b *builder) { b.data[anchorName] = []byte(deep) })); err == nil ||
		!strings.Contains(err.Error(), "nested") {
		t.Errorf("deep: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(example(binary.LittleEndian).bytes())
	f.Add(example(binary.BigEndian).bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read("x", data)
		if err != nil {
			return
		}
		for _, m := range file.Metrics {
			for _, n := range file.Nodes {
				if got := len(file.Exclusive(m, n)); got != len(file.Locations) {
					t.Fatalf("%d values of %d locations", got, len(file.Locations))
				}
			}
		}
	})
}
