package cli

import (
	"io"

	"github.com/spf13/cobra"

	"slackline/internal/suggest"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:         "completion SHELL",
		Short:       "Print a script that completes verbs, flags and names in a shell.",
		ValidArgs:   shells,
		Annotations: arguments("SHELL", "bash, zsh, fish or powershell"),
		Example: `  source <(slackline completion bash)
  slackline completion zsh > "${fpath[1]}/_slackline"
  slackline completion fish > ~/.config/fish/completions/slackline.fish`,
		Args: exactArgs("SHELL"),
		RunE: func(c *cobra.Command, args []string) error {
			generate, ok := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return a.root.GenBashCompletionV2(w, true) },
				"zsh":        a.root.GenZshCompletion,
				"fish":       func(w io.Writer) error { return a.root.GenFishCompletion(w, true) },
				"powershell": a.root.GenPowerShellCompletionWithDesc,
			}[args[0]]
			if !ok {
				return &usageError{
					text:    args[0] + " is not a shell that is known here (bash, zsh, fish, powershell)" + suggest.Phrase(args[0], shells),
					command: c.CommandPath(),
				}
			}
			return generate(a.stdout)
		},
	}
}
