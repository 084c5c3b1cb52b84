// Package hang finds out why a program stands still: who waits for whom, whether somebody can still end that, and what the likely
// mistake is.
//
// A rank that is inside a call needs something of others: all of several things (the requests of MPI_Waitall, the members of a
// barrier), each from any of several ranks (MPI_ANY_SOURCE). A rank that computes may do anything; what it may end, and what that may
// end, can go on. The ranks that are left wait for ever: they form cycles, or wait for one that has finished, was stopped or is gone.
// Nothing is called a deadlock that a rank which still computes could end.
package hang

import (
	"maps"
	"slices"

	"slackline/model/state"
)

// Outcome is the answer in one word.
type Outcome string

// The outcomes.
const (
	Running Outcome = "running" // calls are being made, or nobody waits
	Ended   Outcome = "ended"   // all ranks are done
	Slow    Outcome = "slow"    // all wait for ranks that compute as they did before
	Endless Outcome = "endless" // all wait for ranks that compute much longer than before
	Hang    Outcome = "hang"    // some ranks wait for what can never happen
	Unknown Outcome = "unknown" // whom they wait for is not known
)

// Verdict is why a program stands still, or that it does not.
type Verdict struct {
	Outcome  Outcome
	Findings []Finding // what stands still, the one that most wait for first
	Roots    []int     // if there is none: the ranks that others wait for, and that can go on
	Blocked  []int     // ranks that are inside a call which waits
	Stuck    []int     // those of them that can never go on
	Moved    []int     // ranks that made a call between the looks
	Edges    []Edge    // who waits for whom, by rank
	Alive    bool      // the processes still run
	run      *state.Run
}

// Finding is one reason why ranks can never go on.
type Finding struct {
	Kind     *Kind
	Culprits []int  // the ranks of the cycle, or those that will never do what others need
	Waiting  []int  // the ranks that can never go on because of it
	Cycle    []Edge // from a rank to the one that it waits for and back; nil: there is none
	Sentence string // what happened
	Mistake  string // what the likely mistake is; empty: it is none of the program
}

// Edge says that a rank waits for another one.
type Edge struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	For  string `json:"for"` // what
}

// Analyze finds out why a run stands still. Alive says that its processes were seen to run; else they stand as they ended.
func Analyze(run *state.Run, alive bool) *Verdict {
	a := newAnalysis(run, alive)
	a.findBlocked()
	a.free()
	v := &Verdict{Alive: alive, run: run}
	for r := range run.Ranks {
		n := &a.ranks[r]
		if n.blocked {
			v.Blocked = append(v.Blocked, r)
		}
		if a.stuck(r) && !n.finalizes {
			v.Stuck = append(v.Stuck, r)
		}
		if n.moved {
			v.Moved = append(v.Moved, r)
		}
	}
	v.Findings = a.findings()
	v.Edges = a.edges()
	v.Roots = a.roots()
	v.Outcome = a.outcome(v)
	return v
}

// outcome decides what all of it means.
func (a *analysis) outcome(v *Verdict) Outcome {
	finished := func(r state.Rank) bool { return r.Status == state.Finished }
	unknown := func(r int) bool { return a.ranks[r].unknown }
	switch {
	case len(v.Findings) > 0:
		return Hang
	case len(a.run.Unreadable()) > 0:
		return Unknown
	case len(a.run.Ranks) > 0 && !slices.ContainsFunc(a.run.Ranks, func(r state.Rank) bool { return !finished(r) }):
		return Ended
	case len(v.Moved) > 0 || len(v.Blocked) == 0:
		return Running
	case len(v.Roots) == 0 || slices.ContainsFunc(v.Roots, unknown):
		return Unknown
	case slices.ContainsFunc(v.Roots, a.endless):
		return Endless
	}
	return Slow
}

// Limits of what is taken for an endless loop: so many times longer than the longest computation before, and than the shortest
// that is looked at, ns.
const (
	muchLonger   = 10
	shortCompute = 100e6
)

// endless reports whether a rank computes for much longer than it ever did.
func (a *analysis) endless(rank int) bool {
	return slices.ContainsFunc(a.run.Ranks[rank].Threads, func(t state.Thread) bool {
		return t.Call == nil && t.Since > muchLonger*max(t.Longest, shortCompute)
	})
}

// roots are the ranks that can go on and that others wait for directly.
func (a *analysis) roots() []int {
	wanted := map[int]bool{}
	for r := range a.ranks {
		n := &a.ranks[r]
		if !n.blocked || n.moved {
			continue
		}
		for _, needs := range n.needs {
			for _, need := range needs {
				for _, m := range need.any {
					if !a.ranks[m].blocked && a.ranks[m].canAct {
						wanted[int(m)] = true
					}
				}
			}
		}
	}
	return sorted(wanted)
}

func sorted(set map[int]bool) []int { return slices.Sorted(maps.Keys(set)) }
