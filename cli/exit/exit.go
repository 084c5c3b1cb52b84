// Package exit defines how the program ends: the exit codes, and the errors that lead to them.
package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	switch {
	case errors.Is(file.Err, fs.ErrNotExist):
		reason = "no such file or directory"
	case errors.Is(file.Err, fs.ErrPermission):
		reason += permit(file.Path)
	}
	where := plain.Name(file.Path) + ": "
	return strings.Replace(strings.Replace(text, file.Error(), where+reason, 1), where+where, where, 1)
}

// permit says what permission is missing that a file cannot be opened, and how to get it; empty: it is unknown.
func permit(path string) string {
	for dir := path; ; dir = filepath.Dir(dir) { // it may be one itself
		_, err := os.Stat(dir + string(filepath.Separator) + ".") // needs the permission to search it, and those above
		if err == nil || !errors.Is(err, fs.ErrPermission) {
			break
		}
		if _, err := os.Stat(dir); err == nil {
			return fmt.Sprintf("; you may not search the directory %s: its owner can permit it, e.g. by 'chmod a+x'", plain.Name(dir))
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	f, err := os.Open(path)
	if err == nil {
		f.Close()
		return ""
	}
	if errors.Is(err, fs.ErrPermission) {
		return "; you may not read it: its owner can permit it, e.g. by 'chmod a+r'"
	}
	return ""
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
