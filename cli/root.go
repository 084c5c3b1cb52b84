package cli

import (
	"github.com/spf13/cobra"

	"slackline/cli/advise"
	"slackline/cli/campaign"
	"slackline/cli/check"
	"slackline/cli/compare"
	"slackline/cli/convert"
	"slackline/cli/demo"
	"slackline/cli/doctor"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/explain"
	"slackline/cli/explore"
	"slackline/cli/flags"
	"slackline/cli/generate"
	"slackline/cli/hang"
	"slackline/cli/history"
	"slackline/cli/inject"
	"slackline/cli/machine"
	"slackline/cli/measure"
	"slackline/cli/noise"
	"slackline/cli/profile"
	"slackline/cli/record"
	"slackline/cli/report"
	"slackline/cli/scaling"
	"slackline/cli/simulate"
	"slackline/cli/tolerance"
	"slackline/cli/waits"
)

// registry has all verbs, in the order of the help.
var registry = []*env.Verb{
	&record.Verb,
	&hang.Verb,
	&inject.Verb,
	&measure.Verb,
	&campaign.Verb,
	&doctor.Verb,
	&profile.Verb,
	&waits.Verb,
	&advise.Verb,
	&simulate.Verb,
	&tolerance.Verb,
	&compare.Verb,
	&scaling.Verb,
	&check.Verb,
	&history.Verb,
	&report.Verb,
	&explore.Verb,
	&explain.Verb,
	&demo.Verb,
	&machine.Verb,
	&noise.Verb,
	&generate.Verb,
	&convert.Verb,
	{Name: "completion", Group: env.Others, Job: env.OnceOnly, New: completionCommand},
	{Name: "man", Group: env.Others, Job: env.OnceOnly, New: manCommand},
	{Name: "version", Group: env.Others, Job: env.OnceOnly, New: versionCommand},
}

// rootCommand builds the tree of verbs.
func rootCommand(a *env.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   flags.Tool,
		Short: "Find out who waits in a parallel program and why, what it tolerates, how it scales, and what would change elsewhere.",
		Example: `  slackline record -- mpirun -n 8 ./app
  slackline waits app.slt --explain
  slackline simulate app.slt --ranks 4096 --machine chic --noise chic
  slackline tolerance app.slt --machine piz-daint
  slackline simulate dissemination --ranks 2^20 --machine altix --noise altix --replicas 20
  slackline check expectations.yaml results.json`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := a.EnterJob(c); err != nil {
				return err
			}
			if err := checkEmpty(c); err != nil {
				return err
			}
			return applySettings(a, c)
		},
		Version: versionLine(),
	}
	root.DisableSuggestions = true // ours are better
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(a, a.Stdout, c) })
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand(a))
	fs := root.PersistentFlags()
	fs.SortFlags = false
	flags.AddChoice(fs, &a.Color, "color", "color in the text output", "auto", "auto", "always", "never")
	fs.BoolVar(&a.Quiet, "quiet", false, "no notes and no progress on the standard error; warnings and errors stay")
	fs.BoolVar(&a.NoProgress, "no-progress", false, "no progress line on the standard error")
	flags.CompleteChoices(root, fs)
	for _, g := range env.Groups() {
		root.AddGroup(&cobra.Group{ID: string(g), Title: string(g)})
	}
	for _, v := range registry {
		root.AddCommand(v.Command(a))
	}
	root.RunE = func(*cobra.Command, []string) error {
		writeHelp(a, a.Stderr, root)
		return exit.Usagef("give a verb")
	}
	a.Root, a.Verbs = root, registry
	return root
}

// verbs are the names of the verbs, for suggestions.
func verbs() []string {
	names := []string{"help"}
	for _, v := range registry {
		names = append(names, v.Name)
	}
	return names
}
