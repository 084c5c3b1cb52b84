package inject

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestStatuses wants every field of every status as without injection, also those that MPI leaves alone, and no library
// loaded into the programs that this one starts.
func TestStatuses(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "statuses.c")
		want := plainRun(t, l, 2, program)
		r := inject(t, l, 2, program, Options{Base: -1, Sleep: "on"}, "200us")
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%v, exit code = %d\n%s%s", r.err, r.ExitCode, r.stdout, r.stderr)
		}
		if got := sortedLines(r.stdout); got != want || strings.Count(want, "\n") < 80 {
			t.Errorf("other statuses:\n%s\nwant\n%s", differences(got, want), differences(want, got))
		}
	})
}

// TestWrongArguments wants calls with wrong arguments to fail as without injection.
func TestWrongArguments(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "../../record/testdata/wrongargs.c")
		want := plainRun(t, l, 2, program)
		r := inject(t, l, 2, program, Options{Base: -1, Sleep: "on"}, "20us")
		if got := sortedLines(r.stdout); r.err != nil || r.ExitCode != 0 || got != want {
			t.Errorf("%v, exit code = %d\n%s\nwant\n%s", r.err, r.ExitCode, differences(got, want), differences(want, got))
		}
	})
}

// TestFiles wants requests of files, which MPICH works on in calls that may complete them only, to end with every such call.
func TestFiles(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "files.c")
		data := filepath.Join(t.TempDir(), "data")
		want := plainRun(t, l, 2, program, data)
		r := inject(t, l, 2, program, Options{Base: -1, Sleep: "on", Command: []string{data}}, "20us")
		if got := sortedLines(r.stdout); r.err != nil || r.ExitCode != 0 || got != want || strings.Count(want, "rank ") != 16 {
			t.Errorf("%v, exit code = %d: other results:\n%s\nwant\n%s%s", r.err, r.ExitCode, got, want, r.stderr)
		}
	})
}

// TestSpawned wants requests that are left to MPI to be found, although Open MPI changes the handles of persistent ones.
func TestSpawned(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "spawned.c")
		command := append(mpitest.Launch(l, 1), program)
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Logf("this %s cannot start processes: %v\n%s", l, err, out) // Debian's MPICH cannot
			return
		}
		r := inject(t, l, 1, program, Options{Base: -1, Sleep: "on"}, "100us")
		if r.err != nil || r.ExitCode != 0 || r.stdout != "done\n" {
			t.Errorf("%v, exit code = %d, output:\n%s%s", r.err, r.ExitCode, r.stdout, r.stderr)
		}
	})
}

// TestCommunicators makes communicators in every way, by one thread and by several of each rank: the results are the same,
// and the collectives on them get the latency.
func TestCommunicators(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "comms.c", "-pthread")
		for _, ranks := range []int{3} {
			want := plainRun(t, l, ranks, program)
			r := inject(t, l, ranks, program, Options{Base: -1, Sleep: "on"}, "100us")
			if r.err != nil || r.ExitCode != 0 {
				t.Fatalf("%d ranks: %v, exit code = %d\n%s%s", ranks, r.err, r.ExitCode, r.stdout, r.stderr)
			}
			if got := sortedLines(r.stdout); got != want || strings.Count(got, "is done") != ranks {
				t.Errorf("%d ranks: other results:\n%s\nwant\n%s", ranks, differences(got, want), differences(want, got))
			}
			for _, c := range r.Unhandled { // only collectives of the four intercommunicators are left to MPI
				if c.Function != "MPI_Allreduce" || c.Calls > int64(4*ranks) {
					t.Errorf("%d ranks: unhandled = %v, want the reductions of intercommunicators", ranks, r.Unhandled)
				}
			}
		}
		args := []string{"threads", "60"} // often enough for Open MPI to wait for ever if shadows come in between
		if l.Kind == mpi.MPICH {
			args[1] = "10"
		}
		want := plainRun(t, l, 3, program, args...)
		r := inject(t, l, 3, program, Options{Base: -1, Sleep: "on", Command: args}, "20us")
		if got := sortedLines(r.stdout); r.err != nil || r.ExitCode != 0 || got != want {
			t.Errorf("threads: %v, exit code = %d: other results:\n%s\nwant\n%s%s", r.err, r.ExitCode, differences(got, want), want, r.stderr)
		}
	})
}

// TestParents wants what is made beside the program's communicators to come from the parents of these, in the same calls:
// with several threads MPI libraries bring such calls into an order by their parents, and any other call may let ranks wait
// for each other for ever. Whether they do depends on the order of threads; which parents are used does not.
func TestParents(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "parents.c", "-rdynamic", "-ldl")
		total := regexp.MustCompile(`; .*`)
		want := total.ReplaceAllString(plainRun(t, l, 3, program), "")
		r := inject(t, l, 3, program, Options{Base: -1, Sleep: "on"}, "20us")
		if got := total.ReplaceAllString(sortedLines(r.stdout), ""); r.err != nil || r.ExitCode != 0 || got != want {
			t.Fatalf("%v, exit code = %d: other results:\n%s\nwant\n%s%s", r.err, r.ExitCode, got, want, r.stderr)
		}
		if strings.Count(r.stdout, " 0 with other parents") != 3 || strings.Contains(r.stdout, "; 0 calls") {
			t.Errorf("calls with other parents, or none seen:\n%s", r.stdout)
		}
	})
}

// TestStarts wants the start of a collective to do no more than start it, as with MPI itself. Open MPI mixes up several
// MPI_Comm_idup of one communicator that are under way at once if the ranks let MPI go on between them differently often, and
// waits for ever: a program that never does so must not do so with latency, either.
func TestStarts(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "starts.c", "-rdynamic", "-ldl")
		want := plainRun(t, l, 2, program)
		r := inject(t, l, 2, program, Options{Base: -1, Sleep: "on"}, "20us")
		if got := sortedLines(r.stdout); r.err != nil || r.ExitCode != 0 || got != want || strings.Count(got, "is done; 0 looks") != 2 {
			t.Errorf("%v, exit code = %d: other results:\n%s\nwant\n%s%s", r.err, r.ExitCode, got, want, r.stderr)
		}
		if len(r.Replaced) < 3 {
			t.Errorf("replaced = %v, want the three collectives", r.Replaced)
		}
	})
}

// TestKept wants a program to have as many communicators as without injection: MPICH has 2048 for all, and not each of them has another
// one for its messages. Collectives of those without are left to MPI, and counted.
func TestKept(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "kept.c")
		want := plainRun(t, l, 3, program)
		r := inject(t, l, 3, program, Options{Base: -1, Sleep: "on"}, "0")
		if got := sortedLines(r.stdout); r.err != nil || r.ExitCode != 0 || got != want {
			t.Fatalf("%v, exit code = %d: other results:\n%s\nwant\n%s%s", r.err, r.ExitCode, got, want, r.stderr)
		}
		calls := map[string]int64{}
		for _, c := range r.Replaced {
			calls["replaced "+c.Function] = c.Calls
		}
		for _, c := range r.Unhandled {
			calls["left "+c.Function] = c.Calls
		}
		replaced, left := calls["replaced MPI_Allreduce"], calls["left MPI_Allreduce"]
		if replaced < 1000 || left < 1000 || replaced+left != 2*1300+650 || calls["replaced MPI_Barrier"] != 3 {
			t.Errorf("calls = %v", calls)
		}
	})
}
