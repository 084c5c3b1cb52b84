package whatif

import (
	"context"
	"slices"
	"strings"

	"slackline/analyze/profile"
	"slackline/analyze/simulate"
	"slackline/analyze/waits"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// What is tried.
const (
	maxFixes     = 3    // call paths beside the root
	minCostShare = 0.01 // of all waiting time that a cause must have to be tried
	MinGain      = 0.02 // MinGain is the share of the run time that a fix must gain to be worth naming.
)

// Fixes is what fixes of a program would gain, in simulated runs.
type Fixes struct {
	RunTime unit.Nanoseconds `json:"run_time_ns"` // as the program is
	List    []Fix            `json:"fixes"`       // call paths in the order in which they were tried, then the network
}

// Fix is one change of the program, or of the network.
type Fix struct {
	Path    string           `json:"callpath,omitempty"` // whose computation is balanced; empty: the network is ideal
	RunTime unit.Nanoseconds `json:"run_time_ns"`        // with the fix
	Gain    float64          `json:"gain"`               // share of the run time
	Min     unit.Nanoseconds `json:"min_ns"`             // computation of a rank in the call path, before
	Max     unit.Nanoseconds `json:"max_ns"`
}

// IdealNetwork is a machine on which messages cost nothing.
func IdealNetwork() *machine.Machine {
	return machine.FromParams("an ideal network", machine.Params{
		Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	})
}

// TryFixes simulates the program with the computation of each call path balanced, one at a time, and, if ideal is
// set, on an ideal network. Call paths without computation are left out.
func TryFixes(ctx context.Context, p schedule.Program, m *machine.Machine, o simulate.Options, paths []string, ideal bool) (*Fixes, error) {
	result, err := simulate.Run(ctx, p, m, o)
	if err != nil {
		return nil, err
	}
	f := &Fixes{RunTime: unit.Nanoseconds(result.Makespan)}
	try := func(p schedule.Program, m *machine.Machine, fix Fix) error {
		result, err := simulate.Run(ctx, p, m, o)
		if err != nil {
			return err
		}
		fix.RunTime = unit.Nanoseconds(result.Makespan)
		if f.RunTime != 0 {
			fix.Gain = float64(f.RunTime-fix.RunTime) / float64(f.RunTime)
		}
		f.List = append(f.List, fix)
		return nil
	}
	for _, path := range paths {
		balanced, changed, err := Apply(p, []Change{{Path: path, Balance: true, Rank: -1}})
		if err != nil {
			continue // there is no computation that could be balanced
		}
		fix := Fix{Path: path, Min: unit.Nanoseconds(changed[0].Min), Max: unit.Nanoseconds(changed[0].Max)}
		if err := try(balanced, m, fix); err != nil {
			return nil, err
		}
	}
	if ideal {
		if err := try(p, IdealNetwork(), Fix{}); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Best is the balanced call path with the largest gain; nil: none gains MinGain.
func (f *Fixes) Best() *Fix {
	var best *Fix
	for i := range f.List {
		if fix := &f.List[i]; fix.Path != "" && fix.Gain >= MinGain && (best == nil || fix.Gain > best.Gain) {
			best = fix
		}
	}
	return best
}

// First is the first balanced call path with nearly the largest gain: a fix of one function is easier than one of all.
func (f *Fixes) First() *Fix {
	best := f.Best()
	for i := range f.List {
		if fix := &f.List[i]; best != nil && fix.Path != "" && fix.Gain >= MinGain && fix.Gain > 0.8*best.Gain {
			return fix
		}
	}
	return best
}

// FixCandidates are the call paths of a run that are worth balancing: the computation that causes the most waiting, and
// the root of all call paths.
func FixCandidates(r *waits.Result) []string {
	var list []string
	for _, c := range r.DelaysByPath() {
		if len(list) == maxFixes || c.Sum() == 0 || r.Share(c.Sum()) < minCostShare {
			break
		}
		if c.Path != 0 && profile.KindOf(&r.Paths.Region[c.Path]) == profile.Computation {
			list = append(list, r.Paths.Names[c.Path])
		}
	}
	root := ""
	for _, name := range r.Paths.Names[1:] {
		first, _, _ := strings.Cut(name, "/")
		if root != "" && first != root {
			return list
		}
		root = first
	}
	if root != "" && !slices.Contains(list, root) {
		list = append(list, root)
	}
	return list
}
