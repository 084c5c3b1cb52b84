package record_test

import (
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestRecord wants streams and exit code of the program, a trace that other verbs read, and no trace to be replaced
// unasked.
func TestRecord(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program, out := mpitest.Build(t, l, "../../observe/record/testdata/ends.c", "-g"), filepath.Join(t.TempDir(), "run.slt")
		command := []string{"record", "--force", "--out", out, "--", l.Launcher, "-n", "2", program, "seven"}
		code, stdout, stderr := clitest.Run("", command...)
		if code != 7 || stdout != "normal end\n" || !strings.Contains(stderr, "trace in "+out) {
			t.Errorf("exit code = %d, stdout = %q, stderr = %q", code, stdout, stderr)
		}
		if code, stdout, stderr = clitest.Run("", "profile", out); code != 0 || !strings.Contains(stdout, "main/MPI_Barrier") {
			t.Errorf("profile: exit code = %d\n%s%s", code, stdout, stderr)
		}
		code, _, stderr = clitest.Run("", append([]string{"record"}, command[2:]...)...)
		if code != 1 || !strings.Contains(stderr, "exists already") {
			t.Errorf("a trace that is there: exit code = %d, stderr = %q", code, stderr)
		}
	})
}
