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

// objectEvents are the events on windows and files of a location, each with the call that it is in.
func (r *recording) objectEvents(t *testing.T, location int) []string {
	kinds := map[trace.Kind]string{
		trace.WinPost: "post", trace.WinStart: "start", trace.WinComplete: "complete", trace.WinWait: "wait", trace.WinLock: "lock",
		trace.WinUnlock: "unlock", trace.WinFlush: "flush", trace.Put: "put", trace.Get: "get", trace.Atomic: "atomic",
		trace.FileOpen: "open", trace.FileClose: "close", trace.FileBegin: "begin", trace.FileEnd: "end",
	}
	ops := map[timeline.Op]string{
		timeline.OpCreateHandle: "create", timeline.OpCreateHandleAllocate: "allocate", timeline.OpBarrier: "fence",
		timeline.OpDestroyHandle: "free", timeline.OpDestroyHandleDeallocate: "deallocate",
	}
	var list []string
	call := ""
	for _, e := range r.events(t, location) {
		text := kinds[e.Kind]
		switch e.Kind {
		case trace.Enter:
			call = strings.TrimPrefix(r.Regions[e.Region].Name, "MPI_")
		case trace.WinCollective:
			text = ops[e.Op]
		case trace.WinPost, trace.WinStart:
			text += fmt.Sprint(e.Counts)
		case trace.WinLock, trace.WinUnlock, trace.WinFlush:
			text += fmt.Sprintf(" at %d %v", e.Peer, e.Flag)
		case trace.Put, trace.Get:
			text += fmt.Sprintf(" %d at %d", e.Size, e.Peer)
		case trace.Atomic:
			text += fmt.Sprintf(" %d+%d at %d", e.Sent, e.Received, e.Peer)
		case trace.FileBegin, trace.FileEnd:
			text += fmt.Sprintf(" %d", e.Request)
			if e.Size > 0 {
				text += fmt.Sprintf(" size %d", e.Size)
			}
		}
		if text != "" {
			list = append(list, fmt.Sprintf("%s: %s on %d", call, text, e.Object))
		}
	}
	return list
}

// wantedObjects are the events of testdata/objects.c and objects.F90 at a rank of two.
func wantedObjects(rank int) []string {
	epochs := `Win_post: post[1] on 1
Win_test: wait on 1
Win_post: post[1] on 1
Win_wait: wait on 1
`
	if rank == 1 {
		epochs = strings.Repeat("Win_start: start[0] on 1\nPut: put 4 at 0 on 1\nWin_complete: complete on 1\n", 2)
	}
	text := `Win_allocate: allocate on 0
Win_fence: fence on 0
Put: put 16 at P on 0
Get: get 8 at P on 0
Win_fence: fence on 0
Accumulate: atomic 12+0 at P on 0
Win_fence: fence on 0
Win_create: create on 1
Win_lock: lock at P true on 1
Rput: put 4 at P on 1
Wait: flush at P true on 1
Win_flush: flush at P false on 1
Fetch_and_op: atomic 4+4 at P on 1
Compare_and_swap: atomic 8+4 at P on 1
Win_unlock: unlock at P false on 1
Win_lock: lock at 1 false on 1
Win_unlock: unlock at 1 false on 1
Win_lock_all: lock at -1 true on 1
Get_accumulate: atomic 0+8 at P on 1
Win_flush_all: flush at -1 false on 1
Win_flush_local: flush at P true on 1
Win_flush_local_all: flush at -1 true on 1
Rget: get 8 at P on 1
Raccumulate: atomic 4+0 at P on 1
Rget_accumulate: atomic 4+4 at P on 1
Waitall: flush at P true on 1
Waitall: flush at P true on 1
Waitall: flush at P true on 1
Win_unlock_all: unlock at -1 false on 1
` + epochs + `Win_free: free on 1
Win_create_dynamic: create on 2
Win_free: free on 2
Win_allocate_shared: allocate on 3
Win_free: deallocate on 3
Win_free: deallocate on 0
File_open: open on 0
File_set_view: begin 0 on 0
File_set_view: end 0 on 0
File_write_at_all: begin 0 size 32 on 0
File_write_at_all: end 0 on 0
File_write_at_all_begin: begin 1 size 16 on 0
File_write_at_all_end: end 1 on 0
File_iwrite_at_all: begin 7 size 8 on 0
Wait: end 7 on 0
File_seek_shared: begin 0 on 0
File_seek_shared: end 0 on 0
File_write_ordered: begin 0 size 4 on 0
File_write_ordered: end 0 on 0
File_set_size: begin 0 on 0
File_set_size: end 0 on 0
File_sync: begin 0 on 0
File_sync: end 0 on 0
File_read_all: begin 0 size 12 on 0
File_read_all: end 0 on 0
File_close: close on 0`
	return strings.Split(strings.ReplaceAll(text, " at P", fmt.Sprintf(" at %d", 1-rank)), "\n")
}

// TestWindowsAndFiles wants the events of all calls on windows and files, the same by every binding, and again after a conversion to text.
func TestWindowsAndFiles(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, binding := range []string{"C", "MPIF", "MODULE", "F08"} {
			t.Run(binding, func(t *testing.T) {
				source, flags := "objects.F90", []string{"-O1", "-fallow-argument-mismatch", "-D" + binding}
				if binding == "C" {
					source, flags = "objects.c", flags[:1]
				}
				data := filepath.Join(t.TempDir(), "data")
				r := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, source, flags...), data)...))
				if r.result.ExitCode != 0 {
					t.Fatalf("exit code %d\n%s", r.result.ExitCode, r.stderr)
				}
				var words []string
				if splitsAtBegin(r.Trace.MPI) != (l.Kind == mpi.MPICH) {
					t.Errorf("split operations of %s: in the first call %v", r.Trace.MPI, splitsAtBegin(r.Trace.MPI))
				} else if splitsAtBegin(r.Trace.MPI) {
					words = []string{"all_end: end", "all_begin: end"}
				}
				checkObjects(t, r, data, strings.NewReplacer(words...))
				for name, want := range map[string]int64{
					"MPI_Put": 2, "MPI_Win_fence": 3, "MPI_Win_free": 4, "MPI_Win_allocate": 1, "MPI_Wait": 2, "MPI_File_read_at": 1, "MPI_File_seek": 1,
				} {
					if got := r.calls(t, 0)[name]; got != want {
						t.Errorf("%s = %d calls, want %d", name, got, want)
					}
				}
				dir := t.TempDir()
				if _, err := trace.Write(filepath.Join(dir, "run.trace"), r.Trace, "trace-text", trace.WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				again, err := trace.Open(os.DirFS(dir), "run.trace", trace.Options{})
				if err != nil {
					t.Fatal(err)
				}
				oneWord := strings.NewReplacer(append(words, ": allocate", ": create", ": deallocate", ": free")...)
				checkObjects(t, &recording{Trace: again}, data, oneWord)
			})
		}
	})
}

// checkObjects compares the events of both ranks with what is wanted, with some words in place of others.
func checkObjects(t *testing.T, r *recording, data string, words *strings.Replacer) {
	t.Helper()
	windows, files := []timeline.Object{{Name: "w0"}, {Name: "w1"}, {Name: "w2"}, {Name: "w3"}}, []timeline.Object{{Name: data}}
	if !slices.Equal(r.Windows, windows) || !slices.Equal(r.Files, files) {
		t.Errorf("windows = %v, files = %v, want %v and %v", r.Windows, r.Files, windows, files)
	}
	for rank := range 2 {
		got := r.objectEvents(t, rank)
		for i, want := range wantedObjects(rank) {
			if i >= len(got) || got[i] != words.Replace(want) {
				t.Fatalf("rank %d: from event %d on %q, want %q", rank, i, got[min(i, len(got)):], words.Replace(want))
			}
		}
		if n := len(wantedObjects(rank)); len(got) > n {
			t.Errorf("rank %d: more events than wanted: %q", rank, got[n:])
		}
	}
}

// TestCutObjects switches recording off for a part of the calls on a window and a file, at each rank for others: fences and writes
// after that are calls alone at a rank, and what was recorded at both ranks is joined; locks are not counted.
func TestCutObjects(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program, data := build(t, l, "cutobjects.c", "-O1"), filepath.Join(t.TempDir(), "data")
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), program, data)...))
		for rank, whole := range []int{3, 7} {
			got := map[string]int{}
			for _, text := range r.objectEvents(t, rank) {
				call, _, _ := strings.Cut(text, ":")
				got[call]++
			}
			want := map[string]int{
				"Win_allocate": 1, "File_open": 1, "Win_fence": whole, "File_write_at_all": 2 * whole, "Win_lock": 10, "Win_unlock": 10,
			}
			if !maps.Equal(got, want) {
				t.Errorf("rank %d: events by call %v, want %v", rank, got, want)
			}
			if calls := r.calls(t, rank); calls["MPI_Win_fence"] != 10 || calls["MPI_Win_free"] != 1 {
				t.Errorf("rank %d: calls %v, want 10 of MPI_Win_fence", rank, calls)
			}
		}
		tl, err := trace.ToTimeline(r.Trace, trace.TimelineOptions{Clock: trace.ClockNone})
		if err != nil {
			t.Fatal(err)
		}
		joined := map[timeline.Scope]int{}
		for i := range tl.Collectives {
			joined[tl.Collectives[i].Scope]++
		}
		if joined[timeline.ByWindow] != 4 || joined[timeline.ByFile] != 4 || tl.Problems.IncompleteCollectives > 0 {
			t.Errorf("joined %v, problems %+v; want 4 on the window, 4 on the file", joined, tl.Problems)
		}
	})
}

// TestEveryObjectCall wants every call on windows and files of a Fortran program exactly once, by every binding, and every collective
// operation on a file to end.
func TestEveryObjectCall(t *testing.T) {
	list, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	several := map[string]int64{"Win_fence": 2, "Win_post": 2, "Win_start": 2, "Win_complete": 2, "Win_free": 4}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, binding := range []string{"MPIF", "MODULE", "F08"} {
			t.Run(binding, func(t *testing.T) {
				program := build(t, l, "everyobject.F90", "-O1", "-fallow-argument-mismatch", "-D"+binding)
				r := recorded(t, sampled(append(mpitest.Launch(l, 2), program, filepath.Join(t.TempDir(), "data"))...))
				calls := r.calls(t, 0)
				for _, f := range list {
					got := calls["MPI_"+f.Name]
					switch f.Class {
					case "rma", "irma", "io", "iio":
						if want := max(several[f.Name], 1); got != want && (f.Name != "Win_test" || got < 1) {
							t.Errorf("MPI_%s = %d calls, want %d", f.Name, got, want)
						}
					}
				}
				begun, ended := 0, 0
				for _, e := range r.events(t, 0) {
					switch e.Kind {
					case trace.FileBegin:
						begun++
					case trace.FileEnd:
						ended++
					}
				}
				if begun != 22 || ended != begun {
					t.Errorf("%d collective operations on files, %d ended; want 22", begun, ended)
				}
			})
		}
	})
}
