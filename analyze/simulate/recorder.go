package simulate

import (
	"slackline/model/machine"
	"slackline/model/schedule"
)

// recorder is notified of what the general core does, and records what was asked for. Runs that
// record use one thread.
type recorder struct {
	detail *detailRecorder // nil: no timeline
	causes *causeRecorder  // nil: no causes
	calls  *callRecorder   // nil: no calls
	times  *timeRecorder   // nil: no times of operations, of which a program makes its calls
}

// records reports whether a run has to notify a recorder of what it does.
func (o *Options) records() bool { return o.Detail || o.Causes || o.Calls }

// newRecorder returns a recorder of what the options of a run want; nil: nothing.
func newRecorder(run *run, s *generalState) *recorder {
	o := &run.options
	if !o.records() {
		return nil
	}
	r := &recorder{}
	if o.Detail {
		r.detail = newDetailRecorder(s.ranks, run.program.Origins())
	}
	if o.Causes {
		r.causes = newCauseRecorder(s)
	}
	if to := retimerOf(run.program); o.Calls && to != nil {
		r.times = newTimeRecorder(run, to)
	} else if o.Calls {
		r.calls = newCallRecorder(run)
	}
	return r
}

// addTo puts what was recorded into the result.
func (r *recorder) addTo(result *Result) {
	if r.detail != nil {
		result.Detail = r.detail.collect(result.Finish, result.Makespan)
	}
	if r.causes != nil {
		result.Causes = r.causes.causes()
	}
	if r.calls != nil {
		result.Calls = r.calls.collect()
	}
	if r.times != nil {
		result.Calls = r.times.collect()
	}
}

// ended records that a rank has done the block in its state, which may be empty.
func (r *recorder) ended(rank int32, s *rankState) {
	if r.calls != nil {
		r.calls.ended(rank, s)
	}
}

// block records that a rank goes on to a block; at is the cursor after it.
func (r *recorder) block(rank int32, at schedule.Cursor, b *schedule.Block) {
	if r.causes != nil {
		r.causes.block(rank, len(b.Ops))
	}
	if r.calls != nil {
		r.calls.loaded(rank, at, b)
	}
	if r.times != nil {
		r.times.loaded(rank, at, b)
	}
}

// satisfied records that the event under way has satisfied a dependency of operation index.
func (r *recorder) satisfied(rank, index int32, onStart bool) {
	if r.causes != nil {
		r.causes.satisfied(rank, index, onStart)
	}
}

// inserted records that operation index, which is ready, has become an event.
func (r *recorder) inserted(rank, index int32, cpu uint8) {
	if r.causes != nil {
		r.causes.inserted(rank, index, cpu)
	}
}

// finished records that the event under way has finished operation index, at some time.
func (r *recorder) finished(rank, index int32, at int64) {
	if r.causes != nil {
		r.causes.finished(rank)
	}
	if r.calls != nil {
		r.calls.finished(rank, index, at)
	}
	if r.times != nil {
		r.times.finished(rank, index, at)
	}
}

// calc records a calculation.
func (r *recorder) calc(rank, index int32, op *schedule.Op, start, end int64) {
	if r.detail != nil {
		r.detail.calc(rank, op, start, end)
	}
	if r.causes != nil {
		r.causes.calc(rank, index, op.CPU, start, end)
	}
	if r.calls != nil {
		r.calls.started(rank, index, start, end)
		r.calls.lost(rank, op.CPU, start, end, op.Size)
	}
	if r.times != nil {
		r.times.started(rank, index, start)
	}
}

// send records a send whose message is in node i.
func (r *recorder) send(i, host, rank, index int32, op *schedule.Op, c *machine.Cost, start, end, arrival int64) {
	if r.detail != nil {
		r.detail.send(i, rank, op, start, end, arrival)
	}
	if r.causes != nil {
		r.causes.send(i, host, rank, index, op, c, start, end, arrival)
	}
	if r.calls != nil {
		r.calls.started(rank, index, start, end)
		r.calls.lost(rank, op.CPU, start, end, c.Overhead+c.CPUBytes)
	}
	if r.times != nil {
		r.times.started(rank, index, start)
	}
}

// message records that the message of node i, which costs c, takes the CPU of its receiver.
func (r *recorder) message(i, host int32, n *node, c *machine.Cost, start, end int64) {
	if r.detail != nil {
		r.detail.message(i, n.rank(), start, end)
	}
	if r.causes != nil {
		r.causes.message(i, host, n, start, end)
	}
	if r.calls != nil {
		r.calls.lost(n.rank(), n.cpu, start, end, max(c.CPUBytes, c.Bytes)+c.Overhead)
	}
}

// post records that a receive is posted.
func (r *recorder) post(rank, index int32, at int64) {
	if r.detail != nil {
		r.detail.post(rank, index, at)
	}
	if r.causes != nil {
		r.causes.post(rank, index)
	}
	if r.calls != nil {
		r.calls.started(rank, index, at, at)
	}
	if r.times != nil {
		r.times.started(rank, index, at)
	}
}

// match records that the message of node i, which is n, has found operation index of its receiver, in
// the event of either.
func (r *recorder) match(i, rank, index int32, n *node, op *schedule.Op, end int64) {
	if r.detail != nil {
		r.detail.match(i, rank, index, op, end)
	}
	if r.causes != nil {
		r.causes.match(i)
	}
	if r.calls != nil {
		r.calls.match(rank, index, n.a(), n.tag, n.size)
	}
}

// released records that the sender of a large message, in node i, may go on.
func (r *recorder) released(i, host int32, n *node, end int64) {
	if r.detail != nil {
		r.detail.released(i, n.rank(), end)
	}
	if r.causes != nil {
		r.causes.released(i, host, n)
	}
}
