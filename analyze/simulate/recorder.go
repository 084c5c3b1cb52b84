package simulate

import (
	"slackline/model/machine"
	"slackline/model/schedule"
)

// recorder is told what the general core does, and writes down what was asked for. Runs that
// record use one thread.
type recorder struct {
	detail *detailRecorder // nil: no timeline
	causes *causeRecorder  // nil: no causes
}

// records reports whether a run has to tell a recorder what it does.
func (o *Options) records() bool { return o.Detail || o.Causes }

// newRecorder returns a recorder of what the options want; nil: nothing.
func newRecorder(o *Options, s *generalState, origins []schedule.Origin) *recorder {
	if !o.records() {
		return nil
	}
	r := &recorder{}
	if o.Detail {
		r.detail = newDetailRecorder(s.ranks, origins)
	}
	if o.Causes {
		r.causes = newCauseRecorder(s)
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
}

// block tells that a rank goes on to a block of so many operations.
func (r *recorder) block(rank int32, ops int) {
	if r.causes != nil {
		r.causes.block(rank, ops)
	}
}

// satisfied tells that the event under way has satisfied a dependency of operation index.
func (r *recorder) satisfied(rank, index int32, onStart bool) {
	if r.causes != nil {
		r.causes.satisfied(rank, index, onStart)
	}
}

// inserted tells that operation index, which is ready, has become an event.
func (r *recorder) inserted(rank, index int32, cpu uint8) {
	if r.causes != nil {
		r.causes.inserted(rank, index, cpu)
	}
}

// finished tells that the event under way has finished an operation.
func (r *recorder) finished(rank int32) {
	if r.causes != nil {
		r.causes.finished(rank)
	}
}

// calc tells of a calculation.
func (r *recorder) calc(rank, index int32, op *schedule.Op, start, end int64) {
	if r.detail != nil {
		r.detail.calc(rank, op, start, end)
	}
	if r.causes != nil {
		r.causes.calc(rank, index, op.CPU, start, end)
	}
}

// send tells of a send whose message is in node i.
func (r *recorder) send(i, host, rank, index int32, op *schedule.Op, c *machine.Cost, start, end, arrival int64) {
	if r.detail != nil {
		r.detail.send(i, rank, op, start, end, arrival)
	}
	if r.causes != nil {
		r.causes.send(i, host, rank, index, op, c, start, end, arrival)
	}
}

// message tells that the message of node i takes the CPU of its receiver.
func (r *recorder) message(i, host int32, n *node, start, end int64) {
	if r.detail != nil {
		r.detail.message(i, n.rank(), start, end)
	}
	if r.causes != nil {
		r.causes.message(i, host, n, start, end)
	}
}

// post tells that a receive is posted.
func (r *recorder) post(rank, index int32, at int64) {
	if r.detail != nil {
		r.detail.post(rank, index, at)
	}
	if r.causes != nil {
		r.causes.post(rank, index)
	}
}

// match tells that the message of node i has found operation index of its receiver, in the event
// of either.
func (r *recorder) match(i, rank, index int32, op *schedule.Op, end int64) {
	if r.detail != nil {
		r.detail.match(i, rank, index, op, end)
	}
	if r.causes != nil {
		r.causes.match(i)
	}
}

// released tells that the sender of a large message, in node i, may go on.
func (r *recorder) released(i, host int32, n *node, end int64) {
	if r.detail != nil {
		r.detail.released(i, n.rank(), end)
	}
	if r.causes != nil {
		r.causes.released(i, host, n)
	}
}
