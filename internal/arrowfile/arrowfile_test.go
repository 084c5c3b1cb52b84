package arrowfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"slackline/internal/arrowfile/arrowtest"
	"slackline/internal/needed"
)

// fields are columns of all types, with and without missing values.
func fields() []Field {
	return []Field{
		{"number", Int64, false, [][2]string{{"unit", "ps"}, {"meaning", "größe"}}}, {"maybe_number", Int64, true, nil},
		{"small", Int32, false, nil}, {"maybe_small", Int32, true, nil}, {"real", Float64, false, nil}, {"maybe_real", Float64, true, nil},
		{"is", Bool, false, nil}, {"maybe_is", Bool, true, nil}, {"name", String, false, nil}, {"maybe_name", String, true, nil},
	}
}

var (
	numbers = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1}
	reals   = []float64{0.5, -1.25, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1)}
	names   = []string{"", "MPI_Send", "größe/Σ/计算/🚀", "a\x00b", `quo"ted`, strings.Repeat("long/", 100)}
)

// add appends a row to the columns.
func add(w *Writer, i int) {
	values := []any{
		numbers[i%len(numbers)], int64(int32(numbers[i%len(numbers)])), reals[i%len(reals)], i%3 == 0, names[i%len(names)],
	}
	for j := range w.Columns {
		c := &w.Columns[j]
		if j%2 == 1 && i%(j+2) == 0 {
			c.AppendNull()
			continue
		}
		switch v := values[j/2].(type) {
		case int64:
			c.AppendInt(v)
		case float64:
			c.AppendFloat(v)
		case bool:
			c.AppendBool(v)
		case string:
			c.AppendText(v)
		}
	}
}

// write writes a file with so many rows, in batches.
func write(to io.Writer, rows, batch int) error {
	w := NewWriter(to, fields(), [][2]string{{"key", "value"}, {"empty", ""}})
	for i := range min(rows, len(names)) {
		w.Columns[8].AppendText(names[i])
		w.Columns[9].AppendNull()
		w.Columns[9].AppendText(names[i])
	}
	if err := w.WriteSchema(); err != nil {
		return err
	}
	for i := range rows {
		add(w, i)
		if w.Rows() == batch {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// want is what must be read from a file.
func want(rows int) [][]any {
	list := [][]any{}
	for i := range rows {
		real := fmt.Sprint(reals[i%len(reals)])
		switch i % len(reals) { // as JavaScript spells them
		case 3:
			real = "1.7976931348623157e+308"
		case 5:
			real = "Infinity"
		}
		row := []any{}
		for j, v := range []string{fmt.Sprint(numbers[i%len(numbers)]), fmt.Sprint(int32(numbers[i%len(numbers)])), real, fmt.Sprint(i%3 == 0),
			names[i%len(names)]} {
			var missing any = v
			if i%(2*j+3) == 0 {
				missing = nil
			}
			row = append(row, v, missing)
		}
		list = append(list, row)
	}
	return list
}

// Files of no rows, of less than a batch, of whole batches and of more are read as they were written.
func TestReadBack(t *testing.T) {
	needed.Full(t, "engines that read Arrow")
	var paths []string
	sizes := []int{0, 1, 7, 8, 9, 64, 65, 200}
	for _, rows := range sizes {
		var b bytes.Buffer
		if err := write(&b, rows, 64); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(t.TempDir(), "table.arrow"))
		if err := os.WriteFile(paths[len(paths)-1], b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range arrowtest.Read(t, paths...) {
		if want := want(sizes[i]); !reflect.DeepEqual(f.Rows, want) {
			t.Errorf("%d rows: %q, want %q", sizes[i], f.Rows, want)
		}
		if got, want := len(f.Batches), max(1, (sizes[i]+63)/64); got != want { // the library makes one of none
			t.Errorf("%d batches of %d rows, want %d", got, sizes[i], want)
		}
		if f.Metadata["key"] != "value" || f.Fields[0].Metadata["meaning"] != "größe" || f.Fields[0].Nullable || !f.Fields[1].Nullable {
			t.Errorf("metadata %v, %v", f.Metadata, f.Fields)
		}
	}
}

// field is the place of a field of a table in a flatbuffer, and 0 if it is not there.
func field(b []byte, table, number int) int {
	places := table - int(int32(binary.LittleEndian.Uint32(b[table:])))
	if 4+2*number >= int(binary.LittleEndian.Uint16(b[places:])) {
		return 0
	}
	if at := int(binary.LittleEndian.Uint16(b[places+4+2*number:])); at > 0 {
		return table + at
	}
	return 0
}

func follow(b []byte, at int) int { return at + int(binary.LittleEndian.Uint32(b[at:])) }

// Buffers and metadata are aligned in the file, the footer knows where each message is, and the messages are all there is.
func TestLayout(t *testing.T) {
	for _, rows := range []int{0, 1, 100, 1000} {
		var b bytes.Buffer
		if err := write(&b, rows, 64); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		end := len(data) - len(magic) - 4
		footer := data[end-int(binary.LittleEndian.Uint32(data[end:])) : end]
		if !bytes.HasPrefix(data, []byte("ARROW1\x00\x00")) || !bytes.HasSuffix(data, []byte("ARROW1")) || (end-len(footer))%8 != 0 {
			t.Fatal("the file does not begin and end as it should")
		}
		next, buffers := 8+8+int(binary.LittleEndian.Uint32(data[12:])), 0 // after the schema
		for _, list := range []int{2, 3} {                                 // dictionaries, batches
			blocks := follow(footer, field(footer, follow(footer, 0), list))
			for i := range int(binary.LittleEndian.Uint32(footer[blocks:])) {
				block := footer[blocks+4+24*i:]
				at, size, body := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint32(block[8:]), binary.LittleEndian.Uint64(block[16:])
				if int(at) != next || binary.LittleEndian.Uint32(data[at:]) != math.MaxUint32 ||
					binary.LittleEndian.Uint32(data[at+4:])+8 != size {
					t.Fatalf("a block of %d bytes at %d, want a message at %d", size, at, next)
				}
				next = int(at) + int(size) + int(body)
				message := data[at+8:]
				header := follow(message, field(message, follow(message, 0), 2))
				if list == 2 {
					header = follow(message, field(message, header, 1)) // the batch in the dictionary
				}
				vector := follow(message, field(message, header, 2))
				used := uint64(0)
				for j := range int(binary.LittleEndian.Uint32(message[vector:])) {
					place := message[vector+4+16*j:]
					from, length := binary.LittleEndian.Uint64(place), binary.LittleEndian.Uint64(place[8:])
					if start := at + uint64(size) + from; start%64 != 0 || from < used || from+length > body {
						t.Errorf("%d rows: a buffer of %d bytes at %d of the file, %d of %d in its message", rows, length, start, from, body)
					}
					used = from + length
					buffers++
				}
			}
		}
		if next+8+len(footer)+10 != len(data) {
			t.Errorf("%d rows: messages end at %d of %d bytes, of which %d are the footer", rows, next, len(data), len(footer))
		}
		if want := 2*3 + (rows+63)/64*len(fields())*2; buffers != want {
			t.Errorf("%d rows: %d buffers, want %d", rows, buffers, want)
		}
	}
}

// Memory does not grow with the number of rows: a further batch allocates its description only.
func TestMemory(t *testing.T) {
	const batch = 1 << 12
	allocated := func(batches int) int64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := write(io.Discard, batches*batch, batch); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	first := allocated(1)
	if more := (allocated(65) - first) / 64; more > 16<<10 {
		t.Errorf("a batch more allocates %d bytes, the first file %d", more, first)
	}
}

// A writer that fails ends the file with its error, wherever it fails.
func TestFailingWriter(t *testing.T) {
	var b bytes.Buffer
	if err := write(&b, 1000, 64); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space")
	for space := 0; space < b.Len(); space += 997 {
		if err := write(&limited{space, full}, 1000, 64); !errors.Is(err, full) {
			t.Fatalf("error %v after %d bytes, want %v", err, space, full)
		}
	}
}

type limited struct {
	space int
	err   error
}

func (l *limited) Write(p []byte) (int, error) {
	if l.space -= len(p); l.space < 0 {
		return 0, l.err
	}
	return len(p), nil
}
