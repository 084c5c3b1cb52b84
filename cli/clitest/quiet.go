//go:build quiet

package clitest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// These tests hold on a quiet machine only: 'make test-long' runs them. They wait for quiet, try three times, and fail
// as disturbed if it never was quiet.

// Quiet waits until little else runs, and fails if that does not happen.
func Quiet(t *testing.T) {
	t.Helper()
	for range 60 {
		data, err := os.ReadFile("/proc/loadavg")
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(data))
		running, _, _ := strings.Cut(fields[3], "/")
		if n, _ := strconv.Atoi(running); n <= 2 {
			if load, _ := strconv.ParseFloat(fields[0], 64); load < 1.5 {
				return
			}
		}
		time.Sleep(2 * time.Second)
	}
	t.Fatal("disturbed: the machine was never quiet")
}

// Thrice tries up to three times.
func Thrice(t *testing.T, try func() (string, bool)) {
	t.Helper()
	var said []string
	for range 3 {
		Quiet(t)
		text, ok := try()
		if text != "" {
			t.Log(text)
		}
		if ok {
			return
		}
		said = append(said, text)
	}
	t.Errorf("three times not:\n%s", strings.Join(said, "\n"))
}

func Output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := Attempt(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Attempt runs a command that may fail.
func Attempt(name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, talk.String())
	}
	return out.Bytes(), nil
}

// BuiltProgram builds slackline once for a test.
func BuiltProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slackline")
	Output(t, "go", "build", "-o", path, "slackline/cmd/slackline")
	return path
}

// EachMPI runs a test with a program in C, compiled with Open MPI and with MPICH.
func EachMPI(t *testing.T, source string, test func(t *testing.T, mpi, program string)) {
	t.Helper()
	for _, mpi := range []string{"openmpi", "mpich"} {
		t.Run(mpi, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			Output(t, "mpicc."+mpi, "-O2", "-g", source, "-o", program)
			test(t, mpi, program)
		})
	}
}

// MeasuredMachine measures the network of an MPI into a machine file. A disturbed measurement is refused.
func MeasuredMachine(slackline, mpi, file string) error {
	_, err := Attempt(slackline, "measure", "network", "--mpi", mpi, "--max-size", "16KiB", "--machine-file", file, "--quiet")
	return err
}
