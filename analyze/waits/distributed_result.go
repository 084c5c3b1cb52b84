package waits

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"slackline/analyze/profile"
	"slackline/internal/chunk"
	"slackline/internal/cluster"
	"slackline/model/unit"
)

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
	costs := costTable{}
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
	costs := acc.costs.sorted()
	b = binary.AppendUvarint(b, uint64(len(costs)))
	for _, c := range costs {
		b = appendUints(b, c.key, uint64(c.short), uint64(c.long))
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
func (r *Result) take(c *chunk.Column, costs *costTable) {
	r.States += int(c.Uint())
	r.Totals.Unattributed += unit.Duration(c.LongUint())
	for range min(c.Uint(), uint64(c.Left())) {
		r.Waits = append(r.Waits, readWait(c))
	}
	for range min(c.Uint(), uint64(c.Left())) {
		w := ThreadWait{Metric: Metric(c.Byte()), Rank: int(c.Uint()), Path: int32(c.Uint()), Thread: int(c.Uint()), Amount: unit.Duration(c.LongUint())}
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
		costs.add(c.LongUint(), int64(c.LongUint()), int64(c.LongUint()))
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
