package yamlfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Place is a place in a file. The zero Place is the file as a whole.
type Place struct {
	Line   int // from 1; 0 if there is no place
	Column int // from 1; 0 if the whole line is meant
}

// Error is one mistake in a file.
type Error struct {
	File string
	Place
	Message string
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors are the mistakes in a file, in the order of their places.
type Errors []*Error

// MaxShown is how many mistakes are listed in full: a file that is wrong throughout is better
// understood by its first lines.
const MaxShown = 20

// Error returns one line for each mistake.
func (l Errors) Error() string {
	var b strings.Builder
	for i, e := range l {
		if i == MaxShown {
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
func (l Errors) Unwrap() []error {
	list := make([]error, len(l))
	for i, e := range l {
		list[i] = e
	}
	return list
}

// Err returns the mistakes as Errors in the order of their places, or nil if there are none.
func (d *Document) Err() error {
	if len(d.Errors) == 0 {
		return nil
	}
	slices.SortStableFunc(d.Errors, func(a, b *Error) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if d.rules.LinesOnly {
		for _, e := range d.Errors {
			e.Column = 0
		}
	}
	return d.Errors
}

// Quote puts text of a file into quotes, cut if it is long.
func Quote(text string) string {
	const longest = 40
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return strconv.Quote(text)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
