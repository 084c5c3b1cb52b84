package jsonkeys

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"slackline/internal/suggest"
)

// shape is what is known of the keys of objects, as encoding/json decodes them. A list has that of its elements.
type shape struct {
	name  string // of the key that holds the objects; empty: the whole text
	known []string
	keys  map[string]*entry // of known keys, and of those that were looked up
	rest  *entry            // of all keys, if any may be there
	usual []*entry          // the keys of one object, in their order: those of most others are the same
}

// entry is what a key is.
type entry struct {
	text  string
	value *shape   // of what it holds; nil: nothing is known of it
	near  []string // the known keys that it resembles, if it is not one
	wrong string   // why it is refused wherever it is
}

// shapeOf is the shape of what is decoded into a value; nil: nothing is known of it.
func shapeOf(into any) *shape {
	if into == nil {
		return nil
	}
	b := builder{}
	return b.of(reflect.TypeOf(into), "")
}

// builder keeps the shapes that it makes: types may hold themselves.
type builder map[place]*shape

type place struct {
	in   reflect.Type
	name string
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (b builder) of(t reflect.Type, name string) *shape {
	for {
		if reflect.PointerTo(t).Implements(unmarshaler) {
			return nil // it decodes itself
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			t = t.Elem()
			continue
		case reflect.Map:
			return &shape{name: name, rest: &entry{value: b.of(t.Elem(), name)}}
		case reflect.Struct:
			if s := b[place{t, name}]; s != nil {
				return s
			}
			s := &shape{name: name, keys: map[string]*entry{}}
			b[place{t, name}] = s
			for _, f := range reflect.VisibleFields(t) {
				tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if f.Anonymous && tag == "" || !f.IsExported() || tag == "-" {
					continue // the fields of an embedded struct are visible, too
				}
				if tag == "" {
					tag = f.Name
				}
				s.known = append(s.known, tag)
				s.keys[tag] = &entry{text: tag, value: b.of(f.Type, tag)}
			}
			return s
		}
		return nil
	}
}

// find returns what a key is. It keeps that: most objects of a text have the same keys.
func (s *shape) find(text []byte) *entry {
	if s.rest != nil {
		return s.rest
	}
	if e := s.keys[string(text)]; e != nil {
		return e
	}
	e := &entry{text: string(text)}
	for _, known := range s.known {
		switch {
		case strings.EqualFold(known, string(text)): // decoders take it for that
			e.wrong = s.unknown(text, known)
		case Resemble(string(text), known):
			e.near = append(e.near, known)
		}
	}
	s.keys[string(text)] = e
	return e
}

// usual returns what the key at a place of an object is, if all keys up to it are as usual; then it is not there twice. Else nil.
func (o *object) usual(place int, text []byte) *entry {
	if o.of == nil || o.unusual || o.many != nil || place >= len(o.of.usual) || o.of.usual[place].text != string(text) {
		return nil
	}
	return o.of.usual[place]
}

// learn notes that a key at a place is not a usual one, or is the next of these.
func (o *object) learn(place int, e *entry) {
	if o.unusual = o.unusual || place != len(o.of.usual) || o.of.rest != nil; !o.unusual {
		o.of.usual = append(o.of.usual, e)
	}
}

// unknown says that a key is not known, and which one is probably meant.
func (s *shape) unknown(text []byte, meant string) string {
	message := fmt.Sprintf("unknown key %q", text)
	if s.name != "" {
		message += " in " + s.name
	}
	return message + "; did you mean " + meant + "?"
}

// Resemble reports whether so few letters make a key another one that it is a damaged one: two, or one of short keys.
func Resemble(text, known string) bool {
	long, short := utf8.RuneCountInString(text), utf8.RuneCountInString(known)
	if long < short {
		long, short = short, long
	}
	letters := 2
	if long <= 4 {
		letters = 1
	}
	return long-short <= letters && suggest.Distance(text, known) <= letters
}
