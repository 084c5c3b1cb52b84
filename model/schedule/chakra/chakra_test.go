package chakra

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/iotest"

	"slackline/internal/memory"
)

var update = flag.Bool("update", false, "write the files in testdata again")

// encoder writes messages as protobuf does.
type encoder struct{ bytes.Buffer }

func (e *encoder) number(field int, v uint64) {
	e.Write(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3), v))
}

func (e *encoder) bytes(field int, b []byte) {
	e.Write(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3|asBytes), uint64(len(b))))
	e.Write(b)
}

// attribute adds an attribute whose value is a number in the field that stands for its type.
func (e *encoder) attribute(name string, field int, v uint64) {
	var a encoder
	a.bytes(1, []byte(name))
	a.number(field, v)
	e.bytes(10, a.Bytes())
}

func (e *encoder) group(name string) {
	var a encoder
	a.bytes(1, []byte("pg_name"))
	a.bytes(29, []byte(name))
	e.bytes(10, a.Bytes())
}

// message appends a message with its length in front.
func message(file []byte, m []byte) []byte {
	return append(binary.AppendUvarint(file, uint64(len(m))), m...)
}

// header is the description of a file.
func header() []byte {
	var e encoder
	e.bytes(1, []byte("0.0.4"))
	return message(nil, e.Bytes())
}

// node returns a node with a list of data dependencies and what set adds.
func node(id int, name string, kind Type, microseconds int, deps []int, set func(*encoder)) []byte {
	var e, list encoder
	e.number(1, uint64(id))
	e.bytes(2, []byte(name))
	e.number(3, uint64(kind))
	for _, d := range deps {
		list.Write(binary.AppendUvarint(nil, uint64(d)))
	}
	if len(deps) > 0 {
		e.bytes(5, list.Bytes())
	}
	e.number(7, uint64(microseconds))
	e.bytes(8, []byte("inputs, which are skipped"))
	if set != nil {
		set(&e)
	}
	return e.Bytes()
}

// step is the file of a rank of a small training step on four ranks: a computation that takes longer on rank 2, the exchange of
// activations between pairs of ranks, an all-reduce of gradients and an update, with the calls of the host.
func step(rank int) []byte {
	const host, stream = 1, 7
	on := func(e *encoder, thread int, isHost uint64) {
		e.attribute("is_cpu_op", 27, isHost)
		e.attribute("tid", 9, uint64(thread))
	}
	communicate := func(kind, size int) func(*encoder) {
		return func(e *encoder) {
			e.attribute("is_cpu_op", 27, 0)
			e.attribute("comm_type", 9, uint64(kind))
			e.attribute("comm_size", 13, uint64(size))
		}
	}
	forward := 100
	if rank == 2 {
		forward = 180
	}
	file := header()
	add := func(m []byte) { file = message(file, m) }
	add(node(1, "aten::mm", Compute, 10, nil, func(e *encoder) { on(e, host, 1) }))
	add(node(2, "gemm_fwd", Compute, forward, []int{1}, func(e *encoder) { on(e, stream, 0) }))
	add(node(3, "c10d::allgather_", Collective, 5, []int{1}, func(e *encoder) { on(e, host, 1) }))
	add(node(4, "ncclAllGather", Collective, 30, []int{2, 3}, func(e *encoder) {
		communicate(AllGather, 1<<16)(e)
		e.group(fmt.Sprintf("pair%d", rank/2))
	}))
	add(node(5, "gemm_bwd", Compute, 200, []int{4}, func(e *encoder) { on(e, stream, 0) }))
	add(node(6, "ncclAllReduce", Collective, 300, []int{5}, communicate(AllReduce, 1<<22)))
	add(node(7, "send_metrics", Send, 0, []int{5}, func(e *encoder) {
		e.attribute("comm_dst", 7, uint64((rank+1)%4))
		e.attribute("comm_tag", 7, 3)
		e.attribute("comm_size", 9, 4096)
	}))
	add(node(8, "receive_metrics", Recv, 0, []int{5}, func(e *encoder) {
		e.attribute("comm_src", 7, uint64((rank+3)%4))
		e.attribute("comm_tag", 7, 3)
		e.attribute("comm_size", 9, 4096)
	}))
	add(node(9, "sgd", Compute, 40, []int{6}, func(e *encoder) { on(e, stream, 0) }))
	return file
}

// TestExample holds the files in testdata against what writes them.
func TestExample(t *testing.T) {
	for rank := range 4 {
		path := filepath.Join("../../../testdata/chakra", fmt.Sprintf("step.%d.et", rank))
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, step(rank), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, step(rank)) {
			t.Errorf("%s is not what step(%d) is; run with -update", path, rank)
		}
	}
}

// nodesOf reads a file.
func nodesOf(data []byte) (nodes []Node, cut bool, err error) {
	cut, err = Read(bytes.NewReader(data), func(n *Node) error {
		kept := *n
		kept.DataDeps = append([]uint64(nil), n.DataDeps...)
		nodes = append(nodes, kept)
		return nil
	})
	return nodes, cut, err
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func TestRead(t *testing.T) {
	for name, data := range map[string][]byte{"plain": step(1), "packed": pack(step(1))} {
		nodes, cut, err := nodesOf(data)
		if err != nil || cut || len(nodes) != 9 || !Sniff(data) {
			t.Fatalf("%s: %d nodes, cut %v, %v, recognized %v", name, len(nodes), cut, err, Sniff(data))
		}
		one, thread := Number{1, true}, Number{Value: 7, Given: true}
		want := []Node{
			{ID: 1, Name: "aten::mm", Type: Compute, Duration: 10, Thread: one, OnHost: true},
			{ID: 2, Name: "gemm_fwd", Type: Compute, Duration: 100, DataDeps: []uint64{1}, Thread: thread},
			{ID: 4, Name: "ncclAllGather", Type: Collective, Duration: 30, DataDeps: []uint64{2, 3}, Operation: Number{AllGather, true},
				Size: Number{1 << 16, true}, Group: "pair0"},
			{ID: 7, Name: "send_metrics", Type: Send, DataDeps: []uint64{5}, Destination: Number{2, true}, Tag: Number{3, true},
				Size: Number{4096, true}},
		}
		for i, k := range []int{0, 1, 3, 6} {
			if !reflect.DeepEqual(nodes[k], want[i]) {
				t.Errorf("%s: node %d is %+v, want %+v", name, k, nodes[k], want[i])
			}
		}
	}
}

// TestCut cuts a file at every byte: all complete nodes before are there, and never an error.
func TestCut(t *testing.T) {
	whole := step(0)
	ends := map[int]int{} // by byte: complete nodes before
	at, complete := len(header()), 0
	for ; at < len(whole); complete++ {
		ends[at] = complete
		size, n := binary.Uvarint(whole[at:])
		at += n + int(size)
	}
	ends[at] = complete
	done := 0
	for size := range len(whole) + 1 {
		nodes, cut, err := nodesOf(whole[:size])
		if n, isEnd := ends[size]; isEnd {
			done = n
			cut = !cut
		}
		if err != nil || len(nodes) != done || !cut && size > 0 {
			t.Fatalf("%d bytes: %d nodes, want %d; cut is wrong: %v; %v", size, len(nodes), done, !cut, err)
		}
	}
	packed := pack(whole)
	last := -1
	for size := 2; size < len(packed); size++ {
		nodes, cut, err := nodesOf(packed[:size])
		if err != nil || !cut || len(nodes) < last {
			t.Fatalf("%d packed bytes: %d nodes after %d, cut %v, %v", size, len(nodes), last, cut, err)
		}
		last = len(nodes)
	}
	if last != 9 {
		t.Errorf("without its last byte the packed file has %d nodes, want 9", last)
	}
}

// TestNumbers reads an attribute in each type that whole numbers are written in.
func TestNumbers(t *testing.T) {
	raw := func(field int, kind uint64, b []byte) []byte {
		return append(binary.AppendUvarint(nil, uint64(field)<<3|kind), b...)
	}
	varint := func(v uint64) []byte { return binary.AppendUvarint(nil, v) }
	for _, c := range []struct {
		value []byte
		want  Number
	}{
		{raw(7, asVarint, varint(5)), Number{5, true}},
		{raw(9, asVarint, varint(1<<64-2)), Number{-2, true}},
		{raw(11, asVarint, varint(5)), Number{5, true}},
		{raw(13, asVarint, varint(5)), Number{5, true}},
		{raw(15, asVarint, varint(9)), Number{-5, true}},
		{raw(17, asVarint, varint(10)), Number{5, true}},
		{raw(19, asFixed4, []byte{5, 0, 0, 0}), Number{5, true}},
		{raw(21, asFixed8, []byte{5, 0, 0, 0, 0, 0, 0, 0}), Number{5, true}},
		{raw(23, asFixed4, []byte{0xfe, 0xff, 0xff, 0xff}), Number{-2, true}},
		{raw(25, asFixed8, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), Number{-2, true}},
		{raw(3, asFixed8, []byte{0, 0, 0, 0, 0, 0, 0x14, 0x40}), Number{5, true}},
		{raw(5, asFixed4, []byte{0, 0, 0xa0, 0x40}), Number{5, true}},
		{raw(3, asFixed8, []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x3f}), Number{}}, // 0.5
		{raw(29, asBytes, []byte{1, '5'}), Number{}},
	} {
		var a encoder
		a.bytes(1, []byte("comm_size"))
		a.bytes(2, []byte("a remark"))
		a.Write(c.value)
		var n Node
		if !n.decodeAttribute(a.Bytes()) || n.Size != c.want {
			t.Errorf("% x: %v, want %v", c.value, n.Size, c.want)
		}
	}
}

func TestDamage(t *testing.T) {
	var damage *DamageError
	broken := message(header(), []byte{0xff}) // a field that does not end
	if _, _, err := nodesOf(broken); !errors.As(err, &damage) || damage.At != int64(len(header())) {
		t.Errorf("a broken node: %v", err)
	}
	if _, _, err := nodesOf(append(header(), binary.AppendUvarint(nil, 1<<40)...)); !errors.As(err, &damage) {
		t.Errorf("a length beyond all bounds: %v", err)
	}
	// A length that the file does not have is a file that is cut, and takes no memory.
	if nodes, cut, err := nodesOf(append(header(), binary.AppendUvarint(nil, maxMessage)...)); err != nil || !cut || len(nodes) != 0 {
		t.Errorf("a length beyond the end: %d nodes, cut %v, %v", len(nodes), cut, err)
	}
	failing := io.MultiReader(bytes.NewReader(step(0)[:100]), iotest.ErrReader(os.ErrPermission))
	if _, err := Read(failing, func(*Node) error { return nil }); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a disk that fails: %v", err)
	}
}

func TestSniff(t *testing.T) {
	unnamed := append([]byte{0}, message(nil, node(0, "n", Compute, 1, nil, nil))...)
	if !Sniff(unnamed) {
		t.Error("a file with an empty description is not recognized")
	}
	for _, other := range []string{
		"", "\x00", "num_ranks 2\n", "digraph g {", "~\nrank 0 {\n", "\x0a\x0a\x0a\x0a\x0a", "{\"traceEvents\": []}", "\x1f\x8b\x08",
	} {
		if Sniff([]byte(other)) {
			t.Errorf("%q is taken for a Chakra trace", other)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(step(0))
	f.Add(pack(step(1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		count := 0
		_, err := Read(bytes.NewReader(data), func(n *Node) error {
			if count++; n.Type == 0 {
				t.Error("a node without a type")
			}
			return nil
		})
		if !bytes.HasPrefix(data, gzipMagic) && count > len(data)/3 {
			t.Errorf("%d nodes in %d bytes: %v", count, len(data), err)
		}
	})
}

// BenchmarkRead reads a file of many nodes.
func BenchmarkRead(b *testing.B) {
	const nodes = 50_000
	file := header()
	for i := range nodes {
		file = message(file, node(i, "aten::mm", 4, 25, []int{max(i-1, 0)}, func(e *encoder) { e.attribute("tid", 9, 7) }))
	}
	b.SetBytes(int64(len(file)))
	passes, cpu := 0, memory.CPU()
	for b.Loop() {
		found := 0
		if cut, err := Read(bytes.NewReader(file), func(*Node) error { found++; return nil }); err != nil || cut || found != nodes {
			b.Fatal(err, cut, found)
		}
		passes++
	}
	b.ReportMetric(float64(passes*nodes)/(memory.CPU()-cpu).Seconds()/1e6, "Mnodes/cpu-s")
}
