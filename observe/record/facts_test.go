package record

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/model/trace"
	times "slackline/model/unit"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// lined is the timeline of a recording.
func (r *recording) lined(t *testing.T) *timeline.Timeline {
	t.Helper()
	tl, err := trace.ToTimeline(r.Trace, trace.TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// TestNoCPU wants the time without a CPU to be recorded, so that what is left in computation is what the program computed.
func TestNoCPU(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		ranks := runtime.NumCPU() + 2
		r := recorded(t, sampled(append(mpitest.Launch(l, ranks), build(t, l, "crowded.c", "-O1", "-g"))...))
		tl := r.lined(t)
		lack, lifetime := tl.WithoutCPU()
		// Ranks that wait may sleep, so that they do not want a CPU all the time: half of what is lacking is enough.
		if share := lack.Float() / lifetime.Float(); share < 0.2 {
			t.Errorf("without a CPU for %.2f of the time, with %d ranks on %d CPUs", share, ranks, runtime.NumCPU())
		}
		if (tl.ForcedYield) != (l.Kind == mpi.MPICH) {
			t.Errorf("%s: forced yield = %v", l, tl.ForcedYield)
		}
		sentences := strings.Join(r.result.Circumstances(), "\n")
		if !strings.Contains(sentences, "without a CPU") || strings.Contains(sentences, "--yield") != tl.ForcedYield {
			t.Errorf("circumstances = %q", sentences)
		}
		for i := range tl.Locations {
			own := times.Duration(0)
			calls := &tl.Locations[i].Calls
			for c := range calls.Enter {
				if tl.RegionOf(calls.Path[c]).Name == "work" {
					own += calls.Leave[c] - calls.Enter[c]
				}
			}
			for _, s := range tl.Locations[i].NoCPU {
				if slices.Contains(namesOf(tl, s.Path), "work") {
					own -= s.To - s.From
				}
			}
			// 10 times 10 ms of CPU time; the system takes some, too.
			if own < 70*times.Millisecond || own > 250*times.Millisecond {
				t.Errorf("rank %d worked %v with a CPU, want about 100 ms", i, own)
			}
		}
	})
}

// namesOf are the regions of a path.
func namesOf(tl *timeline.Timeline, path timeline.PathID) []string {
	var names []string
	for ; path != 0; path = tl.Paths[path].Parent {
		names = append(names, tl.RegionOf(path).Name)
	}
	return names
}

// TestManyThreads wants all messages of many threads that live one after the other, and no time of theirs beyond their lives.
func TestManyThreads(t *testing.T) {
	const threads, messages = 600, 5
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "manythreads.c", "-O1", "-pthread"), fmt.Sprint(threads))...))
		calls := make([]int64, 2)
		for i := range r.Locations {
			calls[r.Locations[i].Rank] += r.calls(t, i)["MPI_Sendrecv"]
		}
		for rank, n := range calls {
			if n != threads*messages {
				t.Errorf("rank %d: %d calls of MPI_Sendrecv, want %d", rank, n, threads*messages)
			}
		}
		if len(r.Locations) > 20 {
			t.Errorf("%d locations for at most 3 threads of a rank at a time", len(r.Locations))
		}
		tl := r.lined(t)
		if len(tl.Messages) != 2*threads*messages {
			t.Errorf("%d messages, want %d", len(tl.Messages), 2*threads*messages)
		}
		lives := 0
		for i := range tl.Locations {
			location := &tl.Locations[i]
			lives += len(location.Alive)
			in := times.Duration(0)
			for c := range location.Calls.Enter {
				if tl.RegionOf(location.Calls.Path[c]).Name == "MPI_Sendrecv" {
					in += location.Calls.Leave[c] - location.Calls.Enter[c]
				}
			}
			if n := len(location.Alive); n > 0 && location.Alive[n-1].To > tl.End-100*times.Millisecond {
				t.Errorf("%s: its last thread ends at %v of %v, want the time when it ended", location.Name, location.Alive[n-1].To, tl.End)
			}
			if life := tl.Lifetime(int32(i)); location.Thread > 0 && (life < in || life > tl.End-tl.Start) {
				t.Errorf("%s: a life of %v, %v of it in MPI_Sendrecv, in a run of %v", location.Name, life, in, tl.End-tl.Start)
			}
		}
		if lives != 2*threads {
			t.Errorf("%d lives of threads, want %d", lives, 2*threads)
		}
	})
}

// TestFullThread wants all threads of a rank to stop when one has no room: messages that the others send later would be taken for those
// that are missing there.
func TestFullThread(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		o := sampled(append(mpitest.Launch(l, 2), build(t, l, "fullthread.c", "-O1", "-pthread"))...)
		o.Sample, o.MaxSize = 0, 64<<10
		r := recorded(t, o)
		if !slices.ContainsFunc(r.result.Heads, func(h Head) bool { return h.Full && h.Rank == 0 && h.Thread == 1 }) {
			t.Errorf("%+v: want the second thread of rank 0 to be full", r.result.Heads)
		}
		if n := r.calls(t, 0)["MPI_Send"]; n != 0 {
			t.Errorf("%d calls of MPI_Send of the first thread, want none after the second one was full", n)
		}
		if p := &r.lined(t).Problems; p.CutMessages != 1 || p.UnmatchedReceives != 0 {
			t.Errorf("%+v, want one message of which only the receive was recorded", p)
		}
	})
}

// TestRingOfThread wants what a ring has overwritten of a thread to be time that was not recorded, from the start of the thread on: it
// is neither time in no call, nor did the thread live before.
func TestRingOfThread(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		o := sampled(append(mpitest.Launch(l, 2), build(t, l, "fullthread.c", "-O1", "-pthread"))...)
		o.Sample, o.MaxSize, o.Ring = 0, 64<<10, true
		r := recorded(t, o)
		i := slices.IndexFunc(r.result.Heads, func(h Head) bool { return h.Rank == 0 && h.Thread == 1 && h.Wrapped })
		if i < 0 {
			t.Fatalf("%+v: want the second thread of rank 0 to be overwritten", r.result.Heads)
		}
		tl := r.lined(t)
		at := slices.IndexFunc(tl.Locations, func(l timeline.Location) bool { return l.Rank == 0 && l.Thread == 1 })
		thread := &tl.Locations[at]
		if len(thread.Alive) != 1 || thread.Alive[0].From <= tl.Start || tl.Lifetime(int32(at)) >= tl.End-tl.Start {
			t.Errorf("alive = %v in a run of %v..%v, want less than the run", thread.Alive, tl.Start, tl.End)
		}
		if thread.Unrecorded <= 0 || thread.Unrecorded >= tl.Lifetime(int32(at)) {
			t.Errorf("not recorded = %v of %v, want a part of it", thread.Unrecorded, tl.Lifetime(int32(at)))
		}
	})
}

// TestThreadsAtOnce wants all of very many threads that live at the same time.
func TestThreadsAtOnce(t *testing.T) {
	const threads = 540
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		o := sampled(append(mpitest.Launch(l, 1), build(t, l, "manythreads.c", "-O1", "-pthread"), fmt.Sprint(threads), "at once")...)
		o.Sample = 0
		r := recorded(t, o)
		with := 0
		for i := range r.Locations {
			if n := r.calls(t, i)["MPI_Sendrecv"]; n == 1 {
				with++
			} else if n != 0 {
				t.Errorf("%s: %d calls of MPI_Sendrecv, want one", r.Locations[i].Name, n)
			}
		}
		if with != threads {
			t.Errorf("%d threads with their call, want %d; %q", with, threads, r.talk)
		}
	})
}

// TestSpawn wants processes that a program starts to be ranks after its own, and what goes on between both worlds to be whole.
func TestSpawn(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "spawn.c", "-O1")
		command := append(mpitest.Launch(l, 2), program)
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("this %s cannot start processes: %v\n%s", l, err, out) // Debian's MPICH cannot
		}
		r := recorded(t, sampled(command...))
		tl := r.lined(t)
		if r.Ranks != 4 || len(tl.Messages) != 6 {
			t.Errorf("%d ranks, %d messages, want 4 and 6", r.Ranks, len(tl.Messages))
		}
		instances := map[timeline.Op]int{}
		for _, c := range tl.Collectives {
			if c.Scope == timeline.ByComm {
				instances[c.Op]++
			}
		}
		// MPI_Comm_spawn is an operation of the old ranks, MPI_Intercomm_merge one of all.
		if instances[timeline.OpBarrier] != 5 || instances[timeline.OpAllreduce] != 5 || instances[timeline.OpCreateHandle] != 2 {
			t.Errorf("instances = %v", instances)
		}
		if p := tl.Problems; p.IncompleteCollectives+p.UnmatchedSends+p.UnmatchedReceives != 0 {
			t.Errorf("%+v", p)
		}
		joined := slices.ContainsFunc(r.Comms, func(c timeline.Comm) bool {
			return slices.Equal(c.Members, []int32{0, 1}) && slices.Equal(c.Remote, []int32{2, 3})
		})
		whole := slices.ContainsFunc(r.Comms, func(c timeline.Comm) bool { return slices.Equal(c.Members, []int32{0, 1, 2, 3}) })
		if !joined || !whole {
			t.Errorf("communicators = %+v", r.Comms)
		}
		if n := r.calls(t, 0)["MPI_Comm_spawn"]; n != 1 {
			t.Errorf("MPI_Comm_spawn = %d calls, want 1", n)
		}
	})
}

// TestHandover wants requests that one thread begins and another one completes to be whole, also where recording was off in between.
func TestHandover(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		command := append(mpitest.Launch(l, 2), build(t, l, "handover.c", "-O1", "-g", "-pthread"))
		t.Run("whole", func(t *testing.T) { checkHandover(t, sampled(command...)) })
		t.Run("cut", func(t *testing.T) { checkHandover(t, sampled(append(command, "cut")...)) })
	})
}

// TestHandoverWhileOff wants a receive that main posts and another thread completes while recording is off to be complete once, not at
// each switch after that.
func TestHandoverWhileOff(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		tl := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "offhandover.c", "-O1", "-pthread"))...)).lined(t)
		if p := &tl.Problems; p.CutMessages != 2 || p.UnmatchedReceives+p.PendingRequests != 0 || len(p.Notes) > 0 {
			t.Errorf("%+v, want 2 messages whose receives were completed unseen", p)
		}
	})
}

func checkHandover(t *testing.T, o Options) {
	t.Helper()
	tl := recorded(t, o).lined(t)
	p := &tl.Problems
	if len(tl.Messages) != 10 || p.PendingRequests != 0 ||
		slices.ContainsFunc(p.Notes, func(s string) bool { return strings.Contains(s, "never started") }) {
		t.Errorf("%d messages, want 10; %d pending requests; %q", len(tl.Messages), p.PendingRequests, p.Notes)
	}
	for _, m := range tl.Messages {
		if m.PostedBy == 0 || tl.Locations[m.To].Thread == 0 {
			t.Errorf("message to thread %d, posted by thread %d", tl.Locations[m.To].Thread, tl.Locations[m.Poster()].Thread)
		}
	}
}

// TestFileHandover wants collective operations on files that one thread begins and another one ends to have both, and the others to have
// one. What MPI does in the call that begins it ends there.
func TestFileHandover(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "filehandover.c", "-O1", "-g", "-pthread")
		tl := recorded(t, sampled(append(mpitest.Launch(l, 2), program, filepath.Join(t.TempDir(), "data"))...)).lined(t)
		want := 8 // of each rank
		if l.Kind == mpi.MPICH {
			want = 4
		}
		handed, all := [2]int{}, 0
		for i := range tl.Collectives {
			c := &tl.Collectives[i]
			if c.Scope != timeline.ByFile || c.Op != timeline.OpBarrier {
				continue
			}
			all++
			for _, m := range tl.MembersOf(c) {
				if m.IssuedBy != 0 {
					handed[tl.Locations[m.Location].Rank]++
				}
			}
		}
		if all != 16 || handed != [2]int{want, want} || tl.Problems.IncompleteCollectives > 0 {
			t.Errorf("%d operations on the file, %v handed from thread to thread, want 16, %d of each rank; %q", all, handed, want,
				tl.Problems.Collectives)
		}
	})
}

// TestCutOff wants receives of messages that do not fit, which fail, to have these messages: later ones belong to later receives.
func TestCutOff(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		tl := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "cutoff.c"))...)).lined(t)
		if p := &tl.Problems; len(tl.Messages) != 10 || p.UnmatchedSends+p.UnmatchedReceives+p.PendingRequests != 0 {
			t.Fatalf("%d messages, want 10; %+v", len(tl.Messages), p)
		}
		for i, m := range tl.Messages {
			if want := map[bool]int64{true: 16, false: 4}[i < 5]; m.Size != want {
				t.Errorf("message %d has %d bytes, want %d", i, m.Size, want)
			}
		}
	})
}

// TestLeftPending wants a request that a failed MPI_Waitall leaves as it was to be completed by the call that completes it.
func TestLeftPending(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		tl := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "pending.c"))...)).lined(t)
		if p := &tl.Problems; len(tl.Messages) != 2 || p.UnmatchedSends+p.UnmatchedReceives+p.PendingRequests != 0 {
			t.Errorf("%d messages, want 2; %+v", len(tl.Messages), p)
		}
	})
}

// TestRestart wants persistent sends to be whole although MPI changes their handles when they are started.
func TestRestart(t *testing.T) {
	for _, source := range []string{"restart.c", "restart.F90"} {
		t.Run(source, func(t *testing.T) {
			mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
				tl := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, source))...)).lined(t)
				if p := &tl.Problems; len(tl.Messages) != 8 || p.UnmatchedReceives+p.PendingRequests != 0 {
					t.Errorf("%d messages, want 8; %+v", len(tl.Messages), p)
				}
			})
		})
	}
}
