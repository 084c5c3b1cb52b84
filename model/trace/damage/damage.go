// Package damage holds the errors of files that are damaged or truncated: where the damage is, and what is wrong.
package damage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Err reports that events of a location end where the file is damaged. What came before is valid.
var Err = errors.New("the trace is damaged")

// Error is a fault in a file: where it is and what is wrong.
type Error struct {
	File   string
	Line   int   // from 1; 0: not known, or not a text file
	Offset int64 // of the byte; -1: not known, or a text file
	What   string
	Whole  bool // it was read to its end, but may not be what was written
}

// Error implements error, in the form file:line: what or file: byte n: what.
func (e *Error) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
	case e.Offset >= 0:
		return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.What)
	}
	return e.File + ": " + e.What
}

// Is makes a fault in a file one of those that Err stands for.
func (e *Error) Is(target error) bool { return target == Err }

// Loss is what damage means for the events of a location.
func Loss(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Whole {
		return fmt.Sprintf("its events may be wrong: %v", err)
	}
	return fmt.Sprintf("events end early: %v", err)
}

// At is a fault at a byte of a file.
func At(file string, offset int64, format string, args ...any) *Error {
	return &Error{File: file, Offset: offset, What: fmt.Sprintf(format, args...)}
}

// Reason is what the system says about a file that cannot be opened, without the name, which messages have anyway, and what is wrong
// with a value in JSON, without the types of the program.
func Reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("unexpected %s", strings.TrimSuffix(kind.Value+" for "+kind.Field, " for "))
	}
	return err
}
