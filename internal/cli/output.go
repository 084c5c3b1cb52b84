package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"slackline/internal/atomicfile"
	"slackline/internal/table"
)

// The forms of a result.
const (
	formatText = "text"
	formatJSON = "json"
	formatCSV  = "csv"
)

// writeOut hands fill a writer of the file out, which appears only when it is
// complete, or of the standard output if out is empty or "-". A file that is
// also one of the inputs is refused.
func (a *app) writeOut(out string, inputs []string, fill func(io.Writer) error) error {
	if out == "" || out == "-" {
		w := bufio.NewWriterSize(a.stdout, 1<<16)
		if err := fill(w); err != nil {
			return err
		}
		return w.Flush()
	}
	if err := checkOut(out, inputs); err != nil {
		return err
	}
	return atomicfile.Write(out, fill)
}

// checkOut finds out early that a file cannot be written: because it is also an
// input, or because its directory does not exist.
func checkOut(out string, inputs []string) error {
	if out == "" || out == "-" {
		return nil
	}
	if dir := filepath.Dir(out); dir != "." {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s: there is no directory %s", out, dir)
		}
	}
	return atomicfile.CheckNotInput(out, inputs...)
}

// writeText writes a table for people.
func (a *app) writeText(w io.Writer, t *table.Table, header bool) error {
	return t.WriteText(w, table.TextOptions{Width: widthOf(a.stdout), NoHeader: !header, Heading: a.bold})
}

// writeTable writes a table in one of the formats.
func (a *app) writeTable(w io.Writer, t *table.Table, format string) error {
	switch format {
	case formatJSON:
		return t.WriteJSON(w)
	case formatCSV:
		return t.WriteCSV(w)
	}
	return a.writeText(w, t, true)
}

// writeJSONObject writes a value as JSON for programs that people look at too.
func writeJSONObject(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// number is a number that is already printed.
func number(s string) json.Number { return json.Number(s) }

// grouped prints a count with separators of thousands, for people.
func grouped[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
