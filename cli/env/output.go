package env

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/document"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/atomicfile"
	"slackline/internal/columnfile"
	"slackline/internal/phrase"
	"slackline/internal/plain"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/show/plot"
)

// The forms of a result.
const (
	FormatText    = "text"
	FormatJSON    = "json"
	FormatCSV     = "csv"
	FormatParquet = string(columnfile.Parquet)
	FormatArrow   = string(columnfile.Arrow)
)

// Formats are the usual forms of a result; others are forms that a verb has besides.
func Formats(others ...string) []string {
	return append([]string{FormatText, FormatJSON, FormatCSV, FormatParquet, FormatArrow}, others...)
}

// IsColumns reports whether a form of a result is a file of columns, with the rows of its CSV.
func IsColumns(format string) bool {
	return slices.Contains(columnfile.Formats(), columnfile.Format(format))
}

// IsTable reports whether the result is written as the rows of a single table.
func (o *ResultFlags) IsTable() bool { return o.Format == FormatCSV || IsColumns(o.Format) }

// WarnOfTable warns of flags of these names if the table that is written has no place for their answers, and no figure shows them.
func (o *ResultFlags) WarnOfTable(a *Env, c *cobra.Command, names ...string) {
	if o.IsTable() && o.Plot == "" {
		a.WarnOfVoid(c, " on the table of --format "+o.Format+"; text and json have its answer", names...)
	}
}

// writeFormat is WriteOut, or WriteBytes if the format is not text.
func (a *Env) writeFormat(format, out string, inputs []string, fill func(io.Writer) error) error {
	if !IsColumns(format) {
		return a.WriteOut(out, inputs, fill)
	}
	if IsTerminal(a.Stream(out)) {
		return exit.Usagef("%s is a binary format; give --out FILE, or send the output to a program", format)
	}
	return a.WriteBytes(out, inputs, fill)
}

// Result is what a verb found, in the forms in which it can be written. Only the one that is asked for is made.
type Result interface {
	JSON(a *Env) (any, error)
	Rows(a *Env) Rows
	Text(a *Env, w io.Writer) // w keeps its first error
}

// Rows are a result as one table, for programs.
type Rows interface {
	WriteCSV(w io.Writer) error
	Keys() []string          // the names of the columns
	Values() iter.Seq[[]any] // the rows; each may be changed by the next
}

// WriteResult draws what a verb found, if that is asked for, and writes it in one of its forms.
func (a *Env) WriteResult(verb string, r Result, o *ResultFlags, inputs []string) error {
	if o.Plot != "" {
		if err := a.Postpone(a.draw(r.(Drawn), o.Plot, inputs)); err != nil {
			return err
		}
	}
	format := o.Format
	return cmp.Or(a.writeFormat(format, o.Out, inputs, func(w io.Writer) error { return a.WriteForm(w, verb, r, format) }), a.unkept)
}

// WriteBeside is WriteOut for a file besides the result, which is written also if there is no space for this file.
func (a *Env) WriteBeside(out string, inputs []string, fill func(io.Writer) error) error {
	err := a.WriteOut(out, inputs, fill)
	if err == nil {
		a.Note("wrote %s", out)
	}
	return a.Postpone(err)
}

// Postpone keeps an error of the system, such as a full disk, until WriteResult has written the result, whose computation or
// measurement may have taken long. Other errors it returns.
func (a *Env) Postpone(err error) error {
	if number := syscall.Errno(0); !errors.As(err, &number) {
		return err
	}
	a.unkept = cmp.Or(a.unkept, err)
	return nil
}

// WriteForm is WriteResult to a writer.
func (a *Env) WriteForm(w io.Writer, verb string, r Result, format string) error {
	switch format {
	case FormatJSON:
		d, err := r.JSON(a)
		if err != nil {
			return err
		}
		return WriteJSONObject(w, d)
	case FormatCSV:
		return r.Rows(a).WriteCSV(w)
	case FormatParquet, FormatArrow:
		rows := r.Rows(a)
		return columnfile.WriteValues(w, columnfile.Format(format), verb, rows.Keys(), rows.Values())
	}
	b := bufio.NewWriter(w)
	r.Text(a, b)
	return b.Flush()
}

// WriteOut hands fill a writer of the file out, which appears only when it is
// complete, or of the standard output if out is empty or "-". A file that is
// also one of the inputs is refused. What fill writes is text: characters that
// control terminals are escaped. The writer keeps its first error, and WriteOut returns it.
func (a *Env) WriteOut(out string, inputs []string, fill func(io.Writer) error) error {
	if stream := a.Stream(out); stream != nil {
		return holdBack(stream, fill)
	}
	return writeFile(out, inputs, func(w io.Writer) error { return a.escaped(w, fill) })
}

// WriteBytes is WriteOut for what is not text, or escapes by itself.
func (a *Env) WriteBytes(out string, inputs []string, fill func(io.Writer) error) error {
	if stream := a.Stream(out); stream != nil {
		return holdBack(Raw(stream), fill)
	}
	return writeFile(out, inputs, fill)
}

func writeFile(out string, inputs []string, fill func(io.Writer) error) error {
	if err := CheckOut(out, inputs); err != nil {
		return err
	}
	return atomicfile.Write(out, fill)
}

// escaped lets fill write text to a file, without what is bold on a terminal.
func (a *Env) escaped(w io.Writer, fill func(io.Writer) error) error {
	p := plain.NewWriter(w).Pass(a.Marked("", "")...)
	if a.Color == "always" {
		p.Pass(a.Marked("\x1b[1m", "\x1b[0m")...)
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
	if w.release(); w.err != nil {
		return w.err
	}
	if p, ok := stream.(*plain.Writer); ok {
		return p.Flush()
	}
	return nil
}

type held struct {
	w    io.Writer
	data bytes.Buffer
	err  error // the first one of w
}

const mostHeld = 64 << 20

func (h *held) Write(p []byte) (int, error) {
	if h.data.Len()+len(p) > mostHeld {
		h.release()
	}
	if h.err != nil {
		return 0, h.err
	}
	return h.data.Write(p)
}

func (h *held) release() {
	if h.err == nil {
		_, h.err = h.data.WriteTo(h.w)
	}
}

// Stream returns the stream of the program that out stands for; nil: it is a file.
// The system's names for the streams lead to files that others have opened, so these
// are not opened again but written to where they are.
func (a *Env) Stream(out string) io.Writer {
	switch out {
	case "", "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return a.Stdout
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return a.Stderr
	}
	return nil
}

// Output is a file that a flag names.
type Output struct{ Flag, Path string }

// To is the output that a flag names by a path.
func To(flag, path string) Output { return Output{flag, path} }

// ResultFlags are the flags of a verb with a result: its form, its file, and the file of its figure.
type ResultFlags struct {
	Format  string
	Formats []string // that there are; nil: the usual ones
	Out     string
	Plot    string
}

// AddFormat adds --format.
func (o *ResultFlags) AddFormat(fs *pflag.FlagSet, usage string) {
	if o.Formats == nil {
		o.Formats = Formats()
	}
	flags.AddChoice(fs, &o.Format, "format", usage, FormatText, o.Formats...)
}

// AddFlags adds --format and --out.
func (o *ResultFlags) AddFlags(fs *pflag.FlagSet, usage string) {
	o.AddFormat(fs, usage)
	fs.StringVar(&o.Out, "out", "", "write the result to this `file` instead of the standard output")
}

// AddPlot adds --plot of a verb whose result is Drawn.
func (o *ResultFlags) AddPlot(fs *pflag.FlagSet, usage string) {
	fs.StringVar(&o.Plot, "plot", "", usage)
}

// IsJSON reports whether the result is written with its provenance.
func (o *ResultFlags) IsJSON() bool { return o.Format == FormatJSON }

// Check finds out early that the result cannot be written, or what further flags ask for.
func (o *ResultFlags) Check(inputs []string, further ...Output) error {
	if _, err := plot.FormatOf(o.Plot); o.Plot != "" && err != nil {
		return exit.Usagef("--plot: %v", err)
	}
	return CheckOutputs(inputs, append([]Output{{"out", o.Out}, {"plot", o.Plot}}, further...)...)
}

// CheckOutputs finds out early that a file cannot be written, or that two outputs
// would go to the same one.
func CheckOutputs(inputs []string, outputs ...Output) error {
	for i, o := range outputs {
		if err := CheckOut(o.Path, inputs); err != nil {
			return err
		}
		for _, other := range outputs[:i] {
			if o.Path != "" && other.Path != "" && o.Path != "-" && atomicfile.Same(o.Path, other.Path) {
				return exit.Usagef("--%s and --%s name the same file, %s; give each a file of its own", other.Flag, o.Flag, o.Path)
			}
		}
	}
	return nil
}

// CheckOut finds out early that a file cannot be written: because it is also an
// input or a file of one, because it is a directory, or because its directory does not exist.
func CheckOut(out string, inputs []string) error {
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
	if err := atomicfile.CheckNotInput(out, inputs...); err != nil {
		return err
	}
	return CheckNotRead(out, inputs)
}

// CheckNotRead refuses to replace a file of an input, or a directory with one.
func CheckNotRead(out string, inputs []string) error {
	if _, err := os.Stat(out); err != nil {
		return nil
	}
	for _, in := range inputs {
		if input.Reads(in, out) {
			return fmt.Errorf("%s: %w", out, atomicfile.ErrIsInput)
		}
	}
	return nil
}

// WriteText writes a table for people to a writer that keeps its errors.
func (a *Env) WriteText(w io.Writer, t *table.Table, header bool) {
	t.WriteText(w, table.TextOptions{Width: WidthOf(a.Stdout), NoHeader: !header, Heading: a.Bold})
}

// List is a table as JSON: an object for each row, with its columns as members.
type List []document.Members[any]

// WriteCut writes a table of a verb with the flag --top, and how many of its rows are not shown.
func (a *Env) WriteCut(w io.Writer, t *table.Table) {
	a.WriteText(w, t, true)
	if t.Left > 0 {
		fmt.Fprintf(w, "(%s more; --top 0 shows all)\n", phrase.Plural(t.Left, "line"))
	}
}

// WriteWrapped writes a sentence in lines that fit the screen.
func (a *Env) WriteWrapped(w io.Writer, text string) {
	for _, line := range table.Wrap(text, WidthOf(a.Stdout)) {
		fmt.Fprintln(w, line)
	}
}

// WriteTitle writes what a text is about, in lines that fit the screen, and an empty line below it.
func (a *Env) WriteTitle(w io.Writer, text string) {
	a.WriteWrapped(w, text)
	fmt.Fprintln(w)
}

// Table is a result that is nothing but a table.
type Table struct{ *table.Table }

func (t Table) JSON(*Env) (any, error) {
	list := List{}
	for _, row := range t.Table.Rows {
		var m document.Members[any]
		for i, c := range row {
			m = append(m, document.Member[any]{Name: t.Columns[i].Key, Value: c.Value})
		}
		list = append(list, m)
	}
	return list, nil
}

func (t Table) Rows(*Env) Rows { return t.Table }

func (t Table) Text(a *Env, w io.Writer) { a.WriteText(w, t.Table, true) }

// WriteJSONObject writes a result as JSON.
func WriteJSONObject(w io.Writer, result any) error { return document.Write(w, result) }

// Record is the provenance of a result: the inputs, what the processes of a job exchanged, and the warnings so far.
func (a *Env) Record(inputs ...provenance.Input) *provenance.Record {
	record := provenance.New(a.Args)
	record.Inputs = append(record.Inputs, inputs...)
	record.Cluster = a.cluster
	record.Warnings = append(record.Warnings, a.Warnings...)
	return record
}

// WarnOfCopies warns of inputs whose bytes were there before: they would be repetitions without noise.
func (a *Env) WarnOfCopies(inputs []provenance.Input) {
	seen := map[string]string{} // paths by hash
	for _, in := range inputs {
		switch other, known := seen[in.SHA256]; {
		case in.SHA256 == "":
		case !known:
			seen[in.SHA256] = in.Path
		case other == in.Path:
			a.Warn("%s is given twice: its measurements count twice", in.Path)
		default:
			a.Warn("%s holds the same bytes as %s: if it is a copy, its measurements count twice", in.Path, other)
		}
	}
}
