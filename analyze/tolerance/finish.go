package tolerance

import (
	"math/bits"

	"slackline/model/unit"
)

// Finish is when ranks finish on a network.
type Finish struct {
	Ranks      []unit.Duration // the largest end of all operations, by rank
	Messages   int
	Rendezvous int // of the messages
}

// Times is a Finish with the times of all operations, as the graph of the schedule numbers them.
type Times struct {
	Finish
	Start, End []int64 // in ps
	// Place is where the start of an operation is in an order in which each comes after all that it waits for.
	Place []uint32
}

// Finish computes when every rank finishes, by the rules of Evaluate. It keeps neither the order nor
// the critical paths, so it takes less time and memory.
func (s *Schedule) Finish(n Network) (*Finish, error) {
	finish, _, err := s.finish(n, func([]point) {})
	return finish, err
}

// Times computes when every operation starts and ends, by the rules of Evaluate.
func (s *Schedule) Times(n Network) (*Times, error) {
	t := &Times{Place: make([]uint32, len(s.ops))}
	place := uint32(0)
	finish, times, err := s.finish(n, func(points []point) {
		for _, p := range points {
			if !p.isEnd() {
				t.Place[p.op()] = place
				place++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	t.Finish, t.Start, t.End = *finish, times.start, times.end
	return t, nil
}

// finish computes the times of all operations. It calls listed with all points, in order.
func (s *Schedule) finish(n Network, listed func([]point)) (*Finish, *times, error) {
	c, err := newCoster(s, n)
	if err != nil {
		return nil, nil, err
	}
	sorter := newSorter(c)
	f := newForward(c, &sorter.p)
	err = sorter.visitAll(func() bool {
		f.pass(sorter.points)
		listed(sorter.points)
		sorter.points = sorter.points[:0]
		return f.overflow >= 0
	})
	if err == nil {
		err = f.err()
	}
	if err != nil {
		return nil, nil, err
	}
	finish := &Finish{Ranks: make([]unit.Duration, s.graph.Ranks()), Messages: s.messages}
	for rank := range finish.Ranks {
		for _, end := range f.end[s.graph.FirstOp(rank):s.graph.FirstOp(rank+1)] {
			finish.Ranks[rank] = max(finish.Ranks[rank], unit.Duration(end))
		}
	}
	for _, word := range sorter.p.rendezvous {
		finish.Rendezvous += bits.OnesCount64(word)
	}
	return finish, &f.times, nil
}
