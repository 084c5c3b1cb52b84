package columnfile

import (
	"io"
	"reflect"
	"unsafe"

	"slackline/internal/arrowfile"
)

// arrowTypes are the types of columns in Arrow files.
var arrowTypes = map[string]arrowfile.Type{
	"bool": arrowfile.Bool, "int32": arrowfile.Int32, "int64": arrowfile.Int64, "float64": arrowfile.Float64, "string": arrowfile.String,
}

// arrowPass is one of the two passes over the rows of an Arrow file: the first gathers the strings, the second writes the rows.
type arrowPass[T any] struct {
	*arrowfile.Writer
	columns []Column
	texts   bool
	add     func(c *arrowfile.Column, rows []T, i int) // appends the values of column i
}

func arrowPasses[T any](w io.Writer, columns []Column, metadata [][2]string, add func(*arrowfile.Column, []T, int)) []encoder[T] {
	fields := make([]arrowfile.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrowfile.Field{Name: c.Name, Type: arrowTypes[c.Type], Nullable: c.Missing}
		for _, m := range [][2]string{{"unit", c.Unit}, {"meaning", c.Meaning}} {
			if m[1] != "" {
				fields[i].Metadata = append(fields[i].Metadata, m)
			}
		}
	}
	file := arrowfile.NewWriter(w, fields, metadata)
	return []encoder[T]{arrowPass[T]{file, columns, true, add}, arrowPass[T]{file, columns, false, add}}
}

func (a arrowPass[T]) Write(rows []T) (int, error) {
	for i, c := range a.columns {
		if !a.texts || c.Type == "string" {
			a.add(&a.Columns[i], rows, i)
		}
	}
	if a.Rows() < rowsPerGroup {
		return len(rows), nil
	}
	return len(rows), a.Flush()
}

func (a arrowPass[T]) Close() error {
	if a.texts {
		return a.WriteSchema()
	}
	return a.Writer.Close()
}

// addFields appends a field of rows that are structs.
func addFields[T any](c *arrowfile.Column, rows []T, i int) {
	field := reflect.TypeFor[T]().Field(i)
	kind, missing := field.Type, field.Type.Kind() == reflect.Pointer
	if missing {
		kind = kind.Elem()
	}
	switch kind.Kind() {
	case reflect.Bool:
		eachField(c, rows, field.Offset, missing, c.AppendBool)
	case reflect.Int32:
		eachField(c, rows, field.Offset, missing, func(v int32) { c.AppendInt(int64(v)) })
	case reflect.Int64:
		eachField(c, rows, field.Offset, missing, c.AppendInt)
	case reflect.Float64:
		eachField(c, rows, field.Offset, missing, c.AppendFloat)
	case reflect.String:
		eachField(c, rows, field.Offset, missing, c.AppendText)
	}
}

// eachField appends the field of type V at an offset of the rows, or of type *V if it may be missing. It reads them without
// package reflect, which takes as long as all the rest.
func eachField[T, V any](c *arrowfile.Column, rows []T, offset uintptr, missing bool, add func(V)) {
	for i := range rows {
		at := unsafe.Add(unsafe.Pointer(&rows[i]), offset)
		if !missing {
			add(*(*V)(at))
		} else if v := *(**V)(at); v != nil {
			add(*v)
		} else {
			c.AppendNull()
		}
	}
}

// addValues appends values of rows that valueOf made.
func addValues(c *arrowfile.Column, rows [][]any, i int) {
	for _, row := range rows {
		switch v := row[i].(type) {
		case nil:
			c.AppendNull()
		case bool:
			c.AppendBool(v)
		case int64:
			c.AppendInt(v)
		case float64:
			c.AppendFloat(v)
		case string:
			c.AppendText(v)
		}
	}
}
