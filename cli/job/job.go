// Package job takes part in an MPI job: it joins the processes that a launcher started, shares the cores of a host among
// them, and checks that all were asked for the same. It does not know what the verbs compute.
package job

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"

	"slackline/cli/exit"
	"slackline/internal/cluster"
	"slackline/internal/memory"
	"slackline/internal/plain"
	"slackline/observe/mpi"
)

// Job is this process's part in an MPI job.
type Job struct {
	*mpi.Job
	Here    int             // processes on this host
	Crowded bool            // this one does not have a core of its own
	Vain    int             // cores of process 0, if no process of the job has others and there are more processes; else 0
	Memory  int64           // that this process had when it joined, in bytes
	nowhere string          // the directory in which process 0 works, if this host does not have it
	Before  cluster.Traffic // the work of the verb
}

// Join joins the job of this process, if it is the child of a bridge; nil: there is no job. The error of one that has
// joined is that of the job.
func Join(ctx context.Context, args []string) (*Job, error) {
	if !mpi.Joined() {
		return nil, nil
	}
	joined, err := mpi.Join()
	if err != nil {
		return nil, err
	}
	j := &Job{Job: joined}
	if err := j.takeScenario(ctx, args); err != nil {
		return j, err
	}
	s, err := shareOfHost(ctx, joined)
	if err != nil {
		return j, err
	}
	const rounding = 1e-9 // of the sum of fractions
	runtime.GOMAXPROCS(max(int(s.cores+rounding), 1))
	j.Crowded, j.Vain = s.cores+rounding < 1, s.vain
	j.Here, j.Before = s.processes, joined.Traffic()
	j.Memory, _, _ = memory.Used()
	return j, nil
}

// Several reports whether there is a job of more than one process.
func (j *Job) Several() bool { return j != nil && j.Size() > 1 }

// place is where a process runs: its host and the cores that it may use.
type place struct {
	Host  string
	Cores []uint64 // one bit each
}

// count is how many cores there are in a set.
func count(cores []uint64) int {
	n := 0
	for _, set := range cores {
		n += bits.OnesCount64(set)
	}
	return n
}

// share is what a process has of its host.
type share struct {
	processes int     // on the host
	cores     float64 // of those that it may use; those of several processes are divided among them
	vain      int     // as Job.Vain
}

// shareOf is the share of the process with a rank. Cores that are not known are divided evenly.
func shareOf(all []place, rank, cores int) share {
	here, s := all[rank], share{}
	users := map[int]int{} // processes by core of this host
	for _, there := range all {
		if there.Host != here.Host {
			continue
		}
		s.processes++
		for word, set := range there.Cores {
			for ; set != 0; set &= set - 1 {
				users[64*word+bits.TrailingZeros64(set)]++
			}
		}
	}
	for word, set := range here.Cores {
		for ; set != 0; set &= set - 1 {
			s.cores += 1 / float64(users[64*word+bits.TrailingZeros64(set)])
		}
	}
	if count(here.Cores) == 0 {
		s.cores = float64(cores) / float64(s.processes)
	}
	if s.processes == len(all) && len(users) < len(all) && len(users) == count(all[0].Cores) {
		s.vain = len(users)
	}
	return s
}

// shareOfHost is the share of this process.
func shareOfHost(ctx context.Context, g *mpi.Job) (share, error) {
	all, err := cluster.AllGatherValues(ctx, g, &place{g.Host(), mpi.Cores()})
	if err != nil {
		return share{}, err
	}
	return shareOf(all, g.Rank(), runtime.GOMAXPROCS(0)), nil
}

// Failed reports to the whole job that this process fails, and why. It reports false if there is no job.
func (j *Job) Failed(code int, text string) bool {
	if j == nil {
		return false
	}
	if text != "" && j.Size() > 1 && code != exit.Usage {
		if j.nowhere != "" {
			text += fmt.Sprintf(" (the directory %s, in which process 0 works, is missing there)", j.nowhere)
		}
		text = fmt.Sprintf("process %d on %s: %s", j.Rank(), j.Host(), text)
	}
	j.Fail(code, plain.Text(text))
	return true
}
