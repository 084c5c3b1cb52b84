package schedule

import (
	"bytes"
	"fmt"
)

// dotScanner cuts a DOT file into tokens: words, numbers, quoted strings, arrows and marks. The
// methods that return a bool return false after they have set err.
type dotScanner struct {
	goalReader // blanks, comments, lines and errors are the same in both languages
	token      []byte
	kind       dotToken
}

type dotToken uint8

const (
	dotEnd   dotToken = iota // of the file
	dotWord                  // a name, a number or a quoted string
	dotArrow                 // ->
	dotMark                  // one of { } [ ] ; , =
)

// next goes to the next token.
func (s *dotScanner) next() bool {
	if !s.skipToStatement() {
		return false
	}
	begin := s.at
	s.kind = dotWord
	switch c := s.peek(); {
	case s.at >= len(s.data):
		s.kind = dotEnd
	case c == '"':
		return s.quoted()
	case c == '-' && s.at+1 < len(s.data) && s.data[s.at+1] == '>':
		s.kind = dotArrow
		s.at += 2
	case bytes.IndexByte([]byte("{}[];,="), c) >= 0:
		s.kind = dotMark
		s.at++
	case byteClass[c] != 0:
		for s.at < len(s.data) && (byteClass[s.data[s.at]] != 0 || s.data[s.at] == '.') {
			s.at++
		}
	default:
		return s.notOurs("here is %s", s.found())
	}
	s.token = s.data[begin:s.at]
	return true
}

// quoted reads a string. The quotes are no part of the token. Strings that WriteDOT writes have no
// escapes.
func (s *dotScanner) quoted() bool {
	rest := s.data[s.at+1:]
	n := bytes.IndexByte(rest, '"')
	if n < 0 {
		return s.fail("the string is not closed")
	}
	s.token = rest[:n]
	if bytes.ContainsAny(s.token, "\\\n") {
		return s.notOurs("a string with escapes or several lines")
	}
	s.at += n + 2
	return true
}

// is reports whether the token is a given mark or the arrow.
func (s *dotScanner) is(mark string) bool {
	return (s.kind == dotMark || s.kind == dotArrow) && string(s.token) == mark
}

// want goes over a mark.
func (s *dotScanner) want(mark string) bool {
	if !s.is(mark) {
		return s.unexpected(fmt.Sprintf("%q", mark))
	}
	return s.next()
}

// unexpected sets the error for a token that stands where another one must.
func (s *dotScanner) unexpected(want string) bool {
	if s.kind == dotEnd {
		return s.fail("the file ends where %s must stand", want)
	}
	return s.notOurs("%s must stand here, but here is %s", want, quote(s.token))
}

// notOurs sets the error for DOT that WriteDOT would not have written.
func (s *dotScanner) notOurs(format string, args ...any) bool {
	return s.fail("%s; only DOT files that slackline has written can be read", fmt.Sprintf(format, args...))
}

// dotAttribute is a name with its value.
type dotAttribute struct {
	name, value []byte
}

// attributes reads a list in brackets, if there is one, into the memory of list.
func (s *dotScanner) attributes(list []dotAttribute) ([]dotAttribute, bool) {
	list = list[:0]
	for s.is("[") {
		if !s.next() {
			return nil, false
		}
		for !s.is("]") {
			name := s.token
			if s.kind != dotWord {
				return nil, s.unexpected("an attribute")
			}
			if !s.next() || !s.want("=") {
				return nil, false
			}
			if s.kind != dotWord {
				return nil, s.unexpected("a value")
			}
			list = append(list, dotAttribute{name, s.token})
			if !s.next() {
				return nil, false
			}
			if (s.is(",") || s.is(";")) && !s.next() {
				return nil, false
			}
		}
		if !s.next() {
			return nil, false
		}
	}
	return list, true
}
