package cli

// How a verb uses an MPI job
//
// When mpirun or srun starts slackline as one of several processes, the program
// joins their job before the verb runs (observe/mpi). All processes then run the
// same verb with the same arguments:
//
//   - a.group() is the cluster.Group of the processes; one process alone
//     without a job. Process 0 alone has streams: what the others write to
//     a.stdout and a.stderr is dropped, and their a.stdin is empty. It also reads
//     files for all, see job_files.go.
//   - A verb that shares its work stands in the list sharers below. One that
//     does not is run by process 0 alone, with a warning; the others do not even
//     begin it.
//   - A verb that shares some of its work only calls a.firstOnly(what) before
//     the rest: process 0 goes on alone (a.group() is that of one process from
//     there on), the others end.
//   - Files are written by process 0: when the shared work is done, all
//     processes return if a.sharedDone(ctx) returns an error, which it does on
//     all but process 0. a.isFirst() tells, too, who is process 0.
//   - An error that a verb returns on any process ends the job, with one
//     message that names process and host.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slackline/internal/cluster"
	"slackline/internal/memory"
	"slackline/internal/plain"
	"slackline/internal/provenance"
	"slackline/observe/mpi"
)

// sharers are the verbs that share their work among the processes of a job.
var sharers = map[string]bool{"simulate": true, "tolerance": true, "waits": true, "profile": true, "campaign run": true, "scaling": true}

// leavers are the verbs that do not join a job: they start programs of their own, which may be meant to be the
// processes of the job, or say something of themselves. A verb stands for all its parts.
var leavers = map[string]bool{
	"record": true, "measure": true, "inject": true, "campaign supervise": true, "doctor": true, "demo": true,
	"help": true, "version": true, "completion": true, toolName: true,
}

// talkers are the leavers that one process is enough for.
var talkers = map[string]bool{"doctor": true, "demo": true, "help": true, "version": true, "completion": true, toolName: true}

// job is this process's part in an MPI job.
type job struct {
	*mpi.Job
	here    int             // processes on this host
	memory  int64           // that this process had when it joined, in bytes
	nowhere string          // the directory in which process 0 works, if this host does not have it
	before  cluster.Traffic // the work of the verb
}

// joinJob joins the job of this process, if it is the child of a bridge; nil: there is no job. The error of one that has
// joined is that of the job.
func joinJob(ctx context.Context, args []string) (*job, error) {
	if !mpi.Joined() {
		return nil, nil
	}
	joined, err := mpi.Join()
	if err != nil {
		return nil, err
	}
	j := &job{Job: joined}
	if err := j.takeScenario(ctx, args); err != nil {
		return j, err
	}
	processes, threads, err := shareOfHost(ctx, joined)
	if err != nil {
		return j, err
	}
	runtime.GOMAXPROCS(threads)
	j.here, j.before = processes, joined.Traffic()
	j.memory, _, _ = memory.Used()
	return j, nil
}

// processesHere is the number of processes that share the verb on this host.
func (a *app) processesHere() int {
	if !a.shares() {
		return 1
	}
	return a.job.here
}

// several reports whether there is a job of more than one process.
func (j *job) several() bool { return j != nil && j.Size() > 1 }

// takePart makes the program one of the processes of a job, if there is one.
func (a *app) takePart(ctx context.Context, j *job) {
	if j == nil {
		return
	}
	a.job = j
	if j.Rank() != 0 {
		a.setStreams(io.Discard, io.Discard)
	}
	a.obeyLauncher(ctx)
}

// obeyLauncher makes the program behave as one that a launcher has started, which may give its processes a terminal
// although its own output goes to a file.
func (a *app) obeyLauncher(ctx context.Context) {
	a.launched = true
	a.setStreams(noTerminal(a.stdout), noTerminal(a.stderr))
	endInTime(ctx)
}

// endInTime ends the process soon after an interrupt, whatever it does: the launcher, which waits for it, may be gone.
func endInTime(ctx context.Context) {
	const enough = 10 * time.Second
	context.AfterFunc(ctx, func() { time.AfterFunc(enough, func() { os.Exit(exitInterrupted) }) })
}

// place is where a process runs: its host and the cores that it may use.
type place struct {
	Host  string
	Cores []uint64 // one bit each
}

// shareOfHost returns how many processes there are on this host, and how many threads this one should use: its share of
// the cores that it may use.
func shareOfHost(ctx context.Context, g *mpi.Job) (processes, threads int, err error) {
	here := place{g.Host(), mpi.Cores()}
	data, err := json.Marshal(here)
	if err != nil {
		return 0, 0, err
	}
	all, err := cluster.AllGather(ctx, g, data)
	if err != nil {
		return 0, 0, err
	}
	users := map[int]int{} // processes by core of this host
	mine := 0
	for _, data := range all {
		var there place
		if err := json.Unmarshal(data, &there); err != nil {
			return 0, 0, err
		}
		if there.Host != here.Host {
			continue
		}
		processes++
		for word, set := range there.Cores {
			for ; set != 0; set &= set - 1 {
				users[64*word+bits.TrailingZeros64(set)]++
			}
		}
	}
	share := 0.0
	for word, set := range here.Cores {
		for ; set != 0; set &= set - 1 {
			mine++
			share += 1 / float64(users[64*word+bits.TrailingZeros64(set)])
		}
	}
	if mine == 0 {
		return processes, max(runtime.GOMAXPROCS(0)/processes, 1), nil
	}
	const rounding = 1e-9 // of the sum of fractions
	return processes, max(int(share+rounding), 1), nil
}

// group is the processes that work together on this verb.
func (a *app) group() cluster.Group {
	if a.job == nil || a.alone {
		return cluster.Alone()
	}
	if a.watched != nil {
		return a.watched
	}
	return a.job
}

// isFirst reports whether this process is the one that writes results.
func (a *app) isFirst() bool { return a.job == nil || a.job.Rank() == 0 }

// errNotNeeded ends a process that has nothing to do: its work is done by process 0.
var errNotNeeded = errors.New("process 0 does this alone")

// firstOnly lets process 0 go on alone, with a warning, and ends the others. What says what cannot be shared.
func (a *app) firstOnly(what string) error {
	if !a.job.several() || a.alone {
		return nil
	}
	if !a.isFirst() {
		return errNotNeeded
	}
	a.goAlone()
	a.warn("%s cannot be shared: of %d processes one does it alone, and the rest wait", what, a.job.Size())
	return nil
}

// goAlone lets process 0 go on alone, with all cores that it may use: the other processes need none.
func (a *app) goAlone() {
	a.alone = true
	cores := 0
	for _, set := range mpi.Cores() {
		cores += bits.OnesCount64(set)
	}
	runtime.GOMAXPROCS(max(cores, runtime.GOMAXPROCS(0)))
}

// sharedDone ends the part of a verb that the processes share. Process 0 goes on with what they exchanged for the
// result's provenance (a.cluster); the others end.
func (a *app) sharedDone(ctx context.Context) error {
	if !a.job.several() || a.alone {
		return nil
	}
	here := a.job.Traffic()
	here.Exchanges -= a.job.before.Exchanges
	here.Sent -= a.job.before.Sent
	data, err := json.Marshal(here)
	if err != nil {
		return err
	}
	all, err := cluster.Gather(ctx, a.job, data)
	if err != nil {
		return err
	}
	if !a.isFirst() {
		return errNotNeeded
	}
	a.cluster = &provenance.Cluster{Processes: a.job.Size(), Exchanges: here.Exchanges}
	for _, data := range all {
		var there cluster.Traffic
		if err := json.Unmarshal(data, &there); err != nil {
			return err
		}
		a.cluster.Messages += there.Messages
		a.cluster.Bytes += there.Sent
	}
	a.note("%d processes: %s among all, %s, %s bytes", a.cluster.Processes, plural(a.cluster.Exchanges, "exchange"),
		plural(a.cluster.Messages, "message"), grouped(a.cluster.Bytes))
	return nil
}

// provenance returns a record of this call of the program.
func (a *app) provenance() *provenance.Record {
	record := provenance.New(a.args)
	record.Cluster = a.cluster
	return record
}

// enterJob finds out whether the verb shares its work with the other processes of a job.
func (a *app) enterJob(c *cobra.Command) error {
	if among(talkers, c) && a.superfluous() {
		return errNotNeeded
	}
	if among(leavers, c) {
		return nil
	}
	if a.job.several() && !among(sharers, c) {
		return a.firstOnly(strings.TrimPrefix(c.CommandPath(), toolName+" "))
	}
	return nil
}

// among reports whether a command, or the verb that it is a part of, stands in a list.
func among(list map[string]bool, c *cobra.Command) bool {
	for !list[strings.TrimPrefix(c.CommandPath(), toolName+" ")] {
		if !c.HasParent() || !c.Parent().HasParent() {
			return false
		}
		c = c.Parent()
	}
	return true
}

// failed tells the whole job that this process fails, and why. It reports false if there is no job.
func (j *job) failed(code int, text string) bool {
	if j == nil {
		return false
	}
	if text != "" && j.Size() > 1 && code != exitUsage {
		if j.nowhere != "" {
			text += fmt.Sprintf(" (the directory %s, in which process 0 works, is missing there)", j.nowhere)
		}
		text = fmt.Sprintf("process %d on %s: %s", j.Rank(), j.Host(), text)
	}
	j.Fail(code, plain.Text(text))
	return true
}
