package tolerance

import (
	"testing"

	"slackline/model/machine"
	"slackline/model/schedule"
)

// pingPong are two ranks that send messages to and fro, all in one block each. It counts how often its blocks are read.
type pingPong struct {
	messages int
	reads    *int
}

func (p pingPong) Ranks() int                 { return 2 }
func (p pingPong) Steps(int) int              { return 1 }
func (p pingPong) Shape() schedule.Shape      { return schedule.Shape{} }
func (p pingPong) Groups() []schedule.Group   { return nil }
func (p pingPong) Origins() []schedule.Origin { return nil }
func (p pingPong) Block(rank, _ int, b *schedule.Block) {
	*p.reads++
	b.Reset()
	for i := range p.messages {
		kind := schedule.Send
		if i%2 != rank {
			kind = schedule.Recv
		}
		at := b.Add(schedule.Op{Kind: kind, Peer: int32(1 - rank), Size: 8})
		if at > 0 {
			b.Require(at, at-1)
		}
	}
	b.Link()
}

func layoutOf(t *testing.T, ranks int) *machine.Layout {
	m, err := machine.Named("cscs-testbed")
	if err != nil {
		t.Fatal(err)
	}
	layout, err := m.Layout(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return layout
}

// TestTrackerReadsLargeBlocksOnce traces a path back that changes the rank with every message.
func TestTrackerReadsLargeBlocksOnce(t *testing.T) {
	reads := 0
	s, err := Prepare(pingPong{4 * keepFrom, &reads}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Evaluate(Network{Layout: layoutOf(t, 2)})
	if err != nil {
		t.Fatal(err)
	}
	reads = 0
	path, err := e.criticalPath()
	if err != nil {
		t.Fatal(err)
	}
	if path.Profile.Total() != e.T || len(path.Path) != 8*keepFrom || reads > 10 {
		t.Errorf("path = %d operations and %s, want %d and %s; blocks read = %d, want a few",
			len(path.Path), path.Profile.Total(), 8*keepFrom, e.T, reads)
	}
}

// TestPathOfFileOrder traces the path back to the rank that comes first in the file, after one without operations.
func TestPathOfFileOrder(t *testing.T) {
	s := readGoal(t, "num_ranks 3\nrank 2 {\na: calc 9\n}\nrank 1 {\na: calc 7\n}\n")
	e, err := s.Evaluate(Network{Layout: layoutOf(t, 3)})
	if err != nil {
		t.Fatal(err)
	}
	path, err := e.criticalPath()
	if err != nil {
		t.Fatal(err)
	}
	if len(path.Path) != 1 || path.Path[0].Rank != 2 {
		t.Errorf("path %+v, want the calc of rank 2", path.Path)
	}
}
