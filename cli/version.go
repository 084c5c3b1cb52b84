package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/provenance"
)

func versionLine() string {
	return fmt.Sprintf("%s %s (%s)", flags.Tool, provenance.Version(), provenance.Platform())
}

func versionCommand(a *env.Env) *cobra.Command {
	sbom := false
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and what it was built with.",
		Example: `  slackline version
  slackline version --sbom > slackline.cdx.json`,
		Args: flags.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if sbom {
				return provenance.WriteSBOM(a.Stdout)
			}
			_, err := fmt.Fprintln(a.Stdout, versionLine())
			return err
		},
	}
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		fs.BoolVar(&sbom, "sbom", false, "print the modules that this program consists of, as a bill of materials (CycloneDX JSON)")
	})
	return c
}
