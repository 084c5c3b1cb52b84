package hang

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/model/state"
)

// TestCallInWords: what a thread does, as a reader sees it.
func TestCallInWords(t *testing.T) {
	for want, c := range map[string]state.Call{
		"MPI_Send to rank 3, tag 7, 80 bytes, MPI_COMM_WORLD": {Kind: state.Send, Name: "MPI_Send", Peer: 3, Tag: 7, Bytes: 80, HasComm: true},
		"MPI_Send to rank 3, tag 7, 80 bytes": {Kind: state.Send, Name: "MPI_Send", Peer: 3, Tag: 7, Bytes: 80,
			HasComm: true, Comm: 99},
		"MPI_Recv from any rank, any tag":     {Kind: state.Receive, Name: "MPI_Recv", Peer: state.Anybody, Tag: state.AnyTag},
		"MPI_Probe from rank 0, tag 0, other": {Kind: state.Probe, Name: "MPI_Probe", HasComm: true, Comm: 1},
		"MPI_Sendrecv to rank 1, tag 2, from any rank, tag 3": {Kind: state.Exchange, Name: "MPI_Sendrecv", Peer: 1, Tag: 2,
			Source: state.Anybody, SourceTag: 3},
		"MPI_Waitall for 1 request":                     {Kind: state.WaitAll, Name: "MPI_Waitall", Total: 1},
		"MPI_Waitany for 12 requests":                   {Kind: state.WaitAny, Name: "MPI_Waitany", Total: 12},
		"MPI_Bcast, call 5, MPI_COMM_WORLD":             {Kind: state.Together, Name: "MPI_Bcast", Number: 4, HasComm: true},
		"MPI_Win_fence, window w0":                      {Kind: state.OnWindow, Name: "MPI_Win_fence"},
		"MPI_Win_fence, window ?":                       {Kind: state.OnWindow, Name: "MPI_Win_fence", Object: 9},
		"MPI_Win_lock, window w0, target rank 2":        {Kind: state.Locking, Name: "MPI_Win_lock", Peer: 2},
		"MPI_Win_lock_all, window w0, target all ranks": {Kind: state.Locking, Name: "MPI_Win_lock_all", Peer: state.All},
		"MPI_File_write_all, file data":                 {Kind: state.OnFile, Name: "MPI_File_write_all"},
		"MPI_Finalize":                                  {Kind: state.Finalize, Name: "MPI_Finalize"},
	} {
		v := &Verdict{run: program(1)}
		if got := v.call(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRows: ranks that do the same are one row; those that matter come first.
func TestRows(t *testing.T) {
	run := program(6)
	for r := range 4 {
		inside(run, r, 0, "MPI_Barrier")
		run.Ranks[r].Threads[0].Since = int64(r+1) * second
	}
	run.Ranks[1].Threads[0].Polls = true
	run.Ranks[4].Threads[0].Asleep = true
	run.Ranks[5].Status = state.Finished
	var got []string
	for _, row := range Analyze(run, true).Rows() {
		got = append(got, fmt.Sprint(row.Ranks, " ", row.Doing, " ", row.Since, " ", row.Stuck))
	}
	want := []string{
		"[5] has finished 1s false",                                  // the culprit
		"[4] waits outside of MPI, in a call of the system 1s false", // others wait for it, too
		"[0 2 3] MPI_Barrier, call 1, MPI_COMM_WORLD 4s true",
		"[1] polls: MPI_Barrier, call 1, MPI_COMM_WORLD 2s true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSentences: the words of findings, with one and with several ranks.
func TestSentences(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(run *state.Run)
		want string
	}{
		{"one lost rank", func(run *state.Run) {
			receives(run, 0, 3, 1)
			run.Ranks[3].Status = state.Gone
		}, "Rank 0 waits in MPI_Recv for a message from rank 3 (tag 1, MPI_COMM_WORLD), but rank 3 is gone: killed, or " +
			"crashed (process 103 on a)."},
		{"two lost ranks", func(run *state.Run) {
			inside(run, 0, 0, "MPI_Barrier")
			inside(run, 1, 0, "MPI_Barrier")
			run.Ranks[2].Status, run.Ranks[3].Status = state.Gone, state.Gone
		}, "Rank 0 and 1 more rank wait in MPI_Barrier for rank 2 to come to MPI_Barrier on MPI_COMM_WORLD, but ranks 2 and 3 are gone: " +
			"killed, or crashed (process 102 on a)."},
		{"two finished ranks", func(run *state.Run) {
			inside(run, 0, 0, "MPI_Barrier")
			inside(run, 1, 0, "MPI_Barrier")
			run.Ranks[2].Status, run.Ranks[3].Status = state.Finished, state.Finished
		}, "Rank 0 and 1 more rank wait in MPI_Barrier for rank 2 to come to MPI_Barrier on MPI_COMM_WORLD, but ranks 2 and 3 finished."},
		{"in MPI_Finalize", func(run *state.Run) {
			receives(run, 0, 1, 1)
			finalizes(run, 1, 2, 3)
		}, "Rank 0 waits in MPI_Recv for a message from rank 1 (tag 1, MPI_COMM_WORLD), but rank 1 is in MPI_Finalize."},
		{"a circle of three", func(run *state.Run) {
			receives(run, 0, 1, 1)
			sends(run, 1, 2, 5)
			receives(run, 2, 0, 1)
			run.Ranks[2].Threads[0].Call.Kind = state.Probe
		}, "Rank 0 is in MPI_Recv and waits for a message from rank 1 (tag 1, MPI_COMM_WORLD); rank 1 is in MPI_Send and waits for rank 2 to " +
			"receive a message of 1048576 bytes (tag 5, MPI_COMM_WORLD); rank 2 is in MPI_Recv and waits for a message from rank 0 (tag 1, " +
			"MPI_COMM_WORLD)."},
	} {
		run := program(4)
		tc.make(run)
		v := Analyze(run, true)
		if len(v.Findings) != 1 || v.Findings[0].Sentence != tc.want {
			t.Errorf("%s: %+v, want %q", tc.name, v.Findings, tc.want)
		}
	}
}

// TestLongCircle: of a long circle the first ranks are named, and how many there are.
func TestLongCircle(t *testing.T) {
	run := program(9)
	for r := range 9 {
		receives(run, r, int32((r+1)%9), 1)
	}
	f := Analyze(run, true).Findings[0]
	if len(f.Cycle) != 9 || !strings.HasSuffix(f.Sentence, "; and so on through 9 ranks.") || strings.Count(f.Sentence, "MPI_Recv") != 6 {
		t.Errorf("%s", f.Sentence)
	}
}

// TestSummaries: the sentences about programs that do not hang.
func TestSummaries(t *testing.T) {
	waiting := func(run *state.Run, ranks ...int) {
		for _, r := range ranks {
			receives(run, r, 3, 1)
		}
	}
	for _, tc := range []struct {
		name  string
		alive bool
		make  func(run *state.Run)
		want  string
	}{
		{"one waits", true, func(run *state.Run) { waiting(run, 0) }, "No deadlock: 1 rank waits for rank 3. Rank 3 computes and has done so " +
			"for 1s; between two MPI calls before, it took at most 1s. It is only slow."},
		{"three wait", true, func(run *state.Run) {
			waiting(run, 0, 1, 2)
			run.Ranks[3].Threads[0].Asleep, run.Ranks[3].Threads[0].Longest = true, 0
		}, "No deadlock: 3 ranks wait for rank 3. Rank 3 waits outside of MPI and has done so for 1s; it had not computed between its MPI " +
			"calls before. It is only slow."},
		{"after the end", false, func(run *state.Run) { waiting(run, 0, 1) }, "No deadlock: 2 ranks waited for rank 3. Rank 3 was outside " +
			"of MPI and had been so for 1s; between two MPI calls before, it took at most 1s. It is only slow."},
		{"nobody waits", true, func(*state.Run) {}, "No rank waits for another one."},
		{"it moves", true, func(run *state.Run) { run.Ranks[0].Threads[0].Moved = true },
			"The program makes progress: 1 rank of 4 made MPI calls within 2s."},
	} {
		run := program(4)
		tc.make(run)
		if got := Analyze(run, tc.alive).Summary(2 * second); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
