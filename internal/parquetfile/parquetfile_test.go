package parquetfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// open reads a file back.
func open(t *testing.T, b *bytes.Buffer) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// described returns what a file says of its columns.
func described(t *testing.T, f *parquet.File) []Column {
	t.Helper()
	text, ok := f.Lookup("slackline.columns")
	if !ok {
		t.Fatal("the file does not describe its columns")
	}
	var columns []Column
	if err := json.Unmarshal([]byte(text), &columns); err != nil {
		t.Fatal(err)
	}
	return columns
}

func TestWriteInBatches(t *testing.T) {
	type row struct {
		Rank int32  `parquet:"rank" meaning:"the rank"`
		At   int64  `parquet:"at_ps,delta" meaning:"when"`
		Name string `parquet:"name,dict" meaning:"what"`
		Size *int64 `parquet:"size_bytes,optional" meaning:"how much"`
	}
	const rows = 3*rowsPerGroup + 1000
	var b bytes.Buffer
	n, err := Write(&b, "events", func() error { return nil }, func(w *Writer[row]) {
		for i := range int64(rows) {
			r := row{Rank: int32(i % 7), At: math.MaxInt64 - i, Name: strings.Repeat("x", int(i%3))}
			if i%2 == 0 {
				r.Size = &i
			}
			w.Add(r)
		}
	})
	if err != nil || n != rows {
		t.Fatal(n, err)
	}
	f := open(t, &b)
	if got := len(f.RowGroups()); got != 4 {
		t.Errorf("%d groups of rows, want 4", got)
	}
	if got, want := described(t, f)[3], (Column{"size_bytes", "int64", "B", "how much", true}); got != want {
		t.Errorf("column %+v, want %+v", got, want)
	}
	read, err := parquet.Read[row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(read) != rows {
		t.Fatal(len(read), err)
	}
	for i, r := range read {
		if r.At != math.MaxInt64-int64(i) || r.Rank != int32(i%7) || len(r.Name) != i%3 || (r.Size != nil) != (i%2 == 0) || r.Size != nil &&
			*r.Size != int64(i) {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
}

// Errors of the writer and of those who stop it end the work, while groups are being encoded too.
func TestWriteEnds(t *testing.T) {
	type row struct {
		At int64 `parquet:"at_ps,delta"`
	}
	full, stopped := errors.New("no space"), errors.New("stopped")
	for _, test := range []struct {
		to   io.Writer
		stop func(n int64) error
		want error
	}{
		{failing{full}, func(int64) error { return nil }, full},
		{io.Discard, func(n int64) error {
			if n > 2*rowsPerGroup+5000 {
				return stopped
			}
			return nil
		}, stopped},
	} {
		added := int64(0)
		_, err := Write(test.to, "events", func() error { return test.stop(added) }, func(w *Writer[row]) {
			for i := range int64(9 * rowsPerGroup) {
				added++
				w.Add(row{i * i})
			}
		})
		if !errors.Is(err, test.want) {
			t.Errorf("error %v, want %v", err, test.want)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriteValues(t *testing.T) {
	names := []string{"name", "T_ns", "count", "share", "ok", "mixed", "nothing", "wait_s"}
	rows := [][]any{
		{"b", "0.5", 3, 0.25, true, 1, nil, json.Number("2")},
		{"a", json.Number("2"), int64(math.MaxInt64), 1, nil, "two", nil, nil},
		{nil, nil, uint8(1), nil, false, nil, nil, nil},
	}
	var b bytes.Buffer
	if err := WriteValues(&b, "results", names, slices.Values(rows)); err != nil {
		t.Fatal(err)
	}
	f := open(t, &b)
	want := []Column{
		{"name", "string", "", "", true}, {"T_ns", "float64", "ns", "", true}, {"count", "int64", "", "", true},
		{"share", "float64", "", "", true}, {"ok", "bool", "", "", true}, {"mixed", "string", "", "", true}, {"nothing", "string", "", "", true},
		{"wait_s", "float64", "s", "", true},
	}
	for i, c := range described(t, f) {
		if c != want[i] || f.Schema().Fields()[i].Name() != c.Name {
			t.Errorf("column %d is %+v, want %+v, and in this place", i, c, want[i])
		}
	}
	group := f.RowGroups()[0].Rows()
	defer group.Close()
	read := make([]parquet.Row, len(rows))
	if n, err := group.ReadRows(read); n != len(rows) || err != nil && err != io.EOF {
		t.Fatal(n, err)
	}
	const all = "[b 0.5 3 0.25 true 1 <null> 2] [a 2 9223372036854775807 1 <null> two <null> <null>] [<null> <null> 1 <null> false " +
		"<null> <null> <null>]"
	if got := strings.Trim(fmt.Sprint(read), "[]"); got != strings.Trim(all, "[]") {
		t.Errorf("rows %s, want %s", got, all)
	}
	if err := WriteValues(&b, "results", []string{"a", "a"}, slices.Values(rows[:0])); err == nil {
		t.Error("two columns of the same name were written")
	}
}
