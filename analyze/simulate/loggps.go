package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"slackline/analyze/tolerance"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/timeline"
)

// runModelLogGPS evaluates the static model once. Its rules and its evaluation are those of
// tolerance.Schedule.
func (r *run) runModelLogGPS(ctx context.Context) (*Result, error) {
	if r.noise != nil {
		return nil, fmt.Errorf("the model %s has no noise and no delays; use the model %s", LogGPS, LogGOPS)
	}
	s, err := tolerance.Prepare(r.program, r.options.Mapping, r.layout.Machine.Gamma)
	if err != nil {
		return nil, err
	}
	s.Interrupt = ctx.Err
	network := tolerance.Network{Layout: r.layout}
	var finish *tolerance.Finish
	var calls *timeline.Timeline
	if r.options.Calls {
		times, err := s.Times(network)
		if err != nil {
			return nil, err
		}
		if to := retimerOf(r.program); to != nil {
			finish, calls = &times.Finish, r.staticTimes(times, to)
		} else {
			finish, calls = &times.Finish, r.staticCalls(times)
		}
	} else if finish, err = s.Finish(network); err != nil {
		return nil, err
	}
	result := &Result{
		Finish:   finish.Ranks,
		Messages: int64(finish.Messages),
		Ops:      int64(finish.Ops),
		Engine:   "static",
		Threads:  1,
		Queues:   Queues{Rendezvous: int64(finish.Rendezvous)},
		Calls:    calls,
	}
	for _, t := range finish.Ranks {
		result.Makespan = max(result.Makespan, t)
	}
	for c := range machine.Class(machine.NumClasses) {
		if r.layout.Occurs(c) && r.layout.Machine.Classes[c].CPUByte > 0 && finish.Messages > 0 {
			result.Warnings = append(result.Warnings, fmt.Sprintf("O has no influence on the result: it is not part of the model %s", LogGPS))
			break
		}
	}
	return result, nil
}

// staticCalls writes a run of the static model down as the calls of its ranks. Operations of a rank may
// overlap there, because nothing competes for its CPU: a computation then goes on between the calls, and
// a send that is not blocking, a call of length o, ends when the next operation starts.
func (r *run) staticCalls(t *tolerance.Times) *timeline.Timeline {
	stream := r.stream
	if g, ok := r.program.(*schedule.Graph); ok && !g.Shape().Collectives {
		stream = schedule.Blocks(g) // as the schedule numbers its operations
	}
	w := &staticBlock{c: newCallRecorder(r), t: t, layout: r.layout}
	w.c.overlap = true
	var b schedule.Block
	for w.rank = range r.ranks {
		for at, ok := stream.Next(w.rank, schedule.Cursor{}, &b); ok; at, ok = stream.Next(w.rank, at, &b) {
			w.c.loaded(int32(w.rank), at, &b)
			w.write(&b)
			w.base += len(b.Ops)
		}
	}
	return w.c.collect()
}

// staticBlock is a block of a rank whose calls are written down.
type staticBlock struct {
	c      *callRecorder
	t      *tolerance.Times
	layout *machine.Layout
	rank   int
	base   int     // number of its first operation in the schedule
	order  []int32 // its operations by start
	busy   []int64 // by operation: when its CPU time ends
}

func (w *staticBlock) write(b *schedule.Block) {
	state := rankState{ops: b.Ops, first: b.First, dependents: b.Dependents}
	w.order, w.busy = w.order[:0], w.busy[:0]
	for i := range b.Ops {
		w.order = append(w.order, int32(i))
		w.busy = append(w.busy, w.cpuEnd(w.base+i, &b.Ops[i]))
		state.finish = max(state.finish, w.t.End[w.base+i])
	}
	// What an operation requires comes before it, also if neither takes any time.
	slices.SortFunc(w.order, func(x, y int32) int {
		i, k := w.base+int(x), w.base+int(y)
		return cmp.Or(cmp.Compare(w.t.Start[i], w.t.Start[k]), cmp.Compare(w.t.Place[i], w.t.Place[k]))
	})
	for k, i := range w.order {
		if k+1 < len(w.order) {
			w.busy[i] = min(w.busy[i], w.t.Start[w.base+int(w.order[k+1])])
		}
		w.operation(i)
	}
	w.c.ended(int32(w.rank), &state)
}

// cpuEnd is when operation n of the schedule leaves the CPU to others.
func (w *staticBlock) cpuEnd(n int, op *schedule.Op) int64 {
	switch op.Kind {
	case schedule.Send:
		return min(w.t.End[n], w.t.Start[n]+w.layout.Params(w.rank, int(op.Peer)).Cost(op.Size).Overhead)
	case schedule.Recv:
		return w.t.Start[n]
	}
	return w.t.End[n]
}

// operation records operation i of the block.
func (w *staticBlock) operation(i int32) {
	n, rank, ops := w.base+int(i), int32(w.rank), w.t.Graph.Ops()
	w.c.started(rank, i, w.t.Start[n], w.busy[i])
	if op := &ops[n]; op.Kind == schedule.Recv {
		send := int(w.t.Partner[n])
		source := op.Peer
		if source < 0 { // any
			from, _ := w.t.Graph.Find(send)
			source = int32(from)
		}
		w.c.match(rank, i, source, ops[send].Tag, ops[send].Size)
	}
	w.c.finished(rank, i, w.t.End[n])
}
