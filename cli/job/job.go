// Package job takes part in an MPI job: it joins the processes that a launcher started, shares the cores of a host among
// them, and checks that all were asked for the same. It does not know what the verbs compute.
package job

import (
	"context"
	"encoding/json"
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
	processes, threads, err := shareOfHost(ctx, joined)
	if err != nil {
		return j, err
	}
	runtime.GOMAXPROCS(threads)
	j.Here, j.Before = processes, joined.Traffic()
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
