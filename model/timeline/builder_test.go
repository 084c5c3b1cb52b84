package timeline

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/unit"
)

// twoRanks is a builder with two ranks, the world and some regions.
type twoRanks struct {
	*Builder
	world                                    int32
	main, work, sendCall, recvCall, waitCall RegionID
	l                                        [2]*LocationBuilder
}

func newTwoRanks() *twoRanks {
	b := &twoRanks{Builder: NewBuilder(2)}
	b.main = b.Region(Region{Name: "main"})
	b.work = b.Region(Region{Name: "work"})
	b.sendCall = b.Region(Region{Name: "MPI_Send", Paradigm: MPI, Role: PointToPoint})
	b.recvCall = b.Region(Region{Name: "MPI_Recv", Paradigm: MPI, Role: PointToPoint})
	b.waitCall = b.Region(Region{Name: "MPI_Wait", Paradigm: MPI, Role: PointToPoint})
	b.world = b.Comm(Comm{Name: "world", Members: []int32{0, 1}})
	b.l[1] = b.Location(1, 0, "thread 0", "b")
	b.l[0] = b.Location(0, 0, "thread 0", "a")
	return b
}

func TestBuilderMatchesAMessage(t *testing.T) {
	b := newTwoRanks()
	l := b.l[0]
	l.Enter(0, b.main)
	l.Enter(10, b.sendCall)
	l.Send(11, 1, b.world, 7, 300)
	l.Leave(20)
	l.Leave(30)
	l = b.l[1]
	l.Enter(1, b.main)
	l.Enter(2, b.work)
	l.Leave(3)
	l.Enter(4, b.recvCall)
	l.Recv(21, 0, b.world, 7, 300)
	l.Leave(22)
	l.Leave(40)
	tl := b.Finish(2)
	want := []Message{{
		From: 0, To: 1, Send: 1, SendDone: 1, Post: 2, Recv: 2, Comm: 0, Tag: 7, Size: 300, Sent: 11, Received: 21,
	}}
	if diff := cmp.Diff(want, tl.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Problems{}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := []any{tl.Start, tl.End, tl.PathName(tl.Locations[1].Calls.Path[2])}; !cmp.Equal(got,
		[]any{tl.Locations[0].First, tl.Locations[1].Last, "main/MPI_Recv"}) {
		t.Errorf("start, end, path = %v", got)
	}
	wantCalls := Calls{
		Enter: dur(1, 2, 4), Leave: dur(40, 3, 22), Skip: []int32{3, 2, 3}, Path: tl.Locations[1].Calls.Path,
	}
	if diff := cmp.Diff(wantCalls, tl.Locations[1].Calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestReceivesMatchInTheOrderOfPosting(t *testing.T) {
	b := newTwoRanks()
	l := b.l[0]
	l.Enter(0, b.sendCall)
	l.Isend(1, 1, b.world, 7, 100, 5)
	l.Isend(2, 1, b.world, 7, 200, 6)
	l.Send(3, 1, b.world, 8, 300)
	l.Leave(4)
	l.Enter(5, b.waitCall)
	l.IsendDone(6, 6)
	l.IsendDone(7, 5)
	l.Leave(8)
	l = b.l[1]
	l.Enter(0, b.recvCall)
	l.Post(1, 9)
	l.Post(2, 10)
	l.Leave(3)
	l.Enter(4, b.waitCall)
	l.IrecvDone(5, 0, b.world, 7, 200, 10)
	l.Post(6, 10)
	l.IrecvDone(7, 0, b.world, 7, 100, 9)
	l.IrecvDone(8, 0, b.world, 8, 300, 10)
	l.Leave(9)
	tl := b.Finish(1)
	want := []Message{
		{From: 0, To: 1, Send: 0, SendDone: 1, Post: 0, Recv: 1, SendDoneSeq: 4, RecvSeq: 4, Tag: 7, Size: 100, Sent: 1, Received: 7},
		{From: 0, To: 1, Send: 0, SendDone: 1, Post: 0, Recv: 1, SendDoneSeq: 3, RecvSeq: 2, Tag: 7, Size: 200, Sent: 2, Received: 5},
		{From: 0, To: 1, Send: 0, SendDone: 0, Post: 1, Recv: 1, SendDoneSeq: 2, RecvSeq: 5, Tag: 8, Size: 300, Sent: 3, Received: 8},
	}
	if diff := cmp.Diff(want, tl.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Problems{}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestCollectiveInstances(t *testing.T) {
	b := newTwoRanks()
	bar := b.Region(Region{Name: "MPI_Barrier"})
	for i, l := range b.l {
		l.Enter(1, bar)
		l.Issue(2, 4)
		l.Collective(3, OpBarrier, b.world, -1, 0, 0, nil)
		l.Leave(4)
		l.Enter(5, b.waitCall)
		l.Complete(6, OpAlltoallv, b.world, -1, 3, 3, []int64{1, 2, 2, 1}, 4)
		l.Leave(7)
		if i == 1 {
			l.Enter(8, bar)
			l.Collective(9, OpBarrier, b.world, -1, 0, 0, nil)
			l.Leave(10)
		}
	}
	tl := b.Finish(2)
	if diff := cmp.Diff([]Collective{{Op: OpAlltoallv, Root: -1}, {Op: OpBarrier, Root: -1, First: 2}}, tl.Collectives); diff != "" {
		t.Errorf("collectives (-want +got):\n%s", diff)
	}
	want := []Member{
		{Location: 0, Issue: 0, Complete: 1, Seq: 2, Sent: 3, Received: 3, Counts: 1},
		{Location: 1, Issue: 0, Complete: 1, Seq: 2, Sent: 3, Received: 3, Counts: 6},
		{Location: 0, Issue: 0, Complete: 0, Seq: 1, Counts: -1},
		{Location: 1, Issue: 0, Complete: 0, Seq: 1, Counts: -1},
	}
	if diff := cmp.Diff(want, tl.Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	problems := Problems{IncompleteCollectives: 1, Collectives: []string{"world: collective 3: MPI_Barrier of rank 1, but rank 0 has only 2"}}
	if diff := cmp.Diff(problems, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestTeams(t *testing.T) {
	b := NewBuilder(1)
	mainRegion, par, work := b.Region(Region{Name: "main"}), b.Region(Region{Name: "parallel"}), b.Region(Region{Name: "work"})
	worker := b.Location(0, 1, "", "")
	master := b.Location(0, 0, "", "")
	part := func(l *LocationBuilder, from int) {
		d := dur(from, from+1, from+2, from+3, from+4, from+5)
		l.TeamBegin(d[0])
		l.Enter(d[1], par)
		l.Enter(d[2], work)
		l.Leave(d[3])
		l.Leave(d[4])
		l.TeamEnd(d[5])
	}
	master.Enter(0, mainRegion)
	master.Fork(1)
	part(master, 2)
	master.Join(10)
	master.Enter(11, work)
	master.Fork(12)
	part(master, 13)
	master.Join(20)
	master.Leave(21)
	master.Leave(22)
	part(worker, 3)
	part(worker, 13)
	tl := b.Finish(2)
	want := []Team{
		{Master: 0, Fork: 1, Join: 10, ForkPlace: Place{1, 0}, JoinPlace: Place{3, 0}, Base: 1, Members: []TeamMember{
			{0, 2, 7, Place{1, 0}, Place{3, 0}}, {1, 3, 8, Place{0, -1}, Place{2, -1}}}},
		{Master: 0, Fork: 12, Join: 20, ForkPlace: Place{4, 3}, JoinPlace: Place{6, 3}, Base: 4, Members: []TeamMember{
			{0, 13, 18, Place{4, 3}, Place{6, 3}}, {1, 13, 18, Place{2, -1}, Place{4, -1}}}},
	}
	if diff := cmp.Diff(want, tl.Teams); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}
	for call, want := range []string{"main/parallel", "main/parallel/work", "main/work/parallel", "main/work/parallel/work"} {
		if got := tl.PathName(tl.Locations[1].Calls.Path[call]); got != want {
			t.Errorf("path of the worker's call %d = %s, want %s", call, got, want)
		}
	}
	if len(tl.Paths) != 7 {
		t.Errorf("%d paths, want 7", len(tl.Paths))
	}
	if diff := cmp.Diff(Problems{}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func dur(values ...int) []unit.Duration {
	out := make([]unit.Duration, len(values))
	for i, v := range values {
		out[i] = unit.Duration(v)
	}
	return out
}

// What cannot be matched is left out and reported.
func TestProblems(t *testing.T) {
	b := newTwoRanks()
	inter := b.Comm(Comm{Name: "inter", Members: []int32{0}, Remote: []int32{1}})
	l := b.l[0]
	l.Send(1, 1, b.world, 0, 5) // outside of any call
	l.Enter(2, b.sendCall)
	l.Send(3, 1, b.world, 9, 5) // nobody receives it
	l.Send(4, 7, b.world, 0, 5) // there is no such rank
	l.Send(5, 0, 77, 0, 5)      // nor such a communicator
	l.Isend(6, 1, b.world, 3, 5, 1)
	l.Isend(6, 1, b.world, 3, 5, 1)
	l.IsendDone(7, 99)
	l.Cancel(8, 99)
	l.Collective(9, OpBarrier, inter, -1, 0, 0, nil)
	l.Collective(9, OpBcast, b.world, 1, 0, 0, nil)
	l.Leave(8) // before what was before it
	l.Leave(10)
	l = b.l[1]
	l.Enter(1, b.recvCall)
	l.Recv(2, 0, b.world, 0, 5)
	l.Recv(5, 0, b.world, 3, 5)
	l.Recv(6, 0, b.world, 3, 5)
	l.Collective(9, OpBarrier, b.world, -1, 0, 0, nil)
	l.Polls(3)
	l.Polls(4)
	tl := b.Finish(2)
	want := Problems{
		UnmatchedSends: 3, PendingRequests: 2, Unbalanced: 2, Violations: 1, WorstViolation: 1, IncompleteCollectives: 2,
		Sends: []Unmatched{
			{Rank: 0, Call: "MPI_Send", Peer: 1, Tag: 9, Comm: b.world, Time: 3},
			{Rank: 0, Call: "MPI_Send", Peer: -1, Comm: b.world, Time: 4},
			{Rank: 0, Call: "MPI_Send", Peer: -1, Comm: 77, Time: 5},
		},
		Collectives: []string{"world: collective 1: MPI_Send with root 1 of rank 0, but MPI_Recv of rank 1",
			"inter: collective 1: MPI_Send of rank 0, but rank 1 has only 0"},
		Notes: []string{
			"1 events before the one before them, taken as simultaneous (on rank 0)",
			"2 completions of requests that were never started (on rank 0)",
			"1 records outside of any call, left out (on rank 1)",
		},
	}
	if diff := cmp.Diff(want, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := tl.Locations[1].Polls; len(got) != 1 || got[0] != (Poll{0, 7}) {
		t.Errorf("polls = %v, want 7 of call 0", got)
	}
}

func TestMissingRanksAndEmptyLocations(t *testing.T) {
	b := NewBuilder(3)
	b.Location(1, 0, "", "").SetTruncated()
	l := b.Location(3, 0, "", "")
	l.Event(-5)
	l.SetClockError(7)
	tl := b.Finish(4)
	if diff := cmp.Diff(Problems{MissingRanks: []int{0, 2}}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if tl.Ranks != 4 || tl.Start != -5 || tl.End != -5 || tl.Locations[0].ClockError != -1 || tl.Locations[1].ClockError != 7 ||
		!tl.Locations[0].Truncated {
		t.Errorf("timeline = %+v", tl)
	}
	b = NewBuilder(1)
	b.SetSimulated()
	b.SetGrid(&Grid{Dims: []int{1}})
	b.Location(0, 0, "", "")
	if tl := b.Finish(0); tl.Locations[0].ClockError != 0 || !tl.Simulated || tl.Grid == nil || len(tl.Paths) != 1 {
		t.Errorf("simulated timeline = %+v", tl)
	}
}

// Activities get paths below those of their launches, which a builder finds among many that the hosts have.
func TestDevicePaths(t *testing.T) {
	const functions = 100
	b := NewBuilder(1)
	l := b.Location(0, 0, "master", "")
	for i := range unit.Duration(functions) {
		l.Enter(2*i, b.Region(RegionNamed(fmt.Sprint("f", i))))
		l.Leave(2*i + 1)
	}
	tl := b.Finish(1)
	hosts := len(tl.Paths)
	d := NewDeviceBuilder(tl)
	s := d.Stream(0, 0, 0, "0:7")
	for i := range int32(2 * functions) { // every function launches it twice
		s.Add(unit.Duration(1000+i), unit.Duration(1001+i), d.Region("gemm"), ComputeKernel, Launch{Call: i % functions})
	}
	s.Add(2000, 2001, d.Region("gemm"), ComputeKernel, NoLaunch)
	stream := &d.Finish(nil).Streams[0]
	if len(tl.Paths) != hosts+functions+1 {
		t.Errorf("%d paths, want %d", len(tl.Paths), hosts+functions+1)
	}
	for i, id := range stream.Path {
		want := Path{Region: d.Region("gemm"), Depth: 1}
		if launch := stream.Launch[i]; launch.Known() {
			want.Parent, want.Depth = tl.Locations[0].Calls.Path[launch.Call], 2
		}
		if tl.Paths[id] != want {
			t.Errorf("activity %d has the path %+v, want %+v", i, tl.Paths[id], want)
		}
	}
}
