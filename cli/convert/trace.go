package convert

import (
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/export"
	"slackline/cli/input"
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
	fs.IntVar(&o.requestSize, "request-size", 0,
		"`bytes` of a request in liballprof's files: 8 for Open MPI, 4 for MPICH (default: found out)")
}

// notARun is the error of a word from which no trace can be made.
func notARun(word string) error {
	if err := input.Check(word); err != nil {
		return err
	}
	if input.IsPipe(word) {
		return exit.Usagef("%s is a pipe or a device: a recorded run is read from its file or directory only", word)
	}
	return exit.Usagef("%s is not a recorded run; 'slackline simulate %s --trace FILE' writes the trace of a simulated one", word, word)
}

// convert writes a recorded run in another format.
func (o *traceOutput) convert(a *env.Env, c *cobra.Command, args []string, f trace.Format, out string) error {
	if len(args) != 1 {
		return exit.Usagef("a trace is made of one recorded run, but there are %d inputs", len(args))
	}
	if o.requestSize != 0 && o.requestSize != 4 && o.requestSize != 8 {
		return exit.Usagef("--request-size: %d is not possible; give 4 or 8", o.requestSize)
	}
	word := args[0]
	if _, err := os.Stat(word); input.IsPipe(word) || err != nil && !input.IsFile(word) {
		return notARun(word)
	}
	if err := export.CheckTraceOut(out, f, word, o.force); err != nil {
		return err
	}
	t, err := input.OpenRawTrace(word, trace.Options{Strict: o.strict, RequestSize: o.requestSize})
	if err != nil {
		return err
	}
	o.warnOfVoid(a, c, t.Format)
	a.WarnAll(t.Warnings)
	err = export.WriteTrace(a, c, t, f, out, trace.WriteOptions{Force: o.force, Strict: o.strict, Partial: o.partial,
		Interrupt: c.Context().Err})
	if t.Close != nil {
		err = errors.Join(err, t.Close())
	}
	return err
}

// warnOfVoid warns of flags that have no influence when a recorded run in a format becomes a trace or tables.
func (o *traceOutput) warnOfVoid(a *env.Env, c *cobra.Command, format string) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed:
		case f.Name == "request-size" && format != "liballprof":
			a.Warn("--request-size has no influence: it is for converting liballprof's files to another trace")
		case !slices.Contains([]string{"to", "out", "force", "strict", "partial", "request-size"}, f.Name):
			a.Warn("--%s has no influence when a recorded run is written as it is", f.Name)
		}
	})
}
