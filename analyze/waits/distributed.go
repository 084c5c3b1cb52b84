package waits

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"slackline/analyze/profile"
	"slackline/analyze/waits/ledger"
	"slackline/internal/chunk"
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

// checkAll is checkSum over all processes; it also finds out how many wait states each of them has.
func (a *analysis) checkAll(ctx context.Context) error {
	sum, ok := a.sum()
	if a.part == nil {
		if !ok {
			return errTooLong
		}
		return nil
	}
	b := []byte{0}
	if ok {
		b[0] = 1
	}
	b = binary.AppendUvarint(b, sum)
	b = binary.AppendUvarint(b, uint64(len(a.states)))
	b = binary.AppendUvarint(b, uint64(len(a.idle)))
	in, err := cluster.AllGather(ctx, a.part.Group, b)
	if err != nil {
		return err
	}
	a.bases, a.idleBases = make([]int, len(in)+1), make([]int, len(in)+1)
	total, carry := uint64(0), uint64(0)
	for p := range in {
		c := chunk.Column{B: in[p]}
		good := c.Byte() == 1
		total, carry = bits.Add64(total, c.LongUint(), 0)
		a.bases[p+1] = a.bases[p] + int(c.Uint())
		if a.idleBases[p+1] = a.idleBases[p] + int(c.Uint()); c.Bad {
			return cluster.ErrGarbled
		}
		ok = ok && good && carry == 0 && total <= maxSum
	}
	if !ok {
		return errTooLong
	}
	return nil
}

// gather brings the sums of all processes together at process 0. The others keep those of their own ranks.
func (r *Result) gather(ctx context.Context, acc *account) error {
	g := r.a.part.Group
	if r.a.hasThreads() {
		r.byThread = r.threadWaits()
	}
	in, err := cluster.Gather(ctx, g, r.append(nil, acc))
	if err != nil {
		return err
	}
	if g.Rank() != 0 {
		r.sumDelays(&acc.costs)
		return nil
	}
	sum := &Result{}
	costs := ledger.Table{}
	for p := range in {
		c := chunk.Column{B: in[p]}
		if sum.take(&c, &costs); c.Bad || c.Left() > 0 {
			return cluster.ErrGarbled
		}
	}
	r.Waits, r.byThread, r.Completions, r.Threads = sum.Waits, sum.byThread, sum.Completions, sum.Threads
	r.Unanalyzed = sum.Unanalyzed
	r.States, r.Totals = sum.States, sum.Totals
	slices.SortFunc(r.Waits, waitOrder)
	slices.SortFunc(r.byThread, threadWaitOrder)
	slices.SortStableFunc(r.Completions, func(x, y CompletionTime) int { return cmp.Compare(x.Kind, y.Kind) })
	r.sumTotals()
	r.sumDelays(&costs)
	return nil
}

// append writes the sums of this process.
func (r *Result) append(b []byte, acc *account) []byte {
	b = binary.AppendUvarint(b, uint64(r.States))
	b = binary.AppendUvarint(b, uint64(acc.unattributed))
	b = binary.AppendUvarint(b, uint64(len(r.Waits)))
	for i := range r.Waits {
		b = r.Waits[i].append(b)
	}
	b = binary.AppendUvarint(b, uint64(len(r.byThread)))
	for i := range r.byThread {
		w := &r.byThread[i]
		b = appendUints(append(b, byte(w.Metric)), uint64(w.Rank), uint64(w.Path), uint64(w.Thread), uint64(w.Amount))
	}
	b = binary.AppendUvarint(b, uint64(len(r.Completions)))
	for _, c := range r.Completions {
		b = appendUints(append(b, byte(c.Kind)), uint64(c.Rank), uint64(c.Path), uint64(c.Time))
	}
	b = binary.AppendUvarint(b, uint64(len(r.Threads)))
	for _, t := range r.Threads {
		b = chunk.AppendInt(chunk.AppendInt(appendUints(b, uint64(t.Rank)), int64(t.Limited)), int64(t.Management))
	}
	b = binary.AppendUvarint(b, uint64(len(r.Unanalyzed)))
	for _, u := range r.Unanalyzed {
		b = appendUints(b, uint64(u.Rank), uint64(u.Path), uint64(u.Count), uint64(u.Time))
	}
	costs := acc.costs.Sorted()
	b = binary.AppendUvarint(b, uint64(len(costs)))
	for _, c := range costs {
		b = appendUints(b, c.Key, uint64(c.Short), uint64(c.Long))
	}
	return b
}

func appendUints(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// take adds the sums of a process.
func (r *Result) take(c *chunk.Column, costs *ledger.Table) {
	r.States += int(c.Uint())
	r.Totals.Unattributed += unit.Duration(c.LongUint())
	for range min(c.Uint(), uint64(c.Left())) {
		r.Waits = append(r.Waits, readWait(c))
	}
	for range min(c.Uint(), uint64(c.Left())) {
		w := ThreadWait{Metric: Metric(c.Byte()), Rank: int(c.Uint()), Path: int32(c.Uint()), Thread: int(c.Uint()),
			Amount: unit.Duration(c.LongUint())}
		c.Bad = c.Bad || w.Metric >= None
		r.byThread = append(r.byThread, w)
	}
	for range min(c.Uint(), uint64(c.Left())) {
		r.Completions = append(r.Completions, CompletionTime{Completion(c.Byte()), readPlace(c), unit.Duration(c.LongUint())})
	}
	for range min(c.Uint(), uint64(c.Left())) {
		r.Threads = append(r.Threads, ThreadTime{int(c.Uint()), unit.Duration(c.Int()), unit.Duration(c.Int())})
	}
	for range min(c.Uint(), uint64(c.Left())) {
		r.Unanalyzed = append(r.Unanalyzed, Unanalyzed{readPlace(c), int64(c.LongUint()), unit.Duration(c.LongUint())})
	}
	for range min(c.Uint(), uint64(c.Left())) {
		costs.Add(c.LongUint(), int64(c.LongUint()), int64(c.LongUint()))
	}
}

// append writes a wait.
func (w *Wait) append(b []byte) []byte {
	return appendUints(append(b, byte(w.Metric)), uint64(w.Rank), uint64(w.Path), uint64(w.Count), uint64(w.Uncertain),
		uint64(w.Amount), uint64(w.Indirect), uint64(w.Propagating))
}

func readPlace(c *chunk.Column) profile.Place {
	return profile.Place{Rank: int(c.Uint()), Path: int32(c.Uint())}
}

// readWait reads a wait.
func readWait(c *chunk.Column) Wait {
	w := Wait{Metric: Metric(c.Byte()), Place: readPlace(c), Count: int64(c.LongUint())}
	w.Uncertain = unit.Duration(c.LongUint())
	w.add(unit.Duration(c.LongUint()), unit.Duration(c.LongUint()), unit.Duration(c.LongUint()))
	if w.Metric >= None {
		c.Bad, w.Metric = true, 0
	}
	return w
}
