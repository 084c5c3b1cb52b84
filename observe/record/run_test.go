package record

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/internal/needed"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestEnds wants a program that ends badly to leave a readable trace, and the same exit code as without recording.
func TestEnds(t *testing.T) {
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ends.c")
		for _, how := range []string{"seven", "abort", "segv", "kill", "exit"} {
			t.Run(how, func(t *testing.T) {
				command := append(mpitest.Launch(l, 3), program, how)
				plain := exec.Command(command[0], command[1:]...)
				out, _ := plain.Output()
				r := recorded(t, sampled(command...))
				// Who ends first decides about the code that MPICH reports for a rank that just exits.
				if got, want := r.result.ExitCode, plain.ProcessState.ExitCode(); got != want && how != "exit" {
					t.Errorf("exit code = %d, want %d", got, want)
				}
				if how == "seven" && r.stdout != string(out) {
					t.Errorf("stdout = %q, want %q", r.stdout, out)
				}
				for rank := range 3 {
					want := int64(20)
					if how == "seven" || rank != 1 {
						want = 21 // the last one never came back
					}
					if got := r.calls(t, rank)["MPI_Barrier"]; got != want {
						t.Errorf("rank %d: MPI_Barrier = %d calls, want %d", rank, got, want)
					}
					if how != "seven" && !r.Locations[rank].Truncated {
						t.Errorf("rank %d is not said to be truncated", rank)
					}
				}
			})
		}
	})
}

// TestLeaves wants calls that are left by a jump, as exceptions do, to be counted, and so what follows them.
func TestLeaves(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), build(t, l, "leaves.c", "-finstrument-functions"))...))
		want := map[string]int64{"MPI_Send": 24, "MPI_Sendrecv": 3, "MPI_Barrier": 15, "work": 1, "deep": 15, "handler": 0, "MPI_Iprobe": 0}
		for rank := range 2 {
			calls := r.calls(t, rank)
			for name, n := range want {
				if calls[name] != n {
					t.Errorf("rank %d: %s = %d calls, want %d", rank, name, calls[name], n)
				}
			}
		}
		if r.result.ExitCode != 0 {
			t.Errorf("exit code %d", r.result.ExitCode)
		}
	})
}

// TestMPMD records two programs in one run.
func TestMPMD(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		a, b := build(t, l, "ranks.c", "-Irecorder"), build(t, l, "ranks.c", "-O2", "-Irecorder")
		command := append(mpitest.Launch(l, 2), a, "left", ":", "-n", "2", b, "right")
		r := recorded(t, sampled(command...))
		for rank, want := range []string{"left", "left", "right", "right"} {
			calls := r.calls(t, rank)
			if calls[want] != 1 || calls["MPI_Sendrecv"] != 10 || calls["MPI_Barrier"] != 0 {
				t.Errorf("rank %d: calls = %v, want 1 of %s, 10 of MPI_Sendrecv, none of MPI_Barrier", rank, calls, want)
			}
		}
	})
}

// TestOneRankCannotRecord wants a program to run as without recording if one of its ranks has no place to record to, and the reason.
func TestOneRankCannotRecord(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ranks.c", "-Irecorder")
		command := append(mpitest.Launch(l, 1), program, "ring", "100", ":", "-n", "1", "env", "SLACKLINE_RECORD_DIR=/nowhere", program, "ring",
			"100")
		r, err := tryRecord(t, sampled(command...))
		if !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "rank 1 cannot write to") || r.result.ExitCode != 0 {
			t.Errorf("%v, exit code %d, want that rank 1 cannot write, and the program as it is", err, r.result.ExitCode)
		}
	})
}

// TestSixteen records more ranks than there are CPUs.
func TestSixteen(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ranks.c", "-Irecorder")
		r := recorded(t, sampled(append(mpitest.Launch(l, 16), program)...))
		if r.Ranks != 16 {
			t.Fatalf("ranks = %d, want 16", r.Ranks)
		}
		for rank := range 16 {
			if got := r.calls(t, rank)["MPI_Allreduce"]; got != 10 {
				t.Errorf("rank %d: MPI_Allreduce = %d calls, want 10", rank, got)
			}
		}
		checkMessages16(t, r)
	})
}

func checkMessages16(t *testing.T, r *recording) {
	t.Helper()
	for rank := range 16 {
		for _, e := range r.events(t, rank) {
			if e.Kind == trace.Send && int(e.Peer) != (rank+1)%16 || e.Kind == trace.Recv && int(e.Peer) != (rank+15)%16 {
				t.Fatalf("rank %d: %v with peer %d", rank, e.Kind, e.Peer)
			}
		}
	}
}

// TestThreads records MPI_THREAD_MULTIPLE.
func TestThreads(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "threads.c", "-pthread")
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), program)...))
		if strings.Count(r.stdout, "1\n") != 2 {
			needed.That(t, false, "MPI_THREAD_MULTIPLE of "+l.String())
		}
		var waits [2]int64
		for i, loc := range r.Locations {
			waits[loc.Rank] += r.calls(t, i)["MPI_Waitall"]
		}
		if waits != [2]int64{600, 600} {
			t.Errorf("MPI_Waitall = %v calls, want 600 each", waits)
		}
		if len(r.Locations) != 8 {
			t.Errorf("locations = %d, want 2 times 4", len(r.Locations))
		}
		checkMessages(t, r)
	})
}

// TestSleeps wants sleeping calls to last as long and to return the same as without samples.
func TestSleeps(t *testing.T) {
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "sleeps.c")
		command := append(mpitest.Launch(l, 1), program)
		o := sampled(command...)
		o.Sample = 500 * time.Microsecond
		r := recorded(t, o)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		want := []struct {
			name          string
			result, errno int
			ms            float64
		}{
			{"sleep", 0, 0, 1000}, {"usleep", 0, 0, 100}, {"nanosleep", 0, 0, 100}, {"clock_nanosleep", 0, 0, 100}, {"poll", 0, 0, 100},
			{"ppoll", 0, 0, 100}, {"select", 0, 0, 100}, {"pselect", 0, 0, 100}, {"epoll_wait", 0, 0, 100}, {"interrupted", -1, 4, 50},
		}
		if len(lines) != len(want) {
			t.Fatalf("output:\n%s", r.stdout)
		}
		for i, w := range want {
			var name string
			var result, errno int
			var ms float64
			fmt.Sscan(lines[i], &name, &result, &errno, &ms)
			if name != w.name || result != w.result || errno != w.errno || ms < w.ms-1 {
				t.Errorf("%s; want %s %d %d, %.1f ms or more", lines[i], w.name, w.result, w.errno, w.ms)
			}
		}
		// The time in sleeps is the time of the function that slept.
		times := r.times(t, 0)
		if slept := inclusive(times, "main"); slept < 1850e9 {
			t.Errorf("time in main = %d ps, want 1.85 s or more: %v", slept, times)
		}
	})
}

// TestNaps wants the time in waits to be that of the functions that wait, not of those that compute before and after.
func TestNaps(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		r := recorded(t, sampled(append(mpitest.Launch(l, 1), build(t, l, "naps.c", "-O1", "-g", "-pthread"))...))
		times, n := r.times(t, 0), 0
		for line := range strings.Lines(r.stdout) {
			var name string
			var got int
			var ms float64
			fmt.Sscan(line, &name, &got, &ms)
			// Each wait lasts 100 ms or more. A busy machine may take the CPU away on the way into the call.
			if napped := float64(inclusive(times, name)) / 1e9; got != 1 || napped < 99.9 || napped > 2*ms {
				t.Errorf("%s: result %d, %.1f ms in the trace, want 1 and 100 ms or more, of %.1f ms", name, got, napped, ms)
			}
			n++
		}
		if n != 7 {
			t.Errorf("output:\n%s", r.stdout)
		}
	})
}

// checkShares compares the time of functions in a trace with what the program measured itself: 5 % of all, and more where the CPU was taken
// away, as a function may lose it before its first sample.
func checkShares(t *testing.T, r *recording, names ...string) {
	t.Helper()
	lack, lifetimes := r.lined(t).WithoutCPU()
	most := 0.05 + 0.1*lack.Over(lifetimes)
	for line := range strings.Lines(r.stdout) {
		fields := strings.Fields(line)
		var rank int
		fmt.Sscan(fields[0], &rank)
		times := r.times(t, rank)
		var total float64
		truth := map[string]float64{}
		for i := 1; i+1 < len(fields); i += 2 {
			var ns float64
			fmt.Sscan(fields[i+1], &ns)
			truth[fields[i]] = ns
			total += ns
		}
		for _, name := range names {
			got := float64(inclusive(times, name)) / 1000
			if math.Abs(got-truth[name])/total > most {
				t.Errorf("rank %d: %s = %.1f ms, want %.1f ms (of %.1f), %.1f %% apart\n%v", rank, name, got/1e6, truth[name]/1e6, total/1e6,
					100*most, times)
			}
		}
	}
}

// TestImbalance wants the time of an imbalanced function to be attributed to it, within 5 %.
func TestImbalance(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		t.Run("C", func(t *testing.T) {
			program := build(t, l, "imbalance.c", "-O2", "-g")
			r := recorded(t, sampled(append(mpitest.Launch(l, 2), program)...))
			checkShares(t, r, "relax", "update", "write_out")
			if times := r.times(t, 1); times["main/step/relax/kernel"] == 0 || times["main/step/write_out"] == 0 {
				t.Errorf("paths = %v, want main/step/relax/kernel and main/step/write_out", times)
			}
		})
		t.Run("instrumented", func(t *testing.T) {
			program := build(t, l, "imbalance.c", "-O2", "-finstrument-functions")
			o := sampled(append(mpitest.Launch(l, 2), program)...)
			o.Sample = -1
			r := recorded(t, o)
			checkShares(t, r, "relax", "update", "write_out")
			if times := r.times(t, 1); times["main/step/relax/kernel"] == 0 || times["main/MPI_Barrier"] == 0 {
				t.Errorf("paths = %v, want main/step/relax/kernel and main/MPI_Barrier", times)
			}
			o.Out, o.Filter, o.Depth = "", []string{"!kernel", "!main"}, 3
			r = recorded(t, o)
			calls := r.calls(t, 0)
			if calls["relax"] != 12 || calls["kernel"] != 0 || calls["main"] != 0 {
				t.Errorf("calls = %v, want 12 of relax, none of kernel and main", calls)
			}
		})
		t.Run("Fortran", func(t *testing.T) {
			program := build(t, l, "imbalance.F90", "-O2", "-g")
			r := recorded(t, sampled(append(mpitest.Launch(l, 2), program)...))
			checkShares(t, r, "relax", "update")
			if times := r.times(t, 1); times["imbalance/relax/kernel"] == 0 {
				t.Errorf("paths = %v, want imbalance/relax/kernel", times)
			}
		})
	})
}

// TestBounded limits what is recorded.
func TestBounded(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ranks.c", "-Irecorder")
		command := append(mpitest.Launch(l, 2), program, "ring", "3000")
		o := sampled(command...)
		o.MaxSize = 64 << 10
		r := recorded(t, o)
		if n := r.calls(t, 0)["MPI_Sendrecv"]; n == 0 || n >= 3000 || !r.Locations[0].Truncated {
			t.Errorf("limited: MPI_Sendrecv = %d calls, truncated = %v", n, r.Locations[0].Truncated)
		}
		if !slices.ContainsFunc(r.talk, func(s string) bool { return strings.Contains(s, "limit of size") }) {
			t.Errorf("nothing was said about the limit: %v", r.talk)
		}
		if r.calls(t, 0)["MPI_Init"] != 1 || r.calls(t, 0)["MPI_Finalize"] != 0 {
			t.Error("limited: the beginning is missing, or the end is there")
		}
		o.Ring = true
		r = recorded(t, o)
		if n := r.calls(t, 0)["MPI_Sendrecv"]; n == 0 || n >= 3000 || r.calls(t, 0)["MPI_Finalize"] != 1 || r.calls(t, 0)["MPI_Init"] != 0 {
			t.Errorf("ring: calls = %v", r.calls(t, 0))
		}
		o = sampled(command...)
		o.From = time.Hour
		r = recorded(t, o)
		if got := r.calls(t, 0); got["MPI_Sendrecv"] != 0 || got["MPI_Init"] != 1 || got["MPI_Finalize"] != 1 {
			t.Errorf("window: calls = %v, want MPI_Init and MPI_Finalize", got)
		}
		o = sampled(command...)
		o.StartOff = true
		if got := recorded(t, o).calls(t, 0); got["MPI_Sendrecv"] != 0 || got["MPI_Finalize"] != 1 {
			t.Errorf("start off: calls = %v", got)
		}
		o = sampled(command...)
		o.Estimate = true
		r = recorded(t, o)
		// Two records a call, and samples: the slower the machine, the more.
		if bytes := r.result.Heads[0].Bytes; bytes < 6000*56 || bytes > 6000*160 {
			t.Errorf("estimate = %d bytes, want about 6000 times 70 and the samples", bytes)
		}
	})
}

// TestClocks wants shifted clocks to be found from the exchanges at both ends.
func TestClocks(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		t.Setenv("SLACKLINE_RECORD_TEST_CLOCK", "5000000,0") // 5 ms for each rank
		program := build(t, l, "ranks.c", "-Irecorder")
		command := mpitest.Launch(l, 4)
		if l.Kind == mpi.OpenMPI {
			command = append(command, "-x", "SLACKLINE_RECORD_TEST_CLOCK")
		}
		o := sampled(append(command, program)...)
		o.PingAll, o.PingEvery = true, 5
		r := recorded(t, o)
		for rank := 1; rank < 4; rank++ {
			trips := r.Locations[rank].RoundTrips
			if len(trips) < 3 {
				t.Errorf("rank %d: %d exchanges, want one at each end and some between", rank, len(trips))
			}
			for _, p := range trips {
				partner := r.Locations[p.Partner].Rank
				// The partner's clock was read between Sent and Back, and is behind by 5 ms for each rank less.
				shift := int64(rank-partner) * 5e9
				if p.Answered+shift < p.Sent || p.Answered+shift > p.Back {
					t.Errorf("rank %d: partner %d answered at %d, not between %d and %d", rank, partner, p.Answered+shift, p.Sent, p.Back)
				}
			}
		}
	})
}

// TestRefused wants mistakes to be reported before the run.
func TestRefused(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ranks.c", "-Irecorder")
		other := mpitest.Other(t, l)
		_, err := tryRecord(t, sampled(append(mpitest.Launch(other, 2), program)...))
		if err == nil || !strings.Contains(err.Error(), "is built with "+l.String()) {
			t.Errorf("with the launcher of %s: %v", other, err)
		}
		existing := t.TempDir()
		o := sampled(append(mpitest.Launch(l, 1), program)...)
		o.Out = existing
		if _, err := tryRecord(t, o); !errors.Is(err, ErrExists) {
			t.Errorf("an existing directory: %v, want ErrExists", err)
		}
		if err := os.WriteFile(filepath.Join(existing, "notes"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		o.Force = true
		if _, err := tryRecord(t, o); err == nil || !strings.Contains(err.Error(), "notes, which would be deleted") {
			t.Errorf("a directory with a file of the user: %v, want an error before the program starts", err)
		}
		if _, err := tryRecord(t, sampled(append(mpitest.Launch(l, 1), "true")...)); err == nil ||
			!strings.Contains(err.Error(), "no rank left a trace") {
			t.Errorf("a program without MPI: %v", err)
		}
		if _, err := tryRecord(t, sampled(append(mpitest.Launch(l, 2), "./missing")...)); err == nil ||
			!strings.Contains(err.Error(), "before MPI_Init was done: ./missing: no such file or directory") {
			t.Errorf("a program that is not there: %v", err)
		}
		cleared := append(mpitest.Launch(l, 1), "env", "-u", "LD_PRELOAD")
		for _, words := range [][]string{{program, "ring", "1"}, {"sh", "-c", program + " ring 1; exit 3"}} {
			if _, err := tryRecord(t, sampled(append(slices.Clone(cleared), words...)...)); err == nil ||
				!strings.Contains(err.Error(), "takes LD_PRELOAD out of its environment") {
				t.Errorf("%q without the environment of its launcher: %v", words, err)
			}
		}
	})
	static := filepath.Join(t.TempDir(), "static")
	source := filepath.Join(t.TempDir(), "static.c")
	if err := os.WriteFile(source, []byte("int PMPI_Init(void) { return 0; }\nint main(void) { return PMPI_Init(); }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(needed.Tool(t, "gcc"), "-o", static, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := tryRecord(t, sampled(static)); !errors.Is(err, mpi.ErrStatic) {
		t.Errorf("a program with MPI built in: %v, want ErrStatic", err)
	}
}

// TestWrongArguments wants calls with wrong arguments to fail as without recording.
func TestWrongArguments(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		command := append(mpitest.Launch(l, 1), build(t, l, "wrongargs.c"))
		want, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := recorded(t, sampled(command...)).stdout; got != string(want) {
			t.Errorf("recorded:\n%s\nwant\n%s", got, want)
		}
	})
}

// TestOpened wants a program that calls MPI past the recorder to be named with the way out, and the way out to lead there; and so one that
// does not call MPI.
func TestOpened(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		linked, err := elf.Open(build(t, l, "ranks.c", "-Irecorder"))
		if err != nil {
			t.Fatal(err)
		}
		defer linked.Close()
		needs, _ := linked.ImportedLibraries()
		library := needs[slices.IndexFunc(needs, func(name string) bool { return strings.HasPrefix(name, "libmpi") })]
		program := filepath.Join(t.TempDir(), "opened")
		if out, err := exec.Command(needed.Tool(t, "gcc"), "testdata/opened.c", "-ldl", "-o", program).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		silent := build(t, l, "silent.c")
		command := append(mpitest.Launch(l, 2), program, library)
		if _, err := tryRecord(t, sampled(command...)); err == nil || !strings.Contains(err.Error(), program+" is not linked with MPI") ||
			!strings.Contains(err.Error(), "dlsym(RTLD_DEFAULT, ...)") {
			t.Errorf("functions of the library itself: %v, want what happened and the way out", err)
		}
		command[len(command)-2] = silent
		const why = " ended without calling MPI_Init: check"
		if _, err := tryRecord(t, sampled(command...)); err == nil || !strings.Contains(err.Error(), silent+why) {
			t.Errorf("a program that does not call MPI: %v, want why nothing was recorded", err)
		}
		command[len(command)-2] = program
		if r := recorded(t, sampled(append(command, "anywhere")...)); r.Ranks != 2 {
			t.Errorf("functions that are found anywhere: %d ranks, want 2", r.Ranks)
		}
	})
}

// TestBuilds wants programs with the address sanitizer, which insists on being the first library, to be recorded as others are, and those
// with MPI functions of their own, which pass the recorder by, to be named.
func TestBuilds(t *testing.T) {
	t.Setenv("ASAN_OPTIONS", "detect_leaks=0") // MPI has some
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, tc := range []struct {
			flag string
			said bool
		}{{"-g", false}, {"-fsanitize=address", false}, {"-fsanitize=thread", false}, {"-DOWN", true}} {
			if tc.flag == "-fsanitize=thread" && l.Kind == mpi.MPICH {
				continue // such a program crashes in its MPI_Init by itself
			}
			program := build(t, l, "ranks.c", "-Irecorder", tc.flag)
			r := recorded(t, sampled(append(mpitest.Launch(l, 2), program)...))
			calls := r.calls(t, 0) // also naps in the program's own MPI_Allreduce
			if r.result.ExitCode != 0 || calls["MPI_Sendrecv"] != 10 || !tc.said && calls["MPI_Allreduce"] != 10 {
				t.Errorf("%s: exit code %d, calls %v, want 10 of each", tc.flag, r.result.ExitCode, calls)
			}
			warning := fmt.Sprintf("warning: rank 0: %s has MPI functions of its own, such as MPI_Allreduce: ", program)
			if strings.Contains(r.stderr, "of its own") != tc.said || strings.Contains(r.stderr, warning) != tc.said {
				t.Errorf("%s: %q", tc.flag, r.stderr)
			}
		}
	})
}

// TestInterrupted wants what was recorded before an interrupt to be kept.
func TestInterrupted(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ranks.c", "-Irecorder")
		dir := t.TempDir()
		o := sampled(append(mpitest.Launch(l, 2), program, "ring", "1000000000")...)
		o.Out = filepath.Join(dir, "run.slt")
		o.MaxSize, o.Ring = 1<<20, true
		o.Stdout, o.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
		o.Note, o.Warn = func(string, ...any) {}, func(string, ...any) {}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		go func() {
			_, _ = waitForRaw(ctx, o.Out)
			cancel()
		}()
		r, err := Run(ctx, o)
		if !errors.Is(err, context.Canceled) || r == nil || r.Out != o.Out {
			t.Fatalf("Run = %+v, %v, want a trace and that it was interrupted", r, err)
		}
		read, err := trace.Open(os.DirFS(dir), "run.slt", trace.Options{})
		if err != nil || read.Ranks != 2 || !read.Locations[0].Truncated {
			t.Errorf("trace = %+v, %v, want two ranks that were cut off", read, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestOutFirst wants a place in which nothing can be written to be named before a library is chosen and the recorder compiled.
func TestOutFirst(t *testing.T) {
	o := Options{Command: []string{"true"}, Out: filepath.Join(t.TempDir(), "none", "x.slt"), MPI: "no such library"}
	o.Note = func(format string, args ...any) { t.Errorf(format, args...) }
	o.Warn = o.Note
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--out") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want the directory that is missing", err)
	}
}
