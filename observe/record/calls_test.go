package record

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestEveryCall wants the trace to have each call as often as the program says that it made it.
func TestEveryCall(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "calls.c", "-O1")
		for _, thread := range []bool{false, true} {
			counts := filepath.Join(t.TempDir(), "counts")
			command := append(mpitest.Launch(l, 4), program, counts)
			if thread {
				command = append(command, "thread")
			}
			r := recorded(t, sampled(command...))
			if r.Ranks != 4 || len(r.Locations) != 4 || r.result.ExitCode != 0 {
				t.Fatalf("ranks = %d, locations = %d, exit code = %d, want 4, 4, 0\n%v", r.Ranks, len(r.Locations), r.result.ExitCode, r.talk)
			}
			want := make([]map[string]int64, 4)
			for rank := range want {
				want[rank] = readCounts(t, fmt.Sprintf("%s.%d", counts, rank))
			}
			checkAllCalled(t, want[0])
			for rank := range want {
				got := r.calls(t, rank)
				for _, name := range slices.Sorted(maps.Keys(want[rank])) {
					if got[name] != want[rank][name] {
						t.Errorf("rank %d: %s = %d calls, want %d", rank, name, got[name], want[rank][name])
					}
					delete(got, name)
				}
				for name, n := range got {
					if strings.HasPrefix(name, "MPI_") {
						t.Errorf("rank %d: %s = %d calls, want none", rank, name, n)
					}
				}
			}
			checkMessages(t, r)
			checkCollectives(t, r)
		}
	})
}

// checkAllCalled wants calls.c to call every function on windows and files.
func checkAllCalled(t *testing.T, called map[string]int64) {
	t.Helper()
	list, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		switch f.Class {
		case "rma", "irma", "io", "iio":
			if called["MPI_"+f.Name] == 0 {
				t.Errorf("calls.c does not call MPI_%s", f.Name)
			}
		}
	}
}

// readCounts reads names and numbers.
func readCounts(t *testing.T, path string) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		var name string
		var n int64
		if _, err := fmt.Sscan(line, &name, &n); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		counts[name] = n
	}
	return counts
}

// message is one end of a message.
type message struct {
	from, to int32 // world ranks
	comm     uint32
	tag      int32
	size     int64
}

// peerOf is the world rank of a peer.
func peerOf(c timeline.Comm, self int, peer int32) int32 {
	if len(c.Remote) > 0 && slices.Contains(c.Members, int32(self)) {
		return c.Remote[peer]
	}
	return c.Members[peer]
}

// checkMessages wants what was received to be what was sent, by world rank, communicator, tag and size.
func checkMessages(t *testing.T, r *recording) {
	t.Helper()
	sent, received := map[message]int{}, map[message]int{}
	requests := 0
	for i := range r.Locations {
		rank := r.Locations[i].Rank
		open := map[uint64]bool{}
		for _, e := range r.events(t, i) {
			switch e.Kind {
			case trace.Send, trace.Isend:
				sent[message{int32(rank), peerOf(r.Comms[e.Comm], rank, e.Peer), e.Comm, e.Tag, e.Size}]++
			case trace.Recv, trace.IrecvDone:
				received[message{peerOf(r.Comms[e.Comm], rank, e.Peer), int32(rank), e.Comm, e.Tag, e.Size}]++
			}
			switch e.Kind {
			case trace.Isend, trace.IrecvPost, trace.CollectiveIssue:
				open[e.Request] = true
			case trace.IsendDone, trace.IrecvDone, trace.CollectiveDone, trace.RequestCancelled:
				if !open[e.Request] {
					t.Errorf("rank %d: request %d was completed (%v) but not begun", rank, e.Request, e.Kind)
				}
				delete(open, e.Request)
				requests++
			}
		}
		if len(open) > 2 { // two sends were freed or forgotten
			t.Errorf("rank %d: %d requests were not completed", rank, len(open))
		}
	}
	if !maps.Equal(sent, received) {
		t.Errorf("messages sent and received differ:\n%v\n%v", sent, received)
	}
	if len(sent) == 0 || requests == 0 {
		t.Errorf("messages = %d, completed requests = %d", len(sent), requests)
	}
}

// checkCollectives wants all members of a communicator to have the same collectives in the same order, and the bytes
// to agree.
func checkCollectives(t *testing.T, r *recording) {
	t.Helper()
	type instance struct {
		op   timeline.Op
		root int32
	}
	lists := make([]map[int][]instance, len(r.Comms))
	sizes := map[timeline.Op][2]int64{}
	for i := range r.Locations {
		rank := r.Locations[i].Rank
		for _, e := range r.events(t, i) {
			if e.Kind != trace.CollectiveEnd {
				continue
			}
			if lists[e.Comm] == nil {
				lists[e.Comm] = map[int][]instance{}
			}
			lists[e.Comm][rank] = append(lists[e.Comm][rank], instance{e.Op, e.Root})
			if e.Comm == 0 && rank == 0 {
				sizes[e.Op] = [2]int64{e.Sent, e.Received}
			}
		}
	}
	for c, byRank := range lists {
		comm := r.Comms[c]
		for _, member := range slices.Concat(comm.Members, comm.Remote) {
			if first := comm.Members[0]; byRank != nil && !slices.Equal(byRank[int(first)], byRank[int(member)]) {
				t.Errorf("communicator %d: rank %d has collectives %v, rank %d has %v", c, first, byRank[int(first)], member, byRank[int(member)])
			}
		}
	}
	for op, want := range map[timeline.Op][2]int64{ // of rank 0 of 4 in calls.c
		timeline.OpBarrier: {0, 0}, timeline.OpBcast: {0, 20}, timeline.OpGather: {8, 32}, timeline.OpGatherv: {12, 48},
		timeline.OpScatter: {32, 8}, timeline.OpScatterv: {48, 12}, timeline.OpAllgather: {12, 48}, timeline.OpAllgatherv: {12, 48},
		timeline.OpAlltoall: {32, 32}, timeline.OpAlltoallv: {48, 48}, timeline.OpAlltoallw: {48, 48}, timeline.OpReduce: {16, 16},
		timeline.OpAllreduce: {16, 16}, timeline.OpReduceScatter: {48, 12}, timeline.OpReduceScatterBlock: {32, 8}, timeline.OpScan: {8, 8},
		timeline.OpExscan: {8, 8},
	} {
		if sizes[op] != want {
			t.Errorf("%v: sent and received = %v, want %v", op, sizes[op], want)
		}
	}
}

// TestFortran wants each call of a Fortran program exactly once, by every binding.
func TestFortran(t *testing.T) {
	want := map[string]int64{
		"MPI_Init": 1, "MPI_Sendrecv": 1, "MPI_Send": 2, "MPI_Recv": 2, "MPI_Irecv": 6, "MPI_Isend": 6, "MPI_Waitall": 4, "MPI_Wait": 5,
		"MPI_Waitany": 2, "MPI_Barrier": 3, "MPI_Probe": 1, "MPI_Send_init": 1, "MPI_Recv_init": 1, "MPI_Startall": 2, "MPI_Request_free": 2,
		"MPI_Bcast": 1, "MPI_Allreduce": 2, "MPI_Reduce": 1, "MPI_Gather": 1, "MPI_Alltoall": 1, "MPI_Ibarrier": 1, "MPI_Iallreduce": 1,
		"MPI_Comm_split": 1, "MPI_Comm_free": 2, "MPI_Cart_create": 1, "MPI_Finalize": 1, "phase 2": 1,
	}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, binding := range []string{"MPIF", "MODULE", "F08"} {
			t.Run(binding, func(t *testing.T) {
				program := build(t, l, "calls.F90", "-O1", "-fallow-argument-mismatch", "-D"+binding)
				r := recorded(t, sampled(append(mpitest.Launch(l, 2), program)...))
				for rank := range 2 {
					got := r.calls(t, rank)
					if n := got["MPI_Waitsome"]; n < 1 || n > 2 {
						t.Errorf("rank %d: MPI_Waitsome = %d calls, want 1 or 2", rank, n)
					}
					if got["MPI_Test"] < 1 {
						t.Errorf("rank %d: MPI_Test is missing", rank)
					}
					delete(got, "MPI_Waitsome")
					delete(got, "MPI_Test")
					if !maps.Equal(got, want) {
						t.Errorf("rank %d: calls = %v\nwant %v", rank, got, want)
					}
				}
				checkMessages(t, r)
				if len(r.Carts) != 1 || !slices.Equal(r.Carts[0].Dims, []int{2}) || !r.Carts[0].Periodic[0] {
					t.Errorf("grids = %v, want one of 2, periodic", r.Carts)
				}
			})
		}
	})
}

// TestLargeTypes wants programs with types made by calls with large counts to run, and the sizes of their messages.
func TestLargeTypes(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "largetypes.c"))...))
		if r.result.ExitCode != 0 || r.stdout != "7 done\n" {
			t.Fatalf("exit code %d, %q: %s", r.result.ExitCode, r.stdout, r.stderr)
		}
		var sizes []int64
		for _, e := range r.events(t, 0) {
			if e.Kind == trace.Send && e.Peer >= 0 {
				sizes = append(sizes, e.Size)
			}
		}
		if want := []int64{400, 40}; !slices.Equal(sizes, want) {
			t.Errorf("sizes of messages %v, want %v", sizes, want)
		}
	})
}
