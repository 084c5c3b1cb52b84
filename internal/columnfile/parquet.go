package columnfile

import (
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"slackline/internal/provenance"
)

// newParquet returns the encoder of a Parquet file.
func newParquet[T any](w io.Writer, metadata [][2]string, others ...parquet.WriterOption) *parquet.GenericWriter[T] {
	options := append(others,
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.CreatedBy("slackline", provenance.Version(), ""))
	for _, m := range metadata {
		options = append(options, parquet.KeyValueMetadata(m[0], m[1]))
	}
	return parquet.NewGenericWriter[T](w, options...)
}

// parquetValues is the encoder of rows whose columns are known by name only.
type parquetValues struct {
	*parquet.GenericWriter[any]
	row parquet.Row
}

func newParquetValues(w io.Writer, table string, columns []Column, metadata [][2]string) parquetValues {
	schema := parquet.NewSchema(table, inOrder{parquet.Group{}, columns})
	return parquetValues{newParquet[any](w, metadata, schema), make(parquet.Row, len(columns))}
}

func (p parquetValues) Write(rows [][]any) (int, error) {
	for _, values := range rows {
		for i, v := range values {
			present := 1
			if v == nil {
				present = 0
			}
			p.row[i] = parquet.ValueOf(v).Level(0, present, i)
		}
		if _, err := p.WriteRows([]parquet.Row{p.row}); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// inOrder is a group whose columns stay in the order that they are given in.
type inOrder struct {
	parquet.Group
	columns []Column
}

type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

func (f field) Value(base reflect.Value) reflect.Value { return base.MapIndex(reflect.ValueOf(f.name)) }

// Fields returns the columns in their order.
func (g inOrder) Fields() []parquet.Field {
	fields := make([]parquet.Field, len(g.columns))
	for i, c := range g.columns {
		fields[i] = field{parquet.Optional(nodeOf(c.Type)), c.Name}
	}
	return fields
}

func nodeOf(kind string) parquet.Node {
	switch kind {
	case "bool":
		return parquet.Leaf(parquet.BooleanType)
	case "int64":
		return parquet.Int(64)
	case "float64":
		return parquet.Leaf(parquet.DoubleType)
	}
	return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
}
