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

// Numbers are read as they were written; undefined ones are all ones.
func TestNumbers(t *testing.T) {
	numbers := []uint64{0, 1, 255, 256, 1<<32 - 1, 1 << 40, 1<<56 - 1, math.MaxUint64 - 1, Undefined64}
	for _, v := range numbers {
		var w Record
		w.U64(v)
		for _, padding := range []int{0, 16} { // short and long, which are read in two ways
			r := Bytes{Data: append(bytes.Clone(w.Data), make([]byte, padding)...)}
			if got := r.U64(); got != v || r.Short || r.At != len(w.Data) {
				t.Errorf("%d with %d bytes after it: %d, at %d of %d, short %v", v, padding, got, r.At, len(w.Data), r.Short)
			}
		}
	}
	var w Record
	if w.U32(Undefined32, 7); w.Data[0] != 0xff || len(w.Data) != 3 {
		t.Errorf("undefined and 7 are % x", w.Data)
	}
	w.U8(9)
	w.F64(-2.5)
	w.str("a\x00b", "")
	r := Bytes{Data: w.Data}
	if got := []any{r.U32(), r.U32(), r.U8(), math.Float64frombits(r.Full(8)), r.str(), r.str(), r.Left()}; !cmp.Equal(got,
		[]any{uint32(Undefined32), uint32(7), uint8(9), -2.5, "ab", "", 0}) {
		t.Errorf("read %v", got)
	}
	if w.Most < len(w.Data) {
		t.Errorf("the fields have %d bytes, at most %d are announced", len(w.Data), w.Most)
	}
	if big := (&Bytes{Data: []byte{2, 1, 2, 0, 0, 0, 0, 0, 0, 0}, Big: true}).U64(); big != 0x0102 {
		t.Errorf("big-endian 01 02 = %#x", big)
	}
}

// What is not there is 0, and known to be missing.
func TestShortNumbers(t *testing.T) {
	for _, data := range [][]byte{{}, {4, 1, 2}, {9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
		r := Bytes{Data: data}
		if v := r.U64(); v != 0 || !r.Short || r.Left() != 0 {
			t.Errorf("% x: %d, short %v, %d bytes left", data, v, r.Short, r.Left())
		}
	}
	if r := (Bytes{Data: []byte("no end")}); r.str() != "" || !r.Short {
		t.Error("a text without its end was read")
	}
}

// A file of several chunks has all its records, and no record lies in two chunks.
func TestDefinitionsInChunks(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, 64, true)
	d := &DefinitionWriter{Strings: map[string]uint32{}}
	words := []string{"", "main", strings.Repeat("x", 20), "MPI_Send", strings.Repeat("y", 30), "last"}
	for _, word := range words {
		d.Text(word)
	}
	if d.Text("main") != 1 || d.NewText("main") != uint32(len(words)) {
		t.Error("a known text has another number, or a new one has that of the known one")
	}
	for i, r := range d.Records {
		w.Room(Frame + len(r))
		w.Record(r[0], &Record{Data: r[1:], Most: d.Most[i]})
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if file.Len() < 3*64 {
		t.Fatalf("%d bytes: the test wants several chunks", file.Len())
	}
	got, err := ReadDefinitions(&File{In: bytes.NewReader(file.Bytes()), Size: 64, Step: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint32]string{uint32(len(words)): "main"}
	for i, word := range words {
		want[uint32(i)] = word
	}
	if diff := cmp.Diff(want, got.Strings); diff != "" || got.Count != uint64(len(want)) {
		t.Errorf("%d definitions (-want +got):\n%s", got.Count, diff)
	}
	for cut := range file.Len() - 2 { // what is before the damage is read
		part, err := ReadDefinitions(&File{In: bytes.NewReader(file.Bytes()[:cut]), Size: 64, Step: 10, Show: "a.def"})
		if !errors.Is(err, damage.Err) || !strings.Contains(err.Error(), "a.def") {
			t.Fatalf("cut at %d: error %v", cut, err)
		}
		for i, word := range part.Strings {
			if want[i] != word {
				t.Errorf("cut at %d: string %d = %q, want %q", cut, i, word, want[i])
			}
		}
	}
}

func TestDefinitions(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, 4096, true)
	d := &DefinitionWriter{Strings: map[string]uint32{}}
	d.Add(DefClockProperties, func(r *Record) { r.U64(1e9, 5, 100) })
	d.Group(3, GroupCommLocations, ParadigmMPI, []uint64{0, 1 << 40})
	d.Comm(4, 1, 3, 0)
	d.Add(DefGroup, func(r *Record) { // of an older version, without kind and paradigm
		r.U32(9, 0)
		r.U8(4)
		r.U32(1)
		r.U64(7)
	})
	d.Add(DefRegion, func(r *Record) {
		r.U32(5, 1, 0)
		r.U8(0)
		r.U32(2, 30, 40, 1)
		r.U8(RolePointToPoint, ParadigmMPI)
	})
	for i, r := range d.Records {
		w.Record(r[0], &Record{Data: r[1:], Most: d.Most[i]})
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadDefinitions(&File{In: &file, Size: 4096, Step: 64})
	if err != nil {
		t.Fatal(err)
	}
	if got.Resolution != 1e9 || got.GlobalOffset != 5 || got.Realtime != Undefined64 {
		t.Errorf("clock = %d, %d, %d", got.Resolution, got.GlobalOffset, got.Realtime)
	}
	if diff := cmp.Diff(map[uint32]Group{
		3: {Kind: GroupCommLocations, Paradigm: ParadigmMPI, Members: []uint64{0, 1 << 40}},
		9: {Kind: GroupCommGroup, Paradigm: ParadigmMPI, Members: []uint64{7}},
	}, got.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Comm{{ID: 4, Name: 1, Group: 3}}, got.Comms); diff != "" {
		t.Errorf("communicators (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Region{{ID: 5, Name: 1, File: 2, Line: 30, Known: true, Role: RolePointToPoint, Paradigm: ParadigmMPI}},
		got.Regions); diff != "" {
		t.Errorf("regions (-want +got):\n%s", diff)
	}
}

func TestEvents(t *testing.T) {
	events := NewWriter(io.Discard, 4096, false)
	events.Buffer = append(events.Buffer, Timestamp, 1, 2, 0, 0, 0, 0, 0, 0)
	events.Buffer = append(events.Buffer, EvtEnter, 1, 42)
	events.Buffer = append(events.Buffer, AttributeList, 3, 7, 8, 9)
	events.Record(EvtSend, &Record{Data: []byte{1, 5}, Most: 5})
	f := &File{In: bytes.NewReader(append(events.Buffer, EndOfFile, EndOfBuffer)), Size: 4096, Step: 64}
	if err := f.NextChunk(); err != nil {
		t.Fatal(err)
	}
	var e Event
	if err := f.Event(&e); err != nil || e.ID != EvtEnter || e.Time != 0x0201 || e.Value != 42 {
		t.Errorf("first event = %+v, %v", e, err)
	}
	if err := f.Event(&e); err != nil || e.ID != EvtSend || e.Time != 0x0201 || e.Body.U32() != 5 || !bytes.Equal(e.Attributes,
		[]byte{7, 8, 9}) {
		t.Errorf("second event = %+v, %v", e, err)
	}
	if err := f.Event(&e); err != io.EOF {
		t.Errorf("after the last event: %v", err)
	}
	for want, data := range map[string][]byte{
		"truncated":                            {EvtEnter},
		"there is no record 4":                 {4},
		"a chunk begins inside of another one": {ChunkBegin},
	} {
		head := append([]byte{ChunkBegin, Little}, make([]byte, 16)...)
		f := &File{In: bytes.NewReader(append(head, data...)), Size: 4096, Step: 64}
		if err := f.NextChunk(); err != nil {
			t.Fatal(err)
		}
		if err := f.Event(&e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
