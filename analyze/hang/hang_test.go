package hang

import (
	"slices"
	"strings"
	"testing"

	"slackline/model/state"
	"slackline/model/timeline"
)

const second = 1_000_000_000

// program is a made-up run of ranks that compute, with MPI_COMM_WORLD and a duplicate of it.
func program(ranks int) *state.Run {
	run := &state.Run{Ranks: make([]state.Rank, ranks)}
	var all []int32
	for r := range ranks {
		all = append(all, int32(r))
		run.Ranks[r] = state.Rank{
			Host: "a", PID: 100 + r, Threads: []state.Thread{{Since: second, Longest: second}},
			Sent: map[state.Channel]int64{}, Received: map[state.Channel]int64{}, Collectives: map[uint32]*state.Series{},
			OnWindow: map[uint32]*state.Series{}, OnFile: map[uint32]*state.Series{}, Epochs: map[state.Epoch]*state.Exposure{},
		}
	}
	run.Comms = []timeline.Comm{{Name: "MPI_COMM_WORLD", Members: all}, {Name: "other", Members: all}}
	run.Windows = []timeline.Object{{Name: "w0"}}
	run.Files = []timeline.Object{{Name: "data"}}
	return run
}

func in(run *state.Run, rank int, c state.Call) {
	c.HasComm = true
	run.Ranks[rank].Threads[0].Call = &c
}

func receives(run *state.Run, rank int, from, tag int32) {
	in(run, rank, state.Call{Kind: state.Receive, Name: "MPI_Recv", Peer: from, Tag: tag})
}

// TestUnreadable wants nothing to be said of a run of which a rank is not known, unless others are stuck without it.
func TestUnreadable(t *testing.T) {
	run := program(3)
	run.Ranks[2] = state.Rank{Status: state.Unreadable, Partial: true}
	if v := Analyze(run, true); v.Outcome != Unknown || !strings.Contains(v.Summary(0), "what was recorded of rank 2 is damaged") {
		t.Errorf("%s: %s, want that it is unknown", v.Outcome, v.Summary(0))
	}
	receives(run, 1, 2, 5)
	if v := Analyze(run, true); v.Outcome != Unknown || len(v.Stuck) > 0 {
		t.Errorf("a rank that waits for it: %s, stuck %v", v.Outcome, v.Stuck)
	}
	receives(run, 0, 1, 5)
	receives(run, 1, 0, 5)
	if v := Analyze(run, true); v.Outcome != Hang || !slices.Equal(v.Stuck, []int{0, 1}) {
		t.Errorf("two others wait for each other: %s, stuck %v", v.Outcome, v.Stuck)
	}
}

// sends is a blocked send; sent is one that went through.
func sends(run *state.Run, rank int, to, tag int32) {
	in(run, rank, state.Call{Kind: state.Send, Name: "MPI_Send", Peer: to, Tag: tag, Bytes: 1 << 20})
	sent(run, rank, to, tag, 0)
}

func sent(run *state.Run, rank int, to, tag int32, comm uint32) {
	run.Ranks[rank].Sent[state.Channel{Peer: to, Tag: tag, Comm: comm}]++
}

// calls counts a collective; inside is one that has not come back.
func calls(run *state.Run, rank int, comm uint32, c state.Collective) {
	s := run.Ranks[rank].Collectives[comm]
	if s == nil {
		s = &state.Series{}
		run.Ranks[rank].Collectives[comm] = s
	}
	s.Add(c)
}

func inside(run *state.Run, rank int, comm uint32, name string) {
	insideOf(run, rank, comm, state.Collective{Name: name, Root: state.NoRoot})
}

func insideOf(run *state.Run, rank int, comm uint32, c state.Collective) {
	calls(run, rank, comm, c)
	in(run, rank, state.Call{Kind: state.Together, Name: c.Name, Comm: comm, Number: run.Ranks[rank].Collectives[comm].Count - 1})
}

func finalizes(run *state.Run, ranks ...int) {
	for _, r := range ranks {
		in(run, r, state.Call{Kind: state.Finalize, Name: "MPI_Finalize"})
	}
}

// waitsFor posts receives from some ranks and waits for them.
func waitsFor(run *state.Run, rank int, kind state.Kind, from ...int32) {
	c := state.Call{Kind: kind, Name: "MPI_Waitall", Total: int64(len(from))}
	for i, peer := range from {
		id := uint64(i + 1)
		run.Ranks[rank].Open = append(run.Ranks[rank].Open, state.Request{ID: id, Kind: state.Receive, Name: "MPI_Irecv", Peer: peer, Tag: 1})
		c.Requests = append(c.Requests, id)
	}
	in(run, rank, c)
}

func bcast(root int32, bytes int64) state.Collective {
	return state.Collective{Name: "MPI_Bcast", Root: root, Received: bytes}
}

// standstill is a made-up state of four ranks, and what is to be found out about it.
type standstill struct {
	name     string
	make     func(run *state.Run)
	outcome  Outcome
	kind     string
	culprits []int // of the first finding, or the roots
	stuck    int
	says     string
}

// check compares the verdict with what is wanted.
func (tc *standstill) check(t *testing.T) {
	run := program(4)
	tc.make(run)
	v := Analyze(run, true)
	culprits, text := v.Roots, v.Summary(second)
	kind := ""
	if k := v.Reason(); k != nil {
		kind = k.Name
	}
	if len(v.Findings) > 0 {
		f := v.Findings[0]
		culprits, text = f.Culprits, text+" "+f.Sentence+" "+f.Mistake
	}
	if v.Outcome != tc.outcome || kind != tc.kind || !slices.Equal(culprits, tc.culprits) || len(v.Stuck) != tc.stuck {
		t.Errorf("got %s %s %v, %d stuck, want %s %s %v, %d stuck\n%s",
			v.Outcome, kind, culprits, len(v.Stuck), tc.outcome, tc.kind, tc.culprits, tc.stuck, text)
	}
	if !strings.Contains(text, tc.says) {
		t.Errorf("%q does not say %q", text, tc.says)
	}
	for _, row := range v.Rows() {
		if row.Doing == "" || len(row.Ranks) == 0 {
			t.Errorf("a row says nothing: %+v", row)
		}
	}
}

// TestVerdicts has a made-up state for each kind of standstill, and for programs that go on.
func TestVerdicts(t *testing.T) {
	for _, tc := range []standstill{
		{"nobody waits", func(run *state.Run) {}, Running, "", nil, 0, ""},
		{"sends in a circle", func(run *state.Run) {
			for r := range 4 {
				sends(run, r, int32((r+1)%4), 1)
			}
		}, Hang, "hang_cyclic_sends", []int{0, 1, 2, 3}, 4, "Each rank sends before it receives"},
		{"receives in a circle", func(run *state.Run) {
			receives(run, 1, 2, 1)
			receives(run, 2, 1, 1)
			receives(run, 0, 1, 1)
		}, Hang, "hang_cyclic_receives", []int{1, 2}, 3, ""},
		{"a send that is being received", func(run *state.Run) {
			sends(run, 0, 1, 1)
			receives(run, 1, 0, 1)
		}, Unknown, "", nil, 0, ""},
		{"a receive without a send", func(run *state.Run) {
			receives(run, 0, 1, 5)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "The send of rank 1 is missing"},
		{"a send without a receive", func(run *state.Run) {
			sends(run, 0, 1, 5)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, "The receive of rank 1 is missing"},
		{"another tag", func(run *state.Run) {
			receives(run, 0, 1, 5)
			sent(run, 1, 0, 6, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 1, "the receive has tag 5"},
		{"another communicator", func(run *state.Run) {
			receives(run, 0, 1, 5)
			sent(run, 1, 0, 5, 1)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 1, "the receive is on MPI_COMM_WORLD"},
		{"another sender", func(run *state.Run) {
			receives(run, 0, 1, 5)
			sent(run, 2, 0, 5, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_mismatched_message", []int{0, 1, 2}, 1, "names rank 1 as the source"},
		{"a large message with another tag", func(run *state.Run) {
			receives(run, 0, 1, 5)
			sends(run, 1, 0, 6)
		}, Hang, "hang_mismatched_message", []int{0, 1}, 2, ""},
		{"from any rank, but all have finished", func(run *state.Run) {
			receives(run, 0, state.Anybody, 1)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_no_sender", []int{0}, 1, "a message from any rank"},
		{"from any rank, and one computes", func(run *state.Run) {
			receives(run, 0, state.Anybody, 1)
			finalizes(run, 1, 2)
		}, Slow, "hang_slow", []int{3}, 0, ""},
		{"all of several, one never comes", func(run *state.Run) {
			waitsFor(run, 0, state.WaitAll, 1, 2)
			sent(run, 2, 0, 1, 0)
			receives(run, 1, 0, 9)
		}, Hang, "hang_cyclic_receives", []int{0, 1}, 2, "a message from rank 1"},
		{"all of several, the missing one computes", func(run *state.Run) { // rank 2 waits for rank 1, too: no circle of 0 and 2
			waitsFor(run, 0, state.WaitAll, 1, 2)
			waitsFor(run, 2, state.WaitAll, 0, 1)
			sent(run, 2, 0, 1, 0)
			sent(run, 0, 2, 1, 0)
		}, Slow, "hang_slow", []int{1}, 0, ""},
		{"any of several, one may come", func(run *state.Run) {
			waitsFor(run, 0, state.WaitAny, 1, 2)
			receives(run, 1, 0, 9)
		}, Slow, "hang_slow", []int{2}, 0, ""},
		{"any of several, none can come", func(run *state.Run) {
			waitsFor(run, 0, state.WaitAny, 1, 2)
			receives(run, 1, 0, 9)
			receives(run, 2, 0, 9)
		}, Hang, "hang_cyclic_receives", []int{0, 1}, 3, ""},
		{"a request that is unknown", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.WaitAll, Name: "MPI_Wait", Requests: []uint64{7}, Total: 1})
			receives(run, 1, 0, 1)
		}, Unknown, "", []int{0}, 0, ""},
		{"an exchange that lacks its half", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Exchange, Name: "MPI_Sendrecv", Peer: 1, Tag: 1, Source: 1, SourceTag: 2})
			sent(run, 0, 1, 1, 0)
			finalizes(run, 1, 2, 3)
		}, Hang, "hang_finished_rank", []int{1}, 1, ""},
		{"a probe without a message", func(run *state.Run) {
			in(run, 0, state.Call{Kind: state.Probe, Name: "MPI_Probe", Peer: 1, Tag: 3})
			receives(run, 1, 0, 3)
		}, Hang, "hang_cyclic_receives", []int{0, 1}, 2, ""},
		{"one has not come to a barrier and computes", func(run *state.Run) {
			for r := range 3 {
				inside(run, r, 0, "MPI_Barrier")
			}
		}, Slow, "hang_slow", []int{3}, 0, "It is only slow"},
		{"one computes without end", func(run *state.Run) {
			for r := range 3 {
				inside(run, r, 0, "MPI_Barrier")
			}
			run.Ranks[3].Threads[0].Since = 60 * second
		}, Endless, "hang_endless", []int{3}, 0, "endless loop"},
		{"one has finished", func(run *state.Run) {
			for r := range 3 {
				inside(run, r, 0, "MPI_Barrier")
			}
			run.Ranks[3].Status = state.Finished
		}, Hang, "hang_finished_rank", []int{3}, 3, "Rank 3 finished without this call"},
		{"one is gone", func(run *state.Run) {
			for r := range 3 {
				inside(run, r, 0, "MPI_Barrier")
			}
			run.Ranks[3].Status = state.Gone
		}, Hang, "hang_lost_rank", []int{3}, 3, "killed, or crashed (process 103"},
		{"one ended by itself", func(run *state.Run) {
			inside(run, 0, 0, "MPI_Barrier")
			run.Ranks[3].Status = state.Exited
		}, Hang, "hang_exited_rank", []int{3}, 1, "ended without MPI_Finalize"},
		{"one is stopped, the others finalize", func(run *state.Run) {
			finalizes(run, 0, 1, 2)
			run.Ranks[3].Status = state.Stopped
		}, Hang, "hang_stopped_rank", []int{3}, 0, "stopped by a signal"},
		{"different collectives", func(run *state.Run) {
			for r := range 3 {
				inside(run, r, 0, "MPI_Barrier")
			}
			inside(run, 3, 0, "MPI_Allreduce")
		}, Hang, "hang_mismatched_collective", []int{3}, 4, "MPI_Allreduce on rank 3"},
		{"a different collective that came back", func(run *state.Run) {
			inside(run, 0, 0, "MPI_Barrier")
			calls(run, 1, 0, bcast(1, 4))
			calls(run, 1, 0, bcast(1, 4))
			inside(run, 2, 0, "MPI_Barrier")
			inside(run, 3, 0, "MPI_Barrier")
		}, Hang, "hang_mismatched_collective", []int{1}, 3, "MPI_Bcast on rank 1"},
		{"different roots", func(run *state.Run) {
			for r := range 4 {
				insideOf(run, r, 0, bcast(int32(r/3), 4))
			}
		}, Hang, "hang_mismatched_root", []int{3}, 4, "the root is rank 0 on ranks 0 to 2 and rank 1 on rank 3"},
		{"different sizes", func(run *state.Run) {
			for r := range 4 {
				insideOf(run, r, 0, bcast(0, int64(8-r/3*4)))
			}
		}, Hang, "hang_mismatched_size", []int{3}, 4, "rank 3 has 4 bytes instead of 8"},
		{"different communicators", func(run *state.Run) {
			for r := range 4 {
				inside(run, r, uint32(r/3), "MPI_Barrier")
			}
		}, Hang, "hang_other_communicator", []int{0, 1, 2, 3}, 4, ""},
		{"a collective and a message", func(run *state.Run) {
			for r := range 3 {
				inside(run, r, 0, "MPI_Barrier")
			}
			receives(run, 3, 1, 1)
		}, Hang, "hang_cycle", []int{1, 3}, 4, "the order of the two differs"},
		{"a broadcast without its root", func(run *state.Run) {
			insideOf(run, 1, 0, bcast(0, 4))
			insideOf(run, 2, 0, bcast(0, 4))
			receives(run, 0, 1, 1)
		}, Hang, "hang_cycle", []int{0, 1}, 3, ""},
		{"a non-blocking collective that one has not begun", func(run *state.Run) {
			for r := range 3 {
				calls(run, r, 0, state.Collective{Name: "MPI_Ibarrier", Root: state.NoRoot})
				run.Ranks[r].Open = []state.Request{{ID: 1, Kind: state.Together, Name: "MPI_Ibarrier"}}
				in(run, r, state.Call{Kind: state.WaitAll, Name: "MPI_Wait", Requests: []uint64{1}, Total: 1})
			}
			finalizes(run, 3)
		}, Hang, "hang_finished_rank", []int{3}, 3, "MPI_Ibarrier"},
		{"a fence that one has not reached", func(run *state.Run) {
			for r := range 3 {
				run.Ranks[r].OnWindow[0] = &state.Series{Count: 1, Last: []state.Collective{{Name: "MPI_Win_fence", Root: state.NoRoot}}}
				in(run, r, state.Call{Kind: state.OnWindow, Name: "MPI_Win_fence"})
			}
			receives(run, 3, 0, 1)
		}, Hang, "hang_cycle", []int{0, 3}, 4, "MPI_Win_fence on window w0"},
		{"a file that one has closed before", func(run *state.Run) {
			for r := range 3 {
				run.Ranks[r].OnFile[0] = &state.Series{Count: 1, Last: []state.Collective{{Name: "MPI_File_write_all", Root: state.NoRoot}}}
				in(run, r, state.Call{Kind: state.OnFile, Name: "MPI_File_write_all"})
			}
			finalizes(run, 3)
		}, Hang, "hang_finished_rank", []int{3}, 3, "file data"},
		{"a lock whose holder waits", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Target: 1}}
			run.Ranks[2].Locks = []state.Lock{{Target: 1}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_unlock", Peer: 1})
			receives(run, 0, 2, 1)
		}, Hang, "hang_lock", []int{0, 2}, 2, "Rank 0 holds the lock while it waits in MPI_Recv"},
		{"a lock whose holder computes", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Target: 1}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_lock", Peer: 1})
		}, Slow, "hang_slow", []int{0}, 0, ""},
		{"shared locks do not exclude each other", func(run *state.Run) {
			run.Ranks[0].Locks = []state.Lock{{Target: 1, Shared: true}}
			in(run, 2, state.Call{Kind: state.Locking, Name: "MPI_Win_lock", Peer: 1, Shared: true})
			receives(run, 0, 2, 1)
		}, Slow, "hang_slow", []int{1}, 0, ""},
		{"an epoch that is not posted", func(run *state.Run) {
			run.Ranks[0].Epochs[state.Epoch{Peer: 1}] = &state.Exposure{Started: 1}
			in(run, 0, state.Call{Kind: state.Start, Name: "MPI_Win_complete", Group: []int32{1}})
			receives(run, 1, 0, 1)
		}, Hang, "hang_cycle", []int{0, 1}, 2, "MPI_Win_post"},
		{"an epoch that is not completed", func(run *state.Run) {
			run.Ranks[0].Epochs[state.Epoch{Peer: 1}] = &state.Exposure{Posted: 2}
			run.Ranks[1].Epochs[state.Epoch{Peer: 0}] = &state.Exposure{Completed: 1}
			in(run, 0, state.Call{Kind: state.Wait, Name: "MPI_Win_wait", Group: []int32{1}})
			finalizes(run, 1)
		}, Hang, "hang_finished_rank", []int{1}, 1, "MPI_Win_complete"},
		{"it moves", func(run *state.Run) {
			receives(run, 0, 1, 1)
			run.Ranks[2].Threads[0].Moved = true
		}, Running, "", []int{1}, 0, "makes progress"},
		{"a part of it stands still while others move", func(run *state.Run) {
			receives(run, 0, 1, 1)
			receives(run, 1, 0, 1)
			run.Ranks[2].Threads[0].Moved = true
		}, Hang, "hang_cyclic_receives", []int{0, 1}, 2, ""},
		{"another thread computes", func(run *state.Run) {
			receives(run, 0, 1, 1)
			receives(run, 1, 0, 1)
			run.Ranks[1].Threads = append(run.Ranks[1].Threads, state.Thread{Number: 1, Since: second, Longest: second})
		}, Slow, "hang_slow", []int{1}, 0, ""},
		{"all have finished", func(run *state.Run) {
			for r := range 4 {
				run.Ranks[r].Status = state.Finished
			}
		}, Ended, "", nil, 0, ""},
		{"what was recorded is not all", func(run *state.Run) { // a message may have come that was not recorded
			waitsFor(run, 0, state.WaitAll, 1, 2)
			run.Ranks[0].Partial = true
			receives(run, 1, 0, 9)
		}, Slow, "hang_slow", []int{2}, 0, ""},
		{"a rank without a file", func(run *state.Run) {
			inside(run, 0, 0, "MPI_Barrier")
			run.Ranks[3] = state.Rank{Status: state.Missing}
			receives(run, 1, 3, 1)
			receives(run, 2, 3, 1)
		}, Unknown, "", []int{3}, 0, ""},
	} {
		t.Run(tc.name, tc.check)
	}
}

// TestAfterTheEnd wants ranks that were killed with the run not to be taken for its cause.
func TestAfterTheEnd(t *testing.T) {
	run := program(3)
	inside(run, 0, 0, "MPI_Barrier")
	inside(run, 1, 0, "MPI_Barrier")
	for r := range run.Ranks {
		run.Ranks[r].Status = state.Gone
	}
	v := Analyze(run, false)
	if v.Outcome != Slow || !slices.Equal(v.Roots, []int{2}) || !strings.Contains(v.Summary(0), "waited for rank 2") {
		t.Errorf("got %s, roots %v: %s", v.Outcome, v.Roots, v.Summary(0))
	}
}

// TestRanks checks how ranks are named.
func TestRanks(t *testing.T) {
	for _, tc := range []struct {
		ranks []int
		want  string
	}{
		{[]int{3}, "Rank 3"}, {[]int{0, 1}, "Ranks 0 and 1"}, {[]int{0, 1, 2, 3, 7}, "Ranks 0 to 3 and 7"},
		{[]int{0, 2, 4, 6, 8, 10, 12, 14}, "Ranks 0, 2, 4, 6, 8, 10 and 2 more"}, {nil, "No rank"},
	} {
		if got := Ranks(tc.ranks); got != tc.want {
			t.Errorf("Ranks(%v) = %q, want %q", tc.ranks, got, tc.want)
		}
	}
}

// TestLargeRun wants a thousand ranks that wait for one to take no time.
func TestLargeRun(t *testing.T) {
	const ranks = 1024
	run := program(ranks)
	for r := range ranks - 1 {
		inside(run, r, 0, "MPI_Allreduce")
	}
	finalizes(run, ranks-1)
	v := Analyze(run, true)
	if len(v.Stuck) != ranks-1 || len(v.Findings) != 1 || !slices.Equal(v.Findings[0].Culprits, []int{ranks - 1}) {
		t.Errorf("%d stuck, findings %+v", len(v.Stuck), v.Findings)
	}
}

func BenchmarkAnalyze(b *testing.B) {
	const ranks = 1024
	run := program(ranks)
	for r := range ranks { // halves of the ranks in two collectives: each waits for all of the other half
		inside(run, r, uint32(r*2/ranks), "MPI_Allreduce")
	}
	for b.Loop() {
		if v := Analyze(run, true); len(v.Stuck) != ranks {
			b.Fatalf("%d stuck", len(v.Stuck))
		}
	}
}
