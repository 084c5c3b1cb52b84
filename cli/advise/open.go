package advise

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"slackline/analyze/advise"
	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/internal/provenance"
	"slackline/model/collective"
	"slackline/model/machine"
)

// run is a run that is simulated again.
type run struct {
	advise.Question
	name     string
	record   provenance.Input
	estimate string // flags of the machine, if it was estimated from the run
}

// open opens runs, that with the median run time first. The machine is that of the flags, or of the run that they are like; without both,
// the one that the first run shows.
func (o *adviseOptions) open(a *env.Env, c *cobra.Command, words []string, like *run) ([]*run, error) {
	var runs []*run
	for _, word := range words {
		r, err := o.openRun(a, c, word)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	sorted := slices.Clone(runs)
	slices.SortStableFunc(sorted, func(a, b *run) int { return cmp.Compare(a.Measured, b.Measured) })
	first := sorted[(len(sorted)-1)/2]
	runs = append([]*run{first}, slices.DeleteFunc(runs, func(r *run) bool { return r == first })...)
	if like == nil {
		like = first
	}
	for _, r := range runs {
		r.Machine = like.Machine
	}
	return runs, nil
}

func (o *adviseOptions) openRun(a *env.Env, c *cobra.Command, word string) (*run, error) {
	o.Program.KeepRun = true
	if o.Machine.Model() != simulate.LogGPS {
		o.Program.ToRun = &input.ToRun{}
	}
	given := o.Machine.Override()
	var in *input.Input
	var m *machine.Machine
	var mapping *collective.Mapping
	if o.Machine.Name == "" && given.IsZero() && input.IsTrace(word) {
		var err error
		o.Program.NoMachine = true
		a.WarnOfVoid(c, " without a machine: the network is estimated from the run", "scale-network")
		if in, err = o.Program.Open(a, c, word, true); err != nil {
			return nil, err
		}
		if mapping, err = collective.FindMapping(o.Mapping); err != nil {
			return nil, err
		}
	} else {
		s, err := o.Resolve(a, c)
		if err != nil {
			return nil, err
		}
		if in, err = s.Open(word, true); err != nil {
			return nil, err
		}
		m, mapping = s.Machine, s.Mapping
	}
	q, estimate, err := o.Question(c, word, in.Program, in.Recorded, m, mapping)
	if err != nil {
		return nil, err
	}
	q.Threads = o.threads
	return &run{Question: *q, name: word, record: in.Record, estimate: estimate}, nil
}
