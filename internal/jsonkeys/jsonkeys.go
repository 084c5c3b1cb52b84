// Package jsonkeys finds keys of a JSON text that a decoder gets wrong without a word. Of a key that an object has twice it takes the
// last, so that a copied or merged line would replace another one's value; a key that a damaged letter made unknown it passes over.
package jsonkeys

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Error is a wrong key.
type Error struct {
	Line int // from 1
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// few is how many keys of an object are compared one by one.
const few = 16

// key is one of an object, and where its string begins.
type key struct {
	text []byte
	at   int
}

// object is an object, or a list, which has no keys.
type object struct {
	first   int             // of its keys
	many    map[string]bool // all of them, if they are more than a few
	of      *shape          // of the object
	value   *shape          // of the value that comes next
	unusual bool            // the keys are not the first ones of of.usual
	suspect bool            // a key resembles a known one
}

// structural are the characters that lists and objects are made of, and that begin a string.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// inString are the characters that end a short string, or make it a special one.
var inString = [256]bool{'"': true, '\\': true}

// Check refuses a text with a key twice in one object, and, unless the value that it is decoded into is nil, with keys that one or two
// letters turn into keys of that value which are not there. Other unknown keys may be those of a later version. The error is an *Error.
// Whether the rest is JSON is for a decoder to say: the check is much faster than one.
func Check(data []byte, into any) error {
	keys, open := make([]key, 0, 32), make([]object, 0, 8) // of the objects around a place, the innermost last
	next := shapeOf(into)                                  // of the value that comes next
	for i := 0; i < len(data); i++ {
		if !structural[data[i]] {
			continue
		}
		switch data[i] {
		case '{', '[':
			if len(open) > 0 {
				next = open[len(open)-1].value
			}
			open = append(open, object{first: len(keys), of: next, value: next})
			continue
		case '}', ']':
			if len(open) == 0 {
				return nil
			}
			at := &open[len(open)-1]
			if at.suspect {
				if err := at.damaged(data, keys[at.first:]); err != nil {
					return err
				}
			}
			keys = keys[:at.first]
			open = open[:len(open)-1]
			continue
		}
		from := i
		for i++; i < len(data) && !inString[data[i]]; i++ {
		}
		text := data[from+1 : i]
		if i < len(data) && data[i] == '\\' {
			i = from + length(data[from:]) - 1
			text = unescaped(data[from : i+1])
		}
		colon := i + 1
		for colon < len(data) && (data[colon] == ' ' || data[colon] == '\n' || data[colon] == '\r' || data[colon] == '\t') {
			colon++
		}
		if colon >= len(data) || data[colon] != ':' || len(open) == 0 {
			continue
		}
		i = colon
		at := &open[len(open)-1]
		found := at.usual(len(keys)-at.first, text)
		if found == nil && has(at, keys[at.first:], text) {
			return wrong(data, from, "the key %q is there twice in one object", text)
		}
		if found == nil && at.of != nil {
			if found = at.of.find(text); found.wrong != "" {
				return wrong(data, from, "%s", found.wrong)
			}
			at.learn(len(keys)-at.first, found)
		}
		if found != nil {
			at.value = found.value
			at.suspect = at.suspect || len(found.near) > 0
		}
		keys = append(keys, key{text, from})
	}
	return nil
}

// damaged is the error of the first key that resembles one that is not there.
func (o *object) damaged(data []byte, keys []key) error {
	for _, k := range keys {
		for _, near := range o.of.find(k.text).near {
			there := false
			for _, other := range keys {
				there = there || string(other.text) == near
			}
			if !there {
				return wrong(data, k.at, "%s", o.of.unknown(k.text, near))
			}
		}
	}
	return nil
}

func wrong(data []byte, at int, format string, args ...any) error {
	return &Error{1 + bytes.Count(data[:at], []byte{'\n'}), fmt.Sprintf(format, args...)}
}

// has reports whether an object with so many keys has a key, and notes it among many.
func has(o *object, keys []key, text []byte) bool {
	if len(keys) < few {
		for _, k := range keys {
			if len(k.text) == len(text) && string(k.text) == string(text) {
				return true
			}
		}
		return false
	}
	if o.many == nil {
		o.many = map[string]bool{}
		for _, k := range keys {
			o.many[string(k.text)] = true
		}
	}
	if o.many[string(text)] {
		return true
	}
	o.many[string(text)] = true
	return false
}

// length is that of the string that a text begins with.
func length(text []byte) int {
	for i := 1; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			break
		}
		slashes := 0
		for i += n; text[i-1-slashes] == '\\'; slashes++ {
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(text)
}

// unescaped is the text of a string.
func unescaped(text []byte) []byte {
	var key string
	if json.Unmarshal(text, &key) != nil {
		return text
	}
	return []byte(key)
}
