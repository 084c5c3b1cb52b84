package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/internal/needed"
	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// notConforming are the functions that testdata/conformance does not call: they end the program, begin it in another way, convert what
// Fortran has, or need an object that only some libraries offer to tools.
var notConforming = regexp.MustCompile(`^(Abort|Init|Status_\w*f08\w*|DUP_FN|T_(event|enum|pvar)_\w+)$`)

// ofWorlds are those that need MPI_Open_port, which Debian's MPICH has but cannot do.
var ofWorlds = regexp.MustCompile(`^(Comm_(spawn\w*|accept|connect|join)|Close_port|(Publish|Unpublish|Lookup)_name)$`)

// TestConformance runs a program that calls every function of MPI: alone, recorded, and with added latency. Its results must be the same,
// and each of its calls must be in the trace as often as it was made.
func TestConformance(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		source := func(name string) string { return filepath.Join("..", "testdata", "conformance", name) }
		binary := mpitest.Build(t, l, source("conformance.c"), source("messages.c"), source("collectives.c"), source("objects.c"),
			source("further.c"), "-O1", "-w")
		called := conform(t, l, 4, binary)
		for _, name := range mpitest.Declared(t, l) {
			if !called[name] && !notConforming.MatchString(name) && (called["Close_port"] || !ofWorlds.MatchString(name)) {
				t.Errorf("MPI_%s is not called", name)
			}
		}
	})
}

// conform runs a program alone, recorded and with added latency, compares its results and calls, and returns the names of the latter.
func conform(t *testing.T, l *mpi.Library, ranks int, binary string) map[string]bool {
	t.Helper()
	dir := t.TempDir()
	command := func(name string) []string { return append(mpitest.Launch(l, ranks), binary, filepath.Join(dir, name)) }
	plain, err := exec.Command(command("plain")[0], command("plain")[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := digests(string(plain))
	if len(want) != ranks {
		t.Fatalf("%s", plain)
	}
	slackline := func(name string, args ...string) {
		code, stdout, stderr := clitest.Run("", append(append(args, "--"), command(name)...)...)
		if got := digests(stdout); code != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: exit code %d, results %q, want %q\n%s", name, code, got, want, stderr)
		}
	}
	out := filepath.Join(dir, "run.slt")
	slackline("record", "record", "--yield", "on", "--out", out)
	slackline("inject", "inject", "--latency", "10us")
	return compareCalls(t, out, filepath.Join(dir, "record"))
}

// notInFortran are the functions that conformance.F90 does not call, because they need further worlds.
var notInFortran = regexp.MustCompile(`^(Intercomm_create_from_groups|Comm_(spawn\w*|accept|connect|join))$`)

// TestConformanceFortran does the same with a program that makes every call that is wrapped, by each of the three bindings.
func TestConformanceFortran(t *testing.T) {
	needed.Full(t, "three programs under each MPI")
	functions, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		declared := mpitest.Declared(t, l)
		flags := []string{"-fallow-argument-mismatch", "-ffree-line-length-none"}
		if slices.Contains(declared, "Psend_init") {
			flags = append(flags, "-DMPI4")
		}
		for _, binding := range []string{"INCLUDED", "MODULE", "F08"} {
			binary := mpitest.Build(t, l, filepath.Join("..", "testdata", "conformance", "conformance.F90"), append(flags, "-D"+binding)...)
			called := conform(t, l, 2, binary)
			for _, f := range functions {
				if slices.Contains(declared, f.Name) && !called[f.Name] && !notInFortran.MatchString(f.Name) {
					t.Errorf("%s: MPI_%s is not called", binding, f.Name)
				}
			}
		}
	})
}

// digests are the lines of results, sorted: ranks print as they come.
func digests(stdout string) []string {
	var list []string
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "rank ") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	slices.Sort(list)
	return list
}

// compareCalls wants a trace to have each call that is wrapped as often as the program says, and returns the names of all that it made.
func compareCalls(t *testing.T, out, counts string) map[string]bool {
	t.Helper()
	functions, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	wrapped := map[string]bool{"MPI_Init_thread": true, "MPI_Finalize": true, "MPI_Session_init": true, "MPI_Session_finalize": true}
	for _, f := range functions {
		wrapped["MPI_"+f.Name] = true
		wrapped["MPI_"+f.Name+"_c"] = f.Large
	}
	r, err := trace.Open(os.DirFS(filepath.Dir(out)), filepath.Base(out), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Close != nil {
		defer r.Close()
	}
	called := map[string]bool{}
	for rank := range r.Locations {
		got := recordedCalls(t, r, rank)
		text, err := os.ReadFile(fmt.Sprintf("%s.%d", counts, rank))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var name string
			var n int64
			if _, err := fmt.Sscan(line, &name, &n); err != nil {
				t.Fatal(err)
			}
			called[strings.TrimPrefix(name, "MPI_")] = true
			if !wrapped[name] {
				n = 0
			}
			if got[name] != n {
				t.Errorf("rank %d: %s = %d calls, want %d", rank, name, got[name], n)
			}
			delete(got, name)
		}
		for name, n := range got {
			if strings.HasPrefix(name, "MPI_") {
				t.Errorf("rank %d: %s = %d calls, want none", rank, name, n)
			}
		}
	}
	return called
}

// recordedCalls counts the calls of a location by name; polls count as often as they were made.
func recordedCalls(t *testing.T, r *trace.Trace, location int) map[string]int64 {
	t.Helper()
	reader, err := r.Open(location)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	counts, last := map[string]int64{}, ""
	buffer := make([]trace.Event, 1000)
	for {
		n, err := reader.Read(buffer)
		for _, e := range buffer[:n] {
			switch e.Kind {
			case trace.Enter:
				last = r.Regions[e.Region].Name
				counts[last]++
			case trace.Polls:
				counts[last] += e.Size - 1
			}
		}
		if err == io.EOF {
			return counts
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
