// Package measure is the verb measure: it measures noise, network, clocks, collectives and memory of this machine.
package measure

import (
	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/flags"
)

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "measure", Group: env.Observe, Job: env.Outside, New: command,
	Documents: env.Documents{
		"measure-noise":       {noiseDocument{}},
		"measure-network":     {networkDocument{}},
		"measure-clocks":      {clocksDocument{}},
		"measure-collectives": {collectivesDocument{}},
		"measure-memory":      {memoryDocument{}},
		"measure-schemes":     {schemesDocument{}},
	},
}

func command(a *env.Env) *cobra.Command {
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
		RunE: flags.NeedVerb,
	}
	c.AddCommand(
		measureNoiseCommand(a), measureNoiseChildCommand(a),
		measureNetworkCommand(a), measureNetworkServerCommand(),
		measureClocksCommand(a),
		measureCollectivesCommand(a),
		measureSchemesCommand(a),
		measureMemoryCommand(a),
	)
	return c
}
