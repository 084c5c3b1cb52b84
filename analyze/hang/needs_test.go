package hang

import (
	"testing"

	"slackline/model/state"
)

// waitsOn waits for requests.
func waitsOn(run *state.Run, rank int, kind state.Kind, requests ...state.Request) {
	c := state.Call{Kind: kind, Name: "MPI_Waitall", Total: int64(len(requests))}
	for i := range requests {
		requests[i].ID = uint64(i + 1)
		c.Requests = append(c.Requests, requests[i].ID)
	}
	run.Ranks[rank].Open = requests
	in(run, rank, c)
}

// isend is the request of a send, which is counted as sent.
func isend(run *state.Run, rank int, to, tag int32) state.Request {
	if to >= 0 {
		sent(run, rank, to, tag, 0)
	}
	return state.Request{Kind: state.Send, Name: "MPI_Isend", Peer: to, Tag: tag, Bytes: 1 << 20}
}

func irecv(from, tag int32) state.Request {
	return state.Request{Kind: state.Receive, Name: "MPI_Irecv", Peer: from, Tag: tag}
}

// takes counts a message as received.
func takes(run *state.Run, rank int, from, tag int32) {
	run.Ranks[rank].Received[state.Channel{Peer: from, Tag: tag}]++
}

// TestRequests: what waits for requests need, whatever the requests are.
func TestRequests(t *testing.T) {
	for _, tc := range []standstill{
		{"a send that nobody receives", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, isend(run, 0, 1, 7))
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "The receive of rank 1 is missing"},
		{"a send that was received", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, isend(run, 0, 1, 7))
			takes(run, 1, 0, 7)
			finalizes(run, 1, 2, 3)
		}, Unknown, "", nil, 0, ""},
		{"the first of two sends was received", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, isend(run, 0, 1, 7), isend(run, 0, 1, 7))
			takes(run, 1, 0, 7)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "rank 1 to receive a message of 1048576 bytes (tag 7"},
		{"the first of two sends was received, and only that is waited for", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, isend(run, 0, 1, 7), isend(run, 0, 1, 7))
			c := run.Ranks[0].Threads[0].Call
			c.Requests, c.Total = c.Requests[:1], 1
			takes(run, 1, 0, 7)
			finalizes(run, 1, 2, 3)
		}, Unknown, "", nil, 0, ""},
		{"sends of which one may go on", func(run *state.Run) { // which of the two is not complete is not known: rank 2 may receive
			waitsOn(run, 0, state.WaitAll, isend(run, 0, 1, 7), isend(run, 0, 2, 7))
			finalizes(run, 1, 3)
		}, Slow, "hang_slow", []int{2}, 0, ""},
		{"sends to nobody", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, isend(run, 0, state.Nobody, 7), irecv(state.Nobody, 7))
			finalizes(run, 1, 2, 3)
		}, Unknown, "", nil, 0, ""},
		{"a receive decides before a send", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, isend(run, 0, 2, 7), irecv(1, 7))
			finalizes(run, 1, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "a message from rank 1 (tag 7"},
		{"one of a send and a receive is enough", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAny, isend(run, 0, 2, 7), irecv(1, 7))
			finalizes(run, 1, 3)
		}, Slow, "hang_slow", []int{2}, 0, ""},
		{"one of several whose message is there", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAny, irecv(2, 7), irecv(1, 7))
			sent(run, 1, 0, 7, 0)
			finalizes(run, 1, 2, 3)
		}, Unknown, "", nil, 0, ""},
		{"one of four, and none can come", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAny, irecv(1, 7), irecv(2, 7), irecv(3, 7), irecv(3, 8))
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1, 2, 3}, 1, "or a message from rank 2 (tag 7, MPI_COMM_WORLD), or a message from rank 3"},
		{"a partitioned receive is not counted by its channel", func(run *state.Run) {
			q := irecv(1, 7)
			q.Parts = true
			waitsOn(run, 0, state.WaitAll, q, irecv(2, 7))
			sent(run, 1, 0, 7, 0) // which is not its message
			sent(run, 2, 0, 7, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 1, ""},
		{"a collective file operation that one has not begun", func(run *state.Run) {
			for r := range 3 {
				run.Ranks[r].OnFile[0] = &state.Series{Count: 1, Last: []state.Collective{{Name: "MPI_File_iwrite_all", Root: state.NoRoot}}}
				waitsOn(run, r, state.WaitAll, state.Request{Kind: state.OnFile, Name: "MPI_File_iwrite_all"})
			}
			finalizes(run, 3)
		}, Hang, "hang_finished_rank", []int{3}, 3, "MPI_File_iwrite_all on file data"},
		{"a one-sided operation whose target computes", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, state.Request{Kind: state.OnWindow, Name: "MPI_Rput", Peer: 1})
		}, Slow, "hang_slow", []int{1}, 0, ""},
		{"a one-sided operation whose target is in MPI", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, state.Request{Kind: state.OnWindow, Name: "MPI_Rput", Peer: 1})
			receives(run, 1, 2, 1) // inside of which it makes progress
		}, Slow, "hang_slow", []int{2}, 0, ""},
		{"a one-sided operation at no rank", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, state.Request{Kind: state.OnWindow, Name: "MPI_Rput", Peer: 99})
			receives(run, 1, 0, 1)
		}, Unknown, "", []int{0}, 0, ""},
		{"some requests of many are unknown", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, isend(run, 0, 1, 7))
			run.Ranks[0].Threads[0].Call.Total = 5
			receives(run, 1, 0, 8)
		}, Unknown, "", []int{0}, 0, ""},
		{"some are unknown, but one can never come", func(run *state.Run) {
			waitsOn(run, 0, state.WaitAll, irecv(1, 7))
			run.Ranks[0].Threads[0].Call.Total = 5
			receives(run, 1, 0, 8)
		}, Hang, "hang_cyclic_receives", []int{0, 1}, 2, ""},
	} {
		t.Run(tc.name, tc.check)
	}
}

// TestCallsThatNeedNothing: a call that waits for nobody, or for nobody known, is no reason to say that a program hangs.
func TestCallsThatNeedNothing(t *testing.T) {
	for _, tc := range []standstill{
		{"a local call", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Local, Name: "MPI_Comm_rank"})
			receives(run, 1, 0, 1)
		}, Unknown, "", nil, 0, ""},
		{"a call that is not known", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Other, Name: "MPI_Comm_spawn"})
			receives(run, 1, 0, 1)
		}, Unknown, "", []int{0}, 0, ""},
		{"a receive from a rank that does not exist", func(run *state.Run) {
			receives(run, 0, 99, 1)
			receives(run, 1, 0, 1)
		}, Unknown, "", []int{0}, 0, ""},
		{"a collective on a communicator that is not known", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Together, Name: "MPI_Barrier", Comm: 99})
			receives(run, 1, 0, 1)
		}, Unknown, "", []int{0}, 0, ""},
		{"a collective on a window that is not known", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.OnWindow, Name: "MPI_Win_fence", Object: 99})
			receives(run, 1, 0, 1)
		}, Unknown, "", []int{0}, 0, ""},
		{"a lock that nobody holds, of all ranks", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Locking, Name: "MPI_Win_lock_all", Peer: state.All})
			receives(run, 1, 0, 1)
		}, Unknown, "", []int{0}, 0, ""},
		{"an exchange with nobody", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Exchange, Name: "MPI_Sendrecv", Peer: state.Nobody, Source: state.Nobody})
			receives(run, 1, 0, 1)
		}, Unknown, "", nil, 0, ""},
		{"an exchange whose message is there, and whose own was not received", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Exchange, Name: "MPI_Sendrecv", Peer: 2, Tag: 1, Source: 1, SourceTag: 2})
			sent(run, 0, 2, 1, 0)
			sent(run, 1, 0, 2, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{2}, 1, "rank 2 to receive"},
		{"an epoch with itself alone", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Start, Name: "MPI_Win_complete", Group: []int32{0, -1, 99}})
			receives(run, 1, 0, 1)
		}, Unknown, "", nil, 0, ""},
		{"an exclusive lock of all ranks", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Target: 1}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_lock_all", Peer: state.All, Shared: true})
			finalizes(run, 0, 1, 3)
		}, Hang, "hang_lock", []int{0}, 1, "The MPI_Win_unlock of rank 0 is missing"},
		{"shared locks, of which one is given back", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Target: 1, Shared: true}}
			run.Ranks[2].Locks = []state.Lock{{Target: 1, Shared: true}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_unlock", Peer: 1})
			finalizes(run, 0, 3)
		}, Slow, "hang_slow", []int{1}, 0, ""},
		{"an exclusive lock of another window does not count", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Target: 1, Shared: true}}
			run.Ranks[2].Locks = []state.Lock{{Target: 1, Shared: true}, {Window: 3, Target: 1}, {Target: 3}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_flush", Peer: 1})
			finalizes(run, 0, 3)
		}, Slow, "hang_slow", []int{1}, 0, ""},
		{"an exclusive lock that is wanted while others have it shared", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Target: 1, Shared: true}}
			run.Ranks[2].Locks = []state.Lock{{Target: 1}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_unlock", Peer: 1})
			finalizes(run, 0, 3)
		}, Hang, "hang_lock", []int{0}, 1, "the lock of window w0 at rank 1, which rank 0 holds"},
		{"another window", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Window: 3, Target: 1}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_lock", Peer: 1})
			finalizes(run, 0, 3)
		}, Slow, "hang_slow", []int{1}, 0, ""},
	} {
		t.Run(tc.name, tc.check)
	}
}
