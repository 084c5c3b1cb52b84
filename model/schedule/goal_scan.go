package schedule

import (
	"bytes"
	"fmt"
	"math"
)

// Classes of bytes.
const (
	isLetter = 1 << iota
	isDigit
	isUnderscore
	isWord = isLetter | isDigit | isUnderscore
)

var byteClass = func() (class [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		class[c] = isLetter
		class[c-'a'+'A'] = isLetter
	}
	for c := '0'; c <= '9'; c++ {
		class[c] = isDigit
	}
	class['_'] = isUnderscore
	return class
}()

// peek returns the next byte; 0 at the end. A 0 in the file is wrong everywhere, so the two need
// not be distinguished.
func (r *goalReader) peek() byte {
	if r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

// blanks goes over blanks and comments, but not over the end of the line.
func (r *goalReader) blanks() bool {
	data, at := r.data, r.at
	for at < len(data) {
		switch data[at] {
		case ' ', '\t':
			at++
		case '/':
			r.at = at
			next, ok := r.comment()
			if !ok {
				return false
			}
			if next == at {
				return true // a slash alone: the caller will report it
			}
			at = next
		default:
			r.at = at
			return true
		}
	}
	r.at = at
	return true
}

// comment returns the position after the comment that begins here, or the present position if
// none does. The end of the line is not a part of a line comment.
func (r *goalReader) comment() (int, bool) {
	rest := r.data[r.at:]
	switch {
	case len(rest) < 2:
		return r.at, true
	case rest[1] == '/':
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return r.at + n, true
		}
		return len(r.data), true
	case rest[1] == '*':
		n := bytes.Index(rest[2:], []byte("*/"))
		if n < 0 {
			return 0, r.fail("the comment that begins with /* is not closed; its */ is missing")
		}
		r.line += bytes.Count(rest[:n+2], []byte{'\n'})
		return r.at + n + 4, true
	}
	return r.at, true
}

// skipToStatement goes over blanks, comments and ends of lines.
func (r *goalReader) skipToStatement() bool {
	for {
		if !r.blanks() {
			return false
		}
		switch {
		case r.peek() == '\n':
			r.at++
			r.line++
		case r.peek() == '\r' && r.at+1 < len(r.data) && r.data[r.at+1] == '\n':
			r.at++
		default:
			return true
		}
	}
}

// endLine goes over the end of the line, which must be all that is left of it.
func (r *goalReader) endLine(after string) bool {
	if r.peek() == '\n' { // nearly always
		r.at++
		r.line++
		return true
	}
	if !r.blanks() {
		return false
	}
	if r.peek() == '\r' && r.at+1 < len(r.data) && r.data[r.at+1] == '\n' {
		r.at++
	}
	switch {
	case r.at == len(r.data):
		return true
	case r.peek() == '\n':
		r.at++
		r.line++
		return true
	case r.peek() == '}':
		return r.fail("the } must not be on the line of an operation or dependency; put it on the next line")
	case r.peek() == '.':
		return r.fail("a fraction; GOAL has whole numbers only (ns and bytes)")
	}
	return r.fail("%s after %s; only one operation or dependency may be on a line", r.found(), after)
}

// word goes over a word that begins with a letter and returns it; nil if there is none.
func (r *goalReader) word() []byte {
	data, at := r.data, r.at
	if at >= len(data) || byteClass[data[at]] != isLetter {
		return nil
	}
	for at++; at < len(data) && byteClass[data[at]] != 0; at++ {
	}
	word := data[r.at:at]
	r.at = at
	return word
}

// keyword goes over a word if it is the one given.
func (r *goalReader) keyword(word string) bool {
	at := r.at + len(word)
	if at > len(r.data) || string(r.data[r.at:at]) != word || at < len(r.data) && byteClass[r.data[at]] != 0 {
		return false
	}
	r.at = at
	return true
}

// integer goes over blanks and a number. A number that does not fit into 64 bits counts as the
// largest that does; lastNumber gives it as it was written.
func (r *goalReader) integer(what string) (uint64, bool) {
	if r.peek() == ' ' {
		r.at++
	}
	data, at := r.data, r.at
	if at >= len(data) || data[at]-'0' > 9 {
		if !r.blanks() {
			return 0, false
		}
		if at = r.at; at >= len(data) || data[at]-'0' > 9 {
			return 0, r.failNumber(what)
		}
	}
	value := uint64(0)
	for ; at < len(data); at++ {
		digit := uint64(data[at] - '0')
		if digit > 9 {
			break
		}
		if value > (math.MaxUint64-9)/10 {
			value = math.MaxUint64
			continue
		}
		value = value*10 + digit
	}
	r.at = at
	return value, true
}

// apart wants a number to be followed by something that is not a part of a word.
func (r *goalReader) apart(what string) bool {
	if r.at < len(r.data) && byteClass[r.data[r.at]] != 0 {
		return r.fail("no blank between %s and %s", what, r.found())
	}
	return true
}

// lastNumber returns the number before the present position as written in the file.
func (r *goalReader) lastNumber() string {
	begin := r.at
	for begin > 0 && r.data[begin-1]-'0' <= 9 {
		begin--
	}
	return clip(r.data[begin:r.at])
}

// fail sets the error, at the present line.
func (r *goalReader) fail(format string, args ...any) bool {
	name := ""
	if r.names != nil {
		name = r.names.File
	}
	r.err = &FileError{File: name, Line: r.line, What: fmt.Sprintf(format, args...)}
	return false
}

// found describes what is at the present position.
func (r *goalReader) found() string {
	if r.at >= len(r.data) {
		return "the end of the file"
	}
	rest := r.data[r.at:]
	n := 0
	for n < len(rest) && n < 100 && byteClass[rest[n]] != 0 {
		n++
	}
	switch {
	case n > 0:
		return quote(rest[:n])
	case rest[0] == '\n', rest[0] == '\r' && len(rest) > 1 && rest[1] == '\n':
		return "the end of the line"
	case rest[0] == '\r':
		return "a carriage return without a line feed"
	case rest[0] == 0:
		return "a byte 0"
	case rest[0] == '#':
		return `"#" (comments begin with // in GOAL)`
	}
	return quote(rest[:1])
}

// declared names which ranks there are.
func (r *goalReader) declared() string {
	if r.ranks == 1 {
		return "1 rank (0)"
	}
	return fmt.Sprintf("%d ranks (0..%d)", r.ranks, r.ranks-1)
}

// clip returns a label or number for a message, shortened if it is very long.
func clip(word []byte) string {
	const most = 60
	if len(word) > most {
		return string(word[:most]) + "..."
	}
	return string(word)
}
