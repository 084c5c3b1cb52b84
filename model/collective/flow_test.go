package collective

import (
	"errors"
	"fmt"

	"slackline/model/schedule"
)

// The proof by data flow runs an algorithm symbolically and follows what every message carries.
//
// What a message carries is not declared by the algorithm: it is read off the number of bytes.
// For a run the blocks of the data get the sizes 1, 2, 4, 8, ...; then the size of a message, as a
// binary number, is the set of blocks in it. An algorithm that sends a wrong block, or forgets one,
// sends a wrong set. (With more blocks than a size has bits there are several runs; in each the
// blocks of the other runs have no bytes.) What is known of a block at its sender, such as whose
// contributions are in it, goes along.

// carried is what a message carries: a set of blocks and, for reductions, the contributions in
// each of them, one bitset after the other.
type carried struct {
	blocks uint64
	sets   []uint64
}

// tracker follows the data of a collective.
type tracker interface {
	// step is told what a rank begins: the bytes that it reduces, and whether it sends.
	step(rank int, reduced int64, sends bool) error
	send(rank, to int, size int64) (carried, error)
	recv(rank, from int, size int64, c carried) error
	finish() error
}

// posted is an operation that waits for its partner.
type posted struct {
	size int64
	data carried
}

type pairQueue struct{ sends, recvs []posted }

// flow runs collectives. The step of a rank ends when all its receives have got a message and all
// its sends a receive: what works without any buffering works with it.
type flow struct {
	p       int
	queues  []pairQueue // by sender * p + receiver
	steps   []int
	open    []int // operations of the current step that wait
	ready   []int
	block   schedule.Block
	packed  []posted
	message int // counted
	bytes   int64
}

// run executes the algorithm of an instance (one per rank) under a tracker.
func (f *flow) run(p int, instance func(rank int) *Instance, t tracker) error {
	if f.p != p {
		*f = flow{p: p, queues: make([]pairQueue, p*p), steps: make([]int, p), open: make([]int, p)}
	}
	f.message, f.bytes = 0, 0
	f.ready = f.ready[:0]
	clear(f.steps)
	clear(f.open)
	for rank := range p {
		f.ready = append(f.ready, rank)
	}
	ended := 0
	for len(f.ready) > 0 {
		rank := f.ready[len(f.ready)-1]
		f.ready = f.ready[:len(f.ready)-1]
		more, err := f.post(rank, instance(rank), t)
		if err != nil {
			return fmt.Errorf("rank %d, step %d: %w", rank, f.steps[rank], err)
		}
		if !more {
			ended++
		}
	}
	if ended < p {
		return errors.New("deadlock, or a message that nobody sends or receives: " + f.waiting())
	}
	for i := range f.queues {
		if q := &f.queues[i]; len(q.sends)+len(q.recvs) > 0 {
			return fmt.Errorf("an unmatched message from %d to %d", i/p, i%p)
		}
	}
	return t.finish()
}

// waiting names some of the operations that never found a partner.
func (f *flow) waiting() string {
	for i := range f.queues {
		if q := &f.queues[i]; len(q.sends) > 0 {
			return fmt.Sprintf("%d sends to %d, step %d", i/f.p, i%f.p, f.steps[i/f.p])
		} else if len(q.recvs) > 0 {
			return fmt.Sprintf("%d receives from %d, step %d", i%f.p, i/f.p, f.steps[i%f.p])
		}
	}
	return "nothing waits"
}

// post begins the next step of a rank, and goes on as long as steps end at once.
func (f *flow) post(rank int, in *Instance, t tracker) (more bool, err error) {
	b := &f.block
	b.Reset()
	if !in.Algorithm.Step(in, rank, f.steps[rank], b) {
		if len(b.Ops) > 0 {
			return false, errors.New("operations in a step that does not exist")
		}
		return false, nil
	}
	reduced, sends := int64(0), false
	f.packed = f.packed[:0]
	for i := range b.Ops {
		op := &b.Ops[i]
		if op.Size < 0 || op.Kind != schedule.Calc && (op.Peer < 0 || int(op.Peer) >= f.p) || op.Kind > schedule.Calc {
			return true, fmt.Errorf("bad operation %+v", *op)
		}
		switch op.Kind {
		case schedule.Calc:
			if op.Tag != reduceTag {
				return true, fmt.Errorf("work that is not marked as a reduction: %+v", *op)
			}
			reduced += op.Size
		case schedule.Send:
			sends = true
			f.message++
			f.bytes += op.Size
			data, err := t.send(rank, int(op.Peer), op.Size)
			if err != nil {
				return true, fmt.Errorf("send to %d: %w", op.Peer, err)
			}
			f.packed = append(f.packed, posted{op.Size, data})
		}
	}
	if err := t.step(rank, reduced, sends); err != nil {
		return true, err
	}
	f.open[rank]++ // the step itself, so that it does not end while it is being posted
	packed := 0
	for i := range b.Ops {
		op := &b.Ops[i]
		peer := int(op.Peer)
		switch op.Kind {
		case schedule.Send:
			q := &f.queues[rank*f.p+peer]
			f.open[rank]++
			q.sends = append(q.sends, f.packed[packed])
			packed++
			err = f.match(q, rank, peer, t)
		case schedule.Recv:
			q := &f.queues[peer*f.p+rank]
			f.open[rank]++
			q.recvs = append(q.recvs, posted{size: op.Size})
			err = f.match(q, peer, rank, t)
		}
		if err != nil {
			return true, err
		}
	}
	f.done(rank)
	return true, nil
}

// match joins the oldest send and the oldest receive of a pair of ranks.
func (f *flow) match(q *pairQueue, from, to int, t tracker) error {
	if len(q.sends) == 0 || len(q.recvs) == 0 {
		return nil
	}
	s, r := q.sends[0], q.recvs[0]
	q.sends = append(q.sends[:0], q.sends[1:]...)
	q.recvs = append(q.recvs[:0], q.recvs[1:]...)
	if s.size != r.size {
		return fmt.Errorf("%d sends %d bytes to %d, which expects %d", from, s.size, to, r.size)
	}
	if err := t.recv(to, from, s.size, s.data); err != nil {
		return fmt.Errorf("message from %d to %d: %w", from, to, err)
	}
	f.done(from)
	f.done(to)
	return nil
}

func (f *flow) done(rank int) {
	if f.open[rank]--; f.open[rank] == 0 {
		f.steps[rank]++
		f.ready = append(f.ready, rank)
	}
}
