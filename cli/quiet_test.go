//go:build quiet

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// These tests hold on a quiet machine only: 'make test-long' runs them. They wait for quiet, try three times, and fail
// as disturbed if it never was quiet.

// quiet waits until little else runs, and fails if that does not happen.
func quiet(t *testing.T) {
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

// thrice tries up to three times.
func thrice(t *testing.T, try func() (string, bool)) {
	t.Helper()
	var said []string
	for range 3 {
		quiet(t)
		text, ok := try()
		t.Log(text)
		if ok {
			return
		}
		said = append(said, text)
	}
	t.Errorf("three times not:\n%s", strings.Join(said, "\n"))
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := attempt(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// attempt runs a command that may fail.
func attempt(name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, talk.String())
	}
	return out.Bytes(), nil
}

// builtProgram builds slackline once for a test.
func builtProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slackline")
	run(t, "go", "build", "-o", path, "slackline/cmd/slackline")
	return path
}

// eachMPI runs a test with a program in C, compiled with Open MPI and with MPICH.
func eachMPI(t *testing.T, source string, test func(t *testing.T, mpi, program string)) {
	t.Helper()
	for _, mpi := range []string{"openmpi", "mpich"} {
		t.Run(mpi, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			run(t, "mpicc."+mpi, "-O2", "-g", source, "-o", program)
			test(t, mpi, program)
		})
	}
}

// measuredMachine measures the network of an MPI into a machine file. A disturbed measurement is refused.
func measuredMachine(slackline, mpi, file string) error {
	_, err := attempt(slackline, "measure", "network", "--mpi", mpi, "--max-size", "16KiB", "--machine-file", file, "--quiet")
	return err
}

// The recorded schedule, simulated with the parameters of the network, takes as long as the program did: 5 % at most,
// 2 % as a rule (median of five runs).
func TestRunTimeIsPredicted(t *testing.T) {
	slackline := builtProgram(t)
	eachMPI(t, "testdata/quiet/halo.c", func(t *testing.T, mpi, program string) {
		dir := t.TempDir()
		machine, trace := filepath.Join(dir, "machine.yaml"), filepath.Join(dir, "run.slt")
		thrice(t, func() (string, bool) {
			if err := measuredMachine(slackline, mpi, machine); err != nil {
				return err.Error(), false
			}
			var errors []float64
			for range 5 {
				out := run(t, slackline, "record", "--force", "--quiet", "--out", trace, "--", "mpirun."+mpi, "-n", "2", program)
				own, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
				if err != nil {
					t.Fatal(err)
				}
				var result struct {
					Makespan float64 `json:"makespan_ns"`
				}
				if err := json.Unmarshal(run(t, slackline, "simulate", trace, "--machine", machine, "--format", "json", "--quiet"), &result); err != nil {
					t.Fatal(err)
				}
				errors = append(errors, 100*(result.Makespan/own-1))
			}
			slices.SortFunc(errors, func(a, b float64) int { return int(math.Copysign(1, math.Abs(a)-math.Abs(b))) })
			text := "error of the simulated run time in per cent, five runs:"
			for _, e := range errors {
				text += strconv.FormatFloat(e, 'f', 2, 64) + " "
			}
			return text, math.Abs(errors[2]) <= 2
		})
	})
}
