package tolerance

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"slackline/model/schedule"
	"slackline/model/unit"
)

const maxTime = int64(math.MaxInt64)

// Evaluation is a schedule on a network at the given parameters. Its methods may be called from several goroutines at once.
type Evaluation struct {
	T      unit.Duration // the largest end of all operations
	Lambda Lambda
	Size   Size

	s     *Schedule
	n     Network
	paths *decisions
	last  uint64 // file number of the end with which the canonical critical path ends; noTail: there is no operation
	graph *Graph // over the variable that was given; nil: none was
	over  Variable
	timed func() (*timed, error)
}

// Evaluate computes when every operation starts and ends, by these rules. With b = max(size-1, 0), s
// the start and e the end of an operation, and L, o(size), G(size), g, S of the class of the pair:
//
//	calculation      e = s + cost
//	eager send       e = s + o
//	its receive      e = max(s, e(send) + L + bG) + o
//	rendezvous       m = max(s(send) + o + L, s(receive)), for sizes larger than S
//	  send           e = m + L + 2o + bG
//	  receive        e = e(send) + L + o
//
// An operation starts when all that it requires has ended, all that it irequires has started, and all
// operations of the block before have ended; at 0 if there is nothing. A send starts at least g + bG
// after the one before it, in file order, of its rank and nic, if g of that one is larger than 0.
//
// Where a variable is given, the graph of T over it is made in the same pass, see Evaluation.Graph.
//
// It fails with a *schedule.CycleError if operations wait for each other.
func (s *Schedule) Evaluate(n Network, over ...Variable) (*Evaluation, error) {
	p, err := newPass(s, n)
	if err != nil {
		return nil, err
	}
	p.paths = &decisions{ranks: make([]rankDecisions, s.ranks)}
	e := &Evaluation{s: s, n: n, paths: p.paths, last: noTail}
	if len(over) > 0 {
		if err := p.trace(over[0]); err != nil {
			return nil, err
		}
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	e.T, e.Size = p.runtime(), Size{p.ops, p.mail.messages}
	if p.last.at >= 0 {
		l := &p.last
		e.Lambda, e.last = Lambda{L: l.path.units, LLeft: l.leastUnits, Bytes: l.size, O: l.overheads}, l.tail
	}
	if len(over) > 0 {
		e.over = over[0]
		if e.graph, err = p.graph(); err != nil {
			return nil, err
		}
	}
	e.timed = sync.OnceValues(func() (*timed, error) {
		w, err := s.whole()
		if err != nil {
			return nil, err
		}
		costs, err := newCoster(s, n)
		if err != nil {
			return nil, err
		}
		return w.evaluate(costs)
	})
	return e, nil
}

// trace makes the pass find the graph of T over a variable.
func (p *pass) trace(v Variable) (err error) {
	if p.axis, err = newAxis(p.s, p.costs, v); err == nil {
		p.tape = newTape()
	}
	return err
}

// runtime is T.
func (p *pass) runtime() unit.Duration { return unit.Duration(max(p.last.at, 0)) }

// Build makes the graph of T over a variable. It fails with a *schedule.CycleError if operations wait for each
// other.
func (s *Schedule) Build(n Network, v Variable) (*Graph, error) {
	p, err := newPass(s, n)
	if err != nil {
		return nil, err
	}
	if err := p.trace(v); err != nil {
		return nil, err
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.graph()
}

// Graph returns the graph of T over a variable on the same network.
func (e *Evaluation) Graph(v Variable) (*Graph, error) {
	if e.graph != nil && v.Parameter == e.over.Parameter && slices.Equal(v.Classes, e.over.Classes) {
		return e.graph, nil
	}
	return e.s.Build(e.n, v)
}

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
