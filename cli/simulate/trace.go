package simulate

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/export"
	"slackline/model/missing"
	"slackline/model/trace"
)

// simulatedTrace are the flags by which a simulated run is written as a trace.
type simulatedTrace struct {
	path  string
	force bool
}

func (o *simulatedTrace) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.path, "trace", "", "write the calls of the ranks to this `path` as a trace: "+strings.Join(export.TraceSuffixes(),
		", ")+" by its suffix")
	fs.BoolVar(&o.force, "force", false, "replace a trace that is there")
}

// check finds out early that the trace cannot be written.
func (o *simulatedTrace) check(word string, many bool) error {
	switch {
	case o.path == "" && o.force:
		return exit.Usagef("--force is for --trace")
	case o.path == "":
		return nil
	case many:
		return exit.Usagef("--trace shows one run; leave out --replicas and give one number of ranks")
	}
	f, err := export.TraceFormatOf(o.path)
	if err != nil {
		return err
	}
	return export.CheckTraceOut(o.path, f, word, o.force)
}

// write writes the trace of a run, if one is wanted; left is what is missing of the recorded one.
func (o *simulatedTrace) write(a *env.Env, c *cobra.Command, result *simulate.Result, left *missing.Parts) error {
	if o.path == "" {
		return nil
	}
	f, err := export.TraceFormatOf(o.path)
	if err != nil {
		return err
	}
	result.Calls.Source = left
	return export.WriteTrace(a, c, trace.FromTimeline(result.Calls), f, o.path, trace.WriteOptions{Force: o.force, Interrupt: c.Context().Err})
}
