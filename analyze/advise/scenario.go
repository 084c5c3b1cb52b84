package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
)

// Scenario is a program on a machine. Changes turn it into another one.
type Scenario struct {
	Program schedule.Program
	Machine *machine.Machine
	Mapping *collective.Mapping // nil: the default one
	Model   simulate.Model
	Noise   *whatif.Noise // nil: none
	Replica int           // which of the replicas of the noise
	Grid    []int         // process grid, for balances along it; nil: none is known
	Threads int           // 0: one per core
}

// Apply returns the scenario with changes made, in the order of the table of kinds.
func (x Scenario) Apply(ctx context.Context, changes ...Change) (*Scenario, error) {
	order := func(c Change) int { return slices.IndexFunc(table, func(k kind) bool { return k.Name == c.Kind }) }
	sorted := slices.Clone(changes)
	slices.SortStableFunc(sorted, func(a, b Change) int { return cmp.Compare(order(a), order(b)) })
	for _, c := range sorted {
		k := kindOf(c.Kind)
		if k == nil {
			return nil, fmt.Errorf("there is no kind of change %q", c.Kind)
		}
		if err := k.apply(ctx, &x, c); err != nil {
			return nil, err
		}
	}
	return &x, nil
}

// Run simulates the scenario.
func (x *Scenario) Run(ctx context.Context, o simulate.Options) (*simulate.Result, error) {
	injection, err := x.Injection()
	if err != nil {
		return nil, err
	}
	o.Model, o.Mapping, o.Noise = x.Model, x.Mapping, injection
	o.Threads = cmp.Or(o.Threads, x.Threads)
	return simulate.Run(ctx, x.Program, x.Machine, o)
}

// Injection is the noise of the run; nil: none.
func (x *Scenario) Injection() (*noise.Injection, error) {
	if x.Noise == nil || x.Noise.IsZero() {
		return nil, nil
	}
	layout, err := x.Machine.Layout(x.Program.Ranks())
	if err != nil {
		return nil, err
	}
	return x.Noise.Injection(layout, x.Replica)
}

// errNowhere is the error of a change that finds nothing to change.
var errNowhere = errors.New("there is nothing to change")

// nowhere is that error for a change.
func (c Change) nowhere() error { return fmt.Errorf("%s: %w in this program", c.String(), errNowhere) }
