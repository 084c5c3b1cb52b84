package env

// Work that one process does faster
//
// One simulation, and the analysis of a trace, go in lockstep. Where that takes longer than one process would need,
// cluster.Watch ends it on all processes; process 0 then does all of it alone, with the same result. More processes than
// cores, all of which process 0 may use, cannot be faster, so that it does all of it from the start.

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/flags"
	"slackline/internal/cluster"
	"slackline/internal/memory"
	"slackline/internal/phrase"
	"slackline/model/unit"
)

// When processes share what goes in lockstep.
const (
	shareAuto   = "auto"   // as long as that is faster than one process
	shareAlways = "always" // for measurements, and tests
)

// AddShare adds the flag that keeps the processes of a job together.
func AddShare(fs *pflag.FlagSet, share *string, what string) {
	flags.AddChoice(fs, share, "share", "in an MPI job: share "+what+" as long as that is faster than one process (auto), or in any case "+
		"(always); the result is the same", shareAuto, shareAuto, shareAlways)
}

// FasterAlone lets the processes of a job do something together, or process 0 alone if they turn out to be slower.
func (a *Env) FasterAlone(c *cobra.Command, share string, do func() error) error {
	if !a.Shares() || share == shareAlways {
		return do()
	}
	if cores := a.Job.Vain; cores > 0 {
		return a.doAlone(c, do, fmt.Sprintf("%d processes have %s, on which one is faster: process 0 works alone, and the others wait",
			a.Job.Size(), phrase.Plural(cores, "core")))
	}
	var cpu func() time.Duration
	if a.Job.Crowded {
		cpu = memory.CPU
	}
	a.watched = cluster.Watch(a.Job, cpu, a.canDoAlone)
	err := do()
	a.watched = nil
	var slower *cluster.SlowerError
	if !errors.As(err, &slower) {
		return err
	}
	return a.doAlone(c, do, fmt.Sprintf(
		"%d processes took %s for %s of work that one does in %s: process 0 starts again, alone, and the others wait",
		a.Job.Size(), unit.Elapsed(slower.Took), phrase.Plural(slower.Exchanges, "step"), unit.Elapsed(slower.Alone)))
}

// doAlone ends all processes but the first, which does it alone and says why.
func (a *Env) doAlone(c *cobra.Command, do func() error, text string) error {
	if err := a.SharedDone(c.Context()); err != nil {
		return err
	}
	a.Warn("%s (--share always keeps them together)", text)
	a.goAlone()
	a.cluster.Alone = text
	return do()
}

// canDoAlone reports whether process 0 has the memory to do alone what it shares, as far as one can see: as much as
// the processes on other hosts have. Those on its host end before it begins.
func (a *Env) canDoAlone() bool {
	peak, _, known := memory.Used()
	free, ok := memory.Available()
	if others := a.Job.Size() - a.Job.Here; known && ok && max(peak-a.Job.Memory, 0)*int64(others) > free {
		a.Note("one process would be faster, but has no memory for all of it: %d processes go on together", a.Job.Size())
		return false
	}
	return true
}

// notedBefore reports whether a note was already printed when work that is now repeated was shared.
func (a *Env) toldBefore(text string) bool {
	if a.watched != nil {
		a.noted = append(a.noted, text)
		return false
	}
	return slices.Contains(a.noted, text)
}
