package record_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestCounters wants what the program counted to be in the profile of the trace, of its OTF2 form, and of the end that a ring keeps.
func TestCounters(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program, dir := mpitest.Build(t, l, "../../observe/record/testdata/counters.c", "-O1", "-g", "-pthread"), t.TempDir()
		record := func(name string, flags ...string) string {
			out := filepath.Join(dir, name+".slt")
			command := append(append([]string{"record", "--yield", "on", "--out", out}, flags...), "--")
			if code, _, stderr := clitest.Run("", append(append(command, mpitest.Launch(l, 2)...), program)...); code != 0 {
				t.Fatalf("record %v: exit code = %d, stderr = %s", flags, code, stderr)
			}
			return out
		}
		faults := func(run string) (useful, total int64) {
			t.Helper()
			code, stdout, stderr := clitest.Run("", "profile", "--format", "json", "--whole", run)
			var d struct {
				Computation struct {
					Counters []struct {
						Name          string
						Useful, Total int64
					}
				}
			}
			if err := json.Unmarshal([]byte(stdout), &d); code != 0 || err != nil {
				t.Fatalf("profile: exit code = %d, %v\n%s", code, err, stderr)
			}
			if strings.Contains(stderr, "match") {
				t.Errorf("%s: %s", run, stderr)
			}
			for _, c := range d.Computation.Counters {
				if c.Name == "page-faults" {
					return c.Useful, c.Total
				}
			}
			return 0, 0
		}
		run := record("all", "--counters", "task-clock,page-faults,major-faults")
		const touched = 120_000 // by all threads
		useful, total := faults(run)
		if useful < touched*98/100 || useful > touched*105/100 || total < useful {
			t.Errorf("%d page faults in computation and %d in all, want about %d in computation", useful, total, touched)
		}
		otf2 := filepath.Join(dir, "all-otf2")
		if code, _, stderr := clitest.Run("", "convert", run, "--to", "otf2", "--out", otf2); code != 0 {
			t.Fatalf("convert: exit code = %d, %s", code, stderr)
		}
		if u, n := faults(filepath.Join(otf2, "traces.otf2")); u != useful || n != total {
			t.Errorf("OTF2: %d page faults in computation and %d in all, want %d and %d", u, n, useful, total)
		}
		end := record("end", "--counters=task-clock,page-faults,major-faults", "--max-size", "256KiB", "--ring")
		if u, _ := faults(end); u == 0 || u >= useful {
			t.Errorf("a ring: %d page faults in computation, want less than %d", u, useful)
		}
	})
}
