package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestLAMMPS records a program that nobody here wrote.
func TestLAMMPS(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		if l.Kind != mpi.OpenMPI {
			return // the distribution builds it for Open MPI only
		}
		lmp := needed.Tool(t, "lmp")
		dir := t.TempDir()
		input := filepath.Join(dir, "in.melt")
		text, err := os.ReadFile("testdata/in.melt")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(input, text, 0o666); err != nil {
			t.Fatal(err)
		}
		command := append(mpitest.Launch(l, 4), lmp, "-in", input, "-log", filepath.Join(dir, "log"))
		r := recorded(t, sampled(command...))
		if r.result.ExitCode != 0 || !strings.Contains(r.stdout, "Loop time of") {
			t.Fatalf("exit code = %d, output:\n%s", r.result.ExitCode, r.stdout)
		}
		for rank := range 4 {
			calls := r.calls(t, rank)
			if calls["MPI_Send"] == 0 || calls["MPI_Send"] != calls["MPI_Irecv"] || calls["MPI_Irecv"] != calls["MPI_Wait"] ||
				calls["MPI_Init"] != 1 || calls["MPI_Finalize"] != 1 {
				t.Errorf("rank %d: calls = %v", rank, calls)
			}
		}
		checkMessages(t, r)
		// Debian's program has no debug information, but the names of its library's functions.
		found := false
		for path := range r.times(t, 0) {
			found = found || strings.Contains(path, "LAMMPS_NS::PairLJCut::compute")
		}
		if !found {
			t.Errorf("LAMMPS_NS::PairLJCut::compute is in no call path: %v", r.times(t, 0))
		}
	})
}

// TestHPCC records a program with all kinds of calls, also cancelled ones and many unsuccessful polls.
func TestHPCC(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		if l.Kind != mpi.OpenMPI {
			return
		}
		hpcc := needed.Tool(t, "hpcc")
		dir := t.TempDir()
		text, err := os.ReadFile("testdata/hpccinf.txt")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), text, 0o666); err != nil {
			t.Fatal(err)
		}
		command := append(mpitest.Launch(l, 2), "-wdir", dir, hpcc)
		r := recorded(t, sampled(command...))
		out, err := os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))
		if err != nil || r.result.ExitCode != 0 || !strings.Contains(string(out), "Success=1") {
			t.Fatalf("exit code = %d, %v, output:\n%s", r.result.ExitCode, err, out)
		}
		for rank := range 2 {
			calls := r.calls(t, rank)
			for _, name := range []string{"MPI_Testany", "MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Comm_split", "MPI_Cancel"} {
				if calls[name] == 0 {
					t.Errorf("rank %d: there is no %s: %v", rank, name, calls)
				}
			}
		}
		if polls, apart := r.calls(t, 0)["MPI_Testany"], r.pollsApart(t, 0, "MPI_Testany"); polls > 10000 && apart > polls/10 {
			t.Errorf("%d of %d polls follow one that found nothing, and are calls of their own", apart, polls)
		}
	})
}

// pollsApart is how many calls of a function come next after one of the same that found nothing. How many polls there are depends on
// how fast the program is; those in a row are one call with their number.
func (r *recording) pollsApart(t *testing.T, location int, name string) (apart int64) {
	empty := false // the last call is one of the function, and found nothing
	for _, e := range r.events(t, location) {
		switch e.Kind {
		case trace.Enter:
			is := r.Regions[e.Region].Name == name
			if is && empty {
				apart++
			}
			empty = is
		case trace.Leave, trace.Polls, trace.Sample, trace.NoCPU:
		default:
			empty = false
		}
	}
	return apart
}
