package advise

import (
	"errors"
	"slices"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

func send(to int32) schedule.Op {
	return schedule.Op{Kind: schedule.Send, Peer: to, Size: 500, Origin: first}
}

func recv(from int32, origin uint32) schedule.Op {
	return schedule.Op{Kind: schedule.Recv, Peer: from, Size: 500, Origin: origin}
}

// TestReceiveUnits: receives of different ranks, each with the same work after it, from the start of the list on.
func TestReceiveUnits(t *testing.T) {
	for _, tc := range []struct {
		name string
		ops  []schedule.Op
		want [][2]int
	}{
		{"nothing", nil, nil},
		{"work first", []schedule.Op{calc(solve, 1), recv(1, second), recv(2, second)}, nil},
		{"one", []schedule.Op{recv(1, second), calc(solve, 1)}, nil},
		{"two", []schedule.Op{recv(1, second), recv(2, second)}, [][2]int{{0, 1}, {1, 2}}},
		{"two with work", []schedule.Op{recv(1, second), calc(solve, 1), recv(2, second), calc(solve, 5)}, [][2]int{{0, 2}, {2, 4}}},
		{"a call ends it", []schedule.Op{recv(1, second), calc(solve, 1), recv(2, second), calc(solve, 5), send(1), recv(3, second)},
			[][2]int{{0, 2}, {2, 4}}},
		{"the work of the last is missing", []schedule.Op{recv(1, second), calc(solve, 1), recv(2, second), calc(solve, 5), recv(3, second)},
			[][2]int{{0, 2}, {2, 4}}},
		{"other work", []schedule.Op{recv(1, second), calc(solve, 1), recv(2, second), calc(other, 5)}, [][2]int{{0, 2}}},
		{"a call instead of the work", []schedule.Op{recv(1, second), calc(solve, 1), recv(2, second), send(1)}, [][2]int{{0, 2}}},
		{"two parts of work", []schedule.Op{recv(1, second), calc(solve, 1), calc(other, 1), recv(2, second), calc(solve, 1), calc(solve, 1)},
			[][2]int{{0, 3}}},
		{"the same rank twice", []schedule.Op{recv(1, second), recv(2, second), recv(1, second), recv(3, second)}, [][2]int{{0, 1}, {1, 2}}},
		{"another call path", []schedule.Op{recv(1, third), recv(2, second)}, nil},
		{"another call path later", []schedule.Op{recv(1, second), calc(solve, 1), recv(2, third), calc(solve, 1)}, nil},
		{"another call path at the end", []schedule.Op{recv(1, second), recv(2, second), recv(3, third)}, [][2]int{{0, 1}, {1, 2}}},
		{"any source", []schedule.Op{recv(1, second), recv(schedule.AnySource, second)}, nil},
	} {
		g := graph(tc.ops, nil, nil, nil)
		of := targetsOf(g, "MPI_Second")
		if got := receiveUnits(g.Ops(), blocksOf(g, 0, nil), &of); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	// Work that is another number of operations in a block.
	build := schedule.NewBuilder(1)
	for _, n := range []int{1, 2} {
		var b schedule.Block
		b.Add(recv(int32(n), second))
		build.Add(0, &b)
		b.Reset()
		for range n {
			b.Add(calc(solve, 1))
		}
		b.Link()
		build.Add(0, &b)
	}
	g := build.Graph()
	if got := receiveUnits(g.Ops(), blocksOf(g, 0, nil), &targets{all: true}); !slices.Equal(got, [][2]int{{0, 2}}) {
		t.Errorf("more operations: %v", got)
	}
}

// TestArrivalOrder: rank 0 takes the message of rank 1 first, which is sent before that of rank 2. With o, g and G of 0 and L of 1 us, a
// message arrives 1 us after it was sent.
func TestArrivalOrder(t *testing.T) {
	const us = int64(unit.Microsecond)
	m := machine.FromParams("test", machine.Params{Latency: unit.Microsecond, Overhead: machine.One(unit.Duration(0)),
		PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit})
	head := []schedule.Op{calc(other, us)}                               // stays before
	tail := []schedule.Op{call(third), recv(2, second), calc(solve, us)} // one receive alone stays after
	a, b, c := []schedule.Op{recv(1, second), calc(solve, 10*us)}, []schedule.Op{recv(2, second), calc(solve, 20*us)},
		[]schedule.Op{recv(3, second), calc(solve, 30*us)}
	others := [][]schedule.Op{
		// Rank 1 sends to rank 2 first, where it is taken last: each message of a rank has its own time.
		{calc(solve, 10*us), send(2), calc(solve, 5*us), send(0)},
		{calc(solve, 50*us), send(0), calc(solve, 40*us), recv(1, third), send(0)},
		{calc(solve, 50*us), send(0)}, // at the same time as rank 2: it keeps its place
	}
	x := Scenario{Program: graph(append([][]schedule.Op{slices.Concat(head, c, b, a, tail)}, others...)...), Machine: m, Threads: 1}
	r, err := x.Run(t.Context(), simulate.Options{Calls: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for i, d := range sentTimes(graphOf(x.Program), r) {
		if graphOf(x.Program).Ops()[i].Kind == schedule.Recv {
			got = append(got, int64(d)/us)
		} else if d != -1 {
			t.Errorf("operation %d has the time %s", i, d)
		}
	}
	if want := []int64{50, 50, 15, 90, 10}; !slices.Equal(got, want) {
		t.Errorf("messages are sent at %v us, want %v", got, want)
	}
	now, err := x.Apply(t.Context(), Change{Kind: "arrival_order"})
	if err != nil {
		t.Fatal(err)
	}
	var peers []int32
	var b0 schedule.Block
	for step := range now.Program.Steps(0) {
		now.Program.Block(0, step, &b0)
		if op := b0.Ops[0]; op.Kind == schedule.Recv {
			peers = append(peers, op.Peer)
		}
	}
	if want := []int64{1, 10, 30, 20, 1}; !slices.Equal(peers, []int32{1, 3, 2, 2}) || computations(now.Program, 0)[1] != 10*us ||
		len(computations(now.Program, 0)) != len(want) {
		t.Errorf("received from %v, with work of %v", peers, computations(now.Program, 0))
	}
	// What is in order stays.
	if _, err := now.Apply(t.Context(), Change{Kind: "arrival_order"}); !errors.Is(err, errNowhere) {
		t.Errorf("again: %v", err)
	}
}
