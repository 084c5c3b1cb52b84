package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"slackline/cli"
)

// faulty is an input that makes the program panic, on the goroutine that reads it.
type faulty struct{ read bool }

func (f *faulty) Read(p []byte) (int, error) {
	if f.read {
		panic("planted\nby a test")
	}
	f.read = true
	return copy(p, "num_ranks 1\nrank 0 {\nl1: calc 1\n"), nil
}

// faultyOut is an output that does so where the result is written.
type faultyOut struct{ io.Writer }

func (o faultyOut) Write(p []byte) (int, error) { panic(errors.New("planted\nby a test")) }

// TestFaultsAreReported makes the program panic in several places: there is one line, exit code 1 and no half output.
func TestFaultsAreReported(t *testing.T) {
	const role = "TEST_FAULT"
	args := []string{"simulate", "-", "--machine", "chic", "--quiet"}
	switch os.Getenv(role) {
	case "input":
		os.Exit(cli.Main(args, &faulty{}, os.Stdout, os.Stderr))
	case "output":
		os.Exit(cli.Main([]string{"machine", "list"}, nil, faultyOut{os.Stdout}, os.Stderr))
	}
	for _, where := range []string{"input", "output"} {
		for _, level := range []string{"", "all"} {
			c := exec.Command(os.Args[0], "-test.run=^TestFaultsAreReported$")
			c.Env = append(os.Environ(), role+"="+where, "GOTRACEBACK="+level)
			var stdout, stderr bytes.Buffer
			c.Stdout, c.Stderr = &stdout, &stderr
			err := c.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || stdout.Len() > 0 {
				t.Errorf("%s: %v, stdout %q; want exit code 1 and no output", where, err, stdout.String())
			}
			text := stderr.String()
			if !strings.HasPrefix(text, "slackline: internal error at cli/fault_test.go:") || !strings.Contains(text, "planted; by a test") ||
				!strings.Contains(text, "please report") {
				t.Errorf("%s: stderr = %q, want a request to report the fault", where, text)
			}
			if lines := strings.Count(text, "\n"); (lines == 1) != (level == "") {
				t.Errorf("%s, GOTRACEBACK=%q: %d lines: %q", where, level, lines, text)
			}
		}
	}
}
