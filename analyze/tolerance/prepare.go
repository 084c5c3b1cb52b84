package tolerance

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"slackline/model/collective"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// ErrOverflow is returned when a time does not fit into 63 bits of picoseconds.
var ErrOverflow = errors.New("a time does not fit into 63 bits of picoseconds (106 days); " +
	"are the computations or message sizes of the schedule in the right unit?")

// Schedule is a program for the static model: a stream of operations without collectives, which passes go over without keeping them.
// It can be evaluated on any number of networks; its methods may be called from several goroutines at once.
type Schedule struct {
	// Interrupt is asked now and then while a pass goes on; an error ends it. nil: never.
	Interrupt func() error

	stream  schedule.Stream
	failure func() error // why the stream ended before its time
	ranks   int
	origins []schedule.Origin

	graph *schedule.Graph // the operations, if they are in memory anyway
	place []int32         // by rank: its place in the file; nil if the ranks ascend there
	// matched pairs the messages of a graph with wildcards, which the order alone does not pair.
	matched *schedule.Matching

	count func() Size
	whole func() (*whole, error)
}

// Size is how large a schedule is.
type Size struct {
	Ops      int
	Messages int
}

// Prepare makes a program ready for the static model. Collectives are expanded with the mapping (nil: the default one) and gamma, the CPU
// time per reduced byte. Messages are paired as schedule.Match does it: while a pass goes on, or here if there are wildcards.
func Prepare(p schedule.Program, mapping *collective.Mapping, gamma unit.PerByte) (*Schedule, error) {
	s := &Schedule{ranks: p.Ranks(), origins: p.Origins(), failure: func() error { return nil }}
	graph, ok := p.(*schedule.Graph)
	if ok && !p.Shape().Collectives {
		s.graph, s.stream = graph, schedule.Blocks(graph)
		s.findFileOrder()
	} else {
		expansion := collective.Expand(p, mapping, gamma)
		s.stream, s.failure = expansion, expansion.Err
	}
	if s.stream.Shape().Wildcards {
		if s.graph == nil {
			s.graph = schedule.Materialize(s.stream)
			if err := s.failure(); err != nil {
				return nil, err
			}
			s.stream = schedule.Blocks(s.graph)
		}
		var err error
		if s.matched, err = schedule.Match(s.graph); err != nil {
			return nil, err
		}
	}
	s.remember()
	return s, nil
}

// remember sets what is found out once, when it is first asked for.
func (s *Schedule) remember() {
	s.count = sync.OnceValue(func() (size Size) {
		s.each(func(_ int, op *schedule.Op) {
			size.Ops++
			if op.Kind == schedule.Send {
				size.Messages++
			}
		})
		return size
	})
	s.whole = sync.OnceValues(func() (*whole, error) {
		graph, err := s.operations()
		if err != nil {
			return nil, err
		}
		matching := s.matched
		if matching == nil {
			if matching, err = schedule.Match(graph); err != nil {
				return nil, err
			}
		}
		ops := graph.Ops()
		if noisy, ok := s.stream.(noisyBlocks); ok {
			ops = noisy.ops
		}
		return newWhole(graph, ops, matching)
	})
}

// operations returns all operations in memory.
func (s *Schedule) operations() (*schedule.Graph, error) {
	if s.graph != nil {
		return s.graph, nil
	}
	graph := schedule.Materialize(s.stream)
	return graph, s.failure()
}

// each goes over all operations, rank by rank. They are valid until the next one.
func (s *Schedule) each(visit func(rank int, op *schedule.Op)) {
	var b schedule.Block
	for rank := range s.ranks {
		for at, ok := s.stream.Next(rank, schedule.Cursor{}, &b); ok; at, ok = s.stream.Next(rank, at, &b) {
			for i := range b.Ops {
				visit(rank, &b.Ops[i])
			}
		}
	}
}

// Ranks is the number of ranks.
func (s *Schedule) Ranks() int { return s.ranks }

// Origins are what operations name as their origin.
func (s *Schedule) Origins() []schedule.Origin { return s.origins }

// Size counts the operations and messages. An Evaluation knows it already.
func (s *Schedule) Size() Size { return s.count() }

// Name is what an operation is called in messages.
func (s *Schedule) Name(rank, index int) string {
	if s.graph != nil {
		return s.graph.Name(rank, index)
	}
	return "#" + strconv.Itoa(index)
}

// LargestSend is the size of the largest message that is not buffered.
func (s *Schedule) LargestSend() int64 {
	largest := int64(0)
	s.each(func(_ int, op *schedule.Op) {
		if op.Kind == schedule.Send && !op.IsBuffered() {
			largest = max(largest, op.Size)
		}
	})
	return largest
}

// Warnings lists what may make the answers doubtful.
func (s *Schedule) Warnings() []string { return s.ambiguous() }

// fileNumber numbers the points of operations by their place in the file, with room for a mark in the lowest bit.
func (s *Schedule) fileNumber(rank int, index uint32, isEnd bool) uint64 {
	place := uint64(rank)
	if s.place != nil {
		place = uint64(s.place[rank])
	}
	n := place<<32 | uint64(index)<<2
	if isEnd {
		n |= numberEnd
	}
	return n
}

// Marks of a file number.
const (
	numberGap = 1 << 0 // the way from there is the gap of a send
	numberEnd = 1 << 1 // it is the end of the operation
)

// maxRankOps is the number of operations of a rank that a file number has room for.
const maxRankOps = 1 << 30

// findFileOrder fills s.place if the ranks do not ascend in the file.
func (s *Schedule) findFileOrder() {
	g := s.graph
	var ranks []int // those with operations
	for rank := range g.Ranks() {
		if g.FirstOp(rank) < g.FirstOp(rank+1) {
			ranks = append(ranks, rank)
		}
	}
	byLine := func(a, b int) int { return g.Line(a, 0) - g.Line(b, 0) }
	if slices.IsSortedFunc(ranks, byLine) {
		return
	}
	slices.SortStableFunc(ranks, byLine)
	s.place = slices.Repeat([]int32{-1}, g.Ranks()) // -1: it has no operations
	for i, rank := range ranks {
		s.place[rank] = int32(i)
	}
}
