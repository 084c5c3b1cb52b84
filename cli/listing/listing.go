// Package listing is the shape of verbs that list what is built in, as text, JSON or CSV.
package listing

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/table"
)

// listOptions are the flags of verbs that print a table.
type Options struct{ Format flags.Choice }

func NewOptions() *Options {
	return &Options{env.Formats()}
}

func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.Var(&o.Format, "format", "form of the output")
}

// listCommand is the verb VERB list: it prints a table of what is built in.
func Command(a *env.Env, verb, short string, rows func() (*table.Table, error)) *cobra.Command {
	o := NewOptions()
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
			return a.WriteResult("list", env.Table{Table: t}, &env.ResultFlags{Format: o.Format}, nil)
		},
	}
	a.AddGroup(c, "Flags", o.AddFlags)
	return c
}
