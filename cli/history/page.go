package history

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/show/report"
)

type pageOptions struct {
	search
	title string
	out   string
}

func pageCommand(a *env.Env) *cobra.Command {
	o := &pageOptions{}
	c := &cobra.Command{
		Use:   "page",
		Short: "Write a history with its changes and figures as one static HTML page.",
		Long: "Write a history as one HTML file that needs nothing else, neither network nor script: its changes with their commits, all " +
			"series, and figures of those that changed, then of others.",
		Example: `  slackline history page
  slackline history page --dir perf --title "Solver, nightly" --out public/index.html`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "History", o.addFlags)
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.title, "title", "History of performance", "`text` of the title")
		fs.StringVar(&o.out, "out", "history.html", "`file` of the page")
	})
	return c
}

func (o *pageOptions) run(a *env.Env, c *cobra.Command) error {
	if err := env.CheckOut(o.out, filesIn(o.dir)); err != nil {
		return err
	}
	r, err := o.find(a, c)
	if err != nil {
		return err
	}
	d := report.History(&report.HistoryInput{
		Title: o.title, Words: o.words(c), Found: r, Level: o.level, Record: a.Record(), Commit: newRepository(c.Context(), r).lines,
	})
	if err := a.WriteOut(o.out, nil, d.WriteHTML); err != nil {
		return err
	}
	if a.Stream(o.out) == nil {
		a.Note("wrote %s", o.out)
	}
	return nil
}
