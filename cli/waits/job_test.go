package waits_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// outputOf runs slackline and returns what it printed, without provenance, and what it wrote into a file of that name.
func outputOf(t *testing.T, launcher []string, processes int, file string, args ...string) (printed, written string) {
	t.Helper()
	_ = os.Remove(file)
	stdout, stderr, err := clitest.RunJob(t, launcher, processes, "", args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if strings.HasPrefix(stdout, "{") {
		stdout = clitest.WithoutProvenance(t, stdout)
	}
	data, _ := os.ReadFile(file)
	return stdout, string(data)
}

// TestWaitsInJobs wants the same results from MPI jobs of several processes as from one process, in all forms of output.
func TestWaitsInJobs(t *testing.T) {
	cases := "../../testdata/waits/cases/"
	dir := t.TempDir()
	slt := filepath.Join(dir, "run.slt")
	if _, stderr, err := clitest.RunJob(t, nil, 1, "", "convert", cases+"09-wavefront-4x4/traces.otf2", "--to", "slt", "--out",
		slt); err != nil {
		t.Fatal(stderr)
	}
	figure, cube := filepath.Join(dir, "figure.svg"), filepath.Join(dir, "waits.cubex")
	all := clitest.Launchers(t)
	for i, tc := range []struct {
		processes int
		file      string
		args      []string
	}{
		{2, "", []string{"waits", cases + "01-figure3/traces.otf2", "--format", "json", "--explain=9", "--critical-path"}},
		{8, "", []string{"waits", cases + "05-allreduce-8/traces.otf2", "--format", "json", "--explain", "--critical-path"}},
		{4, "", []string{"waits", slt, "--format", "json", "--explain", "--critical-path", "--clock", "clc"}},
		{3, "", []string{"waits", slt, "--format", "csv"}},
		{3, "", []string{"waits", cases + "10-halo-core/traces.otf2", "--color", "never", "--explain", "--critical-path"}},
		{2, "", []string{"waits", cases + "14-hybrid-idle/traces.otf2", "--format", "json", "--threads", "2"}},
		{2, "", []string{"waits", cases + "18-oddities/traces.otf2", "--format", "json"}},
		{3, "", []string{"waits", cases + "19-random-6/traces.otf2", "--format", "json", "--begin", "1ms", "--only-ranks", "0..4"}},
		{4, figure, []string{"waits", slt, "--color", "never", "--grid", "4x4", "--plot", figure}},
		{2, cube, []string{"waits", slt, "--color", "never", "--cube", cube}},
		{2, "", []string{"waits", "../../testdata/traces/late-sender.trace", "--color", "never"}},
		{2, "", []string{"waits", "ring", "--ranks", "16", "--machine", "chic", "--color", "never"}},
		{3, "", []string{"profile", slt, "--format", "json", "--by-rank"}},
		{2, "", []string{"profile", cases + "10-halo-core/traces.otf2", "--color", "never"}},
		{4, figure, []string{"profile", cases + "05-allreduce-8/traces.otf2", "--format", "csv", "--plot", figure, "--plot-kind", "collectives"}},
	} {
		printed, written := outputOf(t, nil, 1, tc.file, tc.args...)
		if printed == "" || tc.file != "" && written == "" {
			t.Fatalf("%v gives nothing", tc.args)
		}
		for name, more := range all {
			if testing.Short() && i%2 == len(name)%2 {
				continue
			}
			t.Run(fmt.Sprintf("%d/%s/%d", i, name, tc.processes), func(t *testing.T) {
				gotPrinted, gotWritten := outputOf(t, append([]string{name}, more...), tc.processes, tc.file, tc.args...)
				if gotPrinted != printed {
					t.Errorf("%v prints\n%s\nwant\n%s", tc.args, gotPrinted, printed)
				}
				if gotWritten != written {
					t.Errorf("%v writes another %s", tc.args, filepath.Base(tc.file))
				}
			})
		}
	}
}

// TestWaitsFailInJobs damages the file of one rank: one message names it and the process that reads it.
func TestWaitsFailInJobs(t *testing.T) {
	slt := filepath.Join(t.TempDir(), "run.slt")
	if _, stderr, err := clitest.RunJob(t, nil, 1, "", "convert", "../../testdata/waits/cases/09-wavefront-4x4/traces.otf2", "--to", "slt",
		"--out", slt); err != nil {
		t.Fatal(stderr)
	}
	file := filepath.Join(slt, "15-0.slt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 0x55
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, more := range clitest.Launchers(t) {
		stdout, stderr, err := clitest.RunJob(t, append([]string{name}, more...), 3, "", "waits", slt, "--strict")
		if err == nil || stdout != "" || strings.Count(stderr, "15-0.slt") != 1 || !strings.Contains(stderr, "process 2 on ") {
			t.Errorf("%s: %v, stdout %q, stderr %q; want one message of process 2 that names 15-0.slt", name, err, stdout, stderr)
		}
	}
}
