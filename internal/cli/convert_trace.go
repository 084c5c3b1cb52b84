package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/atomicfile"
	"slackline/internal/input"
	"slackline/model/trace"
)

// traceOutput are the flags of verbs that write a trace.
type traceOutput struct {
	force       bool
	strict      bool
	partial     bool // as the flag of the program says
	requestSize int
}

func (o *traceOutput) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.force, "force", false, "replace a trace that is there")
	fs.BoolVar(&o.strict, "strict", false, "refuse a trace of which something is missing or damaged")
	fs.IntVar(&o.requestSize, "request-size", 0, "`bytes` of a request in liballprof's files: 8 for Open MPI, 4 for MPICH (default: found out)")
}

// traceFormatNames are the formats in which traces can be written.
func traceFormatNames() []string {
	var names []string
	for _, f := range trace.Formats() {
		if f.Writable() {
			names = append(names, f.Name)
		}
	}
	return names
}

// traceFormat returns the format of traces that --to or the suffix of --out names, if it is one.
func (o *scheduleOutput) traceFormat() (trace.Format, bool) {
	for _, f := range trace.Formats() {
		if f.Writable() && (f.Name == o.to || o.to == "" && slices.Contains(f.Suffixes, strings.ToLower(filepath.Ext(o.out)))) {
			return f, true
		}
	}
	return trace.Format{}, false
}

// traceFormatOf returns the format of traces that the suffix of a file names.
func traceFormatOf(out string) (trace.Format, error) {
	o := scheduleOutput{out: out}
	f, ok := o.traceFormat()
	if !ok {
		return f, usagef("%s: no format of traces has the suffix %q; there are %s", out, filepath.Ext(out), strings.Join(traceSuffixes(), ", "))
	}
	return f, nil
}

// convert writes a recorded run in another format.
func (o *traceOutput) convert(a *app, c *cobra.Command, args []string, f trace.Format, out string) error {
	if len(args) != 1 {
		return usagef("a trace is made of one recorded run, but there are %d inputs", len(args))
	}
	if o.requestSize != 0 && o.requestSize != 4 && o.requestSize != 8 {
		return usagef("--request-size: %d is not possible; give 4 or 8", o.requestSize)
	}
	word := args[0]
	if !input.IsTrace(word) {
		if _, err := os.Stat(word); err != nil && !input.IsFile(word) {
			return usagef("%s is no recorded run; 'slackline simulate %s --trace FILE' writes the trace of a simulated one", word, word)
		}
	}
	if err := checkTraceOut(out, f, word, o.force); err != nil {
		return err
	}
	t, err := input.OpenRawTrace(word, trace.Options{Strict: o.strict, RequestSize: o.requestSize})
	if err != nil {
		return err
	}
	o.warnOfVoid(a, c, t.Format)
	for _, w := range t.Warnings {
		a.warn("%s", w)
	}
	err = a.writeTrace(c, t, f, out, trace.WriteOptions{Force: o.force, Strict: o.strict, Partial: o.partial, Interrupt: c.Context().Err})
	if t.Close != nil {
		err = errors.Join(err, t.Close())
	}
	return err
}

// warnOfVoid tells of flags that mean nothing when a trace becomes a trace.
func (o *traceOutput) warnOfVoid(a *app, c *cobra.Command, format string) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed:
		case f.Name == "request-size" && format != "liballprof":
			a.warn("--request-size has no influence: the trace is not one of liballprof")
		case !slices.Contains([]string{"to", "out", "force", "strict", "partial", "request-size"}, f.Name):
			a.warn("--%s has no influence when a trace is written as a trace", f.Name)
		}
	})
}

// checkTraceOut finds out early that a trace cannot be written.
func checkTraceOut(out string, f trace.Format, word string, force bool) error {
	if f.Stream != nil {
		return checkOut(out, []string{word})
	}
	if out == "" || out == "-" {
		return usagef("%s is several files; give --out PATH", f.Name)
	}
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return checkOut(out, nil)
	}
	if atomicfile.Same(out, word) || atomicfile.Same(out, filepath.Dir(word)) && filepath.Dir(word) != "." {
		return usagef("%s is also the input; give another name", out)
	}
	if _, err := os.Lstat(out); err == nil && !force {
		return usagef("%s exists; give another name, or --force to replace it", out)
	}
	return nil
}

// writeTrace writes a trace to a path, or to the standard output.
func (a *app) writeTrace(c *cobra.Command, t *trace.Trace, f trace.Format, out string, o trace.WriteOptions) error {
	var warnings []string
	var err error
	if f.Stream != nil {
		if isTerminal(a.stream(out)) && f.Name != formatTraceText {
			return usagef("%s is a binary format; give --out FILE, or send the output to a program", f.Name)
		}
		write := a.writeBytes
		if f.Name == formatTraceText {
			write = a.writeOut
		}
		err = write(out, nil, func(w io.Writer) error {
			var err error
			warnings, err = f.Stream(interruptible{c.Context(), w}, t, o)
			return err
		})
	} else {
		warnings, err = trace.Write(out, t, f.Name, o)
	}
	for _, w := range warnings {
		a.warn("%s", w)
	}
	if err == nil && a.stream(out) == nil {
		a.note("wrote %s: %s, %s", out, f.Info, plural(t.Ranks, "rank"))
	}
	return err
}
