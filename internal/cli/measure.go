package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) measureCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "measure",
		Short: "Measure this machine: what its CPUs lose to noise.",
		Example: `  slackline measure noise
  slackline measure noise --time 30s --cpus all --profile node.txt --plot node.svg`,
		RunE: a.needVerb,
	}
	c.AddCommand(a.measureNoiseCommand(), a.measureNoiseChildCommand())
	return c
}
