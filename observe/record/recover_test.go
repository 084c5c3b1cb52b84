package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestMain lets the test program record a command in a process of its own, which tests can kill.
func TestMain(m *testing.M) {
	if out := os.Getenv("RECORD_TEST_OUT"); out != "" {
		quiet := func(string, ...any) {}
		_, err := Run(context.Background(), Options{Command: os.Args[1:], Out: out, Sample: DefaultPeriod, Yield: "on", MaxSize: 1 << 20,
			Ring: true, Note: quiet, Warn: quiet, Stdout: os.Stdout, Stderr: os.Stderr})
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestRecover kills who records, and wants a trace of what was recorded.
func TestRecover(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ranks.c", "-Irecorder")
		dir := filepath.Join(t.TempDir(), "runs [2]")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "run [1].slt")
		command := append(mpitest.Launch(l, 2), program, "ring", "1000000000")
		c := exec.Command(os.Args[0], command...)
		c.Env = append(os.Environ(), "RECORD_TEST_OUT="+out)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		talk, err := os.Create(filepath.Join(t.TempDir(), "talk")) // a pipe would be held open by the ranks
		if err != nil {
			t.Fatal(err)
		}
		defer talk.Close()
		c.Stdout, c.Stderr = talk, talk
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		raw, err := waitForRaw(ctx, out)
		if err != nil {
			said, _ := os.ReadFile(talk.Name())
			t.Fatalf("%v\n%s", err, said)
		}
		quiet := func(string, ...any) {}
		if _, err := Recover(raw, Options{Note: quiet, Warn: quiet}); !errors.Is(err, errLocked) {
			t.Errorf("while it is recorded: %v, want that", err)
		}
		launcher := childOf(t, c.Process.Pid)
		_ = syscall.Kill(launcher, syscall.SIGSTOP) // or it would end the ranks when who records ends
		_ = c.Process.Kill()
		_ = c.Wait()
		if _, err := Recover(raw, Options{Note: quiet, Warn: quiet}); err == nil || !strings.Contains(err.Error(), "is still running") {
			t.Errorf("while the ranks run: %v, want that", err)
		}
		endRanks(t, raw)
		_ = syscall.Kill(launcher, syscall.SIGCONT)
		if _, err := trace.Open(os.DirFS(dir), filepath.Base(raw), trace.Options{Name: raw}); err == nil ||
			!strings.Contains(err.Error(), "record --recover") {
			t.Errorf("a verb that is given the raw files: %v, want the way out", err)
		}
		var told []string
		note := func(format string, args ...any) { told = append(told, format) }
		tellLeftovers(&Options{Out: out, Note: note})
		if len(told) != 1 {
			t.Errorf("the next run to this place says %q, want that there is something to recover", told)
		}
		r, err := Recover(raw, Options{Note: quiet, Warn: quiet})
		if err != nil {
			t.Fatal(err)
		}
		read, err := trace.Open(os.DirFS(dir), filepath.Base(out), trace.Options{})
		if err != nil || r.Ranks != 2 || read.Ranks != 2 || !read.Locations[1].Truncated || len(read.Properties.Command) != 3 ||
			read.Properties.CallPaths != "full" {
			t.Errorf("trace = %+v, %v, want two ranks that were cut off, and the command", read, err)
		}
		if _, err := os.Stat(raw); !os.IsNotExist(err) {
			t.Errorf("the raw files are still there: %v", err)
		}
		if _, err := Recover(dir, Options{Note: quiet, Warn: quiet}); err == nil || !strings.Contains(err.Error(), "holds no raw files") {
			t.Errorf("another directory: %v", err)
		}
	})
}

// TestRemovedRanks recovers runs of which raw files were removed, and wants the ranks that lack something to be named, and to count as
// incomplete: gates do not take such a trace for a whole one. Where who recorded was removing them itself, there is a whole trace.
func TestRemovedRanks(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		o := sampled(append(mpitest.Launch(l, 2), build(t, l, "ranks.c", "-Irecorder"), "ring", "100")...)
		o.KeepRaw = true
		raw, err := RawDir(recorded(t, o).result.Out)
		must(t, err)
		for _, tc := range []struct {
			removed     string // a pattern
			world       string // what a further world left
			incomplete  []int
			said, fails string
		}{
			{"r1-*", "", []int{1}, "1 of 2 ranks left no trace, the first is rank 1: it had not done MPI_Init, or its raw files were removed", ""},
			{"", "2 2;\n", []int{2, 3}, "2 of 4 ranks left no trace, the first is rank 2", ""},
			{"r0-t0.def", "", []int{0}, "r0-t0.def", ""},
			{"r[0-9]*", "", nil, "", "or its raw files were removed"},
			{orderFile, "", nil, "", "holds the rest of a run"},
		} {
			dir := filepath.Join(t.TempDir(), "raw")
			must(t, os.CopyFS(dir, os.DirFS(raw)))
			files, _ := filepath.Glob(filepath.Join(dir, tc.removed))
			for _, file := range files {
				if file != dir {
					must(t, os.Remove(file))
				}
			}
			if tc.world != "" {
				must(t, os.WriteFile(filepath.Join(dir, "world-1"), []byte(tc.world), 0o666))
			}
			var talk string
			say := func(format string, args ...any) { talk += fmt.Sprintf(format, args...) + "\n" }
			out := filepath.Join(t.TempDir(), "out.slt")
			_, err := Recover(dir, Options{Out: out, Note: say, Warn: say})
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("without %s: %v, want %q", tc.removed, err, tc.fails)
				}
				continue
			}
			must(t, err)
			read, err := trace.Open(os.DirFS(filepath.Dir(out)), "out.slt", trace.Options{})
			must(t, err)
			var incomplete []int
			for _, l := range read.Locations {
				if l.Missing || l.Truncated {
					incomplete = append(incomplete, l.Rank)
				}
			}
			if !slices.Equal(incomplete, tc.incomplete) || !strings.Contains(talk, tc.said) {
				t.Errorf("without %q, world %q: ranks %v are incomplete, want %v; it says %q, want %q", tc.removed, tc.world, incomplete,
					tc.incomplete, talk, tc.said)
			}
		}
	})
}

// childOf is the process that another one has started.
func childOf(t *testing.T, parent int) int {
	t.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	for _, file := range files {
		if text, _ := os.ReadFile(file); len(text) > 0 {
			child, err := strconv.Atoi(strings.Fields(string(text))[0])
			if err != nil {
				t.Fatal(err)
			}
			return child
		}
	}
	t.Fatalf("process %d has no child", parent)
	return 0
}

// waitForRaw waits until both ranks have recorded messages, and returns the folder of raw files. The ranks of a ring wait for each other:
// if there are many calls, there are many of each.
func waitForRaw(ctx context.Context, out string) (string, error) {
	const many = 20
	for {
		raw, err := RawDir(out)
		if err == nil {
			var sight *Sight
			if sight, err = Look(ctx, []string{raw}, 20*time.Millisecond); err == nil && sight.Calls >= many {
				return raw, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the ranks have not begun: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// endRanks kills the ranks, whose numbers are in the raw files, and waits for their end.
func endRanks(t *testing.T, raw string) {
	t.Helper()
	files, _, err := findThreads(raw, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		_ = syscall.Kill(f.head.pid, syscall.SIGKILL)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		alive := false
		for _, f := range files {
			maps, err := os.ReadFile("/proc/" + strconv.Itoa(f.head.pid) + "/maps")
			alive = alive || err == nil && len(maps) > 0
		}
		if !alive {
			return
		}
	}
	t.Fatal("the ranks do not end")
}
