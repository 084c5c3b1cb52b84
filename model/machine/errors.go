package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// FileError is one mistake in a machine file.
type FileError struct {
	File    string
	Line    int // from 1; 0 if the mistake has no place
	Column  int // from 1; 0 if the whole line is meant
	Message string
}

// Error returns "file:line:column: message".
func (e *FileError) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// FileErrors are the mistakes in a machine file, in the order of their places.
type FileErrors []*FileError

// maxShown is how many mistakes are told in full: a file that is wrong throughout is better
// understood by its first lines.
const maxShown = 20

// Error returns one line for each mistake.
func (l FileErrors) Error() string {
	var b strings.Builder
	for i, e := range l {
		if i == maxShown {
			fmt.Fprintf(&b, "\n%s: and %d more errors", e.File, len(l)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap returns the mistakes one by one.
func (l FileErrors) Unwrap() []error {
	list := make([]error, len(l))
	for i, e := range l {
		list[i] = e
	}
	return list
}

// err returns the list in the order of places, or nil if it is empty.
func (l FileErrors) err() error {
	if len(l) == 0 {
		return nil
	}
	slices.SortStableFunc(l, func(a, b *FileError) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l
}
