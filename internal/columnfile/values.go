package columnfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"
)

// WriteValues writes rows whose columns are known by name only, each value a string, a number, a bool, a json.Number or
// nil. A column whose name tells a unit of time or frequency holds float64; others have the type that all their values fit
// into: bool, int64, float64, else string. The rows are gone through more than once; their slices may be used again by those who
// yield them.
func WriteValues(w io.Writer, f Format, table string, names []string, rows iter.Seq[[]any]) error {
	columns, err := columnsOfValues(table, names, rows)
	if err != nil {
		return err
	}
	described, err := metadata(table, columns)
	if err != nil {
		return err
	}
	var passes []encoder[[]any]
	if f == Arrow {
		passes = arrowPasses(w, columns, described, addValues)
	} else {
		passes = []encoder[[]any]{newParquetValues(w, table, columns, described)}
	}
	row := [][]any{make([]any, len(names))}
	for _, to := range passes {
		for values := range rows {
			for i, v := range values {
				if row[0][i], err = valueOf(v, columns[i].Type); err != nil {
					return fmt.Errorf("table %s, column %s: %w", table, names[i], err)
				}
			}
			if _, err := to.Write(row); err != nil {
				return err
			}
		}
		if err := to.Close(); err != nil {
			return err
		}
	}
	return nil
}

// columnsOfValues are the columns of rows with these names.
func columnsOfValues(table string, names []string, rows iter.Seq[[]any]) ([]Column, error) {
	columns := make([]Column, len(names))
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("table %s has two columns of the same name, %s", table, name)
		}
		columns[i] = Column{Name: name, Unit: unitOf(name), Missing: true}
		if unit := columns[i].Unit; unit != "" && unit != "B" {
			columns[i].Type = "float64" // also if all of them are whole, or missing
		}
	}
	for row := range rows {
		for i, v := range row {
			columns[i].Type = wider(columns[i].Type, typeOf(v, names[i]))
		}
	}
	for i := range columns {
		columns[i].Type = cmp.Or(columns[i].Type, "string")
	}
	return columns, nil
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

// valueOf is a value as one of its column's type: a bool, int64, float64 or string; nil: it is missing.
func valueOf(v any, kind string) (any, error) {
	if v == nil {
		return nil, nil
	}
	if kind == "string" {
		return fmt.Sprint(v), nil
	}
	if v, ok := v.(bool); ok {
		return v, nil
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.String && kind == "int64":
		return strconv.ParseInt(r.String(), 10, 64)
	case r.Kind() == reflect.String:
		return strconv.ParseFloat(r.String(), 64)
	case kind == "float64" && r.CanFloat():
		return r.Float(), nil
	case kind == "float64" && r.CanInt():
		return float64(r.Int()), nil
	case kind == "float64" && r.CanUint():
		return float64(r.Uint()), nil
	case r.CanInt():
		return r.Int(), nil
	case r.CanUint():
		return int64(r.Uint()), nil
	}
	return nil, fmt.Errorf("%v has no form in a file of columns", v)
}
