// Package onekey finds keys that an object of a JSON text has twice. Decoders take the last of them without a word, so that a copied
// or merged line would replace another one's value.
package onekey

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// few is how many keys of an object are compared one by one.
const few = 16

// object is an object, or a list, which has no keys.
type object struct {
	first int             // of its keys
	many  map[string]bool // all of them, if they are more than a few
}

// structural are the characters that lists and objects are made of, and that begin a string.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// inString are the characters that end a short string, or make it a special one.
var inString = [256]bool{'"': true, '\\': true}

// Check refuses a text with a key twice in one object; the error names the line. Whether the rest is JSON is for a decoder to say: the
// check is much faster than one.
func Check(data []byte) error {
	keys, open := make([][]byte, 0, 32), make([]object, 0, 8) // of the objects around a place, the innermost last
	for i := 0; i < len(data); i++ {
		if !structural[data[i]] {
			continue
		}
		switch data[i] {
		case '{', '[':
			open = append(open, object{first: len(keys)})
			continue
		case '}', ']':
			if len(open) == 0 {
				return nil
			}
			keys = keys[:open[len(open)-1].first]
			open = open[:len(open)-1]
			continue
		}
		from := i
		for i++; i < len(data) && !inString[data[i]]; i++ {
		}
		key := data[from+1 : i]
		if i < len(data) && data[i] == '\\' {
			i = from + length(data[from:]) - 1
			key = unescaped(data[from : i+1])
		}
		next := i + 1
		for next < len(data) && (data[next] == ' ' || data[next] == '\n' || data[next] == '\r' || data[next] == '\t') {
			next++
		}
		if next >= len(data) || data[next] != ':' || len(open) == 0 {
			continue
		}
		i = next
		at := &open[len(open)-1]
		if has(at, keys[at.first:], key) {
			return fmt.Errorf("line %d: the key %q is there twice in one object", 1+bytes.Count(data[:from], []byte{'\n'}), key)
		}
		keys = append(keys, key)
	}
	return nil
}

// has reports whether an object with so many keys has a key, and notes it among many.
func has(o *object, keys [][]byte, key []byte) bool {
	if len(keys) < few {
		for _, k := range keys {
			if len(k) == len(key) && string(k) == string(key) {
				return true
			}
		}
		return false
	}
	if o.many == nil {
		o.many = map[string]bool{}
		for _, k := range keys {
			o.many[string(k)] = true
		}
	}
	if o.many[string(key)] {
		return true
	}
	o.many[string(key)] = true
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
