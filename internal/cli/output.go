package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"slackline/internal/atomicfile"
	"slackline/internal/plain"
	"slackline/internal/table"
)

// The forms of a result.
const (
	formatText = "text"
	formatJSON = "json"
	formatCSV  = "csv"
)

// formatTraceText is the format of traces that is text.
const formatTraceText = "trace-text"

// writeOut hands fill a writer of the file out, which appears only when it is
// complete, or of the standard output if out is empty or "-". A file that is
// also one of the inputs is refused. What fill writes is text: characters that
// control terminals are escaped.
func (a *app) writeOut(out string, inputs []string, fill func(io.Writer) error) error {
	if stream := a.stream(out); stream != nil {
		return holdBack(stream, fill)
	}
	return writeFile(out, inputs, func(w io.Writer) error { return a.escaped(w, fill) })
}

// writeBytes is writeOut for what is no text, or escapes by itself.
func (a *app) writeBytes(out string, inputs []string, fill func(io.Writer) error) error {
	if stream := a.stream(out); stream != nil {
		return holdBack(raw(stream), fill)
	}
	return writeFile(out, inputs, fill)
}

func writeFile(out string, inputs []string, fill func(io.Writer) error) error {
	if err := checkOut(out, inputs); err != nil {
		return err
	}
	return atomicfile.Write(out, fill)
}

// escaped lets fill write text to a file, without what is bold on a terminal.
func (a *app) escaped(w io.Writer, fill func(io.Writer) error) error {
	p := plain.NewWriter(w).Pass(a.marked("", "")...)
	if a.color.value == "always" {
		p.Pass(a.marked("\x1b[1m", "\x1b[0m")...)
	}
	b := bufio.NewWriterSize(p, 1<<16)
	if err := fill(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return p.Flush()
}

// holdBack lets fill write to a stream, to which nothing goes until all is there: a failure leaves no half result. What
// is more than should be kept in memory goes there before.
func holdBack(stream io.Writer, fill func(io.Writer) error) error {
	w := &held{w: stream}
	if err := fill(w); err != nil {
		return err
	}
	if err := w.release(); err != nil {
		return err
	}
	if p, ok := stream.(*plain.Writer); ok {
		return p.Flush()
	}
	return nil
}

type held struct {
	w    io.Writer
	data bytes.Buffer
}

const mostHeld = 64 << 20

func (h *held) Write(p []byte) (int, error) {
	if h.data.Len()+len(p) > mostHeld {
		if err := h.release(); err != nil {
			return 0, err
		}
	}
	return h.data.Write(p)
}

func (h *held) release() error {
	_, err := h.data.WriteTo(h.w)
	return err
}

// stream returns the stream of the program that out stands for; nil: it is a file.
// The system's names for the streams lead to files that others have opened, so these
// are not opened again but written to where they are.
func (a *app) stream(out string) io.Writer {
	switch out {
	case "", "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return a.stdout
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return a.stderr
	}
	return nil
}

// output is a file that a flag names.
type output struct{ flag, path string }

// addOut adds the flag for where the result goes.
func addOut(fs *pflag.FlagSet, path *string) {
	fs.StringVar(path, "out", "", "write the result to this `file` instead of the standard output")
}

// checkOutputs finds out early that a file cannot be written, or that two outputs
// would go to the same one.
func checkOutputs(inputs []string, outputs ...output) error {
	for i, o := range outputs {
		if err := checkOut(o.path, inputs); err != nil {
			return err
		}
		for _, other := range outputs[:i] {
			if o.path != "" && other.path != "" && o.path != "-" && atomicfile.Same(o.path, other.path) {
				return usagef("--%s and --%s name the same file, %s; give each a file of its own", other.flag, o.flag, o.path)
			}
		}
	}
	return nil
}

// checkOut finds out early that a file cannot be written: because it is also an
// input, because it is a directory, or because its directory does not exist.
func checkOut(out string, inputs []string) error {
	if out == "" || out == "-" {
		return nil
	}
	if err := atomicfile.CheckLinks(out); err != nil {
		return err
	}
	if dir := filepath.Dir(out); dir != "." {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s: there is no directory %s", out, dir)
		}
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory; give the name of a file", out)
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
