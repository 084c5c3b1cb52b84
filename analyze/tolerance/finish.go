package tolerance

import (
	"math/bits"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Finish is when ranks finish on a network.
type Finish struct {
	Ranks      []unit.Duration // the largest end of all operations, by rank
	Ops        int
	Messages   int
	Rendezvous int // of the messages
}

// Times is a Finish with the times of all operations, as the graph numbers them.
type Times struct {
	Finish
	Graph      *schedule.Graph
	Partner    []uint32 // the receive of a send, the send of a receive
	Start, End []int64  // in ps
	// Place is where the start of an operation is in an order in which each comes after all that it waits for.
	Place []uint32
}

// Finish computes when every rank finishes, by the rules of Evaluate.
func (s *Schedule) Finish(n Network) (*Finish, error) {
	p, err := newPass(s, n)
	if err != nil {
		return nil, err
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	finish := &Finish{Ranks: make([]unit.Duration, s.ranks), Ops: p.ops, Messages: p.mail.messages, Rendezvous: p.rendezvous}
	for rank, at := range p.finish {
		finish.Ranks[rank] = unit.Duration(at)
	}
	return finish, nil
}

// Times computes when every operation starts and ends, by the rules of Evaluate. All operations must be in memory for it.
func (s *Schedule) Times(n Network) (*Times, error) {
	c, err := newCoster(s, n)
	if err != nil {
		return nil, err
	}
	w, err := s.whole()
	if err != nil {
		return nil, err
	}
	timed, err := w.evaluate(c)
	if err != nil {
		return nil, err
	}
	t := &Times{Graph: w.graph, Partner: w.partner, Start: timed.times.start, End: timed.times.end, Place: make([]uint32, len(w.ops))}
	place := uint32(0)
	for _, p := range timed.order.points {
		if !p.isEnd() {
			t.Place[p.op()] = place
			place++
		}
	}
	t.Ranks, t.Ops, t.Messages = make([]unit.Duration, s.ranks), len(w.ops), w.messages
	for rank := range t.Ranks {
		for _, end := range t.End[w.graph.FirstOp(rank):w.graph.FirstOp(rank+1)] {
			t.Ranks[rank] = max(t.Ranks[rank], unit.Duration(end))
		}
	}
	for _, word := range timed.order.protocol.rendezvous {
		t.Rendezvous += bits.OnesCount64(word)
	}
	return t, nil
}
