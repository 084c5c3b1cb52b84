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

// Finish computes when every rank finishes, by the rules of Evaluate. It keeps neither the order nor
// the critical paths, so it takes less time and memory.
func (s *Schedule) Finish(n Network) (*Finish, error) {
	c, err := newCoster(s, n)
	if err != nil {
		return nil, err
	}
	sorter := newSorter(c)
	f := newForward(c, &sorter.p)
	err = sorter.visitAll(func() bool {
		f.pass(sorter.points)
		sorter.points = sorter.points[:0]
		return f.overflow >= 0
	})
	if err == nil {
		err = f.err()
	}
	if err != nil {
		return nil, err
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
	return finish, nil
}
