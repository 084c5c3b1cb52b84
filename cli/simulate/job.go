package simulate

import (
	"time"

	"github.com/spf13/cobra"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/internal/cluster"
	"slackline/internal/memory"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/model/machine"
	"slackline/model/unit"
)

// shareRun finds out whether the processes of a job can share one run, and how
// they share its input. What they cannot share process 0 does alone.
func (o *simulateOptions) shareRun(a *env.Env, m *machine.Machine, word string) error {
	o.Program.Share = nil
	if !a.Shares() {
		return nil
	}
	why := ""
	switch {
	case o.Machine.Model() == simulate.LogGPS:
		why = "a run of the model " + string(o.Machine.Model())
	case o.trace.path != "":
		why = "a run with --trace"
	case o.attribute:
		why = "a run with --attribute"
	case o.result.Plot != "" && o.plotKind != figureFinish && o.Program.Kinds.IsFile(word):
		why = "a message diagram of a file" // for which it is simulated again
	}
	if why != "" {
		return a.FirstOnly(why)
	}
	size := a.Group().Size()
	o.Program.Share = &input.Share{
		Group: a.Group(),
		Ranks: func(ranks, process int) (func(rank int) bool, error) {
			return simulate.RanksOf(m, ranks, process, size)
		},
	}
	return nil
}

// failTogether is the error of a run that processes have shared. One that all of
// them have is reported by the first.
func (o *simulateOptions) failTogether(a *env.Env, err error) error {
	if !a.IsFirst() && simulate.OnAllProcesses(err) {
		return env.ErrNotNeeded
	}
	return err
}

// needed is what a process needed.
type needed struct {
	Peak int64 // of its memory, in bytes
	CPU  time.Duration
}

// recordJob gathers what the processes needed. All of them call it.
func recordJob(a *env.Env, c *cobra.Command, t *simulate.Together) (*provenance.Cluster, error) {
	if !a.Job.Several() || a.Alone || t == nil {
		return nil, nil
	}
	peak, cpu, _ := memory.Used()
	all, err := cluster.GatherValues(c.Context(), a.Group(), &needed{peak, cpu})
	if err != nil || all == nil {
		return nil, err
	}
	r := &provenance.Cluster{
		Processes: t.Processes, Exchanges: t.Exchanges, Bytes: t.Bytes, Rounds: t.Rounds, Crossed: t.Crossed,
	}
	for _, there := range all {
		seconds := there.CPU.Seconds()
		r.PeakMemory = max(r.PeakMemory, there.Peak)
		r.CPUSeconds = max(r.CPUSeconds, seconds)
		r.AllSeconds += seconds
	}
	return r, nil
}

// noteJob says what the processes of a job have exchanged for a run, and needed.
func noteJob(a *env.Env, r *provenance.Cluster) {
	if r == nil {
		return
	}
	a.Note("%d processes: %s between them in %s and %s; at most %s of memory and %s of CPU time each",
		r.Processes, phrase.Plural(r.Crossed, "message"), phrase.Bytes(r.Bytes), phrase.Plural(r.Exchanges, "exchange"),
		phrase.Bytes(r.PeakMemory), unit.Elapsed(time.Duration(r.CPUSeconds*float64(time.Second))))
}
