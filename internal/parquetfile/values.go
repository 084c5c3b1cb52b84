package parquetfile

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// WriteValues writes rows whose columns are known by name only, each value a string, a number, a bool, a json.Number or
// nil. A column has the type that all its values fit into: bool, int64, float64, else string.
func WriteValues(w io.Writer, table string, names []string, rows [][]any) error {
	columns := make([]Column, len(names))
	nodes := parquet.Group{}
	for i, name := range names {
		columns[i] = Column{Name: name, Unit: unitOf(name), Missing: true, Type: typeOf(rows, i)}
		nodes[name] = parquet.Optional(nodeOf(columns[i].Type))
	}
	if len(nodes) < len(names) {
		return fmt.Errorf("table %s has two columns of the same name", table)
	}
	o, err := options(table, columns)
	if err != nil {
		return err
	}
	schema := parquet.NewSchema(table, inOrder{nodes, names})
	to := parquet.NewGenericWriter[any](w, append(o, schema)...)
	for _, values := range rows {
		row := make(parquet.Row, len(names))
		for i, v := range values {
			value, err := valueOf(v, columns[i].Type)
			if err != nil {
				return fmt.Errorf("table %s, column %s: %w", table, names[i], err)
			}
			present := 1
			if value.IsNull() {
				present = 0
			}
			row[i] = value.Level(0, present, i)
		}
		if _, err := to.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return to.Close()
}

// inOrder is a group whose columns stay in the order that they are given in.
type inOrder struct {
	parquet.Group
	names []string
}

type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

func (f field) Value(base reflect.Value) reflect.Value { return base.MapIndex(reflect.ValueOf(f.name)) }

// Fields returns the columns in their order.
func (g inOrder) Fields() []parquet.Field {
	fields := make([]parquet.Field, len(g.names))
	for i, name := range g.names {
		fields[i] = field{g.Group[name], name}
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

// typeOf is the type that all values of a column fit into; string if there are none.
func typeOf(rows [][]any, column int) string {
	found := ""
	for _, row := range rows {
		kind := ""
		switch v := row[column].(type) {
		case nil:
			continue
		case bool:
			kind = "bool"
		case float32, float64:
			kind = "float64"
		case json.Number:
			if kind = "float64"; isWhole(v) {
				kind = "int64"
			}
		case string:
			return "string"
		default:
			if kind = "string"; reflect.ValueOf(v).CanInt() || reflect.ValueOf(v).CanUint() {
				kind = "int64"
			}
		}
		switch {
		case found == "" || found == kind:
			found = kind
		case found != "bool" && kind != "bool" && kind != "string":
			found = "float64"
		default:
			return "string"
		}
	}
	if found == "" {
		return "string"
	}
	return found
}

func isWhole(n json.Number) bool {
	_, err := n.Int64()
	return err == nil
}

// valueOf is a value as one of its column's type.
func valueOf(v any, kind string) (parquet.Value, error) {
	if v == nil {
		return parquet.NullValue(), nil
	}
	if kind == "string" {
		return parquet.ValueOf(fmt.Sprint(v)), nil
	}
	switch v := v.(type) {
	case bool:
		return parquet.ValueOf(v), nil
	case json.Number:
		if kind == "int64" {
			n, err := v.Int64()
			return parquet.ValueOf(n), err
		}
		x, err := v.Float64()
		return parquet.ValueOf(x), err
	}
	r := reflect.ValueOf(v)
	switch {
	case kind == "float64" && r.CanFloat():
		return parquet.ValueOf(r.Float()), nil
	case kind == "float64" && r.CanInt():
		return parquet.ValueOf(float64(r.Int())), nil
	case kind == "float64" && r.CanUint():
		return parquet.ValueOf(float64(r.Uint())), nil
	case r.CanInt():
		return parquet.ValueOf(r.Int()), nil
	case r.CanUint():
		return parquet.ValueOf(int64(r.Uint())), nil
	}
	return parquet.Value{}, fmt.Errorf("%v has no form in a file of columns", v)
}
