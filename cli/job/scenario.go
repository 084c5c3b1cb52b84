package job

import (
	"context"
	"fmt"
	"os"
	"slices"

	"slackline/cli/flags"
	"slackline/internal/cluster"
	"slackline/internal/provenance"
)

// ProgramName says which program this is, down to its build.
func ProgramName() string {
	return fmt.Sprintf("%s %s, build %s, %s", flags.Tool, provenance.Version(), provenance.Build(), provenance.Platform())
}

// scenario is what process 0 was asked to do, and where.
type scenario struct {
	Arguments []string
	Directory string // empty: unknown
}

// takeScenario compares the arguments of this process with those of process 0, and goes to its directory.
func (j *Job) takeScenario(ctx context.Context, args []string) error {
	mine := scenario{Arguments: args}
	mine.Directory, _ = os.Getwd()
	first := mine
	if err := cluster.BroadcastValue(ctx, j, &first); err != nil {
		return err
	}
	if err := sameArguments(mine.Arguments, first.Arguments); err != nil {
		return err
	}
	if first.Directory == "" || first.Directory == mine.Directory || os.Chdir(first.Directory) == nil {
		return nil
	}
	j.nowhere = first.Directory
	return goNowhere()
}

// sameArguments names the first argument that is not that of process 0.
func sameArguments(here, first []string) error {
	if slices.Equal(here, first) {
		return nil
	}
	at := 0
	for at < len(here) && at < len(first) && here[at] == first[at] {
		at++
	}
	word := func(list []string) string {
		if at < len(list) {
			return fmt.Sprintf("%q", list[at])
		}
		return "missing"
	}
	return fmt.Errorf("argument %d is %s here, but %s at process 0; give all processes of a job the same arguments", at+1, word(here),
		word(first))
}

// goNowhere goes to a directory in which no name means anything. What process 0 reads for all is not missed there, and a
// name relative to its directory cannot be taken for another file.
func goNowhere() error {
	dir, err := os.MkdirTemp("", flags.Tool+"-")
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return os.Remove(dir)
}
