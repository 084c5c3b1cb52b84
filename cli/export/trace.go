package export

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/internal/atomicfile"
	"slackline/internal/phrase"
	"slackline/model/trace"
)

// TraceFormatNames are the formats in which traces can be written.
func TraceFormatNames() []string {
	var names []string
	for _, f := range trace.Formats() {
		if f.Writable() {
			names = append(names, f.Name)
		}
	}
	return names
}

// TraceFormat returns the format of traces that --to or the suffix of --out names, if it is one.
func (o *ScheduleOutput) TraceFormat() (trace.Format, bool) {
	for _, f := range trace.Formats() {
		if f.Writable() && (f.Name == o.to || o.to == "" && slices.ContainsFunc(f.Suffixes,
			func(s string) bool { return strings.HasSuffix(strings.ToLower(o.Out), s) })) {
			return f, true
		}
	}
	return trace.Format{}, false
}

// TraceFormatOf returns the format of traces that the suffix of a file names.
func TraceFormatOf(out string) (trace.Format, error) {
	o := ScheduleOutput{Out: out}
	f, ok := o.TraceFormat()
	if !ok {
		return f, exit.Usagef("%s: no format of traces has the suffix %q; there are %s", out, filepath.Ext(out), strings.Join(TraceSuffixes(),
			", "))
	}
	return f, nil
}

// CheckTraceOut finds out early that a trace cannot be written.
func CheckTraceOut(out string, f trace.Format, word string, force bool) error {
	if f.Stream != nil {
		return env.CheckOut(out, []string{word})
	}
	if out == "" || out == "-" {
		return exit.Usagef("%s is several files; give --out PATH", f.Name)
	}
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return env.CheckOut(out, nil)
	}
	if atomicfile.Same(out, word) || atomicfile.Same(out, filepath.Dir(word)) {
		return exit.Usagef("%s is also the input; give another name", out)
	}
	for _, path := range f.Paths(out) {
		if err := env.CheckNotRead(path, []string{word}); err != nil {
			return exit.Usagef("%v", err)
		}
	}
	if err := trace.CheckFree(out, f.Name, force); err != nil {
		return exit.Usagef("%v", err)
	}
	return nil
}

// WriteTrace writes a trace to a path, or to the standard output.
func WriteTrace(a *env.Env, c *cobra.Command, t *trace.Trace, f trace.Format, out string, o trace.WriteOptions) error {
	var warnings []string
	var err error
	if f.Stream != nil {
		if env.IsTerminal(a.Stream(out)) && !f.Text {
			return exit.Usagef("%s is a binary format; give --out FILE, or send the output to a program", f.Name)
		}
		write := a.WriteBytes
		if f.Text {
			write = a.WriteOut
		}
		err = write(out, nil, func(w io.Writer) error {
			var err error
			warnings, err = f.WriteTo(interruptible{c.Context(), w}, t, o)
			return err
		})
	} else {
		warnings, err = trace.Write(out, t, f.Name, o)
	}
	a.WarnAll(warnings)
	if err == nil && a.Stream(out) == nil {
		a.Note("wrote %s: %s, %s", out, f.Info, phrase.Plural(t.Ranks, "rank"))
	}
	return err
}

// TraceSuffixes are the usual suffixes of the formats in which traces can be written.
func TraceSuffixes() []string {
	var list []string
	for _, f := range trace.Formats() {
		if f.Writable() && len(f.Suffixes) > 0 {
			list = append(list, f.Suffixes[0])
		}
	}
	return list
}
