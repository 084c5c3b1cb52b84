package kineto

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
)

// jsonStream reads a JSON file piece by piece: its buffer holds at least the value that is being read.
type jsonStream struct {
	in     io.Reader
	buf    []byte
	at     int   // what was read
	offset int64 // of the buffer in the file
	err    error // that ended the input
}

// maxJSONValue is the largest value that is held in memory; an event has some hundred bytes.
const maxJSONValue = 64 << 20

const jsonStep = 128 << 10 // what the caches hold

// errJSONCut states that the file ends in the middle of a value.
var errJSONCut = errors.New("the file ends in the middle: it is truncated")

// errZeroByte states that a string holds what no text holds: a part of the file was never written, or is overwritten.
var errZeroByte = errors.New("a byte 0 in a string: a part of the file is lost")

// errListCut states that it ends after a whole element of the list.
var errListCut = fmt.Errorf("%w", errJSONCut)

// more makes more of the file available, from the current place on; false if there is no more.
func (s *jsonStream) more() bool {
	if s.err != nil {
		return false
	}
	left := len(s.buf) - s.at
	if left >= maxJSONValue {
		s.err = fmt.Errorf("a value is longer than %d MiB", maxJSONValue>>20)
		return false
	}
	copy(s.buf, s.buf[s.at:])
	s.offset += int64(s.at)
	s.buf, s.at = s.buf[:left], 0
	if cap(s.buf)-left < jsonStep/2 {
		grown := make([]byte, left, max(jsonStep, 2*cap(s.buf)))
		copy(grown, s.buf)
		s.buf = grown
	}
	for {
		n, err := s.in.Read(s.buf[left:cap(s.buf)])
		s.buf = s.buf[:left+n]
		if err != nil {
			s.err = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
}

// next returns the next character that is not space, without taking it; false at the end of the file.
func (s *jsonStream) next() (byte, bool) {
	for {
		for s.at < len(s.buf) {
			if c := s.buf[s.at]; !isSpace(c) {
				return c, true
			}
			s.at++
		}
		if !s.more() {
			return 0, false
		}
	}
}

// value takes a whole value: its bytes are valid until the next call.
func (s *jsonStream) value() ([]byte, error) {
	if _, ok := s.next(); !ok {
		return nil, s.cut()
	}
	for {
		n, err := jsonLength(s.buf[s.at:])
		switch {
		case err == nil && (s.at+n < len(s.buf) || s.err != nil): // a number may go on
			v := s.buf[s.at : s.at+n]
			s.at += n
			return v, nil
		case err != nil && !errors.Is(err, errJSONCut):
			return nil, err
		}
		if !s.more() {
			if err == nil {
				continue
			}
			return nil, s.cut()
		}
	}
}

// cut is why the file ends too early.
func (s *jsonStream) cut() error {
	if s.err != nil && !errors.Is(s.err, io.EOF) && !errors.Is(s.err, io.ErrUnexpectedEOF) {
		return s.err
	}
	return errJSONCut
}

// take takes a character.
func (s *jsonStream) take(want byte) error {
	c, ok := s.next()
	if !ok {
		return s.cut()
	}
	if c != want {
		return fmt.Errorf("expected %q, got %q", want, c)
	}
	s.at++
	return nil
}

// end reports what follows the value that is the file.
func (s *jsonStream) end() error {
	if c, ok := s.next(); ok {
		return fmt.Errorf("unexpected %q after the end of the trace; one file holds one trace", c)
	}
	if err := s.cut(); !errors.Is(err, errJSONCut) {
		return err
	}
	return nil
}

// jsonLength is the length of the value that b begins with; errJSONCut if it is not all there.
func jsonLength(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, errJSONCut
	}
	switch b[0] {
	case '"':
		return stringLength(b)
	case '{':
		return braceLength(b)
	case '[':
		return braceLength(b)
	}
	for i, c := range b {
		if inNumber[c] {
			continue
		}
		if i > 0 && ends[c] {
			return i, nil
		}
		return wordLength(b)
	}
	return len(b), nil
}

// wordLength is the length of the word that b begins with; it may go on if it is all of b.
func wordLength(b []byte) (int, error) {
	length := slices.IndexFunc(b, func(c byte) bool { return ends[c] })
	switch {
	case length < 0:
		return len(b), nil
	case length == 0:
		return 0, fmt.Errorf("unexpected %q", b[0])
	case !isWord(b[:length]):
		return 0, fmt.Errorf("%q is not a value", b[:min(length, 40)])
	}
	return length, nil
}

// isWord reports whether a value is one of JSON's words, or of those that Python writes for numbers that are none.
func isWord(b []byte) bool {
	switch string(b) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return true
	}
	return false
}

// ends are the characters that end a number or a word.
var ends = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\r': true, '\t': true, ':': true}

// inNumber are the characters of numbers.
var inNumber = [256]bool{'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'-': true, '+': true, '.': true, 'e': true, 'E': true}

// inString are the characters of a string that are not plain.
var inString = [256]bool{'"': true, '\\': true, 0: true}

// structural are the characters that lists and objects are made of, and that begin a string.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// shortString is how many characters of a string are looked at one by one; most names are shorter.
const shortString = 24

// stringLength is the length of the string that b begins with, with its quotes.
func stringLength(b []byte) (int, error) {
	for i, c := range b[1:min(len(b), shortString)] {
		if !inString[c] {
			continue
		}
		if c == '"' {
			return i + 2, nil
		}
		break
	}
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0, errJSONCut
		}
		if bytes.IndexByte(b[i:i+n], 0) >= 0 {
			return 0, errZeroByte
		}
		i += n + 1
		if b[i-2] != '\\' {
			return i, nil
		}
		slashes := 0
		for k := i - 2; k > 0 && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i, nil
		}
	}
}

// braceLength is the length of the object or list that b begins with.
func braceLength(b []byte) (int, error) {
	return closing(b, 0, 0)
}

// closing is the place after the brace that closes an object or list, from a place in it on that is so many braces deep.
func closing(b []byte, from, depth int) (int, error) {
	for i := from; i < len(b); i++ {
		if !structural[b[i]] {
			continue
		}
		switch b[i] {
		case '"':
			n, err := stringLength(b[i:])
			if err != nil {
				return 0, err
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
	}
	return 0, errJSONCut
}

// members calls visit with the keys and values of an object, without the quotes of the keys; an error ends it.
func members(b []byte, visit func(key, value []byte) error) error {
	for i := 1; ; {
		key, i2, err := memberAt(b, i)
		if i = i2; err != nil || key == nil {
			return err
		}
		n, err := jsonLength(b[i:])
		if err != nil {
			return err
		}
		if err := visit(key, b[i:i+n]); err != nil {
			return err
		}
		i += n
	}
}

// memberAt returns the name of the member of an object that comes at a place, which is after the brace or after a value, and where its
// value begins; nil and the place after the brace where the object ends.
func memberAt(b []byte, i int) (key []byte, value int, err error) {
	first := i == 1
	if i = skipSpace(b, i); i >= len(b) {
		return nil, i, errJSONCut
	}
	switch {
	case b[i] == '}':
		return nil, i + 1, nil
	case !first && b[i] != ',':
		return nil, i, fmt.Errorf("expected a comma between members, got %q", b[i])
	case !first:
		if i = skipSpace(b, i+1); i >= len(b) {
			return nil, i, errJSONCut
		}
	}
	if b[i] != '"' {
		return nil, i, fmt.Errorf("expected the name of a member, got %q", b[i])
	}
	n, err := stringLength(b[i:])
	if err != nil {
		return nil, i, err
	}
	key = b[i+1 : i+n-1]
	for _, c := range key {
		if c < ' ' {
			return nil, i, fmt.Errorf("a control character in the name of a member: %q", key[:min(len(key), 40)])
		}
	}
	if i = skipSpace(b, i+n); i >= len(b) {
		return nil, i, errJSONCut
	}
	if b[i] != ':' {
		return nil, i, fmt.Errorf("expected a colon after the name of a member, got %q", b[i])
	}
	return key, skipSpace(b, i+1), nil
}

// isSpace reports whether a character is 1 to 32: a byte 0 is none.
func isSpace(c byte) bool { return c-1 < ' ' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// unquoted is the text of a string, or the value itself if it is none. Escapes stay as they are.
func unquoted(v []byte) []byte {
	if n := len(v); n >= 2 && v[0] == '"' {
		return v[1 : n-1]
	}
	return v
}

// integer returns a whole number, which may be a string; false if it is none.
func integer(v []byte) (int64, bool) {
	v = unquoted(v)
	negative := len(v) > 0 && v[0] == '-'
	if negative {
		v = v[1:]
	}
	if len(v) == 0 || len(v) > 19 {
		return 0, false
	}
	n := int64(0)
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0') // at most 10^19 - 1, which is less than 2^64
	}
	if n < 0 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// micros returns a decimal number of microseconds as whole ones, rounded down, and picoseconds, rounded towards 0; false if it is none
// or too large.
func micros(v []byte) (us, ps int64, ok bool) {
	v = unquoted(v)
	number := v
	if len(v) > 0 && v[0] == '-' {
		v = v[1:]
	}
	i, scale := 0, int64(100_000)
	for ; i < len(v) && v[i] >= '0' && v[i] <= '9' && i < 18; i++ {
		us = 10*us + int64(v[i]-'0')
	}
	if i == 0 || i > 1 && v[0] == '0' {
		return 0, 0, false
	}
	if i < len(v) && v[i] == '.' {
		if i+1 == len(v) {
			return 0, 0, false
		}
		for i++; i < len(v) && v[i] >= '0' && v[i] <= '9'; i++ {
			ps += scale * int64(v[i]-'0')
			scale /= 10
		}
	}
	if i < len(v) {
		return longMicros(number)
	}
	if len(v) < len(number) {
		us, ps = -us, -ps
		if ps < 0 {
			us, ps = us-1, ps+1_000_000
		}
	}
	return us, ps, true
}

// longMicros is micros of a number with an exponent.
func longMicros(v []byte) (us, ps int64, ok bool) {
	n := bytes.IndexAny(v, "eE")
	if n < 0 || n > 40 {
		return 0, 0, false
	}
	if e, ok := integer(bytes.TrimPrefix(v[n+1:], []byte{'+'})); !ok || e < -40 || e > 18 {
		return 0, 0, false
	}
	r, ok := new(big.Rat).SetString(string(v))
	if !ok {
		return 0, 0, false
	}
	r.Mul(r, big.NewRat(1_000_000, 1))
	whole := new(big.Int).Quo(r.Num(), r.Denom())
	rest := new(big.Int)
	whole.DivMod(whole, big.NewInt(1_000_000), rest)
	return whole.Int64(), rest.Int64(), whole.IsInt64() && whole.BitLen() < 60
}
