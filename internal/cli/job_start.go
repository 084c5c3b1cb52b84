package cli

// What a process does that a launcher has started, before it has joined the
// job, or if it cannot: all that are in the same situation find the same
// mistakes, and one of them is to speak.

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"slackline/observe/mpi"
)

// untilEnded is how long a process gives process 0 to speak and the launcher to end all others. What only this process
// has found is told after that.
const untilEnded = 3 * time.Second

// seekJob joins the job in which a launcher has started this process, if its verb takes part in one. That comes before
// flags are looked at: what they mean is decided together.
func (a *app) seekJob(ctx context.Context, root *cobra.Command) error {
	c, _, err := root.Find(a.args)
	if a.job != nil || err != nil || a.asksHelp() || among(leavers, c) {
		return nil
	}
	return a.becomeBridge(ctx)
}

// becomeBridge replaces this process by the bridge to MPI, if a launcher has started it in a job. A process that is the
// only one of its job needs nobody to talk to.
func (a *app) becomeBridge(ctx context.Context) error {
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
		err = start.Become(ctx, os.Getenv(variableOf("mpi")), programName(), a.args)
		err = fmt.Errorf("%s has started this as process %d of %d, on %s, but it cannot join the others: %w\n(%s=off runs it by itself)",
			start.Launcher, start.Rank, start.Size, host, err, mpi.JobVariable)
	}
	if start.Rank > 0 {
		select {
		case <-time.After(untilEnded):
		case <-ctx.Done():
		}
		if same || ctx.Err() != nil {
			a.setStreams(a.stdout, io.Discard)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.say(plainText(err))
	start.Abort(exitFailure)
	return errSaid
}

// superfluous reports whether this is a process of a job that it has not joined, and not process 0.
func (a *app) superfluous() bool {
	start, is, err := mpi.StartedIn(os.Getenv)
	return err == nil && is && a.job == nil && start.Rank > 0
}

// beQuiet drops the output of superfluous processes of which all would give the same help. There is no terminal:
// launchers may give their processes one although their own output goes to a file.
func (a *app) beQuiet() {
	if _, is, err := mpi.StartedIn(os.Getenv); is && err == nil {
		a.setStreams(noTerminal(a.stdout), noTerminal(a.stderr))
	}
	if a.asksHelp() && a.superfluous() {
		a.setStreams(io.Discard, io.Discard)
	}
}

// asksHelp reports whether the arguments ask for nothing but help.
func (a *app) asksHelp() bool {
	arguments := a.args
	if i := slices.Index(arguments, "--"); i >= 0 {
		arguments = arguments[:i]
	}
	return len(arguments) == 0 || arguments[0] == "help" || slices.Contains(arguments, "-h") || slices.Contains(arguments, "--help")
}

// failOutside tells of a failure outside a job. All processes that a launcher has started find wrong usage, unless they
// were given different arguments.
func (a *app) failOutside(code int, text string) {
	start, is, err := mpi.StartedIn(os.Getenv)
	several := err == nil && is && code == exitUsage
	if several && start.Rank > 0 {
		time.Sleep(untilEnded)
		host, _ := os.Hostname()
		text = fmt.Sprintf("process %d on %s: %s", start.Rank, host, text)
	}
	if text != "" {
		a.say(text)
	}
	if several {
		start.Abort(code)
	}
}
