package cli

import (
	"slackline/analyze/simulate"
	"slackline/internal/input"
	"slackline/model/machine"
	"slackline/model/unit"
)

// shareRun finds out whether the processes of a job can share one run, and how
// they share its input. What they cannot share process 0 does alone.
func (o *simulateOptions) shareRun(a *app, m *machine.Machine, word string) error {
	if !a.job.several() || a.alone {
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
	case o.figure.path != "" && o.figure.kind.value != figureFinish && input.IsFile(word):
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

// notNeededAfter ends a process other than the first after a run that all of them
// have shared: the first one tells how it ended.
func notNeededAfter(err error) error {
	if err == nil || simulate.OnAllProcesses(err) {
		return errNotNeeded
	}
	return err
}

// noteTogether says what the processes of a job have exchanged for a run.
func (a *app) noteTogether(t *simulate.Together) {
	if t == nil || t.Note != "" {
		return
	}
	a.note("%s: %s crossed between them, %s in %s", grouped(t.Processes)+" processes", plural(t.Crossed, "message"),
		unit.Size(t.Bytes), plural(t.Exchanges, "exchange"))
}
