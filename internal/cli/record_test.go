package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecord wants streams and exit code of the program, a trace that other verbs read, and no trace to be replaced
// unasked.
func TestRecord(t *testing.T) {
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	t.Setenv("OMPI_MCA_rmaps_base_oversubscribe", "1")
	dir := t.TempDir()
	program, out := filepath.Join(dir, "ends"), filepath.Join(dir, "run.slt")
	for _, mpi := range []string{"openmpi", "mpich"} {
		compiler, err := exec.LookPath("mpicc." + mpi)
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		if text, err := exec.Command(compiler, "-g", "-o", program, "../../observe/record/testdata/ends.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		command := []string{"record", "--force", "--out", out, "--", "mpirun." + mpi, "-n", "2", program, "seven"}
		code, stdout, stderr := slackline("", command...)
		if code != 7 || stdout != "normal end\n" || !strings.Contains(stderr, "trace in "+out) {
			t.Errorf("%s: exit code = %d, stdout = %q, stderr = %q", mpi, code, stdout, stderr)
		}
		if code, stdout, stderr = slackline("", "profile", out); code != 0 || !strings.Contains(stdout, "main/MPI_Barrier") {
			t.Errorf("%s: profile: exit code = %d\n%s%s", mpi, code, stdout, stderr)
		}
		code, _, stderr = slackline("", append([]string{"record"}, command[2:]...)...)
		if code != 1 || !strings.Contains(stderr, "exists already") {
			t.Errorf("%s: a trace that is there: exit code = %d, stderr = %q", mpi, code, stderr)
		}
	}
}
