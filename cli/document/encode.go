// Package document writes the results of verbs as JSON, and the schemas of these documents.
//
// A result is a struct with json tags. The suffix of a key names the unit of its value, and the value is exact: a
// unit.Duration is written as a decimal number of nanoseconds in a member x_ns, of seconds in x_s, of picoseconds in x_ps;
// the tag unit:"s" names the unit where a key has none. A type with a method JSONValue is written as what that returns.
// A list is never null. A number that is not finite is an error, unless its field is tagged nan:"null". In all else the
// rules are those of encoding/json.
package document

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"slackline/model/unit"
)

// Members is an object whose members keep their order.
type Members[T any] []Member[T]

// A Member is a named value of an object.
type Member[T any] struct {
	Name  string
	Value T
}

// members lets Members of all types be handled alike.
type members interface {
	all(yield func(name string, value reflect.Value) error) error
	element() reflect.Type
}

func (m Members[T]) all(yield func(string, reflect.Value) error) error {
	for i := range m {
		if err := yield(m[i].Name, reflect.ValueOf(&m[i].Value).Elem()); err != nil {
			return err
		}
	}
	return nil
}

// valued is a type that is written as another one.
type valued interface{ JSONValue() any }

func (Members[T]) element() reflect.Type { return reflect.TypeFor[T]() }

// Write writes a result. Short objects and lists of plain values are on one line each.
func Write(w io.Writer, result any) error {
	b, err := encode(nil, reflect.ValueOf(result), field{})
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	layOut(out, b, 0)
	out.WriteByte('\n')
	return out.Flush()
}

// field is what the tags of a field say about its value.
type field struct {
	name      string
	unit      string
	index     []int
	kind      reflect.Type
	about     string // what it is, for the schema
	omitEmpty bool
	omitZero  bool
	nan       bool // may be null, for a number that is not finite
	optional  bool // it belongs to an embedded struct that may be missing
}

// newField is a field by its name, whose suffix is its unit.
func newField(name string) field {
	return field{name: name, unit: name[strings.LastIndexByte(name, '_')+1:]}
}

// known are the fields of structs, by type.
var known sync.Map

// fieldsOf lists the members of a struct, with those of embedded structs in their place, unless it has one of the same name itself.
func fieldsOf(t reflect.Type) []field {
	if list, ok := known.Load(t); ok {
		return list.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case tag == "-":
		case f.Anonymous && !tagged && inner.Kind() == reflect.Struct:
			for _, e := range fieldsOf(inner) {
				e.index = slices.Concat([]int{i}, e.index)
				e.optional = e.optional || inner != f.Type
				list = append(list, e)
			}
		case f.IsExported():
			words := strings.Split(options, ",")
			name = cmp.Or(name, f.Name)
			x := newField(name)
			x.index, x.kind, x.nan = []int{i}, f.Type, f.Tag.Get("nan") == "null"
			x.about = f.Tag.Get("about")
			x.omitEmpty, x.omitZero = slices.Contains(words, "omitempty"), slices.Contains(words, "omitzero")
			if unit := f.Tag.Get("unit"); unit != "" {
				x.unit = unit
			}
			list = append(list, x)
		}
	}
	all := slices.Clone(list)
	list = slices.DeleteFunc(list, func(f field) bool {
		return slices.ContainsFunc(all, func(o field) bool { return o.name == f.name && len(o.index) < len(f.index) })
	})
	known.Store(t, list)
	return list
}

// encode appends a value as JSON without blanks.
func encode(b []byte, v reflect.Value, f field) ([]byte, error) {
	if !v.IsValid() {
		return append(b, "null"...), nil
	}
	if done, ok, err := encodeQuantity(b, v, f); ok || err != nil {
		return done, err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
	}
	switch x := v.Interface().(type) {
	case members:
		return encodeMembers(b, x)
	case valued:
		return encode(b, reflect.ValueOf(x.JSONValue()), f)
	}
	if done, ok, err := encodeMarshaler(b, v); ok || err != nil {
		return done, err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return encode(b, v.Elem(), f)
	case reflect.Struct:
		return encodeStruct(b, v)
	case reflect.Map:
		return encodeMap(b, v, f)
	case reflect.Slice, reflect.Array:
		return encodeList(b, v, f)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); f.nan && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return append(b, "null"...), nil
		}
	}
	return appendPlain(b, v.Interface())
}

// encodeQuantity appends what has a unit; not ok: the value has none.
func encodeQuantity(b []byte, v reflect.Value, f field) (done []byte, ok bool, err error) {
	switch x := v.Interface().(type) {
	case unit.Duration:
		switch f.unit {
		case "ns":
			return x.AppendNS(b), true, nil
		case "s", "seconds":
			return append(b, x.Seconds()...), true, nil
		case "ps":
			return strconv.AppendInt(b, int64(x), 10), true, nil
		}
		return nil, true, fmt.Errorf("document: the name %q has no unit of time", f.name)
	case unit.Sum:
		switch f.unit {
		case "ns":
			return append(b, x.NS()...), true, nil
		case "s", "seconds":
			return append(b, x.Seconds()...), true, nil
		}
		return nil, true, fmt.Errorf("document: the name %q has no unit of a sum of times", f.name)
	case []unit.Duration:
		if f.unit == "ns" {
			return unit.AppendNSList(b, x), true, nil
		}
	case unit.PerByte:
		return append(b, strings.TrimSuffix(x.String(), "ns")...), true, nil
	case time.Duration:
		if f.unit == "s" || f.unit == "seconds" {
			b, err = appendPlain(b, x.Seconds())
			return b, true, err
		}
	}
	return nil, false, nil
}

// encodeMarshaler appends what a value says about itself; not ok: it says nothing.
func encodeMarshaler(b []byte, v reflect.Value) (done []byte, ok bool, err error) {
	switch x := v.Interface().(type) {
	case json.Marshaler:
		text, err := x.MarshalJSON()
		if err != nil {
			return nil, true, err
		}
		into := bytes.NewBuffer(b)
		err = json.Compact(into, text)
		return into.Bytes(), true, err
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return nil, true, err
		}
		b, err = appendPlain(b, string(text))
		return b, true, err
	}
	return nil, false, nil
}

// appendPlain appends a string, a number or a truth value. Call paths have -> in them: it is not escaped.
func appendPlain(b []byte, value any) ([]byte, error) {
	into := bytes.NewBuffer(b)
	e := json.NewEncoder(into)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(into.Bytes(), []byte{'\n'}), err
}

func encodeStruct(b []byte, v reflect.Value) ([]byte, error) {
	b = append(b, '{')
	for _, f := range fieldsOf(v.Type()) {
		x, err := v.FieldByIndexErr(f.index)
		if err != nil || f.omitEmpty && isEmpty(x) || f.omitZero && isZero(x) {
			continue // of an embedded struct that is missing, or without a value
		}
		if b, err = encodeMember(b, f, x); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func encodeMember(b []byte, f field, v reflect.Value) ([]byte, error) {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b, err := appendPlain(b, f.name)
	if err != nil {
		return nil, err
	}
	return encode(append(b, ':'), v, f)
}

func encodeMembers(b []byte, list members) ([]byte, error) {
	b = append(b, '{')
	err := list.all(func(name string, v reflect.Value) (err error) {
		b, err = encodeMember(b, newField(name), v)
		return err
	})
	return append(b, '}'), err
}

// encodeMap writes a map in the order of its keys as texts. Its values are in the unit of the map.
func encodeMap(b []byte, v reflect.Value, f field) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	values := map[string]reflect.Value{}
	for key, value := range v.Seq2() {
		values[fmt.Sprint(key.Interface())] = value
	}
	b = append(b, '{')
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var err error
		f.name = name
		if b, err = encodeMember(b, f, values[name]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func encodeList(b []byte, v reflect.Value, f field) ([]byte, error) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = encode(b, v.Index(i), f); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// isZero is what omitzero means in encoding/json.
func isZero(v reflect.Value) bool {
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok && v.Kind() != reflect.Pointer {
		return z.IsZero()
	}
	return v.IsZero()
}

// isEmpty is what omitempty means in encoding/json.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
