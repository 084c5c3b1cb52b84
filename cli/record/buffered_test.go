package record_test

import (
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// A correct program whose ranks all send large buffered messages before they receive finishes in every engine and in the
// static model, whatever S is.
func TestBufferedSends(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program, dir := mpitest.Build(t, l, "testdata/buffered.c"), t.TempDir()
		out := filepath.Join(dir, "run.slt")
		if code, stdout, stderr := clitest.Run("", "record", "--out", out, "--", l.Launcher, "-n", "3", program); code != 0 {
			t.Fatalf("record: exit code %d\n%s%s", code, stdout, stderr)
		}
		schedule := filepath.Join(dir, "run.slk")
		if code, _, stderr := clitest.Run("", "generate", out, "--out", schedule); code != 0 {
			t.Fatalf("generate: %s", stderr)
		}
		machine := []string{"--machine", "chic", "-S", "1KiB", "--format", "json", "--quiet"}
		var makespans []string
		for _, args := range [][]string{
			{"simulate", out}, {"simulate", schedule}, {"simulate", schedule, "--threads", "1"}, {"simulate", schedule, "--breakdown"},
			{"simulate", out, "--ranks", "6"}, {"simulate", out, "--model", "loggps"}, {"tolerance", out}, {"tolerance", schedule},
		} {
			code, stdout, stderr := clitest.Run("", append(args, machine...)...)
			if code != 0 {
				t.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
				continue
			}
			if _, after, ok := strings.Cut(stdout, `"makespan_ns":`); ok && args[0] == "simulate" && !strings.Contains(strings.Join(args, " "), "--ranks") && !strings.Contains(strings.Join(args, " "), "loggps") {
				value, _, _ := strings.Cut(after, ",")
				makespans = append(makespans, strings.TrimSpace(value))
			}
		}
		for _, m := range makespans {
			if m != makespans[0] {
				t.Errorf("makespans %v, want equal ones", makespans)
				break
			}
		}
		code, _, stderr := clitest.Run("", "generate", out, "--to", "goal", "--out", filepath.Join(dir, "run.goal"))
		if code != 0 || !strings.Contains(stderr, "27 sends are buffered, which this format cannot express") {
			t.Errorf("GOAL: exit code %d, %s", code, stderr)
		}
	})
}
