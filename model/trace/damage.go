package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// ErrDamaged says that events of a location end where the file is damaged. What came before is valid.
var ErrDamaged = errors.New("the trace is damaged")

// FileError is a fault in a file: where it is and what is wrong.
type FileError struct {
	File   string
	Line   int   // from 1; 0: not known, or not a text file
	Offset int64 // of the byte; -1: not known, or a text file
	What   string
}

// Error implements error, in the form file:line: what or file: byte n: what.
func (e *FileError) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
	case e.Offset >= 0:
		return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.What)
	}
	return e.File + ": " + e.What
}

// Is makes a fault in a file one of those that ErrDamaged stands for.
func (e *FileError) Is(target error) bool { return target == ErrDamaged }

// damagedAt is a fault at a byte of a file.
func damagedAt(file string, offset int64, format string, args ...any) *FileError {
	return &FileError{File: file, Offset: offset, What: fmt.Sprintf(format, args...)}
}

// reasonOf is what the system says about a file that cannot be opened, without the name, which messages have anyway.
func reasonOf(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// partialHint ends the error of a trace that cannot be read as a whole.
const partialHint = "(--partial reads the rest)"

// warningList collects warnings from several goroutines.
type warningList struct {
	mu   sync.Mutex
	list []string
}

func (w *warningList) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

// maxListed is how many of many like things a message names.
const maxListed = 10
