// Package parquetfile writes rows as Parquet files, for data frames and query engines. What a column is stands in the file
// itself: its unit, which the suffix of its name tells, and its meaning.
package parquetfile

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"slackline/internal/provenance"
)

// Version is that of the tables: it changes if a column gets another name, type or meaning, not if one is added.
const Version = 1

// rowsPerGroup bounds what a writer holds in memory: it encodes and writes so many rows at a time.
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

// encoding is how the columns of all files are written. Bounds are those of row groups and of pages in the index; names have
// none, since nearly all of them occur everywhere, and comparing them takes longer than writing them.
func encoding(columns []Column) []parquet.WriterOption {
	list := []parquet.WriterOption{
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.DataPageStatistics(false),
	}
	for _, c := range columns {
		if c.Type == "string" {
			list = append(list, parquet.SkipPageBounds(c.Name))
		}
	}
	return list
}

// options are the same for all files: what the table is stands in the file itself.
func options(table string, columns []Column) ([]parquet.WriterOption, error) {
	described, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	return append(encoding(columns),
		parquet.CreatedBy("slackline", provenance.Version(), ""),
		parquet.KeyValueMetadata("slackline.table", table),
		parquet.KeyValueMetadata("slackline.schema", strconv.Itoa(Version)),
		parquet.KeyValueMetadata("slackline.columns", string(described)),
	), nil
}
