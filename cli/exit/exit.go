// Package exit defines how the program ends: the exit codes, and the errors that lead to them.
package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"slackline/internal/plain"
)

// The exit codes, as every help text states them.
const (
	Fine         = 0
	Failure      = 1
	Usage        = 2
	CheckFailed  = 3
	Inconclusive = 4
	Interrupted  = 130
)

const Help = "0 fine, 1 bad input or failure, 2 wrong usage, 3 a check failed, 4 inconclusive, 130 interrupted"

// TryHelp is the line that leads to the help of a command.
func TryHelp(command string) string {
	if command == "" {
		return ""
	}
	return fmt.Sprintf("\nTry '%s --help'.", command)
}

// PlainText is the text of an error, with what the system says about a file in our words.
func PlainText(err error) string {
	text := err.Error()
	var file *fs.PathError
	if !errors.As(err, &file) {
		return text
	}
	reason := file.Err.Error()
	if errors.Is(file.Err, fs.ErrNotExist) {
		reason = "no such file"
	}
	return strings.Replace(text, file.Error(), plain.Name(file.Path)+": "+reason, 1)
}

// UsageError is a mistake in the command line.
type UsageError struct {
	Text    string
	Command string // whose help explains it; empty: none
}

func (e *UsageError) Error() string { return e.Text }

// Usagef returns a mistake in the command line.
func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// verdictError ends a verb that did its work; its exit code says what came out.
type Verdict int

func (Verdict) Error() string { return "a check did not pass" }

// ErrReported ends a verb that failed and has already reported why.
var ErrReported = errors.New("failed")
