package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// advisedCase is a case of testdata/advise/planted.c, and the changes of which one must come first: the planted cause, or what fixes the
// same.
type advisedCase struct {
	name  string
	want  []string
	ranks int // 0: 4
}

// quickAdvice are some of them.
var quickAdvice = []advisedCase{
	{"imbalance", []string{"balance:even@main/imbalance/solve"}, 0},
	{"order", []string{"arrival_order@main/order/MPI_Recv"}, 0},
	{"barrier", []string{"fewer_barriers:none@main/barrier/MPI_Barrier"}, 0},
}

// TestFirstAdvice records programs with a planted cause under both MPIs: the first advice must be to remove it.
func TestFirstAdvice(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		binary := mpitest.Build(t, l, "../testdata/advise/planted.c", "-g", "-finstrument-functions")
		for _, tc := range quickAdvice {
			t.Run(tc.name, func(t *testing.T) {
				for try := 0; ; try++ {
					wrong := checkAdvice(t, l, binary, tc, 0)
					if wrong == "" {
						return
					}
					if t.Log(wrong); try == 2 { // others use this machine, too
						t.Fatal("another advice came first in three runs")
					}
				}
			})
		}
	})
}

// repetitions of a run of which the median counts, where times are compared.
const repetitions = 3

// checkAdvice says what is wrong with the advice on a case. If tolerance is not 0, the case is also run without its cause, both several
// times, and the measured gain may differ from the predicted one by this share of it.
func checkAdvice(t *testing.T, l *mpi.Library, binary string, tc advisedCase, tolerance float64) (wrong string) {
	t.Helper()
	record := func(version string) string {
		out := filepath.Join(t.TempDir(), version+".slt")
		command := append(mpitest.Launch(l, cmp.Or(tc.ranks, 4)), binary, tc.name, version)
		if code, _, stderr := clitest.Run("", append([]string{"record", "--out", out, "--"}, command...)...); code != 0 {
			t.Fatalf("record: exit code %d\n%s", code, stderr)
		}
		return out
	}
	args := []string{"advise", record("before"), "--format", "json", "--quiet"}
	if tolerance > 0 {
		after := record("after")
		for range repetitions - 1 {
			args[1] += "," + record("before")
			after += "," + record("after")
		}
		args = append(args, after)
	}
	code, stdout, stderr := clitest.Run("", args...)
	if code != 0 {
		t.Fatalf("advise: exit code %d\n%s", code, stderr)
	}
	var got struct {
		Measured float64 `json:"measured_ns"`
		Advice   []struct {
			Change  string  `json:"change"`
			Gain    float64 `json:"gain"`
			Command string  `json:"command"`
		} `json:"advice"`
		After *struct {
			Gain float64 `json:"gain"`
		} `json:"after"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Advice) == 0 {
		return "no advice"
	}
	first := got.Advice[0]
	if !strings.HasPrefix(first.Command, "slackline waits ") {
		t.Errorf("command %q", first.Command)
	}
	found := false
	for _, want := range tc.want {
		found = found || first.Change == want
	}
	if !found {
		return fmt.Sprintf("first advice %s (%.1f %%), want %s", first.Change, 100*first.Gain, strings.Join(tc.want, " or "))
	}
	if tolerance > 0 {
		t.Logf("%s: predicted %.1f %%, measured %.1f %%", first.Change, 100*first.Gain, 100*got.After.Gain)
		if math.Abs(first.Gain-got.After.Gain) > tolerance*got.After.Gain {
			return fmt.Sprintf("%s: predicted %.1f %%, measured %.1f %%", first.Change, 100*first.Gain, 100*got.After.Gain)
		}
	}
	return ""
}
