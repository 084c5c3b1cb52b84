package advise

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"slackline/analyze/advise"
	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// run is a run that is simulated again.
type run struct {
	name         string
	scenario     advise.Scenario
	measured     unit.Duration // 0: it was not recorded
	source       func(callPath string) string
	record       provenance.Input
	estimated    bool     // the machine was estimated from the run
	machineWords []string // flags of the machine
	words        []string // further flags of commands that simulate the run
}

// open opens runs. The machine is that of the flags, or the one that the first run shows.
func (o *adviseOptions) open(a *env.Env, c *cobra.Command, words []string) ([]*run, error) {
	return o.openLike(a, c, words, nil)
}

// openLike is open with the machine of another run.
func (o *adviseOptions) openLike(a *env.Env, c *cobra.Command, words []string, like *run) ([]*run, error) {
	var runs []*run
	for _, word := range words {
		r, err := o.openRun(a, c, word, like)
		if err != nil {
			return nil, err
		}
		if like == nil {
			like = r
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (o *adviseOptions) openRun(a *env.Env, c *cobra.Command, word string, like *run) (*run, error) {
	o.Program.KeepRun = true
	if o.Machine.Model() != simulate.LogGPS {
		o.Program.ToRun = &input.ToRun{}
	}
	given := o.Machine.Override()
	var s *scenario.Scenario
	var in *input.Input
	var err error
	r := &run{name: word}
	if o.Machine.Name == "" && given.IsZero() && input.IsTrace(word) {
		if in, err = o.Program.Open(a, c, word, true); err != nil {
			return nil, err
		}
		mapping, err := collective.FindMapping(o.Mapping)
		if err != nil {
			return nil, err
		}
		r.scenario.Mapping = mapping
		if like == nil {
			r.scenario.Machine, r.estimated = advise.Estimate(in.Recorded), true
			r.machineWords = estimateWords(r.scenario.Machine)
		} else {
			r.scenario.Machine = like.scenario.Machine
		}
	} else {
		if s, err = o.Resolve(a, c); err != nil {
			return nil, err
		}
		if in, err = s.Open(word, true); err != nil {
			return nil, err
		}
		r.scenario.Machine, r.scenario.Mapping = s.Machine, s.Mapping
		r.machineWords = scenario.MachineWords(c)
		if !c.Flags().Changed("machine") && o.Machine.Name != "" {
			r.machineWords = append([]string{"--machine", o.Machine.Name}, r.machineWords...)
		}
	}
	x := &r.scenario
	x.Program, x.Model, x.Threads = in.Program, o.Machine.Model(), o.threads
	x.Grid = o.Program.GridOf(in.Recorded)
	noise, err := o.Noise.Describe(source.Disk, x.Program.Ranks(), o.Program.Seed, false)
	if err != nil {
		return nil, err
	}
	if !noise.IsZero() {
		x.Noise = &noise
	}
	r.record = in.Record
	var names []string
	for _, p := range pattern.Parameters() {
		names = append(names, p.Name)
	}
	names = append(names, "scale-compute", "denoise", "without", "mapping", "model", "noise", "noise-file", "noise-offsets", "offsets", "noise-clock", "noise-ranks", "delay")
	r.words = flags.Words(c, names...)
	if in.Replay != nil {
		r.measured = in.Replay.Report().Span
	}
	if in.Recorded != nil {
		r.source = sourceOf(in.Recorded)
		if len(x.Grid) > 0 && !c.Flags().Changed("grid") {
			grid := flags.Grid(x.Grid)
			r.words = append(r.words, "--grid", grid.String())
		}
	}
	return r, nil
}

// estimateWords are the flags of a machine with one class of links.
func estimateWords(m *machine.Machine) []string {
	p := &m.Classes[machine.Far]
	words := []string{"-L", p.Latency.String(), "-o", p.Overhead[0].Value.String(), "-g", p.Gap.String(), "-G", p.PerByte[0].Value.String()}
	if p.Eager != machine.NoLimit {
		words = append(words, "-S", unit.Size(p.Eager).String())
	}
	return words
}

// sourceOf finds where the code of a call path is.
func sourceOf(tl *timeline.Timeline) func(callPath string) string {
	at := map[string]string{}
	for i := 1; i < len(tl.Paths); i++ {
		if r := tl.RegionOf(timeline.PathID(i)); r != nil && r.File != "" {
			at[tl.PathName(timeline.PathID(i))] = fmt.Sprintf("%s:%d", filepath.Base(r.File), r.Line)
		}
	}
	return func(callPath string) string { return at[callPath] }
}
