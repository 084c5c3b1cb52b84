package simulate

import (
	"errors"
	"testing"

	"slackline/model/schedule"
)

// lateReceiver is a program in which rank 0 waits for the last of many messages of rank 1, and then
// carries out a block with dependencies: a calc (operation 0), receives of the others, which have
// long been there (1 .. receives), and sends, each to a rank of its own, whose finish tells when it
// was sent.
func lateReceiver(receives, sends int, requires [][2]int) *schedule.Graph {
	build := schedule.NewBuilder(2 + sends)
	var wait, block, sender, pause, last, receiver schedule.Block
	wait.Recv(1, 1, 100)
	pause.Calc(1e9)
	last.Send(0, 1, 100)
	block.Calc(50e6)
	for tag := range uint32(receives) {
		block.Recv(1, 1, tag)
		sender.Send(0, 1, tag)
	}
	for i := range sends {
		block.Send(2+i, 1, 0)
	}
	for _, edge := range requires {
		block.Require(edge[0], edge[1])
	}
	block.Link()
	build.Add(0, &wait)
	build.Add(0, &block)
	build.Add(1, &sender)
	build.Add(1, &pause)
	build.Add(1, &last)
	receiver.Recv(0, 1, 0)
	for i := range sends {
		build.Add(2+i, &receiver)
	}
	return build.Graph()
}

// Ties between batches that random programs hardly ever meet.
func TestLeanGraphTies(t *testing.T) {
	for _, tc := range []struct {
		name             string
		receives, sends  int
		requires         [][2]int
		firstSend, other int
	}{
		// Receive 1 and the calc happen at the same time and make the receives 2 and 3 ready,
		// which are posted one calc apart. So send 5, which needs receive 2, is older than send 4.
		{"same birth, other post", 3, 2, [][2]int{{2, 1}, {3, 0}, {5, 2}, {4, 3}}, 3, 2},
		// Receive 3 is posted after receive 4 at the same time, but before the send that receive
		// 4 makes ready, so that both sends are born together.
		{"same post, other birth", 4, 2, [][2]int{{2, 1}, {4, 0}, {3, 2}, {5, 3}, {6, 4}}, 2, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, m := lateReceiver(tc.receives, tc.sends, tc.requires), vectorDefaults()
			want, err := runReference(p, &m)
			if err != nil {
				t.Fatal(err)
			}
			if want[tc.firstSend] >= want[tc.other] {
				t.Errorf("finish = %v, want rank %d before rank %d", want, tc.firstSend, tc.other)
			}
			for _, e := range engineVariants(2) {
				if e.force == engineLean {
					if _, err := e.run(p, &m, Options{}); err != nil {
						t.Errorf("%v: %v", e, err)
					}
				}
				if diff := e.differs(p, p, &m, Options{}, want, nil); diff != "" {
					t.Errorf("%v: %s", e, diff)
				}
			}
		})
	}
}

// The lean core takes blocks of up to 64 operations with dependencies, and leaves others, and
// receives that it would find in the wrong order, to the general core.
func TestLeanGraphLimits(t *testing.T) {
	chain := func(ops int) *schedule.Graph {
		build := schedule.NewBuilder(2)
		var a, b schedule.Block
		for i := range ops - 1 {
			a.Send(1, 8, uint32(i))
			b.Recv(0, 8, uint32(i))
		}
		last := a.Calc(1000)
		for i := range 3 { // not all, or the block would be cut
			a.Require(last, i)
		}
		a.Link()
		build.Add(0, &a)
		build.Add(1, &b)
		return build.Graph()
	}
	// Receive 0 is posted after receive 2, which accepts the same messages and has a dependent.
	turned := func() *schedule.Graph {
		build := schedule.NewBuilder(2)
		var a, b schedule.Block
		a.Recv(1, 8, 0)
		calc := a.Calc(1000)
		older := a.Recv(1, 8, 0)
		a.Require(a.Send(1, 8, 0), older)
		a.Require(0, calc)
		a.Link()
		b.Send(0, 8, 0)
		b.Send(0, 8, 0)
		b.Recv(0, 8, 0)
		build.Add(0, &a)
		build.Add(1, &b)
		return build.Graph()
	}
	for _, tc := range []struct {
		name    string
		program *schedule.Graph
		fits    bool
	}{
		{"64 operations", chain(64), true},
		{"65 operations", chain(65), false},
		{"receives in another order", turned(), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := vectorDefaults()
			want, err := runReference(tc.program, &m)
			if err != nil {
				t.Fatal(err)
			}
			_, err = engineVariant{"lean", engineLean, 1, 0}.run(tc.program, &m, Options{})
			if fits := !errors.Is(err, errNotApplicable); fits != tc.fits {
				t.Errorf("lean core: %v, want it to fit: %t", err, tc.fits)
			}
			result, err := engineVariant{"auto", engineAuto, 1, 0}.run(tc.program, &m, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for rank, at := range want {
				if int64(result.Finish[rank]) != at {
					t.Errorf("finish of rank %d = %d, want %d", rank, result.Finish[rank], at)
				}
			}
		})
	}
}
