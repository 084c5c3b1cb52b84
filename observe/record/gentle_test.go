package record

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestGentle holds the table of docs/verbs/record.md: what a program does with signals, timers, waits, threads, children and
// descriptors comes out as without recording, whatever the samples come from.
func TestGentle(t *testing.T) {
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "gentle.c", "-O1", "-g", "-pthread", "-lrt")
		command := append(mpitest.Launch(l, 1), program)
		plain, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			t.Fatalf("without recording: %v\n%s", err, plain)
		}
		want := rows(string(plain))
		checkTable(t, want)
		for how, name := range map[string]string{"full": "queue of signals", "none": "no queue of signals"} {
			r := recorded(t, sampled(append(slices.Clone(command), "queue", how)...))
			if got := rows(r.stdout); got[name] != "ok" || r.result.ExitCode != 0 {
				t.Errorf("%s: %q, exit code %d: %s", name, r.stdout, r.result.ExitCode, r.stderr)
			}
		}
		for _, by := range []string{"perf events", "ticks", "counters"} {
			t.Run(by, func(t *testing.T) {
				command := command
				if by == "ticks" {
					variable := []string{"-genv", "SLACKLINE_RECORD_TICKS", "1"}
					if l.Kind == mpi.OpenMPI {
						variable = []string{"-x", "SLACKLINE_RECORD_TICKS=1"}
					}
					command = slices.Insert(slices.Clone(command), 1, variable...)
				}
				o := sampled(command...)
				o.Sample = 500 * time.Microsecond
				if by == "counters" {
					o.Counters = events(t, "task-clock", "page-faults")
				}
				r := recorded(t, o)
				got := rows(r.stdout)
				for _, name := range slices.Sorted(maps.Keys(want)) {
					if got[name] != want[name] {
						t.Errorf("%s: %q, want %s as without recording; the program wrote\n%s", name, got[name], want[name], r.stdout)
					}
				}
				if said := strings.Contains(strings.Join(r.talk, "\n"), "ticks"); by == "ticks" && !said {
					t.Errorf("what was said of the samples: %q", r.talk)
				}
				if said := strings.Contains(strings.Join(r.talk, "\n"), "counting ended early"); said != (by == "counters") {
					t.Errorf("the program closes the descriptors of the counters; what was said: %q", r.talk)
				}
				if r.result.Samples < 50 {
					t.Errorf("%d samples: nothing was put to the test", r.result.Samples)
				}
				// After a jump out of a wait, and with all descriptors taken, recording goes on.
				if got := r.calls(t, 0)["MPI_Barrier"]; got != 40001 {
					t.Errorf("MPI_Barrier = %d calls, want 40001", got)
				}
			})
		}
	})
}

// rows are the results of the program by name.
func rows(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutSuffix(line, " ok"); ok {
			m[name] = "ok"
		} else if line != "" {
			m[line] = "is wrong"
		}
	}
	return m
}

// checkTable wants what the documentation promises to be among the results. The table names them in code style.
func checkTable(t *testing.T, results map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/verbs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| the program |")
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")
	if !ok || len(lines) < 10 {
		t.Fatalf("docs/verbs/record.md has no table of what is guaranteed")
	}
	for _, line := range lines[2:] {
		parts := strings.Split(line, "|")
		names := strings.Split(parts[len(parts)-2], "`")
		if len(names) < 3 {
			t.Errorf("no result is named in %s", line)
		}
		for i := 1; i < len(names); i += 2 {
			if results[names[i]] != "ok" {
				t.Errorf("the table names %q, which is %q without recording", names[i], results[names[i]])
			}
		}
	}
}

// TestNoRoom wants a full disk to be named, with what was recorded before and the program as it is. A limit of the size of
// files, which every user may set, stands for it.
func TestNoRoom(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "gentle.c", "-O1", "-pthread", "-lrt")
		r := recorded(t, sampled(append(mpitest.Launch(l, 1), program, "limit")...))
		wantDone(t, r)
		if n := r.calls(t, 0)["MPI_Barrier"]; n < 10000 || n >= 100000 {
			t.Errorf("MPI_Barrier = %d calls, want those for which there was room", n)
		}
		talk := strings.Join(r.talk, "\n")
		if !strings.Contains(talk, "recording stopped early in 1 threads, the first is of rank 0") ||
			!strings.Contains(talk, "file too large; allow larger files") || strings.Contains(talk, "limit of size") {
			t.Errorf("what was said: %s", talk)
		}
		// No room for the first buffer.
		if l.Kind == mpi.MPICH {
			return // its own shared memory does not fit into such a limit, either
		}
		limited := []string{"sh", "-c", "ulimit -f 100; exec \"$@\"", "sh"}
		_, err := tryRecord(t, sampled(append(append(mpitest.Launch(l, 1), limited...), program)...))
		if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "ulimit -f") || strings.Contains(err.Error(), "MPI_Init") ||
			!strings.Contains(err.Error(), "rank 0 cannot write to") {
			t.Errorf("no room for the first buffer: %v, want what happened and a way out", err)
		}
	})
}

// wantDone wants the program to have ended as without recording.
func wantDone(t *testing.T, r *recording) {
	t.Helper()
	if r.stdout != "done\n" || r.result.ExitCode != 0 {
		t.Errorf("stdout = %q, exit code = %d, want what the program does without recording", r.stdout, r.result.ExitCode)
	}
}

// TestMissingRanks wants the reason why a rank left no trace.
func TestMissingRanks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r2-t0.def.failed-28"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	warn := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	r := &run{Options: &Options{Warn: warn}, raw: filepath.Join(dir, ".")}
	c := &Collection{Trace: &trace.Trace{}, MissingRanks: []int{1, 2, 3}}
	c.Ranks = 4
	r.reportMissing(c)
	slices.Sort(said)
	if len(said) != 2 || !strings.Contains(said[0], "1 of 4 ranks left no trace, the first is rank 2: ") ||
		!strings.Contains(said[0], "no space left on device") || !strings.Contains(said[0], "--out") ||
		!strings.Contains(said[1], "2 of 4 ranks left no trace, the first is rank 1: it ended before MPI_Init") {
		t.Errorf("said %q, want that rank 2 found no space, and that 1 and 3 ended before MPI_Init", said)
	}
}
