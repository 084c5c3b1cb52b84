package cli

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"slackline/analyze/simulate"
	"slackline/internal/cluster"
	"slackline/internal/input"
	"slackline/internal/memory"
	"slackline/internal/provenance"
	"slackline/model/machine"
)

// shareRun finds out whether the processes of a job can share one run, and how
// they share its input. What they cannot share process 0 does alone.
func (o *simulateOptions) shareRun(a *app, m *machine.Machine, word string) error {
	if !a.shares() {
		return nil
	}
	why := ""
	switch {
	case o.model.value == string(simulate.LogGPS):
		why = "a run of the model " + o.model.value
	case o.trace.path != "":
		why = "a run with --trace"
	case o.attribute:
		why = "a run with --attribute"
	case o.figure.path != "" && o.figure.kind.value != figureFinish && o.program.kinds.IsFile(word):
		why = "a message diagram of a file" // for which it is simulated again
	}
	if why != "" {
		return a.firstOnly(why)
	}
	size := a.group().Size()
	o.program.share = &input.Share{
		Group: a.group(),
		Ranks: func(ranks, process int) (func(rank int) bool, error) {
			return simulate.RanksOf(m, ranks, process, size)
		},
	}
	return nil
}

// When processes share one run.
const (
	shareAuto   = "auto"   // as long as that is faster than one process
	shareAlways = "always" // for measurements, and tests
)

// canDoAlone reports whether process 0 has the memory to simulate so many ranks alone, as far as one can see. The other
// processes on its host end before it begins.
func (a *app) canDoAlone(ranks int) bool {
	peak, _, known := memory.Used()
	free, ok := memory.Available()
	if !known || !ok {
		return true
	}
	peak = max(peak-a.job.memory, 0) // for the run
	if peak*int64(a.job.Size()-a.job.here) <= free && checkMemory(ranks, 1, memory.Available) == nil {
		return true
	}
	a.note("one process would be faster, but has no memory for all of it: %d processes go on together", a.job.Size())
	return false
}

// leaveOthers lets process 0 go on alone with a run that is slower when it is shared, and ends the others. It returns the
// whole of the input, of which process 0 had a part.
func (o *simulateOptions) leaveOthers(a *app, c *cobra.Command, part *input.Input, word string, why *simulate.SlowerError) (*input.Input, error) {
	if err := a.sharedDone(c.Context()); err != nil {
		return nil, err
	}
	size := a.job.Size()
	text := fmt.Sprintf("%d processes took %s for %s that one computes in %s: process 0 simulates alone, and the rest wait",
		size, tidy(why.Took), plural(why.Rounds, "window"), tidy(why.Alone))
	a.warn("%s (--share always keeps them together)", text)
	a.goAlone()
	a.cluster.Rounds, a.cluster.Alone = why.Rounds, text
	if part.Whole != nil {
		return part.Whole, nil
	}
	o.program.share = nil
	quiet := a.quiet
	a.quiet = true // what there is to note of it has been noted
	defer func() { a.quiet = quiet }()
	return o.program.open(a, c, word, o.format.value == formatJSON)
}

// failTogether is the error of a run that processes have shared. One that all of
// them have is told by the first.
func (o *simulateOptions) failTogether(a *app, err error) error {
	if !a.isFirst() && simulate.OnAllProcesses(err) {
		return errNotNeeded
	}
	return err
}

// recordJob gathers what the processes needed. All of them call it.
func (a *app) recordJob(c *cobra.Command, t *simulate.Together) (*provenance.Cluster, error) {
	if !a.job.several() || a.alone || t == nil {
		return nil, nil
	}
	peak, cpu, _ := memory.Used()
	mine := binary.AppendUvarint(nil, uint64(peak))
	mine = binary.AppendUvarint(mine, uint64(cpu))
	all, err := cluster.Gather(c.Context(), a.group(), mine)
	if err != nil || all == nil {
		return nil, err
	}
	r := &provenance.Cluster{
		Processes: t.Processes, Exchanges: t.Exchanges, Bytes: t.Bytes, Rounds: t.Rounds, Crossed: t.Crossed,
	}
	for _, said := range all {
		peak, n := binary.Uvarint(said)
		if n <= 0 {
			return nil, errors.New("a process does not tell what it needed")
		}
		cpu, _ := binary.Uvarint(said[n:])
		seconds := time.Duration(cpu).Seconds()
		r.PeakMemory = max(r.PeakMemory, int64(peak))
		r.CPUSeconds = max(r.CPUSeconds, seconds)
		r.AllSeconds += seconds
	}
	return r, nil
}

// noteJob says what the processes of a job have exchanged for a run, and needed.
func (a *app) noteJob(r *provenance.Cluster) {
	if r == nil {
		return
	}
	a.note("%d processes: %s between them in %s and %s; at most %s of memory and %s of CPU time each",
		r.Processes, plural(r.Crossed, "message"), bytesText(r.Bytes), plural(r.Exchanges, "exchange"),
		bytesText(r.PeakMemory), tidy(time.Duration(r.CPUSeconds*float64(time.Second))))
}

// bytesText prints a number of bytes, for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return plural(n, "byte")
}
