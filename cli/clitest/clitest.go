// Package clitest runs slackline in the tests of the verbs: in this process, as a program, and as an MPI job.
package clitest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"slackline/cli"
	"slackline/observe/mpi"
)

// ByBridge is the variable that lets processes of one host exchange by MPI, as those of several hosts do.
const ByBridge = "SLACKLINE_TEST_BY_BRIDGE"

// Main runs the tests of a package, and slackline where they start it as a program.
func Main(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"slackline": func() {
			mpi.ByBridge = os.Getenv(ByBridge) != ""
			os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// Lines are the lines of a file, sorted.
func Lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(strings.TrimSpace(string(data)), "\n")
	slices.Sort(list)
	return list
}

// PingPong writes a schedule of two ranks: rank 0 computes for 1 us and sends 100 bytes, rank 1 computes for 500 ns and answers with
// 10 bytes. More is a further line of rank 1.
func PingPong(t *testing.T, more string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pingpong.goal")
	text := `num_ranks 2
rank 0 {
a: calc 1000
b: send 100b to 1 tag 1
c: recv 10b from 1 tag 2
b requires a
c requires b
}
rank 1 {
a: recv 100b from 0 tag 1
b: calc 500
c: send 10b to 0 tag 2
` + more + `
b requires a
c requires b
}
`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Program returns a command that runs slackline as a process of its own.
func Program(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Args[0] = "slackline" // see Main
	return c
}

// SignalAfter starts a program and sends it a signal after a while.
func SignalAfter(t *testing.T, c *exec.Cmd, signal syscall.Signal, wait time.Duration) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	if err := c.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Run runs the program in this process.
func Run(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Main(args, strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

// ResampledData is a dataset for resampling, as seen from the package of a verb.
const ResampledData = "../../testdata/scaling/check/fail-linear-for-log.json"

func ReadJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// LateSenderTrace writes a run in which rank 0 computes for 30 us and rank 1 for 10 us before a message, of 40 us in all.
func LateSenderTrace(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.trace")
	if err := os.WriteFile(path, []byte(`slackline trace 1
unit us
rank 0
0 main {
  0..30  compute
  30..32 MPI_Send: send to 1 size 8
} 40
rank 1
0 main {
  0..10  compute
  10..33 MPI_Recv: recv from 0 size 8
} 40
`), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
