package waits

import (
	"cmp"
	"context"
	"slices"

	"slackline/analyze/waits/ledger"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

// # How several processes analyze one run
//
// Each process has a part of the timeline (timeline.Part): its own ranks with all their threads and calls, all
// messages and collectives that its ranks take part in, and of the other locations those calls that these name.
//
// The forward pass needs nothing else: who waited at a message or collective is decided by the times
// of its own calls, and every process decides for its own locations. When two locations last synchronized is known
// to both sides, because both have the messages between them and the collectives in which both took part.
//
// The backward pass charges a wait state to what the causing location did, and to its wait states. This is
// the work of the process that has the causing location (the owner of the cause); all it needs of the one
// that waited is how long that was in which call path since the two last synchronized, its own waits left out. So costs go backwards along
// the original communication, and only along it:
//
//  1. Once: the owner of each wait state that was caused elsewhere sends the owner of the cause: metric, amount, the late
//     call, when the two last synchronized, and the time by call path of the one that waited. There it is a foreign state.
//     It counts as pending for the wait states that it may be charged to, like any other.
//  2. Rounds: every process accounts for what it can, later wait states first. Of a wait state that was caused elsewhere and that
//     nothing can be added to any more it hands over what later ones cost (one number); the owner of the cause then accounts for it.
//     A round ends when no process can go on, with one exchange of all that was handed over; a round in
//     which no process hands over anything is the last. There are at most as many rounds as a chain of causes
//     changes from one process to another; all chains advance in every round.
//  3. What is left are circles of wait states, as only wrong clocks make them. Their causes and weights, and no more,
//     are sent to process 0, which accounts for them in the order in which one process would.
//  4. Once: the owners of the causes report how much of each foreign state is indirect.
//  5. Once: the sums by rank and call path are gathered at process 0.
//
// The result is the same, bit for bit, as that of one process: every number is the result of the same operations
// on whole numbers, each at exactly one process (or, at a collective, the same at several), and what is added to a sum
// from different sides can be added in any order. Ties are decided by ranks, calls and numbers of
// records, whose order is the same everywhere.
//
// The critical path is followed by whoever has the location where it is; a change of process is an exchange.
// Explanations are made by process 0, to which the others send the causes of all wait states that
// it comes across, one exchange for each step away from what is explained.

// Rounds is the number of exchanges in which the backward pass handed over costs; 0 if one process made it.
func (r *Result) Rounds() int { return r.a.rounds }

// isHere reports whether a location belongs to this process.
func (a *analysis) isHere(location int32) bool { return a.part.Here(location) }

// ownerOf is the process that a location belongs to; only of parts.
func (a *analysis) ownerOf(location int32) int { return a.part.Owner(a.rankOf(location)) }

// numberAll finds out how many wait states and idle phases each process has.
func (a *analysis) numberAll(ctx context.Context) error {
	type extent struct{ States, Idle int }
	all, err := cluster.AllGatherValues(ctx, a.part.Group, &extent{len(a.states), len(a.idle)})
	if err != nil {
		return err
	}
	a.bases, a.idleBases = make([]int, len(all)+1), make([]int, len(all)+1)
	for p, e := range all {
		a.bases[p+1], a.idleBases[p+1] = a.bases[p]+e.States, a.idleBases[p]+e.Idle
	}
	return nil
}

// gather brings the sums of all processes together at process 0. The others keep those of their own ranks.
func (r *Result) gather(ctx context.Context, acc *account) error {
	g := r.a.part.Group
	if r.a.hasThreads() {
		r.byThread = r.threadWaits()
	}
	all, err := cluster.GatherValues(ctx, g, &partSums{
		r.States, r.Totals.Unattributed, r.Waits, r.byThread, r.Completions, r.Threads, r.Unanalyzed, acc.costs.Sorted(),
	})
	if err != nil {
		return err
	}
	if g.Rank() != 0 {
		r.sumDelays(&acc.costs)
		return nil
	}
	sum, costs := partSums{}, ledger.Table{}
	for _, part := range all {
		sum.States += part.States
		sum.Unattributed.AddSum(part.Unattributed)
		sum.Waits = append(sum.Waits, part.Waits...)
		sum.ByThread = append(sum.ByThread, part.ByThread...)
		sum.Completions = append(sum.Completions, part.Completions...)
		sum.Threads = append(sum.Threads, part.Threads...)
		sum.Unanalyzed = append(sum.Unanalyzed, part.Unanalyzed...)
		for _, c := range part.Costs {
			costs.Add(c.Key, c.Short, c.Long)
		}
	}
	r.Waits, r.byThread, r.Completions, r.Threads = sum.Waits, sum.ByThread, sum.Completions, sum.Threads
	r.Unanalyzed, r.States, r.Totals = sum.Unanalyzed, sum.States, Totals{Unattributed: sum.Unattributed}
	slices.SortFunc(r.Waits, waitOrder)
	slices.SortFunc(r.byThread, threadWaitOrder)
	slices.SortStableFunc(r.Completions, func(x, y CompletionTime) int { return cmp.Compare(x.Kind, y.Kind) })
	r.sumTotals()
	r.sumDelays(&costs)
	return nil
}

// partSums are the sums of a process.
type partSums struct {
	States       int
	Unattributed unit.Sum
	Waits        []Wait
	ByThread     []ThreadWait
	Completions  []CompletionTime
	Threads      []ThreadTime
	Unanalyzed   []Unanalyzed
	Costs        []ledger.Entry
}
