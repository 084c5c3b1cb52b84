package scenario

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/advise"
	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/phrase"
	"slackline/internal/source"
	"slackline/model/machine"
	"slackline/model/unit"
)

// futureChange is what changes to the computation do to a simulated run.
type futureChange struct {
	changes       []whatif.Changed
	edits         []advise.Change
	before, after unit.Duration // run times
}

// AddChangeFlags adds the flags that change the computation of a program.
func (o *Options) AddChangeFlags(fs *pflag.FlagSet) {
	flags.AddEach(fs, &o.changes, balanced, "balance",
		"simulate the program with the computation of a call `path` balanced over the ranks, e.g. solve/fixup; may be given several times")
	fs.StringVar(&o.balanceBy, "balance-by", whatif.Strategies()[0], "`STRATEGY` of --balance: "+whatif.StrategyHelp()+
		"; those on the grid need --grid")
	flags.AddEach(fs, &o.changes, whatif.ParseChange, "what-if",
		"simulate it with a call path taking less time, `PATH[@RANK]=-PERCENT`, e.g. solve=-20% or fixup@3=-100%; may be given several times")
	flags.AddEach(fs, &o.edits, advise.Parse, "change", "simulate it with a change as 'slackline advise' names it, "+
		"`KIND[:VALUE][@CALLPATH]`, e.g. combine@main/MPI_Send; may be given several times")
}

// change applies the changes to the program of an input, its machine and its options, and simulates it as it was, for comparison.
func (o *Options) change(a *env.Env, c *cobra.Command, in *input.Input, m **machine.Machine, s *simulate.Options) (*futureChange, error) {
	if !slices.ContainsFunc(o.changes, func(c whatif.Change) bool { return c.Balance }) {
		a.WarnOfVoid(c, " without --balance", "balance-by")
	}
	if len(o.changes)+len(o.edits) == 0 {
		return nil, nil
	}
	changes, err := o.balanced()
	if err != nil {
		return nil, err
	}
	p, list, err := whatif.Apply(in.Program, changes)
	if err != nil {
		return nil, err
	}
	result, err := Simulate(a, c, in, *m, *s)
	if err != nil {
		return nil, err
	}
	in.Program = p
	if err := o.edit(c, in, m, s); err != nil {
		return nil, err
	}
	return &futureChange{changes: list, edits: o.edits, before: result.Makespan}, nil
}

// edit makes the changes of --change.
func (o *Options) edit(c *cobra.Command, in *input.Input, m **machine.Machine, s *simulate.Options) error {
	if len(o.edits) == 0 {
		return nil
	}
	noise, err := o.Noise.Describe(source.Disk, in.Program.Ranks(), o.Program.Seed, false)
	if err != nil {
		return err
	}
	x := &advise.Scenario{Program: in.Program, Machine: *m, Mapping: s.Mapping, Model: s.Model, Grid: o.Program.grid, Threads: s.Threads}
	if !noise.IsZero() {
		x.Noise = &noise
	}
	if x, err = x.Apply(c.Context(), o.edits...); err != nil {
		return fmt.Errorf("--change: %w", err)
	}
	in.Program, *m, s.Mapping = x.Program, x.Machine, x.Mapping
	s.Noise, err = x.Injection()
	return err
}

// balanced returns the changes with the strategy of those that balance.
func (o *Options) balanced() ([]whatif.Change, error) {
	how, err := whatif.ParseStrategy(o.balanceBy)
	if err != nil {
		return nil, exit.Usagef("--balance-by: %v", err)
	}
	if how.NeedsGrid() && len(o.Program.grid) == 0 {
		return nil, exit.Usagef("--balance-by %s needs the process grid; give --grid, e.g. --grid 16x16", &how)
	}
	list := slices.Clone(o.changes)
	for i := range list {
		if list[i].Balance {
			list[i].How, list[i].Grid = how, o.Program.grid
		}
	}
	return list, nil
}

// Sentences say what the changes come to.
func (f *futureChange) Sentences() []string {
	var list []string
	for _, c := range f.changes {
		text := fmt.Sprintf("%s, %s on %s (%s to %s on a rank), ", c.Path, c.Before.Short(), phrase.Plural(c.Ranks, "rank"), c.Min.Short(),
			c.Max.Short())
		switch {
		case c.Balance:
			text += "is " + c.How.Outcome()
			if !c.How.IsEven() {
				text += fmt.Sprintf(", up to %s on a rank", c.MaxAfter.Short())
			}
		case c.Rank >= 0:
			text += fmt.Sprintf("takes %s %% less on rank %d", c.Percent.Number(), c.Rank)
		default:
			text += fmt.Sprintf("takes %s %% less", c.Percent.Number())
		}
		list = append(list, text)
	}
	for _, e := range f.edits {
		list = append(list, "changed: "+e.String())
	}
	return append(list, fmt.Sprintf("run time %s instead of %s: %s", f.after.Short(), f.before.Short(), f.gain()))
}

func (f *futureChange) gain() string {
	switch {
	case f.after < f.before:
		return phrase.Percent(f.before-f.after, f.before) + " gained"
	case f.after > f.before:
		return phrase.Percent(f.after-f.before, f.before) + " lost"
	}
	return "nothing gained"
}

// WhatIfJSON is a futureChange in JSON.
type WhatIfJSON struct {
	Before  unit.Nanoseconds  `json:"T_before_ns"`
	After   unit.Nanoseconds  `json:"T_after_ns"`
	Changes []changedPathJSON `json:"changes"`
	Others  []string          `json:"other_changes,omitempty"` // of --change
}

type changedPathJSON struct {
	Path    string      `json:"callpath"`
	Balance bool        `json:"balance"`
	How     string      `json:"strategy,omitempty"` // of the balance
	Percent json.Number `json:"percent,omitempty"`
	Rank    *int        `json:"rank,omitempty"`
	Before  unit.Sum    `json:"computation_before_ns"`
	After   unit.Sum    `json:"computation_after_ns"`
}

func (f *futureChange) JSON() *WhatIfJSON {
	if f == nil {
		return nil
	}
	j := &WhatIfJSON{Before: unit.Nanoseconds(f.before), After: unit.Nanoseconds(f.after)}
	for _, e := range f.edits {
		j.Others = append(j.Others, e.String())
	}
	for _, c := range f.changes {
		x := changedPathJSON{Path: c.Path, Balance: c.Balance, Before: c.Before, After: c.After}
		if c.Balance {
			x.How = c.How.String()
		} else {
			x.Percent = json.Number(c.Percent.Number())
		}
		if !c.Balance && c.Rank >= 0 {
			x.Rank = &c.Rank
		}
		j.Changes = append(j.Changes, x)
	}
	return j
}

// balanced is the change that balances a call path.
func balanced(path string) (whatif.Change, error) {
	if path == "" {
		return whatif.Change{}, fmt.Errorf("give a call path, e.g. solve/fixup")
	}
	return whatif.Change{Path: path, Balance: true, Rank: -1}, nil
}
