package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"slackline/internal/provenance"
)

func versionLine() string {
	return fmt.Sprintf("%s %s (%s)", toolName, provenance.Version(), provenance.Platform())
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program and what it was built with.",
		Example: "  slackline version",
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, versionLine())
			return err
		},
	}
}
