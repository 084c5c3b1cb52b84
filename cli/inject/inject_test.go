package inject_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestInject wants streams and exit code of the program, and a report.
func TestInject(t *testing.T) {
	source, err := filepath.Abs("../../observe/record/testdata/ends.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	out := filepath.Join(dir, "report.json")
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		launch := []string{"--", l.Launcher, "-n", "2", mpitest.Build(t, l, source), "seven"}
		code, stdout, stderr := clitest.Run("", append([]string{"inject", "--latency", "100us", "--noise", "100Hz:10us", "--seed", "5"},
			launch...)...)
		for _, want := range []string{"latency 100us: ", "collectives that became messages", "MPI_Barrier", "noise 100Hz:10us, seed 5",
			"a message takes by itself: 1B"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("stderr = %q, want %q in it", stderr, want)
			}
		}
		if code != 7 || stdout != "normal end\n" {
			t.Errorf("exit code = %d, stdout = %q", code, stdout)
		}
		code, _, stderr = clitest.Run("", append([]string{"inject", "--latency", "1ms@0>1", "--base", "0", "--out", out, "--format", "json",
			"--seed", "7"}, launch...)...)
		data, err := os.ReadFile(out)
		if err != nil || code != 7 || !strings.Contains(stderr, "--seed has no influence: there is no --noise") {
			t.Fatalf("exit code = %d, %v\n%s", code, err, stderr)
		}
		var report struct {
			ExitCode int   `json:"exit_code"`
			Elapsed  int64 `json:"elapsed_ns"`
			Ranks    int
			Latency  string
			Replaced []struct {
				Function string
				Calls    int64
			}
			ByRank []struct {
				Sent, Held, Passed int64
			} `json:"by_rank"`
			Provenance struct{ Version string }
		}
		if err := json.Unmarshal(data, &report); err != nil {
			t.Fatal(err)
		}
		if report.ExitCode != 7 || report.Ranks != 2 || report.Latency != "1ms@0>1" || len(report.ByRank) != 2 ||
			report.ByRank[1].Held+report.ByRank[1].Passed == 0 ||
			report.ByRank[0].Held+report.ByRank[0].Passed != 0 || len(report.Replaced) == 0 || report.Elapsed <= 0 {
			t.Errorf("report = %s", data)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(dir, ".slackline*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
