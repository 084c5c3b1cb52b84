package columnfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"slackline/internal/arrowfile/arrowtest"
	"slackline/internal/needed"
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
	fill := func(w *Writer[row]) {
		for i := range int64(rows) {
			r := row{Rank: int32(i % 7), At: math.MaxInt64 - i, Name: strings.Repeat("x", int(i%3))}
			if i%2 == 0 {
				r.Size = &i
			}
			w.Add(r)
		}
	}
	var b, arrow bytes.Buffer
	for f, to := range map[Format]io.Writer{Parquet: &b, Arrow: &arrow} {
		if n, err := Write(to, f, "events", t.Context().Err, fill); err != nil || n != rows {
			t.Fatal(f, n, err)
		}
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
	needed.Full(t, "engines that read Arrow")
	const statement = "select count(*) as n, sum(rank) as ranks, min(at_ps) as first, max(at_ps) as last, sum(size_bytes) as size, " +
		"count(size_bytes) as sizes, count(distinct name) as names from events where rank = 3"
	dir := filepath.Dir(file(t, &arrow, "events.arrow"))
	got := arrowtest.Query(t, []arrowtest.Question{{Dir: dir, Statement: statement}})[0][0]
	var want [7]int64
	for i, r := range read {
		if r.Rank != 3 {
			continue
		}
		want[0]++
		want[1] += int64(r.Rank)
		if want[3] == 0 {
			want[3] = r.At
		}
		want[2] = r.At
		if i%2 == 0 {
			want[4] += int64(i)
			want[5]++
		}
	}
	want[6] = 3
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Arrow: %v, want %v", got, want)
	}
}

// file writes bytes to a file of its own.
func file(t *testing.T, b *bytes.Buffer, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// An Arrow file has batches of bounded size.
func TestArrowBatches(t *testing.T) {
	needed.Full(t, "engines that read Arrow")
	type row struct {
		Rank int32 `parquet:"rank"`
	}
	var b bytes.Buffer
	if _, err := Write(&b, Arrow, "events", t.Context().Err, func(w *Writer[row]) {
		for i := range int32(2*rowsPerGroup + 3) {
			w.Add(row{i})
		}
	}); err != nil {
		t.Fatal(err)
	}
	read := arrowtest.Read(t, file(t, &b, "events.arrow"))[0]
	if want := []int{rowsPerGroup, rowsPerGroup, 3}; !slices.Equal(read.Batches, want) || len(read.Rows) != 2*rowsPerGroup+3 {
		t.Errorf("batches of %d rows, %d in all, want %d", read.Batches, len(read.Rows), want)
	}
	for i, r := range read.Rows {
		if r[0] != strconv.Itoa(i) {
			t.Fatalf("row %d: %v", i, r)
		}
	}
}

// Errors of the writer and of those who stop it end the work, while groups are being encoded too.
func TestWriteEnds(t *testing.T) {
	type row struct {
		At int64 `parquet:"at_ps,delta"`
	}
	full, stopped := errors.New("no space"), errors.New("stopped")
	after := func(rows int64) func(int64) error {
		return func(n int64) error {
			if n > rows {
				return stopped
			}
			return nil
		}
	}
	for _, test := range []struct {
		format Format
		to     io.Writer
		stop   func(n int64) error
		want   error
	}{
		{Parquet, failing{full}, after(math.MaxInt64), full},
		{Arrow, failing{full}, after(math.MaxInt64), full},
		{Parquet, io.Discard, after(2*rowsPerGroup + 5000), stopped},
		{Arrow, io.Discard, after(2*rowsPerGroup + 5000), stopped},
		{Arrow, io.Discard, after(11*rowsPerGroup + 5000), stopped}, // in the second pass over the rows
	} {
		added := int64(0)
		_, err := Write(test.to, test.format, "events", func() error { return test.stop(added) }, func(w *Writer[row]) {
			for i := range int64(9 * rowsPerGroup) {
				added++
				w.Add(row{i * i})
			}
		})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", test.format, err, test.want)
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
	if err := WriteValues(&b, Parquet, "results", names, slices.Values(rows)); err != nil {
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
	for _, f := range Formats() {
		if err := WriteValues(io.Discard, f, "results", []string{"a", "a"}, slices.Values(rows[:0])); err == nil {
			t.Error("two columns of the same name were written")
		}
	}
	needed.Full(t, "engines that read Arrow")
	b.Reset()
	if err := WriteValues(&b, Arrow, "results", names, slices.Values(rows)); err != nil {
		t.Fatal(err)
	}
	arrow := arrowtest.Read(t, file(t, &b, "results.arrow"))[0]
	if got := strings.Trim(strings.ReplaceAll(fmt.Sprint(arrow.Rows), "<nil>", "<null>"), "[]"); got != strings.Trim(all, "[]") {
		t.Errorf("Arrow: rows %s, want %s", got, all)
	}
	for i, f := range arrow.Fields {
		if f.Name != want[i].Name || f.Metadata["unit"] != want[i].Unit || !f.Nullable {
			t.Errorf("Arrow: column %+v, want %+v", f, want[i])
		}
	}
}

// BenchmarkWrite writes a table with the columns of calls.
func BenchmarkWrite(b *testing.B) {
	type row struct {
		Rank     int32  `parquet:"rank"`
		Call     int32  `parquet:"call,delta"`
		Parent   int32  `parquet:"parent,delta"`
		Name     string `parquet:"name,dict"`
		CallPath string `parquet:"callpath,dict"`
		Enter    int64  `parquet:"enter_ps,delta"`
		Leave    int64  `parquet:"leave_ps,delta"`
		Samples  *int32 `parquet:"samples,optional"`
	}
	const rows = 1 << 20
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprintf("main/solve/iteration/exchange/MPI_Waitall%d", i)
	}
	for _, f := range Formats() {
		b.Run(fmt.Sprintf("format=%s", f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := Write(io.Discard, f, "calls", b.Context().Err, func(w *Writer[row]) {
					for i := range rows {
						name := names[i*i%len(names)]
						w.Add(row{Rank: int32(i >> 12), Call: int32(i), Parent: int32(i / 3), Name: name[28:], CallPath: name, Enter: int64(i) * 1e6,
							Leave: int64(i)*1e6 + int64(i%977)})
					}
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
