package cli_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestSuite runs the script that compares programs plain, recorded and injected: on a program that behaves the same, and on
// one that does not.
func TestSuite(t *testing.T) {
	needed.Tool(t, "bash")
	mpitest.Both(t, func(t *testing.T, l *mpi.Library) {
		ending := map[mpi.Kind]string{mpi.OpenMPI: "openmpi", mpi.MPICH: "mpich"}[l.Kind]
		needed.Tool(t, "mpicc."+ending)
		needed.Tool(t, "mpirun."+ending)
		compare := func(folder string) (int, string) {
			c := exec.Command("../examples/suite/compare.sh", "-m", ending, folder)
			out, err := c.CombinedOutput()
			if c.ProcessState == nil {
				t.Fatal(err)
			}
			return c.ProcessState.ExitCode(), string(out)
		}
		if code, out := compare("testdata/suite"); code != 0 ||
			!strings.Contains(out, "2 programs with their arguments were compared, 0 differences") {
			t.Errorf("exit code = %d, want 0 without a difference:\n%s", code, out)
		}
		code, out := compare("testdata/suite/planted")
		for _, row := range []string{
			`spy +2 +` + ending + ` +recorded +output +nobody is here +I am watched`, `spy +2 +` + ending + ` +injected +output +nobody is here +I am watched`,
			`spy +2 +` + ending + ` +recorded +calls of MPI_Barrier +6 +8`, `spy +2 +` + ending + ` +recorded +exit code +0 +5`, `spy +2 +` + ending + ` +injected +exit code +0 +5`,
		} {
			if !regexp.MustCompile(row).MatchString(out) {
				t.Errorf("there is no row %q", row)
			}
		}
		if code != 3 || !strings.Contains(out, "3 programs with their arguments were compared, 5 differences") {
			t.Errorf("exit code = %d, want 3 and 5 differences:\n%s", code, out)
		}
	})
	c := exec.Command("../examples/suite/compare.sh", t.TempDir())
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 4 {
		t.Errorf("of no program: exit code = %d, want 4:\n%s", c.ProcessState.ExitCode(), out)
	}
}
