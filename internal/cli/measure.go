package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) measureCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "measure",
		Short: "Measure this machine: its noise, its network, its clocks.",
		Example: `  slackline measure noise
  slackline measure noise --time 30s --cpus all --profile node.txt --plot node.svg
  slackline measure network --machine-file mine.yaml
  slackline measure clocks --ranks 4`,
		RunE: a.needVerb,
	}
	c.AddCommand(
		a.measureNoiseCommand(), a.measureNoiseChildCommand(),
		a.measureNetworkCommand(), a.measureNetworkServerCommand(),
		a.measureClocksCommand(),
	)
	return c
}
