// Package listing is the shape of verbs that list what is built in, as text, JSON or CSV.
package listing

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/table"
)

// Command is the verb VERB list: it prints a table of what is built in.
func Command(a *env.Env, verb, short string, rows func() (*table.Table, error)) *cobra.Command {
	var o env.ResultFlags
	c := &cobra.Command{
		Use:     "list",
		Short:   short,
		Example: "  slackline " + verb + " list\n  slackline " + verb + " list --format csv",
		Args:    flags.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			t, err := rows()
			if err != nil {
				return err
			}
			return a.WriteResult("list", env.Table{Table: t}, &o, nil)
		},
	}
	a.AddGroup(c, "Flags", func(fs *pflag.FlagSet) { o.AddFormat(fs, "form of the output") })
	return c
}
