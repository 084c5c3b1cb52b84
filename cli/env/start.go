package env

// What a process does that a launcher has started, before it has joined the
// job, or if it cannot: all that are in the same situation find the same
// mistakes, and one of them is to report them.

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"slackline/cli/exit"
	"slackline/cli/job"
	"slackline/observe/mpi"
)

// untilEnded is how long a process gives process 0 to report and the launcher to end all others. What only this process
// has found is reported after that.
const untilEnded = 3 * time.Second

// SeekJob joins the job in which a launcher has started this process, if its verb takes part in one. That comes before
// flags are looked at: what they mean is decided together.
func (a *Env) SeekJob(ctx context.Context, root *cobra.Command) error {
	c, _, err := root.Find(a.Args)
	if a.Job != nil || err != nil || a.asksHelp() || !roleOf(c).joins() {
		return nil
	}
	return a.becomeBridge(ctx)
}

// becomeBridge replaces this process by the bridge to MPI, if a launcher has started it in a job. A process that is the
// only one of its job needs no bridge.
func (a *Env) becomeBridge(ctx context.Context) error {
	start, is, err := mpi.StartedIn(os.Getenv)
	if err == nil && !is {
		return nil
	}
	if err == nil && start.Size == 1 && os.Getenv(mpi.JobVariable) != "on" {
		a.obeyLauncher(ctx)
		return nil
	}
	same := err != nil // for all processes
	if err == nil {
		host, _ := os.Hostname()
		err = start.Become(ctx, os.Getenv(VariableOf("mpi")), job.ProgramName(), a.Args)
		err = fmt.Errorf("%s has started this as process %d of %d, on %s, but it cannot join the others: %w\n(%s=off runs it by itself)",
			start.Launcher, start.Rank, start.Size, host, err, mpi.JobVariable)
	}
	if start.Rank > 0 {
		select {
		case <-time.After(untilEnded):
		case <-ctx.Done():
		}
		if same || ctx.Err() != nil {
			a.setStreams(a.Stdout, io.Discard)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.Say(exit.PlainText(err))
	start.Abort(exit.Failure)
	return exit.ErrReported
}

// superfluous reports whether this is a process of a job that it has not joined, and not process 0.
func (a *Env) superfluous() bool {
	start, is, err := mpi.StartedIn(os.Getenv)
	return err == nil && is && a.Job == nil && start.Rank > 0
}

// BeQuiet drops the output of superfluous processes of which all would give the same help. There is no terminal:
// launchers may give their processes one although their own output goes to a file.
func (a *Env) BeQuiet() {
	if _, is, err := mpi.StartedIn(os.Getenv); is && err == nil {
		a.setStreams(noTerminal(a.Stdout), noTerminal(a.Stderr))
	}
	if a.asksHelp() && a.superfluous() {
		a.setStreams(io.Discard, io.Discard)
	}
}

// asksHelp reports whether the arguments ask for nothing but help.
func (a *Env) asksHelp() bool {
	arguments := a.Args
	if i := slices.Index(arguments, "--"); i >= 0 {
		arguments = arguments[:i]
	}
	return len(arguments) == 0 || arguments[0] == "help" || slices.Contains(arguments, "-h") || slices.Contains(arguments, "--help")
}

// FailOutside reports a failure outside a job. All processes that a launcher has started find wrong usage, unless they
// were given different arguments.
func (a *Env) FailOutside(code int, text string) {
	start, is, err := mpi.StartedIn(os.Getenv)
	several := err == nil && is && code == exit.Usage
	if several && start.Rank > 0 {
		time.Sleep(untilEnded)
		host, _ := os.Hostname()
		text = fmt.Sprintf("process %d on %s: %s", start.Rank, host, text)
	}
	if text != "" {
		a.Say(text)
	}
	if several {
		start.Abort(code)
	}
}
