package simulate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"slackline/model/schedule"
)

// A program by step yields the blocks of the graph.
func TestByStepYieldsTheSameBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const ranks = 300
	build := schedule.NewBuilder(ranks)
	for rank := range ranks {
		for range 60 + r.IntN(20) {
			var b schedule.Block
			for i := range r.IntN(8) {
				b.Send(r.IntN(ranks), int64(i), uint32(r.IntN(4)))
				if i > 0 && r.IntN(2) == 0 {
					b.Require(i, r.IntN(i))
				}
			}
			b.Link()
			build.Add(rank, &b)
		}
	}
	g := build.Graph()
	p := newByStep(g)
	if p == nil {
		t.Fatalf("a graph of %d operations in %d blocks is not put in the order of its steps", g.NumOps(), g.NumBlocks())
	}
	if p.Ranks() != ranks || p.Shape() != g.Shape() {
		t.Errorf("%d ranks of shape %v, want %d of %v", p.Ranks(), p.Shape(), ranks, g.Shape())
	}
	text := func(s schedule.Stream, rank int) string {
		var b schedule.Block
		out := ""
		for at, ok := s.Next(rank, schedule.Cursor{}, &b); ok; at, ok = s.Next(rank, at, &b) {
			out += fmt.Sprint(b.Ops, b.First, b.Dependents)
		}
		return out
	}
	for rank := range ranks {
		if got, want := text(p, rank), text(schedule.Blocks(g), rank); got != want {
			t.Fatalf("rank %d does\n%s, want\n%s", rank, got, want)
		}
	}
}

func TestByStepRefuses(t *testing.T) {
	uneven := schedule.NewBuilder(100)
	var b schedule.Block
	for range minByStepOps {
		b.Reset()
		b.Calc(1)
		uneven.Add(0, &b)
	}
	small := schedule.NewBuilder(1)
	small.Add(0, &b)
	small.Add(0, &b)
	b.Reset()
	for range minByStepOps {
		b.Calc(1)
	}
	one := schedule.NewBuilder(1)
	one.Add(0, &b)
	for name, g := range map[string]*schedule.Graph{"uneven": uneven.Graph(), "small": small.Graph(), "one block": one.Graph()} {
		if newByStep(g) != nil {
			t.Errorf("%s: put in the order of its steps", name)
		}
	}
}
