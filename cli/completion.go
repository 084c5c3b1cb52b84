package cli

import (
	"io"

	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/suggest"
)

func completionCommand(a *env.Env) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:         "completion SHELL",
		Short:       "Print a script that completes verbs, flags and names in a shell.",
		ValidArgs:   shells,
		Annotations: flags.Arguments("SHELL", "bash, zsh, fish or powershell"),
		Example: `  source <(slackline completion bash)
  slackline completion zsh > "${fpath[1]}/_slackline"
  slackline completion fish > ~/.config/fish/completions/slackline.fish`,
		Args: flags.ExactArgs("SHELL"),
		RunE: func(c *cobra.Command, args []string) error {
			generate, ok := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return a.Root.GenBashCompletionV2(w, true) },
				"zsh":        a.Root.GenZshCompletion,
				"fish":       func(w io.Writer) error { return a.Root.GenFishCompletion(w, true) },
				"powershell": a.Root.GenPowerShellCompletionWithDesc,
			}[args[0]]
			if !ok {
				return &exit.UsageError{
					Text:    args[0] + " is not a shell that is known here (bash, zsh, fish, powershell)" + suggest.Phrase(args[0], shells),
					Command: c.CommandPath(),
				}
			}
			return generate(a.Stdout)
		},
	}
}
