package simulate

import (
	"slackline/analyze/tolerance"
	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/timeline"
)

// Retimer is a program that was made of a recorded run and knows what its operations were there, such as that of a run with accelerators:
// its simulated run is the recorded one at other times. Each rank has one block at most.
type Retimer interface {
	// Retimes reports whether it can do that.
	Retimes() bool
	// Retimed returns the run, given by rank the start and the finish of all operations.
	Retimed(start, finish [][]int64) *timeline.Timeline
}

// retimerOf returns the program as one that can write down its own calls; nil: it cannot.
func retimerOf(p schedule.Program) Retimer {
	if t, ok := p.(Retimer); ok && t.Retimes() {
		return t
	}
	return nil
}

// timeRecorder writes down when the operations of a program started and finished; a collective when its first and its last part did.
type timeRecorder struct {
	to            Retimer
	expansion     *collective.Expansion
	start, finish [][]int64 // by rank
	parts         [][]int32 // by rank: of which operation of the program each of the block is a part; empty: each is one
}

func newTimeRecorder(r *run, to Retimer) *timeRecorder {
	return &timeRecorder{to, r.expansion, make([][]int64, r.ranks), make([][]int64, r.ranks), make([][]int32, r.ranks)}
}

// loaded records that a rank goes on to its block; at is the cursor after it.
func (t *timeRecorder) loaded(rank int32, at schedule.Cursor, b *schedule.Block) {
	n := len(b.Ops)
	if t.expansion != nil {
		t.parts[rank] = append([]int32(nil), t.expansion.Spliced(int(rank), int(at.Step-1), b)...)
	}
	if list := t.parts[rank]; len(list) > 0 {
		n = int(list[len(list)-1]) + 1
	}
	t.start[rank], t.finish[rank] = make([]int64, n), make([]int64, n)
	for i := range n {
		t.start[rank][i] = never
	}
}

func (t *timeRecorder) op(rank, index int32) int32 {
	if list := t.parts[rank]; len(list) > 0 {
		return list[index]
	}
	return index
}

func (t *timeRecorder) started(rank, index int32, at int64) {
	start := &t.start[rank][t.op(rank, index)]
	*start = min(*start, at)
}

func (t *timeRecorder) finished(rank, index int32, at int64) {
	finish := &t.finish[rank][t.op(rank, index)]
	*finish = max(*finish, at)
}

func (t *timeRecorder) collect() *timeline.Timeline { return t.to.Retimed(t.start, t.finish) }

// staticTimes writes down a run of the static model.
func (r *run) staticTimes(times *tolerance.Times, to Retimer) *timeline.Timeline {
	t := newTimeRecorder(r, to)
	var b schedule.Block
	base := 0
	for rank := range r.ranks {
		for at, ok := r.stream.Next(rank, schedule.Cursor{}, &b); ok; at, ok = r.stream.Next(rank, at, &b) {
			t.loaded(int32(rank), at, &b)
			for i := range b.Ops {
				t.started(int32(rank), int32(i), times.Start[base+i])
				t.finished(int32(rank), int32(i), times.End[base+i])
			}
			base += len(b.Ops)
		}
	}
	return t.collect()
}
