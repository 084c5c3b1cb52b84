package parquetfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// WriteValues writes rows whose columns are known by name only, each value a string, a number, a bool, a json.Number or
// nil. A column whose name tells a unit of time or frequency holds float64; others have the type that all their values fit
// into: bool, int64, float64, else string. The rows are gone through twice; their slices may be used again by those who
// yield them.
func WriteValues(w io.Writer, table string, names []string, rows iter.Seq[[]any]) error {
	columns := make([]Column, len(names))
	nodes := parquet.Group{}
	types := make([]string, len(names))
	for i, name := range names {
		if unit := unitOf(name); unit != "" && unit != "B" {
			types[i] = "float64" // also if all of them are whole, or missing
		}
	}
	for row := range rows {
		for i, v := range row {
			types[i] = wider(types[i], typeOf(v, names[i]))
		}
	}
	for i, name := range names {
		columns[i] = Column{Name: name, Unit: unitOf(name), Missing: true, Type: cmp.Or(types[i], "string")}
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
	row := make(parquet.Row, len(names))
	for values := range rows {
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

// typeOf is the type of a value in a column of that name; empty: it is missing. A number as text is one if the column has
// a unit.
func typeOf(v any, name string) string {
	if v == nil {
		return ""
	}
	_, isNumber := v.(json.Number)
	switch r := reflect.ValueOf(v); {
	case r.Kind() == reflect.Bool:
		return "bool"
	case isNumber || r.Kind() == reflect.String && unitOf(name) != "":
		return typeOfText(r.String())
	case r.CanFloat():
		return "float64"
	case r.CanInt(), r.CanUint():
		return "int64"
	}
	return "string"
}

// wider is the type that values of two types fit into.
func wider(a, b string) string {
	switch {
	case a == b || b == "":
		return a
	case a == "":
		return b
	case a == "bool" || b == "bool" || a == "string" || b == "string":
		return "string"
	}
	return "float64"
}

func typeOfText(number string) string {
	if _, err := strconv.ParseInt(number, 10, 64); err == nil {
		return "int64"
	}
	if _, err := strconv.ParseFloat(number, 64); err == nil {
		return "float64"
	}
	return "string"
}

// valueOf is a value as one of its column's type.
func valueOf(v any, kind string) (parquet.Value, error) {
	if v == nil {
		return parquet.NullValue(), nil
	}
	if kind == "string" {
		return parquet.ValueOf(fmt.Sprint(v)), nil
	}
	if v, ok := v.(bool); ok {
		return parquet.ValueOf(v), nil
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.String:
		return numberOf(r.String(), kind)
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

// numberOf is a number as text as a value.
func numberOf(text, kind string) (parquet.Value, error) {
	if kind == "int64" {
		n, err := strconv.ParseInt(text, 10, 64)
		return parquet.ValueOf(n), err
	}
	x, err := strconv.ParseFloat(text, 64)
	return parquet.ValueOf(x), err
}
