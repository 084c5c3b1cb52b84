package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/jsonkeys"
	"slackline/internal/suggest"
)

// scanner walks through a JSON text in its order, which decoding into maps would
// lose, and knows where it is.
type scanner struct {
	name   string
	data   []byte
	dec    *json.Decoder
	before int // lines of the file before data
}

func newScanner(name string, data []byte) *scanner {
	return &scanner{name: name, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
}

// errorf returns an error at the place where the scanner is.
func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.name, s.before+lineOf(s.data, s.dec.InputOffset()), fmt.Sprintf(format, args...))
}

// plain describes what the decoder found in our words.
func (s *scanner) plain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var key *jsonkeys.Error
	switch {
	case errors.As(err, &key):
		return fmt.Errorf("%s:%d: %s", s.name, s.before+key.Line, key.Text)
	case errors.As(err, &syntax):
		return fmt.Errorf("%s:%d: is not JSON: %v", s.name, s.before+lineOf(s.data, syntax.Offset), syntax)
	case errors.As(err, &kind):
		return s.errorf("has a %s where a %s was expected", kind.Value, plainKind(kind.Type.Kind().String()))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return s.errorf("ends in the middle of the JSON text")
	}
	return s.errorf("%s", strings.Replace(err.Error(), "json: unknown field", "unknown key", 1))
}

func plainKind(kind string) string {
	switch kind {
	case "float64", "int", "int64":
		return "number"
	case "slice":
		return "list"
	case "struct", "map":
		return "object"
	}
	return kind
}

// object walks through the members of an object. member must read the value.
func (s *scanner) object(what string, member func(key string) error) error {
	t, err := s.dec.Token()
	if err != nil {
		return s.plain(err)
	}
	if t != json.Delim('{') {
		return s.errorf("%s must be an object", what)
	}
	for s.dec.More() {
		key, err := s.dec.Token()
		if err != nil {
			return s.plain(err)
		}
		if err := member(key.(string)); err != nil {
			return err
		}
	}
	if _, err := s.dec.Token(); err != nil {
		return s.plain(err)
	}
	return nil
}

// members walks through an object whose keys are all known and given once: what is under another key would be lost. It
// returns those that were there.
func (s *scanner) members(what string, keys []string, member func(key string) error) (map[string]bool, error) {
	seen := map[string]bool{}
	err := s.object(what, func(key string) error {
		switch {
		case !slices.Contains(keys, key):
			return s.errorf("unknown key %q in %s%s; the keys are %s", key, what, suggest.Phrase(key, keys), strings.Join(keys, ", "))
		case seen[key]:
			return s.errorf("%s has the key %q twice", what, key)
		}
		seen[key] = true
		return member(key)
	})
	return seen, err
}

// point reads an object with a place, under the key given, and values.
func (s *scanner) point(key string) (at point, v values, err error) {
	seen, err := s.members("a point", []string{key, "values"}, func(k string) error {
		if k == key {
			return s.value(&at)
		}
		return s.value(&v)
	})
	switch {
	case err != nil:
	case !seen[key]:
		err = s.errorf("a point has no %q", key)
	case !seen["values"]:
		err = s.errorf("a point has no \"values\"")
	case len(v) == 0:
		v = values{math.NaN()} // a list without any: one is missing
	}
	return at, v, err
}

// list walks through the entries of a list. entry must read the value.
func (s *scanner) list(what string, entry func() error) error {
	t, err := s.dec.Token()
	if err != nil {
		return s.plain(err)
	}
	if t != json.Delim('[') {
		return s.errorf("%s must be a list", what)
	}
	for s.dec.More() {
		if err := entry(); err != nil {
			return err
		}
	}
	if _, err := s.dec.Token(); err != nil {
		return s.plain(err)
	}
	return nil
}

// value decodes the next value.
func (s *scanner) value(into any) error {
	if err := s.dec.Decode(into); err != nil {
		return s.plain(err)
	}
	return nil
}

// later returns what reads the next value when it is called: a value that needs what comes after it.
func (s *scanner) later(read func(inner *scanner) error) (func() error, error) {
	var raw json.RawMessage
	if err := s.value(&raw); err != nil {
		return nil, err
	}
	at := s.dec.InputOffset() - int64(len(raw))
	return func() error {
		inner := newScanner(s.name, raw)
		inner.before = lineOf(s.data, at) - 1
		return read(inner)
	}, nil
}

// skip passes over the next value.
func (s *scanner) skip() error {
	var raw json.RawMessage
	return s.value(&raw)
}

// end refuses what follows the only value.
func (s *scanner) end() error {
	if _, err := s.dec.Token(); !errors.Is(err, io.EOF) {
		return s.errorf("goes on after the end of the JSON text")
	}
	return nil
}

// decoded returns a reader of a text that is one value.
func decoded[T any](read func(name string, file *T) (*Dataset, error)) func(name string, data []byte) (*Dataset, error) {
	return decodedBy(read, func(data []byte, _ any) error { return jsonkeys.Check(data, nil) })
}

// decodedResult returns a reader of a result of a verb, whose damaged keys are noticed.
func decodedResult[T any](read func(name string, file *T) (*Dataset, error)) func(name string, data []byte) (*Dataset, error) {
	return decodedBy(read, jsonkeys.Check)
}

// decodedRun is decodedResult for results of runs, whose sums are checked.
func decodedRun[T any](read func(name string, file *T) (*Dataset, error)) func(name string, data []byte) (*Dataset, error) {
	return decodedBy(read, func(data []byte, into any) error {
		if err := jsonkeys.Check(data, into); err != nil {
			return err
		}
		return CheckSums(data)
	})
}

func decodedBy[T any](read func(name string, file *T) (*Dataset, error), check func(data []byte, into any) error) func(name string,
	data []byte) (*Dataset, error) {
	return func(name string, data []byte) (*Dataset, error) {
		s := newScanner(name, data)
		file := new(T)
		err := s.value(file)
		if err == nil {
			err = s.end()
		}
		if err == nil {
			if err = check(data, file); err != nil {
				err = s.plain(err)
			}
		}
		if err != nil {
			return nil, err
		}
		return read(name, file)
	}
}

// values are repetitions; null is a missing one.
type values []float64

// UnmarshalJSON reads a number or a list of numbers; what is missing becomes NaN.
// The text is known to be JSON, so that a comma can only be between numbers.
func (v *values) UnmarshalJSON(data []byte) error {
	*v = (*v)[:0]
	if bytes.HasPrefix(data, []byte("[")) {
		data = bytes.TrimSpace(data[1 : len(data)-1])
		if len(data) == 0 {
			return nil
		}
	}
	if *v == nil {
		*v = make(values, 0, 1+bytes.Count(data, []byte(",")))
	}
	for more := true; more; {
		var field []byte
		field, data, more = bytes.Cut(data, []byte(","))
		field = bytes.TrimSpace(field)
		x := math.NaN()
		if string(field) != "null" {
			if len(field) == 0 || field[0] != '-' && (field[0] < '0' || field[0] > '9') {
				return fmt.Errorf("has %s where a number was expected", field)
			}
			var err error
			if x, err = strconv.ParseFloat(string(field), 64); err != nil {
				return fmt.Errorf("the number %s is too large", field)
			}
		}
		*v = append(*v, x)
	}
	return nil
}

// hasKey reports whether the head of a JSON text has an object key near its
// beginning: at any depth, since the text may not be complete.
func hasKey(head []byte, key string) bool {
	i := bytes.Index(head, []byte(`"`+key+`"`))
	return i >= 0 && bytes.HasPrefix(bytes.TrimLeft(head[i+len(key)+2:], " \t\n"), []byte(":"))
}

// isObject reports whether the text begins as a JSON object.
func isObject(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\n"), []byte("{"))
}
