package inject

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"slackline/internal/needed"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// sortedLines are the lines of a text in order: ranks print when they like.
func sortedLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// differences are the lines of got that are not in want.
func differences(got, want string) string {
	lines := strings.Split(got, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(want, l) }), "\n")
}

// plainRun runs a program without anything injected.
func plainRun(t *testing.T, l *mpi.Library, ranks int, program string, args ...string) string {
	t.Helper()
	c := exec.Command(l.Launcher, append([]string{"-n", fmt.Sprint(ranks), program}, args...)...)
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return sortedLines(string(out))
}

// TestFamilies wants programs that do every kind of call to get the same data with and without injection.
func TestFamilies(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "families.c")
		for ranks, latencies := range map[int][]string{2: {"0", "50us", "300us@0>*"}, 3: {"20us"}, 4: {"100us@0-*,1..2>3"}} {
			want := plainRun(t, l, ranks, program)
			for _, latency := range latencies {
				sleep := "on" // a busy machine bears it
				if ranks == 4 {
					sleep = "auto"
				}
				r := inject(t, l, ranks, program, Options{Base: -1, Sleep: sleep, Command: []string{"7"}}, latency)
				if r.err != nil || r.ExitCode == 0 {
					t.Fatalf("%d ranks, %s: %v, exit code = %d\n%s%s", ranks, latency, r.err, r.ExitCode, r.stdout, r.stderr)
				}
				if got := sortedLines(r.stdout); got != want {
					t.Errorf("%d ranks, %s: other data:\n%s", ranks, latency, differences(got, want))
				}
				if told := strings.Contains(strings.Join(r.talk, "\n"), "more ranks than CPUs"); told != (ranks == 4 && runtime.NumCPU() < 4) {
					t.Errorf("%d ranks on %d CPUs: %q", ranks, runtime.NumCPU(), r.talk)
				}
				if !slices.ContainsFunc(r.OneSided, func(c Count) bool { return c.Function == "MPI_Put" }) {
					t.Errorf("%d ranks, %s: one-sided = %v, want MPI_Put among them", ranks, latency, r.OneSided)
				}
			}
		}
	})
}

// TestFortran wants the same of Fortran programs, by all three bindings.
func TestFortran(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, binding := range []string{"INCLUDED", "MODULE", "F08"} {
			program := build(t, l, "families.F90", "-fallow-argument-mismatch", "-D"+binding)
			want := plainRun(t, l, 2, program)
			r := inject(t, l, 2, program, Options{Base: -1, Sleep: "on"}, "100us")
			if r.err != nil || r.ExitCode != 0 {
				t.Fatalf("%s: %v, exit code = %d\n%s%s", binding, r.err, r.ExitCode, r.stdout, r.stderr)
			}
			if got := sortedLines(r.stdout); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", binding, got, want)
			}
			if n := r.Sum(func(x *RankReport) int64 { return x.Held + x.Passed }); n < 60 {
				t.Errorf("%s: only %d calls received messages with heads", binding, n)
			}
			if len(r.Unhandled) > 0 {
				t.Errorf("%s: unhandled = %v", binding, r.Unhandled)
			}
		}
	})
}

// TestProgram wants a real program to compute the same with and without injection.
func TestProgram(t *testing.T) {
	lammps := needed.Tool(t, "lmp")
	input, err := filepath.Abs("../record/testdata/in.melt")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		if l.Kind != mpi.OpenMPI {
			t.Skip("LAMMPS is built with Open MPI")
		}
		dir := t.TempDir()
		plain, err := exec.Command(l.Launcher, "-n", "2", lammps, "-log", filepath.Join(dir, "log"), "-in", input).Output()
		if err != nil {
			t.Fatal(err)
		}
		r := inject(t, l, 2, lammps, Options{Base: -1, Sleep: "on", Command: []string{"-log", filepath.Join(dir, "log"), "-in", input}}, "50us")
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v, exit code = %d\n%s%s", r.err, r.ExitCode, r.stdout, r.stderr)
		}
		want := steps(string(plain))
		if got := steps(r.stdout); got != want || strings.Count(want, "\n") < 3 {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// steps is the table of LAMMPS with what it computed.
func steps(text string) string {
	_, text, _ = strings.Cut(text, "\nStep ")
	text, _, _ = strings.Cut(text, "\nLoop time")
	return text
}

// TestNeighbors wants collectives between neighbours to become messages, and to give what they give without injection, also
// where the MPI differs from the standard: if several neighbours are the same rank.
func TestNeighbors(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "neighbors.c")
		for _, ranks := range []int{2, 3, 4} {
			want := plainRun(t, l, ranks, program)
			r := inject(t, l, ranks, program, Options{Base: -1, Sleep: "on"}, "300us")
			if r.err != nil || r.ExitCode != 0 {
				t.Fatalf("%d ranks: %v, exit code = %d\n%s%s", ranks, r.err, r.ExitCode, r.stdout, r.stderr)
			}
			if got := sortedLines(r.stdout); got != want || strings.Count(got, "is done") != ranks {
				t.Errorf("%d ranks: got\n%s\nwant\n%s", ranks, got, want)
			}
			if len(r.Unhandled) > 0 {
				t.Errorf("%d ranks: unhandled = %v", ranks, r.Unhandled)
			}
			calls := map[string]int64{}
			for _, c := range r.Replaced {
				calls[c.Function] = c.Calls
			}
			for _, name := range []string{"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"} {
				if calls["MPI_Neighbor_"+name] != int64(5*ranks) || calls["MPI_Ineighbor_"+name] != int64(5*ranks) {
					t.Errorf("%d ranks: replaced = %v, want %d of each", ranks, r.Replaced, 5*ranks)
				}
			}
		}
	})
}
