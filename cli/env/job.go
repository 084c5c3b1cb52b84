package env

// How a verb uses an MPI job
//
// When mpirun or srun starts slackline as one of several processes, the program
// joins their job before the verb runs (observe/mpi). All processes then run the
// same verb with the same arguments:
//
//   - a.Group() is the cluster.Group of the processes; one process alone
//     without a job. Process 0 alone has streams: what the others write to
//     a.Stdout and a.Stderr is dropped, and their a.Stdin is empty. It also reads
//     files for all, see files.go.
//   - A verb that shares its work has the role Shared (verb.go). One with the role FirstOnly is run by process 0 alone,
//     with a warning; the others do not even start it.
//   - A verb that shares some of its work only calls a.FirstOnly(what) before
//     the rest: process 0 goes on alone (a.Group() is that of one process from
//     there on), the others end.
//   - Files are written by process 0: when the shared work is done, all
//     processes return if a.SharedDone(ctx) returns an error, which it does on
//     all but process 0. a.IsFirst() reports whether this is process 0.
//   - An error that a verb returns on any process ends the job, with one
//     message that names process and host.

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"slackline/cli/exit"
	"slackline/cli/job"
	"slackline/internal/atomicfile"
	"slackline/internal/cluster"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/observe/mpi"
)

// ProcessesHere is the number of processes that share the verb on this host.
func (a *Env) ProcessesHere() int {
	if !a.Shares() {
		return 1
	}
	return a.Job.Here
}

// TakePart makes the program one of the processes of a job, if there is one.
func (a *Env) TakePart(ctx context.Context, j *job.Job) {
	if j == nil {
		return
	}
	a.Job = j
	if j.Rank() != 0 {
		a.setStreams(io.Discard, io.Discard)
	}
	a.obeyLauncher(ctx)
}

// obeyLauncher makes the program behave as one that a launcher has started, which may give its processes a terminal
// although its own output goes to a file.
func (a *Env) obeyLauncher(ctx context.Context) {
	a.Launched = true
	a.setStreams(noTerminal(a.Stdout), noTerminal(a.Stderr))
	endInTime(ctx)
}

// endInTime ends the process soon after an interrupt, whatever it does: the launcher, which waits for it, may be gone.
func endInTime(ctx context.Context) {
	const enough = 10 * time.Second
	context.AfterFunc(ctx, func() { time.AfterFunc(enough, func() { os.Exit(exit.Interrupted) }) })
}

// Group is the processes that work together on this verb.
func (a *Env) Group() cluster.Group {
	if a.Job == nil || a.Alone {
		return cluster.Alone()
	}
	if a.watched != nil {
		return a.watched
	}
	return a.Job
}

// IsFirst reports whether this process is the one that writes results.
func (a *Env) IsFirst() bool { return a.Job == nil || a.Job.Rank() == 0 }

// ErrNotNeeded ends a process that has nothing to do: its work is done by process 0.
var ErrNotNeeded = errors.New("process 0 does this alone")

// FirstOnly lets process 0 go on alone, with a warning, and ends the others. What says what cannot be shared.
func (a *Env) FirstOnly(what string) error {
	if !a.Job.Several() || a.Alone {
		return nil
	}
	if !a.IsFirst() {
		return ErrNotNeeded
	}
	a.goAlone()
	a.Warn("%s cannot be shared: of %d processes one does it alone, and the rest wait", what, a.Job.Size())
	return nil
}

// goAlone lets process 0 go on alone, with all cores that it may use: the other processes need none.
func (a *Env) goAlone() {
	a.Alone = true
	cores := 0
	for _, set := range mpi.Cores() {
		cores += bits.OnesCount64(set)
	}
	runtime.GOMAXPROCS(max(cores, runtime.GOMAXPROCS(0)))
}

// SharedDone ends the part of a verb that the processes share. Process 0 goes on with what they exchanged for the
// result's provenance (a.cluster); the others end.
func (a *Env) SharedDone(ctx context.Context) error {
	if !a.Job.Several() || a.Alone {
		return nil
	}
	here := a.Job.Traffic()
	here.Exchanges -= a.Job.Before.Exchanges
	here.Sent -= a.Job.Before.Sent
	all, err := cluster.GatherValues(ctx, a.Job, &here)
	if err != nil {
		return err
	}
	if !a.IsFirst() {
		return ErrNotNeeded
	}
	a.cluster = &provenance.Cluster{Processes: a.Job.Size(), Exchanges: here.Exchanges}
	for _, there := range all {
		a.cluster.Messages += there.Messages
		a.cluster.Bytes += there.Sent
	}
	a.Note("%d processes: %s among all, %s, %s bytes", a.cluster.Processes, phrase.Plural(a.cluster.Exchanges, "exchange"),
		phrase.Plural(a.cluster.Messages, "message"), phrase.Grouped(a.cluster.Bytes))
	return nil
}

// EndInTime ends the program if a verb goes on for long after an interrupt: not every analysis looks for one all the time. Verbs
// that observe have programs to end and results to keep. It returns what takes this back.
func (a *Env) EndInTime(ctx context.Context) (done func()) {
	const enough = 3 * time.Second
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(enough):
			if !a.observes.Load() {
				atomicfile.Abandon()
				a.Progress.Clear()
				a.Say("interrupted")
				os.Exit(exit.Interrupted)
			}
		}
	})
	return func() {
		stop()
		close(ended)
	}
}

// EnterJob decides how this process takes part in the job, if there is one.
func (a *Env) EnterJob(c *cobra.Command) error {
	a.observes.Store(groupOf(c) == Observe)
	switch role := roleOf(c); {
	case role == OnceOnly && a.superfluous():
		return ErrNotNeeded
	case role == FirstOnly && a.Job.Several():
		return a.FirstOnly(verbOf(c))
	}
	return nil
}
