package hang

import (
	"testing"

	"slackline/model/state"
)

// TestWildcards: receives from any rank or with any tag take what fits, after the exact ones have taken what is theirs.
func TestWildcards(t *testing.T) {
	for _, tc := range []standstill{
		{"any tag, and there is one", func(run *state.Run) {
			receives(run, 0, 1, state.AnyTag)
			sent(run, 1, 0, 5, 0)
			finalizes(run, 1, 2, 3)
		}, Unknown, "", nil, 0, ""},
		{"any tag, and there is none", func(run *state.Run) {
			receives(run, 0, 1, state.AnyTag)
			sent(run, 2, 0, 5, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "a message from rank 1 (any tag, MPI_COMM_WORLD)"},
		{"any tag, but another communicator", func(run *state.Run) {
			receives(run, 0, 1, state.AnyTag)
			sent(run, 1, 0, 5, 1)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 1, "the receive is on MPI_COMM_WORLD"},
		{"any rank, and there is one", func(run *state.Run) {
			receives(run, 0, state.Anybody, 5)
			sent(run, 3, 0, 5, 0)
			finalizes(run, 1, 2, 3)
		}, Unknown, "", nil, 0, ""},
		{"any rank, but another tag", func(run *state.Run) {
			receives(run, 0, state.Anybody, 5)
			sent(run, 3, 0, 6, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_no_sender", []int{0}, 1, "any rank (tag 5"},
		{"the exact one comes first", func(run *state.Run) { // one message for two receives: the one from any rank lacks its own
			waitsOn(run, 0, state.WaitAll, irecv(state.Anybody, 5), irecv(1, 5))
			sent(run, 1, 0, 5, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_no_sender", []int{0}, 1, "a message from any rank"},
		{"a probe takes nothing", func(run *state.Run) {
			run.Ranks[0].Threads = append(run.Ranks[0].Threads, state.Thread{Number: 1})
			in(run, 0, state.Call{Kind: state.Probe, Name: "MPI_Probe", Peer: 1, Tag: 5})
			run.Ranks[0].Threads[1].Call = &state.Call{Kind: state.Receive, Name: "MPI_Recv", Peer: 1, Tag: state.AnyTag}
			sent(run, 1, 0, 5, 0)
			finalizes(run, 1, 2, 3)
		}, Unknown, "", nil, 0, ""},
		{"received ones are gone", func(run *state.Run) {
			receives(run, 0, state.Anybody, state.AnyTag)
			sent(run, 1, 0, 5, 0)
			takes(run, 0, 1, 5)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_no_sender", []int{0}, 1, "any rank (any tag"},
		{"messages to ranks that do not exist", func(run *state.Run) {
			receives(run, 0, 1, 5)
			sent(run, 1, 99, 5, 0)
		}, Slow, "hang_slow", []int{1}, 0, ""},
	} {
		t.Run(tc.name, tc.check)
	}
}

// TestMismatchedReceives: a message that nobody receives, and a receive of the same rank that nearly fits.
func TestMismatchedReceives(t *testing.T) {
	for _, tc := range []standstill{
		{"another tag, of a request", func(run *state.Run) {
			sends(run, 0, 1, 5)
			run.Ranks[1].Open = []state.Request{{ID: 9, Kind: state.Receive, Name: "MPI_Irecv", Peer: 0, Tag: 6}}
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 1, "sends with tag 5 on MPI_COMM_WORLD, and rank 1 receives with tag 6"},
		{"any tag on another communicator", func(run *state.Run) {
			sends(run, 0, 1, 5)
			in(run, 1, state.Call{Kind: state.Receive, Name: "MPI_Recv", Peer: 0, Tag: state.AnyTag, Comm: 1})
			finalizes(run, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 2, ""},
		{"a receive from another rank is not near", func(run *state.Run) {
			sends(run, 0, 1, 5)
			run.Ranks[1].Open = []state.Request{{ID: 9, Kind: state.Receive, Name: "MPI_Irecv", Peer: 2, Tag: 6}}
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "The receive of rank 1 is missing"},
		{"what is not all recorded is not called a mistake", func(run *state.Run) {
			sends(run, 0, 1, 5)
			run.Ranks[1].Partial = true
			run.Ranks[1].Open = []state.Request{{ID: 9, Kind: state.Receive, Name: "MPI_Irecv", Peer: 0, Tag: 6}}
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "The receive of rank 1 is missing"},
		{"tag and communicator differ", func(run *state.Run) {
			receives(run, 0, 1, 5)
			sent(run, 1, 0, 6, 1)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 1, "the receive has tag 5 on MPI_COMM_WORLD"},
		{"the nearest of several", func(run *state.Run) { // another tag is nearer than another communicator, and that than another rank
			receives(run, 0, 1, 5)
			sent(run, 2, 0, 5, 0)
			sent(run, 1, 0, 5, 1)
			sent(run, 1, 0, 8, 0)
			sent(run, 1, 0, 7, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 1, "with tag 7 on MPI_COMM_WORLD that no rank receives: the receive has tag 5"},
	} {
		t.Run(tc.name, tc.check)
	}
}
