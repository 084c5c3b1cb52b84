package doctor

import (
	"bytes"
	"strings"
	"testing"

	"slackline/cli/env"
	"slackline/observe/counters"
	"slackline/observe/mpi"
)

// shown is a report as text.
func shown(t *testing.T, r report) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.write(env.New(nil, nil, &out, &out), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What was not found is said, with what to do about it.
func TestNothingFound(t *testing.T) {
	got := shown(t, report{mpi.Inventory{CPUs: 1, Cache: "/cache", Tools: []mpi.Tool{{Name: "gdb", For: "stacks of ranks that hang"}}},
		counters.Possible{Refused: []string{"cycles are not counted: the kernel forbids it; root sets kernel.perf_event_paranoid to 2"}}})
	for _, want := range []string{
		"MPI\n  none: programs cannot be recorded; put an mpicc into PATH",
		"gdb  not found: stacks of ranks that hang",
		"  1 CPU; more ranks than that share them\n  compiled parts are kept in /cache\n",
		"  cycles are not counted: the kernel forbids it; root sets kernel.perf_event_paranoid to 2\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Each library is listed with its compiler, its launcher and what its programs need; lines fit into 100 columns.
func TestLibraries(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("it cannot find its own header ", 8))
	got := shown(t, report{mpi.Inventory{CPUs: 64, Broken: []string{"/opt/mpicc: " + long}, Remarks: []string{long}, Libraries: []*mpi.Library{
		{Kind: mpi.OpenMPI, Version: "4.1.4", Compiler: "/usr/bin/mpicc", Launcher: "/usr/bin/mpirun",
			Needed: []string{"libmpi.so.40", "libmpi.so.41"}},
	}}, counters.Possible{Events: []string{"instructions", "cycles"}}})
	for _, want := range []string{
		"Open MPI 4.1.4\n    compiler /usr/bin/mpicc\n    Fortran  not found\n    launcher /usr/bin/mpirun\n" +
			"    programs that need libmpi.so.40 or libmpi.so.41 are recorded\n",
		"  does not work: /opt/mpicc: it cannot", "counted: instructions, cycles", "64 CPUs",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, line := range strings.Split(got, "\n") {
		if len(line) > env.DefaultWidth {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	if strings.Contains(got, "none:") {
		t.Errorf("a library was found, but\n%s", got)
	}
}
