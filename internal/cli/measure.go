package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) measureCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "measure",
		Short: "Measure this machine: its noise, its network, its clocks, its MPI.",
		Example: `  slackline measure noise
  slackline measure noise --time 30s --cpus all --profile node.txt --plot node.svg
  slackline measure network --machine-file mine.yaml
  slackline measure clocks --ranks 4
  slackline measure collectives --ranks 2,4,8 --sizes 8,1KiB
  slackline measure schemes --operation allreduce --ranks 2^1..2^12 --machine cscs-testbed
  slackline measure memory --ranks 2,4,8`,
		RunE: a.needVerb,
	}
	c.AddCommand(
		a.measureNoiseCommand(), a.measureNoiseChildCommand(),
		a.measureNetworkCommand(), a.measureNetworkServerCommand(),
		a.measureClocksCommand(),
		a.measureCollectivesCommand(),
		a.measureSchemesCommand(),
		a.measureMemoryCommand(),
	)
	return c
}
