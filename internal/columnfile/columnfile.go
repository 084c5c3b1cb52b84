// Package columnfile writes rows as files of columns, for data frames and query engines: Parquet, compressed, or Arrow, which
// can be mapped. What a column is stands in the file itself: its unit, which the suffix of its name tells, and its meaning.
package columnfile

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Format is a format of files; its name is also their suffix.
type Format string

// The formats.
const (
	Parquet Format = "parquet"
	Arrow   Format = "arrow"
)

// Formats are the formats that can be written.
func Formats() []Format { return []Format{Parquet, Arrow} }

// encoder writes rows in a format.
type encoder[T any] interface {
	Write(rows []T) (int, error)
	Close() error
}

// Version is that of the tables: it changes if a column gets another name, type or meaning, not if one is added.
const Version = 1

// rowsPerGroup bounds what a writer holds in memory: it compresses and writes so many rows at a time.
const rowsPerGroup = 1 << 16

// Column describes a column of a table.
type Column struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // of its values: int32, int64, float64, string, bool
	Unit    string `json:"unit,omitempty"`
	Meaning string `json:"meaning,omitempty"`
	Missing bool   `json:"may_be_missing,omitempty"`
}

// units are those that the suffixes of columns stand for.
var units = []struct{ suffix, unit string }{{"_ps", "ps"}, {"_ns", "ns"}, {"_us", "us"}, {"_s", "s"}, {"seconds", "s"}, {"bytes", "B"},
	{"_hz", "Hz"}}

// unitOf is the unit that the name of a column tells; empty: it has none.
func unitOf(name string) string {
	for _, u := range units {
		if strings.HasSuffix(name, u.suffix) {
			return u.unit
		}
	}
	return ""
}

// ColumnsOf returns the columns of a type of rows, a struct whose fields have a tag parquet with the name of the column and
// a tag meaning. Pointers are values that may be missing.
func ColumnsOf[T any]() []Column {
	rows := reflect.TypeFor[T]()
	var columns []Column
	for i := range rows.NumField() {
		field := rows.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		value := field.Type
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		columns = append(columns, Column{
			Name: name, Type: value.Kind().String(), Unit: unitOf(name),
			Meaning: field.Tag.Get("meaning"), Missing: value != field.Type,
		})
	}
	return columns
}

// metadata is the same for all files: what the table is stands in the file itself.
func metadata(table string, columns []Column) ([][2]string, error) {
	described, err := json.Marshal(columns)
	return [][2]string{
		{"slackline.table", table}, {"slackline.schema", strconv.Itoa(Version)}, {"slackline.columns", string(described)},
	}, err
}

// Writer takes rows one by one and writes them in batches.
type Writer[T any] struct {
	to    encoder[T]
	batch []T
	rows  int64
	stop  func() error
	err   error
}

// Add takes a row. After an error it does nothing: Write returns it.
func (w *Writer[T]) Add(row T) {
	if w.batch = append(w.batch, row); len(w.batch) == cap(w.batch) {
		w.flush()
	}
}

// Fail ends the writing with an error, unless there was one before.
func (w *Writer[T]) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *Writer[T]) flush() {
	if w.err == nil {
		w.err = w.stop()
	}
	if w.err == nil {
		_, w.err = w.to.Write(w.batch)
	}
	w.rows += int64(len(w.batch))
	w.batch = w.batch[:0]
}

// Write writes the rows that fill adds as a file, and returns their number. Fill is called as often as the format needs to see
// all rows. Stop is asked from time to time: its error ends the work.
func Write[T any](w io.Writer, f Format, table string, stop func() error, fill func(w *Writer[T])) (int64, error) {
	columns := ColumnsOf[T]()
	described, err := metadata(table, columns)
	if err != nil {
		return 0, err
	}
	var passes []encoder[T]
	if f == Arrow {
		passes = arrowPasses(w, columns, described, addFields[T])
	} else {
		passes = []encoder[T]{newParquet[T](w, described)}
	}
	rows := &Writer[T]{batch: make([]T, 0, 1<<12), stop: stop}
	for _, rows.to = range passes {
		rows.rows = 0
		fill(rows)
		rows.flush()
		if rows.err != nil {
			return 0, rows.err
		}
		if err := rows.to.Close(); err != nil {
			return 0, fmt.Errorf("table %s: %w", table, err)
		}
	}
	return rows.rows, nil
}
