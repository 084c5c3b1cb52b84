package document

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"slackline/model/unit"
)

// typed is a type that writes itself as JSON and says what it then is.
type typed interface{ JSONTypes() []string }

// schemas collects the definitions of structs.
type schemas struct {
	definitions Members[any]
	names       map[reflect.Type]string
}

// Schema is the JSON Schema (draft 2020-12) of a document, which has the type of one of the given values.
func Schema(name string, values ...any) any {
	s := &schemas{names: map[reflect.Type]string{}}
	var forms []any
	for _, v := range values {
		forms = append(forms, s.of(reflect.TypeOf(v), field{}))
	}
	top := Members[any]{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "slackline " + name}}
	if len(forms) == 1 {
		top = append(top, forms[0].(Members[any])...)
	} else {
		top = append(top, Member[any]{"anyOf", forms})
	}
	if len(s.definitions) > 0 {
		top = append(top, Member[any]{"$defs", s.definitions})
	}
	return top
}

func ofType(names ...string) Members[any] {
	if len(names) == 1 {
		return Members[any]{{"type", names[0]}}
	}
	return Members[any]{{"type", names}}
}

// of is the schema of a type, as encode writes its values.
func (s *schemas) of(t reflect.Type, f field) Members[any] {
	zero := reflect.Zero(t).Interface()
	switch zero.(type) {
	case json.Number, unit.Duration, unit.Sum, unit.PerByte:
		return ofType("number")
	case time.Duration:
		if f.unit == "ns" {
			return ofType("integer")
		}
		return ofType("number")
	}
	if m, ok := zero.(members); ok {
		return Members[any]{{"type", "object"}, {"additionalProperties", s.of(m.element(), f)}}
	}
	if m, ok := zero.(valued); ok && t.Kind() != reflect.Pointer {
		return s.of(reflect.TypeOf(m.JSONValue()), f)
	}
	if m, ok := zero.(typed); ok {
		return ofType(m.JSONTypes()...)
	}
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		switch m := zero.(type) {
		case json.Marshaler:
			return ofType(typeOf(m)...)
		case encoding.TextMarshaler:
			return ofType("string")
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), f)
	case reflect.Struct:
		return Members[any]{{"$ref", "#/$defs/" + s.define(t)}}
	case reflect.Map:
		return Members[any]{{"type", "object"}, {"additionalProperties", s.of(t.Elem(), f)}}
	case reflect.Slice:
		return Members[any]{{"type", "array"}, {"items", s.element(t.Elem(), f)}}
	case reflect.Array:
		return Members[any]{{"type", "array"}, {"items", s.element(t.Elem(), f)}, {"minItems", t.Len()}, {"maxItems", t.Len()}}
	case reflect.String:
		return ofType("string")
	case reflect.Bool:
		return ofType("boolean")
	case reflect.Float32, reflect.Float64:
		return ofType("number")
	case reflect.Interface:
		return Members[any]{}
	}
	return ofType("integer")
}

// typeOf is the type of what a value writes; empty where that is unknown.
func typeOf(m json.Marshaler) []string {
	text, err := m.MarshalJSON()
	if err != nil || len(text) == 0 {
		return []string{}
	}
	switch text[0] {
	case '{':
		return []string{"object"}
	case '[':
		return []string{"array"}
	case '"':
		return []string{"string"}
	case 'n':
		return []string{}
	}
	return []string{"number"}
}

// element is the schema of an element of a list; one that is a pointer to a number may be null.
func (s *schemas) element(t reflect.Type, f field) Members[any] {
	if t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Struct {
		return orNull(s.of(t, f))
	}
	return s.of(t, f)
}

// orNull also allows null.
func orNull(m Members[any]) Members[any] {
	if len(m) > 0 && m[0].Name == "type" {
		if name, ok := m[0].Value.(string); ok {
			m[0].Value = []string{name, "null"}
		}
		return m
	}
	if len(m) == 0 {
		return m
	}
	return Members[any]{{"anyOf", []any{m, ofType("null")}}}
}

// define adds the definition of a struct, once, and returns its name.
func (s *schemas) define(t reflect.Type) string {
	if name, ok := s.names[t]; ok {
		return name
	}
	name := s.nameOf(t)
	s.names[t] = name
	at := len(s.definitions)
	s.definitions = append(s.definitions, Member[any]{Name: name})
	properties, required := Members[any]{}, []string{}
	for _, f := range fieldsOf(t) {
		p := s.of(f.kind, f)
		if kind := f.kind.Kind(); f.nan || (kind == reflect.Pointer || kind == reflect.Map) && !f.omitEmpty && !f.omitZero {
			p = orNull(p)
		}
		if f.about != "" {
			p = append(p, Member[any]{"description", f.about})
		}
		properties = append(properties, Member[any]{f.name, p})
		if !f.omitEmpty && !f.omitZero && !f.optional {
			required = append(required, f.name)
		}
	}
	s.definitions[at].Value = Members[any]{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties",
		false}}
	return name
}

// nameOf is a name for a struct that no other one has.
func (s *schemas) nameOf(t reflect.Type) string {
	name := strings.ToLower(t.Name()[:min(1, len(t.Name()))]) + t.Name()[min(1, len(t.Name())):]
	if name == "" {
		name = "object"
	}
	for i, base := 2, name; ; i++ {
		if !slices.ContainsFunc(s.definitions, func(d Member[any]) bool { return d.Name == name }) {
			return name
		}
		name = fmt.Sprintf("%s%d", base, i)
	}
}
