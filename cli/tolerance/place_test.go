package tolerance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/internal/needed"
)

// rankFile writes the rank file of two ranks on one node, which has the name of this machine.
func rankFile(t *testing.T, form string, hosts string, cores int) string {
	t.Helper()
	dir := t.TempDir()
	goal := filepath.Join(dir, "two.goal")
	text := "num_ranks 2\nrank 0 {\na: send 1b to 1\n}\nrank 1 {\na: recv 1b from 0\n}\n"
	if err := os.WriteFile(goal, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ranks")
	code, _, stderr := clitest.Run("", "tolerance", goal, "-L", "300ns", "--placement", fmt.Sprint(cores), "--inter", "3us,0",
		"--rank-file", path, "--rank-file-for", form, "--hosts", hosts, "--quiet")
	if code != 0 {
		t.Fatal(stderr)
	}
	return path
}

// The launcher of Open MPI takes our rank file.
func TestRankFileOfOpenMPI(t *testing.T) {
	needed.Full(t, "MPI")
	path := needed.Tool(t, "mpiexec.openmpi")
	file := rankFile(t, "openmpi", "localhost", 2)
	c := exec.Command(path, "--allow-run-as-root", "--oversubscribe", "--rankfile", file, "-n", "2", "sh", "-c",
		"echo rank $OMPI_COMM_WORLD_RANK")
	out, err := c.CombinedOutput()
	needed.That(t, err == nil || !strings.Contains(string(out), "not enough"), "a second core")
	if err != nil || !strings.Contains(string(out), "rank 0") || !strings.Contains(string(out), "rank 1") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The launcher of MPICH takes our file and puts the ranks where it says: each line is a process of its
// own proxy, unless it names the host of the line before.
func TestRankFileOfMPICH(t *testing.T) {
	needed.Full(t, "MPI")
	path := needed.Tool(t, "mpiexec.mpich")
	file := rankFile(t, "mpich", "localhost,127.0.0.1", 1)
	c := exec.Command(path, "-launcher", "fork", "-f", file, "-n", "2", "sh", "-c",
		`echo "rank $PMI_RANK $(tr '\0' ' ' < /proc/$PPID/cmdline | grep -o 'proxy-id [0-9]*')"`)
	out, err := c.CombinedOutput()
	lines := regexp.MustCompile(`rank \d proxy-id \d`).FindAllString(string(out), -1)
	slices.Sort(lines)
	if want := []string{"rank 0 proxy-id 0", "rank 1 proxy-id 1"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v\n%s", err, out)
	}
}
