package scenario

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"slackline/analyze/replay"
	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/internal/phrase"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// ProgramDigest names a recorded run by what became of it, for its recorded ranks.
func ProgramDigest(p *replay.Program) (string, error) {
	recorded, err := p.WithRanks(p.Report().Recorded)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	if err := schedule.WriteSLK(hash, recorded); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// MappingDigest names a mapping by its name, or by what is in its file.
func MappingDigest(name string) (string, error) {
	if slices.Contains(collective.MappingNames(), name) {
		return name, nil
	}
	record, err := input.RecordFile(name, "mapping")
	return record.SHA256, err
}

// bytesPerRank is what a rank of a simulation needs at least, even if it does
// nothing.
const bytesPerRank = 160

// CheckMemory refuses so many ranks that the system would end the program, in each of the processes on this host.
func CheckMemory(ranks, processes int, available func() (int64, bool)) error {
	need := int64(ranks) * bytesPerRank * int64(processes)
	free, known := available()
	if !known || need <= free {
		return nil
	}
	what := phrase.Plural(ranks, "rank")
	if processes > 1 {
		what += fmt.Sprintf(" in each of %d processes on a host", processes)
	}
	return fmt.Errorf("%s need at least %s of memory, but only %s are free", what, phrase.Bytes(need), phrase.Bytes(free))
}

// Named adds the name of an input to errors that are about it and name no file.
func Named(in *input.Input, err error) error {
	var unmatched *schedule.UnmatchedError
	if errors.Is(err, simulate.ErrNoTimeline) || errors.As(err, &unmatched) && unmatched.File == "" {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	return err
}

// Simulate runs the simulation with a progress line, and says how fast it went.
func Simulate(a *env.Env, c *cobra.Command, in *input.Input, m *machine.Machine, o simulate.Options) (*simulate.Result, error) {
	line := a.StartProgress()
	if line != nil {
		o.Progress = func(now unit.Duration, messages int64) {
			line.Report(func() string {
				return fmt.Sprintf("%s: simulated %s, %s messages", in.Name, now.Short(), phrase.Grouped(messages))
			})
		}
	}
	begin := time.Now()
	result, err := simulate.Run(c.Context(), in.Program, m, o)
	line.Clear()
	if err != nil {
		return nil, Named(in, err)
	}
	took := time.Since(begin)
	a.Note("%s in %s (%s), engine %s, %s", phrase.Plural(result.Messages, "message"), unit.Elapsed(took),
		phrase.Rate(result.Messages, took), result.Engine, phrase.Plural(result.Threads, "thread"))
	a.WarnAll(result.Warnings)
	return result, nil
}
