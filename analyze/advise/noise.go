package advise

import (
	"context"
	"slices"

	"slackline/model/schedule"
	"slackline/model/unit"
)

var noiseKind = kind{
	Info: Info{
		Name:  "noise",
		Short: "remove noise, or let it come at the same time everywhere",
		Meaning: "removed: the simulated noise is left out. coscheduled: it comes at the same time on all ranks, so that they wait for " +
			"it once, not one after the other. median: repeated computations of a recorded run (the same rank, call path and calls around " +
			"it) take their median, so that no repetition is longer than usual.",
		Advice: "Leave a core of each node to the system, bind ranks to cores, stop daemons, and let those that must run do so at the same " +
			"time on all nodes. Where repetitions differ although no process interferes, look at what the code does differently.",
		Form: "noise:removed, noise:coscheduled or noise:median",
	},
	propose: func(s *study) []candidate {
		if s.base.Noise != nil {
			return []candidate{
				{Change{Kind: "noise", Value: "removed"}, s.runTime},
				{Change{Kind: "noise", Value: "coscheduled"}, s.runTime},
			}
		}
		if s.disturbance() > 0 {
			return []candidate{{Change{Kind: "noise", Value: "median"}, s.runTime}}
		}
		return nil
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		switch c.Value {
		case "removed":
			if x.Noise == nil {
				return c.nowhere()
			}
			x.Noise = nil
		case "coscheduled":
			if x.Noise == nil {
				return c.nowhere()
			}
			n := *x.Noise
			n.AtZero, n.Offsets = true, nil
			x.Noise = &n
		case "median":
			x.Program = edited{quieted(x.Program), x.Program}
		default:
			return c.badValue()
		}
		return nil
	},
	sentence: func(s *study, c Change) string {
		switch c.Value {
		case "removed":
			return "Remove the noise of the machine: without it, the run"
		case "coscheduled":
			return "Let the noise come at the same time on all ranks (co-scheduling): the run"
		}
		return "Repetitions of the same computation take much longer now and then, on one rank or another. " +
			"Find out what interferes (system noise, other jobs, frequency changes, work that is done only sometimes): if all took " +
			"their median, the run"
	},
}

// repetition is what makes computations of a rank repetitions of each other.
type repetition struct{ origin, before, after uint32 }

// repetitionsOf lists, for a rank, the places of the computations that are repetitions of each other.
func repetitionsOf(p schedule.Program, rank int) (sizes []int64, groups [][]int32) {
	const none = ^uint32(0)
	var keys []repetition
	var b schedule.Block
	before, open := none, 0
	for step := range p.Steps(rank) {
		p.Block(rank, step, &b)
		for i := range b.Ops {
			op := &b.Ops[i]
			if op.Kind == schedule.Calc && op.Size > 0 && !op.IsInner() {
				sizes, keys = append(sizes, op.Size), append(keys, repetition{op.Origin, before, none})
				continue
			}
			for ; open < len(keys); open++ {
				keys[open].after = op.Origin
			}
			before = op.Origin
		}
	}
	number := map[repetition]int{}
	for i, k := range keys {
		n, ok := number[k]
		if !ok {
			n = len(groups)
			number[k] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], int32(i))
	}
	return sizes, groups
}

// Repetitions of which irregular knows enough, and by what factor one must be above the median to count as disturbed.
const (
	minRepetitions = 5
	disturbed      = 1.25
)

// disturbance is the time that repetitions of the run as it is take irregularly.
func (s *study) disturbance() unit.Duration {
	if s.irregular < 0 {
		s.irregular = unit.Duration(irregular(s.base.Program))
	}
	return s.irregular
}

// irregular is the time that repetitions take above their median, where that does not come at regular distances: what recurs
// every n-th time is work, not noise.
func irregular(p schedule.Program) (excess int64) {
	for rank := range p.Ranks() {
		sizes, groups := repetitionsOf(p, rank)
		for _, list := range groups {
			if len(list) < minRepetitions {
				continue
			}
			usual := medianOf(sizes, list)
			var at []int
			sum := int64(0)
			for k, i := range list {
				if float64(sizes[i]) > disturbed*float64(usual) {
					at = append(at, k)
					sum += sizes[i] - usual
				}
			}
			if !regular(at, len(list)) {
				excess += sum
			}
		}
	}
	return excess
}

// regular reports whether events at these places of n recur at the same distance.
func regular(at []int, n int) bool {
	if len(at) == 0 {
		return true
	}
	if len(at) == 1 {
		return n < 2*minRepetitions // it may recur later
	}
	for i := 2; i < len(at); i++ {
		if at[i]-at[i-1] != at[1]-at[0] {
			return false
		}
	}
	return at[0] < at[1]-at[0]+1 && n-at[len(at)-1] <= at[1]-at[0]+1
}

func medianOf(sizes []int64, list []int32) int64 {
	sorted := make([]int64, len(list))
	for k, i := range list {
		sorted[k] = sizes[i]
	}
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}

// quieted is the program in which no repetition takes longer than the median of its like.
func quieted(p schedule.Program) *schedule.Graph {
	return rebuild(p, func(rank int, out *writer) {
		sizes, groups := repetitionsOf(p, rank)
		for _, list := range groups {
			if len(list) < minRepetitions {
				continue
			}
			usual := medianOf(sizes, list)
			for _, i := range list {
				sizes[i] = min(sizes[i], usual)
			}
		}
		var b schedule.Block
		at := 0
		for step := range p.Steps(rank) {
			p.Block(rank, step, &b)
			b.Own()
			for i := range b.Ops {
				if op := &b.Ops[i]; op.Kind == schedule.Calc && op.Size > 0 && !op.IsInner() {
					op.Size = sizes[at]
					at++
				}
			}
			out.put(&b)
		}
	})
}
